/* What registers hold, followed from one instruction to the next in the order of their addresses,
 * as rewriter/arm/formed.c does:
 *
 *	lui   rN, %hi(label) or, position-independent, lw rN, %got(page)(gp)
 *	addiu rM, rN, %lo(label)
 *
 * and, in assembly, `addiu rN, ra, label - here' behind `bal'. */
#include "rewriter/mips/mips.h"

#include <elf.h>

#include "cpu/mips/uses.h"

enum { SPECIAL = 0, REGIMM = 1, JAL = 3, ADDIU = 9, ORI = 13, LUI = 15, LW = 35 };
enum { JALR = 9, ADDU = 0x21, AT = 1, SP = 29, RA = 31 };

/* What a callee may change: at, v0, v1, a0 to a3, t0 to t9. Between a program's own functions
 * GCC may keep something in one of these all the same, but hardly a part of an address. */
#define CALL_CHANGES 0x0300fffeu

struct follower {
	const struct litifut_image *image;
	const struct litifut_mips_facts *facts;
	uint32_t pointer; /* the function's global pointer */
	bool fixed;       /* the image is not moved: any number may be an address */
	uint32_t values[32];
	uint32_t known;
	uint32_t addresses; /* which of these are parts of addresses */
	bool calls;         /* the last one does, and the slot follows */
};

static void set(struct follower *follower, unsigned reg, uint32_t value, bool is_address)
{
	if (!reg)
		return;
	follower->values[reg] = value;
	follower->known |= 1u << reg;
	if (is_address)
		follower->addresses |= 1u << reg;
	else
		follower->addresses &= ~(1u << reg);
}

/* The page that a word of the GOT has. */
static bool load_page(const struct follower *follower, uint32_t word, uint32_t *page)
{
	const struct litifut_mips_got *got = &follower->facts->got;
	const uint32_t slot = follower->pointer + (uint32_t)(int16_t)(word & 0xffff);
	const struct litifut_section *section;

	if ((word >> 21 & 31) == SP || !follower->pointer || slot & 3 || slot < got->address ||
	    slot >= got->end)
		return false;
	section = litifut_image_section_at(follower->image, slot, 4);
	if (!section || !section->bytes)
		return false;
	*page = litifut_get32(follower->image->file.big_endian,
			      section->bytes + (slot - section->address));
	return true;
}

/* True: the instruction has completed an address in *made. Nothing is added to that, as a register
 * may hold it before a loop that counts with it. */
static bool step(struct follower *follower, uint32_t word, uint32_t at, uint32_t *made)
{
	const uint32_t known = follower->known, addresses = follower->addresses;
	const unsigned left = word >> 21 & 31, right = word >> 16 & 31, to = word >> 11 & 31;
	const uint32_t low = word >> 26 == ORI ? word & 0xffff : (uint32_t)(int16_t)(word & 0xffff);
	const bool called = follower->calls;
	bool completes = false;

	follower->known &= ~litifut_mips_uses(word).writes;
	follower->calls = false;
	switch (word >> 26) {
	case LUI:
		set(follower, right, word << 16, follower->fixed);
		break;
	case LW:
		if (load_page(follower, word, made))
			set(follower, right, *made, true);
		break;
	case REGIMM:
	case JAL:
		if (word >> 26 == REGIMM && (right & 0x1e) != 0x10) /* bltzal, bgezal */
			break;
		set(follower, RA, at + 8, true);
		/* not one that only reads the pc */
		follower->calls = word >> 26 == JAL || (word & 0xffff) != 1;
		break;
	case ADDIU:
	case ORI:
		/* in $at the assembler has where a branch leads that is too far for one */
		completes = known >> left & addresses >> left & 1 && right != AT;
		*made = follower->values[left] + low;
		if (known >> left & ~(addresses >> left) & 1)
			set(follower, right, *made, false);
		else
			follower->known &= ~(1u << right);
		break;
	case SPECIAL:
		follower->calls = (word & 0x3f) == JALR;
		if ((word & 0x7ff) != ADDU)
			break;
		if ((!left || !right) && known >> (left | right) & 1)
			set(follower, to, follower->values[left | right],
			    addresses >> (left | right) & 1);
		completes = left && right && to != AT &&
			    known >> left & known >> right &
				    (addresses >> left ^ addresses >> right) & 1;
		*made = follower->values[left] + follower->values[right];
		break;
	default:
		break;
	}
	if (called)
		follower->known &= ~CALL_CHANGES;
	return completes;
}

void litifut_mips_form_addresses(const struct litifut_image *image,
				 const struct litifut_arch_context *context,
				 const struct litifut_section *section,
				 const struct litifut_code_range *ranges, size_t count,
				 litifut_take_formed *take, void *with)
{
	const struct litifut_mips_facts *facts = litifut_mips_facts(context);
	struct follower follower = {.image = image,
				    .facts = facts,
				    .pointer = facts->global_pointer,
				    .fixed = image->file.type != ET_DYN};
	size_t next = litifut_image_functions_below(image, section->address);

	for (size_t i = 0; i < count; i++)
		for (uint32_t at = (ranges[i].start + 3) & ~3u;
		     ranges[i].state == LITIFUT_CODE_PLAIN && at + 4 <= ranges[i].end; at += 4) {
			const uint32_t word = litifut_get32(
				context->cpu.big_endian, section->bytes + (at - section->address));
			uint32_t made;

			for (;
			     next < image->function_count && image->function_addresses[next] <= at;
			     next++) {
				struct litifut_mips_pointer pointer;

				follower.known = 0;
				if (!facts->got.alone &&
				    litifut_mips_has_pointer(image, context,
							     image->function_addresses[next],
							     &pointer))
					follower.pointer = pointer.value;
			}
			if (step(&follower, word, at, &made))
				take(with, at, made);
		}
}
