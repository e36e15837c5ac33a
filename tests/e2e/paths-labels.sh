#!/bin/sh
# LITIFUT_MODE=paths: cases of a switch that go on in the next case after one instruction. There is room for one
# branch, and on MIPS not for its delay slot: the function is recorded all the same, near the tracer and far from
# it, and so is one whose data looks like the addresses of delay slots, and one with atomic operations.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# interpreter NOPS: 200 cases, some in pairs; so many instructions, which are not executed, in each
interpreter()
{
	awk -v nops="$1" 'BEGIN {
		print "#include <stdio.h>"
		print "static volatile int never;"
		print "static int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};"
		printf "#define FILL __asm__ volatile(\"" # the compiler counts them
		for (i = 0; i < nops; i++)
			printf "nop; "
		print "\");\n__attribute__((noipa)) static int leaf(int x) { return x * 5 + 1; }"
		print "__attribute__((noipa)) static int interpret(const unsigned char *code, int x, int *v)"
		print "{\n\tint k = x;\n\tfor (;;) {\n\t\tswitch (*code++) {\n\t\tcase 0: return x + k;"
		for (i = 1; i < 200; i++) {
			if (i % 8 == 1) {
				printf "\t\tcase %d: k = %d; /* fall through */\n", i, i * 3
				i++
			}
			printf "\t\tcase %d: x += v[%d] + k;", i, i % 8
			if (i % 4 == 1)
				printf " if (x & 1) { v[%d] = leaf(x); x ^= v[%d]; }", i % 5, i % 7
			print " if (never) { FILL } break;"
		}
		print "\t\tdefault: x ^= *code; break;\n\t\t}\n\t}\n}"
		print "int main(int argc, char **argv)\n{"
		print "\tunsigned char code[512] = {0};\n\tunsigned seed = 1;\n\tint sum = argc;"
		print "\t(void)argv;\n\tfor (int i = 0; i < 40; i++) {"
		print "\t\tfor (int j = 0; j < 500; j++)"
		print "\t\t\tcode[j] = (unsigned char)(1 + ((seed = seed * 1103515245 + 12345) >> 16) % 210);"
		print "\t\tsum += interpret(code, sum, table);\n\t}"
		print "\tprintf(\"%d\\n\", sum);\n\treturn 0;\n}"
	}'
}

# Words of the data have the address of a delay slot, as the distance from the global pointer that a table has; one
# word alone, which is not a table, that of an instruction before a branch that can't move.
slots_source()
{
	cat >slots.c <<-'END'
		#include <stdio.h>
		__attribute__((noipa)) static int count(int n)
		{
			__asm__ volatile(".set push\n.set noreorder\nbgtz %0, 1f\n.Lslot: addiu %0, %0, 5\n"
					 "addiu %0, %0, 100\n1:\n.set pop\n"
					 ".pushsection .rodata\n.align 2\n.gpword .Lslot\n.gpword .Lslot\n.popsection" : "+r"(n));
			return n;
		}
		__attribute__((noipa)) static int compare(float a, float b)
		{
			int n = 1;
			__asm__ volatile(".set push\n.set noreorder\n.Lalone: c.lt.s %1, %2\nbc1t 1f\nnop\n"
					 "addiu %0, %0, 2\n1:\n.set pop\n"
					 ".pushsection .rodata\n.align 2\n.word 1\n.gpword .Lalone\n.word 1\n.popsection"
					 : "+r"(n) : "f"(a), "f"(b));
			return n;
		}
		int main(void)
		{
			int sum = 0;
			for (int i = -3; i < 4; i++)
				sum = 2 * sum + count(i) + compare(i, 1);
			printf("%d\n", sum);
			return 0;
		}
	END
}

# A word of data that only happens to look like the address of a delay slot, as the end of a text does: its branch goes
# on behind the slot.
alike_source()
{
	cat >alike.S <<-'END'
		.section .fixed, "ax", @progbits
		.set noreorder
		.globl on
		.type on, @function
		.ent on
		on: move $2, $4
		addiu $3, $4, 1
		addu $2, $2, $3
		bgtz $4, 1f
		addiu $2, $2, 5
		addiu $2, $2, -4
		bltz $2, 1f
		nop
		addiu $2, $2, 100
		1: jr $31
		nop
		.end on
		.size on, . - on
		.section .rodata
		.align 2
		.word 0x45444541, 0x500010, 0x4d4f4e45
	END
	cat >alike.c <<-'END'
		#include <stdio.h>
		int on(int n);
		int main(void)
		{
			int sum = 0;
			for (int i = -7; i < 4; i++)
				sum = 2 * sum + on(i);
			printf("%d\n", sum);
			return 0;
		}
	END
}

