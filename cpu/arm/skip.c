/* Passing over code that holds no call: nine of ten instructions are distinguished from
 * the others by their first byte. */
#include "cpu/arm/arm.h"

#include "common/bytes.h"

/* What the upper byte of a first halfword says. The last two: it is of interest if
 * all of these bits are set in the upper byte of the second one. */
enum { NARROW = 0, WIDE, MOVE, STOP, TOP_BIT = 0x80, TO_PC = 0xf0 };

static const uint8_t first_bytes[256] = {
	[0x46] = MOVE,             /* mov between any two registers */
	[0x47] = STOP,             /* bx, blx */
	[0xb1] = STOP,             /* cbz, cbnz */
	[0xb3] = STOP,             /* */
	[0xb9] = STOP,             /* */
	[0xbb] = STOP,             /* */
	[0xd0 ... 0xdd] = STOP,    /* b<cond> */
	[0xe0 ... 0xe7] = STOP,    /* b */
	[0xe8 ... 0xe9] = TOP_BIT, /* ldm */
	[0xea ... 0xef] = WIDE,
	[0xf0 ... 0xf7] = TOP_BIT, /* branches */
	[0xf8] = TO_PC,            /* ldr */
	[0xf9 ... 0xff] = WIDE,
};

static uint32_t skip_thumb(const uint8_t *code, uint32_t available, uint64_t *before)
{
	uint64_t lengths = *before;
	uint32_t at = 0;

	while (at + 4 <= available) {
		uint8_t kind = first_bytes[code[at + 1]];

		if (kind == STOP || (kind >= TOP_BIT && (code[at + 3] & kind) == kind) ||
		    (kind == MOVE && (code[at] & 0x87) == 0x87)) /* to the pc */
			break;
		unsigned length = kind == NARROW || kind == MOVE ? 2 : 4;

		lengths = lengths << 8 | length;
		at += length;
	}
	*before = lengths;
	return at;
}

/* Can this A32 instruction write the pc or lr? */
static bool may_matter(uint32_t word)
{
	uint32_t operation = word >> 25 & 7;

	if (operation == 5) /* b, bl, blx */
		return true;
	if (word >> 28 == 0xf || operation > 5)
		return false;
	if (operation == 4) /* ldm, stm */
		return word & 0x8000;
	/* bx and blx have ones where others have the register that they write. */
	return (word >> 12 & 0xf) >= 14;
}

static uint32_t skip_plain(const uint8_t *code, uint32_t available, uint64_t *before)
{
	uint64_t lengths = *before;
	uint32_t at = 0;

	for (; at + 4 <= available && !may_matter(litifut_get32(false, code + at)); at += 4)
		lengths = lengths << 8 | 4;
	*before = lengths;
	return at;
}

uint32_t litifut_arm_skip(const struct cpu_context *context, const uint8_t *code,
			  uint32_t available, enum litifut_code_state state, uint64_t *before)
{
	(void)context;
	return state == LITIFUT_CODE_THUMB ? skip_thumb(code, available, before)
					   : skip_plain(code, available, before);
}
