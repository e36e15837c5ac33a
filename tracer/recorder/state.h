/* The state of the default recorder, hidden in the module that holds the process's
 * recorder. What belongs to a thread is in threads.h, what belongs to a trace file
 * in sink/trace_file.h. */
#ifndef LITIFUT_TRACER_STATE_H
#define LITIFUT_TRACER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "port.h"
#include "tracer/recorder/settings.h"
#include "tracer/sink/trace_file.h"

struct litifut_module;
struct litifut_thread;

/* The recorder of programs that are linked for a stream of events has nothing of the other modes
 * (stream_only.c). */
#ifndef LITIFUT_STREAM_ONLY
#define LITIFUT_STREAM_ONLY 0
#endif

#define LITIFUT_THREAD_SLOTS 1024 /* a power of two */
#define LITIFUT_MODULE_SLOTS 255

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
	LITIFUT_FAST_THUNKS = 3  /* the same, and there are thunks that do it, with this clock */
};

/* Known modules, in any order, with gaps. More of these are mapped when they are full. */
struct litifut_modules {
	struct litifut_modules *next;
	struct litifut_module *slots[LITIFUT_MODULE_SLOTS];
};

/* What `thunks_differ` says: not 0, no thread may be armed. */
enum litifut_thunks_differ {
	LITIFUT_THUNKS_DIFFER = 1, /* in their mode or clock */
	LITIFUT_THUNKS_GO = 2,     /* they are being changed so that none looks for a cursor */
	LITIFUT_THUNKS_GONE = 3    /* all that were known have been, see withdraw.c */
};

/* Functions of the executable's recorder. */
enum litifut_elsewhere {
	LITIFUT_ELSEWHERE_RECORD,
	LITIFUT_ELSEWHERE_ENTER,
	LITIFUT_ELSEWHERE_LEAVE,
	LITIFUT_ELSEWHERE_START,
	LITIFUT_ELSEWHERE_STOP,
	LITIFUT_ELSEWHERE_COUNT
};

/* What `full` says. */
enum litifut_full {
	LITIFUT_FULL_NOT = 0,
	LITIFUT_FULL = 1,      /* no chunk can be had */
	LITIFUT_FULL_RETRY = 2 /* so it was, and it is tried again */
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
	uint32_t phase;         /* enum litifut_phase */
	uint32_t recording;     /* switched by litifut_start() and litifut_stop() */
	uint32_t thunks;        /* threads may be armed */
	uint32_t thunk_clock;   /* enum litifut_clock that thunks read; LITIFUT_CLOCK_UNSET */
	uint32_t mode;          /* enum litifut_mode of the first module */
	uint32_t thunks_differ; /* enum litifut_thunks_differ */
	uint32_t resets;        /* of tables, that were asked for */
	uint32_t epoch;
	struct litifut_port_features features;
	uint32_t clock;                                        /* enum litifut_clock */
	long (*clock_gettime)(uint32_t clock, uint32_t *time); /* of the vDSO, or NULL */
	/* What becomes of a full chunk of events, see litifut_table_finish(); NULL: it is kept. */
	uint32_t (*finish_events)(uint32_t chunk, uint32_t end);
	uint32_t *bloom;     /* the filter's words, or NULL */
	uint32_t bloom_mask; /* bits in it - 1 */

	struct litifut_trace_file file; /* its process is the one that this state is for */
	long folder;                    /* of traces, held: a descriptor above 0, or none */
	uint32_t folder_identity[3];
	uint32_t events;       /* in full chunks; about, see litifut_compacts() */
	uint32_t compact;      /* cursor of the chunk for compact blocks */
	uint32_t last_scratch; /* scratch chunk of threads without memory for one; 0: none */
	/* Scratch chunks of threads that a confined process makes: the first; each begins with the
	 * address of the next one. 0: no more. */
	uint32_t spare_scratch;
	uint32_t scratch; /* struct litifut_scratch, mapped when first needed */
	uint32_t scratch_busy;
	uint32_t vdso;         /* address of the kernel's shared library, 0: none */
	uint32_t full;         /* enum litifut_full */
	uint32_t event_cost;   /* as in the header of the trace */
	uint64_t stopped_ns;   /* when recording was switched off; 0: it never was */
	uint32_t control_seen; /* the last request that a thread has taken */
	uint32_t own_stacks;   /* address of the recorder's stacks; 0: none yet */
	uint32_t lost_early;   /* lost before there was a header to count them in */
	uint32_t metadata;     /* cursor of the metadata chunk, as in litifut_thread */
	uint32_t spare;        /* chunks mapped in advance, from here */
	uint32_t spare_end;
	uint64_t frozen;   /* the clock when the last system call was made */
	uint32_t retry_at; /* so many of `lost_early`, before there is another attempt to begin */
	long trouble;      /* why the last one failed: a negated error, or 0 */
	uint32_t *orphans; /* where calls of a child without a trace are counted, or NULL */
	uint32_t last_serial;
	uint32_t modules_live;
	/* Functions of the executable's recorder, by enum litifut_elsewhere, where a library has
	 * found its own recorder, which is this one, before that, and leaves all to it. Else 0. */
	uint32_t elsewhere[LITIFUT_ELSEWHERE_COUNT];
	uint32_t stack_start; /* where the kernel put the arguments of the program; 0: not known */
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
	uint32_t spare_again; /* a chunk mapped in advance that was given back; 0: none */
	struct litifut_modules modules;
	/* of the lost events: in chunks that are still open, see litifut_save_all() */
	uint32_t unsaved;
};

/* Is that the header of a trace? There is another one where no trace can be made. */
static inline bool litifut_is_written(const struct litifut_trace_header *header)
{
	return header->byte_order;
}

extern struct litifut_recorder litifut_recorder __attribute__((visibility("hidden")));

/* Calls that function of the executable's recorder, if this recorder leaves all to it; else returns
 * false. */
static inline bool litifut_elsewhere(enum litifut_elsewhere which, const void *argument)
{
	uint32_t function = litifut_recorder.elsewhere[which];

	if (function)
		((void (*)(const void *))function)(argument);
	return function;
}

/* The module in which the recorder is linked (tracer/entry). */
extern struct litifut_module litifut_module __attribute__((visibility("hidden")));

/* Are branches recorded in order, or the starts and ends of units in the same words? */
static inline bool litifut_has_bits(void)
{
	return !LITIFUT_STREAM_ONLY && (litifut_recorder.mode == LITIFUT_MODE_PATHS ||
					litifut_recorder.mode == LITIFUT_MODE_UNITS);
}

#endif
