/* The thunks of the thunk engine: the piece of code, one for each callee, that a
 * call goes to instead. It stores lr, which names the call, where the thread's
 * cursor points, and goes on to the callee. In T32 code:
 *
 *	push   {r0-r2, lr}
 *	mrc    p15, 0, r1, c13, c0, 3	the thread pointer
 *	ldr    r1, [r1]			libc's vector of thread-local blocks
 *	ldrex  r0, [r1, #4]		the cursor (<litifut/thunk_abi.h>)
 *	lsl.w  r2, r0, #18
 *	cbz    r2, slow			none, or at a multiple of 16 KB
 *	add.w  r0, r0, #4
 *	strex  r2, r0, [r1, #4]		the place is taken, unless
 *	cbnz   r2, slow			a signal handler came between
 *	str    lr, [r0, #-4]
 *	pop.w  {r0-r2, lr}
 *	b.w    callee			the exit
 * slow:	blx    litifut_thunk_call	does the same by C code, leaves by the exit
 *
 * Nothing but the program counter changes, not even the flags. That is why all
 * thunks are T32 code, which has `cbz`: A32 callers use `blx` (so a conditional
 * call uses the instruction DB), and the exit to an A32 callee is
 *
 * exit:	bx     pc			at a multiple of 4: goes on at the `b`
 *	nop
 *	b      callee			A32
 *	b.n    exit			for litifut_thunk_call
 *	nop
 *
 * A call through a register stores three words: what it is, lr, and the register.
 * They must not cross a multiple of 16 KB, or the cursor would run past the end of
 * its chunk unseen. For that, for the multiple itself and for no cursor, bits 4 to
 * 13 of where the cursor would be are zero:
 *
 *	add.w  r0, r0, #12
 *	ubfx   r2, r0, #4, #10
 *	cbz    r2, slow
 *	...
 *	movw   r2, #0x202		LITIFUT_WORD_INDIRECT
 *	strd   r2, lr, [r0, #-12]
 *	str    rN, [r0, #-4]		r0 to r2 through the stack
 *
 * With a clock each event has one word more, the time, so that those of direct
 * calls are made like this, too, with a step of 8. When the place is reserved, r1
 * and r2 are free:
 *
 *	...
 *	mrrc   p15, 1, r2, r1, c14	the counter of the generic timer: its low half
 *	strd   lr, r2, [r0, #-8]
 *
 * Those of indirect calls have 16 bytes, to which bit 4 belongs as well.
 *
 * For a table each event has the stack pointer of the caller as well (<litifut/fold.h>):
 *
 *	...
 *	addw   r2, sp, #16		and a mark: a call
 *	strd   r2, lr, [r0, #-12]
 *	mrrc   p15, 1, r2, r1, c14
 *	str    r2, [r0, #-4]
 *
 * A direct tail call comes from its own trampoline, which has pushed lr; what
 * its call of the thunk leaves in lr is its key and where it goes on:
 *
 *	...
 *	str    lr, [r0, #-4]
 *	pop    {r0-r2}			then: the key, and what the callee gets in lr
 *	ldr.w  lr, [sp, #4]
 *	ldr.w  pc, [sp], #8
 *
 * A return comes from its own trampoline as well, by a call whose return address stands
 * for it in the trace. The exit leads back there: bx lr.
 *
 * With LITIFUT_MODE=counts each site has a separate thunk, which adds 1 to the 64 bits of its
 * counter and uses nothing of the C library:
 *
 *	push   {r0-r2}			tail calls: and lr
 *	ldr.w  r1, =counter - .
 *	add    r1, pc
 * again:	ldrex  r0, [r1]
 *	add.w  r0, r0, #1
 *	strex  r2, r0, [r1]
 *	cbnz   r2, retry		another thread or a signal handler came between
 *	cbz    r0, carry
 *	pop.w  {r0-r2}
 *	b.w    callee			the exit, at a multiple of 4
 * carry:	add.w  r1, r1, #4		the high word gets 1 in the same way
 * retry:	b.n    again
 *
 * mrc of TPIDRURO and ldrex are of ARMv6K, Thumb-2 is of ARMv6T2; the rewriter writes these
 * thunks where the image says that it is for ARMv7. Others, for calls without a clock, are in
 * thunk_shared.c. Encodings: DDI 0406C A8.8. */
#include "rewriter/arm/thunk.h"

#include <litifut/clock_page.h>
#include <litifut/fold.h>
#include <litifut/thunk_abi.h>
#include <litifut/trace_format.h>

