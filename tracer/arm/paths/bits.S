/* LITIFUT_MODE=paths of a firmware on Cortex-M: what the code of a branch calls (rewriter/arm/edge.c),
 * once it has pushed r0 and lr. litifut_bit_zero and litifut_bit_one put one bit into the newest
 * word of the ring, litifut_bits_number several, litifut_bits_enter puts down where it was called from;
 * litifut_paths_saved and litifut_paths_resumed are called behind instructions that read or set the stack pointer of tasks,
 * litifut_paths_interrupt at the start of interrupt handlers.
 * <litifut/paths_format.h> has the words.
 *
 * A bit is stored by an exclusive store, which an interrupt lets fail; if it comes when the cursor is
 * read, and the word is not, litifut_paths_interrupt lets the code begin anew. While a word is begun or a
 * record is made, interrupts are off: 14 instructions at most, and 1,000 or so once in many words,
 * when tracer/sink/paths/paths.c makes room. All registers and the flags are kept. */
#include <litifut/kept_format.h>
#include <litifut/paths_format.h>

#define FIRST_PLAIN 11 /* SVCall; faults are before it */

	.syntax	unified
	.thumb
	.text

	.macro	begin name
	.global	\name
	.hidden	\name
	.type	\name, %function
	.thumb_func
\name:
	.endm

/* r3 = PRIMASK, r1 = the state, r0 = the cursor; goes to `slow` if there is no room. */
	.macro	room slow
	mrs	r3, PRIMASK
	cpsid	i
	ldr	r1, =litifut_paths
	ldrd	r0, r2, [r1]
	sub.w	r2, r2, r0
	lsr.w	r2, r2, #PATHS_ROOM_SHIFT
	cbz	r2, \slow
	.endm

