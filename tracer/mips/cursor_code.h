/* How code of a module finds the cursor of its thread, and what takes its place where no thunk may
 * look for one any more (tracer/port/linux/withdraw.c). Both have the same length, and the second
 * finds no cursor, so that each event goes the long way. The code is that of thunks (thunk.S,
 * rewriter/mips/thunk.c) and of branches (bits.S, rewriter/mips/edge_bits.c). */
#ifndef LITIFUT_TRACER_CURSOR_CODE_H
#define LITIFUT_TRACER_CURSOR_CODE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t litifut_code_unit;

#define LITIFUT_CURSOR_CODE_UNITS 3

/* What the first one is, with any register */
static inline bool litifut_may_find_cursor(litifut_code_unit unit)
{
	return (unit & ~0x1f0000u) == 0x7c00e83b; /* rdhwr X, $29 */
}

/* What stands in the place of the code, which may be put into `room`; NULL: it is other code. */
static inline const litifut_code_unit *litifut_cursor_none(const volatile litifut_code_unit *code,
							   litifut_code_unit *room)
{
	const uint32_t number = code[0] >> 16 & 31;
	const uint32_t both = number << 21 | number << 16;

	if (!litifut_may_find_cursor(code[0]) ||
	    code[1] != (0x8c008ff8 | both)) /* lw X, -0x7008(X) */
		return 0;
	room[0] = room[1] = 0; /* nop */
	if (code[2] == 0xc0610004)
		room[2] = 0x00000825; /* ll $at, 4($v1): move $at, $zero */
	else if (code[2] == (0x8c000004 | both))
		room[2] = 0x00000025 | number << 11; /* lw X, 4(X): move X, $zero */
	else
		return 0;
	return room;
}

#endif
