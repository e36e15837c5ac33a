#!/bin/sh
# Loops of v8.1-M, whose counter is in lr, and predicated vector instructions (Cortex-M55): code of them is at each place
# where code moves to make room. Calls are counted as often as QEMU executes them, in order; branches, the ends of such
# loops among them, go where the program without patches goes, and blocks are in order, under interrupts too. It computes
# the same in all modes.
BOARDS=${BOARDS:-mps3-an547}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# linked MODE FOLDER OPTIONS...: with `more' settings
linked()
{
	settings="LITIFUT_PORT=$port $more"
	linked_mode=$1
	linked_folder=$2
	shift 2
	ok "$linked_folder: it links traced" link_mode "$linked_mode" "$linked_folder" 256 \
		EXTRA_CFLAGS="-mfloat-abi=hard $*"
	settings=
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/loops.c" source/main.c
	# vectors have to be switched on before a function saves one
	sed -i 's/board_init();/board_init(); *(volatile uint32_t *)0xe000ed88 |= 0xf << 20;/' source/startup.c
	more=
	make_example plain EXTRA_CFLAGS=-mfloat-abi=hard >/dev/null
	emulate plain/firmware.elf plain.serial
	is "the loops run untraced" "$(wc -l <plain.serial)" 12
	ok "there are such loops" sh -c 'arm-none-eabi-objdump -d plain/firmware.elf |
		sed -n "/<compiled>:/,/^$/p" | grep -qw le'

	for stubs in fast small; do
		export LITIFUT_STUBS=$stubs
		linked counts $stubs
		unset LITIFUT_STUBS
		ok "$stubs: each site is counted as often as it is executed" counts_equal_calls $stubs/firmware.elf
		ok "$stubs: it computes the same" computes_the_same $stubs/firmware.elf.serial
	done
	linked stream stream -DTICKS=301
	ok "stream: calls are in order" calls_in_order stream/firmware.elf
	ok "stream: it computes the same" computes_the_same stream/firmware.elf.serial
	for mode in table spans; do
		export LITIFUT_CLOCK=systick
		linked $mode $mode -DTICKS=25000
		unset LITIFUT_CLOCK
		emulate $mode/firmware.elf $mode/firmware.elf.serial
		ok "$mode: it computes the same" computes_the_same $mode/firmware.elf.serial
	done
	linked coverage coverage
	ok "coverage: flags are what is executed" sent_flags_are_executed coverage
	ok "coverage: it computes the same" computes_the_same coverage/firmware.elf.serial
	is "coverage: ends of loops are branches" "$(grep -c "	\(odd\|sums\|square\|vectors\|compiled\)	1	1	" flags)" \
		"$(grep -c "branch	.*	\(odd\|sums\|square\|vectors\|compiled\)	" flags)"
	for ticks in 0 301 997; do
		linked paths "paths$ticks" -DTICKS=$ticks
		ok "paths$ticks: blocks are those that are executed" \
			blocks_are_executed "paths$ticks" traced serial --more 1 --late 32
		ok "paths$ticks: it computes the same" computes_the_same results
	done
	more='LITIFUT_UNITS=odd,runs,least,sums,find,square,vectors,flags,compiled'
	linked units units
	emulate units/firmware.elf units.serial
	ok "units: it computes the same" computes_the_same units.serial
	more=
	linked balllarus balllarus
	emulate balllarus/firmware.elf balllarus.serial
	ok "balllarus: it computes the same" computes_the_same balllarus.serial
}

for_boards behaviour
