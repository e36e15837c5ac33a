/* Islands inside position-independent functions.
 *
 * A function that uses its global pointer starts by computing it from its own
 * address, which callers leave in $t9. GCC does it at once; clang takes another
 * register than gp, and does other things before the last step:
 *
 *   lui   gp, %hi(_gp_disp)		lui   v0, %hi(_gp_disp)
 *   addiu gp, gp, %lo(_gp_disp)	addiu v0, v0, %lo(_gp_disp)
 *   addu  gp, gp, t9			...
 *					addu  s0, v0, t9
 *
 * That proves that $t9 is the function's address here, of clang's form only when
 * the sum is a global pointer of the image; and $at is free at the start of any
 * function. So its first instructions can go elsewhere, at any distance: the start
 * becomes a jump relative to $t9, and the trampoline jumps back relative to the
 * global pointer or, when that has been changed, $t9.
 *
 * The instructions that move must not know where they are (branches) and not leave
 * anything in $at, and nothing may jump to between them. A function with a jump
 * through a register other than ra is not taken: the jump's targets are not known. */
#include "rewriter/mips/mips.h"

#include <string.h>

enum { AT = 1, WORDS_MAX = LITIFUT_MIPS_HOST_BYTES / 4, WAY = LITIFUT_MIPS_WAY_BYTES / 4 };

/* So many instructions behind those that move are looked at. */
#define BEHIND 16u

