#include "postproc/energy/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct energy_format *const energy_formats[] = {&energy_format_report,
						      &energy_format_calls,
						      &energy_format_tree,
						      &energy_format_tsv,
						      &energy_format_json,
						      &energy_format_callgrind,
						      &energy_format_svg,
						      &energy_format_chrome,
						      &energy_format_html,
						      &energy_format_include,
						      NULL};

const char *energy_name(const struct energy_analysis *analysis, uint32_t function)
{
	return function < analysis->name_count ? analysis->names[function] : "(outside)";
}

const char *energy_quantity(double value, const char *unit, char *text, size_t size)
{
	static const struct {
		double scale;
		const char *prefix;
	} prefixes[] = {{1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}, {1e-12, "p"}};
	size_t i = 0;

	if (value == 0 || !isfinite(value)) {
		snprintf(text, size, value == 0 ? "0 %s" : "? %s", unit);
		return text;
	}
	while (i + 1 < sizeof(prefixes) / sizeof(prefixes[0]) &&
	       fabs(value) < 0.99995 * prefixes[i].scale)
		i++;
	snprintf(text, size, "%.4g %s%s", value / prefixes[i].scale, prefixes[i].prefix, unit);
	return text;
}

struct rank {
	uint32_t function;
	double joules;
};