#include "rewriter/arm/thunk_shared.h"
#include "rewriter/arm/trampoline.h"
#include "rewriter/libc.h"

_Static_assert(LITIFUT_THUNK_STOP_BITS == 14 && LITIFUT_THUNK_CURSOR == 4 &&
		       LITIFUT_THUNK_VECTOR_ARM == 0,
	       "what write_event() has in its instructions");

_Static_assert(LITIFUT_CONTROL_WORD(LITIFUT_WORD_TAIL, 3) == 0x303, "in a movw");

/* What is saved, as struct litifut_frame_step has it. */
#define LR (1u << 14)
#define PUSHED (LR | 7)

struct emitter {
	unsigned clock; /* enum litifut_clock, that the thunk reads */
	bool table;     /* see <litifut/fold.h> */
	uint8_t *code;
	unsigned at;
	unsigned slow[2]; /* offsets of the branches to what is at the end */
	unsigned slow_count;
	struct litifut_frame_code *frame; /* may be NULL */
};

bool litifut_arm_is_for_v7(const struct litifut_image *image)
{
	const struct litifut_section *attributes = litifut_image_section(image, ".ARM.attributes");

	if (!attributes)
		return image->is_newer;
	return litifut_arm_attributes_v7(attributes->bytes, attributes->size) &&
	       litifut_arm_attributes_thumb2(attributes->bytes, attributes->size);
}

const char *litifut_arm_refuses_counters(const struct litifut_image *image)
{
	return litifut_arm_is_for_v7(image) ? NULL : "it is for CPUs before ARMv7";
}

const char *litifut_arm_refuses_thunks(const struct litifut_image *image)
{
	return litifut_libc_lacks_spare_word(image);
}

const char *litifut_arm_refuses_bits(const struct litifut_image *image)
{
	const char *why = litifut_arm_refuses_counters(image);

	return why ? why : litifut_libc_lacks_spare_word(image);
}

/* `bx` or `blx` by a register that thunks keep. */
static bool is_register_branch(const struct litifut_instruction *instruction, uint32_t thumb,
			       uint32_t plain)
{
	if (instruction->target_register >= 13)
		return false;
	return instruction->thumb
		       ? instruction->length == 2 && (instruction->word & 0xff87) == thumb
		       : (instruction->word & 0x0ffffff0) == plain;
}

struct litifut_thunk litifut_arm_thunk(const struct litifut_image *image,
				       const struct litifut_arch_context *context,
				       const struct litifut_cramped_call *call)
{
	const struct litifut_instruction *instruction = &call->instruction;
	struct litifut_thunk thunk = {.thumb = true};

	(void)image;
	if (!context->thunks || instruction->linked != LITIFUT_LINKED_NOT)
		return thunk;
	if (litifut_arm_shares_thunks(&context->cpu))
		return litifut_arm_thunk_shared(call);
	/* blx, by which A32 code gets into a thunk, has no condition; the
	 * trampoline of a tail call does not need one. */
	if (!instruction->thumb && !call->tail && instruction->word >> 28 < 0xe)
		return thunk;
	switch (instruction->class) {
	case LITIFUT_CLASS_CALL_DIRECT:
		thunk.kind = LITIFUT_THUNK_CALLEE;
		thunk.callee = instruction->target;
		break;
	case LITIFUT_CLASS_CALL_INDIRECT:
		if (is_register_branch(instruction, 0x4780, 0x012fff30))
			thunk.kind = LITIFUT_THUNK_REGISTER;
		break;
	case LITIFUT_CLASS_BRANCH_DIRECT:
		thunk.kind = LITIFUT_THUNK_TAIL;
		break;
	case LITIFUT_CLASS_BRANCH_INDIRECT:
		if (is_register_branch(instruction, 0x4700, 0x012fff10))
			thunk.kind = LITIFUT_THUNK_TAIL_REGISTER;
		break;
	default:
		break;
	}
	if (litifut_thunk_has_register(&thunk))
		thunk.number = instruction->target_register;
	return thunk;
}

static void narrow(struct emitter *emitter, uint32_t half)
{
	litifut_put16(false, emitter->code + emitter->at, (uint16_t)half);
	emitter->at += 2;
}

static void wide(struct emitter *emitter, uint32_t word)
{
	narrow(emitter, word >> 16);
	narrow(emitter, word & 0xffff);
}

