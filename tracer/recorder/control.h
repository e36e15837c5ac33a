/* What another process asks for through the mapped header. */
#ifndef LITIFUT_TRACER_CONTROL_H
#define LITIFUT_TRACER_CONTROL_H

#include "tracer/recorder/state.h"

/* Follows a request that has not been followed yet. */
void litifut_control_follow(uint32_t request) __attribute__((visibility("hidden")));

/* Looks for one; the process is ready. */
static inline void litifut_control_look(void)
{
	const struct litifut_control *control = &litifut_recorder.file.header->control;
	uint32_t request = *(const volatile uint32_t *)&control->request;

	if (__builtin_expect(request != *(const volatile uint32_t *)&control->done, 0))
		litifut_control_follow(request);
}

#endif
