/* From ticks to nanoseconds. */
#include "postproc/model/clock.h"

bool post_clock_runs(const struct post_process *process)
{
	const struct litifut_trace_header *header = &process->trace->header;

	/* Counters have no times, whatever clock the recorder was set to; a program may record
	 * calls beside those of a library, which is the first module. */
	return header->clock != LITIFUT_CLOCK_NONE &&
	       (header->mode != LITIFUT_MODE_COUNTS || process->trace->chunk_count);
}

uint64_t post_clock_hertz(const struct post_process *process)
{
	const struct litifut_trace_header *header = &process->trace->header;

	return header->clock == LITIFUT_CLOCK_MONOTONIC ? 1000000000u : header->clock_hertz;
}

uint64_t post_clock_ns(const struct post_process *process, uint64_t ticks)
{
	const struct litifut_trace_header *header = &process->trace->header;

	if (header->clock == LITIFUT_CLOCK_MONOTONIC)
		return ticks;
	uint64_t first = process->trace->chunk_count ? process->trace->chunks[0].start_time : 0;
	uint64_t since = ticks > first ? ticks - first : 0;
	uint64_t hertz = header->clock_hertz ? header->clock_hertz : 1000000000u;
	uint64_t seconds = since / hertz, rest = since % hertz;
	return header->start_monotonic_ns + seconds * 1000000000u +
	       (uint64_t)((double)rest * 1e9 / (double)hertz);
}
