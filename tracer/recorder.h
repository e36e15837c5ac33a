/* The default recorder's own state and the functions that its files share. All
 * of it is hidden in the module that holds the process's recorder. */
#ifndef LITIFUT_TRACER_RECORDER_H
#define LITIFUT_TRACER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <litifut/litifut.h>
#include <litifut/trace_format.h>

#include "port.h"

#pragma GCC visibility push(hidden)

#define LITIFUT_PATH_BYTES 512
#define LITIFUT_THREAD_SLOTS 1024 /* a power of two */
#define LITIFUT_MODULE_SLOTS 256
#define LITIFUT_HEADER_BYTES 16384 /* see litifut_trace_create() */

struct litifut_settings {
	char directory[LITIFUT_PATH_BYTES];
	char copy_to[LITIFUT_PATH_BYTES]; /* "": nowhere */
	uint32_t bulk_kb;                 /* 0: write each event at once */
	uint32_t max_mb;                  /* 0: no bound */
	uint32_t clock;                   /* enum litifut_clock */
	uint32_t dedup;
	uint32_t bloom_kb;
	uint32_t start_off;
	uint32_t signal; /* 0: none */
};

/* A thread of the traced process. Only the thread whose kernel id is `id` uses
 * it, its signal handlers included; the structures are never freed, and one
 * whose thread has ended is taken over by compare-and-swap of `id`. */
struct litifut_thread {
	uint32_t pointer;  /* thread pointer, the key of the fast look-up */
	uint32_t *id_word; /* where libc holds the kernel id of whoever has this pointer */
	uint32_t id;       /* kernel thread id; 0: free */
	/* Run-time address of the next free word of the mapped chunk. Chunks are
	 * aligned to their size, so a multiple of it means: full, or none yet.
	 * Slots are reserved by compare-and-swap of this one word. */
	uint32_t cursor;
	uint32_t epoch;       /* module epoch last told in the stream */
	uint32_t last_time;   /* high part decides when the stream needs a LITIFUT_WORD_TIME */
	uint32_t was_stopped; /* LITIFUT_WORD_STOPPED is the last word */
	struct litifut_thread *next;
};

enum litifut_phase {
	LITIFUT_PHASE_NEW = 0,
	LITIFUT_PHASE_BUSY = 1, /* one thread is setting up; what others call is lost */
	LITIFUT_PHASE_READY = 2,
	LITIFUT_PHASE_OFF = 3 /* cannot record in this process */
};

struct litifut_recorder {
	/* Read at every event. */
	uint32_t fast;       /* the shortest path may be taken: see litifut_record_trace() */
	uint32_t chunk_mask; /* chunk size - 1 */
	uint32_t phase;      /* enum litifut_phase */
	uint32_t recording;  /* switched by litifut_start() and litifut_stop() */
	uint32_t epoch;
	struct litifut_port_features features;
	struct litifut_trace_header *header; /* mapped at the start of the file */

	uint32_t process;     /* id of the process that this state is for */
	uint32_t chunk_count; /* handed out in the file so far */
	uint32_t full;        /* no chunk can be had any more */
	uint32_t lost_early;  /* lost before there was a header to count them in */
	uint32_t metadata;    /* cursor of the metadata chunk, as in litifut_thread */
	uint32_t last_serial;
	uint32_t modules_live;
	uint32_t page_bytes;
	uint32_t secure;  /* AT_SECURE */
	uint32_t exiting; /* the executable's destructors have run */
	uint32_t calibrated;
	int32_t id_offset; /* of the id word from the thread pointer */
	uint32_t uncalibrated_events;
	long descriptor;
	uint32_t identity[3]; /* of the trace file */
	char program[64];
	char trace_path[LITIFUT_PATH_BYTES + 128];
	char maps_path[LITIFUT_PATH_BYTES + 128];
	struct litifut_settings settings;
	struct litifut_thread *thread_list;
	uint32_t thread_pool; /* unused rest of the page that threads are made from */
	uint32_t thread_pool_end;
	struct litifut_module *modules[LITIFUT_MODULE_SLOTS];
	struct litifut_thread *threads[LITIFUT_THREAD_SLOTS];
};

