/* LITIFUT_MODE=table. Thunks store enters and returns into a chunk, as they do for spans, each
 * with the stack pointer. A full chunk is folded into the thread's table of calls and is used
 * again, so the memory that a thread needs is bounded, and nothing of this is done at a call.
 *
 * The chunk, the table and the open calls all lie in the trace file: what has been folded is
 * in the table, what has not is still in the chunk, and a reader folds that by the same code
 * (<litifut/fold.h>). So the file is whole at any moment, and after SIGKILL at most the one
 * call of each thread is missing that was being summed up.
 *
 * An event whose thunk was interrupted by a signal handler has a slot that is not filled yet.
 * Folding stops there, the rest waits with its chunk, and the thread gets another one. A
 * handler that never goes back (siglongjmp) leaves a slot that is never filled: when several
 * chunks wait, the slot is given up, and so is the chunk if the thunk may come back to it.
 *
 * Signals are blocked meanwhile. Where that can't be done, a handler may come here in the midst
 * of it: then its chunk waits for the one that it has interrupted.
 *
 * More than 500 lines, because the table, its folding and what waits are one state, which a signal
 * handler may interrupt anywhere. */

#include "tracer/recorder/table.h"

#include <stddef.h>

#include <litifut/module_format.h>

#include "return_point.h"
#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/bits.h"
#include "tracer/recorder/epochs.h"
#include "tracer/recorder/fold.h"
#include "tracer/recorder/module_list.h"
#include "tracer/recorder/pending.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/table_words.h"
#include "tracer/recorder/thread.h"
#include "tracer/sink/chunks.h"
#include "tracer/sink/sink.h"

/* A handler may make some 20,000 calls before that. */
#define LITIFUT_TABLE_WAITING 16
#define LITIFUT_TABLE_SLOTS_LEAST 1024

/* The slots of 32,768 entries of one thread, and all the smaller ones before. */
#define LITIFUT_TABLE_ROOM (1024u << 10)

/* An entry that has not been met for so many epochs is not looked for any more: a limit for the
 * time that a thread takes which has slept all the while. */
#define LITIFUT_TABLE_EPOCHS 4096

/* Entries of a chunk begin at a multiple of their size. */
#define LITIFUT_TABLE_FIRST 128

_Static_assert(sizeof(struct litifut_chunk_header) + sizeof(struct litifut_table_header) <=
			       LITIFUT_TABLE_FIRST &&
		       LITIFUT_TABLE_FIRST % sizeof(struct litifut_table_call) == 0,
	       "entries");

/* A chunk of events: how far it is folded, and where it ends. */
struct litifut_table_waiting {
	uint32_t chunk;
	uint32_t from;
	uint32_t end;
};

/* What a thread has besides its file. */
struct litifut_table {
	uint32_t stack;   /* chunk of open calls */
	uint32_t chunk;   /* the chunk of entries that is being filled; 0: none yet */
	uint32_t entries; /* in all chunks */
	uint32_t slots;   /* handles of entries, by hash: a power of two of them, this address */
	uint32_t slot_count;
	uint32_t resets; /* as many as this table has had */
	uint32_t serial; /* the last module that was known when the handles were put in order */
	/* Chunks of events, the oldest first. */
	struct litifut_table_waiting waiting[LITIFUT_TABLE_WAITING];
	uint32_t waiting_count;
	/* Where signals can't be blocked (confine.c), a handler's chunk may be full while another
	 * one is folded. It waits here, behind those above. */
	uint32_t busy;
	struct litifut_table_waiting late[LITIFUT_TABLE_WAITING];
	uint32_t late_count; /* may be more than there is room for */
	uint32_t late_taken;
	/* Chunks with a slot that was given up, which may still get a late store; and those that
	 * are empty. When all wait for one slot, all may be empty together when it is given up. */
	uint32_t given_up[LITIFUT_TABLE_WAITING];
	uint32_t empty[2 * LITIFUT_TABLE_WAITING];
};

/* From a table to its first slots, which are mapped with it: a page of most kernels. */
#define LITIFUT_TABLE_FIRST_SLOTS 4096

_Static_assert(sizeof(struct litifut_table) <= LITIFUT_TABLE_FIRST_SLOTS, "first slots");

