/* Does the code at a return point lead to where a return comes from? See
 * rewriter/arm/exit.c, which writes it. Pure but for the reading of code. */
#ifndef LITIFUT_TRACER_RETURN_POINT_H
#define LITIFUT_TRACER_RETURN_POINT_H

#include <litifut/module_format.h>
#include <stdbool.h>
#include <stdint.h>

/* Where an unconditional branch of T32 code at `address` leads; 0: it is not one. DDI 0406C
 * A8.8.18, encodings T2 and T4. */
static inline uint32_t litifut_thumb_branch(uint16_t first, uint16_t second, uint32_t address)
{
	uint32_t sign = first >> 10 & 1;
	uint32_t offset;

	if (first >> 11 == 0x1c) {
		offset = (uint32_t)(first & 0x7ff) << 1;
		return address + 4 + offset - ((offset & 0x800) << 1);
	}
	if (first >> 11 != 0x1e || (second & 0xd000) != 0x9000)
		return 0;
	offset = (uint32_t)(first & 0x3ff) << 12 | (uint32_t)(second & 0x7ff) << 1;
	offset |= (~((uint32_t)second >> 13 ^ sign) & 1) << 23;
	offset |= (~((uint32_t)second >> 11 ^ sign) & 1) << 22;
	return address + 4 + offset - (sign << 24);
}

/* `exit` is what a call in the trampoline leaves in lr, which is 4 bytes behind its start. Both are
 * in `module`. */
static inline bool litifut_port_returns_by(const struct litifut_module *module,
					   uint32_t return_address, uint32_t exit)
{
	uint32_t at = return_address & ~1u;
	uint32_t trampoline = (exit & ~1u) - 4;

	(void)module;
	if (!(return_address & 1)) {
		uint32_t word = *(const volatile uint32_t *)at;
		uint32_t offset = (word & 0xffffff) << 2;

		return word >> 24 == 0xea &&
		       at + 8 + offset - ((offset & 0x2000000) << 1) == trampoline;
	}
	/* directly, or through a stepping stone */
	for (unsigned steps = 0; steps < 3 && at; steps++) {
		const volatile uint16_t *code = (const volatile uint16_t *)at;
		uint16_t first = code[0];

		at = litifut_thumb_branch(first, first >> 11 == 0x1e ? code[1] : 0, at);
		if (at == trampoline)
			return true;
	}
	return false;
}

#endif
