/* Between the files of the ARM back end. Manual: ARM Architecture Reference
 * Manual ARMv7-A and ARMv7-R edition (DDI 0406C), sections as given. */
#ifndef LITIFUT_REWRITER_ARM_ARM_H
#define LITIFUT_REWRITER_ARM_ARM_H

#include "rewriter/arch.h"

/* See struct litifut_arch for what each does. */
uint32_t litifut_arm_skip(const struct litifut_arch_context *context, const uint8_t *code,
			  uint32_t available, enum litifut_code_state state, uint64_t *before);
unsigned litifut_arm_decode(const struct litifut_arch_context *context, const uint8_t *code,
			    size_t available, uint32_t address, enum litifut_code_state state,
			    struct litifut_instruction *instruction);
void litifut_arm_link(const struct litifut_instruction *setter, bool adjacent,
		      struct litifut_instruction *branch);
enum litifut_status litifut_arm_code_ranges(const struct litifut_image *image,
					    const struct litifut_section *section,
					    struct litifut_code_range **ranges, size_t *count,
					    struct litifut_error *error);
bool litifut_arm_encode_call(const struct litifut_arch_context *context,
			     const struct litifut_instruction *instruction, uint32_t address,
			     uint32_t entry, uint8_t *code);
void litifut_arm_write_island(const struct litifut_arch_context *context, uint32_t address,
			      const uint32_t *entries, uint8_t *code, uint32_t *island_entries);

/* True when a 32-bit T32 instruction starts with this halfword (A6.1). */
bool litifut_arm_thumb_is_wide(uint16_t first);

/* How many instructions this one, if it is an `it`, makes conditional; 0: it is none. */
unsigned litifut_arm_it_length(uint16_t half);

/* Does .ARM.attributes allow Thumb-2 (`bytes` of it, may be NULL)? */
bool litifut_arm_attributes_thumb2(const uint8_t *bytes, uint32_t size);

/* Do they say that all code is for ARMv7 or later? False without attributes. */
bool litifut_arm_attributes_v7(const uint8_t *bytes, uint32_t size);

/* Bytes of one island, see litifut_arm_write_island(). */
#define LITIFUT_ARM_ISLAND_BYTES 160

/* Indices into the entry points of the tracer. */
#define LITIFUT_ARM_ENTRY_CALL 0
#define LITIFUT_ARM_ENTRY_TAIL 1
#define LITIFUT_ARM_ENTRY_THUNK 2
#define LITIFUT_ARM_ENTRY_THUNK_TAIL 3
#define LITIFUT_ARM_ENTRY_LR 4 /* see litifut_arm_lr_write() */
#define LITIFUT_ARM_ENTRIES 5

/* A `blx lr`, whose callee stands where its return address will. */
static inline bool litifut_arm_is_blx_lr(const struct litifut_instruction *instruction)
{
	return instruction->class == LITIFUT_CLASS_CALL_INDIRECT &&
	       instruction->target_register == 14 && instruction->linked == LITIFUT_LINKED_NOT;
}

#endif
