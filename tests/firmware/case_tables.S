/* Switches by functions of libgcc that GCC has no reason to use in so small a program, and what looks
 * like a switch: see case_tables.c. */
	.syntax unified
	.thumb

	.macro function name
	.section .text.\name, "ax", %progbits
	.global	\name
	.type	\name, %function
	.thumb_func
\name:
	.endm

	.macro ends name
	.size	\name, . - \name
	.endm

	/* cases before the table, one of them its own loop */
	function by_signed_bytes
	push	{r4, lr}
	movs	r4, r1
	b	4f
1:	movs	r0, r4
	bl	note
	subs	r4, #1
	bgt	1b
2:	adds	r4, #3
	movs	r0, r4
	pop	{r4, pc}
4:	cmp	r0, #4
	bhi	3f
	bl	__gnu_thumb1_case_sqi
0:	.byte	(1b - 0b) / 2, (2b - 0b) / 2, (3f - 0b) / 2, (1b - 0b) / 2, (5f - 0b) / 2
	.align	1
5:	movs	r4, #9
	b	2b
3:	movs	r0, r4
	bl	note
	pop	{r4, pc}
	ends by_signed_bytes

	function by_signed_halves
	push	{r4, lr}
	movs	r4, r1
	b	4f
1:	movs	r0, r4
	bl	note
2:	adds	r4, #3
	movs	r0, r4
	pop	{r4, pc}
4:	movs	r3, r0
	cmp	r3, #3
	bhi	3f
	movs	r0, r3
	bl	__gnu_thumb1_case_shi
0:	.short	(1b - 0b) / 2, (2b - 0b) / 2, (3f - 0b) / 2, (2b - 0b) / 2
3:	movs	r0, r4
	bl	note
	pop	{r4, pc}
	ends by_signed_halves

	function by_words
	push	{r4, lr}
	movs	r4, r1
	cmp	r0, #3
	bhi	4f
	bl	__gnu_thumb1_case_si
	.align	2
0:	.word	1f - 0b, 2f - 0b, 3f - 0b, 4f - 0b
1:	adds	r4, #1
	movs	r0, r4
	bl	note
	pop	{r4, pc}
2:	movs	r0, #7
	b	5f
3:	lsls	r4, r4, #2
	bne	2b
4:	movs	r0, #3
	nop
5:	adds	r0, r0, r4
	pop	{r4, pc}
	ends by_words

	/* A table that no mapping symbol marks: 3, 7, 12, 3, 7, and what is never read, which
	   would be the first half of an instruction with the code behind it. */
	function unmarked
	push	{r4, lr}
	movs	r4, r1
	cmp	r0, #4
	bhi	3f
	bl	__gnu_thumb1_case_uqi
	.inst.n	0x0703, 0x030c, 0xf007
	movs	r0, r4
	bl	note
	pop	{r4, pc}
	adds	r4, #2
	movs	r0, r4
	bl	note
	pop	{r4, pc}
3:	movs	r0, #5
	pop	{r4, pc}
	ends unmarked

	/* the same where nothing says how many: 2, 6, 11, 6 */
	function unmarked_unbounded
	push	{r4, lr}
	movs	r4, r1
	movs	r3, #3
	ands	r0, r3
	bl	__gnu_thumb1_case_uqi
	.inst.n	0x0602, 0x060b
	movs	r0, r4
	bl	note
	pop	{r4, pc}
	adds	r4, #2
	movs	r0, r4
	bl	note
	pop	{r4, pc}
3:	movs	r0, #5
	pop	{r4, pc}
	ends unmarked_unbounded

	/* nothing says how many, and there is a byte more */
	function unbounded
	push	{r4, lr}
	movs	r4, r1
	cmp	r0, #2
	bls	1f
	movs	r0, #2
1:	bl	__gnu_thumb1_case_uqi
0:	.byte	(1f - 0b) / 2, (2f - 0b) / 2, (3f - 0b) / 2
	.align	1
1:	movs	r0, r4
	bl	note
2:	adds	r4, #1
	movs	r0, r4
	bl	note
	pop	{r4, pc}
3:	movs	r0, #5
	pop	{r4, pc}
	ends unbounded

	/* what stands behind the table looks like more of it */
	function before_literals
	push	{r4, lr}
	ldr	r4, 4f
	cmp	r0, #2
	bhi	3f
	bl	__gnu_thumb1_case_uqi
0:	.byte	(1f - 0b) / 2, (2f - 0b) / 2, (3f - 0b) / 2
	.align	2
4:	.word	0x01010107
1:	adds	r0, r4, r1
	bl	note
	pop	{r4, pc}
2:	movs	r0, #1
	bl	note
	pop	{r4, pc}
3:	movs	r0, #5
	bl	note
	pop	{r4, pc}
	ends before_literals

	/* This counts from the end of a table of 4 bytes. */
	function __gnu_thumb1_case_other
	push	{r1}
	mov	r1, lr
	lsrs	r1, r1, #1
	lsls	r1, r1, #1
	ldrb	r1, [r1, r0]
	lsls	r1, r1, #1
	adds	r1, #4
	add	lr, r1
	pop	{r1}
	bx	lr
	ends __gnu_thumb1_case_other

	function alike
	push	{r4, lr}
	movs	r4, r1
	cmp	r0, #3
	bhi	3f
	bl	__gnu_thumb1_case_other
	.byte	(1f - 0f) / 2, (2f - 0f) / 2, (3f - 0f) / 2, (1f - 0f) / 2
0:
1:	movs	r0, r4
	bl	note
	pop	{r4, pc}
2:	movs	r0, #1
	bl	note
	bl	note
	pop	{r4, pc}
3:	movs	r0, #5
	pop	{r4, pc}
	ends alike

	.section .note.GNU-stack, "", %progbits
