#!/bin/sh
# More tail calls in a shared library than a branch of MIPS can reach trampolines for:
# those that find no way are left and listed, and the library is traced all the same.
. "$(dirname "$0")/../lib.sh"
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

sources()
{
	cat >tails.S <<-'END'
		.set noreorder
		.text
		.macro function name
		.globl \name
		.ent \name
		\name:
		.endm
		.macro ends name
		.end \name
		.size \name, . - \name
		.endm
		.set number, 0
		.macro tail
		function tail_\@
		addiu $4, $4, 1
		addiu $5, $5, 1
		addiu $6, $6, 1
		addiu $7, $7, 1
		addu $4, $4, $5
		addiu $6, $6, 1
		addiu $7, $7, 1
		addiu $7, $7, 1
		addiu $7, $7, 1
		addiu $7, $7, 1
		addiu $7, $7, 1
		addiu $7, $7, 1
		b middle
		addiu $4, $4, 3
		ends tail_\@
		.endm
		function first
		b middle
		addiu $4, $4, 9
		ends first
		.rept 800
		tail
		.endr
		function middle
		jr $31
		addu $2, $4, $5
		ends middle
		.rept 800
		tail
		.endr
		function last
		b middle
		addiu $4, $4, 7
		ends last
		.section .note.GNU-stack, "", %progbits
	END
	for part in 2 3 4 5 6 7 8; do
		sed "s/middle/&_$part/; s/tail_/&${part}_/; s/first/&_$part/; s/last/&_$part/" tails.S >"tails_$part.S"
	done
	cat >main.c <<-'END'
		#include <stdio.h>
		int first(int, int), last_2(int, int), first_8(int, int);
		int main(void)
		{
			printf("%d %d %d\n", first(1, 2), last_2(3, 4), first_8(5, 6));
			return 0;
		}
	END
}

behaviour()
{
	sources
	# shellcheck disable=SC2046
	link libtails.so -shared -fPIC $(printf "../%s " tails*.S) || return
	link tails ../main.c -L. -ltails || return
	same_run tails
	ok "litifut-post reads the trace" "$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace \
		data/maps traced/tails traced/libtails.so
	is "tail calls that have a way are recorded" "$(recorded middle)" 1
	ok "the others are listed" test "$("$BUILD/bin/litifut" info --skipped traced/libtails.so |
		grep -c out-of-reach)" -gt 1000
}

for_targets behaviour
