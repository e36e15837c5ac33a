/* Decoding MIPS code as far as calls go.
 *
 * What a newcomer needs to know. Instructions are words at multiples of 4. The
 * instruction after a jump or branch, in its "delay slot", is executed before
 * the jump takes effect; so a call leaves its own address + 8 in ra ($31), and
 * whatever the delay slot does has been done when the callee starts.
 *
 *   jal   target   26 bits: the word within the 256 MB region that the delay
 *                  slot lies in. Absolute, so it is of no use in code that can
 *                  be loaded anywhere.
 *   bal   offset   16 bits, +-128 KB from the delay slot. It is really
 *                  `bgezal $0`, "branch if zero >= 0 and link"; with another
 *                  register, bgezal and bltzal are calls made on a condition,
 *                  but they set ra in any case.
 *   jalr  rN       to where the register points.
 *
 * Position-independent code ("abicalls", nearly everything on Linux) finds its
 * data through $gp, which each function computes from its own address, and that
 * it expects in $t9 ($25). So calls are `jalr $t9`, the address loaded from the
 * GOT. Where the linker sees that the callee is in the same module and near,
 * it turns the `jalr $t9` into a `bal` (R_MIPS_JALR): $t9 is loaded all the
 * same, since the callee needs it.
 *
 * `bal .+8` calls nothing: it reads the pc.
 *
 * `jalr.hb` and `jr.hb` also make the CPU see instructions that were written just
 * before. They use the instruction DB, whose stubs leave by `jr.hb` for their sake.
 *
 * MIPS16 and microMIPS are other encodings (like Thumb on ARM) which today's
 * rewriter leaves alone; symbols mark their functions in st_other. A `jalx`
 * calls from one to the other. */
#include "cpu/mips/mips.h"

#include <litifut/module_format.h>

#include "common/bytes.h"

static uint32_t branch_target(uint32_t word, uint32_t address)
{
	return address + 4 + ((uint32_t)(int16_t)(word & 0xffff) << 2);
}

static uint32_t jump_target(uint32_t word, uint32_t address)
{
	return ((address + 4) & 0xf0000000) | (word & 0x3ffffff) << 2;
}

static void decode_special(uint32_t word, struct litifut_instruction *out)
{
	unsigned function = word & 0x3f;

	if (function == 0x09) { /* JALR rd, rs */
		out->class = LITIFUT_CLASS_CALL_INDIRECT;
		out->target_register = word >> 21 & 31;
		out->link_register = word >> 11 & 31;
		if (out->link_register == 0)
			out->class = LITIFUT_CLASS_BRANCH_INDIRECT;
	} else if (function == 0x08) { /* JR rs */
		out->class = LITIFUT_CLASS_BRANCH_INDIRECT;
		out->target_register = word >> 21 & 31;
	}
}

static void decode_regimm(uint32_t word, uint32_t address, struct litifut_instruction *out)
{
	unsigned operation = word >> 16 & 31;

	out->target = branch_target(word, address);
	out->conditional = (word >> 21 & 31) != 0;
	if (operation >= 0x10 && operation <= 0x13) /* BLTZAL, BGEZAL, and their likely forms */
		out->class = LITIFUT_CLASS_CALL_DIRECT;
	else if (operation <= 0x03) /* BLTZ, BGEZ, likely forms */
		out->class = LITIFUT_CLASS_BRANCH_DIRECT;
}

unsigned litifut_mips_decode(const struct cpu_context *context, const uint8_t *code,
			     size_t available, uint32_t address, enum litifut_code_state state,
			     struct litifut_instruction *out)
{
	*out = (struct litifut_instruction){.link_register = LITIFUT_MIPS_RA, .length = 4};
	if (state != LITIFUT_CODE_PLAIN)
		return litifut_mips_decode_compact(context, code, available, state, out);
	if (available < 4)
		return 0;
	uint32_t word = litifut_get32(context->big_endian, code);

