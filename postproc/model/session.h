/* Everything that is known about the traced processes: modules, functions and
 * calls, each under a small number, and how a word of a trace becomes a call.
 *
 * The numbers are shared by all processes: one library that is seen from
 * several programs is one module, and its functions are one function each. */
#ifndef LITIFUT_POSTPROC_MODEL_SESSION_H
#define LITIFUT_POSTPROC_MODEL_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postproc/sources/inputs.h"
#include "postproc/sources/maps.h"
#include "postproc/problems.h"
#include "postproc/table.h"
#include "postproc/sources/trace.h"

struct post_module {
	char *name; /* base name; "?" for module 0, which is "no module at all" */
	uint8_t build_id[POST_BUILD_ID_BYTES];
	unsigned build_id_bytes;
	struct post_image *image; /* NULL: no file was found */
	bool traced;              /* recorded in a trace: it was rewritten */
	uint64_t unnamed_events;  /* events whose address in here has no symbol */
	uint64_t no_callee;       /* calls from here whose callee is unknown */
	bool returns_unknown; /* there are returns among them, and no file to distinguish them */
};

struct post_function {
	uint32_t module;
	uint32_t address;   /* link-time, bit 0 clear */
	const char *name;   /* as shown: demangled, "NAME@plt", "module+0xaddress" */
	const char *symbol; /* as in the file, NULL without a symbol */
	bool plt;
};

/* A call site and where it led: what all events with the same numbers share. */
struct post_call {
	uint32_t site; /* number of the call site, whatever it leads to */
	uint32_t site_module;
	uint32_t site_address; /* link-time, of the call instruction */
	uint32_t caller;       /* function */
	uint32_t caller_offset;
	uint32_t callee_module;
	uint32_t callee_address; /* link-time, where a veneer leads; bit 0 clear */
	uint32_t callee;         /* function; behind a PLT entry, if what it leads to is known */
	uint32_t callee_offset;  /* in it, of the callee's address; 0 behind a PLT entry */
	uint32_t behind;         /* the same as callee, also when options.plt is set */
	uint32_t veneer;         /* function in between, POST_NONE: none */
	uint8_t plt;             /* enum post_through_plt */
	bool returns;            /* its return is recorded, where returns are */
	bool tail;
	bool interrupt;  /* an interrupt of a firmware has called its handler, and nothing else */
	bool unresolved; /* no symbol for the caller or for the callee */
	bool own;        /* into LITIFUT's own code; always hidden */
	bool hidden;     /* a filter leaves it out */
	uint64_t count;
};

/* Does the call go through a PLT entry or a lazy stub? */
enum post_through_plt {
	POST_PLT_NONE = 0,
	POST_PLT_ENTRY = 1,  /* which is the callee: where it leads is not known */
	POST_PLT_JOINED = 2, /* the callee is the one definition that there is */
	POST_PLT_GUESSED = 3 /* there are several, or a resolver chooses at run time */
};

struct post_mapping {
	uint32_t start, end; /* run-time addresses; end is exclusive */
	uint32_t bias;       /* run-time = link-time + bias, modulo 2^32 */
	uint32_t module;
	uint32_t first_epoch, end_epoch;
	bool recorded; /* from the trace itself, else from the maps file */
};

struct post_thread {
	uint32_t id;
	const struct post_task *task; /* of a firmware; NULL: it is a thread */
	uint32_t process;             /* index */
	uint32_t lane;                /* index in session->lanes */
	uint32_t epoch;
	uint64_t sequence; /* of its next event */
	uint64_t lost;
	uint32_t gaps;  /* those of the last chunk that was read */
	uint64_t taken; /* of its time so far, by the tracer: ticks times 256 */
	bool begun;     /* an event of it lay inside the window */
	/* Of the timeline: calls of the functions with which the window begins and ends, and behind
	 * which call it has ended, 0: it has not. */
	uint64_t from_calls, to_calls, end;
	struct post_stack *stack; /* of the timeline */
};

struct post_cache_slot {
	uint32_t return_address; /* 0: free */
	uint32_t callee;
	uint32_t kind;
	uint32_t call;
};

