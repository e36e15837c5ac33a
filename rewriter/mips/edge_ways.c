#include "rewriter/mips/edge_ways.h"

#include "rewriter/exit_point.h"
#include "rewriter/mips/edge_forms.h"

enum { SP = 29 };

bool litifut_mips_can_step(const struct litifut_edge_place *place, const struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;

	if (!edge->entry || edge->end || edge->bytes != 8 || edge->after ||
	    block->end - block->start < 16 ||
	    (block->ends != LITIFUT_ENDS_ON && block->branch < block->start + 16) ||
	    block->start + 16 > place->function_end)
		return false;
	for (uint32_t at = block->start + 8; at < block->start + 16; at += 4) {
		const uint32_t word = litifut_mips_word_at(place, at);

		if (litifut_mips_is_target(place, at) || !litifut_edge_is_free(place, at, 4) ||
		    litifut_mips_names_at(word) || !litifut_mips_can_move(word) ||
		    litifut_mips_writes(word, SP)) /* of which unwinders know nothing */
			return false;
	}
	return true;
}

uint32_t litifut_mips_write_edge_step(const struct litifut_arch_context *context,
				      const struct litifut_exit_ways *ways, uint32_t address,
				      uint32_t target, uint8_t *code)
{
	uint32_t words[2];
	uint32_t entry;

	if (!litifut_mips_lead(context, ways, address, target, words, &entry))
		return 0;
	for (unsigned i = 0; i < 2; i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
	return entry;
}

/* jalr into another register, and what has a barrier, stay. */
bool litifut_mips_lead_edge(const struct litifut_edge_place *place, uint8_t *code)
{
	const struct litifut_block *block = &place->block->block;
	const bool call = block->ends == LITIFUT_ENDS_CALL;
	const uint32_t word = litifut_mips_word_at(place, block->branch);
	const uint32_t jump =
		litifut_mips_jump(&place->context->cpu, call, block->branch, place->target);

	if (!jump || (!block->target && (word & 0xfc1fffff) != 0x0000f809))
		return false;
	litifut_put32(place->context->cpu.big_endian, code, jump);
	return true;
}

/* How many bytes of the start has the edge moved, of which the last instruction alone changes the
 * stack? Unwinders see none of the others. 0: more has moved than that. */
static uint32_t plainly_moved(const struct litifut_edge_place *place,
			      const struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t bytes = edge ? edge->bytes + (edge->step ? LITIFUT_EDGE_STEP_BYTES : 0u) : 0;
	const uint32_t last = block->start + bytes - 4;

	if (!bytes || edge->after || edge->shift || block->end <= last ||
	    (block->ends != LITIFUT_ENDS_ON && block->branch <= last))
		return 0;
	for (uint32_t at = block->start; at < last; at += 4)
		if (litifut_mips_writes(litifut_mips_word_at(place, at), SP))
			return 0;
	return bytes;
}

/* What has moved is done here, and the rest where it is:
 *
 *	first				addiu at, t9, 8
 *	b     start + 8			first
 *	second				jr    at
 *					second
 *
 * Where that can't be, the code of the edge is executed, behind its record:
 *
 *	lui   at, %hi(code - start)
 *	addiu at, at, %lo(code - start)
 *	addu  at, at, t9
 *	jr    at
 *	nop */
unsigned litifut_mips_write_way(const struct litifut_edge_place *place,
				const struct litifut_edge *edge, uint32_t address, bool by_register,
				uint8_t *code)
{
	const uint32_t start = place->block->block.start;
	const uint32_t moved = plainly_moved(place, edge);
	const uint32_t distance = place->block->behind - start;
	uint32_t words[LITIFUT_EDGE_WAY_BYTES / 4];
	unsigned count = 0;

	if (!by_register && !moved)
		return 0;
	if (moved) {
		if (by_register)
			words[count++] = 0x27210000 | moved; /* addiu at, t9, n */
		for (uint32_t at = start; at < start + moved - 4; at += 4)
			words[count++] = litifut_mips_word_at(place, at);
		words[count] = by_register ? LITIFUT_MIPS_JR_AT
					   : litifut_mips_jump(&place->context->cpu, false,
							       address + 4 * count, start + moved);
		if (!words[count++])
			return 0;
		words[count++] = litifut_mips_word_at(place, start + moved - 4);
	} else {
		words[count++] = 0x3c010000 | litifut_mips_high(distance);
		words[count++] = 0x24210000 | (distance & 0xffff);
		words[count++] = 0x00390821; /* addu at, at, t9 */
		words[count++] = LITIFUT_MIPS_JR_AT;
		words[count++] = LITIFUT_MIPS_NOP;
	}
	for (unsigned i = 0; i < count; i++)
		litifut_put32(place->context->cpu.big_endian, code + 4 * i, words[i]);
	return 4 * count;
}

/* The delay slot is executed before control comes there. */
bool litifut_mips_holds_start(const struct litifut_edge_place *place, uint32_t address)
{
	return place->block->callee == address &&
	       !litifut_mips_writes(litifut_mips_word_at(place, place->block->block.branch + 4),
				    LITIFUT_MIPS_T9);
}
