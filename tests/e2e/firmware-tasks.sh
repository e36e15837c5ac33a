#!/bin/sh
# LITIFUT_MODE=table under a small kernel of two tasks, for which the tracer has no support: the same
# results, every call counted, every call timed; calls that end by longjmp(); a pool of open
# calls that is too small; programs that can throw, which are not timed; the clocks. A program whose
# tasks are kept from the memory is left.
BOARDS=${BOARDS:-mps2-an385 microbit mps2-an505 netduino2}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# link_timed FOLDER CLOCK ARGUMENTS...
link_timed()
{
	export LITIFUT_MODE=table LITIFUT_CLOCK="$2" LITIFUT_PORT="$port"
	timed_folder=$1
	shift 2
	traced "$timed_folder" make_example "$timed_folder" EXTRA_CFLAGS="-DTICK=$tick" "$@"
	timed_status=$?
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT
	return $timed_status
}

# warns FOLDER WORDS: one line of the wrapper with these words
warns()
{
	grep 'litifut-ld: warning' "$1.log" >warnings
	[ "$(wc -l <warnings)" = 1 ] && grep -q "$2" warnings && return
	cat "$1.log"
	return 1
}

post()
{
	"$BUILD/bin/litifut-post" "$@"
}

# make PROGRAM=tasks of the example, as docs/firmware.md has it
example_of_tasks()
{
	rm -rf own
	cp -r "$root/examples/firmware" own
	make -s -C own PROGRAM=tasks BOARD="$board" OUT=plain >/dev/null
	export LITIFUT_TASK=current_task LITIFUT_MODE=table LITIFUT_CLOCK=systick LITIFUT_PORT="$port"
	ok "the example of tasks: it links traced" "$BUILD/bin/litifut" build -q --strict \
		make -s -C own PROGRAM=tasks BOARD="$board" OUT=tasks
	unset LITIFUT_TASK LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT
	emulate own/plain/firmware.elf own.plain
	emulate own/tasks/firmware.elf own.serial
	is "the example of tasks: all is sorted" "$(text_of own.serial | grep '^4000 ')" "$(grep '^4000 ' own.plain)"
	post -q -f json -o own.json own.serial own/tasks/firmware.elf
	ok "the example of tasks: each has its time" python3 -c '
import json
threads = json.load(open("own.json"))["processes"][0]["threads"]
print(threads)
assert {thread["name"] for thread in threads} >= {"sorter", "printer"}
assert all(thread["ticks"] > 1000 for thread in threads)'
}

# Tasks that the MPU keeps from the tracer's memory would not survive the first stub.
confined()
{
	rm -r source
	cp -r "$root/examples/firmware" source
	printf '%s\n' 'int xTaskCreateRestricted(void);' \
		'__attribute__((noipa)) int xTaskCreateRestricted(void) { return 1; }' >>source/main.c
	sed -i 's/^int main(void)/int xTaskCreateRestricted(void);\n&/
		s/^	qsort/	xTaskCreateRestricted();\n&/' source/main.c
	make_example confined-plain >/dev/null
	front="$BUILD/bin/litifut build -q"
	make_example confined >confined.log 2>&1
	LITIFUT_EXCLUDE="average*" traced chosen make_example chosen
	front=
	ok "a program with confined tasks is left, and a line says so" \
		warns confined 'left untraced: the program has tasks that may not use .*LITIFUT_EXCLUDE'
	ok "it is as without LITIFUT" cmp confined-plain/firmware.bin confined/firmware.bin
	ok "it is traced where their code is chosen" sh -c \
		"'$BUILD/bin/litifut' info chosen/firmware.elf | grep -q ': rewritten'"
}