	out->word = word;
	switch (word >> 26) {
	case 0x00:
		decode_special(word, out);
		break;
	case 0x01:
		decode_regimm(word, address, out);
		break;
	case 0x02: /* J */
		out->class = LITIFUT_CLASS_BRANCH_DIRECT;
		out->target = jump_target(word, address);
		break;
	case 0x03: /* JAL */
		out->class = LITIFUT_CLASS_CALL_DIRECT;
		out->target = jump_target(word, address);
		break;
	case 0x1d: /* JALX */
		out->class = LITIFUT_CLASS_FOREIGN_CALL;
		out->target = jump_target(word, address) | 1;
		break;
	case 0x04: /* BEQ; with two equal registers it is `b` */
	case 0x05: /* BNE, BLEZ, BGTZ and the likely forms */
	case 0x06:
	case 0x07:
	case 0x14:
	case 0x15:
	case 0x16:
	case 0x17:
		out->class = LITIFUT_CLASS_BRANCH_DIRECT;
		out->conditional = !(word >> 26 == 0x04 && (word >> 21 & 31) == (word >> 16 & 31));
		out->target = branch_target(word, address);
		break;
	default:
		break;
	}
	return 4;
}

bool litifut_mips_has_barrier(uint32_t word)
{
	return word >> 26 == 0 && word & 0x400;
}

bool litifut_mips_has_number(uint32_t word)
{
	const unsigned function = word & 0x3f;

	return function == 0x00 || function == 0x04 || function == 0x3b;
}

bool litifut_mips_writes_named(uint32_t word, unsigned number)
{
	unsigned operation = word >> 26;
	unsigned rt = word >> 16 & 31;
	unsigned rd = word >> 11 & 31;

	if (number == 0 || litifut_mips_has_target(word))
		return false;
	switch (operation) {
	case 0x00: /* SPECIAL: rd, but for stores to hi/lo, traps and jr */
		return rd == number;
	case 0x1c: /* SPECIAL2: mul, clz, clo, madd (rd 0) */
		return rd == number;
	case 0x1f: /* SPECIAL3: seb, seh and others write rd */
		return rt == number || (rd == number && !litifut_mips_has_number(word));
	case 0x10: /* COP0 */
	case 0x11: /* COP1: mfc1, cfc1, mfhc1 write rt */
	case 0x12:
		return (word >> 21 & 31) < 4 && rt == number;
	case 0x01: /* branches */
	case 0x04:
	case 0x05:
	case 0x06:
	case 0x07:
		return false;
	case 0x28: /* stores write memory; sc (0x38) also writes rt */
	case 0x29:
	case 0x2a:
	case 0x2b:
	case 0x2e:
	case 0x2f: /* cache */
	case 0x31: /* lwc1, ldc1, swc1, sdc1, pref */
	case 0x33:
	case 0x35:
	case 0x39:
	case 0x3d:
		return false;
	default: /* arithmetic with an immediate, loads */
		return rt == number;
	}
}

bool litifut_mips_may_fault(uint32_t word)
{
	const unsigned operation = word >> 26;
	const unsigned function = word & 0x3f;
	const unsigned rs = word >> 21 & 31;

	switch (operation) {
	case 0x00: /* syscall, break; add and sub, which look at overflow; tge to tne */
		return function == 0x0c || function == 0x0d || function == 0x20 ||
		       function == 0x22 || function >= 0x30;
	case 0x01: /* tgei to tnei */
		return (word >> 19 & 3) == 1;
	case 0x08: /* addi */
		return true;
	case 0x10: /* coprocessors: all but moves from them */
	case 0x11:
	case 0x12:
		return rs > 4;
	case 0x13: /* COP1X: accesses by two registers, arithmetic */
	case 0x1e: /* MSA */
		return true;
	case 0x1f: /* SPECIAL3: lwx and others of the DSP */
		return function == 0x0a;
	case 0x33: /* pref */
		return false;
	default:
		return operation >= 0x20 && rs != 28 && rs != 29;
	}
}
