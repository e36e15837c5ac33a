/* LITIFUT_MODE=coverage: the code of an edge that sets its flag. Where all registers
 * hold something it keeps all but $at:
 *
 *	lui   at, %hi(flag)	addiu sp, sp, -8		addiu sp, sp, -8
 *	addiu at, at, %lo(flag)	sw    ra, 4(sp)			sw    ra, 4(sp)
 *	j     target		bal   here			lui   at, %hi(flag - here)
 *	sb    at, 0(at)		lui   at, %hi(flag - here)	bal   mark
 *			here:	addu  at, at, ra		addiu at, at, %lo(flag - here)
 *				sb    ra, %lo(flag - here)(at)	.word target - .
 *				lw    ra, 4(sp)
 *				b     target
 *				addiu sp, sp, 8
 *
 * The first is for code at a fixed address, the second for a target in the reach of a branch, the
 * third for all others. What is stored never ends with a zero byte. All share:
 *
 *	mark:	sw    ra, 0(sp)
 *		bal   here
 *		nop
 *	here:	addu  at, at, ra
 *		sb    ra, 0(at)		`mark` is at a multiple of 16
 *		lw    ra, 0(sp)
 *		lw    at, 0(ra)
 *		addu  at, at, ra
 *		lw    ra, 4(sp)
 *		jr    at
 *		addiu sp, sp, 8
 *
 * Where ra holds nothing (dead.h), as in most functions that have stored it, or a register X does
 * that keeps it, nothing is stored:
 *
 *	bal   here		bal   here			move  X, ra
 *	lui   at, ...		lui   at, ...			bal   here
 * here: addu at, at, ra	here: addu at, at, ra		lui   at, ...
 *	b     target		bal   back		here:	addu  at, at, ra
 *	sb    ra, ...(at)	sb    ra, ...(at)		sb    ra, ...(at)
 *				.word target - .		b     target
 *								move  ra, X
 *	back:	lw    at, 0(ra)
 *		addu  at, at, ra
 *		jr    at
 *		nop
 *
 * The second is for targets out of reach, and `back` stands behind `mark`. With X, these four
 * instructions, which make the address of the target from ra, stand there in place of `b`:
 *
 *	lui   at, %hi(target - here)
 *	addiu at, at, %lo(target - here)
 *	addu  at, at, ra
 *	jr    at */
#include "rewriter/mips/edge_flags.h"

#include "rewriter/mips/edge_forms.h"

enum { AT = 1, RA = LITIFUT_MIPS_RA };

#define HERE 12 /* offsets in the code that all share */
#define BACK 44
#define BAL_HERE 0x04110001u
#define ADDU_AT_RA 0x003f0821u /* addu at, at, ra */
#define LUI_AT 0x3c010000u

/* Of what an edge has in `free`: the number of X, 0: there is none. */
#define CODE_REGISTER 31u
#define CODE_LINK 32u /* ra holds nothing */

/* In which order one is looked for. */
static const uint8_t order[] = {3, 2, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 4, 5, 6, 7};

static uint8_t choose(uint32_t free)
{
	if (free & 1u << RA)
		return CODE_LINK;
	for (unsigned i = 0; i < sizeof(order); i++)
		if (free & 1u << order[i])
			return order[i];
	return 0;
}

/* What moves with the start of a block is executed before its flag is set, or behind. */
static uint32_t named_by_moved(const struct litifut_edge_place *place,
			       const struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	uint32_t end = edge->address + edge->bytes + LITIFUT_EDGE_STEP_BYTES;
	uint32_t named = 0;

	if (end > block->end)
		end = block->end;
	for (uint32_t at = edge->address; at < end; at += 4)
		named |= litifut_mips_named_by(litifut_mips_word_at(place, at));
	return named;
}

