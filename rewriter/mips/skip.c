/* Passing over code that holds no call. */
#include "rewriter/mips/mips.h"

/* A bit for each: regimm, j to bgtz; coprocessors, beql to bgtzl; jalx. */
#define JUMPING_MAJORS (UINT64_C(0xfe) | UINT64_C(0xff) << 0x10 | UINT64_C(1) << 0x1d)

/* Can it be a jump or branch? By the major opcode, and where that is SPECIAL by
 * the function. */
static bool may_matter(uint32_t word)
{
	uint32_t major = word >> 26;
	uint32_t function = word & 0x3f;

	if (major == 0)
		return function == 0x08 || function == 0x09; /* jr, jalr */
	return JUMPING_MAJORS >> major & 1;
}

uint32_t litifut_mips_skip(const struct litifut_arch_context *context, const uint8_t *code,
			   uint32_t available, enum litifut_code_state state, uint8_t *before)
{
	uint32_t at = 0;

	if (state != LITIFUT_CODE_PLAIN)
		return 0;
	while (at + 4 <= available && !may_matter(litifut_get32(context->big_endian, code + at)))
		at += 4;
	for (unsigned i = LITIFUT_REMEMBERED; i-- > 0;)
		before[i] = i < at / 4 ? 4 : before[i - at / 4];
	return at;
}
