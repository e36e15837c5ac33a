/* Between the files of cpu/arm, and for rewriter/arm. Manual: ARM Architecture Reference
 * Manual ARMv7-A and ARMv7-R edition (DDI 0406C), sections as given. */
#ifndef LITIFUT_CPU_ARM_ARM_H
#define LITIFUT_CPU_ARM_ARM_H

#include "cpu/cpu.h"

extern const struct cpu cpu_arm;

/* `facts` of struct cpu_context. */
struct litifut_arm_facts {
	bool short_thumb_branches; /* Thumb without Thumb-2: bl reaches +-4 MB only */
	bool shares_thunks; /* it may run on CPUs before ARMv7: rewriter/arm/thunk_shared.c */
};

static inline bool litifut_arm_short_branches(const struct cpu_context *context)
{
	const struct litifut_arm_facts *facts = context->facts;

	return facts && facts->short_thumb_branches;
}

static inline bool litifut_arm_shares_thunks(const struct cpu_context *context)
{
	const struct litifut_arm_facts *facts = context->facts;

	return facts && facts->shares_thunks;
}

/* See struct cpu for what each does. */
cpu_place_parameters litifut_arm_place_parameters;
uint32_t litifut_arm_find_exclusive(const struct cpu_context *context, const uint8_t *code,
				    uint32_t available, enum litifut_code_state state);
uint32_t litifut_arm_skip(const struct cpu_context *context, const uint8_t *code,
			  uint32_t available, enum litifut_code_state state, uint64_t *before);
unsigned litifut_arm_track(const struct cpu_context *context, const uint8_t *code, size_t available,
			   enum litifut_code_state state, struct cpu_frame *frame);
unsigned litifut_arm_decode(const struct cpu_context *context, const uint8_t *code,
			    size_t available, uint32_t address, enum litifut_code_state state,
			    struct litifut_instruction *instruction);
unsigned litifut_arm_step(const struct cpu_context *context, const uint8_t *code, size_t available,
			  uint32_t address, enum litifut_code_state state, unsigned *block,
			  struct cpu_step *step);
void litifut_arm_link(const struct litifut_instruction *setter, bool adjacent,
		      struct litifut_instruction *branch);
bool litifut_arm_encode_call(const struct cpu_context *context,
			     const struct litifut_instruction *instruction, uint32_t address,
			     uint32_t entry, uint8_t *code);
struct litifut_lead litifut_arm_follow(const struct litifut_code_reader *code, uint32_t address);
bool litifut_arm_mapping(const char *name, enum litifut_code_state *state);
uint32_t litifut_arm_site_before(uint32_t return_address);
struct litifut_site litifut_arm_site_of_entry(struct litifut_db_entry entry);
extern const struct cpu_objects litifut_objects_arm;

/* True when a 32-bit T32 instruction starts with this halfword (A6.1). */
bool litifut_arm_thumb_is_wide(uint16_t first);

/* How many instructions this one, if it is an `it`, makes conditional; 0: it is not one. */
unsigned litifut_arm_it_length(uint16_t half);

/* Of v8.1-M, whose manual is DDI 0553: branches of loops whose counter is lr. `le lr`, `letp` lead
 * back to the start of the loop while there is something to do, `wls`, `wlstp` past it if there is
 * not. `le` without lr is always taken. */
static inline bool litifut_arm_ends_loop(uint32_t word)
{
	return (word & 0xffeff001) == 0xf00fc001;
}

static inline bool litifut_arm_begins_loop(uint32_t word)
{
	return (word & 0xff80f001) == 0xf000c001 && (word >> 16 & 15) != 15 &&
	       (word >> 20 & 7) <= 4;
}

/* How many instructions this one of 4 bytes, if it is a `vpt` or `vpst` of v8.1-M, predicates; 0:
 * it is not one. None of them is a branch, and the flags do not matter to them. */
unsigned litifut_arm_vpt_length(uint32_t word);

/* How many instructions this one, `it`, `vpt` or `vpst`, holds together with itself. */
static inline unsigned litifut_arm_block_length(uint32_t word, unsigned length)
{
	return length == 2 ? litifut_arm_it_length((uint16_t)word) : litifut_arm_vpt_length(word);
}

/* Does .ARM.attributes allow Thumb-2 (`bytes` of it, may be NULL)? */
bool litifut_arm_attributes_thumb2(const uint8_t *bytes, uint32_t size);

/* Do they say that all code is for ARMv7 or later? False without attributes. */
bool litifut_arm_attributes_v7(const uint8_t *bytes, uint32_t size);

/* Do they say that the code is for a Cortex-M, and which instructions does that have? */
enum litifut_arm_microcontroller {
	LITIFUT_ARM_NO_MICROCONTROLLER,
	LITIFUT_ARM_BASELINE, /* v6-M, v8-M Baseline */
	LITIFUT_ARM_MAINLINE  /* v7-M, v7E-M, v8-M Mainline and later */
};

enum litifut_arm_microcontroller litifut_arm_attributes_microcontroller(const uint8_t *bytes,
									uint32_t size);

/* A `blx lr`, whose callee stands where its return address will. */
static inline bool litifut_arm_is_blx_lr(const struct litifut_instruction *instruction)
{
	return instruction->class == LITIFUT_CLASS_CALL_INDIRECT &&
	       instruction->target_register == 14 && instruction->linked == LITIFUT_LINKED_NOT;
}

#endif
