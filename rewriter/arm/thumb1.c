/* Calls of T32 code for CPUs without Thumb-2 (ARMv4T to ARMv6), and of what GCC
 * makes there out of a bl.
 *
 * A 16-bit `blx rN` (ARMv5T) takes the instruction before it along, as in
 * trampoline.c. There is no b.w, but a bl of the same size, and a call may change
 * lr. Being 4 bytes long, it even sets lr to what the blx would have set:
 *
 *	site:	movs r0, r4		site:	bl   trampoline
 *		blx  r3			back:	...
 *	back:	...
 *				trampoline:	movs r0, r4
 *						nop
 *						bx   pc		to A32
 *						nop
 *						b    entry
 *
 * An instruction that reads the pc is done in A32 code. One that uses lr, or
 * branches past the call, can't be displaced: lr is changed before it.
 *
 * ARMv4T has no blx. GCC calls `bl label` there, with a `bx rN` at that label in
 * the same section: that is the call through rN. And where a branch does not
 * reach its target in a large function (+-2 KB), GCC jumps by bl: that is not a call. */
#include "rewriter/arm/thumb1.h"

#include <litifut/module_format.h>

#include "rewriter/image.h"

#define LR 14
#define BX_LR 0x4770
#define MOV_PC_LR 0x46f7
#define SUBROUTINE_MOST 256 /* bytes of it that are looked at */
#define NOP 0x46c0          /* mov r8, r8; Thumb-1 has no other */

static bool uses_lr(uint16_t half)
{
	if ((half & 0xfc00) == 0x4400) /* high registers: add, cmp, mov */
		return (half >> 3 & 15) == LR || ((half & 7) | (half >> 4 & 8)) == LR;
	return (half & 0xff00) == 0xb500; /* push {..., lr} */
}

bool litifut_arm_thumb1_displaceable(const struct litifut_arm_displaced *displaced)
{
	enum litifut_arm_treatment treatment = litifut_arm_analyse(displaced).treatment;

	return displaced->length == 2 && !uses_lr((uint16_t)displaced->instruction) &&
	       treatment != LITIFUT_ARM_STAYS && treatment != LITIFUT_ARM_BRANCHES;
}

/* A32 code that is put together word by word; distances come last. */
struct writer {
	uint8_t *code;
	uint32_t address;
	unsigned at;
	uint32_t literals[2];
	unsigned loads[2]; /* offset of the ldr that loads each */
	uint32_t bases[2]; /* what is added to it */
	unsigned count;
};

static void put(struct writer *writer, uint32_t word)
{
	litifut_put32(false, writer->code + writer->at, word);
	writer->at += 4;
}

/* The next instruction adds the pc to rN and has the value. */
static void load_distance(struct writer *writer, unsigned reg, uint32_t value)
{
	writer->literals[writer->count] = value;
	writer->loads[writer->count] = writer->at;
	writer->bases[writer->count++] = writer->address + writer->at + 4 + 8;
	put(writer, 0xe59f0000 | reg << 12); /* ldr rN, [pc, #...] */
}

static void write_literals(struct writer *writer)
{
	for (unsigned i = 0; i < writer->count; i++) {
		uint8_t *load = writer->code + writer->loads[i];

		litifut_put32(false, load,
			      litifut_get32(false, load) | (writer->at - writer->loads[i] - 8));
		put(writer, writer->literals[i] - writer->bases[i]);
	}
}

static bool put_branch(struct writer *writer, uint32_t target)
{
	uint32_t offset = target - (writer->address + writer->at + 8);

	put(writer, 0xea000000 | (offset >> 2 & 0xffffff));
	return offset + (1u << 25) < 1u << 26;
}

unsigned litifut_arm_thumb1_write(const struct litifut_arm_displaced *displaced, uint32_t address,
				  uint32_t entry, uint8_t *code, uint8_t *site)
{
	struct litifut_arm_analysis analysis = litifut_arm_analyse(displaced);
	struct writer writer = {.code = code, .address = address};
	uint32_t distance = address - (displaced->address + 4);
	unsigned reg = analysis.reg;

	if (distance + (1u << 22) >= 1u << 23 ||
	    !litifut_arm_branch_write(displaced->address, address, site))
		return 0;
	litifut_put16(false, site + 2, litifut_get16(false, site + 2) | 0x4000); /* bl */
	if (analysis.treatment == LITIFUT_ARM_MOVES)
		put(&writer, NOP << 16 | (displaced->instruction & 0xffff));
	put(&writer, NOP << 16 | 0x4778); /* bx pc */
	switch (analysis.treatment) {
	case LITIFUT_ARM_LOADS_LITERAL:
		load_distance(&writer, reg, analysis.value);
		put(&writer, 0xe79f0000 | reg << 12 | reg); /* ldr rN, [pc, rN] */
		break;
	case LITIFUT_ARM_FORMS_ADDRESS:
		load_distance(&writer, reg, analysis.value);
		put(&writer, 0xe08f0000 | reg << 12 | reg); /* add rN, pc, rN */
		break;
	case LITIFUT_ARM_ADDS_PC:
		load_distance(&writer, LR, analysis.value);
		put(&writer, 0xe08fe00e);                         /* add lr, pc, lr */
		put(&writer, 0xe080000e | reg << 16 | reg << 12); /* add rN, rN, lr */
		load_distance(&writer, LR, (displaced->address + 4) | 1);
		put(&writer, 0xe08fe00e);
		break;
	default:
		break;
	}
	if (!put_branch(&writer, entry))
		return 0;
	write_literals(&writer);
	return writer.at;
}