void litifut_mips_find_free_for_flags(const struct litifut_edge_place *place,
				      struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;

	if (!place->context->cpu.position_independent)
		return;
	if (edge->entry) {
		edge->free[LITIFUT_WAY_ENTERED] = choose(litifut_mips_dead_at(place, block->start) &
							 ~named_by_moved(place, edge));
	} else {
		edge->free[LITIFUT_WAY_PASSED] = choose(litifut_mips_dead_at(place, block->end));
		edge->free[LITIFUT_WAY_TAKEN] = choose(litifut_mips_dead_at(place, block->target));
	}
}

/* Where absolute addresses are known. */
static bool put_fixed(struct litifut_mips_emitter *emitter, uint32_t flag, uint32_t target)
{
	const struct cpu_context *context = &emitter->place->context->cpu;
	const uint32_t jump =
		litifut_mips_jump(context, false, litifut_mips_here(emitter) + 8, target);

	if (context->position_independent || (target && !jump))
		return false;
	litifut_mips_put(emitter, LUI_AT | litifut_mips_high(flag));
	litifut_mips_put(emitter, 0x24210000 | (flag & 0xffff)); /* addiu at, at, %lo(flag) */
	if (target)
		litifut_mips_put(emitter, jump);
	litifut_mips_put(emitter, 0xa0210000); /* sb at, 0(at) */
	return true;
}

/* Makes the address of the flag, but for its low half. Returns the word that stores there, which is
 * not written. */
static uint32_t put_address(struct litifut_mips_emitter *emitter, uint32_t flag)
{
	const uint32_t distance = flag - (litifut_mips_here(emitter) + 8);

	litifut_mips_put(emitter, BAL_HERE);
	litifut_mips_put(emitter, LUI_AT | litifut_mips_high(distance));
	litifut_mips_put(emitter, ADDU_AT_RA);
	return 0xa03f0000 | (distance & 0xffff); /* sb ra, %lo(distance)(at) */
}

/* What ra holds is stored, and must not end with a zero byte: it leads so many bytes behind what
 * is written now. */
static void shift(struct litifut_mips_emitter *emitter, uint32_t leads)
{
	if (!((litifut_mips_here(emitter) + leads) & 0xff))
		litifut_mips_put(emitter, LITIFUT_MIPS_NOP);
}

/* Does a branch reach the target from so many bytes behind what is written now, with a shift or
 * without? */
static bool reaches(const struct litifut_mips_emitter *emitter, uint32_t bytes, uint32_t target)
{
	const uint32_t branch = litifut_mips_here(emitter) + bytes;

	return litifut_mips_branch_reaches(branch, target) &&
	       litifut_mips_branch_reaches(branch + 4, target);
}

/* With ra. A target of 0: control goes on behind. */
static void put_with_link(struct litifut_mips_emitter *emitter, uint32_t flag, uint32_t target)
{
	const bool far = target && !reaches(emitter, 12, target);
	uint32_t store;

	shift(emitter, far ? 20 : 8);
	store = put_address(emitter, flag);
	if (far)
		litifut_mips_put_link(emitter, emitter->code->mark + BACK);
	else if (target)
		litifut_mips_put(emitter, litifut_mips_branch(0x10000000,
							      litifut_mips_here(emitter), target));
	litifut_mips_put(emitter, store);
	if (far)
		litifut_mips_put(emitter, target - litifut_mips_here(emitter));
}

/* With a register that keeps ra. */
static void put_with_keeper(struct litifut_mips_emitter *emitter, unsigned reg, uint32_t flag,
			    uint32_t target)
{
	uint32_t here, branch;

	shift(emitter, 12);
	litifut_mips_put(emitter, 0x03e00025 | reg << 11); /* move X, ra */
	here = litifut_mips_here(emitter) + 8;
	litifut_mips_put(emitter, put_address(emitter, flag));
	branch = litifut_mips_here(emitter);
	if (target && litifut_mips_branch_reaches(branch, target)) {
		litifut_mips_put(emitter, litifut_mips_branch(0x10000000, branch, target));
	} else if (target) {
		litifut_mips_put(emitter, LUI_AT | litifut_mips_high(target - here));
		litifut_mips_put(emitter, 0x24210000 | ((target - here) & 0xffff));
		litifut_mips_put(emitter, ADDU_AT_RA);
		litifut_mips_put(emitter, LITIFUT_MIPS_JR_AT);
	}
	litifut_mips_put(emitter, 0x0000f825 | reg << 21); /* move ra, X */
}