# Two cores that write to the same pool, ring or word could end the program: calls are counted.
two_cores()
{
	sed -i 's/xTaskCreateRestricted/multicore_launch_core1/' source/main.c
	for mode in table stream; do
		export LITIFUT_MODE=$mode LITIFUT_CLOCK=systick
		front="$BUILD/bin/litifut build -q"
		make_example "cores-$mode" >"cores-$mode.log" 2>&1
		LITIFUT_EXCLUDE="average*" traced "one-$mode" make_example "one-$mode"
		front=
		unset LITIFUT_MODE LITIFUT_CLOCK
		ok "$mode: calls of a program with a second core are counted, and a line says so" \
			warns "cores-$mode" 'LITIFUT_MODE: calls are counted, .*: the program starts a second core.*LITIFUT_EXCLUDE'
		is "$mode: it is as asked where the user has chosen" "$("$BUILD/bin/litifut" info "one-$mode/firmware.elf" |
			sed -n 's/^  mode  *//p')" $mode
	done
	export LITIFUT_MODE=paths
	front="$BUILD/bin/litifut build -q"
	make_example cores-paths >cores-paths.log 2>&1
	front=
	unset LITIFUT_MODE
	ok "paths: it is left, and a line says so" warns cores-paths 'left untraced: .*the program starts a second core'
}

# Threads of RTX that may not read the clock, and such that may.
unprivileged()
{
	cp "$root/examples/firmware/main.c" source
	printf '%s\n' 'struct configuration { unsigned flags; };' \
		'const struct configuration osRtxConfig __attribute__((used)) = {FLAGS};' >>source/main.c
	sed -i 's/^	qsort/	__asm__ volatile("" : : "r"(\&osRtxConfig));\n&/
		s/^int main(void)/extern const struct configuration osRtxConfig;\n&/' source/main.c
	for flags in 2 3; do
		export LITIFUT_MODE=table LITIFUT_CLOCK=systick
		front="$BUILD/bin/litifut build -q"
		make_example "rtx-$flags" EXTRA_CFLAGS="-DFLAGS=$flags" >"rtx-$flags.log" 2>&1
		front=
		unset LITIFUT_MODE LITIFUT_CLOCK
	done
	ok "calls of unprivileged threads are counted, and a line says so" warns rtx-2 \
		'LITIFUT_MODE: calls are counted, not timed: the threads of RTX run unprivileged.*OS_PRIVILEGE_MODE'
	is "those of privileged ones are timed" "$("$BUILD/bin/litifut" info rtx-3/firmware.elf |
		sed -n 's/^  mode  *//p')" table
}

behaviour()
{
	case $board in
	netduino2) tick=30000 ;;
	*) tick=6400 ;;
	esac
	example_of_tasks
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/tasks.c" source/main.c
	cp "$root/tests/firmware/pendsv.h" source
	cp "$root/tests/firmware/startup.c" source
	make_example plain EXTRA_CFLAGS="-DTICK=$tick" >/dev/null
	emulate plain/firmware.elf plain.serial
	ok "the kernel runs untraced" grep -q 'm$' plain.serial
	ok "it links traced" link_timed timed systick
	ok "each site is counted as often as it is executed" counts_equal_calls timed/firmware.elf
	text_of timed/firmware.elf.serial >timed.text
	ok "it computes the same" diff plain.serial timed.text
	post -f csv -o times.csv timed/firmware.elf.serial timed/firmware.elf 2>words
	ok "no call is without a time" [ "$(grep -c 'without their time' words)" = 0 ]
	# 300 times, at depths of 0 to 5
	is "nor open, but those of what does not return" "$(python3 -c '
