/* What another process asks for through the mapped header (`litifut control`). It is looked
 * at whenever a thread needs another chunk, a scratch chunk as well, so a process that makes
 * no calls does not see it. */

#include "tracer/recorder/control.h"

#include <stddef.h>

#include "tracer/recorder/finish.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/switch.h"

void litifut_control_follow(uint32_t request)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t seen = *(volatile uint32_t *)&r->control_seen;

	/* one thread does it */
	if (seen == request || !litifut_exchange(&r->control_seen, seen, request))
		return;
	switch (request & 0xff) {
	case LITIFUT_REQUEST_START:
		litifut_start_recording(NULL);
		break;
	case LITIFUT_REQUEST_STOP:
		litifut_stop_recording(NULL);
		break;
	case LITIFUT_REQUEST_SNAPSHOT:
		litifut_trace_snapshot();
		break;
	case LITIFUT_REQUEST_RESET:
		litifut_add(&r->resets, 1); /* each thread follows when its chunk is full */
		break;
	default:
		break;
	}
	litifut_port_barrier(r->features);
	*(volatile uint32_t *)&r->file.header->control.done = request;
}
