/* Names in filters that nothing in the traces has: without a word, a misspelt one shows nothing, or
 * everything. */
#ifndef LITIFUT_POSTPROC_FORMATS_UNMATCHED_H
#define LITIFUT_POSTPROC_FORMATS_UNMATCHED_H

#include "postproc/formats/format.h"
#include "postproc/timeline/timeline.h"

/* After a run: a note for each option that names functions or modules of which the traces have
 * none, with those that may have been meant. `flow`: SEND=RECEIVE, or NULL. */
void post_unmatched_report(struct post_session *session,
			   const struct post_timeline_options *options, const char *flow);

#endif
