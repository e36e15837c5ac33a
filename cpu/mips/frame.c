/* What a MIPS instruction does to the frame of its function. Manual: MD00086. */
#include "cpu/frame.h"
#include "cpu/mips/mips.h"

#include "common/bytes.h"

enum { SP = 29, FP = 30 };

unsigned litifut_mips_track(const struct cpu_context *context, const uint8_t *code,
			    size_t available, enum litifut_code_state state,
			    struct cpu_frame *frame)
{
	if (available < 4 || state != LITIFUT_CODE_PLAIN)
		return 0;
	const uint32_t word = litifut_get32(context->big_endian, code);
	const unsigned operation = word >> 26;
	const unsigned from = word >> 21 & 31, to = word >> 16 & 31, result = word >> 11 & 31;
	const int16_t immediate = (int16_t)(word & 0xffff);
	/* addu or or, of a register and $zero */
	const bool moves =
		operation == 0 && to == 0 && ((word & 0x7ff) == 0x21 || (word & 0x7ff) == 0x25);

	if (operation == 0x09 && from == SP && to == SP) { /* addiu */
		frame->depth -= (uint32_t)(int32_t)immediate;
		if (frame->depth < frame->saved)
			frame->saved = 0;
		if (frame->depth > INT32_MAX)
			frame->known = false;
	} else if (operation == 0x2b && from == SP && to == LITIFUT_MIPS_RA) { /* sw */
		if (!frame->saved && immediate >= 0 && (uint32_t)immediate < frame->depth)
			frame->saved = frame->depth - (uint32_t)immediate;
	} else if (moves && from == SP && result == FP) {
		frame->kept = frame->depth;
	} else if (moves && from == FP && result == SP) {
		frame->depth = frame->kept;
		if (!frame->kept)
			frame->known = false;
	} else if (litifut_mips_writes(word, SP)) {
		frame->known = false;
	} else if (litifut_mips_writes(word, FP)) {
		frame->kept = 0;
	}
	return 4;
}
