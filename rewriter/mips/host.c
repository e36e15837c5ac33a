/* Islands inside position-independent functions.
 *
 * A function that uses its global pointer starts by computing it from its own
 * address, which callers leave in $t9:
 *
 *   lui   gp, %hi(_gp_disp)
 *   addiu gp, gp, %lo(_gp_disp)
 *   addu  gp, gp, t9
 *
 * That proves that $t9 is the function's address here, and $at is free at the
 * start of any function. So its first instructions can go elsewhere, at any
 * distance: the start becomes a jump relative to $t9, and the trampoline jumps
 * back relative to the global pointer or, when that has been changed, $t9.
 *
 * The instructions that move must not know where they are (branches), not use
 * $at, and nothing may jump to between them. A function with a jump through a
 * register other than ra is not taken: the jump's targets are not known. */
#include "rewriter/mips/mips.h"

#include <string.h>

enum { AT = 1, WORDS_MAX = LITIFUT_MIPS_HOST_BYTES / 4, WAY = LITIFUT_MIPS_WAY_BYTES / 4 };

static uint32_t word_at(const struct litifut_arch_context *context, const uint8_t *code, unsigned i)
{
	return litifut_get32(context->big_endian, code + 4 * i);
}

static unsigned rs(uint32_t word)
{
	return word >> 21 & 31;
}

static unsigned rt(uint32_t word)
{
	return word >> 16 & 31;
}

static unsigned rd(uint32_t word)
{
	return word >> 11 & 31;
}

/* The three instructions above, with any register as gp. */
bool litifut_mips_computes_global_pointer(const uint32_t *words)
{
	unsigned pointer = rt(words[0]);

	return words[0] >> 21 == 0x0f << 5 && pointer != AT && pointer != LITIFUT_MIPS_T9 &&
	       words[1] >> 26 == 0x09 && rs(words[1]) == pointer && rt(words[1]) == pointer &&
	       (words[2] & 0xfc0007ff) == 0x21 && rd(words[2]) == pointer &&
	       ((rs(words[2]) == pointer && rt(words[2]) == LITIFUT_MIPS_T9) ||
		(rt(words[2]) == pointer && rs(words[2]) == LITIFUT_MIPS_T9));
}

static bool special_can_move(uint32_t word)
{
	unsigned function = word & 0x3f;

	/* shifts, movz and movn, mfhi to mtlo, mult to divu, addu to nor, slt(u) */
	return (function <= 0x07 && function != 0x01 && function != 0x05) || function == 0x0a ||
	       function == 0x0b || (function >= 0x10 && function <= 0x13) ||
	       (function >= 0x18 && function <= 0x1b) || (function >= 0x20 && function <= 0x27) ||
	       function == 0x2a || function == 0x2b;
}

/* A list of what is known to be movable: anything else is not. */
static bool can_move(uint32_t word)
{
	unsigned operation = word >> 26;

	if (rs(word) == AT || rt(word) == AT)
		return false;
	switch (operation) {
	case 0x00:
		return special_can_move(word) && rd(word) != AT;
	case 0x1c: /* SPECIAL2: mul, madd, clz */
	case 0x1f: /* SPECIAL3: ext, ins, seb, seh, rdhwr */
		return rd(word) != AT;
	case 0x11: /* COP1: moves and arithmetic, no branches */
		return rs(word) < 8 || rs(word) >= 16;
	case 0x31: /* lwc1, ldc1, swc1, sdc1 */
	case 0x35:
	case 0x39:
	case 0x3d:
		return true;
	default: /* arithmetic with an immediate, loads, stores */
		return (operation >= 0x08 && operation <= 0x0f) ||
		       (operation >= 0x20 && operation <= 0x26) ||
		       (operation >= 0x28 && operation <= 0x2b) || operation == 0x2e;
	}
}

static bool stays(const uint32_t *words, unsigned from, unsigned count, unsigned number)
{
	for (unsigned i = from; i < count; i++)
		if (litifut_mips_writes(words[i], number))
			return false;
	return true;
}

static bool has_unknown_jump(const struct litifut_arch_context *context, const uint8_t *code,
			     uint32_t size)
{
	for (unsigned i = 0; i < size / 4; i++) {
		uint32_t word = word_at(context, code, i);

		if ((word & 0xfc00003f) == 0x08 && rs(word) != LITIFUT_MIPS_RA)
			return true;
	}
	return false;
}

uint32_t litifut_mips_host_room(const struct litifut_arch_context *context,
				const struct litifut_section *section, uint32_t address,
				uint32_t size, const struct litifut_targets *targets)
{
	const uint8_t *code = section->bytes + (address - section->address);
	uint32_t words[WORDS_MAX];
	unsigned count = 0;

	if (size < 12 + 8 || address & 3)
		return 0;
	while (count < WORDS_MAX && 4 * (count + 1) + 8 <= size) {
		words[count] = word_at(context, code, count);
		if (!can_move(words[count]) ||
		    (count && litifut_targets_has(targets, address + 4 * count)))
			break;
		count++;
	}
	if (count < 3 || !litifut_mips_computes_global_pointer(words))
		return 0;
	while (!stays(words, 3, count, rt(words[0])) && !stays(words, 0, count, LITIFUT_MIPS_T9))
		count--;
	return has_unknown_jump(context, code, size) ? 0 : 4 * count;
}

/* A jump by `distance` from what `base` holds:
 *
 *   lui   at, %hi(distance)
 *   addiu at, at, %lo(distance)
 *   addu  at, at, base
 *   jr    at
 *   nop
 */
static void write_way(const struct litifut_arch_context *context, uint32_t distance, unsigned base,
		      uint8_t *code)
{
	const uint32_t words[WAY] = {
		0x3c010000 | litifut_mips_high(distance),
		0x24210000 | (distance & 0xffff),
		0x00200821 | base << 16,
		0x00200008,
		0x00000000,
	};

	for (unsigned i = 0; i < WAY; i++)
		litifut_put32(context->big_endian, code + 4 * i, words[i]);
}

void litifut_mips_write_host(const struct litifut_arch_context *context, size_t piece,
			     uint32_t address, uint32_t trampoline, const uint32_t *entries,
			     uint8_t *code, uint8_t *moved, uint32_t *island_entries)
{
	const uint32_t bytes = (uint32_t)litifut_arch_mips.host_pieces[piece].bytes;
	uint32_t words[WORDS_MAX] = {0};
	uint32_t back = bytes; /* from where $t9 points */
	unsigned base = LITIFUT_MIPS_T9;

	for (unsigned i = 0; i < bytes / 4; i++)
		words[i] = word_at(context, code, i);
	if (stays(words, 3, bytes / 4, rt(words[0]))) {
		base = rt(words[0]);
		back -= (words[0] << 16) + (uint32_t)(int16_t)(words[1] & 0xffff);
	}
	memcpy(moved, code, bytes);
	write_way(context, back, base, moved + bytes);
	write_way(context, trampoline - address, LITIFUT_MIPS_T9, code);
	litifut_mips_write_piece(context, piece, address + LITIFUT_MIPS_WAY_BYTES, entries,
				 code + LITIFUT_MIPS_WAY_BYTES, island_entries);
}
