/* A signal handler that makes a backtrace may have interrupted a thunk, where the stack pointer
 * differs from one instruction to the next. An exception table would need entries for each of
 * the many thunks. Instead, one entry that stands for all of them names this routine, which the
 * unwinder calls for such a frame. It follows the code from the interrupted instruction to where
 * it is left, and adds up what happens to the stack pointer on the way: what is behind it there
 * is the program's frame, and lr is the program's as well.
 *
 * The forms of the code are those that rewriter/arm/thunk.c and trampoline.c write. Nothing in
 * this code is called by a function that could be unwound, so the pc is never a return address.
 *
 * Unwinders do not say in which form they keep the registers, and programs that make no backtraces
 * have no function that returns them: so this routine is written for libgcc's unwinder,
 * which is that of glibc's backtrace(), by its first word, and gives up in others. */
#include "backtrace.h"

#include <stdbool.h>
#include <stddef.h>

enum { CONTINUE_UNWIND = 8, FAILURE = 9 };

/* Words of the control block: where the entry begins, and what it leads to, litifut_unwind_thunks
 * or litifut_unwind_shared, whose last word says whether thunks are A32 code (thunk_shared.S). */
#define FUNCTION 18
#define TABLE 19
#define SHARED 2
/* libgcc's: a word of flags, all or none set but some of the lowest, then r0 to r15. */
#define FLAGS_MAX 64u
#define SP 14
#define LR 15
#define PC 16
#define ROOM_MAX (1u << 26) /* thunks are in reach of a branch */

#define STEPS_MAX 64

static uint32_t half_at(uint32_t address)
{
	return *(const uint16_t *)(uintptr_t)address;
}

static uint32_t wide_at(uint32_t address)
{
	return half_at(address) << 16 | half_at(address + 2);
}

static uint32_t word_at(uint32_t address)
{
	return *(const uint32_t *)(uintptr_t)address;
}

/* With a name of the tracer's, as it is not inlined. */
static uint32_t litifut_stacked(uint32_t registers)
{
	uint32_t bytes = 0;

	for (; registers; registers &= registers - 1)
		bytes += 4;
	return bytes;
}

#define IN_LR 1u

/* What the code that is left to be executed does. */
struct way {
	uint32_t stack; /* is added to sp */
	uint32_t link;  /* the program's lr is on the stack, there; IN_LR: in lr */
};

#define PUSH_LR 0xe52de004u
#define BX_PC_NOP 0xbf004778u

static bool is_plain_call(uint32_t word)
{
	return word >> 24 == 0xeb || word >> 25 == 0x7d;
}

/* Where thunks are T32 code, A32 code is the trampoline of a tail call (push, call of the thunk,
 * exit), or a thunk's exit. */
static bool is_plain(uint32_t pc)
{
	uint32_t before = word_at(pc - 4);

	return before == PUSH_LR || word_at(pc) == PUSH_LR || word_at(pc - 8) == PUSH_LR ||
	       before == BX_PC_NOP;
}

static bool follow_plain(uint32_t pc, struct way *way)
{
	for (unsigned i = 0; i < STEPS_MAX; i++, pc += 4) {
		uint32_t word = word_at(pc);
		uint32_t kind = word >> 16;

		if (kind == 0xe92d) { /* push */
			way->stack -= litifut_stacked(word & 0xffff);
		} else if ((word & 0xffff0fff) == 0xe52d0004 || word == 0xe24dd004) {
			way->stack -= 4;     /* push of one, sub sp, sp, #4 */
		} else if (kind == 0xe8bd) { /* pop */
			way->stack += litifut_stacked(word & 0xffff);
			/* unless the push is on the way as well */
			if (word & 1 << 14 && (int32_t)way->stack > 0)
				way->link = way->stack - 4;
			if (word & 1 << 15)
				return true;
		} else if (word == 0xe59de004) { /* ldr lr, [sp, #4] */
			way->link = way->stack + 4;
		} else if (word == 0xe49df008) { /* ldr pc, [sp], #8 */
			way->stack += 8;
			return true;
		} else if (word == 0xe58de004) { /* str lr, [sp, #4], for `blx lr` */
			return false;
		} else if (word >> 24 == 0xea || (word & 0xfffffff0) == 0xe12fff10) {
			return word_at(pc - 4) != 0xe58de004; /* b, bx */
		} else if (is_plain_call(word) && word_at(pc - 4) == PUSH_LR) {
			way->stack += 4;
			return true;
		}
	}
	return false;
}

/* A call: that of a thunk, in the trampoline of a tail call; or that of the recorder, in a thunk,
 * which goes on at the thunk's exit with everything taken off the stack. */
static void pass_call(uint32_t pc, struct way *way)
{
	if (half_at(pc - 2) == 0xb500) { /* push {lr} */
		way->stack += 4;
	} else if (wide_at(pc - 4) == 0xf85dfb08) { /* ldr.w pc, [sp], #8 */
		way->link = way->stack + 16;
		way->stack += 20;
	} else {
		way->stack += 16;
	}
}

static bool follow_thumb(uint32_t pc, struct way *way)
{
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		uint32_t half = half_at(pc);
		uint32_t wide = wide_at(pc);

		if (half >> 11 == 0x1c) { /* b.n */
			pc += 4 + (uint32_t)((int32_t)(half << 21) >> 20);
			continue;
		}
		if ((half & 0xff07) == 0x4700) /* bx rN */
			return true;
		if (half >> 9 == 0x5a) /* push */
			way->stack -= litifut_stacked(half & 0x1ff);
		else if (half >> 8 == 0xbc) /* pop */
			way->stack += litifut_stacked(half & 0xff);
		if (half < 0xe800) {
			pc += 2;
			continue;
		}
		if (half == 0xe8bd) { /* pop.w: lr as it was */
			way->stack += litifut_stacked(wide & 0x7fff);
		} else if (wide == 0xf8dde004) { /* ldr.w lr, [sp, #4] */
			way->link = way->stack + 4;
		} else if (wide == 0xf85dfb08) { /* ldr.w pc, [sp], #8 */
			way->stack += 8;
			return true;
		} else if (wide == 0xf8cde004) { /* str.w lr, [sp, #4], for `blx lr` */
			return false;
		} else if ((wide & 0xf800d000) == 0xf0009000) { /* b.w */
			return wide_at(pc - 4) != 0xf8cde004;
		} else if ((wide & 0xf800c000) == 0xf000c000) { /* bl, blx */
			pass_call(pc, way);
			return true;
		}
		pc += 4;
	}
	return false;
}

int litifut_backtrace(int state, const uint32_t *block, uint32_t *context)
{
	const uint32_t pc = context[PC] & ~1u;
	struct way way = {0, IN_LR};

	(void)state;
	if (context[0] + FLAGS_MAX >= 2 * FLAGS_MAX || pc - block[FUNCTION] >= ROOM_MAX)
		return FAILURE;
	const uint32_t *table = (const uint32_t *)(uintptr_t)block[TABLE];

	if (!(pc & 2) && (table[SHARED] || is_plain(pc)) ? !follow_plain(pc, &way)
							 : !follow_thumb(pc, &way))
		return FAILURE;
	if (way.link != IN_LR)
		context[LR] = word_at(context[SP] + way.link);
	context[SP] += way.stack;
	context[PC] = context[LR];
	return CONTINUE_UNWIND;
}
