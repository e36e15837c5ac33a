/* Does the code at a return point lead to where a return comes from? See
 * rewriter/mips/exit.c, which writes it. */
#ifndef LITIFUT_TRACER_RETURN_POINT_H
#define LITIFUT_TRACER_RETURN_POINT_H

#include <litifut/module_format.h>
#include <stdbool.h>
#include <stdint.h>

/* Of trampolines with a number: so far apart (LITIFUT_MIPS_TRAMPOLINE_BYTES of the rewriter), and
 * so many bytes of them in a table. */
#define LITIFUT_NUMBERED_BYTES 16u
#define LITIFUT_TABLE_BYTES (LITIFUT_NUMBERED_BYTES << 16)

/* `exit` is what a call in the trampoline leaves in ra, which is 8 bytes behind its start. Both are
 * in `module`. */
static inline bool litifut_port_returns_by(const struct litifut_module *module,
					   uint32_t return_address, uint32_t exit)
{
	const volatile uint32_t *code = (const volatile uint32_t *)return_address;
	uint32_t word = code[0];
	uint32_t next = return_address + 4;
	uint32_t behind =
		exit - 8 - (module->trampolines_start + (uint32_t)module - module->link_address);

	if (word >> 26 == 2) /* j */
		return ((next & 0xf0000000) | (word & 0x03ffffff) << 2) == exit - 8;
	if (word >> 16 != 0x1000) /* b */
		return false;
	/* through an island, with the number of the trampoline, in its table, in the delay slot */
	if (code[1] >> 16 == 0x3c01)
		return (behind - code[1] * LITIFUT_NUMBERED_BYTES) % LITIFUT_TABLE_BYTES == 0;
	return next + ((((word & 0xffff) ^ 0x8000) - 0x8000) << 2) == exit - 8;
}

#endif
