/* The HTML report of the traces with the power curve and the energies in it. */
#ifndef LITIFUT_POSTPROC_ENERGY_PAGE_H
#define LITIFUT_POSTPROC_ENERGY_PAGE_H

#include "postproc/energy/analysis.h"
#include "postproc/formats/run.h"

/* All zero but for output.file and output.options.command. */
struct energy_page {
	struct post_output output;
	struct post_run run; /* takes the events of the session (traces.h) */
	struct post_totals totals;
};

/* Before the traces are read. */
void energy_page_start(struct energy_page *page, struct post_session *session);

/* Writes the page, and releases what start() has made, if it was called. `analysis` is NULL if
 * there is nothing to show: then nothing is written. */
enum litifut_status energy_page_finish(struct energy_page *page,
				       const struct energy_analysis *analysis,
				       struct litifut_error *error);

#endif
