/* LITIFUT_MODE=paths: bits that the code of an edge shifts in by itself, with $at and a register X
 * that holds nothing on any of its ways (dead.h). tracer/mips/bits.S has the code that it shares
 * with the tracer, and what stands here before a bit is known:
 *
 *	rdhwr X; lw X; lw X; bnezl X, go; lw at
 *	slow:	a call of litifut_bits_room
 *	go:	sll   at, at, 1
 *		bltz  at, slow
 *		nop
 *
 * and behind it, of a branch
 *
 *		beql  rS, rT, taken		or beq, if its delay slot does something
 *		ori   at, at, 1
 *		b     end of the block
 *		sw    at, -4(X)
 *	taken:	b     target
 *		sw    at, -4(X)
 *
 * Where the image is position-independent and not small, branches would often not reach over so
 * much code. There the first part is a head in the tracer's code, which is called if ra holds
 * nothing either. In other images a register is stored where none holds nothing. */
#include "rewriter/mips/edge_bits.h"

#include <litifut/thunk_abi.h>

#include "rewriter/mips/edge_forms.h"

enum { AT = 1, SP = 29, RA = LITIFUT_MIPS_RA };

#define STORE_AT(reg) (0xac01fffcu | (reg) << 21) /* sw at, -4(X) */
#define ORI_AT_1 0x34210001u
#define ONE(reg) (1u << (reg))

/* Of a code that is not 0: the number of X, and these. */
#define CODE_REGISTER 31u
#define CODE_LINK 32u   /* ra holds nothing */
#define CODE_STORED 64u /* X is stored */
#define CODE_HEAD 128u  /* the first part is called, with CODE_LINK */

/* From so few blocks branches reach to the code of their edges, and from so few if only that of
 * branches backward is long. */
#define SMALL 1000
#define MEDIUM 5000

/* In which order one is looked for: the kernel of CPUs without rdhwr has a short way for v1. */
static const uint8_t order[] = {3, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25};

/* Those that there are heads for. */
#define HEADS 0x20001fcu

/* `dead` are registers that hold nothing on any way, `named` those of the instructions that are
 * executed while X is needed. */
static uint8_t choose(const struct litifut_edge_place *place, uint32_t dead, uint32_t named)
{
	const struct litifut_block *block = &place->block->block;
	const bool small = !place->context->cpu.position_independent ||
			   place->graph->count < SMALL ||
			   (place->graph->count < MEDIUM && block->ends == LITIFUT_ENDS_BRANCH &&
			    block->target <= block->branch);
	const bool link = dead & ~named & ONE(RA);
	uint32_t found = 0, other = 0;

	if (named & ONE(AT))
		return 0;
	for (unsigned i = sizeof(order); i-- > 0;) {
		if (dead & ~named & (small ? UINT32_MAX : HEADS) & ONE(order[i]))
			found = order[i];
		if (~named & ONE(order[i]))
			other = order[i];
	}
	if (!small)
		return found && link ? (uint8_t)(found | CODE_HEAD | CODE_LINK) : 0;
	if (found)
		return (uint8_t)(found | (link ? CODE_LINK : 0));
	return other && !(named & ONE(SP)) ? (uint8_t)(other | CODE_STORED) : 0;
}

/* With the start of the block in the same code: what moves, and the delay slot, stand behind the
 * first part, and nothing is stored before they are executed: a block must be recorded before it
 * faults. The call of the first part is to be the first of all, so that no other returns to the
 * first bytes of the code (edge_call_bytes of struct cpu). */
static uint8_t choose_two(const struct litifut_edge_place *place, const struct litifut_edge *edge,
			  uint32_t dead, uint32_t named)
{
	const uint32_t slot = place->block->block.branch + 4;
	uint8_t code;

	for (uint32_t at = slot - 4 - edge->before; at <= slot; at += 4) {
		if (at == slot - 4)
			continue;
		if (litifut_mips_may_fault(litifut_mips_word_at(place, at)))
			return 0;
		named |= litifut_mips_named_by(litifut_mips_word_at(place, at));
	}
	code = choose(place, dead, named);
	return code & CODE_STORED ? 0 : code;
}

