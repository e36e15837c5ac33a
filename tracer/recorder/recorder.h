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
/* A folder of the settings, then /trace/NAME.PID.TRY.trace, and a NUL. */
#define LITIFUT_FILE_PATH_BYTES (LITIFUT_PATH_BYTES + 7 + 64 + 11 + 3 + 6)
#define LITIFUT_THREAD_SLOTS 1024 /* a power of two */
#define LITIFUT_MODULE_SLOTS 255
#define LITIFUT_LIBC_SPAWNERS 4
#define LITIFUT_HEADER_BYTES 16384 /* see litifut_trace_create() */
#define LITIFUT_CLOCK_UNSET 0xff   /* none was asked for */

/* Full chunks of events are written in compact form. */
enum litifut_compacting {
	LITIFUT_COMPACT_OFF = 0,
	LITIFUT_COMPACT_ON = 1,
	LITIFUT_COMPACT_SOME = 2 /* as many as it takes to stay at four bytes an event */
};

struct litifut_settings {
	char directory[LITIFUT_PATH_BYTES];
	char copy_to[LITIFUT_PATH_BYTES]; /* "": nowhere */
	uint32_t bulk_kb;                 /* 0: write each event at once */
	uint32_t max_mb;                  /* 0: no bound */
	uint32_t clock;                   /* enum litifut_clock */
	uint32_t dedup;
	uint32_t compact; /* enum litifut_compacting */
	uint32_t bloom_kb;
	uint32_t start_off;
	uint32_t signal; /* 0: none */
	uint32_t verbose;
	uint32_t wrong; /* see struct litifut_trace_header */
};

/* Why a thread must not be armed. */
enum litifut_hold {
	LITIFUT_HOLD_FORK = 1, /* libc is about to fork */
	LITIFUT_HOLD_SPAWN = 2 /* it makes a child that libc tells nobody of, see spawn.c */
};

/* A thread of the traced process. Only the thread whose kernel id is `id` uses
 * it, its signal handlers included; the structures are never freed, and one
 * whose thread has ended is taken over by compare-and-swap of `id`. */
struct litifut_thread {
	uint32_t pointer; /* thread pointer, the key of the fast look-up; 0: none */
	uint32_t id;      /* kernel thread id; 0: free */
	/* Run-time address of the next free word of the mapped chunk. Chunks are
	 * aligned to their size, so a multiple of it means: full, or none yet.
	 * Slots are reserved by compare-and-swap of this one word. */
	uint32_t cursor;
	/* The cursor has gone to where the thunks find it, litifut_thread_cursor(). */
	uint32_t armed;
	uint32_t chunk;     /* in which the last event was put; 0: not known */
	uint32_t hold;      /* enum litifut_hold; not 0: must not be armed */
	uint32_t epoch;     /* module epoch last told in the stream */
	uint32_t time_high; /* clock >> 30 at the last LITIFUT_WORD_TIME */
	/* Held by LITIFUT_HOLD_SPAWN: where its stack and its thread pointer were, and who
	 * is in its memory; NULL: nobody that has recorded. */
	uint32_t spawn_stack;
	uint32_t spawn_pointer;
	struct litifut_guest *guest;
	struct litifut_thread *next;
};

enum litifut_phase {
	LITIFUT_PHASE_NEW = 0,
	LITIFUT_PHASE_BUSY = 1, /* one thread is setting up; what others call is lost */
	LITIFUT_PHASE_READY = 2,
	LITIFUT_PHASE_OFF = 3 /* cannot record in this process */
};

/* What `fast` says. */
enum litifut_fast {
	LITIFUT_FAST_NONE = 0,   /* each event takes the long way */
	LITIFUT_FAST_LOOKUP = 1, /* threads are known by their pointers */
	LITIFUT_FAST_WORDS = 2,  /* and every event goes into the chunk */
	LITIFUT_FAST_THUNKS = 3  /* the same without time, and there are thunks that do it */
};

/* Threads may copy the same file at the same time. */
struct litifut_copies {
	uint32_t begun; /* how many; each has a temporary name of its own */
	uint32_t read;  /* how many have all of the file as it was then */
	uint32_t named; /* which of those has the name, or was the last to have it */
};

/* A trace file of this process, or of a guest. */
struct litifut_trace_file {
	uint32_t process; /* id of the process that it is for */
	long descriptor;  /* negative: closed */
	uint32_t identity[3];
	uint32_t name_number;                /* in the names of its files: the first free one */
	struct litifut_trace_header *header; /* mapped at the start of the file */
	uint32_t chunk_count;                /* handed out in the file so far */
	uint32_t last_number;                /* of a chunk */
};

