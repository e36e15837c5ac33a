/* The end of a trace: at exit, and whenever recording is switched off. */

#include "tracer/recorder/finish.h"

#include <stddef.h>

#include "tracer/recorder/flags.h"
#include "tracer/recorder/marks.h"
#include "tracer/recorder/own_stack.h"
#include "tracer/recorder/scratch.h"
#include "tracer/recorder/state.h"
#include "tracer/sink/chunks.h"
#include "tracer/sink/copies.h"

void litifut_trace_snapshot(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	litifut_scratch_count_all();
	if (!litifut_is_written(r->file.header))
		return;
	litifut_flags_save();
	litifut_save_all();
	litifut_maps_write(&r->file);
	litifut_files_carry();
}

void litifut_trace_finish(void)
{
	if (LITIFUT_WITH_MARKS)
		litifut_on_own_stack(litifut_marks_end, NULL);
	litifut_recorder.file.header->state = LITIFUT_TRACE_STOPPED;
	litifut_trace_snapshot();
}
