/* The clock of timed events. */

#include "tracer/recorder/clock.h"

#include <litifut/clock_page.h>
#include <litifut/module_format.h>
#include <stddef.h>

#include "tracer/port/linux/system.h"
#include "tracer/port/linux/vdso.h"
#include "tracer/recorder/state.h"

#define LITIFUT_SECOND_NS 1000000000u

uint64_t litifut_nanoseconds(uint32_t clock)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t time[2] = {0, 0};

	/* it stands still where asking for it may be a system call */
	if (litifut_system_calls_forbidden && !(LITIFUT_PORT_VDSO_IS_QUIET && r->clock_gettime))
		return r->frozen;
	if (!r->clock_gettime || r->clock_gettime(clock, time))
		LITIFUT_CALL2(clock_gettime, clock, time);
	return (uint64_t)time[0] * LITIFUT_SECOND_NS + time[1];
}

/* The test's clock: the plugin fills the page once it is there. */
static bool litifut_page_clock_start(void)
{
	return litifut_map(LITIFUT_CLOCK_PAGE_ADDRESS, litifut_recorder.page_bytes,
			   PROT_READ | PROT_WRITE, -1, 0) == (long)LITIFUT_CLOCK_PAGE_ADDRESS;
}

static uint64_t litifut_page_clock_now(void)
{
	return *(volatile uint64_t *)LITIFUT_CLOCK_PAGE_ADDRESS;
}

void litifut_clock_start(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;

	r->clock_gettime =
		(long (*)(uint32_t, uint32_t *))litifut_vdso_function("__vdso_clock_gettime");
	r->clock = r->settings.clock;
	/* Best is the one that the thunks of the program read. */
	if (r->clock == LITIFUT_CLOCK_UNSET && LITIFUT_MODULE_HAS(module, clock) && module->clock)
		r->clock = module->clock;
	if (r->clock == LITIFUT_CLOCK_UNSET)
		r->clock = r->clock_gettime ? LITIFUT_CLOCK_MONOTONIC : LITIFUT_CLOCK_NONE;
	/* A CPU without a counter that programs may read (the kernel's own code in
	 * the vDSO does not then either), or with one of 32 bits that goes round
	 * in seconds: the header says what was taken. */
	if (r->clock == LITIFUT_CLOCK_CYCLE && !(r->features.counter && r->clock_gettime))
		r->clock = LITIFUT_CLOCK_MONOTONIC;
	if (r->clock == LITIFUT_CLOCK_PAGE && !litifut_page_clock_start())
		r->clock = LITIFUT_CLOCK_MONOTONIC;
	if (r->clock == LITIFUT_CLOCK_NONE && r->mode == LITIFUT_MODE_TABLE)
		r->clock = LITIFUT_CLOCK_MONOTONIC; /* a table is of times */
}

uint32_t litifut_clock_hertz(void)
{
	switch (litifut_recorder.clock) {
	case LITIFUT_CLOCK_CYCLE:
		return litifut_port_counter_hertz();
	case LITIFUT_CLOCK_PAGE:
		return LITIFUT_CLOCK_PAGE_HERTZ;
	default:
		return 0;
	}
}

uint64_t litifut_clock_now(void)
{
	if (litifut_recorder.clock == LITIFUT_CLOCK_PAGE)
		return litifut_page_clock_now();
	if (litifut_recorder.clock == LITIFUT_CLOCK_CYCLE)
		return litifut_port_counter();
	return litifut_nanoseconds(1);
}
