/* Decoding AVR code as far as calls go.
 *
 * What a newcomer needs to know. Instructions have one word of 16 bits, little endian; call,
 * jmp, lds and sts have two. call and jmp name any word of the flash. rcall and rjmp reach
 * 4 KB either way, which is all that devices with up to 8 KB need: these have neither call
 * nor jmp, and the program counter wraps around. icall and ijmp go where Z (r31:r30) points;
 * eicall and eijmp take the upper bits of the address from the register EIND, on devices
 * with more than 128 KB.
 *
 * There is no link register: a call pushes its return address, counted in words, of 2 bytes
 * or, where the flash has more than 128 KB, of 3.
 *
 * `rcall .+0` is not a call: it makes room on the stack. The skip instructions (cpse, sbrc,
 * sbrs, sbic, sbis) pass over the next instruction, of whatever length. */
#include <litifut/module_format.h>

#include "common/bytes.h"
#include "cpu/avr/avr.h"

/* Where the program counter of small devices wraps around. */
#define SMALL_FLASH 8192u

bool litifut_avr_is_skip(uint16_t word)
{
	return (word & 0xfc00) == 0x1000 || /* cpse */
	       (word & 0xfc08) == 0xfc00 || /* sbrc, sbrs */
	       (word & 0xfd00) == 0x9900;   /* sbic, sbis */
}

bool litifut_avr_uses_stack(uint16_t word)
{
	unsigned port = (word & 0xf) | (word >> 5 & 0x30);

	return (word & 0xfc0f) == 0x900f ||                                   /* push, pop */
	       ((word & 0xf000) == 0xb000 && (port == 0x3d || port == 0x3e)); /* in, out: SP */
}

static uint32_t relative(const struct cpu_context *context, uint32_t address, uint32_t words,
			 unsigned bits)
{
	uint32_t sign = 1u << (bits - 1);
	uint32_t target = address + 2 + 2 * ((words ^ sign) - sign);

	return litifut_avr_is_small(context) ? target & (SMALL_FLASH - 1) : target;
}

unsigned litifut_avr_decode(const struct cpu_context *context, const uint8_t *code,
			    size_t available, uint32_t address, enum litifut_code_state state,
			    struct litifut_instruction *instruction)
{
	uint32_t word = available >= 2 ? litifut_get16(false, code) : 0;
	bool far = (word & 0xfe0c) == 0x940c;              /* call, jmp */
	bool two_words = far || (word & 0xfc0f) == 0x9000; /* lds, sts */

	(void)state;
	*instruction = (struct litifut_instruction){.word = word, .length = two_words ? 4 : 2};
	if (available < instruction->length)
		return 0;
	if (two_words)
		instruction->word = word << 16 | litifut_get16(false, code + 2);
	if (far) {
		instruction->target =
			((word & 0x01f0) << 13 | (word & 1) << 16 | litifut_get16(false, code + 2))
			<< 1;
		instruction->class =
			word & 2 ? LITIFUT_CLASS_CALL_DIRECT : LITIFUT_CLASS_BRANCH_DIRECT;
	} else if ((word & 0xe000) == 0xc000) { /* rjmp, rcall */
		instruction->target = relative(context, address, word & 0xfff, 12);
		instruction->class =
			word & 0x1000 ? LITIFUT_CLASS_CALL_DIRECT : LITIFUT_CLASS_BRANCH_DIRECT;
	} else if ((word & 0xf800) == 0xf000) { /* brbs, brbc */
		instruction->target = relative(context, address, word >> 3 & 0x7f, 7);
		instruction->class = LITIFUT_CLASS_BRANCH_DIRECT;
		instruction->conditional = true;
	} else if ((word & 0xffef) == 0x9509 || (word & 0xffef) == 0x9409) { /* (e)icall, (e)ijmp */
		instruction->target_register = LITIFUT_AVR_Z;
		instruction->class =
			word & 0x0100 ? LITIFUT_CLASS_CALL_INDIRECT : LITIFUT_CLASS_BRANCH_INDIRECT;
	}
	return instruction->length;
}
