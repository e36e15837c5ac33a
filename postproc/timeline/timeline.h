/* Reads the traces of a session in the right order, through windows and filters, into one
 * stream of events. */
#ifndef LITIFUT_POSTPROC_TIMELINE_TIMELINE_H
#define LITIFUT_POSTPROC_TIMELINE_TIMELINE_H

#include "postproc/model/session.h"
#include "postproc/timeline/event.h"
#include "postproc/timeline/filter.h"
#include "postproc/timeline/window.h"

struct post_totals {
	uint32_t wrong_settings; /* of all processes, as in struct litifut_trace_header */
	char unknown_settings[4 * LITIFUT_UNKNOWN_BYTES]; /* likewise, each name once */
	uint64_t events;                                  /* all that were read, hidden or not */
	uint64_t own;   /* of them, those that lead into LITIFUT's own code */
	uint64_t shown; /* left by the filters */
	bool cut;       /* the output ended early, and so did the reading */
	uint64_t lost;
	bool lost_at_least;  /* a device has lost more than it can count */
	uint64_t holes;      /* reserved and never filled: the program was killed */
	uint64_t unresolved; /* events without a symbol for caller or callee */
	uint64_t unfollowed; /* of them, those that were counted, and led through a pointer */
	size_t processes, threads, modules;
	size_t killed;         /* processes whose trace was never stopped */
	size_t covered;        /* processes that recorded which code was executed, and no calls */
	const char *lost_what; /* see post_timeline_lost_what(); of the process that lost most */
	size_t clockless;      /* processes that recorded returns, and no clock */
	size_t deduplicated;   /* processes that recorded each (call site, callee) once */
	double missing;        /* the largest share of them that the filter may have swallowed */
	uint64_t overwritten;  /* chunks of rings that newer ones have replaced */
	/* When the process that lost most of its calls did so: seconds after its start; `lost_to`
	 * is 0 where that is not known. */
	double lost_from;
	double lost_to;
};

struct post_timeline_options {
	struct post_window window;
	struct post_filter_options filter;
	void (*progress)(void *context, uint64_t done, uint64_t all); /* bytes; may be NULL */
	void *context;
};

/* Pushes every event that the filters leave into `sink`, and counts calls in
 * session->calls[]. Without a sink (NULL) calls are only counted, which is several times
 * faster. With a clock in all traces the lanes are merged by time, else they follow one
 * another. The stacks of the lanes, with their frames' numbers, are gone afterwards. */
void post_timeline_read(struct post_session *session, const struct post_timeline_sink *sink,
			const struct post_timeline_options *options);

/* Does the mode of the process record which code is executed, and no calls? */
bool post_timeline_is_of_code(const struct post_process *process);

/* What a process made, and is known to be lost. */
uint64_t post_timeline_lost(const struct post_process *process);

/* What these are: `calls', `calls and returns', `records of branches' or
 * `numbers of paths'. */
const char *post_timeline_lost_what(const struct post_process *process);

/* Sums up what was read. */
void post_timeline_total(const struct post_session *session, struct post_totals *totals);

#endif
