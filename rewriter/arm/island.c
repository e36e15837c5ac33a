/* Islands: jumps to the tracer, within reach of far call sites. */
#include "rewriter/arm/arm.h"

/* An island must not lose a register, and the only way to put a far address
 * into the pc without one is through the stack:
 *
 *   0  sub  sp, sp, #4          room for the target
 *   4  push {r12}
 *   8  ldr  r12, [pc, #8]       the word at 24
 *  12  add  r12, r12, pc        pc = 20
 *  16  str  r12, [sp, #4]
 *  20  pop  {r12, pc}
 *  24  .word entry - (address + 20)
 *  28  udf                      never reached; fills up to a multiple of 8
 *
 * once for each entry point. */
void litifut_arm_write_island(const struct litifut_arch_context *context, uint32_t address,
			      const uint32_t *entries, uint8_t *code, uint32_t *island_entries)
{
	const unsigned bytes = LITIFUT_ARM_ISLAND_BYTES / LITIFUT_ARM_ENTRIES;

	(void)context;
	for (unsigned i = 0; i < LITIFUT_ARM_ENTRIES; i++, address += bytes, code += bytes) {
		const uint32_t words[LITIFUT_ARM_ISLAND_BYTES / LITIFUT_ARM_ENTRIES / 4] = {
			0xe24dd004,
			0xe52dc004,
			0xe59fc008,
			0xe08cc00f,
			0xe58dc004,
			0xe8bd9000,
			entries[i] - (address + 20),
			0xe7f000f0,
		};

		for (size_t word = 0; word < sizeof(words) / sizeof(*words); word++)
			litifut_put32(false, code + 4 * word, words[word]);
		island_entries[i] = address;
	}
}
