/* Reading a trace file: header, module records, the list of chunks, and the
 * events of a chunk one after another. Nothing in the file is trusted. */
#ifndef LITIFUT_POSTPROC_SOURCES_TRACE_H
#define LITIFUT_POSTPROC_SOURCES_TRACE_H

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <litifut/frames_format.h>
#include <litifut/trace_format.h>

#include "common/error.h"
#include "postproc/sources/arguments.h"
#include "postproc/problems.h"

struct post_chunk {
	size_t offset;       /* of its first word, in the file */
	uint32_t word_count; /* at most; trailing zero words are possible */
	uint32_t thread;
	uint32_t flags; /* enum litifut_chunk_flags */
	uint32_t number;
	uint32_t epoch; /* of modules, where it begins */
	uint64_t start_time;
	uint32_t packed_bytes; /* of a compact block, decoded when it is read; 0: plain words */
	uint32_t gaps;         /* how often chunks may be missing before it: the file is damaged */
};

struct post_module_record {
	struct litifut_module_record record; /* host byte order */
	uint32_t end_epoch;                  /* first epoch without it, UINT32_MAX: none */
};

/* Calls that were counted where they were made, and not recorded one by one. */
struct post_counted {
	uint32_t kind; /* as in struct post_item */
	uint32_t return_address;
	uint32_t callee; /* 0: the call site names it */
	uint64_t count;
};

/* What became of the calls of one site, to one callee if it is an indirect one: of a table
 * of call sites, which the device has made. */
struct post_table_item {
	uint32_t module; /* serial */
	uint32_t site;   /* index within the module */
	uint32_t thread;
	uint32_t callee; /* run-time, of an indirect call; 0: that of the site */
	uint64_t count;
	uint64_t open;             /* of them, those that have not returned, */
	uint64_t untimed;          /* and others without a time, where some have one */
	uint64_t minimum, maximum; /* ticks; minimum > maximum: no call was timed */
	uint64_t sum, self;
	uint64_t hertz; /* 0: unknown */
	bool no_self;   /* it is not measured, but follows from the sums */
	/* Then: ticks of the open calls until now, and what the tracer has added to the time of
	 * the caller besides `sum`. */
	uint64_t open_sum, added;
	bool missing; /* all or some of its times: not all its numbers have come, or no record has
			 them */
};

/* A task of a firmware's kernel. */
struct post_task {
	uint32_t id;                        /* what the kernel names it by: that of its thread */
	char name[LITIFUT_TASK_NAME_BYTES]; /* "": not known */
	uint64_t calls, ticks;
};

struct post_trace {
	char *path;
	const uint8_t *data;
	size_t size;
	bool swap; /* the file has not the byte order of this machine */
	bool damaged;
	struct litifut_trace_header header; /* host byte order */
	struct post_module_record *modules;
	size_t module_count, module_capacity;
	uint32_t modules_left_out; /* as there are too many */
	struct post_chunk *chunks; /* those with events, in the order of their numbers */
	size_t chunk_count, chunk_capacity;
	uint32_t *numbers; /* while it is opened: of all chunks and blocks that are there */
	size_t number_count, number_capacity;
	struct post_chunk *tables; /* of call sites, see table_chunk.h */
	size_t table_count, table_capacity;
	/* Those that are in no chunk. */
	struct post_table_item *items;
	size_t item_count, item_capacity;
	/* See table_calls.h: open calls, and events that are still to be folded into a table. */
	struct post_chunk *stacks;
	size_t stack_count, stack_capacity;
	struct post_chunk *unfolded;
	size_t unfolded_count;
	struct post_chunk *flags; /* of edges, see flags_chunk.h */
	size_t flags_count, flags_capacity;
	struct post_chunk *bits; /* of branches, in the order of their numbers; see paths/walk.h */
	size_t bits_count, bits_capacity;
	/* Ticks that the tracer takes for a call between its readings of the clock, and besides; 0:
	 * not known. And of each of the two hooks of a call, before its reading; 0: not known. */
	double hook_inside, hook_outside, hook_before;
	/* Ticks from one interrupt of the tracer's clock to the next one, and of one. */
	double clock_period, clock_interrupt;
	/* How often an interrupt has found the program in each piece of its code. */
	struct {
		uint32_t *bins; /* NULL: that was not looked at */
		size_t count;
		uint32_t low;   /* link-time address of the first */
		uint32_t bytes; /* of code, each */
		uint32_t hertz; /* how often a second that was looked at; 0: unknown */
	} profile;
	struct post_counted *counted;
	size_t counted_count, counted_capacity;
	/* What the tracer adds was measured on the device, or is the same for each call: it is not
	 * in the times of calls. */
	bool cost_taken;
	bool cost_missing; /* it was, and what was captured lacks it */
	bool any_missing;  /* times of calls to any function are missing, besides those of items */
	/* The device has timed these. The calls of functions are those of all tasks together. */
	struct post_task *tasks;
	size_t task_count, task_capacity;
	/* Of a firmware that has sent the flags of its code: a call of this function was to send,
	 * and litifut_send(). Link-time addresses, 0: not known. */
	uint32_t send_function, send;
	bool bare;     /* of a firmware: there is no other code than that of its file */
	bool switched; /* a firmware that switches recording off and on, or starts it late */
	uint64_t metadata_lost; /* lost events that metadata chunks report */
	bool lost_at_least;     /* more were lost than the device can count */
	bool mapped;            /* else `data` belongs to the caller, */
	uint8_t *owned;         /* or is this */
};

