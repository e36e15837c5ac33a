#include "postproc/tui/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/source_files.h"
#include "postproc/formats/text.h"
#include "postproc/model/lines.h"

#define SOURCE_BYTES (8u << 20)

void post_tui_model_make(struct post_tui_model *model, const struct post_output *output,
			 const struct post_call_tree *tree)
{
	*model = (struct post_tui_model){.output = output, .tree = tree};
	model->timed =
		output->measures && post_measures_timing(output->measures) == POST_TIMING_MEASURED;
	post_edges_collect(output->session, &model->edges);
	post_tallies_collect(output->session, &model->edges, &model->tallies);
	post_tree_order_make(&model->order, tree);
}

void post_tui_model_release(struct post_tui_model *model)
{
	post_tree_order_release(&model->order);
	post_tallies_release(&model->tallies);
	post_edges_release(&model->edges);
}

static const char *module_of(const struct post_tui_model *model, uint32_t function)
{
	const struct post_session *session = model->output->session;

	return session->modules[session->functions[function].module].name;
}

uint32_t post_tui_function(const struct post_tui_model *model, const char *name, const char *module)
{
	const struct post_session *session = model->output->session;

	for (uint32_t i = 0; i < session->function_count; i++) {
		if (!strcmp(session->functions[i].name, name) &&
		    !strcmp(module_of(model, i), module))
			return i;
	}
	return POST_NONE;
}

void post_tui_rows_release(struct post_tui_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->items[i].text);
	free(rows->items);
	*rows = (struct post_tui_rows){0};
}

static struct post_tui_row *add(struct post_tui_rows *rows, struct post_text *text,
				uint32_t function)
{
	POST_GROW(rows->items, rows->count, rows->capacity);
	rows->items[rows->count] = (struct post_tui_row){
		.text = post_text_take(text), .function = function, .node = POST_NONE};
	return &rows->items[rows->count++];
}

static const struct post_metrics *metrics_of(const struct post_tui_model *model, uint32_t function)
{
	static const struct post_metrics none;

	return model->timed && function < model->output->measures->function_capacity
		       ? &model->output->measures->functions[function]
		       : &none;
}

/* A blank and a time, 12 wide. `sign`: '>' where only a bound is known, '-' where nothing is. */
static void add_time(const struct post_tui_model *model, struct post_text *text, uint64_t ticks,
		     char sign)
{
	char time[64], marked[68];

	if (sign == '-') {
		post_text_format(text, " %12s", "-");
		return;
	}
	post_measures_text(model->output->measures, ticks, time, sizeof(time));
	snprintf(marked, sizeof(marked), "%s%s", sign == '>' ? ">" : "", time);
	post_text_format(text, " %12s", marked);
}

static void add_name(const struct post_tui_model *model, struct post_text *text, uint32_t function)
{
	post_text_format(text, "%s [%s]", model->output->session->functions[function].name,
			 module_of(model, function));
}

struct sorting {
	const struct post_tui_model *model;
	enum post_tui_order order;
};

static uint64_t total_of(const struct post_metrics *metrics)
{
	return post_metrics_at_least(metrics) ? post_metrics_bound(metrics)
					      : metrics->value[POST_METRIC_TOTAL];
}

static uint64_t key_of(const struct sorting *sorting, const struct post_tally *tally)
{
	const struct post_metrics *metrics = metrics_of(sorting->model, tally->function);

	if (sorting->order == POST_TUI_BY_NAME)
		return 0;
	if (sorting->order == POST_TUI_BY_CALLS || !sorting->model->timed)
		return tally->calls;
	return sorting->order == POST_TUI_BY_SELF ? metrics->value[POST_METRIC_SELF]
						  : total_of(metrics);
}

static int compare(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	const struct post_tally *a = left, *b = right;
	uint64_t x = key_of(sorting, a), y = key_of(sorting, b);

	if (x == y && sorting->order != POST_TUI_BY_NAME && sorting->model->timed) {
		/* main() before the start-up code around it: both have no self time that is known
		 */
		x = total_of(metrics_of(sorting->model, a->function));
		y = total_of(metrics_of(sorting->model, b->function));
	}
	if (x != y)
		return x > y ? -1 : 1;
	return post_function_compare(sorting->model->output->session, a->function, b->function);
}

void post_tui_table(const struct post_tui_model *model, enum post_tui_order order,
		    struct post_tui_rows *rows)
{
	struct sorting sorting = {model, order};
	char partly[POST_PARTLY_BYTES];
	struct post_text text = {0};

