/* How code of a module finds the cursor of its thread, and what takes its place where no thunk may
 * look for one any more (tracer/port/linux/withdraw.c). Both have the same length, and the second
 * finds no cursor, so that each event goes the long way. The code is that of thunks (thunk.S,
 * rewriter/mips/thunk.c) and of branches (bits.S). */
#ifndef LITIFUT_TRACER_CURSOR_CODE_H
#define LITIFUT_TRACER_CURSOR_CODE_H

#include <stdint.h>

typedef uint32_t litifut_code_unit;

#define LITIFUT_CURSOR_CODE_UNITS 3

static const litifut_code_unit litifut_cursor_code[][LITIFUT_CURSOR_CODE_UNITS] = {
	/* rdhwr $v1, $29; lw $v1, -0x7008($v1); ll $at, 4($v1) */
	{0x7c03e83b, 0x8c638ff8, 0xc0610004},
	/* the same; lw $v1, 4($v1) */
	{0x7c03e83b, 0x8c638ff8, 0x8c630004},
};

static const litifut_code_unit litifut_cursor_none[][LITIFUT_CURSOR_CODE_UNITS] = {
	/* nop; nop; move $at, $zero */
	{0, 0, 0x00000825},
	/* nop; nop; move $v1, $zero */
	{0, 0, 0x00001825},
};

#endif
