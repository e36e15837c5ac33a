/* ARM: PLT entries and veneers.
 *
 * Linkers make many shapes of them (GNU ld alone has a dozen), but all do the
 * same: work out an address in ip and jump to it, or load pc from a slot. So
 * a table of shapes is not needed: a small interpreter runs the code for a few
 * instructions and sees where it leads. It decodes only the instructions that
 * such code is made of, which is what makes ordinary functions lead nowhere.
 *
 *   A32 PLT, GNU ld      add ip,pc,#a; add ip,ip,#b; ldr pc,[ip,#c]!
 *   the long form        one more add in the middle
 *   called from Thumb    bx pc; b.n . (or nop) before either of them
 *   M-profile            movw ip; movt ip; add ip,pc; ldr.w pc,[ip]
 *   lld, long form       ldr ip,[pc,#4]; add ip,ip,pc; ldr pc,[ip]; .word
 *   veneers              ldr pc,[pc,#-4]; .word
 *                        ldr ip,[pc,#n]; (add ip,pc,ip;) bx ip; .word
 *                        ldr ip,[pc]; add pc,pc,ip; .word
 *                        movw ip; movt ip; (add ip,pc;) bx ip, in both instruction sets
 *                        b, b.w
 *   of a Cortex-M        ldr.w pc,[pc,#-0]; .word
 *   of a Cortex-M0       push {r0}; ldr r0,[pc,#8]; mov ip,r0; pop {r0}; bx ip; nop; .word
 *   mold, from Thumb     mov ip,pc; bx ip before ldr ip,[pc,#4]; add; bx ip
 *
 * "pc" reads as the address of the instruction plus 8 in A32 and plus 4 in T32
 * (ARM Architecture Reference Manual, A2.3). */
#include "cpu/arm/arm.h"

#define MAX_STEPS 6
#define IP 12

struct walk {
	const struct litifut_code_reader *code;
	uint32_t pc; /* bit 0 clear */
	bool thumb;
	bool ip_known;
	uint32_t ip;
	bool r0_known; /* pushed and loaded */
	bool r0_pushed;
	uint32_t r0;
	uint32_t end; /* after the last byte that was used */
};

static uint32_t rotate_right(uint32_t value, unsigned by)
{
	return by ? value >> by | value << (32 - by) : value;
}

static uint32_t sign_extend(uint32_t value, unsigned bits)
{
	uint32_t sign = 1u << (bits - 1);

	return (value ^ sign) - sign;
}

static void used(struct walk *walk, uint32_t end)
{
	if (end > walk->end)
		walk->end = end;
}

static struct litifut_lead leads(enum litifut_lead_kind kind, uint32_t address)
{
	return (struct litifut_lead){.kind = kind, .address = address};
}

static const struct litifut_lead nowhere = {LITIFUT_LEADS_NOWHERE, 0, 0};

/* A load relative to pc: a literal of the veneer itself. */
static bool literal(struct walk *walk, uint32_t address, uint32_t *value)
{
	used(walk, address + 4);
	return walk->code->literal(walk->code->context, address, value);
}

/* Each step returns true when `lead` is final; the walk goes on otherwise. */
static bool step_a32(struct walk *walk, struct litifut_lead *lead)
{
	uint32_t instruction, pc = walk->pc + 8, value;

	*lead = nowhere;
	if (!walk->code->word(walk->code->context, walk->pc, &instruction))
		return true;
	used(walk, walk->pc + 4);
	if (instruction >> 28 != 0xe) /* only what is always executed */
		return true;
	walk->pc += 4;

	if ((instruction & 0x0f000000) == 0x0a000000) { /* b */
		*lead = leads(LITIFUT_LEADS_TO_CODE,
			      pc + (sign_extend(instruction & 0xffffff, 24) << 2));
		return true;
	}
	if ((instruction & 0x0ffff000) == 0x028fc000 || /* add ip, pc, #const */
	    (instruction & 0x0ffff000) == 0x028cc000) { /* add ip, ip, #const */
		bool from_pc = (instruction >> 16 & 15) == 15;
		if (!from_pc && !walk->ip_known)
			return true;
		value = rotate_right(instruction & 0xff, (instruction >> 8 & 15) * 2);
		walk->ip = (from_pc ? pc : walk->ip) + value;
		walk->ip_known = true;
		return false;
	}
	if ((instruction & 0x0fb0f000) == 0x0300c000) { /* movw, movt */
		value = (instruction >> 4 & 0xf000) | (instruction & 0xfff);
		walk->ip = instruction & 0x00400000 ? (walk->ip & 0xffff) | value << 16 : value;
		walk->ip_known = true;
		return false;
	}
	if ((instruction & 0x0f7ff000) == 0x051fc000) { /* ldr ip, [pc, #+-n] */
		value = instruction & 0xfff;
		uint32_t address = instruction & 0x00800000 ? pc + value : pc - value;
		if (!literal(walk, address, &walk->ip))
			return true;
		walk->ip_known = true;
		return false;
	}
	if ((instruction & 0x0f7ff000) == 0x051ff000) { /* ldr pc, [pc, #+-n] */
		value = instruction & 0xfff;
		uint32_t address = instruction & 0x00800000 ? pc + value : pc - value;
		if (literal(walk, address, &value))
			*lead = leads(LITIFUT_LEADS_TO_CODE, value);
		return true;
	}
	if (!walk->ip_known)
		return true;
	if ((instruction & 0x0f5ff000) == 0x051cf000) { /* ldr pc, [ip, #+-n]{!} */
		value = instruction & 0xfff;
		*lead = leads(LITIFUT_LEADS_TO_SLOT,
			      instruction & 0x00800000 ? walk->ip + value : walk->ip - value);
		return true;
	}
	switch (instruction) {
	case 0xe08fc00c: /* add ip, pc, ip */
	case 0xe08cc00f: /* add ip, ip, pc */
		walk->ip += pc;
		return false;
	case 0xe08ff00c: /* add pc, pc, ip */
	case 0xe08cf00f:
		*lead = leads(LITIFUT_LEADS_TO_CODE, walk->ip + pc);
		return true;
	case 0xe12fff1c: /* bx ip */
	case 0xe1a0f00c: /* mov pc, ip */
		*lead = leads(LITIFUT_LEADS_TO_CODE, walk->ip);
		return true;
	}
	return true;
}