	post_tui_rows_release(rows);
	snprintf(rows->heading, sizeof(rows->heading), "%s %12s %12s  function [module]",
		 model->timed ? "         self        total" : "", "calls", "makes");
	rows->figure = 13;
	rows->names = model->timed ? 54 : 28;
	qsort_r(model->tallies.items, model->tallies.count, sizeof(*model->tallies.items), compare,
		&sorting);
	for (size_t i = 0; i < model->tallies.count; i++) {
		const struct post_tally *tally = &model->tallies.items[i];
		const struct post_metrics *metrics = metrics_of(model, tally->function);
		if (model->timed) {
			bool timed = metrics->value[POST_METRIC_TIMED] != 0;
			bool bound = post_metrics_at_least(metrics);
			add_time(model, &text, metrics->value[POST_METRIC_SELF],
				 post_metrics_self_known(metrics) ? ' ' : '-');
			add_time(model, &text, total_of(metrics), bound ? '>' : timed ? ' ' : '-');
		}
		post_text_format(&text, " %12" PRIu64 " %12" PRIu64 "  ", tally->calls,
				 tally->made);
		add_name(model, &text, tally->function);
		if (model->timed)
			post_text_add(&text,
				      post_metrics_partly_text(metrics, partly, sizeof(partly)));
		add(rows, &text, tally->function);
	}
}

/* Time of all calls along an edge. False: the return of none is known. */
static bool edge_time(const struct post_tui_model *model, const struct post_edge *edge,
		      uint64_t *sum)
{
	const struct post_session *session = model->output->session;
	uint64_t timed = 0;

	*sum = 0;

	for (size_t i = 0; i < session->call_count && i < model->output->measures->call_capacity;
	     i++) {
		const struct post_call *call = &session->calls[i];
		const uint64_t *value = model->output->measures->calls[i].value;
		if (call->hidden || call->caller != edge->caller || call->callee != edge->callee)
			continue;
		*sum += value[POST_METRIC_SUM];
		timed += value[POST_METRIC_TIMED];
	}
	return timed != 0;
}

static void add_neighbours(const struct post_tui_model *model, uint32_t function, bool callers,
			   struct post_tui_rows *rows)
{
	struct post_text text = {0};

	for (size_t i = 0; i < model->edges.count; i++) {
		const struct post_edge *edge = &model->edges.items[i];
		uint32_t other = callers ? edge->caller : edge->callee;
		if ((callers ? edge->callee : edge->caller) != function)
			continue;
		uint64_t time = 0;
		bool known = model->timed && edge_time(model, edge, &time);
		if (model->timed)
			add_time(model, &text, time, known ? ' ' : '-');
		post_text_format(&text, " %12" PRIu64 " %6u  %s ", edge->count, edge->sites,
				 callers ? "called by" : "calls    ");
		add_name(model, &text, other);
		add(rows, &text, other);
	}
}

size_t post_tui_neighbours(const struct post_tui_model *model, uint32_t function,
			   struct post_tui_rows *rows)
{
	struct post_text text = {0};
	size_t own;

	post_tui_rows_release(rows);
	snprintf(rows->heading, sizeof(rows->heading), "%s %12s %6s  function [module]",
		 model->timed ? "         time" : "", "calls", "sites");
	rows->figure = 13;
	rows->names = model->timed ? 35 : 22;
	add_neighbours(model, function, true, rows);
	own = rows->count;
	post_text_format(&text, "%*s", rows->names, "");
	add_name(model, &text, function);
	add(rows, &text, function)->strong = true;
	add_neighbours(model, function, false, rows);
	return own;
}

static void add_node(const struct post_tui_model *model, uint32_t node, uint32_t depth, char sign,
		     struct post_tui_rows *rows)
{
	const struct post_tree_node *about = &model->tree->nodes[node];
	struct post_text text = {0};

	post_text_format(&text, "%5.1f%%",
			 model->order.sum ? 100.0 * (double)model->order.total[node] /
						    (double)model->order.sum
					  : 0.0);
	if (model->tree->timed && model->output->measures)
		add_time(model, &text, model->order.total[node], ' ');
	post_text_format(&text, " %12" PRIu64 "  %*s%c ", about->calls, (int)(2 * depth), "", sign);
	add_name(model, &text, about->function);
	add(rows, &text, about->function)->node = node;
}

static bool is_child(const struct post_tui_model *model, uint32_t at, uint32_t parent)
{
	return at < model->tree->count &&
	       post_tree_parent(model->tree, model->order.order[at]) == parent;
}