extern struct litifut_recorder litifut_recorder;

/* Adds to a shared counter; returns what it was. */
static inline uint32_t litifut_add(uint32_t *word, uint32_t amount)
{
	uint32_t old;

	do
		old = *(volatile uint32_t *)word;
	while (!litifut_port_compare_exchange(litifut_recorder.features, word, old, old + amount));
	return old;
}

/* True when this caller changed `*word` from `expected` to `desired`. */
static inline bool litifut_exchange(uint32_t *word, uint32_t expected, uint32_t desired)
{
	while (*(volatile uint32_t *)word == expected)
		if (litifut_port_compare_exchange(litifut_recorder.features, word, expected,
						  desired))
			return true;
	return false;
}

static inline uint32_t litifut_thread_slot(uint32_t pointer)
{
	/* Threads of one program differ by their stack size, a round number. */
	return (pointer ^ pointer >> 7 ^ pointer >> 17) >> 3 & (LITIFUT_THREAD_SLOTS - 1);
}

/* recorder.c: counts `events` as lost, in the header when there is one. */
void litifut_lose(uint32_t events);
/* recorder.c: reserves `bytes` in the chunk under `*cursor`, in a new one of
 * this kind and owner when they do not fit. NULL: there is no room. */
uint32_t *litifut_reserve(uint32_t *cursor, uint32_t bytes, uint32_t kind, uint32_t thread);
/* recorder.c: puts `count` words at a reserved place, the first one last. */
void litifut_fill(uint32_t *place, const uint32_t *words, uint32_t count);
/* recorder.c: decides whether `fast` may be set, after any change. */
void litifut_update_fast(void);

/* threads.c: the calling thread's state, made when it has none; NULL without
 * memory. `id` is its kernel thread id. */
struct litifut_thread *litifut_thread_find(uint32_t id);
/* threads.c: true when the 8 bytes at `address` can be read without a fault. */
bool litifut_readable(uint32_t address);
/* threads.c: after fork: none of the known threads exists here. */
void litifut_threads_forget(void);

/* chunks.c: a new chunk in the file, mapped at a multiple of its size, with its
 * header filled; 0 when there is no room (and never again will be). */
uint32_t litifut_chunk_new(uint32_t kind, uint32_t thread);
/* chunks.c: marks the chunk that holds the word before `cursor` as complete and
 * unmaps it, unless an interrupted writer may still come back to it. */
void litifut_chunk_close(uint32_t cursor);
/* chunks.c: makes room for [offset, offset + size) in a file; never shrinks it. */
bool litifut_file_grow(long descriptor, uint64_t offset, uint32_t size);
/* chunks.c: true when a file may be `end` bytes long. */
bool litifut_within_limits(uint64_t end);

/* files.c: makes the directories and the trace file and maps its header. */
bool litifut_trace_create(void);
/* files.c: the trace file's descriptor, checked to be still ours and opened
 * again when the program has closed it; negative when that fails. */
long litifut_trace_descriptor(void);
/* files.c: true when `descriptor` still refers to the trace file. */
bool litifut_is_trace(long descriptor);
/* files.c: writes /proc/self/maps beside the trace. */
void litifut_maps_write(void);
/* files.c: copies trace and maps to LITIFUT_COPY_TO. */
void litifut_files_carry(void);

/* settings.c: the built-in values, then `defaults` (as in struct
 * litifut_module), then the environment unless the process is secure.
 * `scratch` has `size` bytes, 4096 at least. */
void litifut_settings_read(const char *defaults, char *scratch, uint32_t size);
/* settings.c: the chunk size that they ask for, a power of two. */
uint32_t litifut_settings_chunk_bytes(void);

/* process.c: brings the recorder up for this process at its first event, which
 * comes from `module`. True when it is ready. */
bool litifut_process_start(struct litifut_module *module);
/* process.c: a forked child starts a trace of its own. */
bool litifut_process_forked(uint32_t process);
/* process.c: tells the trace of `module`. */
void litifut_module_announce(struct litifut_module *module);

#pragma GCC visibility pop

/* process.c: tracer/enter.c calls it when a module ends. */
void litifut_module_leave(struct litifut_module *module);

#endif