static int by_joules(const void *left, const void *right)
{
	const struct rank *a = left, *b = right;

	if (a->joules != b->joules)
		return a->joules < b->joules ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

size_t energy_order(const struct energy_analysis *analysis, uint32_t *order)
{
	const struct energy_result *result = &analysis->result;
	struct rank *ranks = calloc(result->function_count + 1, sizeof(*ranks));
	size_t count = 0;

	for (uint32_t i = 0; ranks && i < result->function_count; i++) {
		const struct energy_function *f = &result->functions[i];
		if (f->calls)
			ranks[count++] =
				(struct rank){i, energy_sum(f->self, result->channels) + f->later};
	}
	if (ranks)
		qsort(ranks, count, sizeof(*ranks), by_joules);
	for (size_t i = 0; i < count; i++)
		order[i] = ranks[i].function;
	free(ranks);
	return count;
}

/* ---- one row a call ---- */

static void start_calls(struct energy_output *output)
{
	fprintf(output->file, "start_s\tduration_s\tjoules\tfunction\tcaller\tended");
	for (unsigned k = 0; k < output->analysis->power.channels; k++)
		fprintf(output->file, "\tchannel_%u_j", k + 1);
	fputc('\n', output->file);
}

static void one_call(void *context, const struct energy_occurrence *call)
{
	struct energy_output *output = context;
	const struct energy_analysis *a = output->analysis;
	const struct energy_node *node = &a->result.tree.nodes[call->node];

	fprintf(output->file, "%.9f\t%.9f\t%.9g\t%s\t%s\t%d", call->start, call->duration,
		energy_sum(call->joules, a->power.channels), energy_name(a, node->function),
		energy_name(a, a->result.tree.nodes[node->parent].function), !call->open);
	for (unsigned k = 0; k < a->power.channels; k++)
		fprintf(output->file, "\t%.9g", call->joules[k]);
	fputc('\n', output->file);
}

static void nothing(struct energy_output *output)
{
	(void)output;
}

const struct energy_format energy_format_calls = {
	"calls", "one line a call: start, duration, energy, caller", one_call, start_calls, nothing,
	false};

const struct energy_format energy_format_html = {
	"html",  "one page for a browser: the power above the calls, energy of functions",
	NULL,    NULL,
	nothing, false}; /* page.h writes it */

/* ---- paths ---- */

static void path_of(struct energy_output *output, uint32_t node)
{
	const struct energy_analysis *a = output->analysis;
	uint32_t chain[256];
	size_t depth = 0;

	for (; node != ENERGY_ROOT && depth < 256; node = a->result.tree.nodes[node].parent)
		chain[depth++] = a->result.tree.nodes[node].function;
	while (depth--)
		fprintf(output->file, "%s%s", energy_name(a, chain[depth]), depth ? ";" : "");
}

static void write_tree(struct energy_output *output)
{
	const struct energy_analysis *a = output->analysis;
	const struct energy_tree *tree = &a->result.tree;

	for (uint32_t i = 1; i < tree->count; i++) {
		const struct energy_node *node = &tree->nodes[i];
		double hooks = energy_hook_seconds(&a->hook, &node->hooks) * a->hook.watts;
		double joules = energy_sum(node->joules, a->result.channels) - hooks + node->later;
		path_of(output, i);
		fprintf(output->file, " %.0f\n", fmax(0, joules * 1e9));
	}
}

const struct energy_format energy_format_tree = {
	"folded", "one line a path with its nanojoules, for flame graphs", NULL, NULL, write_tree,
	false};

/* ---- tsv ---- */

/* The end of a row: self by channel, where there are several. */
static void tsv_channels(struct energy_output *output, const double *joules)
{
	const unsigned channels = output->analysis->result.channels;

	for (unsigned k = 0; k < channels && channels > 1; k++)
		fprintf(output->file, "\t%.12g", joules ? joules[k] : 0);
	fputc('\n', output->file);
}

static void tsv_row(struct energy_output *output, const char *name, const double *joules,
		    double seconds)
{
	const double sum = energy_sum(joules, output->analysis->result.channels);

	fprintf(output->file, "%s\t0\t%.12g\t0\t%.12g\t0\t%.9g\t%.9g\t0\t0\t0\t0\t0\t0", name, sum,
		sum, seconds, seconds);
	tsv_channels(output, joules);
}

static void write_tsv(struct energy_output *output)
{
	const struct energy_analysis *a = output->analysis;
	const struct energy_result *result = &a->result;
	uint32_t *order = calloc(result->function_count + 1, sizeof(*order));
	size_t count = order ? energy_order(a, order) : 0;

	fprintf(output->file,
		"function\tcalls\tself_j\tuncertainty_j\tinclusive_j\tlater_j\tself_s\t"
		"inclusive_s\tmin_j\tmax_j\tchanges\tresolved\topen\tclose");
	for (unsigned k = 0; k < result->channels && result->channels > 1; k++)
		fprintf(output->file, "\tself_channel_%u_j", k + 1);
	fputc('\n', output->file);
	for (size_t i = 0; i < count; i++) {
		const struct energy_function *f = &result->functions[order[i]];
		const struct energy_advice *advice = &a->advice[order[i]];
		fprintf(output->file,
			"%s\t%" PRIu64
			"\t%.12g\t%.6g\t%.12g\t%.12g\t%.9g\t%.9g\t%.9g\t%.9g\t%" PRIu64
			"\t%d\t%d\t%d",
			energy_name(a, order[i]), f->calls, energy_sum(f->self, result->channels),
			f->uncertainty, energy_sum(f->inclusive, result->channels), f->later,
			f->self_seconds, f->inclusive_seconds, isfinite(f->least) ? f->least : 0,
			isfinite(f->most) ? f->most : 0, advice->changes, a->use_resolved[order[i]],
			advice->open, advice->close);
		tsv_channels(output, f->self);
	}
	const double unexplained[ENERGY_CHANNELS] = {a->unexplained};
	tsv_row(output, "(outside)", result->outside, result->outside_seconds);
	tsv_row(output, "(tracer)", result->hooks, result->hook_seconds);
	tsv_row(output, "(transfer)", result->transfer, result->transfer_seconds);
	tsv_row(output, "(unexplained)", unexplained, 0);
	tsv_row(output, "(total)", result->total, result->end - result->begin);
	free(order);
}

const struct energy_format energy_format_tsv = {
	"tsv", "the same for programs", NULL, NULL, write_tsv, true};

/* ---- json ---- */

static void json_text(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(file, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(file, "\\u%04x", (unsigned char)*text);
		else
			fputc(*text, file);
	}
	fputc('"', file);
}

static void json_channels(FILE *file, const char *name, const double *joules, unsigned channels)
{
	fprintf(file, "\"%s\": [", name);
	for (unsigned k = 0; k < channels; k++)
		fprintf(file, "%s%.12g", k ? ", " : "", joules[k]);
	fputc(']', file);
}

static void write_json(struct energy_output *output)
{
	const struct energy_analysis *a = output->analysis;
	const struct energy_result *result = &a->result;
	FILE *file = output->file;
	uint32_t *order = calloc(result->function_count + 1, sizeof(*order));
	size_t count = order ? energy_order(a, order) : 0;
	const unsigned channels = result->channels;

	fprintf(file,
		"{\"litifut-energy\": 1,\n \"seconds\": %.9g, \"samples\": %zu, \"interval_s\": "
		"%.9g, "
		"\"missing_s\": %.9g, \"noise_w\": %.6g,\n",
		result->end - result->begin, a->power.count, a->power.interval, result->unknown,
		a->noise);
	fprintf(file,
		" \"clock\": {\"marks\": %zu, \"used\": %zu, \"outliers\": %zu, \"drift\": %.9g, "
		"\"rms_s\": %.6g, \"shift_s\": %.6g, \"smoothed\": %s, \"ambiguous\": %s},\n ",
		a->clock.marks, a->clock.used, a->clock.outliers, a->clock.drift, a->clock.rms,
		a->clock.shift, a->clock.smoothed ? "true" : "false",
		a->clock.ambiguous ? "true" : "false");
	fputs("\"channels\": [", file);
	for (unsigned k = 0; k < channels; k++) {
		fputs(k ? ", " : "", file);
		json_text(file, a->power.channel_names[k]);
	}
	fputs("], ", file);
	json_channels(file, "total_j", result->total, channels);
	fputs(", ", file);
	json_channels(file, "outside_j", result->outside, channels);
	fputs(", ", file);
	json_channels(file, "tracer_j", result->hooks, channels);
	fputs(", ", file);
	json_channels(file, "transfer_j", result->transfer, channels);
	fprintf(file, ", \"unexplained_j\": %.12g,\n \"functions\": [", a->unexplained);
	for (size_t i = 0; i < count; i++) {
		const struct energy_function *f = &result->functions[order[i]];
		const struct energy_advice *advice = &a->advice[order[i]];
		fprintf(file, "%s\n  {\"name\": ", i ? "," : "");
		json_text(file, energy_name(a, order[i]));
		fprintf(file, ", \"calls\": %" PRIu64 ", ", f->calls);
		json_channels(file, "self_j", f->self, channels);
		fprintf(file, ", \"uncertainty_j\": %.6g, ", f->uncertainty);
		json_channels(file, "inclusive_j", f->inclusive, channels);
		fprintf(file,
			", \"later_j\": %.12g, \"self_s\": %.9g, \"inclusive_s\": %.9g, "
			"\"changes\": "
			"%" PRIu64 ", \"resolved\": %s, \"open\": %s, \"close\": %s}",
			f->later, f->self_seconds, f->inclusive_seconds, advice->changes,
			a->use_resolved[order[i]] ? "true" : "false",
			advice->open ? "true" : "false", advice->close ? "true" : "false");
	}
	fputs("],\n \"edges\": [", file);
	for (size_t i = 0; i < result->edge_count; i++) {
		const struct energy_edge *edge = &result->edges[i];
		fprintf(file, "%s\n  {\"caller\": ", i ? "," : "");
		json_text(file, energy_name(a, edge->caller));
		fputs(", \"callee\": ", file);
		json_text(file, energy_name(a, edge->callee));
		fprintf(file, ", \"calls\": %" PRIu64 ", ", edge->calls);
		json_channels(file, "inclusive_j", edge->inclusive, channels);
		fprintf(file, ", \"later_j\": %.12g}", edge->later);
	}
	fputs("]}\n", file);
	free(order);
}

const struct energy_format energy_format_json = {
	"json", "everything, for programs", NULL, NULL, write_json, true};

/* ---- what to trace next ---- */

/* C++ names are shown demangled, and the linker needs them as they are in the symbol table. */
static const char *symbol_of(const struct energy_analysis *a, uint32_t function)
{
	return a->symbols && function < a->name_count ? a->symbols[function]
						      : energy_name(a, function);
}

static void write_include(struct energy_output *output)
{
	const struct energy_analysis *a = output->analysis;
	const struct energy_result *result = &a->result;

	if (a->hook.known)
		fprintf(output->file, "# hooks take %.2f %% of the time\n",
			energy_percent(result->hook_seconds, energy_run_seconds(result)));
	else
		fputs("# what hooks cost is not known (--hook), so none is closed\n", output->file);
	for (uint32_t i = 0; i < result->function_count; i++) {
		const struct energy_function *f = &result->functions[i];
		char text[32];
		/* functions whose calls are traced now stay where that explains something */
		if (a->advice[i].fold)
			fprintf(output->file, "# %s: the power of what it calls is all the same\n",
				energy_name(a, i));
		else if (f->made || a->advice[i].open)
			fprintf(output->file, "include = %s   # %s\n", symbol_of(a, i),
				a->advice[i].open ? "its power changes, and nothing explains it"
						  : "was traced");
		if (a->advice[i].open)
			fprintf(output->file, "# %s: %.2f changes a call, %s ambiguous\n",
				energy_name(a, i), (double)a->advice[i].changes / (double)f->calls,
				energy_quantity(a->advice[i].ambiguous, "J", text, sizeof(text)));
	}
	for (uint32_t i = 0; i < result->function_count; i++) {
		if (a->advice[i].close)
			fprintf(output->file,
				"exclude_callees = %s   # its hooks cost more than it does\n",
				symbol_of(a, i));
	}
}

const struct energy_format energy_format_include = {
	"include", "lines for LITIFUT_CONFIG: what to trace next", NULL, NULL, write_include, true};
