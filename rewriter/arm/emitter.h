/* Putting T32 code together. Nothing here fails: who emits has made sure of the reach and of
 * the room. */
#ifndef LITIFUT_REWRITER_ARM_EMITTER_H
#define LITIFUT_REWRITER_ARM_EMITTER_H

#include "rewriter/arm/displaced.h"

#define LITIFUT_ARM_LITERALS 8

struct litifut_arm_emitter {
	uint8_t *code;
	uint32_t address;
	unsigned at;
	bool narrow; /* Thumb-1 code: r0 to r7 get values, and nothing adds the pc */
	uint32_t literals[LITIFUT_ARM_LITERALS];
	unsigned literal_loads[LITIFUT_ARM_LITERALS]; /* offset of the ldr.w that loads each */
	unsigned literal_adds[LITIFUT_ARM_LITERALS];  /* of the `add rN, pc` that completes it */
	unsigned literal_count;
};

/* One halfword. */
void litifut_arm_put(struct litifut_arm_emitter *emitter, uint16_t value);

/* rN = value, which keeps the flags: ldr.w rN, [pc, #...]; add rN, pc */
void litifut_arm_put_value(struct litifut_arm_emitter *emitter, unsigned reg, uint32_t value);

/* b.w target */
void litifut_arm_put_branch(struct litifut_arm_emitter *emitter, uint32_t target);

/* Does what the displaced instruction did; a branch is left without its offset. */
void litifut_arm_put_displaced(struct litifut_arm_emitter *emitter,
			       const struct litifut_arm_displaced *displaced,
			       const struct litifut_arm_analysis *analysis, bool lr_is_free);

/* Lets the 16-bit branch at `test` go to where the code stands now. */
void litifut_arm_land(struct litifut_arm_emitter *emitter, unsigned test,
		      uint16_t branch_without_offset);

/* What values were loaded from; the size is a multiple of 4 then. */
void litifut_arm_put_literals(struct litifut_arm_emitter *emitter);

#endif
