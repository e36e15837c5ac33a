#!/bin/sh
# LITIFUT_MODE=coverage and paths, ARM: jumps to an address that code computes from that of a label and a number, as
# in libgcc's division of CPUs without one. Where the code shows which numbers there are, what is recorded is what
# the CPU executes; where it does not, the function is left, also if something else in it has a label.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel

# Quotients of each length, of numbers with and without a sign, and what comes of a division by 0: a signal, whose
# handler divides as well.
divide_source()
{
	cat >divide.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>

		static unsigned sum;
		static void add(unsigned n) { sum = sum * 31 + n; }
		__attribute__((noipa)) static void divide(unsigned a, unsigned b)
		{
			add(a / b);
			add(a % b);
			if (b != -1u || a != 0x80000000) {
				add((unsigned)((int)a / (int)b));
				add((unsigned)((int)a % (int)b));
			}
		}
		__attribute__((noipa)) static void divide_long(unsigned long long a, unsigned long long b)
		{
			add((unsigned)(a / b));
			add((unsigned)((long long)a % (long long)b));
		}
		static void handler(int number)
		{
			divide((unsigned)number * 1000003, sum & 255 ? sum & 255 : 1);
			if (number == SIGALRM)
				exit(0);
		}
		int main(int argc, char **argv)
		{
			static const unsigned others[] = {1, 2, 3, 7, 10, 16, 1000, 65535, 65536, 0x7fffffff, 0x80000000,
							  0x80000001, 0xfffffff0, 0xffffffff};
			const unsigned count = sizeof(others) / sizeof(*others);

			signal(SIGFPE, handler);
			for (unsigned high = 0; high < 32; high++)
				for (unsigned low = 0; low <= high; low++)
					divide(1u << high | (high * low), 1u << low | (low > 2 ? low & 3 : 0));
			for (unsigned i = 0; i < count; i++)
				for (unsigned j = 0; j < count; j++) {
					divide(others[i], others[j]);
					divide(others[i] * 3 + argc, -others[j]);
					divide_long((unsigned long long)others[i] << (j * 5 % 33), others[j]);
				}
			for (unsigned i = 0; i < 5; i++)
				divide(others[i * 2], (unsigned)(argc - 1));
			for (unsigned i = 1; argc > 1 && i < 100000u * (unsigned)atoi(argv[1]); i++)
				divide(0x12345678u * i, i);
			printf("%u\n", sum);
			return 0;
		}
	END
}

