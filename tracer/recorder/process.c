/* The life of a trace: the first event of a process, and fork. */

#include "tracer/recorder/process.h"

#include <litifut/module_format.h>
#include <stddef.h>

#include "tracer/port/linux/auxiliary.h"
#include "tracer/port/linux/confine.h"
#include "tracer/port/linux/files.h"
#include "tracer/port/linux/loaded.h"
#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/port/linux/usage.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/bits.h"
#include "tracer/recorder/bloom.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/fast.h"
#include "tracer/recorder/flags.h"
#include "tracer/recorder/modules.h"
#include "tracer/recorder/own_stack.h"
#include "tracer/recorder/probe.h"
#include "tracer/recorder/scratch.h"
#include "tracer/recorder/settings_read.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/switch.h"
#include "tracer/recorder/table.h"
#include "tracer/recorder/table_words.h"
#include "tracer/recorder/text.h"
#include "tracer/recorder/threads.h"
#include "tracer/sink/chunks.h"
#include "tracer/sink/copies.h"
#include "tracer/sink/header.h"
#include "tracer/sink/metadata.h"
#include "tracer/sink/ring.h"
#include "tracer/sink/sink.h"

#define LITIFUT_SCRATCH_BYTES 16384

/* Where descriptors or memory are short, it is tried again after so many calls, then
 * after twice as many, and so on. */
#define LITIFUT_RETRY_LEAST 64

/* The base name of the executable; of the first module when /proc is not there. */
static void litifut_name_program(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	char path[LITIFUT_PATH_BYTES];
	const char *name = module->name;
	long length = LITIFUT_CALL3(readlink, "/proc/self/exe", path, sizeof(path) - 1);
	uint32_t i = 0;

	if (length > 0) {
		path[length] = 0;
		name = path;
	}
	for (; *name; name++) {
		if (*name == '/')
			i = 0;
		else if (i < sizeof(r->program) - 1)
			r->program[i++] = *name;
	}
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
	r->resets = 0;
	r->last_serial = 0;
	r->unsaved = 0;
	if (!litifut_usage_add(LITIFUT_HEADER_BYTES) || !litifut_trace_create(&r->file))
		return false;
	litifut_header_fill(&r->file);
	litifut_ring_start(&r->file);
	litifut_metadata_start();
	litifut_save(&r->file, (uint32_t)r->file.header, sizeof(*r->file.header));
	litifut_bloom_start();
	litifut_maps_write(&r->file);
	return true;
}

/* Where no trace can be made: memory of the process stands for the header, and for no chunk there
 * is room. So every thread has a scratch chunk, as when a trace is full. */
static bool litifut_trace_nowhere(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	long header = litifut_map_memory(LITIFUT_HEADER_BYTES);

	if (litifut_failed(header))
		return false;
	r->file.header = (struct litifut_trace_header *)header;
	r->file.sink = litifut_sink_of(LITIFUT_FILE_MAP);
	r->file.first_events = 1;
	r->metadata = 0;
	r->full = LITIFUT_FULL;
	r->settings.verbose = 0; /* that nothing is recorded has been said */
	return true;
}

/* Is it a want of something that may be there later? */
static bool litifut_is_passing(long trouble)
{
	static const uint32_t errors = 1u << EMFILE | 1u << ENFILE | 1u << ENOMEM | 1u << ENOSPC |
				       1u << EAGAIN | 1u << EINTR;

	return (uint32_t)-trouble < 32 && errors >> (uint32_t)-trouble & 1;
}

/* `other`: the phase that it ends in when it could not be used. */
static void litifut_phase_end(bool good, uint32_t other)
{
	struct litifut_recorder *r = &litifut_recorder;

	litifut_port_barrier(r->features);
	r->phase = good ? LITIFUT_PHASE_READY : other;
	litifut_update_fast();
	if (good) {
		litifut_lose(r->lost_early);
		r->lost_early = 0;
	}
}

static bool litifut_process_set_up(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	long scratch = litifut_map_memory(LITIFUT_SCRATCH_BYTES);

	r->trouble = scratch;
	if (litifut_failed(scratch))
		return false;
	litifut_name_program(module);
	litifut_settings_read(module->defaults, (char *)scratch, LITIFUT_SCRATCH_BYTES);
	litifut_unmap((uint32_t)scratch, LITIFUT_SCRATCH_BYTES);
	litifut_files_start();
	r->mode = LITIFUT_MODULE_HAS(module, mode) ? module->mode : LITIFUT_MODE_CALLS;
	/* else the module is of another family, and listed */
	if ((litifut_is_table() || litifut_is_bits()) && !litifut_mode_settings())
		r->mode = LITIFUT_MODE_CALLS;
	if (litifut_is_flags()) { /* a chunk for each piece of flags, and no events */
		r->settings.bulk_kb = LITIFUT_FLAGS_PIECE >> 10;
		r->settings.ring_kb = 0;
	}
	r->chunk_mask = litifut_settings_chunk_bytes() - 1;
	r->recording = !r->settings.start_off;
	litifut_clock_start(module);
	r->event_cost = litifut_probe(module);
	r->trouble = -ENOMEM;
	if ((!r->own_stacks && !litifut_own_stacks_start()) ||
	    (!r->threads && !litifut_threads_start()) ||
	    (!litifut_trace_open() && (litifut_is_passing(r->trouble) || !litifut_trace_nowhere())))
		return false;
	litifut_scratch_start();
	litifut_signal_start();
	return true;
}

