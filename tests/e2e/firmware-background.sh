#!/bin/sh
# Results that are sent in interrupts while the program runs: a byte at each interrupt of a timer
# (LITIFUT_SEND=tick:N), or at each of the transmitter (LITIFUT_PORT=NAME:ADDRESS:INTERRUPT). Several
# rounds, each of them whole, and the last one has each call that QEMU has executed.
BOARDS=${BOARDS:-mps2-an385 microbit ${LONG:+mps2-an505 lm3s6965evb}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# sent FOLDER: runs it under the oracle; what it has sent by the second line is in FOLDER.frames
sent()
{
	python3 "$root/tests/oracle/firmware.py" sites "$1/firmware.elf" >"$1.sites" || return
	emulate "$1/firmware.elf" "$1.serial" ${line:+-serial "file:$1.frames"} \
		-plugin "$BUILD/tests/system.so,sites=$1.sites,out=$1.oracle"
	[ -n "$line" ] || cp "$1.serial" "$1.frames"
	"$BUILD/bin/litifut-post" -q -f gmon -o "$1.gmon" "$1.frames" "$1/firmware.elf" 2>"$1.words"
	[ -s "$1.words" ] && cat "$1.words" && return 1
	python3 "$root/tests/oracle/firmware.py" check "$1/firmware.elf" "$1.oracle" "$1.gmon"
}

# calls_of FILE FOLDER: of fibonacci() by itself, as FILE has them
calls_of()
{
	"$BUILD/bin/litifut-post" -q -f edges "$1" "$2/firmware.elf" 2>calls.words |
		sed -n 's/^ *\([0-9]*\) *fibonacci -> fibonacci$/\1/p'
	cat calls.words
}

# first_whole FOLDER: the first sending alone has all numbers, of a run that was not at its end
first_whole()
{
	"$BUILD/bin/litifut" capture --rounds 1 -o first "$1.frames" >first.text || return
	# and that the next sending, of which the round has the begin, is cut
	first=$(calls_of first "$1" | sed 1q)
	[ "$first" -gt 0 ] && [ "$first" -lt "$(calls_of "$1.frames" "$1")" ]
}

link_sending()
{
	export LITIFUT_PORT="$2" LITIFUT_SEND="$3"
	ok "$1: it links traced" traced "$1" make_example "$1"
	unset LITIFUT_PORT LITIFUT_SEND
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	# a byte goes out at each tick, and a sending is to end before the program: so as many ticks
	# as on mps2-an385, although the timers of these boards are slower
	case $board in
	mps2-an505) period=561 ;;
	lm3s6965evb) period=351 ;;
	*) period=701 ;;
	esac
	sed -i "s/board_start_ticks(20000)/board_start_ticks($period)/; s/fibonacci(10)/fibonacci(23)/" \
		source/main.c
	# frames have a line to themselves: text between their bytes would damage them
	case $board in
	mps2-an385) line=0x40005000 interrupt=3 ;;
	mps2-an505) line=0x40201000 interrupt=35 ;;
	lm3s6965evb) line=0x4000d000 interrupt=6 ;;
	*)
		line='' interrupt=''
		sed -i 's/board_putc(text\[i\]);/(void)text;/' source/board.c
		;;
	esac
	make_example plain >/dev/null
	emulate plain/firmware.elf plain.serial
	link_sending ticks "${port%:*}${line:+:$line}" tick:2
	ok "ticks: each site is counted as often as it is executed" sent ticks
	ok "ticks: a sending while the program runs is whole" first_whole ticks
	[ -n "$interrupt" ] || return
	ok "ticks: it prints the same" cmp plain.serial ticks.serial

	link_sending transmitter "${port%:*}:$line:$interrupt" tick:20:SysTick_Handler
	ok "transmitter: each site is counted as often as it is executed" sent transmitter
	ok "transmitter: a sending while the program runs is whole" first_whole transmitter
	ticks=$("$BUILD/bin/litifut-post" -q -f edges transmitter.frames transmitter/firmware.elf |
		sed -n 's/^ *\([0-9]*\) *(interrupt 15) -> SysTick_Handler$/\1/p')
	ok "transmitter: more bytes than there were ticks" \
		[ "$ticks" -gt 20 -a "$(wc -c <transmitter.frames)" -gt $((4 * ticks)) ]
	ok "transmitter: it prints the same" cmp plain.serial transmitter.serial

	# events leave the ring meanwhile, which has no room for all of them
	sed -i 's/fibonacci(23)/fibonacci(16)/' source/main.c
	export LITIFUT_MODE=stream LITIFUT_RING_KB=16
	link_sending events "${port%:*}:$line:$interrupt" tick:4
	unset LITIFUT_MODE LITIFUT_RING_KB
	ok "events: each call is there" sent events

	make_example plain >/dev/null
	emulate plain/firmware.elf plain.serial
	ok "events: it prints the same" cmp plain.serial events.serial

	# a call of the program begins a round; the vector table has another handler before the transmitter's
	sed -i '0,/^	UNUSED_8,/s//	Other_Handler, Default_Handler, Default_Handler, Default_Handler, Default_Handler, \
		Default_Handler, Default_Handler, Default_Handler,/
		s/^void SystemInit(void)/void Other_Handler(void)\n{\n	__asm__ volatile("nop");\n}\n\n&/' source/startup.c
	link_sending call "${port%:*}:$line:$interrupt" call:printf
	sent call >call.log 2>&1
	"$BUILD/bin/litifut" capture --rounds 3 -o three call.frames >three.text
	is "call: one round for each" $? 0
	ok "call: it prints the same" cmp plain.serial call.serial

	for wrong in "tick:0 ${port%:*}:$line" "tick:2:main ${port%:*}:$line" "tick:2 memory" \
		"tick:2:nosuch ${port%:*}:$line" "tick:2 ${port%:*}:$line:200" "tick:2 nrf51:$line:3"; do
		export LITIFUT_SEND="${wrong% *}" LITIFUT_PORT="${wrong#* }"
		front="$BUILD/bin/litifut build -q"
		make_example wrong >wrong.log 2>&1
		front=
		unset LITIFUT_SEND LITIFUT_PORT
		is "$wrong: a line says why not" \
			"$(grep -c 'left untraced: LITIFUT_\(SEND\|PORT\)' wrong.log)" 1
		rm -r wrong
	done
}

for_boards behaviour