# Functions whose second case needs what the first has loaded: both are cases, a branch follows, or the second and the
# third are not cases, but branches lead to them.
pairs_source()
{
	cat >pairs.S <<-'END'
		.set noreorder
		.macro function name
		.globl \name
		.type \name, @function
		.ent \name
		\name: .cpload $25
		lw $8, %got(table_\name)($gp)
		addiu $8, $8, %lo(table_\name)
		sll $9, $4, 2
		addu $8, $8, $9
		lw $8, 0($8)
		addu $8, $8, $gp
		jr $8
		move $2, $5
		.endm
		.macro table name, first, second, third
		.end \name
		.size \name, . - \name
		.section .rodata
		.align 2
		table_\name: .gpword \first
		.gpword \second
		.gpword \third
		.text
		.endm
		.text
		function both
		10: lw $2, 0($5)
		11: lw $2, 4($2)
		addiu $2, $2, 1
		addiu $2, $2, 2
		jr $31
		nop
		12: b 11b
		nop
		table both, 10b, 11b, 12b
		function branch
		20: lw $2, 0($5)
		21: lw $2, 4($2)
		andi $3, $2, 1
		bnez $3, 22f
		addiu $2, $2, 1
		addiu $2, $2, 20
		22: jr $31
		nop
		table branch, 20b, 21b, 22b
		function chain
		30: lw $2, 0($5)
		31: lw $2, 4($2)
		32: addiu $2, $2, 5
		addiu $2, $2, 6
		jr $31
		nop
		33: b 31b
		nop
		34: b 32b
		lw $2, 4($2)
		table chain, 30b, 33b, 34b
	END
	cat >pairs.c <<-'END'
		#include <stdio.h>
		struct node { struct node *next; int value; };
		int both(int, struct node *), branch(int, struct node *), chain(int, struct node *);
		int main(void)
		{
			struct node nodes[] = {{nodes + 1, 3}, {nodes + 2, 8}, {nodes, 15}};
			unsigned sum = 0;
			for (int i = 0; i < 90; i++)
				sum = 5 * sum + both(i % 3, nodes + i / 3 % 3) +
				      (i % 3 == 2 ? 0 : branch(i % 3, nodes + i / 3 % 3)) + chain(i % 3, nodes + i / 3 % 3);
			printf("%u\n", sum);
			return 0;
		}
	END
}

# Atomic operations, whose branch reads $at in code of MIPS: where there is room for a number only before them.
counters_source()
{
	cat >counters.c <<-'END'
		#include <stdio.h>
		static int shared[3];
		static unsigned char small;
		__attribute__((noipa)) static int share(int *count) { return __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST); }
		__attribute__((noipa)) static int leave(int *count)
		{
			if (__atomic_fetch_sub(count, 1, __ATOMIC_ACQ_REL) == 1)
				return share(&shared[1]);
			return __atomic_exchange_n(&shared[2], *count, __ATOMIC_SEQ_CST);
		}
		__attribute__((noipa)) static int mix(int *count, int bits)
		{
			do
				__atomic_fetch_or(count, bits, __ATOMIC_RELAXED);
			while ((bits /= 2) > 1);
			__atomic_fetch_xor(&small, bits, __ATOMIC_SEQ_CST);
			return __atomic_fetch_and(count, 255, __ATOMIC_RELAXED);
		}
		int main(void)
		{
			unsigned sum = 0;
			for (int i = 0; i < 90; i++)
				sum = 3 * sum + share(&shared[0]) + (i & 4 ? leave(&shared[i & 1]) : mix(&shared[1], i));
			printf("%u %d\n", sum, small);
			return 0;
		}
	END
	echo '.text; .space 300000' >space.S
}

nothing_is_left()
{
	"$BUILD/bin/litifut" info --skipped traced/"$1" >left
	! grep function-left left
}

behaviour()
{
	case $target in armel) return 0 ;; esac # CPUs before ARMv7 have no such mode
	export LITIFUT_MODE=paths
	interpreter 20 >near.c
	interpreter 500 >far.c
	for options in "near -O1" "near -O2" "near -O2 -no-pie" "far -O1" "far -O2"; do
		size=${options%% *} flags=${options#* }
		link "$size" "../$size.c" || continue
		ok "$options: no function is left" nothing_is_left "$size"
		same_run "$size"
		blocks_equal "" "$size"
		rm -f plain/* traced/*
	done
	counters_source
	for options in "" ../space.S "../space.S -no-pie"; do
		rm -f plain/* traced/*
		flags=-O2
		# shellcheck disable=SC2086
		link counters ../counters.c $options || continue
		ok "counters $options: no function is left" nothing_is_left counters
		same_run counters
		blocks_equal "" counters
	done
	[ "$cpu" != arm ] || return 0
	slots_source
	flags=-O1
	link slots ../slots.c || return
	ok "slots: no function is left" nothing_is_left slots
	same_run slots
	blocks_equal "" slots
	alike_source
	link alike ../alike.c ../alike.S -no-pie -Wl,--section-start=.fixed=0x500000 || return
	ok "alike: no function is left" nothing_is_left alike
	same_run alike
	blocks_equal "" alike
	pairs_source
	for flags in -O1 "-O1 -no-pie"; do
		rm -f plain/* traced/*
		link pairs ../pairs.c ../pairs.S || continue
		ok "pairs, $flags: no function is left" nothing_is_left pairs
		same_run pairs
		blocks_equal "" pairs
	done
}

for_targets behaviour
