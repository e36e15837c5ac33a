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

# self_times_of_parts SERIAL ELF: the capture is cut at many places, and lacks a piece at many. A self time that is
# shown is that of the whole capture where all calls of the function are there, else not more.
self_times_of_parts()
{
	python3 - "$BUILD/bin/litifut-post" "$@" <<-'PYTHON'
	import collections, csv, io, subprocess, sys
	post, serial, elf = sys.argv[1:]
	whole = open(serial, "rb").read()
	def times(bytes):
	    open("part.serial", "wb").write(bytes)
	    text = subprocess.run([post, "-q", "-f", "csv", "part.serial", elf], capture_output=True, text=True).stdout
	    functions, sites = collections.defaultdict(lambda: [0, 0, 0]), {}
	    for row in csv.DictReader(io.StringIO(text)):
	        function = functions[row["callee"]]
	        function[0] += int(row["calls"])
	        function[2] += 1
	        if row["timed_calls"] != "0":
	            sites[row["site"], row["callee"]] = row["calls"], row["min_ns"]
	            if not row["self_ns"]:
	                function[1] = None
	            elif function[1] is not None:
	                function[1] += int(row["self_ns"])
	    return functions, sites
	truth, true_sites = times(whole)
	parts = [whole[:at] for at in range(200, len(whole), 23)]
	parts += [whole[:at] + whole[at + 70:] for at in range(200, len(whole) - 70, 23)]
	shown = hidden = bad = 0
	for number, part in enumerate(parts):
	    functions, sites = times(part)
	    # without the frame of times these have the tracer's, as a line says
	    if any(true_sites[site][0] == value[0] and true_sites[site] != value for site, value in sites.items()):
	        continue
	    for name, (calls, self, rows) in functions.items():
	        if self is None:
	            hidden += 1
	            continue
	        shown += 1
	        true_calls, true_self, true_rows = truth[name]
	        wrong = self > true_self + true_rows or (calls == true_calls and self < true_self - true_rows)
	        if wrong:
	            bad += 1
	            print(f"part {number}: {name}: {self} ns of {calls} calls, not {true_self} of {true_calls}")
	print(len(parts), "parts:", shown, "self times shown,", hidden, "not")
	sys.exit(bad > 0 or not shown or not hidden or len(truth) < 5)
	PYTHON
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
	ok "of a table in which frames are missing no self time is wrong" self_times_of_parts \
		timed/firmware.elf.serial timed/firmware.elf
	post -f dot --lines -o calls.dot timed/firmware.elf.serial timed/firmware.elf
	post -f report timed/firmware.elf.serial timed/firmware.elf >lines
	ok "the report says that the tracer's time is not in them" \
		grep -q "tracer's time is taken off self times" lines
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
	looks_at_its_timer
	returns_twice
	[ "$board" = microbit ] || returns_for_its_function # that of libgcc is in C for it
}

# A program that finds by COUNTFLAG of its timer that a period has ended (little kernel's clock): to read it clears it.
looks_at_its_timer()
{
	cp -r "$root/examples/firmware/." source
	cat >source/main.c <<-'C'
	#include "board.h"
	#include <stdio.h>
	static volatile uint32_t periods, flags, calls;
	static __attribute__((noinline)) void called(void)
	{
		calls++;
	}
	void SysTick_Handler(void)
	{
		called();
		flags += *(volatile uint32_t *)0xe000e010 >> 16 & 1;
		periods++;
	}
	int main(void)
	{
		board_start_ticks(20000);
		while (periods < 20)
			called();
		board_stop_ticks();
		printf("%d of %d periods seen\n", (int)flags, (int)periods);
		return 0;
	}
	C
	for mode in table spans; do
		export LITIFUT_MODE=$mode LITIFUT_CLOCK=systick LITIFUT_PORT="$port"
		ok "COUNTFLAG, $mode: it links traced" traced flag make_example flag
		unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT
		emulate flag/firmware.elf flag.serial
		is "COUNTFLAG, $mode: the program sees each" "$(text_of flag.serial | tr -d '\r')" "20 of 20 periods seen"
		rm -r flag
	done
}

# MicroPython's exceptions: nlr_push() keeps its return address, and returns to it once more. So may a function of any
# other name.
returns_twice()
{
	cp -r "$root/examples/firmware/." source
	cat >source/main.c <<-'C'
	#include "board.h"
	#include <stdio.h>
	int nlr_push(void *buffer);
	void nlr_jump(void *buffer);
	__asm__(".syntax unified\n.thumb_func\n" NAME ": str r4, [r0]\nmov r1, sp\nstr r1, [r0, #4]\n"
		"mov r1, lr\nstr r1, [r0, #8]\nmovs r0, #0\nbx lr\n.size " NAME ", . - " NAME "\n"
		".type " NAME ", %function\n.thumb_func\nnlr_jump: ldr r4, [r0]\nldr r1, [r0, #4]\n"
		"mov sp, r1\nldr r1, [r0, #8]\nmovs r0, #1\nbx r1\n.size nlr_jump, . - nlr_jump\n"
		".type nlr_jump, %function");
	static void *buffer[3];
	void SysTick_Handler(void)
	{
	}
	static __attribute__((noinline)) int deep(int depth)
	{
		if (!depth)
			nlr_jump(buffer);
		return deep(depth - 1) + 1;
	}
	int main(void)
	{
		if (nlr_push(buffer))
			printf("back\n");
		else
			printf("not here: %d\n", deep(5));
		return 0;
	}
	C
	for mode in table spans; do
		for name in nlr_push keep_place; do
			export LITIFUT_MODE=$mode LITIFUT_CLOCK=systick LITIFUT_PORT="$port"
			ok "$name, $mode: it links traced" traced $name make_example $name \
				EXTRA_CFLAGS="-O1 -Dnlr_push=$name -DNAME=\\\"$name\\\""
			unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT
			emulate $name/firmware.elf $name.serial
			is "$name, $mode: it comes back" "$(text_of $name.serial | tr -d '\r')" back
		done
	done
}

# A function calls code of its own, which returns to the function's caller, as libgcc's __muldf3 does with zero: the pool
# gets no entries that stay there.
returns_for_its_function()
{
	cp -r "$root/examples/firmware/." source
	cat >source/main.c <<-'C'
	#include "board.h"
	static volatile double factor;
	void SysTick_Handler(void)
	{
	}
	static __attribute__((noinline)) double deep(int depth)
	{
		return depth ? deep(depth - 1) + factor * 3 : factor;
	}
	int main(void)
	{
		return deep(10) != 0;
	}
	C
	export LITIFUT_DEPTH=16
	ok "subroutines: it links traced" link_timed inner EXTRA_CFLAGS=-O1
	unset LITIFUT_DEPTH
	emulate inner/firmware.elf inner.serial
	post -f csv -o inner.csv inner.serial inner/firmware.elf
	is "subroutines: they are counted, not timed" \
		"$(awk -F, '$1 == $4 && $1 == "\"__muldf3\"" { calls += $7; timed += $8 } END { print (calls > 9), 0 + timed }' inner.csv)" "1 0"
	is "subroutines: few are still open" \
		"$(post -f report inner.serial inner/firmware.elf | grep -o '[0-9]* still open at the end')" "2 still open at the end"
}

for_boards behaviour