void post_tui_tree(const struct post_tui_model *model, const bool *open, uint32_t open_count,
		   struct post_tui_rows *rows)
{
	const struct post_call_tree *tree = model->tree;
	uint32_t *next = post_allocate(tree->count + (size_t)1, sizeof(*next));
	uint32_t *parents = post_allocate(tree->count + (size_t)1, sizeof(*parents));
	uint32_t depth = 0;

	post_tui_rows_release(rows);
	snprintf(rows->heading, sizeof(rows->heading), "%6s%s %12s  function [module]", "share",
		 tree->timed && model->output->measures ? "        total" : "", "calls");
	rows->figure = 6;
	rows->names = tree->timed && model->output->measures ? 34 : 21;
	parents[0] = tree->count;
	next[0] = tree->count ? model->order.first[tree->count] : 0;
	for (;;) {
		uint32_t at = next[depth];
		if (!is_child(model, at, parents[depth])) {
			if (!depth)
				break;
			depth--;
			continue;
		}
		uint32_t node = model->order.order[at];
		bool opened = node < open_count && open[node];
		bool more = is_child(model, model->order.first[node], node);
		next[depth]++;
		add_node(model, node, depth, !more ? ' ' : opened ? '-' : '+', rows);
		if (more && opened) {
			depth++;
			parents[depth] = node;
			next[depth] = model->order.first[node];
		}
	}
	free(next);
	free(parents);
}

struct line_counts {
	uint64_t entered, made;
};

/* What was counted on the lines 1 to `lines` of a file of a module. */
static struct line_counts *count_lines(const struct post_tui_model *model, uint32_t module,
				       const char *file, unsigned lines)
{
	const struct post_session *session = model->output->session;
	struct line_counts *counts = post_allocate(lines + (size_t)1, sizeof(*counts));
	const char *name;
	unsigned line;

	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];
		if (call->hidden || call->site_module != module || !call->count)
			continue;
		if (post_lines_place(session, module, call->site_address, &name, &line) &&
		    !strcmp(name, file) && line <= lines)
			counts[line].made += call->count;
	}
	for (size_t i = 0; i < model->tallies.count; i++) {
		const struct post_function *function =
			&session->functions[model->tallies.items[i].function];
		if (function->module == module &&
		    post_lines_place(session, module, function->address, &name, &line) &&
		    !strcmp(name, file) && line <= lines)
			counts[line].entered += model->tallies.items[i].calls;
	}
	return counts;
}

static void add_count(struct post_text *text, uint64_t count)
{
	if (count)
		post_text_format(text, " %10" PRIu64, count);
	else
		post_text_format(text, " %10s", "");
}

size_t post_tui_source(const struct post_tui_model *model, uint32_t function,
		       struct post_tui_rows *rows)
{
	const struct post_session *session = model->output->session;
	const struct post_function *about = &session->functions[function];
	struct post_text row = {0};
	const char *name;
	unsigned line, lines = 1;

	post_tui_rows_release(rows);
	snprintf(rows->heading, sizeof(rows->heading), " %10s %10s  line", "entered", "calls made");
	rows->figure = 11;
	rows->names = 22;
	if (!post_lines_place(session, about->module, about->address, &name, &line)) {
		post_text_format(&row, "no debugging information says where %s is", about->name);
		add(rows, &row, POST_NONE);
		rows->figure = rows->names = 0;
		return 0;
	}
	char *path = post_source_find(model->output->options.sources, name);
	char *text = path ? post_source_read(path, SOURCE_BYTES) : NULL;
	free(path);
	if (!text) {
		post_text_format(&row, "--source DIR is missing, or no folder that it names has %s",
				 name);
		add(rows, &row, POST_NONE);
		rows->figure = rows->names = 0;
		return 0;
	}
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	struct line_counts *counts = count_lines(model, about->module, name, lines);
	char *rest = text, *part;
	for (unsigned number = 1; (part = strsep(&rest, "\n")); number++) {
		add_count(&row, counts[number].entered);
		add_count(&row, counts[number].made);
		post_text_format(&row, " %5u  ", number);
		for (char *tab; (tab = strchr(part, '\t')); part = tab + 1)
			post_text_format(&row, "%.*s        ", (int)(tab - part), part);
		post_text_add(&row, part);
		add(rows, &row, function)->strong = counts[number].entered || counts[number].made;
	}
	free(counts);
	free(text);
	return line ? line - 1 : 0;
}
