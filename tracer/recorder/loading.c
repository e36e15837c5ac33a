/* Modules that come and go: what thunks need before they can run, and the end of an
 * epoch or of the trace. */

#include "tracer/recorder/loading.h"

#include <litifut/module_format.h>
#include <stddef.h>

#include "tracer/port/linux/confine.h"
#include "tracer/port/linux/files.h"
#include "tracer/port/linux/fork.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/bits.h"
#include "tracer/recorder/fast.h"
#include "tracer/recorder/finish.h"
#include "tracer/recorder/flags.h"
#include "tracer/recorder/module_list.h"
#include "tracer/recorder/modules.h"
#include "tracer/recorder/process.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/switch.h"
#include "tracer/recorder/table.h"
#include "tracer/recorder/table_words.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/threads.h"
#include "tracer/sink/metadata.h"

#define LITIFUT_PUBLIC __attribute__((visibility("default")))

/* LITIFUT_SYSCALLS=never where no event comes that could confine the process. All libraries that
 * were linked in have been announced before the executable. */
static void litifut_confine_flags(const struct litifut_module *module)
{
	if (!litifut_recorder.settings.no_calls || !litifut_is_flags() ||
	    !(module->flags & LITIFUT_MODULE_EXECUTABLE))
		return;
	litifut_flags_save();
	litifut_confine(0);
	litifut_confine_now();
}

/* The same of LITIFUT_MODE=paths. A thread that is not armed yet will be with its next event, which
 * then confines the process. */
static void litifut_confine_bits(void)
{
	const struct litifut_thread *thread;

	if (!litifut_is_bits() || !litifut_recorder.thunks || !litifut_bits_never)
		return;
	litifut_recorder.settings.no_calls = 1;
	thread = litifut_thread_find(litifut_thread_id());
	if (!thread || !thread->armed)
		return;
	litifut_confine_when_due();
	litifut_confine_now();
}

/* The same where calls are recorded. Where thunks record them, the next event arms the thread, and
 * then confines the process. */
static void litifut_confine_calls(void)
{
	const struct litifut_recorder *r = &litifut_recorder;

	if (!r->settings.no_calls || litifut_is_flags() || r->fast < LITIFUT_FAST_LOOKUP ||
	    r->fast == LITIFUT_FAST_THUNKS)
		return;
	litifut_confine_when_due();
	litifut_confine_now();
}

/* Thunks do not ask whether their module is known, so it is made known before
 * they can run. */
LITIFUT_PUBLIC void litifut_module_enter(struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;

	if (r->phase == LITIFUT_PHASE_OFF || !litifut_process_ready(module)) {
		litifut_elsewhere(LITIFUT_ELSEWHERE_ENTER, module);
		return;
	}
	litifut_module_announce(module);
	if (!r->thunks && litifut_fork_start(module)) {
		r->thunks = 1;
		litifut_update_fast();
	}
	if (!LITIFUT_STREAM_ONLY) {
		litifut_confine_flags(module);
		litifut_confine_bits();
	}
	litifut_confine_calls();
}

/* At exit each module comes here, the executable first and the libraries in
 * reverse order of need; with dlclose, the one that goes. The trace ends with
 * the last. Only a library that is unloaded before the executable ends is recorded as
 * unloaded: afterwards the program is ending, and other threads may still run
 * code of modules that have been here. */
static void litifut_leave(struct litifut_module *module)
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

		litifut_flags_close(module);
		litifut_tables_unload(module);
		words[2] = litifut_add(&r->epoch, 1) + 1;
		litifut_metadata_put(words, 3);
		/* every thread records the new epoch with its next event */
		litifut_threads_recheck();
		litifut_threads_disarm();
		litifut_fork_end(module);
		litifut_signal_end(module);
	}
	if (litifut_add(&r->modules_live, UINT32_MAX) != 1)
		return;
	litifut_trace_finish();
	/* The recorder may go with the module, and a program may load and unload such a library
	 * more often than it may have descriptors. */
	if (!r->exiting)
		litifut_files_close();
}

/* Where a process gives up system calls is not seen in modes without calls. So none is made at the
 * end of the program where nothing needs one; also not to ask whether this is the process that has
 * begun the trace. */
LITIFUT_PUBLIC void litifut_module_leave(struct litifut_module *module)
{
	const uint32_t forbidden = litifut_system_calls_forbidden;

	if (litifut_elsewhere(LITIFUT_ELSEWHERE_LEAVE, module))
		return;
	if (LITIFUT_STREAM_ONLY || !(litifut_is_flags() || litifut_is_bits())) {
		litifut_leave(module);
		return;
	}
	if (litifut_recorder.phase == LITIFUT_PHASE_READY &&
	    (module->flags & LITIFUT_MODULE_EXECUTABLE || litifut_recorder.exiting) &&
	    litifut_ends_quietly())
		litifut_system_calls_forbidden = 1;
	litifut_leave(module);
	litifut_system_calls_forbidden = forbidden;
}
