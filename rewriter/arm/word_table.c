/* Where do the words lead that stand between code? A switch in position-independent code adds an
 * entry of a table of words to the address of the table, and jumps there. GCC's T32 code is
 *
 *		adr	rA, table
 *		ldr	rE, [rA, rC, lsl #2]
 *		add	rA, rE
 *		bx	rA
 *		nop			to a multiple of 4
 *	table:	.word	case0 - table + 1, ...
 *
 * in one piece, which says where the table begins; it ends at the first word that does not lead to
 * T32 code of the function. Clang's A32 code is
 *
 *		add	rA, pc, #table - . - 8
 *		ldr	rE, [rA, rC, lsl #2]	with others between them
 *		add	pc, rA, rE
 *	table:	.word	case0 - table, ...
 *
 * In all other code the start is not marked (a literal pool may stand
 * before it), so each word of the data is tried as a start; the entries lead into the function that
 * the table belongs to. Distances in a literal pool may do so as well, but need not be respected
 * where nothing jumps by them.
 *
 * Encodings: DDI 0406C A6 and A8.8. */
#include "rewriter/arm/word_table.h"

#include "common/bytes.h"

/* Of 65,536 cases. */
#define WORD_TABLE_BYTES_MAX (256u << 10)

static uint32_t word_at(const struct litifut_section *section, uint32_t address)
{
	return litifut_get32(false, section->bytes + (address - section->address));
}

/* Of clang's code before a table, between its first and its last instruction at most. */
#define CLANG_INSTRUCTIONS 8

/* Is the A32 code before this address clang's switch by a table that begins here? */
static bool begins_plain_table(const struct litifut_section *section,
			       const struct litifut_symbol *function, uint32_t table)
{
	uint32_t at = table - 4;
	uint32_t jump, base, entry;
	bool is_read = false;

	if (function->thumb || table & 3 || table - function->address < 12 ||
	    table - section->address < 12 || table - section->address > section->size)
		return false;
	jump = word_at(section, at);
	base = jump >> 16 & 15;
	entry = jump & 15;
	if ((jump & 0xfff0fff0) != 0xe080f000 || base == 15)
		return false;
	for (unsigned left = CLANG_INSTRUCTIONS; left && at - function->address >= 4; left--) {
		const uint32_t word = word_at(section, at -= 4);

		if (!is_read) /* ldr rE, [rA, rC, lsl #2] */
			is_read = (word & 0xfffffff0) == (0xe7900100 | base << 16 | entry << 12);
		else if ((word & 0xffffff00) == (0xe28f0000 | base << 12))
			return at + 8 + (word & 0xff) == table;
	}
	return false;
}

/* Is there in the function what looks like an A32 jump that a table could serve? `addls pc, pc, rN,
 * lsl #2` has branches. */
static bool has_plain_jump(const struct litifut_section *section,
			   const struct litifut_symbol *function)
{
	const uint32_t from = function->address - section->address;

	for (uint32_t at = from; at + 4 <= section->size && at - from < function->size; at += 4) {
		const uint32_t word = litifut_get32(false, section->bytes + at);
		const uint32_t address = section->address + at;

		if ((word & 0x0ffffff0) == 0x012fff10 || (word & 0x0ffffff0) == 0x01a0f000) {
			if ((word & 15) != 14) /* bx, mov pc */
				return true;
		} else if ((word & 0x0c10f000) == 0x0000f000 && (word & 0x01800000) != 0x01000000 &&
			   (word & 0x02000090) != 0x90 && (word & 0x0ffffff0) != 0x008ff100 &&
			   !begins_plain_table(section, function, address + 4)) {
			return true;
		}
	}
	return false;
}

/* The addresses `first`, `first` + 4 and so on, `count` of them, that lie in the function. */
static void add_bases(const struct litifut_symbol *function, uint32_t first, uint32_t count,
		      struct litifut_targets *targets)
{
	for (; count && first - function->address >= function->size; first += 4)
		count--;
	if (count > (function->size - (first - function->address) + 3) / 4)
		count = (function->size - (first - function->address) + 3) / 4;
	litifut_targets_add_words(targets, first, count);
}

/* Of GCC's code before a table, at most. */
#define GCC_BYTES 14

static uint16_t half_at(const struct litifut_section *section, uint32_t address)
{
	return litifut_get16(false, section->bytes + (address - section->address));
}

