/* The tables of a report: functions and call sites. */
#ifndef LITIFUT_POSTPROC_FORMATS_HTML_TABLES_H
#define LITIFUT_POSTPROC_FORMATS_HTML_TABLES_H

#include "postproc/formats/format.h"
#include "postproc/formats/html/sources.h"
#include "postproc/measure/edges.h"
#include "postproc/measure/measure.h"

/* What finish() has at hand. */
struct post_html_page {
	struct post_output *output;
	const struct post_tallies *tallies;
	/* By function: its number in the page. Every function with a call that is shown has
	 * one; of others, which only frames can be in, it is POST_NONE. */
	const uint32_t *numbers;
	struct post_html_sources *sources;
	enum post_timing timing;
};

/* The members "functions" and "sites", with a comma behind each. Lines are counted in
 * page->sources. */
void post_html_functions_write(struct post_html_page *page);
void post_html_sites_write(struct post_html_page *page);

#endif
