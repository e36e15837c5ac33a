/* ARM: what call sites look like, for code without a list of them. */
#include "cpu/arm/arm.h"

static uint32_t sign_extend(uint32_t value, unsigned bits)
{
	uint32_t sign = 1u << (bits - 1);

	return (value ^ sign) - sign;
}

/* Every traced call of a known length is in the site list; without one, a
 * 4-byte bl or blx is the best guess for both instruction sets. */
uint32_t litifut_arm_site_before(uint32_t return_address)
{
	return (return_address & ~1u) - 4;
}

/* The encodings of bl, blx and b (ARM Architecture Reference Manual, A8.8.18,
 * A8.8.25, A8.8.26, A8.8.27). A branch with a condition may be a tail call too. */
static void decode_a32(struct litifut_site *site)
{
	uint32_t instruction = site->instruction, pc = site->return_address + 4;
	uint32_t callee = pc + (sign_extend(instruction & 0xffffff, 24) << 2);

	site->length = 4;
	if (instruction >> 25 == 0x7d) { /* blx to Thumb code */
		site->kind = LITIFUT_SITE_DIRECT;
		site->callee = (callee + (instruction >> 23 & 2)) | 1;
	} else if ((instruction & 0x0e000000) == 0x0a000000) {
		site->kind =
			instruction & 0x01000000 ? LITIFUT_SITE_DIRECT : LITIFUT_SITE_TAIL_DIRECT;
		site->callee = callee;
	} else if ((instruction & 0x0ffffff0) == 0x012fff30) {
		site->kind = LITIFUT_SITE_INDIRECT;
	} else if (instruction >> 28 == 0xf || (instruction & 0x0ffffff0) == 0x012fff10 ||
		   (instruction & 0x0ffffff0) == 0x01a0f000) {
		site->kind = LITIFUT_SITE_TAIL_INDIRECT; /* bx, mov pc; ldr pc, add pc so marked */
	} else {
		site->kind = LITIFUT_SITE_INDIRECT; /* mov lr, pc and a load or sum into the pc */
	}
}

static void decode_t32(struct litifut_site *site)
{
	uint32_t first = site->instruction >> 16, second = site->instruction & 0xffff;
	uint32_t pc = site->return_address & ~1u;
	uint32_t s = first >> 10 & 1, j1 = second >> 13 & 1, j2 = second >> 11 & 1;
	uint32_t offset = s << 24 | (j1 ^ s ^ 1) << 23 | (j2 ^ s ^ 1) << 22 |
			  (first & 0x3ffu) << 12 | (second & 0x7ffu) << 1;

	site->thumb = 1;
	site->length = first ? 4 : 2;
	if (!first) {
		site->kind = (second & 0xff87) == 0x4780 ? LITIFUT_SITE_INDIRECT
							 : LITIFUT_SITE_TAIL_INDIRECT;
	} else if ((first & 0xf800) == 0xf000 && (second & 0xd000) == 0xd000) { /* bl */
		site->kind = LITIFUT_SITE_DIRECT;
		site->callee = (pc + sign_extend(offset, 25)) | 1;
	} else if ((first & 0xf800) == 0xf000 && (second & 0xd001) == 0xc000) { /* blx to A32 */
		site->kind = LITIFUT_SITE_DIRECT;
		site->callee = (pc & ~3u) + sign_extend(offset, 25);
	} else if ((first & 0xf800) == 0xf000 && (second & 0xd000) == 0x9000) { /* b.w */
		site->kind = LITIFUT_SITE_TAIL_DIRECT;
		site->callee = (pc + sign_extend(offset, 25)) | 1;
	} else {
		site->kind = LITIFUT_SITE_TAIL_INDIRECT;
	}
}

struct litifut_site litifut_arm_site_of_entry(struct litifut_db_entry entry)
{
	struct litifut_site site = {.return_address = entry.return_address,
				    .instruction = entry.instruction};

	if (entry.return_address & 1)
		decode_t32(&site);
	else
		decode_a32(&site);
	if (site.kind == LITIFUT_SITE_DIRECT || site.kind == LITIFUT_SITE_INDIRECT)
		site.address = (entry.return_address & ~1u) - site.length;
	return site;
}
