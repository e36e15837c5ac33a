/* The thunks of images that may run on CPUs before ARMv7, which may have neither LDREX nor a
 * register for the thread pointer. All that is left to a thunk is what depends on its callee;
 * the rest is code of the tracer (tracer/arm/thunk_shared.S), which asks at run time how the
 * event can be stored. A32 code:
 *
 *	push   {r0-r5, r12, lr}
 *	bl     litifut_thunk_shared
 *	pop    {r0-r5, r12, lr}
 *	b      callee			the exit
 *
 * A callee that is T32 code, or out of reach of a branch:
 *
 * exit:	sub    sp, sp, #4
 *	push   {r12}
 *	ldr    r12, [pc, #8]
 *	add    r12, r12, pc
 *	str    r12, [sp, #4]
 *	pop    {r12, pc}
 *	.word  callee - (exit + 20)
 *
 * A call through a register:
 *
 *	push   {r0-r6, r12, lr}
 *	mov    r6, rN
 *	bl     litifut_thunk_pointer
 *	pop    {r0-r6, r12, lr}
 *	bx     rN			the exit
 *
 * A tail call comes from its trampoline, which has pushed lr; what its call of the thunk
 * leaves in lr is its key and where it goes on:
 *
 *	push   {r0-r5, r12, lr}
 *	bl     litifut_thunk_shared_tail
 *	pop    {r0-r5, r12}
 *	ldr    lr, [sp, #4]
 *	ldr    pc, [sp], #8
 *
 * Calls in T32 code reach these thunks by `blx`. Those through registers do not: their
 * trampolines are T32 code, so that they use the instruction DB. */
#include "rewriter/arm/thunk_shared.h"

#define LR (1u << 14)
#define PUSHED (LR | 1u << 12 | 0x3f)
#define PUSHED_BY_POINTER (PUSHED | 1u << 6)
#define TO_STACK 0xe92d0000u   /* push */
#define FROM_STACK 0xe8bd0000u /* pop */

struct emitter {
	uint8_t *code;
	unsigned at;
	struct litifut_frame_code *frame; /* may be NULL */
};

static void put(struct emitter *emitter, uint32_t word)
{
	litifut_put32(false, emitter->code + emitter->at, word);
	emitter->at += 4;
}

/* From here on there are so many bytes on the stack, with `saved` in them. */
static void note_stack(struct emitter *emitter, unsigned stack, uint32_t saved)
{
	struct litifut_frame_code *frame = emitter->frame;

	if (frame)
		frame->steps[frame->step_count++] =
			(struct litifut_frame_step){emitter->at, stack, saved};
}

static bool reaches(uint32_t offset)
{
	return offset + (1u << 25) < 1u << 26;
}

static void write_exit(const struct litifut_thunk *thunk, uint32_t address, struct emitter *emitter)
{
	const uint32_t here = address + emitter->at;
	const uint32_t offset = thunk->callee - (here + 8);

	if (thunk->kind == LITIFUT_THUNK_REGISTER) {
		put(emitter, 0xe12fff10 | thunk->number); /* bx rN */
	} else if (!(thunk->callee & 1) && reaches(offset)) {
		put(emitter, 0xea000000 | (offset >> 2 & 0xffffff)); /* b callee */
	} else {
		put(emitter, 0xe24dd004); /* sub sp, sp, #4 */
		note_stack(emitter, 4, 0);
		put(emitter, 0xe52dc004); /* push {r12} */
		note_stack(emitter, 8, 1u << 12);
		put(emitter, 0xe59fc008);          /* ldr r12, [pc, #8] */
		put(emitter, 0xe08cc00f);          /* add r12, r12, pc */
		put(emitter, 0xe58dc004);          /* str r12, [sp, #4] */
		put(emitter, FROM_STACK | 0x9000); /* pop {r12, pc} */
		put(emitter, thunk->callee - (here + 20));
	}
}