static uint32_t word_at(const struct litifut_arch_context *context, const uint8_t *code, unsigned i)
{
	return litifut_get32(context->cpu.big_endian, code + 4 * i);
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

static bool special_can_move(uint32_t word)
{
	unsigned function = word & 0x3f;

	/* shifts, movz and movn, sync, mfhi to mtlo, mult to divu, addu to nor, slt(u), tge to teq,
	 * tne: a trap has its number in its own word, wherever it stands */
	return (function <= 0x07 && function != 0x01 && function != 0x05) || function == 0x0a ||
	       function == 0x0b || function == 0x0f || (function >= 0x10 && function <= 0x13) ||
	       (function >= 0x18 && function <= 0x1b) || (function >= 0x20 && function <= 0x27) ||
	       function == 0x2a || function == 0x2b || (function >= 0x30 && function <= 0x34) ||
	       function == 0x36;
}

bool litifut_mips_can_move(uint32_t word)
{
	unsigned operation = word >> 26;

	switch (operation) {
	case 0x00:
		return special_can_move(word);
	case 0x1c: /* SPECIAL2: mul, madd, clz */
	case 0x1f: /* SPECIAL3: ext, ins, seb, seh, rdhwr */
		return true;
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

/* movf and movt have a condition of the FPU in the field of a second source. */
static bool is_movci(uint32_t word)
{
	return word >> 26 == 0x00 && (word & 0x3f) == 0x01;
}

bool litifut_mips_may_read_at(uint32_t word)
{
	unsigned operation = word >> 26;
	bool shift = operation == 0 && (word & 0x3f) < 4 && !is_movci(word);
	/* what has a second source, and not a destination, in that field */
	bool second = (operation == 0x00 && !is_movci(word)) || operation == 0x1c ||
		      operation == 0x1f || (operation & 0x3e) == 0x04 || operation == 0x22 ||
		      operation == 0x26 || (operation >= 0x28 && operation <= 0x2e) ||
		      /* not branches of coprocessors, nor what the FPU calculates */
		      (operation >= 0x10 && operation <= 0x12 && rs(word) >= 4 && rs(word) != 8 &&
		       (operation != 0x11 || rs(word) < 8));

	if (litifut_mips_has_target(word))
		return false;
	return (!shift && rs(word) == AT && operation != 0x0f && operation != 0x11) ||
	       (second && rt(word) == AT);
}

bool litifut_mips_sets_at(uint32_t word)
{
	bool conditional = is_movci(word) ||
			   (word >> 26 == 0 && ((word & 0x3f) == 0x0a || (word & 0x3f) == 0x0b));

	/* of SPECIAL3 it is not said exactly */
	return !conditional && word >> 26 != 0x1f && litifut_mips_writes(word, AT);
}

bool litifut_mips_saves_ra_in_at(uint32_t word)
{
	return (word | 4) == 0x03e00825; /* move at, ra: addu or or */
}

static bool is_call(uint32_t word) /* or a return */
{
	return (word & 0xfc00003f) == 0x09 || word >> 26 == 0x03 || word >> 16 == 0x0411 ||
	       word == 0x03e00008;
}

/* Of `all` instructions of a function the first `count` are moved: is nothing that
 * they leave in $at used behind them? Nor do they use what was there before. */
static bool leaves_at(const uint32_t *words, unsigned count, unsigned all)
{
	bool written = false;

	for (unsigned i = 0; i < count; i++) {
		if (litifut_mips_may_read_at(words[i]) && !written)
			return false;
		if (litifut_mips_saves_ra_in_at(words[i]))
			return false;
		written |= litifut_mips_writes(words[i], AT);
	}
	for (unsigned i = count; i < all && written; i++) {
		if (is_call(words[i]))
			return i + 1 < all && !litifut_mips_may_read_at(words[i + 1]);
		if (litifut_mips_may_read_at(words[i]) || !litifut_mips_can_move(words[i]))
			return false;
		written = !litifut_mips_sets_at(words[i]);
	}
	return !written;
}

static bool is_pointer(const struct litifut_arch_context *context, uint32_t value)
{
	const struct litifut_mips_got *got = &litifut_mips_facts(context)->got;
	uint32_t table = value - 0x7ff0;

	return value && (value == litifut_mips_facts(context)->global_pointer ||
			 (got->address && table >= got->address && table < got->end));
}

bool litifut_mips_finds_pointer(const struct litifut_arch_context *context, uint32_t address,
				const uint32_t *words, unsigned count,
				struct litifut_mips_pointer *pointer)
{
	unsigned half = rt(words[0]);

	if (count < 3 || words[0] >> 21 != 0x0f << 5 || half == AT || half == LITIFUT_MIPS_T9 ||
	    words[1] >> 26 != 0x09 || rs(words[1]) != half || rt(words[1]) != half)
		return false;
	for (unsigned i = 2; i < count; i++) {
		bool sum = (words[i] & 0xfc0007ff) == 0x21 &&
			   ((rs(words[i]) == half && rt(words[i]) == LITIFUT_MIPS_T9) ||
			    (rt(words[i]) == half && rs(words[i]) == LITIFUT_MIPS_T9));

		if (sum) {
			*pointer = (struct litifut_mips_pointer){
				.number = rd(words[i]),
				.words = i + 1,
				.value = address + (words[0] << 16) +
					 (uint32_t)(int16_t)(words[1] & 0xffff)};
			return rd(words[i]) != AT && rd(words[i]) != LITIFUT_MIPS_T9 &&
			       ((i == 2 && rd(words[i]) == half) ||
				is_pointer(context, pointer->value));
		}
		if (!litifut_mips_can_move(words[i]) || litifut_mips_writes(words[i], half) ||
		    litifut_mips_writes(words[i], LITIFUT_MIPS_T9))
			return false;
	}
	return false;
}

bool litifut_mips_has_pointer(const struct litifut_image *image,
			      const struct litifut_arch_context *context, uint32_t address,
			      struct litifut_mips_pointer *pointer)
{
	const struct litifut_section *section = litifut_image_section_at(image, address, 12);
	uint32_t words[LITIFUT_MIPS_POINTER_WORDS];
	unsigned count = 0;

	if (!section || address & 3)
		return false;
	while (count < LITIFUT_MIPS_POINTER_WORDS &&
	       section->size - (address - section->address) >= 4 * (count + 1)) {
		words[count] =
			word_at(context, section->bytes + (address - section->address), count);
		count++;
	}
	return litifut_mips_finds_pointer(context, address, words, count, pointer);
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

bool litifut_mips_can_host(const struct litifut_arch_context *context,
			   const struct litifut_section *section, uint32_t address, uint32_t size,
			   size_t bytes, const struct litifut_targets *targets)
{
	const uint8_t *code = section->bytes + (address - section->address);
	uint32_t words[WORDS_MAX + BEHIND];
	struct litifut_mips_pointer pointer;
	unsigned count = (unsigned)bytes / 4;
	unsigned all = size / 4 < count + BEHIND ? size / 4 : count + BEHIND;

	if (address & 3 || size < bytes + 8)
		return false;
	for (unsigned i = 0; i < all; i++)
		words[i] = word_at(context, code, i);
	for (unsigned i = 0; i < count; i++)
		if (!litifut_mips_can_move(words[i]) ||
		    (i && litifut_targets_has(targets, address + 4 * i)))
			return false;
	if (!litifut_mips_finds_pointer(context, address, words, all, &pointer) ||
	    (!(pointer.words <= count && stays(words, pointer.words, count, pointer.number)) &&
	     !stays(words, 0, count, LITIFUT_MIPS_T9)))
		return false;
	return leaves_at(words, count, all) && !has_unknown_jump(context, code, size);
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
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
}

void litifut_mips_write_host(const struct litifut_arch_context *context, size_t piece,
			     uint32_t address, uint32_t trampoline, const uint32_t *entries,
			     uint8_t *code, uint8_t *moved, uint32_t *island_entries)
{
	const uint32_t bytes = (uint32_t)litifut_mips_borrow.host_pieces[piece].bytes;
	uint32_t words[WORDS_MAX] = {0};
	struct litifut_mips_pointer pointer;
	uint32_t back = bytes; /* from where $t9 points */
	unsigned base = LITIFUT_MIPS_T9;

	for (unsigned i = 0; i < bytes / 4; i++)
		words[i] = word_at(context, code, i);
	if (litifut_mips_finds_pointer(context, address, words, bytes / 4, &pointer) &&
	    stays(words, pointer.words, bytes / 4, pointer.number)) {
		base = pointer.number;
		back -= pointer.value - address;
	}
	memcpy(moved, code, bytes);
	write_way(context, back, base, moved + bytes);
	write_way(context, trampoline - address, LITIFUT_MIPS_T9, code);
	litifut_mips_write_piece(context, piece, address + LITIFUT_MIPS_WAY_BYTES, entries,
				 code + LITIFUT_MIPS_WAY_BYTES, island_entries);
}
