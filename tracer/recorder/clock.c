/* The clock of timed events. */

#include "tracer/recorder/clock.h"

#include <stddef.h>

#include "tracer/port/linux/system.h"
#include "tracer/port/linux/vdso.h"
#include "tracer/recorder/state.h"

#define LITIFUT_SECOND_NS 1000000000u

uint64_t litifut_nanoseconds(uint32_t clock)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t time[2] = {0, 0};

	if (!r->clock_gettime || r->clock_gettime(clock, time))
		LITIFUT_CALL2(clock_gettime, clock, time);
	return (uint64_t)time[0] * LITIFUT_SECOND_NS + time[1];
}

void litifut_clock_start(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	r->clock_gettime =
		(long (*)(uint32_t, uint32_t *))litifut_vdso_function("__vdso_clock_gettime");
	r->clock = r->settings.clock;
	if (r->clock == LITIFUT_CLOCK_UNSET)
		r->clock = r->clock_gettime ? LITIFUT_CLOCK_MONOTONIC : LITIFUT_CLOCK_NONE;
	/* A CPU without a counter that programs may read (the kernel's own code in
	 * the vDSO does not then either), or with one of 32 bits that goes round
	 * in seconds: the header tells what was taken. */
	if (r->clock == LITIFUT_CLOCK_CYCLE && !(r->features.counter && r->clock_gettime))
		r->clock = LITIFUT_CLOCK_MONOTONIC;
}

uint64_t litifut_clock_now(void)
{
	if (litifut_recorder.clock == LITIFUT_CLOCK_CYCLE)
		return litifut_port_counter();
	return litifut_nanoseconds(1);
}