static void choose_branch(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t word = litifut_mips_word_at(place, block->branch);
	const uint32_t slot = litifut_mips_word_at(place, block->branch + 4);
	const uint32_t dead = litifut_mips_dead_at(place, block->end) &
			      litifut_mips_dead_at(place, block->target);
	uint32_t named = litifut_mips_named_by(word);

	if (edge->enters)
		edge->free[LITIFUT_WAY_ENTERED] = choose_two(place, edge, dead, named);
	if (!litifut_mips_comes_first(place->block, word, slot)) {
		named |= litifut_mips_named_by(slot);
		/* a handler that looks for the caller is to find the stack as it is there */
		if (litifut_mips_may_fault(slot))
			named |= ONE(SP);
	}
	edge->free[LITIFUT_WAY_TAKEN] = choose(place, dead, named);
	if (edge->enters && edge->free[LITIFUT_WAY_TAKEN] & CODE_HEAD)
		edge->free[LITIFUT_WAY_TAKEN] = 0;
}

void litifut_mips_find_free_for_bits(const struct litifut_edge_place *place,
				     struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;

	if (!edge->entry && block->ends == LITIFUT_ENDS_BRANCH)
		choose_branch(place, edge);
	/* with `after` the second instruction may be executed before the code */
	else if (edge->entry && !edge->end)
		edge->free[LITIFUT_WAY_ENTERED] =
			choose(place, litifut_mips_dead_at(place, block->start),
			       edge->after ? litifut_mips_named_by(
						     litifut_mips_word_at(place, block->start + 4))
					   : 0);
}

static uint32_t point_below(unsigned reg, unsigned form)
{
	return 0x27a00000 | reg << 16 | form; /* addiu X, sp, form */
}

static void put_words(struct litifut_mips_emitter *emitter, const uint32_t *words, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		litifut_mips_put(emitter, words[i]);
}

/* Bytes that the code has pushed. */
static unsigned pushed(unsigned code)
{
	return code & CODE_STORED ? 8 : 0;
}

static void put_call_of_head(struct litifut_mips_emitter *emitter, unsigned code, bool two)
{
	const unsigned reg = code & CODE_REGISTER;
	const unsigned number = reg == LITIFUT_MIPS_T9 ? 7 : reg - 2;

	litifut_mips_put_link(emitter, emitter->code->bits[0] + LITIFUT_BITS_HEADS_MIPS +
					       number * LITIFUT_BITS_TWO_HEADS_BYTES_MIPS +
					       (two ? LITIFUT_BITS_HEAD_BYTES_MIPS : 0));
	litifut_mips_put(emitter, LITIFUT_MIPS_NOP);
}

void litifut_mips_put_first(struct litifut_mips_emitter *emitter, unsigned code, bool two)
{
	const unsigned reg = code & CODE_REGISTER;
	const unsigned form = code & CODE_STORED ? LITIFUT_BITS_STORED_MIPS : 0;
	unsigned slow;

	if (code & CODE_HEAD) {
		put_call_of_head(emitter, code, two);
		return;
	}
	if (form) {
		litifut_mips_put(emitter, 0x27bdfff8); /* addiu sp, sp, -8 */
		litifut_mips_note(emitter, 8, 0);
		litifut_mips_put(emitter, 0xafa00000 | reg << 16); /* sw X, 0(sp) */
	}
	put_words(emitter,
		  (const uint32_t[]){
			  0x7c00e83b | reg << 16,                  /* rdhwr X, $29 */
			  0x8c008ff8 | reg << 21 | reg << 16,      /* lw X, vector(X) */
			  0x8c000004 | reg << 21 | reg << 16,      /* lw X, cursor(X) */
			  0x54000000 | reg << 21 | (form ? 6 : 5), /* bnezl X, go */
			  0x8c01fffc | reg << 21,                  /* lw at, -4(X) */
		  },
		  5);
	slow = emitter->count;
	litifut_mips_put(emitter, 0x27bdfff0); /* addiu sp, sp, -16 */
	litifut_mips_put(emitter, 0xafbf000c); /* sw ra, 12(sp) */
	if (form)
		litifut_mips_put(emitter, 0xafbf0014); /* sw ra, 20(sp) */
	litifut_mips_note(emitter, 16 + pushed(code), 1u << RA);
	litifut_mips_put_link(emitter, emitter->code->bits[0] + LITIFUT_BITS_ROOM_MIPS);
	litifut_mips_put(emitter, point_below(reg, form));
	litifut_mips_note(emitter, pushed(code), 0);
	for (unsigned i = 0; i < (two ? 2u : 1u); i++) {
		litifut_mips_put(emitter, 0x00010840); /* sll at, at, 1 */
		/* bltz at, slow */
		litifut_mips_put(emitter, 0x04200000 | ((slow - emitter->count - 1) & 0xffff));
	}
	litifut_mips_put(emitter, two ? 0x34210002 : LITIFUT_MIPS_NOP);
}