bool litifut_mode_settings(void)
{
	struct litifut_settings *settings = &litifut_recorder.settings;

	settings->dedup = 0;
	settings->compact = LITIFUT_COMPACT_OFF;
	if (litifut_is_bits()) {
		if (!settings->bulk_kb)
			settings->bulk_kb = 64;
		litifut_bits_never = settings->no_calls;
		settings->no_calls = 0;
		return true;
	}
	settings->bulk_kb = 16;
	settings->ring_kb = 0;
	litifut_recorder.finish_events = litifut_table_finish;
	return true;
}

static struct litifut_table_call *litifut_table_entry(void *context, uint32_t handle)
{
	(void)context;
	return (struct litifut_table_call *)handle;
}

/* What an address is multiplied by, so that the bits from 12 on depend on all of it. */
#define LITIFUT_TABLE_FACTOR 0x9e3779b1u

/* Bits of a slot beside the address of its entry. A direct call is found in a hurry: there a slot
 * leads to the address that it is compared with. That of a call through a register leads to the
 * high half of its count instead, which is never an address. */
#define LITIFUT_TABLE_POINTED                                                                      \
	((uint32_t)offsetof(struct litifut_table_call, count) + 4 * !LITIFUT_FOLD_LOW)
#define LITIFUT_TABLE_ENTRY(slot) ((slot) & ~((uint32_t)sizeof(struct litifut_table_call) - 1))

static inline uint32_t litifut_table_key(uint32_t address, uint32_t callee)
{
	return address + (callee << 7 | callee >> 25);
}

static uint32_t litifut_table_hash(const struct litifut_table *table, uint32_t address,
				   uint32_t callee)
{
	return (litifut_table_key(address, callee) * LITIFUT_TABLE_FACTOR >> 12) &
	       (table->slot_count - 1);
}

static void litifut_table_put(const struct litifut_table *table,
			      const struct litifut_table_call *call)
{
	uint32_t *slots = (uint32_t *)table->slots;
	uint32_t mask = table->slot_count - 1;
	uint32_t at = litifut_table_hash(table, call->address, call->callee);

	while (slots[at])
		at = (at + 1) & mask;
	slots[at] = (uint32_t)call + (call->callee ? LITIFUT_TABLE_POINTED : 0);
}

/* For tables of a process that makes no more system calls. What is never used of it costs addresses
 * alone. */
static struct {
	uint32_t next;
	uint32_t end;
} litifut_table_room;

/* 0: there is none. */
static uint32_t litifut_table_memory(uint32_t bytes)
{
	uint32_t next;

	if (!litifut_system_calls_forbidden) {
		long room = litifut_map_memory(bytes);

		return litifut_failed(room) ? 0 : (uint32_t)room;
	}
	do {
		next = *(volatile uint32_t *)&litifut_table_room.next;
		if (litifut_table_room.end - next < bytes)
			return 0;
	} while (!litifut_exchange(&litifut_table_room.next, next, next + bytes));
	return next;
}

/* Room for twice as many handles. False: there is no memory. It is inlined, unlike LITIFUT_COLD, as
 * that takes less of the stack where no system calls may be made. */
static __attribute__((cold)) bool litifut_table_widen(struct litifut_table *table)
{
	uint32_t old_count = table->slot_count;
	const uint32_t *old = (const uint32_t *)table->slots;
	uint32_t room = litifut_table_memory(old_count * 8);

	if (!room)
		return false;
	table->slots = room;
	table->slot_count = old_count * 2;
	for (uint32_t i = 0; i < old_count; i++)
		if (old[i])
			litifut_table_put(
				table,
				(const struct litifut_table_call *)LITIFUT_TABLE_ENTRY(old[i]));
	litifut_unmap((uint32_t)old, old_count * 4);
	return true;
}

static struct litifut_table_header *litifut_table_header_of(uint32_t chunk)
{
	return (struct litifut_table_header *)(chunk + sizeof(struct litifut_chunk_header));
}

static uint32_t litifut_chunk_before(uint32_t chunk)
{
	return *(uint32_t *)(chunk + LITIFUT_TABLE_FIRST - 4);
}

static struct litifut_open_calls *litifut_table_open(const struct litifut_table *table)
{
	return (struct litifut_open_calls *)(table->stack +
					     (uint32_t)sizeof(struct litifut_chunk_header));
}

/* A chunk of the trace for a table's own use; 0: there is none. */
static uint32_t litifut_table_chunk(uint32_t kind)
{
	struct litifut_recorder *r = &litifut_recorder;
	const char *trouble;
	uint32_t chunk = litifut_chunk_map(&r->file, false, &trouble);

	if (chunk)
		litifut_chunk_open(&r->file, chunk, kind, LITIFUT_ENCODING_WORDS,
				   litifut_thread_id());
	return chunk;
}

