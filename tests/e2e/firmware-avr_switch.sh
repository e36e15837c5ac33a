#!/bin/sh
# Recording on AVR that is switched off and on by the program, begins anew, or begins at a function: each site is
# counted as often as it is executed meanwhile, under interrupts that interrupt each other, in all modes that
# record calls; calls keep all registers; what is open when it is switched off is timed to its end.
# DEVICES: return addresses of 2 bytes, rcall, of 3 bytes.
DEVICES=${DEVICES:-atmega1284p attiny85 ${LONG:+atmega2560}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# equals_calls NAME memory|serial [FUNCTION]: FUNCTION is where recording begins
equals_calls()
{
	python3 "$root/tests/oracle/firmware_avr.py" changes "$1.elf" >"$1.sites" &&
		"$simulator" -s "$1.sites" -o "$1.executed" -r "$1.order" -u "$1.serial" -m "$1.memory" "$device" \
			"$1.elf" >&2 &&
		{ "$BUILD/bin/litifut-post" -f gmon -o "$1.gmon" "$1.$2" "$1.elf" 2>"$1.words" ||
			grep -q 'returns are of calls that were not recorded' "$1.words"; } &&
		cat "$1.words" >&2 && grep -q ' 0 lost' "$1.words" &&
		python3 "$root/tests/oracle/firmware_avr.py" switched "$1.elf" "$1.order" "$1.gmon" ${3:+"$3"} >&2
}

# try MODE NAME SOURCE FLAGS...: the program switches
try()
{
	mode=$1
	shift
	results=memory
	spans=
	case $mode in
	spans) spans=spans results=serial ;;
	stream) results=serial ;;
	esac
	export LITIFUT_MODE="$mode"
	ok "it links traced ($what)" avr "$@"
	unset LITIFUT_MODE LITIFUT_CLOCK
	# shellcheck disable=SC2086
	ok "each site is counted as often as it is executed meanwhile ($what)" equals_calls "$1" $results $begins
	# shellcheck disable=SC2086
	ok "calls keep all registers, recorded or not ($what)" registers_are_kept "$1" $spans
}

# is_short WORD OTHER: is a case left to LONG=1, as the two words are the same?
is_short()
{
	[ -z "${LONG:-}" ] && [ "$1" = "$2" ]
}

kinds()
{
	for stubs in fast small byte; do
		export LITIFUT_STUBS="$stubs"
		what="$stubs, switched" begins=''
		try counts "$@" -DSWITCHES=37
		what="$stubs, from $start_at on" begins=$start_at
		export LITIFUT_START_AT="$start_at"
		is_short $stubs small || try counts "$@"
		unset LITIFUT_START_AT LITIFUT_STUBS
	done
}

# Rings that have room for all that is not forgotten, and are sent at the end.
modes()
{
	export LITIFUT_PORT=usart LITIFUT_RING_KB=8
	for record in table spans stream; do
		what="$record, switched" begins=''
		is_short "$record-$device" stream-atmega2560 && continue
		try $record truth avr_truth.c -Os -DTIMED -DSELDOM=1 -DROUNDS=8 -DSWITCHES=15 "$@"
		what="$record, from $start_at on" begins=$start_at
		export LITIFUT_START_AT="$start_at"
		is_short "$device" atmega2560 || is_short $record stream || try $record truth avr_truth.c -Os -DTIMED -DSELDOM=1 -DROUNDS=5 "$@"
		unset LITIFUT_START_AT
	done
	ok "it prints the same" prints_the_same truth
	export LITIFUT_RING_KB=2 LITIFUT_SEND=call:flush
	for record in spans stream; do
		what="$record of many sites" begins=''
		is_short "$record-$device" stream-atmega2560 || try $record many avr_many.c -Os -DSWITCHES
	done
	unset LITIFUT_PORT LITIFUT_RING_KB LITIFUT_SEND
}

# The shortest times of calls are those of the untraced program, and what is open is timed to its end.
open_calls()
{
	export LITIFUT_MODE=table LITIFUT_START_AT=main LITIFUT_CLOCK=timer1:1000000
	ok "it links traced (ticks)" avr ticks avr_ticks.c -Os -DCLOCK=0
	unset LITIFUT_START_AT
	"$simulator" -m ticks.memory "$device" ticks.elf >&2
	"$BUILD/bin/litifut-post" -q -f csv -o ticks.csv ticks.memory ticks.elf
	is "the shortest times are exact" \
		"$(sed 's/"//g' ticks.csv | awk -F , '$4 ~ /_one$/ { print $4, $11 / 1000 }' | sort | paste -s -d ' ')" \
		"long_one 353 short_one 31"
	export LITIFUT_START_AT=main LITIFUT_SEND=call:main LITIFUT_PORT=usart
	"$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" ticks.o -o both.elf >both.log 2>&1
	unset LITIFUT_START_AT LITIFUT_SEND LITIFUT_PORT
	for function in main pointed; do
		LITIFUT_START_AT=$function "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os "$root/tests/firmware/avr_times.c" \
			-o starts.elf >$function.log 2>&1
	done
	is "a function that pointers alone reach starts nothing: a line says so" \
		"$(grep -c 'starts.elf: nothing is ever recorded, as no call by name leads to pointed (LITIFUT_START_AT), ' pointed.log)" 1
	is "nothing is said of one that is called" "$(grep -c 'nothing is ever recorded' main.log)" 0
	ok "one line refuses a function that would send and start" \
		grep -q "left untraced: LITIFUT_START_AT: main sends the results" both.log
	cat >open.c <<-'END'
		#include <litifut/firmware.h>

		#define FUNCTION __attribute__((noinline, noclone))

		FUNCTION void spin(void)
		{
			for (unsigned char i = 0; i < 200; i++)
				__asm__ volatile("nop");
		}

		FUNCTION void open_at_reset(void)
		{
			spin();
			litifut_reset();
			spin();
		}

		FUNCTION void open_at_stop(void)
		{
			litifut_stop();
			spin();
		}

		int main(void)
		{
			open_at_reset();
			open_at_stop();
			litifut_start();
			spin();
			return 0;
		}
	END
	for mode in table spans; do
		export LITIFUT_MODE=$mode
		last=1
		[ $mode = table ] || last=0 # the return of its tail call is that of a call which a reset has forgotten
		"$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -I"$root/include" -Os open.c -o open.elf >&2
		"$simulator" -m open.memory "$device" open.elf >&2
		"$BUILD/bin/litifut-post" -q -f csv -o open.csv open.memory open.elf
		cat open.csv >&2
		is "what is open at a stop is timed, what is called then is not recorded, a reset forgets ($mode)" \
			"$(sed 's/"//g' open.csv | awk -F , '$4 ~ /spin|open/ {
				print $1, $4, $7, ($9 > 600000 && $9 < 1300000) }' | sort | paste -s -d ' ')" \
			"main open_at_stop 1 1 main spin 1 1 open_at_reset spin 1 $last"
	done
	unset LITIFUT_MODE LITIFUT_CLOCK
}

behaviour()
{
	# shellcheck disable=SC2154
	case $device in
	attiny85)
		start_at=apply
		kinds tiny avr_tiny.c -Os
		;;
	atmega1284p)
		start_at=tail_of
		kinds truth avr_truth.c -Os -DROUNDS=12
		modes
		open_calls
		;;
	*)
		start_at=main
		# shellcheck disable=SC2086
		modes $large
		;;
	esac
}

for_devices behaviour