/* Known modules, in any order, with gaps. More of these are mapped when they are full. */
struct litifut_modules {
	struct litifut_modules *next;
	struct litifut_module *slots[LITIFUT_MODULE_SLOTS];
};

/* What the metadata of a trace says of a module. */
struct litifut_module_words {
	uint32_t control;
	struct litifut_module_record record;
};

struct litifut_recorder {
	/* Read at every event. */
	uint32_t fast;       /* enum litifut_fast */
	uint32_t chunk_mask; /* chunk size - 1 */
	/* LITIFUT_THREAD_SLOTS pointers, by litifut_thread_slot(). The kernel
	 * empties them in a forked child where it can (MADV_WIPEONFORK). */
	struct litifut_thread **threads;
	/* From the thread pointer to the word where libc and the kernel hold the
	 * thread's id; right when `calibrated`. */
	int32_t id_offset;
	uint32_t phase;     /* enum litifut_phase */
	uint32_t recording; /* switched by litifut_start() and litifut_stop() */
	uint32_t thunks;    /* threads may be armed */
	uint32_t epoch;
	struct litifut_port_features features;
	uint32_t clock;                                        /* enum litifut_clock */
	long (*clock_gettime)(uint32_t clock, uint32_t *time); /* of the vDSO, or NULL */
	uint32_t *bloom;                                       /* the filter's words, or NULL */
	uint32_t bloom_mask;                                   /* bits in it - 1 */

	struct litifut_trace_file file; /* its process is the one that this state is for */
	uint32_t events;                /* in full chunks; about, see litifut_compacts() */
	uint32_t compact;               /* cursor of the chunk for compact blocks */
	uint32_t scratch;               /* struct litifut_scratch, mapped when first needed */
	uint32_t scratch_busy;
	uint32_t vdso;       /* address of the kernel's shared library, 0: none */
	uint32_t full;       /* no chunk can be had any more */
	uint32_t lost_early; /* lost before there was a header to count them in */
	uint32_t metadata;   /* cursor of the metadata chunk, as in litifut_thread */
	uint32_t last_serial;
	uint32_t modules_live;
	uint32_t program_headers; /* of the executable */
	uint32_t program_header_count;
	uint32_t page_bytes;
	uint32_t secure;  /* AT_SECURE */
	uint32_t exiting; /* the executable's destructors have run */
	uint32_t calibrated;
	uint32_t uncalibrated_events;
	char program[64];
	struct litifut_copies maps_copies;
	struct litifut_copies carried_traces;
	struct litifut_copies carried_maps;
	struct litifut_settings settings;
	struct litifut_thread *thread_list;
	uint32_t thread_pool; /* unused rest of the page that threads are made from */
	struct litifut_modules modules;
};

extern struct litifut_recorder litifut_recorder;

/* words.c: adds to a shared counter; returns what it was. */
uint32_t litifut_add(uint32_t *word, uint32_t amount);
/* The same in place, for what is counted at events. */
static inline uint32_t litifut_add_here(uint32_t *word, uint32_t amount)
{
	uint32_t old;

	do
		old = *(volatile uint32_t *)word;
	while (!litifut_port_compare_exchange(litifut_recorder.features, word, old, old + amount));
	return old;
}
/* words.c: true when this caller changed `*word` from `expected` to `desired`. */
bool litifut_exchange(uint32_t *word, uint32_t expected, uint32_t desired);

static inline uint32_t litifut_thread_slot(uint32_t pointer)
{
	/* Threads of one program differ by their stack size, a round number. */
	return (pointer ^ pointer >> 7 ^ pointer >> 17) >> 3 & (LITIFUT_THREAD_SLOTS - 1);
}

/* recorder.c: counts `events` as lost, in the header when there is one. */
void litifut_lose(uint32_t events);
/* recorder.c: puts words into the stream of a thread; false: there is no room. */
bool litifut_put(struct litifut_thread *thread, const uint32_t *words, uint32_t count);
/* recorder.c: the words of an event, 1 or 3, without time. */
uint32_t litifut_event_words(const struct litifut_call *call, uint32_t *words);
/* recorder.c: adds the time to an event of `count` words; returns how many there are. */
uint32_t litifut_stamp_words(uint64_t now, uint32_t *words, uint32_t count);
/* recorder.c: the words that tell the whole clock, for when its upper bits change. */
void litifut_time_words(uint64_t now, uint32_t words[3]);
/* recorder.c: decides what `fast` may be, after any change. */
void litifut_update_fast(void);
/* recorder.c: true when this process has a trace to record to; starts one if
 * need be, for `module`. */
bool litifut_process_ready(const struct litifut_module *module);