static LITIFUT_COLD uint32_t litifut_table_add(struct litifut_table *table, uint32_t address,
					       uint32_t callee, bool tail)
{
	struct litifut_recorder *r = &litifut_recorder;
	const uint32_t room =
		(r->chunk_mask + 1 - LITIFUT_TABLE_FIRST) / sizeof(struct litifut_table_call);
	struct litifut_table_header *header;
	struct litifut_table_call *call;

	if (table->entries * 4 >= table->slot_count && !litifut_table_widen(table))
		return 0;
	header = litifut_table_header_of(table->chunk);
	if (!table->chunk || header->count == room) {
		uint32_t chunk = litifut_table_chunk(LITIFUT_CHUNK_TABLE);

		if (!chunk)
			return 0;
		header = litifut_table_header_of(chunk);
		header->first_site = chunk + LITIFUT_TABLE_FIRST;
		header->thread = litifut_thread_id();
		header->hertz = r->file.header->clock_hertz;
		header->epoch = table->resets;
		/* so that litifut_tables_save() finds it */
		header->module = 0;
		*(uint32_t *)(chunk + LITIFUT_TABLE_FIRST - 4) = table->chunk;
		litifut_port_barrier(r->features);
		header->entry_bytes = sizeof(struct litifut_table_call);
		table->chunk = chunk;
	}
	call = (struct litifut_table_call *)header->first_site + header->count;
	call->address = address;
	call->callee = callee;
	call->exit = tail ? LITIFUT_TABLE_TAIL : 0;
	call->epoch = litifut_table_open(table)->epoch;
	litifut_port_barrier(r->features);
	header->count++;
	table->entries++;
	litifut_table_put(table, call);
	return (uint32_t)call;
}

static inline __attribute__((always_inline)) uint32_t
litifut_table_find(void *context, uint32_t address, uint32_t callee, bool tail)
{
	struct litifut_table *table = context;
	const uint32_t *slots = (const uint32_t *)table->slots;
	uint32_t mask = table->slot_count - 1;
	uint32_t at = litifut_table_hash(table, address, callee);
	const struct litifut_table_call *call;

	for (; slots[at]; at = (at + 1) & mask) {
		call = (const struct litifut_table_call *)LITIFUT_TABLE_ENTRY(slots[at]);
		if (call->address == address && call->callee == callee)
			return (uint32_t)call;
	}
	return litifut_table_add(table, address, callee, tail);
}

/* The module with the code at the return address of a call, and that which a return came from;
 * NULL: they are not there any more. See epochs.h. */
static LITIFUT_COLD const struct litifut_module *
litifut_table_module(const struct litifut_table_call *call, uint32_t exit)
{
	const struct litifut_module *module;

	if (!litifut_code_stays(call->address, call->epoch, litifut_recorder.epoch))
		return NULL;
	for (uint32_t at = 0; (module = litifut_modules_next(&at));) {
		uint32_t start = module->text_start + (uint32_t)module - module->link_address;
		uint32_t size = module->text_end - module->text_start;

		if (call->address - start < size && exit - start < size)
			return module;
	}
	return NULL;
}

/* How many threads are reading the code of the program. */
static uint32_t litifut_table_readers;

/* A call's first return: the code at its return address leads to where that comes from. */
static LITIFUT_COLD bool litifut_table_learn(struct litifut_table_call *call, uint32_t exit)
{
	const struct litifut_module *module;
	bool good = true;

	if (call->exit)
		return false;
	litifut_add(&litifut_table_readers, 1);
	module = litifut_table_module(call, exit);
	/* else the stack pointer has to do, as for a reader without the file */
	if (module) {
		good = litifut_port_returns_by(module, call->address, exit);
		if (good)
			call->exit = exit;
	}
	litifut_add(&litifut_table_readers, UINT32_MAX);
	return good;
}

static inline __attribute__((always_inline)) bool
litifut_table_returns_by(void *context, struct litifut_table_call *call, uint32_t exit)
{
	(void)context;
	return call->exit == exit || litifut_table_learn(call, exit);
}

/* Can a call that has been made in the module epoch of its entry be the same one in `epoch`? */
static bool litifut_table_is_current(const struct litifut_table_call *call, uint32_t epoch)
{
	const uint32_t addresses[2] = {call->address, call->callee};

	if (epoch - call->epoch > LITIFUT_TABLE_EPOCHS)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		uint32_t from = call->epoch;

		if (addresses[i] && !litifut_code_stays(addresses[i], from, epoch) &&
		    litifut_code_in(addresses[i], from) != litifut_code_in(addresses[i], epoch))
			return false;
	}
	return true;
}

