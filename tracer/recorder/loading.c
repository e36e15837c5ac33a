/* Modules that come and go: what thunks need before they can run, and the end of an
 * epoch or of the trace. */

#include "tracer/recorder/loading.h"

#include <litifut/module_format.h>
#include <stddef.h>

#include "tracer/port/linux/fork.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/fast.h"
#include "tracer/recorder/finish.h"
#include "tracer/recorder/flags.h"
#include "tracer/recorder/module_list.h"
#include "tracer/recorder/modules.h"
#include "tracer/recorder/process.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table.h"
#include "tracer/recorder/threads.h"
#include "tracer/sink/metadata.h"

#define LITIFUT_PUBLIC __attribute__((visibility("default")))

/* Thunks do not ask whether their module is known, so it is made known before
 * they can run. */
LITIFUT_PUBLIC void litifut_module_enter(struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;

	if (r->phase == LITIFUT_PHASE_OFF || !litifut_process_ready(module))
		return;
	litifut_module_announce(module);
	if (!r->thunks && litifut_fork_start(module)) {
		r->thunks = 1;
		litifut_update_fast();
	}
}

/* At exit each module comes here, the executable first and the libraries in
 * reverse order of need; with dlclose, the one that goes. The trace ends with
 * the last. Only a library that is unloaded before the executable ends is recorded as
 * unloaded: afterwards the program is ending, and other threads may still run
 * code of modules that have been here. */
LITIFUT_PUBLIC void litifut_module_leave(struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;

	/* Nothing could be recorded so far: the last chance to say how much that was. */
	if (r->phase == LITIFUT_PHASE_NEW && r->lost_early &&
	    module->flags & LITIFUT_MODULE_EXECUTABLE) {
		r->retry_at = 0;
		if (litifut_process_ready(module))
			litifut_module_announce(module);
	}
	if (r->phase != LITIFUT_PHASE_READY || r->file.process != litifut_process_id() ||
	    !module->serial)
		return;
	if (module->flags & LITIFUT_MODULE_EXECUTABLE)
		r->exiting = 1;
	litifut_flags_save_module(module);
	litifut_modules_change(module, NULL);
	if (!r->exiting) {
		uint32_t words[3] = {LITIFUT_CONTROL_WORD(LITIFUT_WORD_UNLOAD, 2), module->serial};

		litifut_tables_unload(module);
		words[2] = litifut_add(&r->epoch, 1) + 1;
		litifut_metadata_put(words, 3);
		/* every thread records the new epoch with its next event */
		litifut_threads_recheck();
		litifut_threads_disarm();
		litifut_fork_end(module);
	}
	if (litifut_add(&r->modules_live, UINT32_MAX) == 1)
		litifut_trace_finish();
}
