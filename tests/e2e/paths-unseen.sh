#!/bin/sh
# Labels that neither data nor a branch names: of a computed goto by differences of addresses, of a
# goto out of a nested function, behind __builtin_setjmp(), and in assembly; in code to which nothing else
# leads, and in the midst of code that is executed in order as well. The addresses that code forms show them.
# Nothing may move over such a place in any mode, what LITIFUT_MODE=coverage records is what the CPU
# executes, and paths have no gap.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

unseen_source()
{
	cat >unseen.c <<-'END'
		#include <stdio.h>

		__attribute__((noipa)) static int out(int n) { return n * 3 + 1; }

		/* As the manual of GCC has it, and with less memory. */
		#define INTERPRET(name, type) \
		__attribute__((noipa)) static int name(const unsigned char *code, int n) \
		{ \
			static const type labels[] = {&&a - &&a, &&b - &&a, &&c - &&a, &&d - &&a, &&e - &&a}; \
			int sum = n; \
			goto *(&&a + labels[*code++]); \
		a: \
			sum += 3; \
			goto *(&&a + labels[*code++]); \
		b: \
			sum = out(sum); \
			goto *(&&a + labels[*code++]); \
		c: \
			if (sum & 1) \
				goto a; \
			sum ^= 4; \
			goto *(&&a + labels[*code++]); \
		d: \
			sum *= 3; \
			if (sum & 4) \
				goto b; \
			goto *(&&a + labels[*code++]); \
		e: \
			return sum; \
		}
		INTERPRET(by_word, int)
		#ifdef SHORT
		INTERPRET(by_half, short)
		#else
		#define by_half by_word
		#endif

		static void *buffer[5];
		__attribute__((noipa)) static void leave(int n)
		{
			if (n % 3 == 1)
				__builtin_longjmp(buffer, 1);
		}
		__attribute__((noipa)) static int come_back(int n)
		{
			volatile int sum = n;
			if (__builtin_setjmp(buffer)) {
				sum += 77;
				return sum & 1 ? sum + out(3) : sum;
			}
			switch (n % 7) {
			case 0: sum += 5; break;
			case 1: sum ^= 9; leave(n); break;
			case 2: sum *= 3; leave(sum); break;
			case 3: sum = out(sum); break;
			case 4: leave(n + 1); sum -= 3; break;
			}
			return sum;
		}
		int main(void)
		{
			unsigned sum = 0;

			for (int i = 0; i < 200; i++) {
				unsigned char code[20];

				for (int j = 0; j < 20; j++)
					code[j] = (unsigned char)((i * 7 + j * 13 + (i >> 3)) % 4);
				code[3 + i % 12] = code[18] = code[19] = 4;
				sum = sum * 5 + (unsigned)by_word(code, i) + (unsigned)by_half(code, i);
				sum = sum * 3 + (unsigned)come_back(i);
			}
			printf("%u\n", sum);
			return 0;
		}
	END
}

nested_source()
{
	cat >nested.c <<-'END'
		#include <stdio.h>

		__attribute__((noipa)) static int out(int n) { return n * 3 + 1; }
		__attribute__((noipa)) static int apply(int (*f)(int), int n) { return f(n) + 1; }
		__attribute__((noipa)) static int outer(int n)
		{
			__label__ away, other;
			int sum = 0;
			int inner(int m)
			{
				if (m % 3 == 1)
					goto away;
				if (m % 5 == 2)
					goto other;
				return m + sum;
			}
			for (int i = 0; i < 6; i++)
				switch ((n + i) % 9) {
				case 0: sum += out(i); break;
				case 1: sum ^= apply(inner, n + i); break;
				case 2: sum *= 3; break;
				case 3: sum -= apply(inner, sum & 15); break;
				case 4: sum += i; /* fall through */
				case 5: sum <<= 1; break;
				case 6: sum = out(sum); break;
				case 7: sum |= 1; break;
				}
			return sum;
		away:
			sum += 77;
			if (sum & 1)
				return sum + out(3);
			return sum;
		other:
			sum -= 3;
			return out(sum);
		}
		int main(void)
		{
			unsigned sum = 0;

			for (int i = 0; i < 200; i++)
				sum = sum * 5 + (unsigned)outer(i);
			printf("%u\n", sum);
			return 0;
		}
	END
}