/* chunks.c: reserves `bytes` in the chunk under `*cursor`, in another one of
 * this kind, encoding and owner when they do not fit. NULL: there is no room. */
uint32_t *litifut_reserve(uint32_t *cursor, uint32_t bytes, uint32_t kind, uint32_t encoding,
			  uint32_t thread);
/* chunks.c: puts `count` words at a reserved place, front to back. */
void litifut_fill(uint32_t *place, const uint32_t *words, uint32_t count);
/* chunks.c: room for one more chunk at the end of a file, mapped at a multiple of its
 * size; 0 when there is none, and then `*trouble` tells why. Its place in the file is
 * left in `used_bytes`, which has no other use in an open chunk. */
uint32_t litifut_chunk_map(struct litifut_trace_file *file, const char **trouble);
/* chunks.c: fills the header of an empty chunk of a file. The kind comes last: before
 * it, readers take the chunk for a free one. */
void litifut_chunk_open(struct litifut_trace_file *file, uint32_t base, uint32_t kind,
			uint32_t encoding, uint32_t thread);
/* chunks.c: makes room for [offset, offset + size) in a file; never shrinks it. */
bool litifut_file_grow(long descriptor, uint64_t offset, uint32_t size);
/* chunks.c: true when RLIMIT_FSIZE lets a file be `end` bytes long. */
bool litifut_within_file_limit(uint64_t end);
/* chunks.c: true when it and LITIFUT_MAX_MB do. */
bool litifut_within_limits(uint64_t end);

/* compact.c: writes the compact form of a full chunk of events, whose last word
 * ends at `end`, into the trace. False when it stays as it is: a slot in it is
 * still to be filled, another thread is at this, or it would not be smaller. */
bool litifut_compact_chunk(const struct litifut_chunk_header *chunk, uint32_t end);

/* vdso.c: the address of a function in the vDSO; 0 when the kernel gives none, or
 * none that is faster than the system call (it takes the name away then). */
uint32_t litifut_vdso_function(const char *name);

/* clock.c: chooses the clock. */
void litifut_clock_start(void);
/* clock.c: the clock that was chosen, in its ticks. */
uint64_t litifut_clock_now(void);
/* clock.c: CLOCK_MONOTONIC (1) or CLOCK_REALTIME (0) in nanoseconds. */
uint64_t litifut_nanoseconds(uint32_t clock);

/* bloom.c: makes the filter when it is asked for; empties it after fork. */
void litifut_bloom_start(void);
/* bloom.c: true when this pair has been seen, or seems so; remembers it. */
bool litifut_bloom_seen(uint32_t return_address, uint32_t callee);

/* threads.c: the calling thread's state, made when it has none; NULL without
 * memory. `id` is its kernel thread id. */
struct litifut_thread *litifut_thread_find(uint32_t id);
/* threads.c: true when the 8 bytes at `address` can be read without a fault. */
bool litifut_readable(uint32_t address);
/* threads.c: maps the table of threads. */
bool litifut_threads_start(void);
/* threads.c: true when a thread is in the table. */
bool litifut_threads_in_use(void);
/* threads.c: true when libc's id word says what the kernel does of the calling
 * thread. */
bool litifut_is_libc_thread(void);
/* threads.c: every thread takes the long way with its next event. */
void litifut_threads_recheck(void);
/* threads.c: after fork: none of the known threads exists here. */
void litifut_threads_forget(void);

/* files.c: makes the paths of the settings absolute, because the program may
 * change directory. */
void litifut_files_start(void);
/* armed.c: where the cursor of `thread`, the calling one, is. */
uint32_t *litifut_thread_cursor(struct litifut_thread *thread);
/* armed.c: lets the thunks of `thread`, the calling one, store events. */
void litifut_thread_arm(struct litifut_thread *thread);
/* armed.c: takes the cursor of `thread`, the calling one, from the thunks. */
void litifut_thread_disarm(struct litifut_thread *thread);
/* armed.c: the same for all threads, as soon as can be: one that is about to
 * store an event still does. */
void litifut_threads_disarm(void);
/* armed.c: in a new process: what the calling thread's thunks store to is the
 * parent's. */
void litifut_cursor_drop(void);
/* armed.c: finds the end of what a thread that has ended had recorded. */
uint32_t litifut_cursor_recover(const struct litifut_thread *thread);

/* files.c: makes the directories and the trace file of file->process, and maps
 * its header. False: no file is left. */
bool litifut_trace_create(struct litifut_trace_file *file);
/* files.c: the trace file's descriptor, checked to be still ours and opened
 * again when the program has closed it; negative when that fails. */