/* Puts the handles of those entries that calls of this module epoch may have into the slots, and
 * no others. So a table does not get slower with each library that goes, and one that comes
 * again finds what it had. */
static LITIFUT_COLD void litifut_table_order(void *context, uint32_t epoch)
{
	struct litifut_table *table = context;

	table->serial = *(volatile uint32_t *)&litifut_recorder.last_serial;
	for (uint32_t i = 0; i < table->slot_count; i++)
		((volatile uint32_t *)table->slots)[i] = 0;
	for (uint32_t chunk = table->chunk; chunk; chunk = litifut_chunk_before(chunk)) {
		struct litifut_table_header *header = litifut_table_header_of(chunk);
		struct litifut_table_call *call = (struct litifut_table_call *)header->first_site;

		for (uint32_t i = 0; i < header->count; i++, call++) {
			if (!litifut_table_is_current(call, epoch))
				continue;
			call->epoch = epoch;
			litifut_table_put(table, call);
		}
	}
}

static inline struct litifut_fold_index litifut_table_index(void *context)
{
	const struct litifut_table *table = context;
	uint32_t shift = (uint32_t)__builtin_clz(table->slot_count) + 1;

	/* the bits of the hash, at the upper end */
	return (struct litifut_fold_index){
		(const uint32_t *)table->slots,
		LITIFUT_TABLE_FACTOR << (shift - 12),
		shift,
	};
}

static inline __attribute__((always_inline)) uint32_t
litifut_table_look(const struct litifut_fold_index *index, uint32_t address, uint32_t callee)
{
	uint32_t at = litifut_table_key(address, callee) * index->factor >> index->shift;
	uint32_t slot = index->slots[at];

	if (callee) {
		for (; slot; slot = index->slots[at]) {
			const struct litifut_table_call *call =
				(const struct litifut_table_call *)LITIFUT_TABLE_ENTRY(slot);

			if (call->address == address && call->callee == callee)
				return (uint32_t)call;
			at = (at + 1) & UINT32_MAX >> index->shift;
		}
		return 0;
	}
	if (LITIFUT_FOLD_USUAL(slot && *(const uint32_t *)slot == address))
		return slot;
	while (slot && *(const uint32_t *)slot != address) {
		at = (at + 1) & UINT32_MAX >> index->shift;
		slot = index->slots[at];
	}
	return slot;
}

static const struct litifut_fold_ways litifut_table_ways = {
	litifut_table_index, litifut_table_look,       litifut_table_find,
	litifut_table_entry, litifut_table_returns_by, litifut_table_order};

static struct litifut_fold litifut_table_fold(struct litifut_table *table)
{
	struct litifut_open_calls *open = litifut_table_open(table);
	uint32_t frames = (uint32_t)(open + 1);

	return (struct litifut_fold){
		.open = open,
		.frames = (struct litifut_open_call *)frames,
		.cost = litifut_recorder.event_cost,
		.limit = (table->stack + litifut_recorder.chunk_mask + 1 - frames) /
			 (uint32_t)sizeof(struct litifut_open_call),
		.context = table,
	};
}

/* That of the calling thread; made when it has none. NULL: there is no room. */
static struct litifut_table *litifut_table_of(struct litifut_thread *thread)
{
	struct litifut_table *table = (struct litifut_table *)thread->table;
	uint32_t room;

	if (table)
		return table;
	room = litifut_table_memory(LITIFUT_TABLE_FIRST_SLOTS + LITIFUT_TABLE_SLOTS_LEAST * 4);
	if (!room)
		return NULL;
	table = (struct litifut_table *)room;
	table->slots = room + LITIFUT_TABLE_FIRST_SLOTS;
	table->slot_count = LITIFUT_TABLE_SLOTS_LEAST;
	table->resets = litifut_recorder.resets;
	table->stack = litifut_table_chunk(LITIFUT_CHUNK_STACK);
	if (table->stack) {
		litifut_table_open(table)->thread = thread->id;
		if (litifut_exchange(&thread->table, 0, room))
			return table;
	}
	/* the chunk stays, if there is one: an empty one in the file */
	litifut_unmap(room, LITIFUT_TABLE_FIRST_SLOTS + LITIFUT_TABLE_SLOTS_LEAST * 4);
	return (struct litifut_table *)thread->table; /* if a handler did it */
}

