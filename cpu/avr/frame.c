/* What an AVR instruction does to the frame of its function: there is one stack pointer, which
 * calls push the return address to, and avr-gcc keeps the address of a frame in Y (r29:r28).
 * Manual: DS40002198. */
#include "cpu/avr/avr.h"
#include "cpu/frame.h"

#include "common/bytes.h"

#define SPL 0x3d
#define SPH 0x3e
#define RCALL_NEXT 0xd000 /* makes room for as much as a call pushes */

enum { YL = 28, YH = 29 };

unsigned litifut_avr_pushed(unsigned elf_flags)
{
	struct litifut_avr_facts facts = {0};

	litifut_avr_family(elf_flags, &facts, NULL);
	return facts.wide_return ? 3 : 2;
}

/* Does the instruction write one of these two registers? It does no harm if the answer is yes for
 * others. */
static bool writes_y(uint16_t word)
{
	const unsigned result = word >> 4 & 31;
	const bool is_y = result == YL || result == YH;

	if ((word & 0xfe00) == 0x9000) /* lds, ld, lpm, pop; of Y+ and -Y as well */
		return is_y || (word & 0xf) == 9 || (word & 0xf) == 10;
	if ((word & 0xfe00) == 0x9200) /* st Y+ and -Y */
		return (word & 0xf) == 9 || (word & 0xf) == 10;
	if ((word & 0xff00) == 0x0100) /* movw */
		return (word >> 4 & 15) == YL / 2;
	if ((word >= 0x4000 && word < 0x8000) || (word & 0xf000) == 0xe000) /* with an immediate */
		return (result & 15) == (YL & 15) || (result & 15) == (YH & 15);
	if ((word & 0xd200) == 0x8000 || (word & 0xf800) == 0xb000 || (word & 0xfe00) == 0x9400 ||
	    (word & 0xfe08) == 0xf800) /* ldd; in; com, inc and others of one register; bld */
		return is_y;
	return word >= 0x0400 && word < 0x3000 && (word & 0xfc00) != 0x0400 &&
	       (word & 0xfc00) != 0x1000 && (word & 0xfc00) != 0x1400 && is_y;
}

static void add_to_y(struct cpu_frame *frame, uint32_t bytes)
{
	if (frame->kept)
		frame->kept = (frame->kept + bytes) & 0xffff;
}

unsigned litifut_avr_track(const struct cpu_context *context, const uint8_t *code, size_t available,
			   enum litifut_code_state state, struct cpu_frame *frame)
{
	struct litifut_instruction instruction;
	const unsigned length =
		litifut_avr_decode(context, code, available, 0, state, &instruction);
	uint16_t word;
	unsigned port, result;

	if (!length)
		return 0;
	word = litifut_get16(false, code);
	port = (word & 0xf) | (word >> 5 & 0x30);
	result = word >> 4 & 31;
	if ((word & 0xfe0f) == 0x920f) { /* push */
		frame->depth++;
	} else if (word == RCALL_NEXT) {
		frame->depth += frame->saved;
	} else if ((word & 0xf800) == 0xb000 && port == SPL && result == YL) { /* in */
		frame->kept = frame->depth;
	} else if ((word & 0xf800) == 0xb000 && port == SPH && result == YH) {
		/* the other half */
	} else if ((word & 0xf800) == 0xb800 && port == SPL) { /* out */
		frame->known &= result == YL && frame->kept;
		frame->depth = frame->kept;
	} else if ((word & 0xff30) == 0x9620 || (word & 0xff30) == 0x9720) { /* adiw, sbiw Y */
		const uint32_t bytes = (word & 0xf) | (word >> 2 & 0x30);

		add_to_y(frame, word & 0x100 ? bytes : -bytes);
	} else if ((word & 0xf0f0) == 0x50c0) { /* subi r28 */
		add_to_y(frame, (word & 0xf) | (word >> 4 & 0xf0));
	} else if ((word & 0xf0f0) == 0x40d0) { /* sbci r29 */
		add_to_y(frame, ((word & 0xfu) | (word >> 4 & 0xf0u)) << 8);
	} else if (writes_y(word)) {
		frame->kept = 0;
	}
	if ((word & 0xfe0f) == 0x900f) /* pop */
		frame->depth--;
	if (frame->depth < frame->saved || frame->depth > UINT16_MAX)
		frame->known = false;
	return length;
}
