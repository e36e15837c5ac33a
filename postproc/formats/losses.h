/* What is missing in the traces, for the heads of outputs that people read. */
#ifndef LITIFUT_POSTPROC_FORMATS_LOSSES_H
#define LITIFUT_POSTPROC_FORMATS_LOSSES_H

#include "postproc/formats/text.h"

/* Sentences about one process, without a full stop. False: nothing was lost; recording was never
 * switched off. */
bool post_losses_text(const struct post_process *process, struct post_text *text);
bool post_pauses_text(const struct post_process *process, struct post_text *text);

/* A line for each, which begins with `before` and ends with `behind`; where there are many, the
 * others are counted in one. */
void post_losses_write(FILE *file, const struct post_session *session, const char *before,
		       const char *behind);

/* What is taken off all times for the tracer, or that it is part of them, as a sentence. */
void post_taken_text(const struct post_session *session, struct post_text *text);

#endif
