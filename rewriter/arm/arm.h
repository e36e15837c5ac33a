/* Between the files of the ARM back end. */
#ifndef LITIFUT_REWRITER_ARM_ARM_H
#define LITIFUT_REWRITER_ARM_ARM_H

#include "cpu/arm/arm.h"
#include "rewriter/arch.h"

extern const struct litifut_arch litifut_arch_arm;

void litifut_arm_write_island(const struct litifut_arch_context *context, uint32_t address,
			      const uint32_t *entries, uint8_t *code, uint32_t *island_entries);

/* Bytes of one island, see litifut_arm_write_island(). */
#define LITIFUT_ARM_ISLAND_BYTES 288

/* Indices into the entry points of the tracer. */
#define LITIFUT_ARM_ENTRY_CALL 0
#define LITIFUT_ARM_ENTRY_TAIL 1
#define LITIFUT_ARM_ENTRY_THUNK 2
#define LITIFUT_ARM_ENTRY_THUNK_TAIL 3
#define LITIFUT_ARM_ENTRY_LR 4 /* see litifut_arm_lr_write() */
/* In the tracer for images that may run on CPUs before ARMv7. */
#define LITIFUT_ARM_ENTRY_SHARED 5
#define LITIFUT_ARM_ENTRY_SHARED_TAIL 6
#define LITIFUT_ARM_ENTRY_POINTER 7
#define LITIFUT_ARM_ENTRY_POINTER_TAIL 8
#define LITIFUT_ARM_ENTRIES 9

#endif
