/* What a table with times has besides the table: its clock, what the tracer adds to a call, and
 * the calls that have not returned. */
#include <litifut/firmware_pool.h>

#include "tracer/sink/frames/frames.h"

extern HIDDEN struct litifut_calibration litifut_calibration;
extern HIDDEN uint32_t litifut_pool[POOL_BYTES / 4];
extern HIDDEN uint32_t litifut_open[];
extern HIDDEN uint32_t litifut_open_end[];
/* Not an address but a number. */
extern HIDDEN char litifut_clock_hertz[];

HIDDEN uint32_t litifut_clock_read(void);

/* Which record an address is of: see 'O' in <litifut/frames_format.h>. */
static uint32_t litifut_name_of(const uint32_t *record)
{
	const uint32_t words = (uint32_t)(litifut_table_end - litifut_table);

	if (!record)
		return 0;
	if (record >= litifut_table && record < litifut_table_end)
		return (uint32_t)(record - litifut_table) + 1;
	return (uint32_t)(record - litifut_overflow) + words + 1;
}

/* Both are read once: the call may return meanwhile, and another one take its place. */
static void litifut_send_open(const volatile uint32_t *open)
{
	uint32_t start = open[OPEN_START / 4];
	uint32_t name = litifut_name_of((const uint32_t *)(uintptr_t)open[OPEN_RECORD / 4]);

	litifut_frame_add(name);
	if (name)
		litifut_frame_add(litifut_clock_read() - start);
}

bool litifut_send_times(void)
{
	const uint32_t entries = (uint32_t)(litifut_open_end - litifut_open) / (OPEN_BYTES / 4);
	uint32_t i = litifut_frame.next;

	if (!i) {
		litifut_frame_begin(LITIFUT_FRAME_TIMES);
		litifut_frame_add((uint32_t)(uintptr_t)litifut_clock_hertz);
		litifut_frame_add(litifut_calibration.calls);
		litifut_frame_add(litifut_calibration.inside);
		litifut_frame_add(litifut_calibration.whole);
		litifut_frame_add(((const volatile uint32_t *)litifut_pool)[POOL_UNTIMED / 4]);
		litifut_frame_add(entries);
		litifut_frame.next = 1;
		return entries != 0;
	}
	i--;
	litifut_frame_begin(LITIFUT_FRAME_OPEN);
	litifut_frame_add(i);
	for (; i < entries && litifut_frame_has_room(2); i++)
		litifut_send_open(litifut_open + OPEN_BYTES / 4 * i);
	litifut_frame.next = (uint16_t)(i + 1);
	return i < entries;
}