long litifut_trace_descriptor(struct litifut_trace_file *file);
/* files.c: true when file->descriptor still refers to the trace file. */
bool litifut_is_trace(const struct litifut_trace_file *file);
/* files.c: writes /proc/self/maps beside the trace. */
void litifut_maps_write(const struct litifut_trace_file *file);
/* files.c: copies trace and maps to LITIFUT_COPY_TO. Several threads may be at it
 * at once; the newest copy stays. */
void litifut_files_carry(void);

/* start.S: what the thread pointer of a static program with thunks refers to before
 * libc has set it up: a vector's address, nothing, and a vector. */
extern uint32_t litifut_early_thread[4];

/* fork.c: sees to it that no thunk stores anything in a child of fork before the
 * recorder has seen it. Called while a module starts, when libc can be. False:
 * that can't be had, and no thread may be armed. */
bool litifut_fork_start(const struct litifut_module *module);
/* fork.c: undoes it when `module` is unloaded and the recorder with it. */
void litifut_fork_end(const struct litifut_module *module);

/* loaded.c: the run-time addresses of libc's functions of these names, with the Thumb
 * bit; 0: it has no such function. False: libc is not among the loaded files. */
bool litifut_libc_functions(const char *const *names, uint32_t *addresses, uint32_t count);

/* spawn.c: prepares a module that has just been met. */
void litifut_spawn_module(struct litifut_module *module);
/* spawn.c: is this call, in a module with LITIFUT_MODULE_SPAWNS, one of a function that
 * makes a child? */
bool litifut_spawn_is(const struct litifut_call *call);
/* spawn.c: holds the calling thread, whose call of such a function has been recorded. */
void litifut_spawn_begin(const struct litifut_call *call);
/* spawn.c: in the process that has made the child, at an event of the thread that did:
 * lets go of it, unless the event is of a signal handler. */
void litifut_spawn_end(struct litifut_thread *thread, const struct litifut_call *call);

/* guest.c: records a call in a trace of the process's own, without touching what its
 * parent needs. False: no thread made such a child, or there can be no trace. */
bool litifut_guest_record(const struct litifut_call *call);
/* guest.c: gives back what guests of `thread` have left, down to that of `process`. */
void litifut_guests_leave(struct litifut_thread *thread, uint32_t process);

/* settings.c: the built-in values, then `defaults` (as in struct
 * litifut_module), then the environment unless the process is secure.
 * `scratch` has `size` bytes, 4096 at least. */
void litifut_settings_read(const char *defaults, char *scratch, uint32_t size);
/* settings.c: the environment on the stack as the kernel set it up: addresses of
 * strings, 0, and behind it the auxiliary vector. NULL when it can't be found.
 * `buffer` has `size` bytes, 512 at least. */
const uint32_t *litifut_stack_environment(char *buffer, uint32_t size);
/* settings.c: the chunk size that they ask for, a power of two. */
uint32_t litifut_settings_chunk_bytes(void);

/* verbose.c: with LITIFUT_VERBOSE=1, "litifut: PROGRAM.PID: WHAT WHERE" as one line
 * on stderr, and the reason when `result` is that of a system call which
 * failed. Async-signal-safe; brings the program no signal. */
void litifut_tell(const char *what, const char *where, long result);
/* verbose.c: no words in a program that was started without a stderr. */
void litifut_tell_start(void);

/* process.c: brings the recorder up for this process at its first event, which
 * comes from `module`. True when it is ready. */
bool litifut_process_start(const struct litifut_module *module);
/* process.c: a forked child starts a trace of its own. False when it must not
 * do that, being a guest in the memory of its parent. */
bool litifut_process_forked(uint32_t process);
/* process.c: all that makes the trace complete so far; it goes on. */
void litifut_trace_finish(void);
/* switch.c: installs the handler of LITIFUT_SIGNAL where the program has none. */
void litifut_signal_start(void);
/* process.c: fills the mapped header of a new trace file. */
void litifut_header_fill(const struct litifut_trace_file *file);
/* process.c: what there is to tell of `module` under this serial number. */
void litifut_module_describe(const struct litifut_module *module, uint32_t serial,
			     struct litifut_module_words *words);
/* process.c: the known module after `*place`, an index that begins with 0 and is
 * advanced; NULL after the last. */
struct litifut_module *litifut_modules_next(uint32_t *place);
/* process.c: tells the trace of `module`. */
void litifut_module_announce(struct litifut_module *module);

#pragma GCC visibility pop

/* process.c: tracer/entry/enter.c calls them when a module of the thunk engine starts
 * and when any module ends. */
void litifut_module_enter(struct litifut_module *module);
void litifut_module_leave(struct litifut_module *module);

#endif