/* From here on there are so many bytes on the stack, with `saved` in them. */
static void note_stack(struct emitter *emitter, unsigned stack, uint32_t saved)
{
	struct litifut_frame_code *frame = emitter->frame;

	if (frame)
		frame->steps[frame->step_count++] =
			(struct litifut_frame_step){emitter->at, stack, saved};
}

static void leave_if(struct emitter *emitter, uint32_t half)
{
	emitter->slow[emitter->slow_count++] = emitter->at;
	narrow(emitter, half);
}

/* r2 = the low half of the clock; r1 is lost. */
static void read_clock(struct emitter *emitter)
{
	if (emitter->clock == LITIFUT_CLOCK_CYCLE) {
		wide(emitter, 0xec512f1e); /* mrrc p15, 1, r2, r1, c14 */
		return;
	}
	_Static_assert(LITIFUT_CLOCK_PAGE_ADDRESS == 0x2f000000u, "in the mov");
	wide(emitter, 0xf04f523c); /* mov.w r2, #0x2f000000 */
	wide(emitter, 0xf8d22000); /* ldr.w r2, [r2], so that the exit stays at a multiple of 4 */
}

/* Makes r0 point behind the place for an event of so many bytes. */
static void reserve(unsigned bytes, struct emitter *emitter)
{
	wide(emitter, 0xee1d1f70); /* mrc p15, 0, r1, c13, c0, 3 */
	narrow(emitter, 0x6809);   /* ldr r1, [r1] */
	wide(emitter, 0xe8510f01); /* ldrex r0, [r1, #4] */
	if (bytes > 4) {
		wide(emitter, 0xf1000000 | bytes); /* add.w r0, r0, #bytes */
		/* ubfx r2, r0, #4, #10, or #5, #9 */
		wide(emitter, bytes < 16 ? 0xf3c01209 : 0xf3c01248);
		leave_if(emitter, 0xb102); /* cbz r2 */
	} else {
		wide(emitter, 0xea4f4280); /* lsl.w r2, r0, #18 */
		leave_if(emitter, 0xb102); /* cbz r2 */
		wide(emitter, 0xf1000004); /* add.w r0, r0, #4 */
	}
	wide(emitter, 0xe8410201); /* strex r2, r0, [r1, #4] */
	leave_if(emitter, 0xb902); /* cbnz r2 */
}

/* The event of a table, when r0 to r2 and lr have been saved. */
static void write_table_event(const struct litifut_thunk *thunk, struct emitter *emitter)
{
	const unsigned pushed = litifut_thunk_is_tail(thunk) ? 20 : 16;
	const unsigned words = litifut_thunk_has_register(thunk) ? 4 : 3;
	unsigned number = thunk->number;
	unsigned mark = thunk->kind == LITIFUT_THUNK_EXIT     ? LITIFUT_FOLD_RETURN
			: thunk->kind == LITIFUT_THUNK_CALLEE ? LITIFUT_FOLD_CALL
			: thunk->kind == LITIFUT_THUNK_TAIL   ? LITIFUT_FOLD_TAIL
			: litifut_thunk_is_tail(thunk)        ? LITIFUT_FOLD_TAIL_POINTER
							      : LITIFUT_FOLD_CALL_POINTER;

	reserve(4 * words, emitter);
	wide(emitter, 0xf20d0200 | (pushed + mark)); /* addw r2, sp, #pushed + mark */
	wide(emitter, 0xe9402e00 | words);           /* strd r2, lr, [r0, #-4 * words] */
	read_clock(emitter);
	if (!litifut_thunk_has_register(thunk)) {
		wide(emitter, 0xf8402c04); /* str r2, [r0, #-4] */
		return;
	}
	if (number < 3) {
		narrow(emitter, 0x9900 | number); /* ldr r1, [sp, #4n] */
		number = 1;
	}
	wide(emitter, 0xe9400202 | number << 12); /* strd rN, r2, [r0, #-8] */
}

