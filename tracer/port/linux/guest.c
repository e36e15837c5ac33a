/* A guest is a child that may run in the memory of its parent: one of vfork, which
 * waits until the child is gone, or of a clone() that shares memory. All that it
 * changes the parent may find changed, the recorder's state too, so it has a small
 * one of its own, and a trace: a chunk that names the modules, and chunks of events,
 * mapped and filled without any of the parent's cursors. What it has mapped is left
 * over when it executes another program or ends; the parent, which finds the guest
 * beside the thread that made it, unmaps that then. Where the memory is a copy after
 * all (qemu-user makes a fork of a vfork), the same works, and the parent finds none.
 *
 * Nothing here has to be fast: guests make few calls, and each has asked the kernel
 * already which process it is in. */

#include "tracer/port/linux/guest.h"

#include <stddef.h>

#include "tracer/port/linux/files.h"
#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/module_list.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table_words.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/threads.h"
#include "tracer/recorder/verbose.h"
#include "tracer/recorder/words.h"
#include "tracer/sink/chunks.h"
#include "tracer/sink/copies.h"
#include "tracer/sink/header.h"
#include "tracer/sink/module_record.h"

struct litifut_guest {
	struct litifut_guest *outer; /* whose guest this one is */
	struct litifut_trace_file file;
	uint32_t chunk;    /* 0: none */
	uint32_t bytes;    /* its size */
	uint32_t used;     /* bytes of it */
	uint32_t metadata; /* the first chunk of it is in use */
	uint32_t time_high;
};

static void litifut_guest_chunk_close(struct litifut_guest *guest)
{
	struct litifut_chunk_header *chunk = (struct litifut_chunk_header *)guest->chunk;

	if (!chunk)
		return;
	guest->chunk = 0;
	litifut_save(&guest->file, (uint32_t)chunk, guest->used);
	chunk->used_bytes = guest->used - (uint32_t)sizeof(*chunk);
	litifut_port_barrier(litifut_recorder.features);
	chunk->flags |= LITIFUT_CHUNK_CLOSED;
	if (!litifut_chunk_is_first(&guest->file, (uint32_t)chunk))
		litifut_unmap((uint32_t)chunk, guest->bytes);
}

static bool litifut_guest_chunk_open(struct litifut_guest *guest, uint32_t kind)
{
	const char *trouble;
	uint32_t chunk;

	litifut_guest_chunk_close(guest);
	if (kind == LITIFUT_CHUNK_METADATA && !guest->metadata) {
		guest->metadata = 1;
		guest->bytes = LITIFUT_FIRST_METADATA_BYTES;
		chunk = (uint32_t)guest->file.header + LITIFUT_FIRST_METADATA;
	} else {
		chunk = litifut_chunk_map(&guest->file, kind == LITIFUT_CHUNK_EVENTS, &trouble);
		guest->bytes = litifut_chunk_is_first(&guest->file, chunk)
				       ? LITIFUT_FIRST_EVENTS_BYTES
				       : litifut_recorder.chunk_mask + 1;
	}
	if (!chunk) {
		litifut_tell("calls of a child in its parent's memory are lost: ", trouble, 0);
		return false;
	}
	litifut_chunk_open(&guest->file, chunk, kind, LITIFUT_ENCODING_WORDS, guest->file.process);
	guest->used = (uint32_t)sizeof(struct litifut_chunk_header);
	guest->chunk = chunk;
	return true;
}

/* The words of one record; false: there is no room. */
static bool litifut_guest_put(struct litifut_guest *guest, const uint32_t *words, uint32_t count,
			      uint32_t kind)
{
	if ((!guest->chunk || guest->used + count * 4 > guest->bytes) &&
	    !litifut_guest_chunk_open(guest, kind))
		return false;
	for (uint32_t i = 0; i < count; i++, guest->used += 4)
		*(volatile uint32_t *)(guest->chunk + guest->used) = words[i];
	/* at once: it may execute another program next */
	litifut_save(&guest->file, guest->chunk + guest->used - count * 4, count * 4);
	return true;
}

