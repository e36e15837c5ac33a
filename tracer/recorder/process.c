/* The life of a trace: the first event of a process, and fork. */

#include "tracer/recorder/process.h"

#include <litifut/module_format.h>
#include <stddef.h>

#include "tracer/port/linux/auxiliary.h"
#include "tracer/port/linux/files.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/bloom.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/fast.h"
#include "tracer/recorder/modules.h"
#include "tracer/recorder/own_stack.h"
#include "tracer/recorder/settings_read.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/switch.h"
#include "tracer/recorder/text.h"
#include "tracer/recorder/threads.h"
#include "tracer/sink/chunks.h"
#include "tracer/sink/copies.h"
#include "tracer/sink/header.h"
#include "tracer/sink/metadata.h"
#include "tracer/sink/ring.h"

#define LITIFUT_SCRATCH_BYTES 16384

/* The base name of the executable; of the first module when /proc is not there. */
static void litifut_name_program(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	char path[LITIFUT_PATH_BYTES];
	const char *name = path;
	long length = LITIFUT_CALL3(readlink, "/proc/self/exe", path, sizeof(path) - 1);
	uint32_t i = 0;

	if (length <= 0) {
		name = module->name;
	} else {
		path[length] = 0;
		for (const char *at = path; *at; at++)
			if (*at == '/')
				name = at + 1;
	}
	for (; name[i] && i < sizeof(r->program) - 1; i++)
		r->program[i] = name[i] == '/' ? '_' : name[i];
	r->program[i] = 0;
}

/* Opens the trace of this process. The phase is BUSY. */
static bool litifut_trace_open(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	r->file.process = litifut_process_id();
	r->file.chunk_count = 0;
	r->file.last_number = 0;
	r->events = 0;
	r->compact = 0;
	r->scratch_busy = 0;
	r->full = 0;
	r->control_seen = 0;
	r->last_serial = 0;
	if (!litifut_trace_create(&r->file))
		return false;
	litifut_header_fill(&r->file);
	litifut_ring_start(&r->file);
	litifut_metadata_start();
	litifut_save(&r->file, (uint32_t)r->file.header, sizeof(*r->file.header));
	litifut_bloom_start();
	litifut_maps_write(&r->file);
	return true;
}

static void litifut_phase_end(bool good)
{
	struct litifut_recorder *r = &litifut_recorder;

	litifut_port_barrier(r->features);
	r->phase = good ? LITIFUT_PHASE_READY : LITIFUT_PHASE_OFF;
	litifut_update_fast();
	if (good && r->lost_early) {
		litifut_lose(r->lost_early);
		r->lost_early = 0;
	}
}

static bool litifut_process_set_up(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	long scratch = litifut_map(0, LITIFUT_SCRATCH_BYTES, PROT_READ | PROT_WRITE, -1, 0);

	if (litifut_failed(scratch))
		return false;
	litifut_name_program(module);
	litifut_settings_read(module->defaults, (char *)scratch, LITIFUT_SCRATCH_BYTES);
	litifut_unmap((uint32_t)scratch, LITIFUT_SCRATCH_BYTES);
	litifut_files_start();
	r->chunk_mask = litifut_settings_chunk_bytes() - 1;
	r->recording = !r->settings.start_off;
	r->mode = LITIFUT_MODULE_HAS(module, mode) ? module->mode : LITIFUT_MODE_CALLS;
	litifut_clock_start(module);
	if (!litifut_own_stacks_start() || !litifut_threads_start() || !litifut_trace_open())
		return false;
	litifut_signal_start();
	return true;
}

/* Brings the recorder up for this process at its first event, which comes from
 * `module`. True when it is ready. */
static bool litifut_process_start(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_signals signals;
	bool good;

	/* `features` is not known yet. All it decides is how words are exchanged,
	 * and every thread that comes here finds out the same. */
	litifut_auxiliary_read();
	litifut_signals_block(&signals);
	if (litifut_exchange(&r->phase, LITIFUT_PHASE_NEW, LITIFUT_PHASE_BUSY))
		litifut_phase_end(litifut_process_set_up(module));
	good = r->phase == LITIFUT_PHASE_READY;
	litifut_signals_restore(&signals);
	return good;
}

static bool litifut_trace_open_again(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	r->file.header = NULL; /* the parent's; stays mapped for an interrupted writer */
	if (litifut_is_trace(&r->file))
		litifut_close(r->file.descriptor);
	r->file.descriptor = -1;
	if (r->thunks)
		litifut_cursor_drop();
	litifut_threads_forget();
	litifut_own_stacks_forget();
	if (!litifut_trace_open())
		return false;
	litifut_modules_announce_again();
	return true;
}

/* A forked child starts a trace of its own. False when it must not do that, being a
 * guest in the memory of its parent. */
static bool litifut_process_forked(uint32_t process)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_signals signals;
	bool good;

	/* A child of vfork has the memory of its parent, which waits for it and
	 * must find it as it was. Where the kernel empties the table of threads
	 * in a real copy, a full one tells; elsewhere libc's id word does. */
	if (litifut_threads_in_use() && !litifut_is_libc_thread())
		return false;
	litifut_signals_block(&signals);
	/* Whoever of several threads comes first does it. The parent may have
	 * been in the middle of something of this kind in another thread, which
	 * is not here to finish it. */
	if (litifut_exchange(&r->file.process, r->file.process, process)) {
		r->phase = LITIFUT_PHASE_BUSY;
		r->fast = LITIFUT_FAST_NONE;
		r->lost_early = 0;
		litifut_phase_end(litifut_trace_open_again());
	}
	good = r->phase == LITIFUT_PHASE_READY;
	litifut_signals_restore(&signals);
	return good;
}

bool litifut_process_ready(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t process;

	if (r->phase == LITIFUT_PHASE_NEW && !litifut_process_start(module))
		return false;
	process = litifut_process_id();
	return (process == r->file.process || litifut_process_forked(process)) &&
	       r->phase == LITIFUT_PHASE_READY;
}