import csv
rows = [row for row in csv.DictReader(open("times.csv")) if row["callee"] in ("work", "leaf")]
print(*(sum(int(row[name]) for row in rows) for name in ("calls", "timed_calls")))')" \
		"6300 6300"

	export LITIFUT_DEPTH=6
	ok "with few entries: it links traced" link_timed few systick
	unset LITIFUT_DEPTH
	# the exit status of litifut-post reports that line
	counts_equal_calls few/firmware.elf >/dev/null 2>&1
	ok "with few entries: each site is counted as often as it is executed" python3 \
		"$root/tests/oracle/firmware.py" check few/firmware.elf few/firmware.elf.oracle \
		few/firmware.elf.gmon
	text_of few/firmware.elf.serial >few.text
	ok "with few entries: it computes the same" diff plain.serial few.text
	post -f csv -o few.csv few/firmware.elf.serial few/firmware.elf 2>words
	ok "with few entries: a line says how many calls have no time" \
		grep -q '[1-9][0-9]* calls were counted without their time, as 6 other' words
	dump few/firmware.elf few.bin _exit
	post -f csv -o dump.csv few.bin few/firmware.elf 2>dump.words
	post -f csv -o few.csv dump.serial few/firmware.elf 2>words
	is "with few entries: as many in the memory" "$(sed -n 's/.* \([0-9]* calls were counted without\).*/\1/p' dump.words)" \
		"$(sed -n 's/.* \([0-9]* calls were counted without\).*/\1/p' words)"
	ok "and they are some" grep -q ' [1-9][0-9]* calls were counted without' dump.words

	cat >>source/board.c <<-'C'
	static uint32_t now;
	uint32_t board_clock(void);
	uint32_t board_clock(void)
	{
		return now += 10;
	}
	C
	ok "with a function as the clock: it links traced" \
		link_timed function board_clock:1000 EXTRA_LDFLAGS=-Wl,-u,board_clock
	emulate function/firmware.elf function.serial
	post -q -f csv -o function.csv function.serial function/firmware.elf
	ok "with a function as the clock: times are in its ticks" \
		grep -q 'leaf.*,[1-9][0-9]*0000000,.*,0,' function.csv

	case $board in
	mps2-an385) ;;
	*) return ;;
	esac
	export LITIFUT_START_AT=main
	ok "recording that begins at a function: it links traced" link_timed begins systick
	unset LITIFUT_START_AT
	for setting in systick:fast systick:1000 no-such-name: nowhere; do
		folder=wrong-$(echo "$setting" | tr ':' '-')
		link_timed "$folder" "$setting" >/dev/null
		ok "LITIFUT_CLOCK=$setting has one line that says so" \
			warns "$folder" "left untraced: LITIFUT_CLOCK.*${setting%:}"
	done
	cp -r "$root/examples/firmware/." source
	sed -i 's/void SysTick_Handler/void Other_Handler/' source/main.c
	sed -i 's/SysTick_Handler/Default_Handler/' source/startup.c
	link_timed no-tick systick >/dev/null
	ok "systick without a handler has one line that says so" \
		warns no-tick "left untraced: LITIFUT_CLOCK=systick: .* no interrupt handler"
	export LITIFUT_SAMPLE=Default_Handler
	traced no-samples make_example no-samples >/dev/null
	unset LITIFUT_SAMPLE
	ok "samples by a handler that has no entry of its own have one line that says so" \
		warns no-samples "left untraced: LITIFUT_SAMPLE: .* leads to Default_Handler alone"

	cp -r "$root/examples/firmware/." source
	cat >source/thrower.cpp <<-'C'
	extern "C" int catch_one(void);
	extern "C" int catch_one(void)
	{
		try {
			throw 7;
		} catch (int value) {
			return value;
		}
	}
	C
	sed -i 's/^int main(void)/extern int catch_one(void);\nint main(void)/
		s/int result = 0;/int result = catch_one();/' source/main.c
	sed -i 's/main.o)/main.o thrower.o)/' source/Makefile
	printf '%s\n' '$(OUT)/thrower.o: thrower.cpp' \
		'	arm-none-eabi-g++ -mcpu=$(CPU) -mthumb -O2 -c $< -o $@' \
		'LDFLAGS += $(addprefix -Wl$(,)--defsym=,__exidx_start=0 __exidx_end=0 __dso_handle=0)' \
		', := ,' >>source/Makefile
	sed -i 's/  *$(SIZE) $@//; s/$(OBJECTS) -o $@/$(OBJECTS) -lstdc++ -o $@/' source/Makefile
	link_timed throws systick >/dev/null
	ok "a program that can throw is counted" \
		warns throws 'calls are counted, not timed: the program can throw exceptions'
	is "by stubs for counts" "$("$BUILD/bin/litifut" info throws/firmware.elf |
		sed -n 's/^  mode  *//p')" counts
	if [ "$board" = mps2-an385 ]; then
		confined
		two_cores
		unprivileged
	fi
}

for_boards behaviour
