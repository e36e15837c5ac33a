#!/bin/sh
# More tail calls in a PIE or a library than trampolines stand in reach of the tracer: ways
# between them lead on to it; and more than numbers of 15 bits stand for.
. "$(dirname "$0")/../lib.sh"
few_targets mipsel
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

sources()
{
	cat >tails_1.S <<-'END'
		.set noreorder
		.text
		.macro function name
		.globl \name
		.hidden \name
		.type \name, @function
		.ent \name
		\name:
		.endm
		.macro ends name
		.end \name
		.size \name, . - \name
		.endm
		.macro listed name
		.pushsection .data.rel.ro, "aw"
		.word \name
		.popsection
		.endm
		.macro body
		addiu $4, $4, 1
		addiu $5, $5, 1
		addiu $7, $7, 1
		addu $4, $4, $5
		addiu $7, $7, 1
		addiu $7, $7, 1
		addiu $7, $7, 1
		addiu $7, $7, 1
		addiu $7, $7, 1
		addiu $7, $7, 1
		.endm
		.macro tail
		function direct_\@_1
		body
		b middle_1
		addiu $4, $4, 3
		ends direct_\@_1
		listed direct_\@_1
		function through_\@_1
		body
		move $25, $6
		jr $25
		addiu $4, $4, 5
		ends through_\@_1
		listed through_\@_1
		.endm
		.pushsection .data.rel.ro, "aw"
		.globl list_1
		list_1:
		.popsection
		.rept 400
		tail
		.endr
		function middle_1
		jr $31
		addu $2, $4, $5
		ends middle_1
		.rept 400
		tail
		.endr
		listed 0
		.section .note.GNU-stack, "", %progbits
	END
	for part in 2 3 4 5 6 7 8; do
		sed "s/_1/_$part/" tails_1.S >"tails_$part.S"
	done
	# in other places of a larger library
	for part in 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28; do
		sed "s/_1/_$part/" tails_1.S >"more_$part.S"
	done
	cat >all.c <<-'END'
		#include <stdio.h>
		typedef int tail(int, int, int (*)(int));
		extern tail *const list_1[], *const list_2[], *const list_3[], *const list_4[];
		extern tail *const list_5[], *const list_6[], *const list_7[], *const list_8[];
		static __attribute__((noipa)) int twice(int number)
		{
			return 2 * number;
		}
		int all(int number)
		{
			tail *const *const lists[] = {list_1, list_2, list_3, list_4, list_5, list_6, list_7, list_8};
			for (int i = 0; i < 8; i++) {
				for (tail *const *each = lists[i]; *each; each++)
					number = (*each)(number, i, twice) & 0xffff;
				printf("%d\n", number);
			}
			return number;
		}
	END
	cat >main.c <<-'END'
		int all(int);
		int main(int count, char **arguments)
		{
			(void)arguments;
			return all(count) & 127;
		}
	END
}

# reached FILE: none of its calls is out of reach
reached()
{
	ok "$1: all calls have a way" test "$(skipped "$1")" = 0
}

skipped()
{
	"$BUILD/bin/litifut" info --skipped "traced/$1" | grep -c out-of-reach
}

# events_are PROGRAM: those of the executed calls, the 12,800 tail calls among them
events_are()
{
	same_run "$1"
	events_equal_calls "$1"
	is "$1: tail calls through a register are recorded" "$(recorded twice)" 6400
	is "$1: direct ones are" "$(recorded middle_8)" 800
}

behaviour()
{
	sources
	# shellcheck disable=SC2046
	link tails ../main.c ../all.c $(printf "../%s " tails*.S) || return
	reached tails
	events_are tails
	# shellcheck disable=SC2046
	link libtails.so -shared -fPIC ../all.c $(printf "../%s " tails*.S) || return
	link program ../main.c -L. -ltails || return
	reached libtails.so
	events_are program
	# shellcheck disable=SC2046
	link libtails.so -shared -fPIC ../all.c $(printf "../%s " tails*.S more*.S) || return
	same_run program
	reached libtails.so
	events_equal_calls program
}

for_targets behaviour
