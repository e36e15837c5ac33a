/* The list of output formats, in the order of --help. A new format is a file
 * in this folder and a line here. */
#include <string.h>

#include "postproc/formats/format.h"

/* clang-format off */
#define FORMATS(each) \
	each(calls) \
	each(tree) \
	each(report) \
	each(graph) \
	each(merge) \
	each(histogram) \
	each(edges) \
	each(callers_of) \
	each(callees_of) \
	each(dot) \
	each(mermaid) \
	each(callgrind) \
	each(chrome) \
	each(perfetto) \
	each(folded) \
	each(html) \
	each(json) \
	each(tsv) \
	each(csv) \
	each(speedscope) \
	each(sqlite) \
	each(gmon) \
	each(uftrace) \
	each(ctf) \
	each(coverage) \
	each(branches) \
	each(lcov) \
	each(path) \
	each(blocks) \
	each(units) \
	each(ids) \
	each(gdb) \
	each(tui) \
	each(top)
/* clang-format on */

#define DECLARE(name) extern const struct post_format post_format_##name;
#define LIST(name) &post_format_##name,

FORMATS(DECLARE)

const struct post_format *const post_formats[] = {FORMATS(LIST) NULL};
_Static_assert(sizeof(post_formats) / sizeof(*post_formats) <= POST_FORMATS_MOST,
	       "room for the names of all formats");

const struct post_format *post_format_find(const char *name)
{
	for (size_t i = 0; post_formats[i]; i++) {
		if (!strcmp(post_formats[i]->name, name))
			return post_formats[i];
	}
	return NULL;
}