# Control comes to these labels in order as well. by_address() is assembly, with labels where code moves for each
# mode: at a conditional branch and behind it, at a call through a register, and behind the place it returns to.
# by_number() adds one of two numbers to an address, as OpenSSL's poly1305_init does.
midst_source()
{
	cat >midst.c <<-'END'
		#include <stdio.h>

		__attribute__((noipa)) static int out(int n) { return n * 3 + 1; }

		#define INTERPRET(name, type) \
		__attribute__((noipa)) static int name(const unsigned char *code, int n, volatile int *seen) \
		{ \
			static const type labels[] = {&&a - &&a, &&b - &&a, &&c - &&a, &&d - &&a, &&e - &&a, &&f - &&a}; \
			int sum = n; \
			goto *(&&a + labels[*code++]); \
		a: \
			if (sum & 1) \
				sum += 3; \
		b: \
			sum ^= 5; \
			*seen = sum; \
		c: \
			sum += *seen >> 1; \
		d: \
			sum ^= 4; \
			if (sum & 2) { \
				sum = out(sum); \
		e: \
				sum += n; \
			} \
			if (*code < 6) \
				goto *(&&a + labels[*code++]); \
		f: \
			return sum + *seen; \
		}
		INTERPRET(by_word, int)
		#ifdef SHORT
		INTERPRET(by_half, short)
		#else
		#define by_half by_word
		#endif

		#if !defined(__clang__) || defined(__arm__)
		static void *buffer[5];
		__attribute__((noipa)) static void leave(int n)
		{
			if (n % 3 == 1)
				__builtin_longjmp(buffer, 1);
		}
		__attribute__((noipa)) static int come_back(int n)
		{
			volatile int sum = n;
			if (__builtin_setjmp(buffer))
				sum += 77;
			else if (n & 1)
				leave(n);
			sum ^= 9;
			return sum & 1 ? sum + out(3) : sum;
		}
		#else
		#define come_back out
		#endif

		#ifndef __clang__
		__attribute__((noipa)) static int apply(int (*f)(int), int n) { return f(n) + 1; }
		__attribute__((noipa)) static int outer(int n, volatile int *seen)
		{
			__label__ away, other, third;
			int sum = 0;
			int inner(int m)
			{
				if (m % 3 == 1)
					goto away;
				if (m % 5 == 2)
					goto other;
				if (m % 7 == 3)
					goto third;
				return m + sum;
			}
			for (int i = 0; i < 6; i++)
				if ((n + i) % 4 == 1)
					sum ^= apply(inner, n + i);
				else
					sum += 3;
		away:
			sum += 77;
			*seen = sum;
		other:
			sum -= 3;
			if (sum & 1)
				sum += *seen;
		third:
			sum ^= 9;
			if (sum & 4)
				sum += out(n);
			return sum;
		}
		#else
		#define outer(n, seen) out(n)
		#endif

		int by_address(int where, int sum, int (*f)(int));
		#ifdef __arm__
		int by_number(int sum);
		#else
		#define by_number out
		#endif

		int main(void)
		{
			unsigned sum = 0;
			volatile int seen = 0;

			for (int i = 0; i < 200; i++) {
				unsigned char code[20];

				for (int j = 0; j < 20; j++)
					code[j] = (unsigned char)((i * 7 + j * 13 + (i >> 3)) % 5);
				code[3 + i % 12] = code[18] = code[19] = 6;
				code[2 + i % 10] = 5;
				sum = sum * 5 + (unsigned)by_word(code, i, &seen) + (unsigned)by_half(code, i, &seen);
				sum = sum * 3 + (unsigned)come_back(i) + (unsigned)outer(i, &seen);
				sum = sum * 3 + (unsigned)by_address(i % 4, i % 9 - 4, out);
				sum = sum * 3 + (unsigned)by_number((int)(sum & 63));
			}
			printf("%u\n", sum);
			return 0;
		}
	END
	cat >address.S <<-'END'
		#ifdef __arm__
			.syntax unified
			.text
			.align 2
			.global by_address
			.type by_address, %function
		#ifdef __thumb__
			.thumb
			.thumb_func
		#define BEHIND 4
		#else
		#define BEHIND 8
		#endif
		by_address:
			push {r4, lr}
			mov r4, r1
			mov r1, r2
			cmp r0, #1
			beq 1f
			cmp r0, #2
			beq 2f
			cmp r0, #3
			beq 3f
			adr r3, at_branch
			b 5f
		1:	ldr r3, 8f
		6:	add r3, pc
			b 5f
		2:	adr r3, by_address
			add r3, r3, #(at_call - by_address)
			b 5f
		#if __ARM_ARCH >= 7
		3:	movw r3, #:lower16:(behind_return - 7f - BEHIND)
			movt r3, #:upper16:(behind_return - 7f - BEHIND)
		#else
		3:	ldr r3, 9f
		#endif
		7:	add r3, pc
		5:
		#ifdef __thumb__
			orr r3, r3, #1
		#endif
			movs r0, r4
			bx r3
			adds r4, #3
			movs r0, r4
		at_branch:
			bmi 4f
		behind_branch:
			adds r4, #1
			movs r0, r4
		at_call:
			blx r1
		4:	movs r4, r0
		behind_return:
			adds r0, r4, #1
			pop {r4, pc}
			.align 2
		8:	.word behind_branch - 6b - BEHIND
		9:	.word behind_return - 7b - BEHIND
			.size by_address, . - by_address

			@ jumps to one of two functions, of which nothing else has the address
			.align 2
			.global by_number
			.type by_number, %function
		#ifdef __thumb__
			.thumb_func
		#endif
		by_number:
			adr r3, 1f
		1:	tst r0, #1
			ite ne
			addne r3, r3, #(for_odd - 1b)
			addeq r3, r3, #(for_even - 1b)
		#ifdef __thumb__
			orr r3, r3, #1
		#endif
			bx r3
			.size by_number, . - by_number
			.align 2
			.type for_odd, %function
		#ifdef __thumb__
			.thumb_func
		#endif
		for_odd:
			tst r0, #2
			beq 1f
			add r0, r0, #5
		1:	bx lr
			.size for_odd, . - for_odd
			.align 2
			.type for_even, %function
		#ifdef __thumb__
			.thumb_func
		#endif
		for_even:
			tst r0, #4
			bne 1f
			add r0, r0, #9
		1:	bx lr
			.size for_even, . - for_even
		#else
			.set noreorder
		#ifndef __PIC__
			.option pic0
		#endif
			.text
			.align 2
			.global by_address
			.type by_address, @function
			.ent by_address
		by_address:
		#ifdef __PIC__
			.cpload $25
		#endif
			addiu $sp, $sp, -32
			sw $31, 28($sp)
			move $25, $6
			move $4, $4
			li $2, 1
			beq $4, $2, 1f
			li $2, 2
			beq $4, $2, 2f
			li $2, 3
			beq $4, $2, 3f
			nop
			la $3, at_branch
			b 5f
			nop
		1:	bal 6f
			nop
		6:	addiu $3, $31, behind_branch - 6b
			b 5f
			nop
		2:	la $3, at_call
			b 5f
			nop
		3:	la $3, behind_return
		5:	jr $3
			move $4, $5
			addiu $4, $4, 3
		at_branch:
			bltz $4, 4f
			move $2, $4
		behind_branch:
			addiu $4, $4, 1
			addiu $4, $4, 2
		at_call:
			jalr $25
			nop
		4:	addiu $5, $2, 1
		behind_return:
			addu $2, $5, $4
			lw $31, 28($sp)
			jr $31
			addiu $sp, $sp, 32
			.end by_address
			.size by_address, . - by_address
		#endif
			.section .note.GNU-stack, "", %progbits
	END
}