/* Opens a plain, .gz or .zst trace. The caller owns *trace. Damage behind a
 * good header is reported to `problems`, and the rest is read. */
enum litifut_status post_trace_open(const char *path, struct post_trace **trace,
				    struct post_problems *problems, struct litifut_error *error);

/* The same for bytes in memory, which must live as long as the trace. */
enum litifut_status post_trace_open_memory(const uint8_t *data, size_t size, const char *name,
					   struct post_trace **trace,
					   struct post_problems *problems,
					   struct litifut_error *error);

/* Of chunk_order.c, for trace.c: sorts the chunks of events and bits, fills `epoch`, and `gaps` if
 * the trace is damaged. Frees the numbers of all chunks. */
void post_chunks_order(struct post_trace *trace);

void post_trace_close(struct post_trace *trace);

/* One item of a chunk. */
struct post_item {
	uint32_t kind; /* enum litifut_word_kind; LITIFUT_WORD_CALL with callee 0: a direct call
			  that is its return address alone */
	uint32_t return_address;
	uint32_t callee;
	uint64_t time; /* of an event in a timed chunk, clock ticks */
	/* LOST, CUT: count; THREAD: id; EPOCH, MARK: number; EXIT, ENTER: stack pointer. The
	 * `return_address` of an EXIT is the address of its trampoline. */
	uint32_t value;
	/* Of an event, in the cursor: until the next item is read; NULL: none were recorded. */
	const struct post_call_arguments *arguments;
};

/* Where the words of compact blocks are decoded to, one block at a time. All
 * zero to start with; one for each cursor that is in use at the same time. */
struct post_buffer {
	uint32_t *words;
	uint32_t capacity;
	void *tables;
};

void post_buffer_release(struct post_buffer *buffer);

/* Where in a chunk the reader stands. */
struct post_cursor {
	const struct post_trace *trace;
	const struct post_chunk *chunk;
	const uint32_t *decoded; /* in host byte order; NULL: in the file */
	uint32_t word_count;
	uint32_t position; /* in words */
	uint64_t time;
	uint32_t holes; /* slots that were reserved and never filled, so far */
	uint32_t pending_holes;
	uint32_t epoch;                 /* the chunk's, to be handed out first; 0: none, or done */
	struct post_problems *problems; /* may be NULL */
	struct post_call_arguments arguments; /* of the next event */
};

/* `buffer` holds what the cursor reads until it is started again. */
void post_cursor_start(struct post_cursor *cursor, const struct post_trace *trace, size_t chunk,
		       struct post_buffer *buffer, struct post_problems *problems);

/* The bits of an address in this chunk that announce a callee in the next word. */
uint32_t post_cursor_marks(const struct post_cursor *cursor);

/* The words of a chunk without times, for loops over direct calls, which most words are. */
struct post_plain_words {
	const uint8_t *bytes;
	bool swap;
	uint32_t marks; /* post_cursor_marks() */
};

/* False: events have times, or an item comes before the next word. */
bool post_cursor_plain(const struct post_cursor *cursor, struct post_plain_words *words);

/* The direct call that the word at this position is; 0: something else. */
static inline uint32_t post_plain_call(const struct post_plain_words *words, uint32_t position)
{
	uint32_t word;

	memcpy(&word, words->bytes + (size_t)position * 4, sizeof(word));
	if (words->swap)
		word = bswap_32(word);
	return word < LITIFUT_WORD_FIRST_ADDRESS || word & words->marks ? 0 : word;
}

/* Goes on behind the direct calls before `position`, which were taken in. */
void post_cursor_skip(struct post_cursor *cursor, uint32_t position);

/* Gives false at the end of the chunk. Skips holes and what a newer minor
 * version may have added. */
bool post_cursor_next(struct post_cursor *cursor, struct post_item *item);

/* Word number `index` of a chunk of plain words, in host byte order. */
uint32_t post_trace_word(const struct post_trace *trace, const struct post_chunk *chunk,
			 uint32_t index);

#endif