static bool step_t32(struct walk *walk, struct litifut_lead *lead)
{
	uint16_t first, second;
	uint32_t pc = walk->pc + 4;

	*lead = nowhere;
	if (!walk->code->halfword(walk->code->context, walk->pc, &first))
		return true;
	walk->pc += 2;
	used(walk, walk->pc);
	if (first == 0x4778) { /* bx pc: on with A32 code at the next word */
		walk->thumb = false;
		walk->pc = pc & ~3u;
		return false;
	}
	if (first == 0x46fc) { /* mov ip, pc; bx ip: on with A32 code behind them */
		if (!walk->code->halfword(walk->code->context, walk->pc, &second) ||
		    second != 0x4760 || pc & 3)
			return true;
		walk->thumb = false;
		walk->pc = pc;
		return false;
	}
	if (first == 0xb401 && !walk->r0_pushed) { /* push {r0} */
		walk->r0_pushed = true;
		return false;
	}
	if (first >> 8 == 0x48 && walk->r0_pushed) { /* ldr r0, [pc, #n] */
		walk->r0_known = literal(walk, (pc & ~3u) + 4 * (first & 0xffu), &walk->r0);
		return !walk->r0_known;
	}
	if (first == 0x4684 && walk->r0_known) { /* mov ip, r0 */
		walk->ip = walk->r0;
		walk->ip_known = true;
		return false;
	}
	if (first == 0xbc01 && walk->ip_known && walk->r0_pushed) { /* pop {r0} */
		walk->r0_pushed = false;
		return false;
	}
	if (first == 0x44fc && walk->ip_known) { /* add ip, pc */
		walk->ip += pc;
		return false;
	}
	if (first == 0x4760 && walk->ip_known && !walk->r0_pushed) { /* bx ip */
		*lead = leads(LITIFUT_LEADS_TO_CODE, walk->ip);
		return true;
	}
	if (first < 0xe800 || !walk->code->halfword(walk->code->context, walk->pc, &second))
		return true;
	walk->pc += 2;
	used(walk, walk->pc);
	if ((first & 0xfbf0) == 0xf240 || (first & 0xfbf0) == 0xf2c0) { /* movw, movt */
		uint32_t value = (first & 15u) << 12 | (first >> 10 & 1u) << 11 |
				 (second >> 12 & 7u) << 8 | (second & 0xffu);
		if ((second >> 8 & 15) != IP || second & 0x8000)
			return true;
		walk->ip = first & 0x80 ? (walk->ip & 0xffff) | value << 16 : value;
		walk->ip_known = true;
		return false;
	}
	if ((first | 0x80) == 0xf8df && (second & 0xf000) == 0xf000) { /* ldr.w pc, [pc, #+-n] */
		uint32_t value = second & 0xfff;
		if (literal(walk, (pc & ~3u) + (first & 0x80 ? value : -value), &value))
			*lead = leads(LITIFUT_LEADS_TO_CODE, value);
		return true;
	}
	if (first == 0xf8dc && (second & 0xf000) == 0xf000 && walk->ip_known) { /* ldr.w pc, [ip] */
		*lead = leads(LITIFUT_LEADS_TO_SLOT, walk->ip + (second & 0xfff));
		return true;
	}
	if ((first & 0xf800) == 0xf000 && (second & 0xd000) == 0x9000) { /* b.w */
		uint32_t s = first >> 10 & 1, j1 = second >> 13 & 1, j2 = second >> 11 & 1;
		uint32_t offset = s << 24 | (j1 ^ s ^ 1) << 23 | (j2 ^ s ^ 1) << 22 |
				  (first & 0x3ffu) << 12 | (second & 0x7ffu) << 1;
		*lead = leads(LITIFUT_LEADS_TO_CODE, (pc + sign_extend(offset, 25)) | 1);
		return true;
	}
	return true;
}

struct litifut_lead litifut_arm_follow(const struct litifut_code_reader *code, uint32_t address)
{
	struct walk walk = {.code = code, .pc = address & ~1u, .thumb = address & 1};
	struct litifut_lead lead = nowhere;

	walk.end = walk.pc;
	for (unsigned step = 0; step < MAX_STEPS; step++) {
		if (walk.thumb ? step_t32(&walk, &lead) : step_a32(&walk, &lead))
			break;
	}
	if (lead.kind != LITIFUT_LEADS_NOWHERE)
		lead.length = walk.end - (address & ~1u);
	return lead;
}