without_gap()
{
	# shellcheck disable=SC2046
	"$BUILD/bin/litifut-post" -q -f blocks -o blocks.tsv data $(traced_files) 2>post.log
	echo "$(wc -l <blocks.tsv) blocks, $(awk -F "\t" '$4 == "gap"' blocks.tsv | wc -l) gaps"
	[ "$(wc -l <blocks.tsv)" -gt 1500 ] && ! awk -F "\t" '$4 == "gap"' blocks.tsv | grep -q .
}

# PROGRAM SOURCES...
each()
{
	rm -rf plain/* traced/* data
	link "$@" -z execstack || return
	same_run "$1"
	case $LITIFUT_MODE in
	coverage) flags_equal_edges "$1" ;;
	paths) ok "$1: the path has no gap" without_gap ;;
	esac
}

behaviour()
{
	unseen_source
	nested_source
	midst_source
	for options in -O0 -O2 "-Os -no-pie" "-O2 -DSHORT" -O3; do
		flags="$options -w"
		case $options in
		-O0) modes="calls spans coverage paths" ;;
		-O2) modes="calls spans table coverage paths" ;;
		-O3) modes="spans table" ;;
		*SHORT) modes="coverage paths" ;;
		*) modes="spans coverage paths" ;;
		esac
		# a table of short differences is refused by the assembler of MIPS
		case "$cpu $options" in mips*SHORT) continue ;; esac
		# the CPUs of armel may be older: there are no other modes
		[ "$target" != armel ] || modes="calls coverage"
		for mode in $modes; do
			export LITIFUT_MODE="$mode"
			[ "$options" = -O3 ] || each midst ../midst.c ../address.S
			[ "$options" = -O0 ] || each nested ../nested.c
			case $options in -O0 | -O3) ;; *) each unseen ../unseen.c ;; esac
		done
	done
}

for_targets behaviour
