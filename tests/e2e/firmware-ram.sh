#!/bin/sh
# Code that runs from RAM, an interrupt handler among it: its calls are recorded as those of the flash are, in all
# modes that record calls. They come from and to the flash by veneers, and have the names of what these lead to.
BOARDS=${BOARDS:-mps2-an385 microbit ${LONG:+mps2-an386 mps2-an500 mps2-an505 netduino2 lm3s6965evb}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# link_mode FOLDER SETTINGS...
link_mode()
{
	link_folder=$1
	shift
	for each in LITIFUT_PORT="$port" "$@"; do
		export "${each?}"
	done
	traced "$link_folder" make_example "$link_folder" EXTRA_CFLAGS="$sending"
	link_status=$?
	unset LITIFUT_PORT LITIFUT_MODE LITIFUT_STUBS LITIFUT_CLOCK LITIFUT_RING_KB LITIFUT_SAMPLE
	return $link_status
}

# all_is_recorded ELF: of the calls in RAM none is left, but those that have no room for a patch on a Cortex-M0
all_is_recorded()
{
	"$BUILD/bin/litifut" info --skipped "$1" >"$1.left" || return
	grep '^0x[23]' "$1.left"
	is_far=$(grep -c '^0x[23]' "$1.left")
	! grep -q out-of-reach "$1.left" && case $board in
	microbit) [ "$is_far" -le 1 ] ;;
	*) [ "$is_far" = 0 ] ;;
	esac
}

# names_are_right ELF: calls between the memories have the functions that the veneers lead to
names_are_right()
{
	"$BUILD/bin/litifut-post" -q -f edges -o edges "$1.serial" "$1" || return
	cat edges
	for edge in 'main.* -> in_ram' 'in_ram.* -> in_flash' 'in_ram.* -> beside' \
		'leave.* -> in_flash' 'leave_to_ram.* -> beside' 'SysTick_Handler.* -> in_flash' \
		'interrupt 15.* -> SysTick_Handler'; do
		grep -q "$edge" edges || {
			echo "missing: $edge"
			return 1
		}
	done
	! grep veneer edges
}

# gprof_has_both ELF: gprof has times of functions in the flash and in RAM, and the file has no bins for what is between
gprof_has_both()
{
	arm-none-eabi-gprof -bp "$1" "$1.gmon" >"$1.gprof" || return
	head "$1.gprof"
	ls -l "$1.gmon"
	[ "$(awk '$NF == "main" || $NF == "in_ram" { n += $3 > 0 || $1 > 0 } END { print n }' "$1.gprof")" = 2 ] &&
		[ "$(wc -c <"$1.gmon")" -lt 100000 ]
}

# The code in RAM is below that of the flash. What may be a return address is read, so that all addresses from the
# first to the last one of these must have memory.
ram_below()
{
	sed -i 's/0x00000000/0x08000000/; s/0x20000000/0x00000000/' "source/$board.ld"
	ok "RAM below: it links traced" link_mode below LITIFUT_MODE=paths LITIFUT_RING_KB=4
	ok "RAM below: return addresses are those of the flash" python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
from elf import Elf
elf = Elf(sys.argv[2])
low = elf.word(elf.address_of_name("litifut_paths_code_low"))
print(hex(low))
assert 0x08000000 <= low < 0x08000400' \
		"$root/tests/oracle" below/firmware.elf
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/ramcode.c" source/main.c
	cp "$root/tests/firmware/startup.c" source
	sed -i 's/\*(\.data \.data\.\*)/& *(.ramfunc)/' source/sections.ld
	case $board in
	netduino2) sed -i 's/4000/20000/' source/main.c ;;
	# their timers are slower: too few interrupts would come
	mps2-an505) sed -i 's/4000/3200/' source/main.c ;;
	lm3s6965evb) sed -i 's/4000/2000/' source/main.c ;;
	esac
	make_example plain >/dev/null
	emulate plain/firmware.elf plain.serial
	is "it works" "$(tr -d '\r' <plain.serial)" "many, 1"
	times="LITIFUT_CLOCK=systick:1000000000"
	for mode in fast small table spans stream; do
		case $mode in
		fast | small) settings=LITIFUT_STUBS=$mode ;;
		table) settings="LITIFUT_MODE=table $times" ;;
		spans) settings="LITIFUT_MODE=spans $times LITIFUT_RING_KB=8" ;;
		stream) settings="LITIFUT_MODE=stream LITIFUT_RING_KB=8" ;;
		esac
		case $mode in
		spans | stream) sending="-DSENDS -I$root/include" ;;
		*) sending= ;;
		esac
		# shellcheck disable=SC2086
		ok "$mode: it links traced" link_mode $mode $settings
		ok "$mode: all calls in RAM are recorded" all_is_recorded $mode/firmware.elf
		ok "$mode: each site is there as often as it is executed" \
			counts_equal_calls $mode/firmware.elf
		case $mode in
		table | spans) ok "$mode: gprof has the times of both memories" gprof_has_both $mode/firmware.elf ;;
		esac
		ok "$mode: names are those of functions" names_are_right $mode/firmware.elf
		ok "$mode: it prints the same" grep -qa 'many, 1' $mode/firmware.elf.serial
	done
	ok "stream: calls are in order" calls_in_order stream/firmware.elf
	sending=
	ok "samples: it links traced" link_mode samples LITIFUT_SAMPLE=SysTick_Handler
	ok "samples: each site is there as often as it is executed" \
		counts_equal_calls samples/firmware.elf
	ok "samples: bins are small where the flash alone has code" python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
from gmon import read_bins
bins = read_bins(sys.argv[2])
print(bins)
assert len(bins) > 2 and sum(samples for _, samples in bins) > 3' \
		"$root/tests/oracle" samples/firmware.elf.gmon
	ok "paths: it links traced" link_mode paths LITIFUT_MODE=paths LITIFUT_RING_KB=4
	emulate paths/firmware.elf paths.serial
	ok "paths: it prints the same" grep -qa 'many, 1' paths.serial
	is "the stubs of these calls stand beside them" "$(arm-none-eabi-nm fast/firmware.elf |
		grep -c '^[23].* litifut_far_stubs_0$')" 1
	[ "$board" != mps2-an385 ] || ram_below
}

for_boards behaviour
