/* A process that may make no system calls any more: with seccomp, one that is not allowed
 * ends the process. So before the kernel is asked for that, see spawn.c, room for some more
 * chunks is mapped, and from then on no part of the recorder gets through to the kernel
 * (system_call.c). Signals need not be blocked for what is left to do: a handler that comes
 * in the middle of a change of chunk takes another one. */

#include "tracer/port/linux/confine.h"

#include "tracer/port/linux/files.h"
#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/room.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/scratch.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/threads.h"
#include "tracer/recorder/verbose.h"
#include "tracer/sink/chunks.h"

/* With LITIFUT_SYSCALLS=never and no LITIFUT_MAX_MB. */
#define LITIFUT_NEVER_KB 16384

/* So many events without libc's place of the thread id are waited for. */
#define LITIFUT_CONFINE_AFTER 256

/* All is ready, but signals are still to be unblocked. */
static uint32_t litifut_confinement_due;

/* Half of it where all of it is too much, and so on. */
static void litifut_spares_map(uint32_t bytes)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t size = r->chunk_mask + 1;
	long descriptor = litifut_trace_descriptor(&r->file);
	const uint64_t used = LITIFUT_HEADER_BYTES + (uint64_t)r->file.chunk_count * size;

	if (r->file.max_bytes && used + bytes > r->file.max_bytes)
		bytes = used < r->file.max_bytes ? (uint32_t)(r->file.max_bytes - used) : 0;
	for (; bytes >= size && !litifut_failed(descriptor); bytes >>= 1) {
		uint64_t offset = LITIFUT_HEADER_BYTES;
		uint32_t count = 0;
		uint32_t place;

		/* there may be no division on this CPU */
		for (uint32_t left = bytes; left >= size; left -= size)
			count++;
		bytes &= ~r->chunk_mask;
		place = litifut_add(&r->file.chunk_count, count);
		offset += (uint64_t)place * size;
		if (litifut_within_limits(offset + bytes) &&
		    litifut_file_grow(descriptor, offset, bytes))
			r->spare = litifut_map_before(descriptor, offset, bytes, size);
		if (!r->spare) {
			/* half of it begins at the same place */
			litifut_exchange(&r->file.chunk_count, place + count, place);
			continue;
		}
		r->spare_end = r->spare + bytes;
		return;
	}
}

void litifut_confine(uint32_t kb)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_signals signals;

	if (litifut_confinement_due || r->phase != LITIFUT_PHASE_READY ||
	    r->file.process != litifut_process_id())
		return;
	litifut_signals_block(&signals);
	/* a ring has no place for them; what is to be written is, as far as it goes */
	if (!r->file.ring)
		litifut_spares_map(kb << 10);
	litifut_save_all();
	litifut_scratch_prepare();
	litifut_tables_prepare(litifut_thread_find(litifut_thread_id()));
	r->frozen = r->clock == LITIFUT_CLOCK_NONE ? 0 : litifut_clock_now();
	litifut_tell("no system calls from here on", "", 0);
	litifut_signals_restore(&signals);
	litifut_confinement_due = 1;
}

void litifut_confine_forget(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	litifut_confinement_due = 0;
	r->spare = 0;
	r->spare_end = 0;
	r->spare_again = 0;
}

void litifut_confine_now(void)
{
	if (litifut_confinement_due)
		litifut_system_calls_forbidden = 1;
}

void litifut_confine_when_due(void)
{
	const struct litifut_recorder *r = &litifut_recorder;
	uint32_t max_mb = r->settings.max_mb;

	if (r->calibrated || r->uncalibrated_events > LITIFUT_CONFINE_AFTER)
		litifut_confine(max_mb && max_mb < 1024 ? (max_mb << 10) - 64 : LITIFUT_NEVER_KB);
}

void litifut_confined_spawns(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_thread *thread = litifut_thread_find(litifut_thread_id());

	r->full = 1;
	if (!thread)
		return;
	litifut_scratch_leave(thread);
	thread->cursor = 0;
	thread->hold |= LITIFUT_HOLD_SHARED;
}
