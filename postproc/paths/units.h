/* What LITIFUT_MODE=units has recorded: where units were entered and where they were left, and
 * which of them have interrupted others. */
#ifndef LITIFUT_POSTPROC_PATHS_UNITS_H
#define LITIFUT_POSTPROC_PATHS_UNITS_H

#include "postproc/paths/code.h"

enum post_unit_kind {
	POST_UNIT_START,
	POST_UNIT_END,
	POST_UNIT_CUT, /* it was left otherwise: longjmp, an exception */
	POST_UNIT_GAP  /* what comes before is not known */
};

struct post_unit_step {
	enum post_unit_kind kind;
	uint32_t thread;
	const struct post_path_code *code; /* NULL with POST_UNIT_GAP */
	uint32_t function;                 /* the number of its first block */
};

/* Has the process a module that was linked with that mode? */
bool post_units_are_in(const struct post_session *session, const struct post_process *process);

/* Hands on all steps of a process, in the order of their records. What makes no sense is reported
 * with its offset in the trace, and left out. */
void post_units_read(struct post_session *session, const struct post_process *process,
		     struct post_path_codes *codes,
		     void (*take)(void *context, const struct post_unit_step *step), void *context);

#endif
