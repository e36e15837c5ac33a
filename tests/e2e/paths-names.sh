#!/bin/sh
# LITIFUT_MODE=paths: behind a call by name of a function that another module could take the place of, there may be
# no room to record that the call has returned. Where the function that has recorded its start has that name, and has
# ended, the code behind the call goes on, up to the next call by name. All blocks are those that are executed, in order.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mipsel

names_source()
{
	cat >main.c <<-'END'
		#include <stdio.h>

		int twice(int n, int rounds);
		int ends_in(int n);
		int first(int n);

		int main(void)
		{
			int sum = 0;

			for (int i = 0; i < 5; i++)
				sum += twice(i, 1 + i % 3) + ends_in(i);
			printf("%d\n", sum);
			return first(sum) & 1;
		}
	END
	cat >named.c <<-'END'
		static volatile int sum;

		__attribute__((noinline)) int first(int n) { return n + sum; }
		__attribute__((noinline)) int second(int n)
		{
			sum += n;
			return n > 3 ? first(n) : n;
		}
	END
	# no block between the calls of twice() has room for anything: such a store can't be elsewhere, and a
	# delay slot to which a branch leads can't either
	cat >calls.S <<-'END'
			.text
			.global twice, ends_in
		#ifdef __arm__
			.syntax unified
			.arm
			.type twice, %function
		twice:
			push {r4, r5, r6, lr}
			sub sp, sp, #8
			mov r5, r0
			cmp r1, #2
			beq 1f
			bl first(PLT)
			str pc, [sp]
			mov r0, r5
		1:	str pc, [sp]
			bl second(PLT)
			str pc, [sp]
			add sp, sp, #8
			pop {r4, r5, r6, pc}
			.size twice, . - twice
			.type ends_in, %function
		ends_in:
			b first(PLT)
			.size ends_in, . - ends_in
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
			addiu $5, $5, -2
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
		#endif
			.section .note.GNU-stack,"",%progbits
	END
}

names()
{
	names_source
	export LITIFUT_MODE=paths
	# the library's functions can be taken the place of, so that calls of them go through its PLT or GOT
	link libnamed.so -shared -fPIC ../named.c ../calls.S
	link main ../main.c -L. -lnamed
	same_run main
	blocks_equal "" main
	unset LITIFUT_MODE
}

for_targets names