bool litifut_arm_begins_table(const struct litifut_section *section,
			      const struct litifut_symbol *function, uint32_t table)
{
	uint32_t at = table;
	unsigned base, entry;
	uint16_t half, second;

	if (!function->thumb || table - function->address < GCC_BYTES ||
	    table - section->address < GCC_BYTES || table - section->address > section->size)
		return false;
	if (half_at(section, at - 2) == 0xbf00)
		at -= 2;
	half = half_at(section, at -= 2); /* bx rA */
	if ((half & 0xff87) != 0x4700)
		return false;
	base = half >> 3 & 0xf;
	half = half_at(section, at -= 2); /* add rA, rE */
	if ((half & 0xff00) != 0x4400 || ((half >> 4 & 8) | (half & 7)) != base)
		return false;
	entry = half >> 3 & 0xf;
	second = half_at(section, at -= 2); /* ldr.w rE, [rA, rC, lsl #2] */
	half = half_at(section, at -= 2);
	if (half != (0xf850 | base) || (second & 0xfff0) != (entry << 12 | 0x20))
		return false;
	half = half_at(section, at - 2); /* adr rA, table */
	if (base < 8 && (half & 0xff00) == (0xa000 | base << 8))
		return ((at + 2) & ~3u) + 4 * (half & 0xff) == table;
	return half_at(section, at - 4) == 0xf20f && (half & 0xff00) == base << 8 &&
	       (at & ~3u) + (half & 0xff) == table;
}

/* Is there in the function what looks like a T32 jump that a table could serve: by adding
 * to the pc, or through a register other than lr? GCC's switches have their tables at once. */
static bool has_computed_jump(const struct litifut_section *section,
			      const struct litifut_symbol *function)
{
	const uint32_t from = function->address - section->address;

	for (uint32_t at = from; at < section->size && at - from < function->size; at += 2) {
		const uint16_t half = litifut_get16(false, section->bytes + at);
		const uint32_t behind = (section->address + at + 2 + 3) & ~3u;

		if ((half & 0xff87) == 0x4487 || (half & 0xff87) == 0x4687 ||
		    ((half & 0xff87) == 0x4700 && half != 0x4770 &&
		     !litifut_arm_begins_table(section, function, behind)))
			return true;
	}
	return false;
}

/* Adds the cases of a table that begins at `table`; returns where it ends. */
static uint32_t add_cases(const struct litifut_section *section,
			  const struct litifut_symbol *function, uint32_t table, uint32_t end,
			  struct litifut_targets *targets)
{
	uint32_t at = table;

	for (; at + 4 <= end; at += 4) {
		const uint32_t leads =
			table + litifut_get32(false, section->bytes + (at - section->address));

		if ((function->thumb ? !(leads & 1) : leads & 3) ||
		    leads - function->address > function->size + 1)
			break;
		/* what can't happen leads to the end of the function */
		if ((leads & ~1u) - function->address < function->size)
			litifut_targets_add(targets, leads & ~1u);
	}
	return at;
}

void litifut_arm_add_word_table(const struct litifut_image *image,
				const struct litifut_section *section,
				const struct litifut_code_range *data,
				struct litifut_targets *targets)
{
	const struct litifut_symbol *function =
		litifut_image_function_at(image, data->start ? data->start - 1 : 0);
	uint32_t start = (data->start + 3) & ~3u;
	uint32_t limit = 64;
	uint32_t end = data->end;
	bool jumps; /* looked up when a word asks for it: few do */
	bool is_known = false;

	if (!function)
		return;
	/* No table is that long; room for trampolines, megabytes of zeros, is data too. */
	if (end - data->start > WORD_TABLE_BYTES_MAX)
		end = data->start + WORD_TABLE_BYTES_MAX;
	if (start + 4 <= end && (litifut_arm_begins_table(section, function, start) ||
				 begins_plain_table(section, function, start)))
		start = add_cases(section, function, start, end, targets);
	for (uint32_t at = start; at + 4 <= end; at += 4) {
		uint32_t entry = litifut_get32(false, section->bytes + (at - section->address));

		/* From none of the starts into the function, as most words: */
		if (start + 4 * limit + entry - function->address >= function->size + 4ull * limit)
			continue;
		if (!is_known)
			jumps = function->thumb ? has_computed_jump(section, function)
						: has_plain_jump(section, function);
		is_known = true;
		if (!jumps)
			return;
		add_bases(function, start + entry,
			  at - start < 4 * limit ? (at - start) / 4 + 1 : limit + 1, targets);
	}
}
