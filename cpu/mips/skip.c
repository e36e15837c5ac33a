/* Passing over code that holds no call. */
#include "cpu/mips/mips.h"

#include "common/bytes.h"

uint32_t litifut_mips_skip(const struct cpu_context *context, const uint8_t *code,
			   uint32_t available, enum litifut_code_state state, uint64_t *before)
{
	uint32_t at = 0;

	if (state != LITIFUT_CODE_PLAIN)
		return 0;
	while (at + 4 <= available &&
	       !litifut_mips_may_jump(litifut_get32(context->big_endian, code + at)))
		at += 4;
	for (uint32_t passed = 0; passed < at && passed < 4 * LITIFUT_REMEMBERED; passed += 4)
		*before = *before << 8 | 4;
	return at;
}
