/* The lines of the views of the terminal browser, from what was measured. Draws nothing. */
#ifndef LITIFUT_POSTPROC_TUI_ROWS_H
#define LITIFUT_POSTPROC_TUI_ROWS_H

#include "postproc/formats/format.h"
#include "postproc/measure/call_tree.h"
#include "postproc/measure/edges.h"
#include "postproc/measure/measure.h"

enum post_tui_view { POST_TUI_TABLE, POST_TUI_FUNCTION, POST_TUI_TREE, POST_TUI_SOURCE };
enum post_tui_order { POST_TUI_BY_SELF, POST_TUI_BY_TOTAL, POST_TUI_BY_CALLS, POST_TUI_BY_NAME };

struct post_tui_row {
	char *text;
	uint32_t function; /* POST_NONE: it is not about one */
	uint32_t node;     /* of the tree; POST_NONE: none */
	bool strong;
};

/* What there is to show of one reading of the traces. */
struct post_tui_model {
	const struct post_output *output; /* with its session, measures and totals */
	const struct post_call_tree *tree;
	struct post_tree_order order;
	struct post_edges edges;
	struct post_tallies tallies;
	bool timed; /* returns were recorded with times */
};

struct post_tui_rows {
	struct post_tui_row *items;
	size_t count, capacity;
	char heading[160];
	/* Columns: where the first figure ends, and where the names begin. A narrow screen shows
	 * the figure and the names. */
	int figure, names;
};

/* `tree` must outlive the model. Release with post_tui_model_release(). */
void post_tui_model_make(struct post_tui_model *model, const struct post_output *output,
			 const struct post_call_tree *tree);
void post_tui_model_release(struct post_tui_model *model);

/* The function of that name and module, or POST_NONE. */
uint32_t post_tui_function(const struct post_tui_model *model, const char *name,
			   const char *module);

/* Each replaces what is in `rows`; all zero to start with. */
void post_tui_table(const struct post_tui_model *model, enum post_tui_order order,
		    struct post_tui_rows *rows);
/* Callers above the function, callees below it. Returns the number of its own row. */
size_t post_tui_neighbours(const struct post_tui_model *model, uint32_t function,
			   struct post_tui_rows *rows);
/* `open`: by node, of `open_count`: its children are shown. */
void post_tui_tree(const struct post_tui_model *model, const bool *open, uint32_t open_count,
		   struct post_tui_rows *rows);
/* The file of the function with what was counted on its lines; one row that says why, if there is
 * no text. Returns the row where the function begins. */
size_t post_tui_source(const struct post_tui_model *model, uint32_t function,
		       struct post_tui_rows *rows);

void post_tui_rows_release(struct post_tui_rows *rows);

#endif
