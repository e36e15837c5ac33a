#!/bin/sh
# A firmware for AVR that brings a recorder of tokens (rewriter/tokens.h, tests/firmware/avr_lis.S): the bits that it counts are those
# of what simavr executes, under interrupts that interrupt each other, with tokens of each function and of all, with
# return addresses of two and of three bytes, and on a device without jmp and call. What records keeps all registers
# and SREG. Without interrupts `litifut-post path-sizes' has as many for LIS-local and LIS-global.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

names='fibonacci,apply,by_*,tail_of,add,subtract,scaled,compare,send,tick*,__vector_*,main'

# tokens NAME SOURCE FLAGS...: what records is lis-NAME.o; `local' or `global'
tokens()
{
	tokens_flag=-DLIS_BYTES=16
	[ "$scope" = local ] || tokens_flag=-DLIS_GLOBAL
	avr-gcc -mmcu="$device" -I"$root" "$tokens_flag" -c "$root/tests/firmware/avr_lis.S" -o "lis-$1.o" || return
	tokens_of=$1
	shift
	LITIFUT_MODE=units LITIFUT_UNITS=$names avr "$tokens_of" "$@" "$PWD/lis-$tokens_of.o" -Wl,--defsym=litifut_putc=0
}

# bits NAME: those that it has counted are those of what was executed
bits()
{
	python3 "$root/tests/oracle/lis.py" sites "$1.elf" >"$1.sites" &&
		"$simulator" -s "$1.sites" -o "$1.executed" -m "$1.memory" -u "$1.serial" "$device" "$1.elf" >&2 || return
	bits_counted=$(python3 "$root/tests/oracle/lis.py" recorded "$1.elf" "$1.memory")
	# shellcheck disable=SC2046
	bits_executed=$(python3 "$root/tests/oracle/lis.py" bits "$1.elf" "$1.executed" $(echo "$scope" | grep global))
	echo "# $device: $1: $bits_executed bits were executed; counted, and bytes lost: $bits_counted" >&2
	[ "${bits_counted% *}" = "$bits_executed" ] && [ "$bits_executed" -gt 200 ]
}

# in_interrupts NAME SOURCE FLAGS...
in_interrupts()
{
	for scope in local global; do
		ok "$1, $scope: it links traced" tokens "$@"
		ok "$1, $scope: its bits are those of what is executed" bits "$1"
		ok "$1, $scope: it prints the same" prints_the_same "$1"
	done
	ok "$1: registers are kept" marks_keep_registers "$1"
	python3 "$root/tests/oracle/lis.py" functions "$1.elf" >"$1.functions"
	ok "$1: interrupts are recorded" grep -q __vector_ "$1.functions"
}

# The same blocks, in the program without patches, in other words: see path-sizes.
sizes_are_the_same()
{
	python3 "$root/tests/oracle/edges.py" plain quiet.elf quiet.plain &&
		python3 "$root/tests/oracle/lis.py" blocks quiet.elf >quiet.starts &&
		"$simulator" -s quiet.starts -o quiet.passed -r quiet.order "$device" quiet.plain >&2 &&
		python3 "$root/tests/oracle/lis.py" jumps quiet.elf quiet.order >quiet.jumps &&
		"$BUILD/bin/litifut-post" path-sizes quiet.elf quiet.jumps 2>&1 | tee quiet.sizes >&2
	python3 "$root/tests/oracle/lis.py" recorded quiet.elf quiet.memory | {
		read -r counted _
		awk -v counted="$counted" -v name="LIS-$scope" '
			/conditional branches and/ { for (i = 1; i < NF; i++) if ($(i + 1) == "conditional") branches = $i }
			$NF == name { bytes = $1; each = $2 }
			END { rest = each * branches - counted
				exit !(bytes == int((counted + 7) / 8) && rest < 0.5 && rest > -0.5) }' quiet.sizes
	}
}

quiet()
{
	for scope in local global; do
		ok "quiet, $scope: it links traced" tokens quiet avr_truth.c -Os -DQUIET -DROUNDS=6
		ok "quiet, $scope: its bits are those of what is executed" bits quiet
		ok "quiet, $scope: path-sizes has as many" sizes_are_the_same
	done
}

# There is no such recorder for a Cortex-M.
elsewhere()
{
	printf 'void litifut_token(void) {}\nint main(void) { litifut_token(); return 0; }\n' >elsewhere.c
	LITIFUT_MODE=units LITIFUT_UNITS=main "$BUILD/bin/litifut" build arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb \
		--specs=rdimon.specs elsewhere.c -o elsewhere.elf 2>&1 | tee /dev/stderr |
		grep -q "LITIFUT_MODE=units: that can't be done for this CPU yet"
}

behaviour()
{
	case $device in
	attiny*)
		# without jmp and call, as that one, which has too little memory
		device=atmega8
		in_interrupts small avr_tiny.c -Os -DROUNDS=20
		;;
	atmega1284p)
		quiet
		ok "on a Cortex-M it is left, and a line says so" elsewhere
		in_interrupts size avr_truth.c -Os -DTIMED -DROUNDS=5
		;;
	atmega2560) in_interrupts large avr_truth.c -Os -DLARGE -DTIMED -DROUNDS=3 ;;
	esac
}

for_devices behaviour