static void litifut_guest_put_modules(struct litifut_guest *guest)
{
	struct litifut_module_words words;
	struct litifut_module *module;

	for (uint32_t at = 0; (module = litifut_modules_next(&at));) {
		if (!module->serial)
			continue;
		litifut_module_describe(module, module->serial, &words);
		litifut_guest_put(guest, (const uint32_t *)&words, sizeof(words) / 4,
				  LITIFUT_CHUNK_METADATA);
	}
	litifut_guest_chunk_close(guest);
}

static struct litifut_guest *litifut_guest_enter(struct litifut_thread *thread, uint32_t process)
{
	struct litifut_recorder *r = &litifut_recorder;
	long page = litifut_map_memory(r->page_bytes);
	struct litifut_guest *guest = (struct litifut_guest *)page;
	uint32_t epoch[2] = {LITIFUT_CONTROL_WORD(LITIFUT_WORD_EPOCH, 1), r->epoch};

	if (litifut_failed(page))
		return NULL;
	guest->outer = thread->guest;
	guest->file.process = process;
	guest->file.descriptor = -1;
	if (!litifut_trace_create(&guest->file)) {
		litifut_unmap((uint32_t)page, r->page_bytes);
		return NULL;
	}
	litifut_header_fill(&guest->file);
	litifut_save(&guest->file, (uint32_t)guest->file.header, sizeof(*guest->file.header));
	litifut_maps_write(&guest->file);
	thread->guest = guest;
	litifut_guest_put_modules(guest);
	if (epoch[1])
		litifut_guest_put(guest, epoch, 2, LITIFUT_CHUNK_EVENTS);
	return guest;
}

void litifut_guests_leave(struct litifut_thread *thread, uint32_t process)
{
	while (thread->guest && thread->guest->file.process != process) {
		struct litifut_guest *guest = thread->guest;

		litifut_guest_chunk_close(guest);
		/* gone with it, unless it was a clone() that shares descriptors, too */
		if (litifut_is_trace(&guest->file))
			litifut_close(guest->file.descriptor);
		litifut_unmap((uint32_t)guest->file.header, LITIFUT_HEADER_BYTES);
		thread->guest = guest->outer;
		litifut_unmap((uint32_t)guest, litifut_recorder.page_bytes);
	}
}

static void litifut_guest_record_in(struct litifut_guest *guest, const struct litifut_call *call)
{
	uint32_t words[4];
	uint32_t count = litifut_event_words(call, words);

	if (litifut_is_table()) {
		count = litifut_table_words(call, litifut_clock_now(), words);
	} else if (litifut_recorder.clock != LITIFUT_CLOCK_NONE) {
		uint64_t now = litifut_clock_now();
		uint32_t time[3];

		if ((uint32_t)(now >> 30) != guest->time_high) {
			litifut_time_words(now, time);
			if (litifut_guest_put(guest, time, 3, LITIFUT_CHUNK_EVENTS))
				guest->time_high = (uint32_t)(now >> 30);
		}
		count = litifut_stamp_words(now, words, count);
	}
	if (!litifut_guest_put(guest, words, count, LITIFUT_CHUNK_EVENTS))
		litifut_add(&guest->file.header->lost_events, 1);
}

bool litifut_guest_record(const struct litifut_call *call)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t pointer = litifut_port_thread_pointer(r->features);
	uint32_t process = litifut_process_id();
	struct litifut_thread *thread = r->thread_list;
	struct litifut_signals signals;

	if (r->phase != LITIFUT_PHASE_READY || process == r->file.process ||
	    !litifut_is_written(r->file.header))
		return false;
	while (thread && !(thread->hold & LITIFUT_HOLD_SPAWN && thread->spawn_pointer == pointer))
		thread = thread->next;
	if (!thread)
		return false;
	if (!r->recording)
		return true;
	litifut_signals_block(&signals);
	for (const struct litifut_guest *guest = thread->guest; guest; guest = guest->outer) {
		if (guest->file.process == process) {
			/* those above it were its own, and are gone */
			litifut_guests_leave(thread, process);
			break;
		}
	}
	if ((thread->guest && thread->guest->file.process == process) ||
	    litifut_guest_enter(thread, process))
		litifut_guest_record_in(thread->guest, call);
	else
		thread = NULL;
	litifut_signals_restore(&signals);
	return thread != NULL;
}