/* A library finds its own recorder before that of the executable where it is opened with
 * RTLD_DEEPBIND, or by dlmopen(). Two of them would take turns at the cursor of each thread. A
 * recorder of the user's has no litifut_module_enter(). */
static bool litifut_is_elsewhere(void)
{
	uint32_t *elsewhere = litifut_recorder.elsewhere;
	uint32_t found[LITIFUT_ELSEWHERE_COUNT];

	if (litifut_module.flags & LITIFUT_MODULE_EXECUTABLE)
		return false;
	if (!litifut_functions_of(LITIFUT_LOADED_EXECUTABLE,
				  "litifut_record_trace\0litifut_module_enter\0"
				  "litifut_module_leave\0litifut_start\0litifut_stop",
				  found, LITIFUT_ELSEWHERE_COUNT) ||
	    !found[LITIFUT_ELSEWHERE_RECORD] || !found[LITIFUT_ELSEWHERE_ENTER])
		return false;
	for (uint32_t i = 0; i < LITIFUT_ELSEWHERE_COUNT; i++)
		elsewhere[i] = found[i];
	return true;
}

/* Brings the recorder up for this process at its first event, which comes from
 * `module`. True when it is ready. */
static bool litifut_process_start(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_signals signals;
	long trouble;
	bool good;

	if (r->lost_early < r->retry_at)
		return false;
	/* `features` is not known yet. All it decides is how words are exchanged,
	 * and every thread that comes here finds out the same. */
	trouble = litifut_auxiliary_read();
	if (litifut_is_elsewhere())
		return false;
	litifut_signals_block(&signals);
	/* other threads are not to take the state for that of another process */
	r->file.process = litifut_process_id();
	if (litifut_exchange(&r->phase, LITIFUT_PHASE_NEW, LITIFUT_PHASE_BUSY)) {
		r->trouble = trouble;
		good = !litifut_is_passing(trouble) && litifut_process_set_up(module);
		r->retry_at = 2 * r->lost_early + LITIFUT_RETRY_LEAST;
		litifut_phase_end(good, litifut_is_passing(r->trouble) ? LITIFUT_PHASE_NEW
								       : LITIFUT_PHASE_OFF);
	}
	good = r->phase == LITIFUT_PHASE_READY;
	litifut_signals_restore(&signals);
	return good;
}

/* A child that may not make a file, say, because the process is another user now, counts
 * its calls in the header of its parent, whose file both have mapped. */
static void litifut_orphan(struct litifut_trace_header *parent)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t process = litifut_process_id();

	if (!parent || !litifut_is_written(parent))
		return; /* it has none itself */
	r->orphans = &parent->lost_events;
	for (unsigned i = 0; i < LITIFUT_CHILD_LOSSES; i++) {
		if (litifut_exchange(&parent->children[i].pid, 0, process)) {
			r->orphans = &parent->children[i].count;
			return;
		}
	}
}

static bool litifut_trace_open_again(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_trace_header *parent = r->file.header;

	r->file.header = NULL; /* the parent's; stays mapped for an interrupted writer */
	if (litifut_is_trace(&r->file))
		litifut_close(r->file.descriptor);
	r->file.descriptor = -1;
	if (r->thunks)
		litifut_cursor_drop();
	litifut_threads_forget();
	litifut_tables_forget();
	litifut_confine_forget();
	if (!litifut_trace_open()) {
		litifut_orphan(parent);
		litifut_flags_part();
		return litifut_trace_nowhere();
	}
	r->orphans = NULL;
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
	 * in a real copy, a full one shows it; elsewhere libc's id word does. While
	 * another thread sets the process up, nothing shows it. */
	if (!r->threads || (litifut_threads_in_use() && !litifut_is_libc_thread()))
		return false;
	litifut_signals_block(&signals);
	/* Whoever of several threads comes first does it. The parent may have
	 * been in the middle of something of this kind in another thread, which
	 * is not here to finish it. */
	if (litifut_exchange(&r->file.process, r->file.process, process)) {
		r->phase = LITIFUT_PHASE_BUSY;
		r->fast = LITIFUT_FAST_NONE;
		r->lost_early = 0;
		litifut_phase_end(litifut_trace_open_again(), LITIFUT_PHASE_OFF);
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