/* Up to where the event is stored. */
static void write_event(const struct litifut_thunk *thunk, struct emitter *emitter)
{
	unsigned number = thunk->number;
	unsigned words = (litifut_thunk_has_register(thunk) ? 3 : 1) +
			 (emitter->clock != LITIFUT_CLOCK_NONE);
	uint32_t control = LITIFUT_CONTROL_WORD(
		litifut_thunk_is_tail(thunk) ? LITIFUT_WORD_TAIL : LITIFUT_WORD_INDIRECT,
		words - 1);

	if (litifut_thunk_is_tail(thunk))
		note_stack(emitter, 4, LR);
	narrow(emitter, 0xb507); /* push {r0-r2, lr} */
	note_stack(emitter, litifut_thunk_is_tail(thunk) ? 20 : 16, PUSHED);
	if (emitter->table && emitter->clock) {
		write_table_event(thunk, emitter);
		return;
	}
	reserve(4 * words, emitter);
	if (!litifut_thunk_has_register(thunk) && !emitter->clock) {
		wide(emitter, 0xf840ec04); /* str lr, [r0, #-4] */
		return;
	}
	if (!litifut_thunk_has_register(thunk)) {
		read_clock(emitter);
		wide(emitter, 0xe940e202); /* strd lr, r2, [r0, #-8] */
		return;
	}
	/* movw r2, #control, of which 3 bits stand apart */
	wide(emitter, 0xf2400200 | (control & 0x700) << 4 | (control & 0xff));
	wide(emitter, 0xe9402e00 | words); /* strd r2, lr, [r0, #-4 * words] */
	if (!emitter->clock) {
		if (number < 3) {
			narrow(emitter, 0x9a00 | number); /* ldr r2, [sp, #4n] */
			number = 2;
		}
		wide(emitter, 0xf8400c04 | number << 12); /* str rN, [r0, #-4] */
		return;
	}
	read_clock(emitter);
	if (number < 3) {
		narrow(emitter, 0x9900 | number); /* ldr r1, [sp, #4n] */
		number = 1;
	}
	wide(emitter, 0xe9400202 | number << 12); /* strd rN, r2, [r0, #-8] */
}

/* The instruction that goes on to the callee, and 4 bytes that do so too if that is
 * not what they are. False: the callee is out of reach. */
static bool write_exit(const struct litifut_thunk *thunk, uint32_t address, struct emitter *emitter)
{
	uint32_t here = address + emitter->at;
	uint32_t offset = thunk->callee - (here + 4 + 8);

	if (thunk->kind == LITIFUT_THUNK_EXIT) {
		narrow(emitter, 0x4770); /* bx lr */
		narrow(emitter, 0xbf00);
		return true;
	}
	if (thunk->kind == LITIFUT_THUNK_REGISTER) {
		narrow(emitter, 0x4700 | (uint32_t)thunk->number << 3); /* bx rN */
		narrow(emitter, 0xbf00);
		return true;
	}
	if (thunk->callee & 1) {
		emitter->at += 4;
		return litifut_arm_branch_write(here, thunk->callee & ~1u,
						emitter->code + emitter->at - 4);
	}
	narrow(emitter, 0x4778); /* bx pc */
	narrow(emitter, 0xbf00);
	litifut_put32(false, emitter->code + emitter->at, 0xea000000 | (offset >> 2 & 0xffffff));
	emitter->at += 4;
	narrow(emitter, 0xe7fa); /* b.n, 8 bytes back */
	narrow(emitter, 0xbf00);
	return offset + (1u << 25) < 1u << 26;
}

/* Makes a cbz or cbnz lead to where the code goes on. */
static void land(const struct emitter *emitter, unsigned branch)
{
	const unsigned distance = (emitter->at - branch - 4) / 2;
	uint8_t *code = emitter->code + branch;

	litifut_put16(false, code,
		      (uint16_t)(litifut_get16(false, code) | (distance & 31) << 3 |
				 (distance & 32) << 4));
}

/* Back to the program, with the registers that were saved. */
static bool write_leave(const struct litifut_thunk *thunk, uint32_t address, uint32_t pop,
			struct emitter *emitter)
{
	if (litifut_thunk_is_tail(thunk)) {
		narrow(emitter, 0xbc07); /* pop {r0-r2} */
		note_stack(emitter, 8, LR);
		wide(emitter, 0xf8dde004); /* ldr.w lr, [sp, #4] */
		wide(emitter, 0xf85dfb08); /* ldr.w pc, [sp], #8 */
		return true;
	}
	wide(emitter, pop);
	note_stack(emitter, 0, 0);
	return write_exit(thunk, address, emitter);
}

static bool write_counting(const struct litifut_thunk *thunk, uint32_t address,
			   struct emitter *emitter)
{
	const bool tail = litifut_thunk_is_tail(thunk);
	const unsigned pushed = tail ? 20 : 12;
	unsigned load;
	unsigned again;
	unsigned back;

