/* An output format is one file in this folder with one struct, listed in
 * table.c. docs/output-formats.md shows how to add one. */
#ifndef LITIFUT_POSTPROC_FORMATS_FORMAT_H
#define LITIFUT_POSTPROC_FORMATS_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "postproc/model/session.h"
#include "postproc/timeline/event.h"

/* What the rows of a table are. */
enum post_rows { POST_ROWS_FUNCTIONS, POST_ROWS_EDGES, POST_ROWS_THREADS };

/* Something that happens in a run: the first call of a function, a mark, or a time. */
struct post_phase {
	const char *text;     /* as it was given; NULL: nothing is asked for */
	const char *function; /* a glob */
	bool by_mark, by_time;
	uint64_t mark;
	uint64_t time_ns; /* after the first event */
};

/* --order may be given so often: there is a bit for each. */
#define POST_ORDERS_MOST 64

struct post_output_options {
	uint64_t top;         /* rows of a table, 0: all */
	uint32_t last;        /* lines of a process, 0: all */
	const char *sort;     /* column of a table, NULL: the usual one */
	double min_share;     /* of all calls, 0..1: what is less is left out; below 0: as usual */
	const char *function; /* that callers-of and callees-of ask about, or NULL */
	bool by_module;       /* a table for each module */
	bool merge_recursion; /* a function stands once in a stack */
	unsigned rows;        /* enum post_rows */
	bool color;
	const char *const *sources; /* folders with source files, NULL-terminated; NULL: none */
	struct post_phase phase;
	const char *flow;          /* SEND=RECEIVE, or NULL */
	const char *const *orders; /* the same, NULL-terminated; NULL: none */
	char *const *paths;        /* that were given */
	size_t path_count;
	const char *command; /* the command line that makes this output, or NULL */
};

/* The options that only some formats use. */
enum post_option_use {
	POST_USES_TOP = 1,
	POST_USES_SORT = 2,
	POST_USES_MIN = 4,
	POST_USES_BY_MODULE = 8,
	POST_USES_FUNCTION = 16,
	POST_USES_LINES = 32,
	POST_USES_ROWS = 64,
	POST_USES_SOURCE = 128,
	POST_USES_PDF = 256,
	POST_USES_PHASE = 512,
	POST_USES_LAST = 1024,
	POST_USES_FLOW = 2048,
	POST_USES_MERGE_RECURSION = 4096,
	POST_USES_ORDER = 8192
};

struct post_html_energy;
struct post_measures;
struct post_totals;

struct post_output {
	FILE *file;
	const char *folder; /* of a format that writes one */
	struct post_session *session;
	struct post_output_options options;
	/* In finish() only: sums of calls and times; NULL: there are no times. */
	const struct post_measures *measures;
	const struct post_totals *totals;      /* in finish() only */
	const struct post_html_energy *energy; /* for html, in finish() only; NULL: not known */
	void *state;                           /* of the format; it frees it in finish() */
	char note[256];   /* from finish(), printed on standard error at the end */
	bool large_noted; /* see post_note_large_text() */
};

/* Is it a call that is to be shown? Else it is a leave, or the function was entered before the
 * window or by code that is not traced. */
static inline bool post_event_is_call(const struct post_timeline_event *event)
{
	return event->kind == POST_EVENT_ENTER && event->site != POST_NONE &&
	       !(event->flags & POST_EVENT_BEFORE);
}

/* Is it a leave whose return value is known? */
static inline bool post_event_is_result(const struct post_timeline_event *event)
{
	return event->kind == POST_EVENT_LEAVE && event->arguments && event->site != POST_NONE;
}

/* The thread of an event, its process, and the number of the event in its thread, which
 * counts from 0; filters leave gaps. */
static inline const struct post_thread *post_event_thread(const struct post_output *output,
							  const struct post_timeline_event *event)
{
	return output->session->lanes[event->lane];
}

static inline const struct post_process *post_event_process(const struct post_output *output,
							    const struct post_timeline_event *event)
{
	return output->session->processes[output->session->lanes[event->lane]->process];
}

static inline uint64_t post_event_sequence(const struct post_output *output,
					   const struct post_timeline_event *event)
{
	return output->session->lanes[event->lane]->sequence - 1;
}

struct post_format {
	const char *name;
	const char *summary;    /* one line for --help */
	bool asks_for_function; /* is of no use without --function */
	unsigned uses;          /* enum post_option_use */

	bool binary;   /* not for terminals */
	bool folder;   /* writes files into output->folder, and nothing into output->file */
	bool measured; /* finish() uses times where there are some */
	bool returns;  /* of them only those of calls whose return is recorded */
	bool tabled;   /* shows sums that came without an order of calls, although it has event() */
	bool nested;   /* event() gets leaves too, and depths */
	bool results;  /* event() gets leaves whose return value was recorded */
	bool flags;    /* of edges are what it shows, and no calls */
	bool paths;    /* shows also what LITIFUT_MODE=paths has recorded */
	bool profiled; /* shows such traces too, if there are no others */
	bool interactive; /* finish() talks to the user, on the terminal */

	/* All optional. A format with event() sees every event that no filter hides, in the
	 * order of each lane; its first argument is the struct post_output. A format without
	 * it reads the counts in session->calls in finish(), which is several times faster. */
	void (*start)(struct post_output *output);
	void (*event)(void *output, const struct post_timeline_event *event);
	/* In place of event(), with `measured`: gets a nested timeline, but only where there
	 * may be times. */
	void (*timed)(void *output, const struct post_timeline_event *event);
	void (*finish)(struct post_output *output);
};

/* NULL-terminated, at most so many with the NULL. */
#define POST_FORMATS_MOST 64
extern const struct post_format *const post_formats[];

/* NULL when there is none of that name. */
const struct post_format *post_format_find(const char *name);

#endif
