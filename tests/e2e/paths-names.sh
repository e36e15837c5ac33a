#!/bin/sh
# LITIFUT_MODE=paths: behind a call by name of a function of another module, or of one that another module could take
# the place of, there may be no room to record that the call has returned. Where the function that has recorded its
# start has that name, and has ended, the code behind the call goes on, up to the next call by name. It has gone on,
# too, where it leads to a call by the name of the next function that records its start, or to one that throws an
# exception or is longjmp(), and the thread goes on elsewhere. All blocks are those that are executed, in order.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mipsel

names_source()
{
	cat >main.cc <<-'END'
		#include <setjmp.h>
		#include <stdio.h>

		extern "C" {
		int twice(int n, int without_first);
		int ends_in(int n);
		int first(int n);
		int behind(const char *text, int without_first);
		int again(const char *text, int without_first);
		int throws(int n, int without_first);
		int jumps(jmp_buf to, int without_first);
		}
		static jmp_buf place;

		/* throws() throws the exception that is caught once more */
		__attribute__((noipa)) static int caught(int n)
		{
			try {
				try {
					throw n;
				} catch (int) {
					return throws(n, n & 1);
				}
			} catch (int) {
				return n;
			}
		}
		__attribute__((noipa)) static int jumped(int n)
		{
			return setjmp(place) ? n : jumps(place, n & 1);
		}

		int main()
		{
			int sum = 0;

			for (int i = 0; i < 5; i++)
				sum += twice(i, i % 3) + ends_in(i) + behind("12", i & 1) + again("3", i & 1) + caught(i) +
				       jumped(i);
			printf("%d\n", sum);
			return first(sum) & 1;
		}
	END
	cat >named.c <<-'END'
		#include <stdlib.h>

		static volatile int sum;

		__attribute__((noinline)) int first(int n) { return n + sum; }
		__attribute__((noinline)) int second(int n)
		{
			sum += n;
			return n > 3 ? first(n) : n;
		}
		__attribute__((noinline)) int second_length(const char *text) { return text[sum & 1] - '0'; }
		/* these end with calls by names */
		__attribute__((noinline)) int last(const char *text) { return atoi(text); }
		__attribute__((noinline)) int third(const char *text) { return sum > 1 ? last(text) : 0; }
	END
	# no block between the calls of twice() has room for anything: such a store can't be elsewhere, and a
	# delay slot to which a branch leads can't either
	cat >calls.S <<-'END'
			.text
			.global twice, ends_in, behind, again, jumps, throws
		#ifdef __arm__
			.syntax unified
			.arm
			.type ends_in, %function
		ends_in:
			b first(PLT)
			.size ends_in, . - ends_in
			.macro both name, one, other
			.type \name, %function
		\name:
			push {r4, r5, r6, lr}
			sub sp, sp, #8
			mov r5, r0
			cmp r1, #1
			beq 1f
			bl \one\()(PLT)
			str pc, [sp]
			mov r0, r5
		1:	str pc, [sp]
			bl \other\()(PLT)
			str pc, [sp]
			add sp, sp, #8
			pop {r4, r5, r6, pc}
			.size \name, . - \name
			.endm
			both twice, first, second
			both behind, atoi, second_length
			both again, third, third
			.type jumps, %function
		jumps:
			push {r4, r5, r6, lr}
			sub sp, sp, #8
			mov r5, r0
			cmp r1, #1
			beq 1f
			bl rand(PLT)
			str pc, [sp]
			mov r0, r5
		1:	str pc, [sp]
			mov r1, #1
			bl longjmp(PLT)
			.size jumps, . - jumps
			.type throws, %function
		throws:
			.fnstart
			push {r4, r5, r6, lr}
			.save {r4, r5, r6, lr}
			sub sp, sp, #8
			.pad #8
			mov r5, r0
			cmp r1, #1
			beq 1f
			bl rand(PLT)
			str pc, [sp]
			mov r0, r5
		1:	str pc, [sp]
			mov r2, #0
			bl __cxa_rethrow(PLT)
			.fnend
			.size throws, . - throws
		#else
			.set noreorder
			.ent twice
			.type twice, @function
		twice:
			.cpload $25
			addiu $29, $29, -40
			sw $31, 36($29)
			sw $17, 28($29)
			move $17, $4
			lw $25, %call16(second)($28)
			bltz $5, 2f
			addiu $5, $5, -1
			sw $25, 32($29)
			beqz $5, 1f
			nop
			lw $25, %call16(first)($28)
			jalr $25
			nop
			lw $25, 32($29)
		1:	jalr $25
		2:	move $4, $17
			lw $17, 28($29)
			lw $31, 36($29)
			jr $31
			addiu $29, $29, 40
			.end twice
			.size twice, . - twice
			.ent ends_in
			.type ends_in, @function
		ends_in:
			.cpload $25
			lw $25, %call16(first)($28)
			jr $25
			nop
			.end ends_in
			.size ends_in, . - ends_in
			.macro both name, one, other
			.ent \name
			.type \name, @function
		\name:
			.cpload $25
			addiu $29, $29, -40
			sw $31, 36($29)
			sw $17, 28($29)
			sw $18, 24($29)
			move $17, $4
			lw $18, %call16(\other)($28)
			addiu $5, $5, -1
			bltz $4, 2f
			move $25, $18
			beqz $5, 1f
			nop
			lw $25, %call16(\one)($28)
			jalr $25
			nop
			move $25, $18
		1:	jalr $25
		2:	move $4, $17
			lw $18, 24($29)
			lw $17, 28($29)
			lw $31, 36($29)
			jr $31
			addiu $29, $29, 40
			.end \name
			.size \name, . - \name
			.endm
			both behind, atoi, second_length
			both again, third, third
			.ent jumps
			.type jumps, @function
		jumps:
			.cpload $25
			addiu $29, $29, -40
			sw $31, 36($29)
			sw $17, 28($29)
			sw $18, 24($29)
			move $17, $4
			lw $18, %call16(longjmp)($28)
			addiu $5, $5, -1
			bltz $4, 2f
			move $25, $18
			beqz $5, 1f
			li $5, 1
			lw $25, %call16(rand)($28)
			jalr $25
			nop
			move $25, $18
		1:	jalr $25
		2:	move $4, $17
			break
			.end jumps
			.size jumps, . - jumps
			.ent throws
			.type throws, @function
		throws:
			.cfi_startproc
			.cpload $25
			addiu $29, $29, -40
			.cfi_def_cfa_offset 40
			sw $31, 36($29)
			.cfi_offset 31, -4
			sw $17, 28($29)
			.cfi_offset 17, -12
			sw $18, 24($29)
			.cfi_offset 18, -16
			move $17, $4
			lw $18, %call16(__cxa_rethrow)($28)
			bltz $4, 2f
			move $25, $18
			addiu $5, $5, -1
			beqz $5, 1f
			nop
			lw $25, %call16(rand)($28)
			jalr $25
			nop
			move $25, $18
		1:	jalr $25
		2:	move $4, $17
			break
			.cfi_endproc
			.end throws
			.size throws, . - throws
		#endif
			.section .note.GNU-stack,"",%progbits
	END
}

names()
{
	names_source
	export LITIFUT_MODE=paths
	# the library's functions can be taken the place of, so that calls of them go through its PLT or GOT. All are
	# bound at once, as code that makes a call later than it loads its address could not bind it then (MIPS)
	link libnamed.so -shared -fPIC -Wl,-z,now ../named.c ../calls.S
	language=g++
	link main ../main.cc -L. -lnamed
	same_run main
	blocks_equal "" main
	unset LITIFUT_MODE
}

for_targets names
