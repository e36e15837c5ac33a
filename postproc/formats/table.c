/* The list of output formats, in the order of --help. A new format is a file
 * in this folder and two lines here. */
#include <string.h>

#include "postproc/formats/format.h"

extern const struct post_format post_format_calls;
extern const struct post_format post_format_tree;
extern const struct post_format post_format_report;
extern const struct post_format post_format_graph;
extern const struct post_format post_format_merge;
extern const struct post_format post_format_histogram;
extern const struct post_format post_format_edges;
extern const struct post_format post_format_callers_of;
extern const struct post_format post_format_callees_of;
extern const struct post_format post_format_dot;
extern const struct post_format post_format_mermaid;
extern const struct post_format post_format_callgrind;
extern const struct post_format post_format_chrome;
extern const struct post_format post_format_perfetto;
extern const struct post_format post_format_folded;
extern const struct post_format post_format_html;
extern const struct post_format post_format_json;
extern const struct post_format post_format_tsv;
extern const struct post_format post_format_csv;
extern const struct post_format post_format_speedscope;
extern const struct post_format post_format_sqlite;
extern const struct post_format post_format_gmon;
extern const struct post_format post_format_uftrace;
extern const struct post_format post_format_ctf;
extern const struct post_format post_format_coverage;
extern const struct post_format post_format_branches;
extern const struct post_format post_format_lcov;
extern const struct post_format post_format_path;
extern const struct post_format post_format_blocks;
extern const struct post_format post_format_units;
extern const struct post_format post_format_ids;
extern const struct post_format post_format_gdb;
extern const struct post_format post_format_tui;

/* clang-format off */
const struct post_format *const post_formats[] = {
	&post_format_calls,
	&post_format_tree,
	&post_format_report,
	&post_format_graph,
	&post_format_merge,
	&post_format_histogram,
	&post_format_edges,
	&post_format_callers_of,
	&post_format_callees_of,
	&post_format_dot,
	&post_format_mermaid,
	&post_format_callgrind,
	&post_format_chrome,
	&post_format_perfetto,
	&post_format_folded,
	&post_format_html,
	&post_format_json,
	&post_format_tsv,
	&post_format_csv,
	&post_format_speedscope,
	&post_format_sqlite,
	&post_format_gmon,
	&post_format_uftrace,
	&post_format_ctf,
	&post_format_coverage,
	&post_format_branches,
	&post_format_lcov,
	&post_format_path,
	&post_format_blocks,
	&post_format_units,
	&post_format_ids,
	&post_format_gdb,
	&post_format_tui,
	NULL,
};
/* clang-format on */

const struct post_format *post_format_find(const char *name)
{
	for (size_t i = 0; post_formats[i]; i++) {
		if (!strcmp(post_formats[i]->name, name))
			return post_formats[i];
	}
	return NULL;
}