/* For a target that a branch reaches, or 0. */
static bool put_near(struct litifut_mips_emitter *emitter, uint32_t flag, uint32_t target)
{
	uint32_t store;

	if (target && !reaches(emitter, 28, target))
		return false;
	shift(emitter, 16);
	litifut_mips_put(emitter, 0x27bdfff8); /* addiu sp, sp, -8 */
	litifut_mips_note(emitter, 8, 0);
	litifut_mips_put(emitter, 0xafbf0004); /* sw ra, 4(sp) */
	store = put_address(emitter, flag);
	litifut_mips_put(emitter, store);
	litifut_mips_put(emitter, 0x8fbf0004); /* lw ra, 4(sp) */
	if (target)
		litifut_mips_put(emitter, litifut_mips_branch(0x10000000,
							      litifut_mips_here(emitter), target));
	litifut_mips_put(emitter, 0x27bd0008); /* addiu sp, sp, 8 */
	litifut_mips_note(emitter, 0, 0);
	return true;
}

void litifut_mips_put_flag(struct litifut_mips_emitter *emitter, unsigned code, uint32_t flag,
			   uint32_t target)
{
	const uint32_t address = emitter->code->flags + flag;
	const uint32_t distance = address - (emitter->code->mark + HERE);

	if (put_fixed(emitter, address, target))
		return;
	if (code & CODE_LINK) {
		put_with_link(emitter, address, target);
		return;
	}
	if (code) {
		put_with_keeper(emitter, code & CODE_REGISTER, address, target);
		return;
	}
	if (put_near(emitter, address, target))
		return;
	litifut_mips_put(emitter, 0x27bdfff8); /* addiu sp, sp, -8 */
	litifut_mips_note(emitter, 8, 0);
	litifut_mips_put(emitter, 0xafbf0004); /* sw ra, 4(sp) */
	litifut_mips_put(emitter, LUI_AT | litifut_mips_high(distance));
	litifut_mips_put_link(emitter, emitter->code->mark);
	litifut_mips_put(emitter, 0x24210000 | (distance & 0xffff));
	litifut_mips_put(emitter, target - litifut_mips_here(emitter));
	litifut_mips_note(emitter, 0, 0);
}

bool litifut_mips_go_with_link(struct litifut_mips_emitter *emitter, uint32_t target, uint32_t last)
{
	const struct litifut_edge *edge = emitter->edge;

	if (!edge->entry || !(edge->free[LITIFUT_WAY_ENTERED] & CODE_LINK))
		return false;
	litifut_mips_put_link(emitter, emitter->code->mark + BACK);
	litifut_mips_put(emitter, last);
	litifut_mips_put(emitter, target - litifut_mips_here(emitter));
	return true;
}

void litifut_mips_write_mark(const struct litifut_arch_context *context, uint32_t address,
			     uint8_t *code)
{
	static const uint32_t words[LITIFUT_MIPS_MARK_BYTES / 4] = {
		0xafbf0000,                                         /* sw ra, 0(sp) */
		BAL_HERE,           LITIFUT_MIPS_NOP,   ADDU_AT_RA, /* here: */
		0xa03f0000,                                         /* sb ra, 0(at) */
		0x8fbf0000,                                         /* lw ra, 0(sp) */
		0x8fe10000,                                         /* lw at, 0(ra) */
		ADDU_AT_RA,         0x8fbf0004,                     /* lw ra, 4(sp) */
		LITIFUT_MIPS_JR_AT, 0x27bd0008,                     /* addiu sp, sp, 8 */
		0x8fe10000,                                         /* back: lw at, 0(ra) */
		ADDU_AT_RA,         LITIFUT_MIPS_JR_AT, LITIFUT_MIPS_NOP,
	};

	(void)address;
	for (size_t i = 0; i < LITIFUT_MIPS_MARK_BYTES / 4; i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
}
