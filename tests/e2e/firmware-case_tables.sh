#!/bin/sh
# Switches of Thumb-1 code, as GCC makes them with -Os for a Cortex-M0: a function of libgcc jumps through the table
# behind its call. Blocks and flags of such functions are those that QEMU executes, also under interrupts, and in all
# modes that call stays as it is, so that the function finds the table.
BOARDS=${BOARDS:-microbit ${LONG:+mps2-an385 mps2-an505}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

switches="by_bytes by_halves run by_signed_bytes by_signed_halves by_words unmarked unmarked_unbounded unbounded
	before_literals"

# recorded_in ELF FUNCTION...: how many edges of each are recorded
recorded_in()
{
	recorded_elf=$1
	shift
	"$BUILD/bin/litifut" info --sites "$recorded_elf" >edges
	for function; do
		echo "$function $(grep -c " patched in $function\$" edges)"
	done
}

# all_are_recorded ELF: something of each of the switches, and nothing of what only looks like one
all_are_recorded()
{
	# shellcheck disable=SC2086
	recorded_in "$1" $switches >recorded
	cat recorded
	"$BUILD/bin/litifut" info --skipped "$1" | grep 'unknown-jump in' >unknown
	cat unknown
	! grep -q ' 0$' recorded && grep -q 'in alike$' unknown && ! grep -vE 'in (alike|__gnu_thumb1_case_.*|.*printf.*)$' unknown
}

# is_short FILE: all that is recorded, in frames, has fewer bytes than there are blocks. A record has 8 bytes.
is_short()
{
	wc -l <blocks
	wc -c <"$1"
	[ "$(wc -c <"$1")" -lt "$(wc -l <blocks)" ]
}

# link_calls FOLDER SETTINGS...: with a switch in RAM as well
link_calls()
{
	link_folder=$1
	shift
	for each in LITIFUT_PORT="$port" "$@"; do
		export "${each?}"
	done
	traced "$link_folder" make_example "$link_folder" EXTRA_CFLAGS="$options -DIN_RAM"
	link_status=$?
	unset LITIFUT_PORT LITIFUT_MODE LITIFUT_STUBS LITIFUT_CLOCK LITIFUT_RING_KB
	return $link_status
}

# prints_the_same FILE
prints_the_same()
{
	text_of "$1" >text
	cat text
	cmp text plain.serial
}

# The calls of the functions that read the tables are left, also where a veneer leads to them.
calls_are_left()
{
	"$BUILD/bin/litifut" info --skipped "$1" | grep 'not-a-call' >left
	cat left
	[ "$(grep -c 'not-a-call in' left)" -ge 12 ] && grep -q 'not-a-call in in_ram' left
}

behaviour()
{
	options="-mcpu=cortex-m0 -Os"
	[ "$board" != mps2-an505 ] || options="-mcpu=cortex-m23 -Os"
	times="LITIFUT_CLOCK=systick:16000000"
	settings=
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/case_tables.c" source/main.c
	cp "$root/tests/firmware/case_tables.S" source/tables.S
	cp "$root/tests/firmware/startup.c" source
	sed -i 's/startup.o board.o main.o/& tables.o/
		s/^\$(OUT)\/firmware.elf:/$(OUT)\/%.o: %.S\n\t@mkdir -p $(@D)\n\t$(CC) $(CFLAGS) -c $< -o $@\n\n&/' source/Makefile
	sed -i 's/\*(\.data \.data\.\*)/& *(.ramfunc)/' source/sections.ld

	ok "paths: it links traced" link_mode paths paths 8 EXTRA_CFLAGS="$options"
	ok "paths: code of each switch is recorded" all_are_recorded paths/firmware.elf
	ok "paths: blocks are those that the program without patches executes" \
		blocks_are_executed paths plain memory --more 2
	settings="LITIFUT_PORT=$port"
	ok "paths, by the line: it links traced" link_mode paths line 8 EXTRA_CFLAGS="$options"
	settings=
	ok "paths, by the line: blocks are those that are executed" blocks_are_executed line traced serial --more 2
	ok "paths, by the line: where switches lead takes no records" is_short line/firmware.elf.serial
	ok "coverage: it links traced" link_mode coverage coverage 8 EXTRA_CFLAGS="$options"
	ok "coverage: code of each switch is recorded" all_are_recorded coverage/firmware.elf
	dump coverage/firmware.elf results _exit
	ok "coverage: flags are those of what is executed" flags_are_executed coverage results 100

	for tick in 450 500 523 777 1111; do
		ok "interrupts, a tick of $tick: it links traced" link_mode paths ticks 8 EXTRA_CFLAGS="$options -DTICK=$tick"
		ok "interrupts, a tick of $tick: blocks are those that are executed" \
			blocks_are_executed ticks traced memory --more 2
	done

	make_example plain EXTRA_CFLAGS="$options -DIN_RAM" >/dev/null
	emulate plain/firmware.elf plain.serial
	for mode in fast small table spans stream; do
		case $mode in
		fast | small) settings=LITIFUT_STUBS=$mode ;;
		table) settings="LITIFUT_MODE=table $times" ;;
		spans) settings="LITIFUT_MODE=spans $times LITIFUT_RING_KB=4" ;;
		stream) settings="LITIFUT_MODE=stream LITIFUT_RING_KB=4" ;;
		esac
		# shellcheck disable=SC2086
		ok "$mode: it links traced" link_calls $mode $settings
		ok "$mode: calls of what reads the tables are left" calls_are_left $mode/firmware.elf
		emulate $mode/firmware.elf $mode.serial
		ok "$mode: it prints the same" prints_the_same $mode.serial
	done
	for mode in fast small table; do
		ok "$mode: each site is counted as often as it is executed" \
			counts_equal_calls $mode/firmware.elf
	done
}

for_boards behaviour
