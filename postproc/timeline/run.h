/* Takes a session through an output format. */
#ifndef LITIFUT_POSTPROC_TIMELINE_RUN_H
#define LITIFUT_POSTPROC_TIMELINE_RUN_H

#include "postproc/formats/format.h"

struct post_totals {
	uint32_t wrong_settings; /* of all processes, as in struct litifut_trace_header */
	uint64_t events;         /* all that were read, hidden or not */
	uint64_t own;            /* of them, those that lead into LITIFUT's own code */
	uint64_t shown;          /* left by the filters */
	uint64_t lost;
	uint64_t holes;      /* reserved and never filled: the program was killed */
	uint64_t unresolved; /* events without a symbol for caller or callee */
	size_t processes, threads, modules;
	size_t killed;       /* processes whose trace was never stopped */
	size_t deduplicated; /* processes that recorded each (call site, callee) once */
	double missing;      /* the largest share of them that the filter may have swallowed */
};

/* Where in each thread the output begins and ends. */
struct post_window {
	uint64_t first_event, last_event; /* sequence numbers, inclusive */
	uint64_t first_time, last_time;   /* ns after the start of the first process */
	bool by_event, by_time;
};

struct post_run_options {
	struct post_window window;
	void (*progress)(void *context, uint64_t done, uint64_t all); /* bytes; may be NULL */
	void *context;
};

void post_run(struct post_session *session, const struct post_format *format,
	      struct post_output *output, const struct post_run_options *options,
	      struct post_totals *totals);

#endif
