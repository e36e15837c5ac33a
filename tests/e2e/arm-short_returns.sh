#!/bin/sh
# T32 code with two return points that each have room for a short branch only: the code of the second is the only
# one near by that can make room for the first, and does so. Nothing else is put there then, in each mode with
# returns, and the program is traced.
. "$(dirname "$0")/../lib.sh"
[ "$TARGETS" != "$all_targets" ] || TARGETS=armhf # others have no such branches

sources()
{
	cat >shorts.S <<-'END'
			.syntax	unified
			.thumb
			.text
			.rept	1100
			b	.
			.endr
			@ int shorts(int x, int *v)
			.globl	shorts
			.type	shorts, %function
			.thumb_func
		shorts:	push	{r4, r5, r6, lr}
			mov	r4, r0
			cbz	r0, 1f
			mov	r5, r1
			bl	leaf
			adds	r4, r4, r0
		1:	cbz	r4, 3f
			mov	r0, r4
			bl	leaf
			movs	r3, #5
			.inst.n	0xf8c5	@ str.w r3, [r5, #260], in the middle of which
		2:	.inst.n	0x3104	@ data seem to have a label
			str.w	r3, [r5, #264]
			cbz	r4, 3f
			adds	r4, #1
			adds	r4, #2
			adds	r4, #3
			adds	r4, r4, r0
		3:	mov	r0, r4
			pop	{r4, r5, r6, pc}
			.size	shorts, . - shorts
			.type	leaf, %function
			.thumb_func
		leaf:	adds	r0, #1
			bx	lr
			.size	leaf, . - leaf
			.rept	1100
			b	.
			.endr
			.data
			.balign	4
			.word	2b
			.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		int shorts(int, int *);
		int main(void)
		{
			static int v[80];
			for (int i = 0; i < 10; i++)
				printf("%d %d\n", shorts(i, v), v[66]);
			return 0;
		}
	END
}

behaviour()
{
	sources
	for mode in table spans; do
		export LITIFUT_MODE=$mode
		link program ../shorts.S ../main.c || continue
		same_run program
		is "$mode: the return of one of the two calls is not recorded, which is said" \
			"$("$BUILD/bin/litifut" info --sites traced/program | grep -c ' return .* stuck in shorts')" 1
	done
}

for_targets behaviour
