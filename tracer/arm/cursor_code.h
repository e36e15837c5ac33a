/* How code of a module finds the cursor of its thread, and what takes its place where no thunk may
 * look for one any more (tracer/port/linux/withdraw.c). Both have the same length, and the second
 * finds no cursor, so that each event goes the long way. Thunks (rewriter/arm/thunk.c) and the code
 * of branches (bits.S) are T32 code; thunks for CPUs before ARMv7 look at a word of their module,
 * `fast_ok`. */
#ifndef LITIFUT_TRACER_CURSOR_CODE_H
#define LITIFUT_TRACER_CURSOR_CODE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint16_t litifut_code_unit;

#define LITIFUT_CURSOR_CODE_UNITS 5

static const litifut_code_unit litifut_cursor_code[][LITIFUT_CURSOR_CODE_UNITS] = {
	/* mrc p15, 0, r1, c13, c0, 3; ldr r1, [r1]; ldrex r0, [r1, #4] */
	{0xee1d, 0x1f70, 0x6809, 0xe851, 0x0f01},
	/* the same; ldr.w r2, [r1, #4] */
	{0xee1d, 0x1f70, 0x6809, 0xf8d1, 0x2004},
	/* the same with r0: mrc; ldr; ldr.w r0, [r0, #4] */
	{0xee1d, 0x0f70, 0x6800, 0xf8d0, 0x0004},
};

static const litifut_code_unit litifut_no_cursor_code[][LITIFUT_CURSOR_CODE_UNITS] = {
	/* nop.w; nop; mov.w r0, #0 */
	{0xf3af, 0x8000, 0xbf00, 0xf04f, 0x0000},
	/* nop.w; nop; mov.w r2, #0 */
	{0xf3af, 0x8000, 0xbf00, 0xf04f, 0x0200},
	/* nop.w; nop; mov.w r0, #0 */
	{0xf3af, 0x8000, 0xbf00, 0xf04f, 0x0000},
};

/* Is it the first unit of that code? */
static inline bool litifut_may_find_cursor(litifut_code_unit unit)
{
	return unit == litifut_cursor_code[0][0];
}

/* What stands in the place of the code, which may be put into `room`; NULL: it is other code. */
static inline const litifut_code_unit *litifut_cursor_none(const volatile litifut_code_unit *code,
							   litifut_code_unit *room)
{
	(void)room;
	for (uint32_t i = 0; i < sizeof(litifut_cursor_code) / sizeof(*litifut_cursor_code); i++) {
		uint32_t j = 0;

		while (j < LITIFUT_CURSOR_CODE_UNITS && code[j] == litifut_cursor_code[i][j])
			j++;
		if (j == LITIFUT_CURSOR_CODE_UNITS)
			return litifut_no_cursor_code[i];
	}
	return 0;
}

#endif