/* Stores $at, and goes on at the target, or behind it. */
static void put_last(struct litifut_mips_emitter *emitter, unsigned code, uint32_t target)
{
	const struct cpu_context *context = &emitter->place->context->cpu;
	const unsigned reg = code & CODE_REGISTER;
	const uint32_t store = STORE_AT(reg);
	const uint32_t pop = 0x27bd0000 | pushed(code); /* addiu sp, sp, n */
	const unsigned end = emitter->count + (code & CODE_STORED ? 7 : code & CODE_LINK ? 3 : 5);
	const unsigned before = code & CODE_STORED ? 2 : 0;
	uint32_t jump =
		litifut_mips_jump(context, false, litifut_mips_here(emitter) + 4 * before, target);

	if (jump || !target || !context->position_independent) {
		if (code & CODE_STORED) {
			litifut_mips_put(emitter, store);
			litifut_mips_put(emitter, 0x8fa00000 | reg << 16); /* lw X, 0(sp) */
		}
		if (target) {
			emitter->failed |= !jump;
			litifut_mips_put(emitter, jump);
		}
		litifut_mips_put(emitter, pushed(code) ? pop : store);
		while (target && context->position_independent && emitter->count < end)
			litifut_mips_put(emitter, LITIFUT_MIPS_NOP);
		litifut_mips_note(emitter, 0, 0);
		return;
	}
	if (code & CODE_STORED) {
		litifut_mips_put(emitter, store);
		litifut_mips_put(emitter, 0x8fa00000 | reg << 16);
	}
	if (!(code & CODE_LINK)) {
		/* addiu sp, sp, -16, or -8; sw ra, 12(sp) */
		litifut_mips_put(emitter, 0x27bd0000 | ((pushed(code) - 16) & 0xffff));
		litifut_mips_put(emitter, 0xafbf000c);
		litifut_mips_note(emitter, 16, 1u << RA);
	}
	litifut_mips_put_link(emitter,
			      emitter->code->bits[0] + (code & CODE_LINK ? LITIFUT_BITS_BACK_MIPS
									 : LITIFUT_BITS_ON_MIPS));
	litifut_mips_put(emitter, code & CODE_STORED ? LITIFUT_MIPS_NOP : store);
	litifut_mips_put(emitter, target - litifut_mips_here(emitter));
	litifut_mips_note(emitter, 0, 0);
}

void litifut_mips_put_entered(struct litifut_mips_emitter *emitter, unsigned code)
{
	litifut_mips_put_first(emitter, code, false);
	if (!(code & CODE_HEAD))
		emitter->count--; /* in the delay slot */
	litifut_mips_put(emitter, ORI_AT_1);
	put_last(emitter, code, 0);
}

/* The same branch with a delay slot that is executed only where it is taken. */
static uint32_t likely(uint32_t word)
{
	switch (word >> 26) {
	case 0x01: /* bltz, bgez */
		return word | 0x20000;
	case 0x11: /* bc1f, bc1t */
	case 0x12:
		return word | 0x20000;
	default:
		return word | 0x40000000;
	}
}

void litifut_mips_put_branch(struct litifut_mips_emitter *emitter, unsigned code, uint32_t word,
			     uint32_t slot, uint32_t target)
{
	const struct litifut_block *block = &emitter->place->block->block;
	unsigned test;

	if (slot == LITIFUT_MIPS_NOP)
		word = likely(word);
	test = emitter->count;
	litifut_mips_put(emitter, 0);
	litifut_mips_put(emitter, slot == LITIFUT_MIPS_NOP ? ORI_AT_1 : slot);
	put_last(emitter, code, block->end);
	if (pushed(code))
		litifut_mips_note(emitter, pushed(code), 0);
	emitter->words[test] = (word & 0xffff0000) | (emitter->count - test - 1);
	if (slot != LITIFUT_MIPS_NOP)
		litifut_mips_put(emitter, ORI_AT_1);
	put_last(emitter, code, target);
}