/* The calls that a process has made, by the words of its trace. */
struct post_cache {
	struct post_cache_slot *slots;
	uint32_t capacity, count;
	uint32_t epoch;
};

#define POST_CACHES 4 /* module epochs that are kept ready at once */

struct post_process {
	uint32_t index;
	struct post_trace *trace;
	struct post_maps maps;
	bool has_maps;
	uint32_t machine;
	struct post_mapping *mappings; /* those of the trace first */
	size_t mapping_count, mapping_capacity;
	struct post_cache caches[POST_CACHES];
	unsigned next_cache;
	struct post_thread **threads;
	size_t thread_count, thread_capacity;
	struct post_table thread_index;
	uint64_t lost;
	uint64_t holes;
	uint64_t events;
	bool returns; /* they are recorded, says the header, or one was: nothing is guessed */
};

/* More than that in hostile or huge input is put together, and a problem says so. */
#define POST_USUAL_THREADS 65536u
#define POST_USUAL_CALLS (1u << 20) /* some 400 bytes each */

struct post_options {
	uint32_t most_threads; /* shown apart, of all processes; 0: POST_USUAL_THREADS */
	uint32_t most_calls;   /* distinct (call site, callee); 0: POST_USUAL_CALLS */
	bool demangle;
	bool plt;                      /* show PLT entries as separate functions */
	bool veneers;                  /* show both the veneer and its callee */
	const char *const *debug_dirs; /* NULL-terminated */
	const char *sysroot;           /* in front of the paths in maps; NULL: none */
	bool lines;                    /* ask DWARF for source lines */
	bool raw;                      /* leave what the tracer takes in the times */
	bool maps_paths;               /* look for files at the paths in maps */
	/* Filters: NULL-terminated lists of globs, NULL: no filter. */
	const char *const *include;
	const char *const *exclude;
	const char *const *modules;
	const uint32_t *pids, *tids;
	size_t pid_count, tid_count;
};

struct post_session {
	struct post_options options;
	struct post_problems *problems;
	struct post_inputs inputs;
	struct post_process **processes;
	size_t process_count, process_capacity;
	struct post_module *modules;
	size_t module_count, module_capacity;
	struct post_function *functions;
	size_t function_count, function_capacity;
	struct post_call *calls;
	size_t call_count, call_capacity;
	uint32_t site_count;
	struct post_thread **lanes; /* the threads of all processes; the processes own them */
	size_t lane_count, lane_capacity;
	bool threads_reported; /* that there are too many */
	/* Is called while the paths of a process are walked; may be NULL. */
	void (*walked)(void *context, uint64_t bytes, uint64_t all);
	/* Private: numbers by contents. */
	struct post_table function_index, call_index, site_index;
	char **texts;
	size_t text_count, text_capacity;
	struct post_parameters **parameters; /* by function; of parameters.c */
	size_t parameter_count;
};

/* `session` must be all zero but for `options` and `problems`. Opens every
 * trace and maps file of session->inputs (filled by the caller). */
void post_session_open(struct post_session *session);

/* Hands a trace over that was opened already; before post_session_open(). */
void post_session_take(struct post_session *session, struct post_trace *trace);

/* The thread of a process, made when it is new. When there are too many, all further
 * threads of a process share one, whose id is UINT32_MAX. */
struct post_thread *post_session_thread(struct post_session *session, struct post_process *process,
					uint32_t id);

/* "thread 12", or "task NAME". */
const char *post_thread_text(const struct post_thread *thread, char *text, size_t size);

/* In place of the number of a call: the word was a return, from the call site with the
 * number in the other bits. */
#define POST_RETURN (UINT32_C(1) << 31)

/* The call, or POST_RETURN and the site, that a trace word (or a record with its callee) describes.
 * `kind` is LITIFUT_WORD_CALL, _INDIRECT or _TAIL; callee 0: the word is all there is. */
uint32_t post_session_call(struct post_session *session, struct post_process *process,
			   uint32_t epoch, uint32_t kind, uint32_t return_address, uint32_t callee);

