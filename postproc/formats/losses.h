/* What is missing in the traces, for the heads of outputs that people read. */
#ifndef LITIFUT_POSTPROC_FORMATS_LOSSES_H
#define LITIFUT_POSTPROC_FORMATS_LOSSES_H

#include "postproc/formats/text.h"

/* Sentences about one process, without a full stop. False: nothing was lost; recording was never
 * switched off. */
bool post_losses_text(const struct post_process *process, struct post_text *text);
bool post_pauses_text(const struct post_process *process, struct post_text *text);

/* Was it LITIFUT_MAX_MB, or the bound by the disk's room, that left no room? Else the disk was
 * full, or another bound was met first, which LITIFUT_VERBOSE=1 names. */
bool post_losses_are_of_bound(const struct post_process *process);

/* A line for each, which begins with `before` and ends with `behind`; where there are many, the
 * others are counted in one. */
void post_losses_write(FILE *file, const struct post_session *session, const char *before,
		       const char *behind);

/* What is taken off all times for the tracer, or that it is part of them, as a sentence. */
void post_taken_text(const struct post_session *session, struct post_text *text);

/* Is it taken off the times of all processes? */
bool post_taken_is_off(const struct post_session *session);

#endif