	if (tail)
		note_stack(emitter, 4, LR);
	narrow(emitter, tail ? 0xb507 : 0xb407); /* push {r0-r2}, and lr */
	note_stack(emitter, pushed, tail ? PUSHED : 7);
	load = emitter->at;
	wide(emitter, 0xf8df1000); /* ldr.w r1, [pc, #n] */
	narrow(emitter, 0x4479);   /* add r1, pc */
	again = emitter->at;
	wide(emitter, 0xe8510f00);                             /* ldrex r0, [r1] */
	wide(emitter, 0xf1000001);                             /* add.w r0, r0, #1 */
	wide(emitter, 0xe8410200);                             /* strex r2, r0, [r1] */
	leave_if(emitter, 0xb902);                             /* cbnz r2 */
	leave_if(emitter, 0xb100);                             /* cbz r0 */
	if (!write_leave(thunk, address, 0xe8bd0007, emitter)) /* pop.w {r0-r2} */
		return false;
	note_stack(emitter, pushed, tail ? PUSHED : 7);
	land(emitter, emitter->slow[1]);
	wide(emitter, 0xf1010104); /* add.w r1, r1, #4 */
	land(emitter, emitter->slow[0]);
	back = emitter->at + 4 - again;
	narrow(emitter, 0xe000 | (-(back / 2) & 0x7ff)); /* b.n again */
	if (emitter->at & 2)
		narrow(emitter, 0xbf00);
	/* the pc of the load is a multiple of 4, as is the thunk */
	litifut_put16(false, emitter->code + load + 2,
		      (uint16_t)(0x1000 | (emitter->at - ((load + 4) & ~3u))));
	litifut_put32(false, emitter->code + emitter->at,
		      thunk->counter - (address + load + 4 + 4));
	emitter->at += 4;
	return true;
}

static bool write_thunk(const struct litifut_thunk *thunk, uint32_t address,
			const uint32_t *entries, struct emitter *emitter)
{
	static const struct cpu_context context = {0};
	static const struct litifut_instruction call = {.length = 4, .thumb = true};

	if (thunk->counter)
		return write_counting(thunk, address, emitter);
	write_event(thunk, emitter);
	if (!write_leave(thunk, address, 0xe8bd4007, emitter)) /* pop.w {r0-r2, lr} */
		return false;
	note_stack(emitter, litifut_thunk_is_tail(thunk) ? 20 : 16, PUSHED);
	for (unsigned i = 0; i < emitter->slow_count; i++) {
		const unsigned distance = (emitter->at - emitter->slow[i] - 4) / 2;

		if (thunk->kind == LITIFUT_THUNK_EXIT && thunk->number & LITIFUT_THUNK_SLOW)
			litifut_put16(false, emitter->code + emitter->slow[i],
				      (uint16_t)(0xe000 | distance)); /* b.n */
		else
			land(emitter, emitter->slow[i]);
	}
	if (!litifut_arm_encode_call(
		    &context, &call, address + emitter->at,
		    entries[litifut_thunk_is_tail(thunk) ? LITIFUT_ARM_ENTRY_THUNK_TAIL
							 : LITIFUT_ARM_ENTRY_THUNK],
		    emitter->code + emitter->at))
		return false;
	emitter->at += 4;
	if (emitter->at & 2)
		narrow(emitter, 0xbf00);
	return true;
}

unsigned litifut_arm_write_thunk(const struct litifut_arch_context *context,
				 const struct litifut_thunk *thunk, uint32_t address,
				 const uint32_t *entries, uint8_t *code)
{
	struct emitter emitter = {.code = code};

	if (litifut_arm_shares_thunks(&context->cpu))
		return litifut_arm_write_thunk_shared(thunk, address, entries, code);
	emitter.clock = context->clock;
	emitter.table = context->table;
	return write_thunk(thunk, address, entries, &emitter) ? emitter.at : 0;
}

void litifut_arm_thunk_frame(const struct litifut_arch_context *context,
			     const struct litifut_thunk *thunk, struct litifut_frame_code *frame)
{
	/* As if all were where its callee is: the stack does not depend on it. */
	const uint32_t here = thunk->callee & ~3u;
	const uint32_t entries[LITIFUT_ENTRIES_MAX] = {here, here, here, here,
						       here, here, here, here};
	uint8_t code[256];
	struct emitter emitter = {
		.clock = context->clock, .table = context->table, .code = code, .frame = frame};

	if (litifut_arm_shares_thunks(&context->cpu)) {
		litifut_arm_thunk_shared_frame(thunk, frame);
		return;
	}
	frame->step_count = 0;
	if (!write_thunk(thunk, here, entries, &emitter))
		frame->step_count = 0;
}
