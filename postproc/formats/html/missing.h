/* What a report can't show, why, and what to do about it. */
#ifndef LITIFUT_POSTPROC_FORMATS_HTML_MISSING_H
#define LITIFUT_POSTPROC_FORMATS_HTML_MISSING_H

#include "postproc/formats/format.h"

/* The members "missing", an array of {what, cure}, and "problems", with commas behind them, of a
 * report that shows so many calls. */
void post_html_missing_write(struct post_output *output, uint64_t calls);

#endif
