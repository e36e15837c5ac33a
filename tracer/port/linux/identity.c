/* Which process and thread this is. */

#include "tracer/port/linux/system.h"
#include "tracer/recorder/state.h"

uint32_t litifut_process_id(void)
{
	return litifut_system_calls_forbidden ? litifut_recorder.file.process
					      : (uint32_t)LITIFUT_CALL0(getpid);
}

uint32_t litifut_thread_id(void)
{
	const struct litifut_recorder *r = &litifut_recorder;
	uint32_t pointer;

	if (!litifut_system_calls_forbidden)
		return (uint32_t)LITIFUT_CALL0(gettid);
	pointer = litifut_port_thread_pointer(r->features);
	return r->calibrated && pointer ? *(volatile uint32_t *)(pointer + (uint32_t)r->id_offset)
					: 0;
}
