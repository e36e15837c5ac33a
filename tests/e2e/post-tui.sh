#!/bin/sh
# litifut-post tui in a pseudo terminal: its table, callers and callees, tree and source say what the
# other formats say, and traces of a program that still runs grow on the screen.
TARGETS=${TARGETS:-"armhf mips"}
. "$(dirname "$0")/../lib.sh"

post=$BUILD/bin/litifut-post

# browse CODE: python that has `terminal`, with the browser of the program in it
browse()
{
	PYTHONPATH=$root/tests PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$post" <<-END
		import csv, re, sys
		from terminal import Terminal
		calls = {}
		for row in csv.DictReader(open("run.csv")):
		    edge = row["caller"], row["callee"]
		    calls[edge] = calls.get(edge, 0) + int(row["calls"])
		def number(text, line):
		    return [int(part) for part in re.findall(r" (\\d+)(?= )", line.split(text)[0])]
		with Terminal([sys.argv[1], "tui", "--source", ".", "data", "traced/program"]) as terminal:
		    terminal.see("q quit")
		$1
		    terminal.type("q")
		    assert terminal.ends() == 0
	END
}

shows_functions()
{
	browse '
    terminal.type("/fib\n")
    while "fib(int) [program]" not in (terminal.chosen() or ""):
        assert terminal.read(60)
    timed = "self" in terminal.lines()[1]
    if timed:
        unreturned = re.search(r"\d+(?= whose return is not recorded)", open("report").read())[0]
        assert unreturned != "0"
        terminal.type("?")
        text = "".join(terminal.see("Calls without a time")).replace(" ", "")
        assert f"returnisnotrecorded:{unreturned}." in text, text
        terminal.type("x")
        terminal.see("self")
    if timed: # its total is known, that of the start-up code is not
        assert next(line for line in terminal.lines() if re.search(r" main \[| __libc_start_main", line)).endswith("main [program]"), terminal.lines()
    made = sum(count for (caller, _), count in calls.items() if caller == "fib(int)")
    received = sum(count for (_, callee), count in calls.items() if callee == "fib(int)")
    assert number("fib(int)", terminal.chosen())[-2:] == [received, made], terminal.chosen()
    terminal.type("\n")
    lines = terminal.see("called by main")
    for line in lines:
        if match := re.search(r" (\d+) +\d+  called by (.*) \[", line):
            assert int(match[1]) == calls[match[2], "fib(int)"], line
        elif match := re.search(r" (\d+) +\d+  calls +(.*) \[", line):
            assert int(match[1]) == calls["fib(int)", match[2]], line
    assert sum("called by" in line for line in lines) == len([1 for _, callee in calls if callee == "fib(int)"])
    terminal.type("s")
    line = [line for line in terminal.see("KEEP int fib") if "KEEP int fib" in line][0]
    assert [int(word) for word in line.split()[:2]] == [received, made], line
    assert not timed or "time; more: key ?)" in terminal.lines()[0] or "off; more: key ?)" in terminal.lines()[0], terminal.lines()
    terminal.type("?")
    terminal.see("The tracer" if timed else "/ search")
    terminal.type("x\x7f\x7f")
    terminal.see("by self time" if "self" in terminal.see("function [module]")[1] else "by calls")'
}

shows_tree()
{
	browse '
    terminal.type("t")
    terminal.see("share")
    terminal.type("/work\n")
    while "+ work" not in (terminal.chosen() or ""):
        assert terminal.read(60)
    terminal.type("\n")
    line = [line for line in terminal.see("- work") if "  fib(int)" in line or "+ fib(int)" in line][0]
    assert int(line.split()[-4]) == calls["work(void*)", "fib(int)"], line
    terminal.type("\x1b[D")
    terminal.see("+ work")
    terminal.type("/nothing like it\n")
    terminal.see("no line has nothing like it")'
}

# On 40 columns the names are there, beside one figure; a name that is longer can be moved.
is_narrow()
{
	PYTHONPATH=$root/tests PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$post" <<-'END'
		import re, sys
		from terminal import Terminal
		with Terminal([sys.argv[1], "top", "data", "traced/program"], 40, 10) as terminal:
		    for line in terminal.see("fib(int) [program]"):
		        assert "work(void" not in line or re.match(r" +(\d+|[\d.]+ .?s|-) work\(void", line), line
		    assert terminal.lines()[-1].startswith("q quit  ? all keys"), terminal.lines()
		    terminal.type("?")
		    assert any("Backspace back" in line for line in terminal.see("/ search"))
		    terminal.type("x")
		    terminal.see("fib(int) [program]")
		    terminal.type(">")
		    while any("fib(int) [program]" in line for line in terminal.lines()):
		        assert terminal.read(60), terminal.lines()
		    terminal.type("<")
		    terminal.see("fib(int) [program]")
		    terminal.type("q")
		    assert terminal.ends() == 0
		    # not with the time that the user took
		    summary = "".join(line.strip() for line in terminal.lines()).replace(" ", "")
		    assert summary.endswith("0unresolved"), summary
		with Terminal([sys.argv[1], "tui", "--include", "no such function", "data", "traced/program"]) as terminal:
		    terminal.see("nothing was recorded, or the filters leave nothing")
		    terminal.type("q")
	END
}

