/* The tables of calls of the threads of a process (LITIFUT_MODE=table on Linux): what the
 * recorder has folded, and what it had not folded yet when the trace was read. */
#ifndef LITIFUT_POSTPROC_SOURCES_TABLE_CALLS_H
#define LITIFUT_POSTPROC_SOURCES_TABLE_CALLS_H

#include "postproc/sources/trace.h"

struct post_table_call {
	struct litifut_table_call call; /* host byte order */
	uint32_t thread; /* kernel thread id; of the last one, if several shared it */
	uint32_t open;   /* of its calls, at the end of the trace */
};

/* The run-time return address of the calls whose returns `exit` stands for; 0: not known. */
typedef uint32_t (*post_exit_resolver)(void *context, uint32_t epoch, uint32_t exit);

/* Gives each call that was made to `take`; the same one may come several times. Returns how many
 * events were lost while they were summed up. Damage is
 * reported, and the rest is read. */
uint64_t post_table_calls_read(const struct post_trace *trace, post_exit_resolver resolve,
			       void (*take)(void *context, const struct post_table_call *call),
			       void *context, struct post_problems *problems);

#endif
