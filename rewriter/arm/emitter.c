/* Putting T32 code together, one instruction after another, with its literals behind it.
 * Encodings: DDI 0406C A6.2 (16-bit), A6.3 (32-bit). */
#include "rewriter/arm/emitter.h"

#include "rewriter/image.h"

void litifut_arm_put(struct litifut_arm_emitter *emitter, uint16_t value)
{
	litifut_put16(false, emitter->code + emitter->at, value);
	emitter->at += 2;
}

/* rN = value: ldr or ldr.w rN, [pc, #...]; add rN, pc */
void litifut_arm_put_value(struct litifut_arm_emitter *emitter, unsigned reg, uint32_t value)
{
	emitter->literals[emitter->literal_count] = value;
	emitter->literal_loads[emitter->literal_count] = emitter->at;
	if (emitter->narrow) {
		litifut_arm_put(emitter, (uint16_t)(0x4800 | reg << 8));
	} else {
		litifut_arm_put(emitter, 0xf8df);
		litifut_arm_put(emitter, (uint16_t)(reg << 12));
	}
	emitter->literal_adds[emitter->literal_count++] = emitter->at;
	litifut_arm_put(emitter, (uint16_t)(0x4478 | (reg & 7) | (reg & 8) << 4));
}

void litifut_arm_put_branch(struct litifut_arm_emitter *emitter, uint32_t target)
{
	litifut_arm_branch_write(emitter->address + emitter->at, target,
				 emitter->code + emitter->at);
	emitter->at += 4;
}

void litifut_arm_put_literals(struct litifut_arm_emitter *emitter)
{
	if (emitter->at & 2)
		litifut_arm_put(emitter, 0xbf00);
	for (unsigned i = 0; i < emitter->literal_count; i++) {
		uint32_t load_pc = (emitter->literal_loads[i] + 4) & ~3u;
		uint32_t add_pc = emitter->address + emitter->literal_adds[i] + 4;
		uint8_t *load = emitter->code + emitter->literal_loads[i];

		if (emitter->narrow)
			litifut_put16(false, load,
				      (uint16_t)(litifut_get16(false, load) |
						 (emitter->at - load_pc) / 4));
		else
			litifut_put16(false, load + 2,
				      (uint16_t)(litifut_get16(false, load + 2) |
						 (emitter->at - load_pc)));
		litifut_put32(false, emitter->code + emitter->at, emitter->literals[i] - add_pc);
		emitter->at += 4;
	}
}

/* Does what the displaced instruction did; a branch is left without its offset. */
void litifut_arm_put_displaced(struct litifut_arm_emitter *emitter,
			       const struct litifut_arm_displaced *displaced,
			       const struct litifut_arm_analysis *analysis, bool lr_is_free)
{
	switch (analysis->treatment) {
	case LITIFUT_ARM_STAYS:
		break;
	case LITIFUT_ARM_MOVES:
		if (displaced->length == 4)
			litifut_arm_put(emitter, (uint16_t)(displaced->instruction >> 16));
		litifut_arm_put(emitter, (uint16_t)displaced->instruction);
		break;
	case LITIFUT_ARM_LOADS_LITERAL:
		litifut_arm_put_value(emitter, analysis->reg, analysis->value);
		if (emitter->narrow) { /* ldr rN, [rN] */
			litifut_arm_put(emitter,
					(uint16_t)(0x6800 | analysis->reg << 3 | analysis->reg));
			break;
		}
		litifut_arm_put(emitter, (uint16_t)(0xf8d0 | analysis->reg)); /* ldr.w rN, [rN] */
		litifut_arm_put(emitter, (uint16_t)(analysis->reg << 12));
		break;
	case LITIFUT_ARM_FORMS_ADDRESS:
		litifut_arm_put_value(emitter, analysis->reg, analysis->value);
		break;
	case LITIFUT_ARM_LOADS_PAIR:
		litifut_arm_put_value(emitter, analysis->reg, analysis->value);
		litifut_arm_put(emitter, (uint16_t)(0xe9d0 | analysis->reg)); /* ldrd [rN] */
		litifut_arm_put(emitter, (uint16_t)(displaced->instruction & 0xff00));
		break;
	case LITIFUT_ARM_ADDS_PC:
	case LITIFUT_ARM_LOADS_VECTOR:
		if (analysis->treatment == LITIFUT_ARM_ADDS_PC && analysis->reg == 14) {
			litifut_arm_put(emitter, 0xb401); /* push {r0} */
			litifut_arm_put_value(emitter, 0, analysis->value);
			litifut_arm_put(emitter, 0x4486); /* add lr, r0 */
			litifut_arm_put(emitter, 0xbc01); /* pop {r0} */
			break;
		}
		if (!lr_is_free)
			litifut_arm_put(emitter, 0xb500); /* push {lr} */
		litifut_arm_put_value(emitter, 14, analysis->value);
		if (analysis->treatment == LITIFUT_ARM_LOADS_VECTOR) { /* vldr [lr] */
			litifut_arm_put(emitter,
					(uint16_t)(0xed9e | (displaced->instruction >> 16 & 0x40)));
			litifut_arm_put(emitter, (uint16_t)(displaced->instruction & 0xff00));
		} else {
			litifut_arm_put(emitter, (uint16_t)(0x4470 | (analysis->reg & 7) |
							    (analysis->reg & 8) << 4));
		}
		if (!lr_is_free) {
			litifut_arm_put(emitter, 0xf85d); /* ldr.w lr, [sp], #4 */
			litifut_arm_put(emitter, 0xeb04);
		}
		break;
	case LITIFUT_ARM_BRANCHES:
		litifut_arm_put(emitter, analysis->branch);
		break;
	}
}

/* Lets the 16-bit branch at `test` go to where the code stands now. */
void litifut_arm_land(struct litifut_arm_emitter *emitter, unsigned test,
		      uint16_t branch_without_offset)
{
	unsigned distance = (emitter->at - test - 4) / 2;
	bool compare = (branch_without_offset & 0xf000) == 0xb000;

	litifut_put16(false, emitter->code + test,
		      (uint16_t)(branch_without_offset | (compare ? distance << 3 : distance)));
}
