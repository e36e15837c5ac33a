#!/bin/sh
# litifut-post path-ids: how many paths the functions of a program have, by themselves and with those
# of the functions that they call. path-sizes: what a run takes in several encodings, from a log
# of QEMU; the branches in it are those that the oracle has seen.
. "$(dirname "$0")/../lib.sh"

program_source()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		static volatile int seen;
		#define STEP(n) if (number & (n)) seen++
		__attribute__((noipa)) static void three(int number) { STEP(1); STEP(2); STEP(4); }
		__attribute__((noipa)) static void straight(int number) { seen = number; }
		__attribute__((noipa)) static void twice(int number)
		{
			three(number);
			if (number)
				straight(number);
			three(number >> 3);
		}
		__attribute__((noipa)) static void pointed(int number) { STEP(1); STEP(2); }
		static void (*volatile pointer)(int) = pointed;
		__attribute__((noipa)) static void loop(int number)
		{
			while (number--)
				twice(number);
		}
		__attribute__((noipa)) static void again(int number)
		{
			if (number)
				again(number - 1);
			straight(number);
		}
		__attribute__((noipa)) static void wide(int number)
		{
		#define EIGHT(n) STEP(n); STEP(n); STEP(n); STEP(n); STEP(n); STEP(n); STEP(n); STEP(n)
			EIGHT(1); EIGHT(2); EIGHT(4); EIGHT(8); EIGHT(16); EIGHT(32); EIGHT(64); EIGHT(128);
			EIGHT(256);
		}
		/* a block that goes back to itself */
		__attribute__((noipa, optimize("O1"))) static int spin(int number)
		{
			int sum = 1;
			do
				sum = sum * 3 ^ number;
			while (--number > 0);
			return sum;
		}
		int main(int argc, char **argv)
		{
			(void)argv;
			loop(argc * 50);
			again(argc);
			wide(argc);
			pointer(argc);
			seen += spin(argc * 20);
			printf("%d\n", seen);
			return 0;
		}
	END
}

# paths of a function, by itself and with its callees, and why it is recorded apart
row()
{
	awk -v name="$1" '$8 == name { print $1, $3, $7 }' ids
}

# A run of the program as it was before it was patched, under the oracle.
logged_run()
{
	mkdir -p unpatched
	ok "path-plain" "$BUILD/bin/litifut-post" path-plain -o unpatched/program traced/program
	qemu_options="-plugin $BUILD/tests/oracle.so,steps=oracle -d exec,nochain -D $(pwd)/log"
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run unpatched program
	qemu_options='' guest_environment=''
}

branches()
{
	sed -n 's/.*: \([0-9]*\) conditional branches and.*/\1/p' "$1"
}

whole()
{
	awk '/ 0 cut, / { whole = 1 } /paths, whose numbers give what was executed/ { found++ }
		END { exit !whole || found != 2 }' "$1"
}

sizes()
{
	logged_run
	ok "path-sizes" sh -c "'$BUILD/bin/litifut-post' path-sizes traced/program log >sizes 2>summary"
	cp summary logged.summary
	"$BUILD/bin/litifut-post" path-sizes -q --top 3 traced/program log >top
	is "the branches are those that were executed" \
		"$(branches summary)" \
		"$(python3 "$root/tests/oracle/edges.py" count oracle traced/program unpatched/program)"
	ok "no activation is cut, and all paths are found again" whole summary
	ok "calls as part of their callers take less" awk '
		$4 == "TinyTracer-var" { less = $1 } $4 == "NodeMD*-var" { more = $1 }
		END { exit !less || less * 1.3 > more }' sizes
	ok "the functions that take most" awk '$4 == "loop" { found = 1 } END { exit !found }' top
	ok "mine" sh -c "'$BUILD/bin/litifut-post' mine --patterns 2 traced/program log >patterns 2>summary"
	ok "a loop has a pattern" awk '$2 >= 2 && $3 >= 2 { found = 1 } END { exit !found }' patterns
	echo "Trace 0: 0x7f [00000000/" >damaged
	"$BUILD/bin/litifut-post" path-sizes traced/program damaged >nothing 2>summary
	is "a log of something else: one line" "$? $(grep -c 'damaged: no line is about code of' summary)" "1 1"
}

activations()
{
	sed -n 's/.* jumps in \([0-9]*\) activations.*/\1/p' "$1"
}

# The same run, from a trace of LITIFUT_MODE=paths.
recorded_run()
{
	case $target in
	armhf* | mips*) ;;
	*)
		skip "a trace" "LITIFUT_MODE=paths is not there for ARM before ARMv7"
		return
		;;
	esac
	mv sizes logged.sizes
	export LITIFUT_MODE=paths
	link program ../main.c || return
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced program
	guest_environment=
	ok "a trace" sh -c "'$BUILD/bin/litifut-post' path-sizes data traced/program >sizes 2>summary"
	ok "nothing is cut, and all paths are found again" whole summary
	is "as many branches as in the log" "$(branches summary)" "$(branches logged.summary)"
	case $target in
	armhf*) ok "the same sizes" diff logged.sizes sizes ;;
	# the log has __start as well, which is left here: it reads the pc by a call into itself
	*) is "all activations but that of __start" "$(activations summary)" \
		"$(($(activations logged.summary) - 1))" ;;
	esac
}

behaviour()
{
	flags=-O0
	program_source
	export LITIFUT_MODE=coverage
	link program ../main.c || return
	ok "path-ids" "$BUILD/bin/litifut-post" path-ids -q -o ids traced/program
	is "branches one after the other" "$(row three)" "8 8 -"
	is "no branch" "$(row straight)" "1 1 -"
	is "with what it calls" "$(row twice)" "2 128 -"
	is "a pointer leads to it" "$(row pointed)" "4 4 entry"
	is "a loop is recorded apart" "$(row loop | cut -d ' ' -f 3)" loop
	ok "with all paths of its body" test "$(row loop | cut -d ' ' -f 2)" -ge 128
	is "so is recursion" "$(row again | cut -d ' ' -f 3)" recursion
	is "so is what has too many paths" "$(row wide | cut -d ' ' -f 3)" large
	"$BUILD/bin/litifut-post" path-ids -q --id-bits 8 traced/program >ids
	is "fewer bits: a callee is recorded apart" "$(row three)|$(row twice)" "8 8 -|2 128 large"
	"$BUILD/bin/litifut-post" path-ids -q --function 'three,wide' traced/program >ids
	is "a part of the functions: the others are untraced callers" "$(row three)" "8 8 caller"
	is "and they are not there" "$(row twice)" ""
	"$BUILD/bin/litifut-post" path-ids plain/program 2>error
	is "without blocks: what to do" "$? $(sed 's/.*: it has/it has/' error)" \
		"1 it has no list of its blocks: link with LITIFUT_MODE=coverage or paths"
	sizes
	recorded_run
}

for_targets behaviour