needs_a_terminal()
{
	"$post" tui data traced/program >no.out 2>&1
	[ $? = 2 ] && grep 'a terminal is needed' no.out &&
		PYTHONPATH=$root/tests PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$post" <<-'END'
			import sys
			from terminal import Terminal
			with Terminal(["env", "TERM=nosuch", sys.argv[1], "tui", "data", "traced/program"]) as terminal:
			    terminal.see("TERM")
			    assert terminal.ends() == 1
		END
}

grows()
{
	mkfifo go
	PYTHONPATH=$root/tests PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$post" <<-'END'
		import re, subprocess, sys
		from terminal import Terminal
		keeper = open("go", "r+b", 0) # so that neither side waits for the other one
		program = subprocess.Popen(["sh", "-c", "exec $QEMU traced/waits"], stdin=open("go", "rb"),
		                           stdout=subprocess.PIPE)
		program.stdout.readline()
		with Terminal([sys.argv[1], "tui", "live", "traced/waits"]) as terminal:
		    terminal.see("still written")
		    line = [line for line in terminal.see("step [waits]") if "step [waits]" in line][0]
		    assert " 5 " in line, line
		    terminal.type("/step\n")
		    keeper.write(b"\n")
		    program.stdout.readline()
		    while not any("step [waits]" in line and " 12 " in line for line in terminal.lines()):
		        assert terminal.read(60), terminal.lines()
		    assert "step [waits]" in terminal.chosen()
		    keeper.write(b"\n")
		    program.wait()
		    while "still written" in terminal.lines()[0]:
		        assert terminal.read(60), terminal.lines()
		    terminal.type("/common\n\n")
		    callers = [line for line in terminal.see("called by one") if "called by" in line]
		    assert len(callers) == 4, callers # none is hidden above the first line
		    terminal.type("q")
		    assert terminal.ends() == 0
	END
}

behaviour()
{
	fibonacci_program
	export LITIFUT_MODE=spans LITIFUT_CLOCK=page
	language=g++
	[ "$target" != armel ] || unset LITIFUT_MODE
	link program ../main.cc -g -pthread || return
	language=gcc
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,clock=1"
	guest_environment="LITIFUT_CLOCK=page LITIFUT_DIR=$(pwd)/data"
	run traced program
	"$post" -q -f csv -o run.csv data traced/program
	"$post" -q -f report -o report data traced/program
	ok "tui: functions, callers and callees, source" shows_functions
	ok "tui: the tree from the top" shows_tree
	ok "tui: on 40 columns, and with nothing to show" is_narrow
	ok "tui: not without a terminal" needs_a_terminal
	cat >waits.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		static volatile int sink;
		KEEP void step(void) { sink++; }
		KEEP void common(void) { sink++; }
		#define CALLER(name) KEEP void name(void) { common(); sink++; }
		CALLER(one) CALLER(two) CALLER(three) CALLER(four)
		int main(void)
		{
			one(), two(), three(), four();
			for (int count = 5; count < 8; count += 2) {
				for (int i = 0; i < count; i++)
					step();
				puts("done");
				fflush(stdout);
				getchar();
			}
			return 0;
		}
	END
	unset LITIFUT_MODE LITIFUT_CLOCK
	link waits ../waits.c || return
	QEMU="env -i LITIFUT_DIR=$(pwd)/live qemu-$cpu -L $sysroot"
	export QEMU
	ok "tui: a program that still runs" grows
	[ "$target" != armel ] || return
	export LITIFUT_MODE=spans
	link clockless ../waits.c || return
	"qemu-$cpu" -L "$sysroot" -E "LITIFUT_DIR=$(pwd)/clockless" traced/clockless </dev/null >/dev/null
	is "report: without a clock it does not ask for the mode that was used" \
		"$("$post" -q -f report clockless traced/clockless | tail -n 1)" \
		"# No times were recorded: no clock can be read cheaply where the program ran. Run it with LITIFUT_CLOCK=mono for them."
}
for_targets behaviour