/* All numbers begin anew, which `litifut control` has asked for. */
static LITIFUT_COLD void litifut_table_reset(struct litifut_table *table)
{
	table->resets = litifut_recorder.resets;
	for (uint32_t chunk = table->chunk; chunk; chunk = litifut_chunk_before(chunk)) {
		struct litifut_table_header *header = litifut_table_header_of(chunk);
		struct litifut_table_call *call = (struct litifut_table_call *)header->first_site;

		header->epoch = table->resets;
		for (uint32_t i = 0; i < header->count; i++, call++) {
			call->count = 0;
			call->untimed = 0;
			call->minimum_inverted = 0;
			call->maximum = 0;
			call->sum = 0;
			call->self = 0;
		}
	}
}

/* Folds the oldest chunk that waits, as far as it can be; true: to its end. */
static bool litifut_table_fold_oldest(struct litifut_table *table, bool skip)
{
	const struct litifut_chunk_header *header =
		(const struct litifut_chunk_header *)table->waiting[0].chunk;
	struct litifut_fold fold = litifut_table_fold(table);

	/* a library that comes again may have entries from before */
	if (table->serial != *(volatile uint32_t *)&litifut_recorder.last_serial)
		litifut_table_order(table, fold.open->epoch);
	/* the clock may have gone far since the last event */
	litifut_fold_reach(&fold, header->start_time);
	table->waiting[0].from = (uint32_t)litifut_fold_words(
		&fold, &litifut_table_ways, (uint32_t *)table->waiting[0].from,
		(const uint32_t *)table->waiting[0].end, skip);
	return table->waiting[0].from == table->waiting[0].end;
}

static void litifut_table_keep(struct litifut_table *table, uint32_t chunk)
{
	for (uint32_t i = 0; i < 2 * LITIFUT_TABLE_WAITING; i++)
		if (litifut_exchange(&table->empty[i], 0, chunk))
			return;
}

/* A chunk that is empty, or 0. */
static uint32_t litifut_table_empty_chunk(struct litifut_table *table)
{
	for (uint32_t i = 0; i < 2 * LITIFUT_TABLE_WAITING; i++) {
		uint32_t chunk = *(volatile uint32_t *)&table->empty[i];

		if (chunk && litifut_exchange(&table->empty[i], chunk, 0))
			return chunk;
	}
	return 0;
}

/* The next of the chunks that came while others were folded. False: there is none. */
static LITIFUT_COLD bool litifut_table_take_late(struct litifut_table *table)
{
	uint32_t count = *(volatile uint32_t *)&table->late_count;
	uint32_t room = count < LITIFUT_TABLE_WAITING ? count : LITIFUT_TABLE_WAITING;
	struct litifut_table_waiting *next;

	while (table->late_taken == room) {
		if (!count)
			return false;
		table->late_taken = 0;
		if (litifut_exchange(&table->late_count, count, 0))
			return false;
		table->late_taken = room;
		count = *(volatile uint32_t *)&table->late_count;
		room = count < LITIFUT_TABLE_WAITING ? count : LITIFUT_TABLE_WAITING;
	}
	next = &table->late[table->late_taken];
	if (!*(volatile uint32_t *)&next->chunk)
		return false; /* this is a handler, and the one that it has interrupted is to fill
				 it */
	table->late_taken++;
	table->waiting[table->waiting_count++] = *next;
	next->chunk = 0;
	return true;
}

/* A slot of this chunk was given up. It is empty when no store to it can be pending. That is looked
 * at again each time: what looked like one may have been a register that the recorder or a thunk
 * left to the program when the handler was left. */
static LITIFUT_COLD void litifut_table_give_up(struct litifut_thread *thread,
					       struct litifut_table *table, uint32_t chunk)
{
	for (uint32_t i = 0; i < LITIFUT_TABLE_WAITING; i++) {
		uint32_t *at = &table->given_up[i];

		if (!*at) {
			*at = chunk;
			chunk = 0; /* without a place, it stays as it is */
		}
		if (!*at || litifut_is_pending(thread, *at))
			continue;
		litifut_clear((uint32_t *)((struct litifut_chunk_header *)*at + 1),
			      (uint32_t *)(*at + litifut_recorder.chunk_mask + 1));
		litifut_table_keep(table, *at);
		*at = 0;
	}
}

