/* Does a function keep its return address other than on its stack? setjmp() and what programs have
 * of its kind return there once more; others look at it. T32 code only. Encodings: DDI 0403E A7.7,
 * DDI 0419E A6.7. */
#include "rewriter/arm/return_kept.h"

#include "rewriter/arm/displaced.h"

#define SP 13
#define LR 14
#define INSTRUCTIONS_MOST 32

/* Of an instruction of 2 bytes: does it store one of the registers `held`? */
static bool stores_narrow(unsigned half, unsigned held)
{
	if (half >> 11 == 0x0c || half >> 9 == 0x28) /* str rT, [rN, #n] or [rN, rM] */
		return held >> (half & 7) & 1;
	return half >> 11 == 0x18 && half & held & 0xff; /* stm rN! */
}

static bool stores_wide(unsigned first, unsigned second, unsigned held)
{
	if ((first & 15) == SP)
		return false;
	if ((first & 0xfff0) == 0xf8c0 || (first & 0xfff0) == 0xf840) /* str.w */
		return held >> (second >> 12) & 1;
	if ((first & 0xffd0) == 0xe880 || (first & 0xffd0) == 0xe900) /* stm, stmdb */
		return second & held;
	if ((first & 0xfe50) == 0xe840 && first & 0x120) /* strd */
		return (held >> (second >> 12) | held >> (second >> 8 & 15)) & 1;
	return false;
}

static bool ends_narrow(unsigned half)
{
	return half >> 12 == 0xd || half >> 11 == 0x1c || half >> 8 == 0x47 || half >> 8 == 0xbd ||
	       (half & 0xf500) == 0xb100; /* b, bx, blx, pop {pc}, cbz */
}

static bool ends_wide(unsigned first, unsigned second)
{
	/* b.w, bl, pop.w {pc} */
	return (first >> 11 == 0x1e || first == 0xe8bd) && second & 0x8000;
}

bool litifut_arm_keeps_return(const struct litifut_image *image, uint32_t function)
{
	unsigned held = 1u << LR;
	uint32_t at = function & ~1u;

	for (unsigned i = 0; i < INSTRUCTIONS_MOST; i++) {
		const struct litifut_section *section = litifut_image_section_at(image, at, 4);
		const uint8_t *code;
		unsigned half, second;

		if (!section || !section->bytes)
			return false;
		code = section->bytes + (at - section->address);
		half = litifut_get16(false, code);
		second = litifut_get16(false, code + 2);
		if (half >= 0xe800) {
			if (stores_wide(half, second, held))
				return true;
			if (ends_wide(half, second))
				return false;
			at += 4;
			continue;
		}
		if (stores_narrow(half, held))
			return true;
		if (ends_narrow(half))
			return false;
		if (half >> 8 == 0x46) { /* mov rD, rM */
			const unsigned to = (half & 7) | (half >> 4 & 8);

			held = (held & ~(1u << to)) | (held >> (half >> 3 & 15) & 1) << to;
		}
		at += 2;
	}
	return false;
}

bool litifut_arm_leaves_state(const struct litifut_image *image, uint32_t address)
{
	const uint32_t at = (address & ~1u) - 4;
	const struct litifut_section *section = litifut_image_section_at(image, at, 4);

	return section && section->bytes &&
	       litifut_get32(false, section->bytes + (at - section->address)) == LITIFUT_ARM_SG;
}