# Each function gets two numbers, of which the first one is 0 to 3.
forms_source()
{
	cat >forms.S <<-'END'
		.syntax unified
		.macro begin name
		.balign 4
		.globl \name
		.type \name, %function
		#ifdef T32
		.thumb_func
		#endif
		\name:
		.endm
		.macro end name
		.size \name, . - \name
		.endm
		.macro row
		7: b.w 1f
		b.w 2f
		b.w 3f
		b.w 4f
		1: adds r1, r1, #1
		2: adds r1, r1, #2
		3: adds r1, r1, #3
		4: adds r0, r1, #4
		bx lr
		9: movs r0, #9
		bx lr
		.endm
		.macro rounds step
		.balign 4
		7: .rept 32
		adds r0, r0, #1
		eor r0, r0, r1
		.if \step > 8
		mov r4, r4
		mov r4, r4
		nop
		nop
		.endif
		nop
		.endr
		bx lr
		9: eor r0, r0, r1
		bx lr
		.endm
		.text
		#ifdef T32
		.thumb
		begin known_row
		cmp r0, #3
		bhi 9f
		adr r2, 7f
		add.w r2, r2, r0, lsl #2
		mov pc, r2
		.balign 4
		row
		end known_row
		@ data has the address of one of the places as well,
		begin known_label
		cmp r0, #3
		bhi 9f
		adr r2, 7f
		add.w r2, r2, r0, lsl #2
		mov pc, r2
		.balign 4
		row
		.pushsection .data
		.balign 4
		.word 7b + 5
		.popsection
		end known_label
		begin known_row_below
		cmp r0, #4
		it hs
		bxhs lr
		tst r1, #1
		bne 8f
		lsls r3, r0, #2
		adr.w r2, 7f
		add r3, r2
		mov pc, r3
		8: movs r0, #0
		bx lr
		.balign 4
		row
		end known_row_below
		begin known_rounds
		lsl.w r2, r1, r0
		add.w r0, r0, r2
		cmp r0, r1
		bls 9f
		cmp r1, #77
		beq 9f
		clz r3, r0
		clz r2, r1
		subs r2, r2, r3
		rsb r2, r2, #31
		lsls r2, r2, #3
		adr r3, 7f
		add r2, r3
		mov pc, r2
		rounds 8
		end known_rounds
		begin known_exchange
		lsl.w r2, r1, r0
		add.w r0, r0, r2
		cmp r1, r0
		bhs 9f
		clz r3, r1
		clz r2, r0
		sub.w r3, r3, r2
		rsb r3, r3, #31
		.balign 4
		addw r2, pc, #(7f - . - 3)
		add.w r2, r2, r3, lsl #4
		bx r2
		.balign 4
		rounds 16
		end known_exchange
		@ nothing is compared,
		begin unknown_any
		tst r1, #64
		bne 9f
		and r0, r0, #3
		adr r2, 7f
		add.w r2, r2, r0, lsl #2
		mov pc, r2
		.balign 4
		row
		end unknown_any
		@ or something else,
		begin unknown_other
		cmp r1, #3
		bhi 8f
		8: adr r2, 7f
		add.w r2, r2, r0, lsl #2
		mov pc, r2
		.balign 4
		row
		end unknown_other
		@ a way leads around that,
		begin unknown_around
		cbz r1, 8f
		cmp r0, #3
		bhi 9f
		8: adr r2, 7f
		add.w r2, r2, r0, lsl #2
		mov pc, r2
		.balign 4
		row
		end unknown_around
		@ the number is another one by then, of a table,
		begin unknown_changed
		cmp r0, #3
		bhi 9f
		ands r0, r0, r1
		adr r2, 7f
		add.w r2, r2, r0, lsl #2
		mov pc, r2
		.balign 4
		row
		end unknown_changed
		@ the comparison says too little: 4 leads to no block,
		begin unknown_many
		cmp r0, #250
		bhi 9f
		adr r2, 7f
		add.w r2, r2, r0, lsl #2
		mov pc, r2
		.balign 4
		row
		end unknown_many
		@ the flags are others by then,
		begin unknown_flags
		cmp r0, #3
		movs r2, r1
		bmi 9f
		adr r2, 7f
		add.w r2, r2, r0, lsl #2
		mov pc, r2
		.balign 4
		row
		end unknown_flags
		@ and the order of two numbers is not known; there is a label
		begin unknown_order
		lsl.w r2, r1, r0
		add.w r0, r0, r2
		cmp r0, r1
		blo 9f
		clz r3, r0
		clz r2, r1
		sub.w r2, r2, r3
		label_inside:
		rsb r2, r2, #31
		adr r3, 7f
		add.w r2, r3, r2, lsl #3
		mov pc, r2
		rounds 8
		end unknown_order
		#else
		.arm
		begin known_rounds
		add r0, r1, r0, lsl #4
		cmp r0, r1
		bls 9f
		clz r2, r0
		clz r3, r1
		sub r3, r3, r2
		rsbs r3, r3, #31
		addne r3, r3, r3, lsl #1
		mov r2, #0
		addne pc, pc, r3, lsl #2
		nop
		rounds 8
		end known_rounds
		begin known_always
		adds r0, r1, r0, lsl #9
		cmp r1, r0
		bhs 9f
		clz r2, r0
		clz r3, r1
		sub r3, r3, r2
		rsb r3, r3, #31
		add r3, r3, r3, lsl #1
		add pc, pc, r3, lsl #2
		nop
		rounds 8
		end known_always
		begin unknown_order
		add r0, r1, r0, lsl #4
		cmp r0, r1
		blo 9f
		clz r2, r0
		clz r3, r1
		sub r3, r3, r2
		label_inside:
		rsbs r3, r3, #31
		addne r3, r3, r3, lsl #1
		addne pc, pc, r3, lsl #2
		nop
		rounds 8
		end unknown_order
		begin unknown_condition
		add r0, r1, r0, lsl #4
		cmp r0, r1
		bls 9f
		clz r2, r0
		clz r3, r1
		sub r3, r3, r2
		rsbs r3, r3, #31
		addne r3, r3, r3, lsl #1
		addpl pc, pc, r3, lsl #2
		nop
		rounds 8
		end unknown_condition
		#endif
		.section .note.GNU-stack, "", %progbits
	END
	# what there is in the file
	if [ "$target" = armhf ]; then
		names="known_row known_label known_row_below known_rounds known_exchange unknown_any unknown_other unknown_around
			unknown_changed unknown_many unknown_flags unknown_order"
	else
		names="known_rounds known_always unknown_order unknown_condition"
	fi
	{
		echo '#include <stdio.h>'
		for name in $names; do
			echo "unsigned $name(unsigned, unsigned);"
		done
		printf 'int main(void)\n{\n\tunsigned sum = 0;\n\tfor (unsigned i = 0; i < 200; i++) {\n'
		for name in $names; do
			echo "		sum = 7 * sum + $name(i % 4, i + 1 + (i << i % 19));"
		done
		printf '\t}\n\tprintf("%%u\\n", sum);\n\treturn 0;\n}\n'
	} >main.c
}

# The functions of PROGRAM that are left for that reason
unknown_in()
{
	"$BUILD/bin/litifut" info --skipped "traced/$1" | sed -n 's/.* unknown-jump in //p' | LC_ALL=C sort -u |
		tr '\n' ' '
}

# compared PROGRAM: what was recorded
compared()
{
	if [ "$LITIFUT_MODE" = coverage ]; then
		flags_equal_edges "$1"
	else
		blocks_equal "" "$1"
	fi
}

behaviour()
{
	divide_source
	forms_source
	for mode in coverage paths; do
		# the CPUs of armel may be older: there is no such mode
		[ "$target $mode" != "armel paths" ] || continue
		export LITIFUT_MODE="$mode"
		for options in "" "-no-pie"; do
			rm -f plain/* traced/*
			flags="-O2 $options"
			link divide ../divide.c || continue
			# at a fixed address another function may have a label by chance
			is "$mode $options: all of libgcc's division" "$(unknown_in divide | tr ' ' '\n' | grep div)" ""
			same_run divide
			compared divide
		done
		rm -f plain/* traced/*
		flags=-O2
		[ "$target" != armhf ] || flags="-O2 -DT32"
		link main ../main.c ../forms.S || continue
		# shellcheck disable=SC2086
		is "$mode: these are left, and no others" "$(unknown_in main)" \
			"$(printf '%s\n' $names | grep unknown_ | LC_ALL=C sort | tr '\n' ' ')"
		same_run main
		compared main
	done
	[ "$target" = armhf ] || return 0
	rm -f plain/* traced/*
	flags=-O2
	link divide ../divide.c || return
	same_run divide
	# the trace begins in many places, also where a jump is told
	rm -rf data
	guest_environment="LITIFUT_RING_KB=32 LITIFUT_DIR=$(pwd)/data"
	run traced divide 2
	guest_environment=
	blocks_equal "--tail 10000" divide 2
}

for_targets behaviour