static bool write_thunk(const struct litifut_thunk *thunk, uint32_t address,
			const uint32_t *entries, struct emitter *emitter)
{
	const bool tail = litifut_thunk_is_tail(thunk);
	const bool pointer = litifut_thunk_has_register(thunk);
	const uint32_t pushed = pointer ? PUSHED_BY_POINTER : PUSHED;
	const uint32_t entry =
		entries[pointer ? tail ? LITIFUT_ARM_ENTRY_POINTER_TAIL : LITIFUT_ARM_ENTRY_POINTER
			: tail  ? LITIFUT_ARM_ENTRY_SHARED_TAIL
				: LITIFUT_ARM_ENTRY_SHARED];
	uint32_t offset;

	if (tail)
		note_stack(emitter, 4, LR);
	put(emitter, TO_STACK | pushed);
	note_stack(emitter, (pointer ? 36 : 32) + (tail ? 4 : 0), pushed);
	if (pointer && thunk->number != 6)
		put(emitter, 0xe1a06000 | thunk->number); /* mov r6, rN */
	offset = entry - (address + emitter->at + 8);
	put(emitter, 0xeb000000 | (offset >> 2 & 0xffffff)); /* bl */
	if (tail) {
		put(emitter, FROM_STACK | (pushed & ~LR));
		note_stack(emitter, 8, LR);
		put(emitter, 0xe59de004); /* ldr lr, [sp, #4] */
		put(emitter, 0xe49df008); /* ldr pc, [sp], #8 */
	} else {
		put(emitter, FROM_STACK | pushed);
		note_stack(emitter, 0, 0);
		write_exit(thunk, address, emitter);
	}
	return entry && reaches(offset);
}

struct litifut_thunk litifut_arm_thunk_shared(const struct litifut_cramped_call *call)
{
	const struct litifut_instruction *instruction = &call->instruction;
	const uint32_t form = instruction->word & 0x0ffffff0;
	struct litifut_thunk thunk = {.thumb = false};

	if (instruction->class == LITIFUT_CLASS_CALL_DIRECT) {
		thunk.kind = LITIFUT_THUNK_CALLEE;
		thunk.callee = instruction->target;
	} else if (!instruction->thumb && instruction->class == LITIFUT_CLASS_BRANCH_DIRECT) {
		thunk.kind = LITIFUT_THUNK_TAIL;
	} else if (!instruction->thumb && instruction->target_register < 13) {
		if (instruction->class == LITIFUT_CLASS_CALL_INDIRECT && form == 0x012fff30)
			thunk.kind = LITIFUT_THUNK_REGISTER;
		else if (instruction->class == LITIFUT_CLASS_BRANCH_INDIRECT && form == 0x012fff10)
			thunk.kind = LITIFUT_THUNK_TAIL_REGISTER;
	}
	if (litifut_thunk_has_register(&thunk))
		thunk.number = instruction->target_register;
	return thunk;
}

unsigned litifut_arm_write_thunk_shared(const struct litifut_thunk *thunk, uint32_t address,
					const uint32_t *entries, uint8_t *code)
{
	struct emitter emitter = {.code = code};

	return write_thunk(thunk, address, entries, &emitter) ? emitter.at : 0;
}

void litifut_arm_thunk_shared_frame(const struct litifut_thunk *thunk,
				    struct litifut_frame_code *frame)
{
	/* The exit to a T32 callee pushes registers, so its frames differ. */
	uint32_t entries[LITIFUT_ENTRIES_MAX];
	uint8_t code[LITIFUT_ARM_THUNK_SHARED_BYTES_MAX];
	struct emitter emitter = {.code = code, .frame = frame};

	for (size_t i = 0; i < LITIFUT_ENTRIES_MAX; i++)
		entries[i] = frame->start;
	frame->step_count = 0;
	write_thunk(thunk, frame->start, entries, &emitter);
}
