#!/bin/sh
# litifut-post path-ids: how many paths the functions of a program have, by themselves and with those
# of the functions that they call.
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
		int main(int argc, char **argv)
		{
			(void)argv;
			loop(argc * 3);
			again(argc);
			wide(argc);
			pointer(argc);
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
		"1 it has no list of its blocks: link with LITIFUT_MODE=coverage"
}

for_targets behaviour
