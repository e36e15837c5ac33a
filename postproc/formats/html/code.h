/* Which code was executed, in a report: functions and lines with LITIFUT_MODE=coverage, and with
 * paths also how often, and the last lines of each thread. */
#ifndef LITIFUT_POSTPROC_FORMATS_HTML_CODE_H
#define LITIFUT_POSTPROC_FORMATS_HTML_CODE_H

#include "postproc/formats/html/tables.h"

/* The member "code", with a comma behind it; null where no trace says what was executed. Lines are
 * counted in page->sources. */
void post_html_code_write(struct post_html_page *page);

#endif