/* Nothing between `from` and `to` is Thumb-2 code. */
static bool is_thumb1(const struct litifut_section *section, uint32_t from, uint32_t to)
{
	static const struct cpu_context context;
	struct litifut_instruction each;
	unsigned length;

	for (; from < to; from += length) {
		length = litifut_arm_decode(&context, section->bytes + (from - section->address),
					    to - from, from, LITIFUT_CODE_THUMB, &each);
		if (!length)
			break;
		if (length == 4 && each.class != LITIFUT_CLASS_CALL_DIRECT)
			return false;
	}
	return true;
}

/* Do the first of these `bytes` of code return to lr? A subroutine within a function in assembly
 * does. Code to which a bl only jumps does not. */
static bool is_subroutine(const uint8_t *code, uint32_t bytes)
{
	unsigned length;

	for (uint32_t at = 0; at < SUBROUTINE_MOST && bytes - at >= 2; at += length) {
		const unsigned half = litifut_get16(false, code + at);

		length = litifut_arm_thumb_is_wide((uint16_t)half) ? 4 : 2;
		if (half == BX_LR || half == MOV_PC_LR || (!at && half >> 8 == 0xb5))
			return true; /* or begin with a push of lr */
		/* b, bx, blx, pop {pc}, a mov to lr or pc, udf, b.w, bl */
		if (half >> 11 == 0x1c || half >> 8 == 0x47 || half >> 8 == 0xbd ||
		    (half & 0xff86) == 0x4686 || half >> 8 == 0xde || bytes - at < length ||
		    (half >> 11 == 0x1e && litifut_get16(false, code + at + 2) & 0x8000))
			return false;
	}
	return false;
}

unsigned litifut_arm_judge_target(const struct litifut_image *image,
				  const struct litifut_arch_context *context,
				  const struct litifut_section *section,
				  const struct litifut_code_range *range,
				  const struct litifut_symbol *function,
				  struct litifut_instruction *call)
{
	static const struct cpu_context plain;
	uint32_t target = call->target & ~1u;
	bool thumb = call->target & 1;
	const struct litifut_section *there = litifut_image_section_at(image, target, 4);
	struct litifut_instruction first;

	if (!there)
		return LITIFUT_SITE_PATCHED;
	litifut_arm_decode(&plain, there->bytes + (target - there->address), 4, target,
			   thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN, &first);
	/* A bl to a `mov pc` is a jump: to the code that the places of a computed goto share. */
	if (first.class == LITIFUT_CLASS_BRANCH_INDIRECT && !first.conditional &&
	    first.target_register < LR - 1 && thumb == call->thumb &&
	    (!thumb || (first.word & 0xff87) == 0x4700)) {
		call->class = LITIFUT_CLASS_CALL_INDIRECT;
		call->target_register = first.target_register;
		call->word = call->thumb ? 0x4780u | first.target_register << 3
					 : (call->word & 0xf0000000) | 0x012fff30 |
						   first.target_register;
		return LITIFUT_SITE_PATCHED;
	}
	if (!call->thumb || !thumb || !function || target - function->address >= function->size)
		return LITIFUT_SITE_PATCHED;
	uint32_t end = function->address + function->size;
	uint32_t in_section = there->size - (target - there->address);
	uint32_t in_function = function->size - (target - function->address);

	if (is_subroutine(there->bytes + (target - there->address),
			  in_section < in_function ? in_section : in_function))
		return LITIFUT_SITE_PATCHED;
	/* v8-M Baseline has other instructions of 4 bytes, and GCC jumps by bl there as well. */
	if (litifut_arm_short_branches(&context->cpu))
		return LITIFUT_SITE_NOT_A_CALL;
	return is_thumb1(section,
			 range->start > function->address ? range->start : function->address,
			 range->end < end ? range->end : end)
		       ? LITIFUT_SITE_NOT_A_CALL
		       : LITIFUT_SITE_PATCHED;
}