/* All that waits, as far as it can be folded. */
static void litifut_table_fold_all(struct litifut_thread *thread, struct litifut_table *table)
{
	struct litifut_recorder *r = &litifut_recorder;

	while (table->waiting_count || litifut_table_take_late(table)) {
		uint32_t oldest = table->waiting[0].chunk;
		bool given_up = false;

		if (!litifut_table_fold_oldest(table, false)) {
			if (table->waiting_count < LITIFUT_TABLE_WAITING) {
				if (litifut_table_take_late(table))
					continue;
				break;
			}
			litifut_table_fold_oldest(table, true);
			given_up = true;
		}
		table->waiting_count--;
		for (uint32_t i = 0; i < table->waiting_count; i++)
			table->waiting[i] = table->waiting[i + 1];
		*(volatile uint16_t *)&((struct litifut_chunk_header *)oldest)->kind =
			LITIFUT_CHUNK_FREE;
		litifut_save(&r->file, oldest, sizeof(struct litifut_chunk_header));
		if (litifut_chunk_is_first(&r->file, oldest))
			continue;
		if (given_up)
			litifut_table_give_up(thread, table, oldest);
		else
			litifut_table_keep(table, oldest);
	}
}

uint32_t litifut_table_finish(uint32_t chunk, uint32_t end)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_thread *thread = litifut_thread_in(chunk);
	struct litifut_table *table;
	uint32_t late;

	table = thread ? litifut_table_of(thread) : NULL;
	if (!table)
		return 0; /* it stays, and is folded by the reader */
	late = litifut_add(&table->late_count, 1);
	if (late >= LITIFUT_TABLE_WAITING)
		return 0;
	table->late[late].from = chunk + (uint32_t)sizeof(struct litifut_chunk_header);
	table->late[late].end = end;
	*(volatile uint32_t *)&table->late[late].chunk = chunk;
	if (!litifut_exchange(&table->busy, 0, 1))
		return litifut_table_empty_chunk(table);
	litifut_table_fold_all(thread, table);
	if (table->resets != r->resets)
		litifut_table_reset(table);
	*(volatile uint32_t *)&table->busy = 0;
	return litifut_table_empty_chunk(table);
}

LITIFUT_COLD void litifut_tables_prepare(struct litifut_thread *thread)
{
	uint32_t room;

	if (!litifut_is_table())
		return;
	if (thread)
		litifut_table_of(thread);
	room = litifut_table_memory(LITIFUT_TABLE_ROOM);
	if (room) {
		litifut_table_room.next = room;
		litifut_table_room.end = room + LITIFUT_TABLE_ROOM;
	}
}

static uint32_t litifut_table_calls(uint32_t chunk)
{
	const struct litifut_table_header *header = litifut_table_header_of(chunk);
	const struct litifut_table_call *call =
		(const struct litifut_table_call *)header->first_site;
	uint32_t calls = 0;

	for (uint32_t i = 0; i < header->count; i++)
		calls += (uint32_t)call[i].count;
	return calls;
}

LITIFUT_COLD uint32_t litifut_tables_save(bool settles)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t lost = 0;

	for (const struct litifut_thread *thread = r->thread_list; thread; thread = thread->next) {
		const struct litifut_table *table = (const struct litifut_table *)thread->table;

		if (!table || !litifut_is_table())
			continue;
		litifut_save(&r->file, table->stack, r->chunk_mask + 1);
		for (uint32_t chunk = table->chunk; chunk; chunk = litifut_chunk_before(chunk))
			if (!settles || !litifut_save(&r->file, chunk, r->chunk_mask + 1))
				lost += litifut_table_calls(chunk);
		for (uint32_t i = 0; i < table->waiting_count; i++)
			lost += litifut_save_events(table->waiting[i].chunk, table->waiting[i].end,
						    settles);
	}
	return lost;
}

LITIFUT_COLD void litifut_tables_unload(const struct litifut_module *module)
{
	if (!litifut_is_table())
		return;
	litifut_epoch_end(module);
	/* It is not in the list of modules any more. A thread that has found it there before
	 * is soon done with reading its code. The wait is bounded, as that thread may have been
	 * stopped. */
	for (unsigned i = 0; i < 100 && *(volatile uint32_t *)&litifut_table_readers; i++) {
		const uint32_t millisecond[2] = {0, 1000000};

		LITIFUT_CALL2(nanosleep, millisecond, 0);
	}
}

LITIFUT_COLD void litifut_tables_forget(void)
{
	litifut_table_readers = 0;
	/* The memory stays as it is: what was interrupted may still use it. */
	for (struct litifut_thread *thread = litifut_recorder.thread_list; thread;
	     thread = thread->next)
		thread->table = 0;
}
