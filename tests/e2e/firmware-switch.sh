#!/bin/sh
# Recording that is switched off and on, begins anew, or begins at a function; results that the
# program sends itself: by calls in the program, which is the same program without LITIFUT, and by
# settings of the link. Code of chosen objects and libraries.
BOARDS=${BOARDS:-mps2-an385 microbit}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# calls FOLDER CALLER CALLEE: how often, "" for never
calls()
{
	"$BUILD/bin/litifut-post" -q -f edges "$1.serial" "$1/firmware.elf" 2>"$1.words" |
		sed -n "s/^ *\\([0-9]*\\) *$2 -> $3\$/\\1/p"
}

# link_and_run FOLDER
link_and_run()
{
	export LITIFUT_PORT="$port"
	ok "$1: it links traced" traced "$1" make_example "$1" EXTRA_CFLAGS="-I$root/include"
	unset LITIFUT_PORT
	emulate "$1/firmware.elf" "$1.serial"
}

# callers FOLDER: functions whose calls are traced
callers()
{
	"$BUILD/bin/litifut" info --sites "$1/firmware.elf" |
		sed -n '/^0x/{/ excluded in /d; s/.* in //p;}' | sort -u | paste -s -d ' '
}

# Objects and libraries, in code that begins at 0 and elsewhere.
by_file()
{
	LITIFUT_EXCLUDE_OBJECTS=main.o traced object make_example object >/dev/null
	is "LITIFUT_EXCLUDE_OBJECTS leaves these, and no others" "$(callers object |
		grep -c 'Reset_Handler.* qsort' | tr '\n' ' ')$(callers object | grep -c '\<main\>')" "1 0"
	LITIFUT_INCLUDE_OBJECTS='*/main.o' traced only make_example only >/dev/null
	# exit() makes the call that sends
	is "LITIFUT_INCLUDE_OBJECTS leaves the others" "$(callers only | sed 's/\.[a-z0-9.]*//g')" \
		"SysTick_Handler average exit fibonacci main"
	for calls in 1 2; do
		LITIFUT_INCLUDE=main+$calls traced "down$calls" make_example "down$calls" >/dev/null
		is "LITIFUT_INCLUDE=main+$calls" "$(callers "down$calls" | tr ' ' '\n' | grep -cx -e main -e qsort -e _vfprintf_r)" \
			$((calls + 1))
	done
	LITIFUT_EXCLUDE_LIBS='lib[cg]_nano.a' traced library make_example library >/dev/null
	is "LITIFUT_EXCLUDE_LIBS leaves its functions" \
		"$(callers library | grep -c 'qsort')" 0
	front="env LITIFUT_EXCLUDE_OBJECTS=no.o $BUILD/bin/litifut build -q"
	make_example none >none.log 2>&1
	front=
	ok "a name that no object has is reported" \
		grep -q 'no input has a name of LITIFUT_EXCLUDE_OBJECTS' none.log
}

behaviour()
{
	by_file
	for mode in $modes; do
		rm -rf source
		cp -r "$root/examples/firmware" source
		export LITIFUT_MODE="$mode" LITIFUT_CLOCK=systick
		export LITIFUT_START_AT=main
		link_and_run "$mode-main"
		is "$mode: recording begins at main" \
			"$(calls "$mode-main" Reset_Handler __libc_init_array)" ""
		is "$mode: what main calls is recorded" "$(calls "$mode-main" main next_random)" 24
		LITIFUT_START_AT=average
		traced "$mode-never" make_example "$mode-never" >begun 2>&1
		unset LITIFUT_START_AT
		ok "$mode: one line reports a function that does not exist" \
			grep -q 'left untraced: LITIFUT_START_AT: no such function: average' \
			"$mode-never.log"

		sed -i 's/^#include "board.h"/&\n#include <litifut\/firmware.h>/
			s/^	qsort.*/	if (litifut_stop) litifut_stop();\n&\n\
	if (litifut_start) litifut_start();/' source/main.c
		link_and_run "$mode-stop"
		is "$mode: before it was stopped" "$(calls "$mode-stop" main next_random)" 24
		is "$mode: what is called after a stop is not recorded" \
			"$(calls "$mode-stop" qsort compare)" ""
		is "$mode: what is called after a start is" \
			"$(calls "$mode-stop" fibonacci fibonacci)" 88
		text_of "$mode-stop.serial" >text

		sed -i 's/litifut_stop/litifut_reset/g; s/litifut_start/litifut_send/g' source/main.c
		export LITIFUT_SEND=never
		link_and_run "$mode-reset"
		unset LITIFUT_SEND
		is "$mode: a reset forgets what was" "$(calls "$mode-reset" main next_random)" ""
		ok "$mode: no event that was not sent stands in the place of a forgotten one" \
			sh -c '! grep -q "[0-9][0-9] returns are of calls" "$1"' sh "$mode-reset.words"
		is "$mode: and what comes then is recorded" \
			"$(calls "$mode-reset" main qsort)" 1
		is "$mode: up to where it is sent" "$(calls "$mode-reset" fibonacci fibonacci)" ""
		unset LITIFUT_MODE LITIFUT_CLOCK
		make_example plain EXTRA_CFLAGS="-I$root/include" >/dev/null
		emulate plain/firmware.elf plain.serial
		ok "$mode: the same source links without LITIFUT and prints the same" \
			cmp plain.serial text
	done
}

# refuses SETTING VALUE: a link with a function that the program does not have
refuses()
{
	export "$1=$2"
	traced "$1" make_example "$1" >/dev/null 2>&1
	unset "$1"
	ok "$1=$2: one line reports a function that does not exist" \
		grep -q "left untraced: $1: no such function: nosuch\$" "$1.log"
}

asked_for_nothing()
{
	rm -rf source
	cp -r "$root/examples/firmware" source
	export LITIFUT_PORT="$port"
	refuses LITIFUT_SEND call:nosuch
	refuses LITIFUT_SAMPLE nosuch
	export LITIFUT_MODE=table LITIFUT_CLOCK=systik
	traced clock make_example clock >/dev/null 2>&1
	unset LITIFUT_PORT LITIFUT_MODE LITIFUT_CLOCK
	ok "a clock that is misspelt: the one that was meant is named" \
		grep -q 'LITIFUT_CLOCK: neither dwt, systick nor a function of the program: systik; did you mean systick?$' clock.log
	[ "$board" = mps2-an385 ] || return 0 # others have not even as much memory as the largest ring
	export LITIFUT_MODE=spans LITIFUT_CLOCK=systick LITIFUT_RING_KB=4096
	traced ring make_example ring >/dev/null 2>&1
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_RING_KB
	ok "a ring that is too large is cut, and a line says so" grep -q 'LITIFUT_RING_KB: .* at most 1024 KB.* not 4096' ring.log
}

everything()
{
	# the ring has room for all events of a run, where there is so much memory
	modes='counts table'
	unset LITIFUT_RING_KB
	if [ "$board" = mps2-an385 ]; then
		modes='counts table spans stream'
		export LITIFUT_RING_KB=64
	fi
	behaviour
	unset LITIFUT_RING_KB
	asked_for_nothing
}

for_boards everything
