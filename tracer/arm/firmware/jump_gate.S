/* Stands in for longjmp() at its call sites where calls are timed: what is open above the frame
 * that it goes back to will not return. The jmp_buf of newlib and picolibc has r4 to r11, then
 * sp; a buffer of another kind has something there that is not an address above. The rewriter has
 * put the function's address into litifut_jump_target. */
#include <litifut/firmware_pool.h>

#define JMP_BUF_SP 32

#ifdef LITIFUT_SPANS
#define NAME litifut_span_jump_gate
#else
#define NAME litifut_jump_gate
#endif

	.syntax	unified
	.thumb
	.text
	.global	NAME, litifut_jump_target
	.hidden	NAME, litifut_jump_target
	.type	NAME, %function
	.type	litifut_jump_target, %object
	.thumb_func
	.balign	4
NAME:
	push	{r0, r1, r2, r3, r4, r5, r6, lr}
	ldr	r5, [r0, #JMP_BUF_SP]
#ifdef LITIFUT_SPANS
	add	r4, sp, #32
#else
	mov	r4, sp			@ time.S has sp as it is behind such a push
	subs	r5, #32
#endif
	ldr	r6, =litifut_pool
	mov	r2, r6			@ POOL_HEAD is OPEN_NEXT
	mrs	r3, PRIMASK
	mov	lr, r3
	cpsid	i
	b	2f
1:	mov	r2, r0
2:	ldr	r0, [r2, #OPEN_NEXT]
	cmp	r0, #0
	beq	3f
	ldr	r1, [r0, #OPEN_STACK]
	cmp	r1, r4
	blo	1b
	cmp	r1, r5
	bhi	1b
	ldr	r1, [r0, #OPEN_NEXT]
	str	r1, [r2, #OPEN_NEXT]
	ldr	r1, [r6, #POOL_FREE]
	str	r1, [r0, #OPEN_NEXT]
	str	r0, [r6, #POOL_FREE]
	movs	r1, #0			@ it is free
#ifdef LITIFUT_SPANS
	str	r1, [r0, #OPEN_RETURN]
#else
	str	r1, [r0, #OPEN_RECORD]
#endif
	b	2b
3:	mov	r3, lr
	msr	PRIMASK, r3
	ldr	r0, [sp, #28]
	mov	lr, r0
	ldr	r0, litifut_jump_target
	str	r0, [sp, #28]
	pop	{r0, r1, r2, r3, r4, r5, r6, pc}
	.balign	4
litifut_jump_target:
	.word	0
	.pool
	.size	NAME, . - NAME
	.size	litifut_jump_target, 4
