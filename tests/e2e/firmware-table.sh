#!/bin/sh
# LITIFUT_MODE=table: the times of calls, held against the instructions that QEMU's plugin has
# seen between each call and its return; every call is counted, also those of nested
# interrupts.
BOARDS=${BOARDS:-mps2-an385 microbit mps2-an505 netduino2}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# link_timed FOLDER ARGUMENTS...
link_timed()
{
	export LITIFUT_MODE=table LITIFUT_CLOCK=systick:1000000000 LITIFUT_PORT="$port"
	traced "$1" make_example "$@"
	link_status=$?
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT
	return $link_status
}

post()
{
	"$BUILD/bin/litifut-post" -q "$@"
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	# the clock runs from before main() to the end, and ticks after the results were sent call
	# nothing
	sed -i 's/board_start_ticks(20000);//; s/board_stop_ticks();//
		s/count_even();/even_ticks++;/
		s/ __attribute__((noinline)) count_even/ __attribute__((unused)) count_even/' source/main.c
	sed -i '/^void SystemInit/,/^}/s/board_init();/board_init(); board_start_ticks(60000);/' \
		source/startup.c
	make_example plain >/dev/null
	emulate plain/firmware.elf plain.serial
	ok "it links traced" link_timed timed
	is "litifut info says so" "$("$BUILD/bin/litifut" info timed/firmware.elf |
		sed -n 's/^  mode  *//p')" table
	ok "each site is counted as often as it is executed" counts_equal_calls timed/firmware.elf
	text_of timed/firmware.elf.serial >timed.text
	ok "it prints the same" diff plain.serial timed.text
	post -f csv -o times.csv timed/firmware.elf.serial timed/firmware.elf
	ok "times are those of the executed instructions" python3 \
		"$root/tests/oracle/firmware.py" times timed/firmware.elf \
		timed/firmware.elf.oracle times.csv 175
	post -f dot --lines -o calls.dot timed/firmware.elf.serial timed/firmware.elf
	ok "the picture has times" grep -q 'fibonacci\\ntotal .*self .*min .*max .*89 calls' calls.dot
	ok "and files" grep -q '"main.c\\nfibonacci' calls.dot
	post -f callgrind -o calls.callgrind timed/firmware.elf.serial timed/firmware.elf
	ok "callgrind has times" sh -c 'callgrind_annotate calls.callgrind | grep -q fibonacci'

	# nested interrupts, which come at each possible moment, with time to do what they do
	sed 's/\<400\>/6400/; s/\<501\>/8009/' "$root/tests/firmware/nested.c" >source/main.c
	cp "$root/tests/firmware/startup.c" source
	ok "interrupts: it links traced" link_timed nested
	ok "interrupts: each site is counted as often as it is executed" \
		counts_equal_calls nested/firmware.elf
	is "interrupts: there were many in interrupts" \
		"$(text_of nested/firmware.elf.serial)" many
}

for_boards behaviour