/* The cursor is r0. */
	.macro	move_cursor
	str	r0, [r1, #PATHS_CURSOR]
#ifdef LITIFUT_KEPT
	ldr	r2, =litifut_kept
	str	r0, [r2, #KEPT_HEAD]
#endif
	msr	PRIMASK, r3
	.endm

/* A word without bits is used for the record. */
	.macro	take_empty
	ldr	r2, [r0]
	sub.w	r2, r2, #LITIFUT_PATHS_NONE
	cbnz	r2, 4f
	sub.w	r0, r0, #4
4:
	.endm

/* litifut_paths_interrupt sees by the next instruction whether the bit is stored: behind that are
 * the pops with codes of 16 bits, the bx, and the cbnz to 3 if r2 is 0. */
#define IS_STORED 0xb90a
#define BIT_PUSH 2 /* bytes of the first instruction */

	.balign	4
	.macro	bit name value
	begin	\name
	push	{r1, r2}
1:	ldr	r1, =litifut_paths
	ldr	r1, [r1, #PATHS_CURSOR]
	ldrex	r0, [r1]
	lsr.w	r2, r0, #30
	cbnz	r2, 2f
	add.w	r0, r0, r0
	.if	\value
	orr.w	r0, r0, #1
	.endif
	strex	r2, r0, [r1]
	cbnz	r2, 3f
	pop	{r1, r2}
	bx	lr
3:	b	1b
	.ifeq	\value
litifut_bit_zero_full:
	.endif
2:	pop.w	{r1, r2}
	push	{r1, r2, r3}
	room	8f
	mov.w	r2, #(2 * LITIFUT_PATHS_NONE + \value)
	str	r2, [r0, #4]!
	move_cursor
	pop	{r1, r2, r3}
	bx	lr
8:	mov.w	r0, #\value
	mov	r1, lr
	b	litifut_bits_slow
	.size	\name, . - \name
	.endm

litifut_bits_first:
	bit	litifut_bit_zero, 0
	bit	litifut_bit_one, 1

/* The number of a label, as the word behind the call has it (rewriter/arm/edge.c): shifts its bits into
 * the newest word, or begins another one. Without room it is a record of the address. */
	begin	litifut_bits_number
	push	{r1, r2, r3}
	room	8f
	ldr	r2, [r0]
	ldrb.w	r1, [lr]
	lsr.w	r1, r2, r1
	cbz	r1, 4f
	add.w	r0, r0, #4
	mov.w	r2, #LITIFUT_PATHS_NONE
4:	ldrb.w	r1, [lr, #2]
	lsl.w	r2, r2, r1
	ldrb.w	r1, [lr, #1]
	orr.w	r2, r2, r1
	str	r2, [r0]
	add.w	lr, lr, #4
	ldr	r1, =litifut_paths
	move_cursor
	pop	{r1, r2, r3}
	bx	lr
8:	mov.w	r0, #2
	mov	r1, lr
	add.w	lr, lr, #4
	b	litifut_bits_slow
	.size	litifut_bits_number, . - litifut_bits_number

	begin	litifut_bits_enter
	push	{r1, r2, r3}
	room	8f
	take_empty
	lsr.w	r2, lr, #1
	orr.w	r2, r2, #LITIFUT_PATHS_RECORD
	str	r2, [r0, #4]
	mov.w	r2, #LITIFUT_PATHS_NONE
	str	r2, [r0, #8]!
	move_cursor
	pop	{r1, r2, r3}
	bx	lr
8:	mov.w	r0, #2
	mov	r1, lr
	.size	litifut_bits_enter, . - litifut_bits_enter

/* r0: 0 or 1, the bit; 2: a block is entered; more: the kind of a record, whose word r1 is then. r3
 * and on the stack: see above. Interrupts are off. The second one is for a record of two words, of
 * which r2 is the other. */
	.thumb_func
litifut_bits_slow:
	add.w	r2, sp, #20
	.thumb_func
litifut_bits_slower:
	push	{r3, r4, r12, lr}
	mrs	r4, APSR
	bl	litifut_paths_slow
	msr	APSR_nzcvq, r4
	pop.w	{r3, r4, r12, lr}
	msr	PRIMASK, r3
	pop	{r1, r2, r3}
	bx	lr

/* Code that is not an interrupt handler's has no task to go to. */
	.macro	task name kind
	begin	\name
	push	{r1, r2, r3}
	mrs	r0, IPSR
	cbz	r0, 9f
	room	8f
	take_empty
	mov.w	r2, #LITIFUT_PATHS_RECORD
	orr.w	r2, r2, #\kind
	str	r2, [r0, #4]
	mrs	r2, PSP
	str	r2, [r0, #8]
	mov.w	r2, #LITIFUT_PATHS_NONE
	str	r2, [r0, #12]!
	move_cursor
9:	pop	{r1, r2, r3}
	bx	lr
8:	mov.w	r0, #\kind
	mrs	r1, PSP
	b	litifut_bits_slow
	.size	\name, . - \name
	.endm

	task	litifut_paths_saved, LITIFUT_PATHS_SAVED
	task	litifut_paths_resumed, LITIFUT_PATHS_RESUMED

/* Called at the start of an interrupt handler, with lr and r0 on the stack as above. If something
 * has called it as a function, or a fault has come that the stack pointer may be the reason for,
 * nothing is recorded. The flags are not kept.
 *
 * A reader must see whether an interrupt of the code above came before the bit or the record: of
 * a loop that is one block there may have been one round or two by then, and a function that is one
 * block may have been called once or twice. */
	begin	litifut_paths_interrupt
	push	{r1, r2, r3}
	ldr	r0, [sp, #16]
	cmn	r0, #256		/* EXC_RETURN is 0xffffff00 at least */
	bcc	9b
	mrs	r1, IPSR
	cmp	r1, #FIRST_PLAIN
	blo	9b
	lsls	r0, r0, #29		/* bit 2 of EXC_RETURN: it has interrupted a task */
	ite	mi
	mrsmi	r0, PSP
	addpl	r0, sp, #20
	ldrd	r1, r3, [r0, #20]	/* lr, pc */
	ldr	r2, =litifut_bits_first	/* not of a function: bit 0 is clear */
	subs	r2, r3, r2
	cmp	r2, #litifut_paths_interrupt - litifut_bit_zero
	ite	lo
	biclo	r1, r1, #1
	movhs	r1, r3
	cmp	r2, #litifut_bits_slow - litifut_bits_first
	bhs	5f
	ldrh	r2, [r3]
	lsrs	r3, r2, #8
	cmp	r3, #0xbc		/* pop */
	it	ne
	cmpne	r3, #0x47		/* bx */
	beq	5f
	movw	r3, #IS_STORED
	cmp	r2, r3
	bne	6f
	ldr	r2, [r0, #8]
	cbz	r2, 5f
6:	subs	r1, #4			/* it is not there: before the call */
	ldr	r3, [r0, #24]		/* and not to be put before what is recorded now */
	ldr	r2, =litifut_bits_first
	subs	r2, r3, r2
	cmp	r2, #litifut_bit_one - litifut_bit_zero
	it	hs
	subhs	r2, #litifut_bit_one - litifut_bit_zero
	subs	r3, r3, r2
	subs	r2, #BIT_PUSH
	cmp	r2, #litifut_bit_zero_full - litifut_bits_first - BIT_PUSH
	itt	lo
	addlo	r3, #BIT_PUSH
	strlo	r3, [r0, #24]
5:	ldr	r2, [sp, #16]
	ubfx	r2, r2, #3, #1		/* it has interrupted no handler */
	orr.w	r2, r2, r0
	push	{r2}
	mrs	r3, PRIMASK
	cpsid	i
	ldr	r0, =litifut_paths
	ldrd	r0, r2, [r0]
	subs	r2, r2, r0
	cmp	r2, #(1 << PATHS_ROOM_SHIFT) + 4
	pop	{r2}
	blo	8f
	push	{r2}
	take_empty
	mov.w	r2, #LITIFUT_PATHS_RECORD
	orr.w	r2, r2, #LITIFUT_PATHS_INTERRUPT
	str	r2, [r0, #4]
	pop	{r2}
	strd	r1, r2, [r0, #8]
	mov.w	r2, #LITIFUT_PATHS_NONE
	str	r2, [r0, #16]!
	ldr	r1, =litifut_paths
	move_cursor
	pop	{r1, r2, r3}
	bx	lr
8:	mov.w	r0, #LITIFUT_PATHS_INTERRUPT
	b	litifut_bits_slower
	.size	litifut_paths_interrupt, . - litifut_paths_interrupt
	.pool

#include "tracer/arm/paths/facts.inc"
