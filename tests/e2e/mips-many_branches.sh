#!/bin/sh
# More branches of a position-independent executable than there are numbers of 16 bits for the code that records
# them, more than 8 MB of it: LITIFUT_MODE=paths records them all but a few in the code that begins and ends programs,
# and its blocks are those that the CPU executes, in order; coverage has the same flags.
. "$(dirname "$0")/../lib.sh"
few_targets mips
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

sources()
{
	awk -v functions=900 -v branches=80 'BEGIN {
		for (i = 0; i < functions; i++) {
			printf "\t.section .text.f%d,\"ax\",@progbits\n\t.globl f%d\n\t.type f%d, @function\n", i, i, i
			printf "\t.ent f%d\nf%d:\n\t.set noreorder\n\taddiu $2, $4, %d\n\taddiu $3, $0, 7\n", i, i, i
			for (j = 0; j < branches; j++)
				printf "\tbgez $4, 1f\n\tsll $4, $4, 1\n\taddiu $2, $2, %d\n\txor $4, $4, $2\n" \
					"1:\taddu $2, $2, $4\n\taddiu $3, $3, 1\n", j
			printf "\tjr $31\n\taddu $2, $2, $3\n\t.set reorder\n\t.end f%d\n\t.size f%d, .-f%d\n", i, i, i
		}
		print "\t.section .data.rel.ro,\"aw\",@progbits\n\t.align 2\n\t.globl table\n\t.type table, @object\ntable:"
		for (i = 0; i < functions; i++)
			printf "\t.word f%d\n", i
		print "\t.word 0\n\t.size table, .-table"
	}' >many.s
	cat >main.c <<-'END'
		#include <stdio.h>
		extern int (*const table[])(int);
		int main(void)
		{
			unsigned sum = 0;

			for (int i = 0; table[i]; i++)
				sum = sum * 31 + (unsigned)table[i](i * 7919 + (int)sum);
			printf("%u\n", sum);
			return 0;
		}
	END
}

# left_at_most COUNT
left_at_most()
{
	"$BUILD/bin/litifut" info traced/program | sed '/recorded in/d'
	[ "$("$BUILD/bin/litifut" info traced/program | sed -n 's/^  sites left  *//p')" -le "$1" ]
}

behaviour()
{
	sources
	export LITIFUT_MODE=paths
	link program ../main.c ../many.s || return
	ok "nearly all places are recorded" left_at_most 12
	same_run program
	blocks_equal "" program
	[ -n "${LONG:-}" ] || return 0
	export LITIFUT_MODE=coverage
	link program ../main.c ../many.s || return
	ok "coverage: nearly all places are recorded" left_at_most 12
	same_run program
	"$BUILD/bin/litifut-post" -q -f branches -o branches data traced/program
	is "coverage: each branch went one way" \
		"$(awk -F '\t' '$4 ~ /^f[0-9]/ && ($5 > 0) + ($6 > 0) != 1' branches | wc -l)" 0
}

for_targets behaviour
