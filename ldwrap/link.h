/* The link with the tracer inside. */
#ifndef LITIFUT_LDWRAP_LINK_H
#define LITIFUT_LDWRAP_LINK_H

#include "common/error.h"
#include "ldwrap/request.h"
#include "rewriter/rewriter.h"

/* What the user asked for, and what had no effect. */
struct link_outcome {
	struct litifut_asked asked; /* its texts are owned by the settings */
	/* Calls that were left because of how their code is encoded, if they are more than those
	 * that are traced; else 0. */
	size_t foreign_calls;
	/* Returns that are not recorded as they are out of reach, if they are more than a quarter
	 * of all; else 0. */
	size_t returns_far;
	size_t returns;
	const char *returns_refused; /* why, though they were to be recorded; static; or NULL */
	const char *times_refused;   /* the same of LITIFUT_MODE=table */
	size_t calls;                /* all of them */
	bool never_sent;             /* a firmware has a port, but nothing that makes it send */
	bool never_starts;           /* no call is known that starts its recording */
	char *unsent;                /* how to get the results of a firmware without a port */
	bool never_ends;             /* or what does is behind main(), which does not return */
	const char *handlers;        /* how those of its interrupts are named, or NULL */
	/* A function of <litifut/firmware.h> that a firmware calls, and that its mode does not
	 * have; or NULL. */
	const char *control_missing;
	unsigned clock_user; /* the interrupt by which a firmware uses the clock's timer, or 0 */
	char *clock_setter;  /* a function of it that sets this timer up, or NULL; to be freed */
	/* How many open calls a firmware has room for, where the usual number does not fit; else 0.
	 */
	unsigned depth;
	unsigned ring_kb;      /* the same of its ring */
	unsigned ring_kb_most; /* of a firmware, if LITIFUT_RING_KB asks for more; else 0 */
	bool few_callees;      /* LITIFUT_CALLEES asks for more than a firmware that samples has */
	/* Of a firmware: bytes of its memory that no section takes, before and now; 0: not known.
	 */
	uint32_t memory_before;
	uint32_t memory_left;
	bool nameless;              /* -s has taken all names of functions away */
	bool files_unused;          /* LITIFUT_EXCLUDE_OBJECTS and _LIBS name no input */
	bool included_files_unused; /* nor LITIFUT_INCLUDE_OBJECTS and _LIBS */
};

/* Links, rewrites, and puts the result in the place of the output; shows what
 * the linker had to say, once. On an error the output and every other file of
 * the user's is as it was before, and nothing has been shown. Uses the scratch
 * folder, which the caller opens and closes. */
enum litifut_status link_rewritten(const struct link_request *request, struct link_outcome *outcome,
				   struct litifut_error *error);

#endif