/* The run-time return address of the calls whose returns the address `exit` stands for; 0: not
 * known. */
uint32_t post_session_exit(const struct post_session *session, const struct post_process *process,
			   uint32_t epoch, uint32_t exit);

/* The file of a module with the list of its blocks; NULL: there is none, which is reported. */
const struct post_image *post_session_blocks(struct post_session *session, uint32_t module);

/* Reports that no trace says `what`, such as "what code was executed": for that a program is linked
 * with the modes `names`, which are the bits 1 << LITIFUT_MODE_... of `modes`. */
void post_session_none_says(const struct post_session *session, const char *what, uint32_t modes,
			    const char *names);

/* The module that has run-time code at `address`, and the link-time address there. False: none is
 * known. */
bool post_session_place(const struct post_process *process, uint32_t epoch, uint32_t address,
			uint32_t *module, uint32_t *link);

/* The call of a site by its number within a module (by serial), as tables name it; `callee` is
 * that of an indirect call. POST_NONE: the ELF file with the site is not known. */
uint32_t post_session_site_call(struct post_session *session, struct post_process *process,
				uint32_t serial, uint32_t site, uint32_t callee);

/* The function that a site of the list is in, whatever it has called; POST_NONE: not known. */
uint32_t post_session_site_caller(struct post_session *session, const struct post_process *process,
				  uint32_t serial, uint32_t number);

/* The number of the function at a link-time address of a module. */
uint32_t post_session_function(struct post_session *session, uint32_t module, uint32_t address);

/* Does a function have one of the names (NULL: there are none)? A glob may match the name as it
 * is shown, that of the ELF file, or a C++ name without its parameters. */
bool post_function_matches(const struct post_session *session, const char *const *globs,
			   uint32_t function);

/* The cache of one epoch, for those who count without going through
 * post_session_call(). Stays valid until the next call of this function. */
struct post_cache *post_session_cache(struct post_process *process, uint32_t epoch);

/* The largest number of distinct calls; there is one more that stands for all others. */
static inline uint32_t post_session_most_calls(const struct post_session *session)
{
	return session->options.most_calls ? session->options.most_calls : POST_USUAL_CALLS;
}

static inline uint32_t post_cache_start(const struct post_cache *cache, uint32_t return_address,
					uint32_t callee)
{
	uint32_t mixed = (return_address >> 1) * 0x9e3779b1u ^ callee * 0x85ebca6bu;

	return (mixed ^ mixed >> 15) & (cache->capacity - 1);
}

/* What post_session_call() has put into the cache for these; POST_NONE: nothing. `kind` is not 0,
 * as that of a free slot is. */
static inline uint32_t post_cache_find(const struct post_cache *cache, uint32_t return_address,
				       uint32_t callee, uint32_t kind)
{
	uint32_t index = post_cache_start(cache, return_address, callee);
	const struct post_cache_slot *slot = &cache->slots[index];

	while (slot->return_address != return_address ||
	       (slot->callee ^ callee) | (slot->kind ^ kind)) {
		if (!slot->return_address)
			return POST_NONE;
		index = (index + 1) & (cache->capacity - 1);
		slot = &cache->slots[index];
	}
	return slot->call;
}

/* After all events: problems that are reported once (files that were not found). */
void post_session_conclude(struct post_session *session);

/* A trace of one run that the other one has as well, while not all are the same; NULL: there is
 * none. */
const char *post_session_shared(const struct post_session *one, const struct post_session *other);

void post_session_close(struct post_session *session);

/* Private to session.c, modules.c, resolve.c and counted.c. */
uint32_t post_session_resolve(struct post_session *session, struct post_process *process,
			      uint32_t epoch, uint32_t kind, uint32_t return_address,
			      uint32_t callee);
uint32_t post_modules_recorded(struct post_session *session, struct post_process *process,
			       const struct litifut_module_record *record);
void post_modules_map(struct post_session *session, struct post_process *process);
void post_counted_take(struct post_session *session, struct post_process *process);

#endif
