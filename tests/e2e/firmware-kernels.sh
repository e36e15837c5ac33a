#!/bin/sh
# LITIFUT_MODE=table of a program whose kernel says which task runs: how long each task has run, with its name, and the
# calls made meanwhile, against what QEMU's plugin has seen under two levels of interrupts and more than 20 changes of the
# task; a kernel that is known, one that the user names, and names that are wrong. Without such a kernel nothing is added.
BOARDS=${BOARDS:-mps2-an385 microbit}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# link_kernel FOLDER TASK ARGUMENTS...: LITIFUT_TASK is TASK, "": it is not set
link_kernel()
{
	export LITIFUT_MODE=table LITIFUT_CLOCK=systick LITIFUT_PORT="$port"
	[ -z "$2" ] || export LITIFUT_TASK="$2"
	kernel_folder=$1
	kernel_flags=${3:-}
	traced "$kernel_folder" make_example "$kernel_folder" EXTRA_CFLAGS="-DTICK=$tick $kernel_flags"
	kernel_status=$?
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT LITIFUT_TASK
	return $kernel_status
}

# tasks_are_right FOLDER: calls and times of the tasks are those of the plugin
tasks_are_right()
{
	elf=$1/firmware.elf
	python3 "$root/tests/oracle/firmware.py" entries "$elf" >"$elf.entries" &&
		emulate "$elf" "$elf.serial" -plugin \
			"$BUILD/tests/system.so,sites=$elf.entries,out=$elf.oracle,stamps=$elf.stamps" &&
		"$BUILD/bin/litifut-post" -q -f json -o "$elf.json" "$elf.serial" "$elf" 2>/dev/null &&
		python3 "$root/tests/oracle/firmware.py" tasks "$elf" "$elf.stamps" "$elf.json" 50
}

# masked ELF: how long the tracer has interrupts off, which is to be at most 40 cycles on a Cortex-M3
masked()
{
	: >sites
	emulate "$1" serial -plugin "$BUILD/tests/system.so,sites=sites,out=oracle,masked=masked"
	while read -r masked_instructions masked_cycles masked_at; do
		masked_name=$(arm-none-eabi-addr2line -f -e "$1" "0x$masked_at" | sed 1q)
		echo "$masked_instructions $masked_cycles $masked_name"
	done <masked | grep ' litifut_' | sort -n -k 2 >masked.tracer
	tail -n 3 masked.tracer
	grep -q litifut_task masked.tracer && awk '$2 > 40 { exit 1 }' masked.tracer
}

# left FOLDER WORDS: the link is left untraced, and the one line about it has these words
left()
{
	grep -q "left untraced: LITIFUT_TASK: $2" "$1.log" && return
	cat "$1.log"
	return 1
}

behaviour()
{
	case $board in
	netduino2) tick=30000 ;;
	*) tick=6400 ;;
	esac
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/kernel.c" source/main.c
	cp "$root/tests/firmware/pendsv.h" "$root/tests/firmware/startup.c" source
	make_example plain EXTRA_CFLAGS="-DTICK=$tick" >/dev/null
	emulate plain/firmware.elf plain.serial
	ok "the kernel runs untraced" grep -q 'm$' plain.serial
	ok "it links traced" link_kernel known ""
	ok "calls and times of the tasks are those that are executed" tasks_are_right known
	text_of known/firmware.elf.serial >known.text
	ok "it computes the same" diff plain.serial known.text
	[ "$board" = mps2-an385 ] || return 0
	ok "interrupts are off for 40 cycles at most" masked known/firmware.elf
	ok "each site is counted as often as it is executed" counts_equal_calls known/firmware.elf
	"$BUILD/bin/litifut-post" -q -f report --per thread known/firmware.elf.serial known/firmware.elf \
		>lines 2>/dev/null
	is "the report has their names" "$(sed -n 's/.*), task //p' lines | sort | paste -s -d ,)" \
		"(none),Control,IDLE,Logger of thing,Worker"
	ok "the database too" sh -c "'$BUILD/bin/litifut-post' -q -f sqlite -o known.db known/firmware.elf.serial \
		known/firmware.elf 2>words; python3 -c 'import sqlite3; [row] = sqlite3.connect(\"known.db\").execute(
			\"SELECT calls > 0, ticks > 0 FROM threads WHERE name = ?\", (\"Worker\",)); exit(row != (1, 1))'"

	ok "a kernel that is named, names behind pointers: it links traced" \
		link_kernel named running "-DCURRENT=running -DNAME_POINTER"
	ok "named: calls and times are right" tasks_are_right named
	for each in OSTCBCur k_curr_task; do
		ok "$each: it links traced" link_kernel $each "" -DCURRENT=$each
		ok "$each is known: calls and times of the tasks are right" tasks_are_right $each
	done
	ok "a pointer in a structure: it links traced" link_kernel inside "" -DSTRUCTURE
	ok "a pointer in a structure: calls and times are right" tasks_are_right inside
	ok "a pointer deep in a structure: it links traced" link_kernel deep "" -DDEEP_STRUCTURE
	ok "a pointer deep in a structure: calls and times are right" tasks_are_right deep
	ok "a word of it that is named: it links traced" link_kernel word _kernel+4 -DSTRUCTURE
	emulate word/firmware.elf word.serial
	ok "a word of it that is named: tasks have addresses" sh -c "'$BUILD/bin/litifut-post' -q -f report \
		--per thread word.serial word/firmware.elf 2>words | grep -q 'task 0x2'"
	export LITIFUT_START_AT=choose_next
	link_kernel switched "" >/dev/null
	unset LITIFUT_START_AT
	ok "recording that begins at a function: tasks are timed" \
		grep -q litifut_time_call_tasks_switched switched/firmware.elf
	emulate switched/firmware.elf switched.serial
	text_of switched.serial >switched.text
	ok "recording that begins at a function: it computes the same" diff plain.serial switched.text

	dump known/firmware.elf known.ram _exit
	"$BUILD/bin/litifut-post" -q -f json -o ram.json known.ram known/firmware.elf 2>/dev/null
	ok "a dump of the memory has the tasks" python3 -c '
import json
threads = json.load(open("ram.json"))["processes"][0]["threads"]
exit(sorted(t["name"] for t in threads)[1:3] != ["Control", "IDLE"] or any(t["ticks"] <= 0 for t in threads))'

	ok "LITIFUT_TASK=none leaves tasks alone" link_kernel none none
	link_kernel other "" -DCURRENT=running >/dev/null
	is "neither has anything of them" "$(cat none/firmware.elf other/firmware.elf |
		strings | grep -c '^litifut_.*task')" 0
	link_kernel nosuch nosuch "" >/dev/null
	ok "a variable that does not exist is named in one line" left nosuch 'no such variable: nosuch$'
	link_kernel function work "" >/dev/null
	ok "so is a function" left function 'no such variable: work$'
	link_kernel beyond pxCurrentTCB+4 "" >/dev/null
	ok "and what is not in the variable" left beyond 'not a word of 4 bytes'
}

for_boards behaviour
