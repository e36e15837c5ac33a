/* Functions and call sites of a report, one array for each column. */
#include "postproc/formats/html/tables.h"

#include <inttypes.h>
#include <stdlib.h>

#include "postproc/formats/html/energy.h"
#include "postproc/formats/text.h"

static uint64_t nanoseconds(const struct post_html_page *page, uint64_t ticks)
{
	return post_measures_ns(page->output->measures, ticks);
}

static const struct post_metrics *metrics_of(const struct post_html_page *page, size_t row)
{
	return &page->output->measures->functions[page->tallies->items[row].function];
}

static uint64_t module_of(const struct post_html_page *page, size_t row)
{
	return page->output->session->functions[page->tallies->items[row].function].module;
}

static uint64_t calls_of(const struct post_html_page *page, size_t row)
{
	return page->tallies->items[row].calls;
}

static uint64_t made_of(const struct post_html_page *page, size_t row)
{
	return page->tallies->items[row].made;
}

static uint64_t self_of(const struct post_html_page *page, size_t row)
{
	return nanoseconds(page, metrics_of(page, row)->value[POST_METRIC_SELF]);
}

static uint64_t at_least(const struct post_html_page *page, size_t row)
{
	return post_metrics_at_least(metrics_of(page, row));
}

static uint64_t total_of(const struct post_html_page *page, size_t row)
{
	const struct post_metrics *metrics = metrics_of(page, row);

	return nanoseconds(page, at_least(page, row) ? post_metrics_bound(metrics)
						     : metrics->value[POST_METRIC_TOTAL]);
}

static uint64_t average_of(const struct post_html_page *page, size_t row)
{
	return nanoseconds(page, post_metrics_average(metrics_of(page, row)));
}

static uint64_t minimum_of(const struct post_html_page *page, size_t row)
{
	return nanoseconds(page, metrics_of(page, row)->value[POST_METRIC_MIN]);
}

static uint64_t maximum_of(const struct post_html_page *page, size_t row)
{
	return nanoseconds(page, metrics_of(page, row)->value[POST_METRIC_MAX]);
}

static uint64_t timed_of(const struct post_html_page *page, size_t row)
{
	return metrics_of(page, row)->value[POST_METRIC_TIMED];
}

static uint64_t self_known(const struct post_html_page *page, size_t row)
{
	return post_metrics_self_known(metrics_of(page, row));
}

static uint64_t least_of(const struct post_html_page *page, size_t row)
{
	return nanoseconds(page, metrics_of(page, row)->value[POST_METRIC_LEAST]);
}

static uint64_t most_of(const struct post_html_page *page, size_t row)
{
	return nanoseconds(page, metrics_of(page, row)->value[POST_METRIC_MOST]);
}

struct column {
	const char *name;
	uint64_t (*value)(const struct post_html_page *page, size_t row);
};

/* `rows`: the numbers that the columns are asked for, NULL: 0, 1, 2... */
static void write_columns(const struct post_html_page *page, const struct column *columns,
			  size_t column_count, const uint32_t *rows, size_t count)
{
	FILE *file = page->output->file;
	const char *separator = rows ? "" : ",\n";

	for (size_t c = 0; c < column_count; c++) {
		fprintf(file, "%s\"%s\":[", separator, columns[c].name);
		separator = ",\n";
		for (size_t i = 0; i < count; i++)
			fprintf(file, "%s%" PRIu64, i ? "," : "",
				columns[c].value(page, rows ? rows[i] : i));
		putc(']', file);
	}
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* The source line of a function or call site, looked up and counted: two columns. */
struct place {
	uint32_t file; /* POST_NONE: not known */
	unsigned line;
};

static void write_places(FILE *file, const struct place *places, size_t count)
{
	fputs(",\n\"file\":[", file);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%s%d", i ? "," : "", (int)places[i].file);
	fputs("],\n\"line\":[", file);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%s%u", i ? "," : "", places[i].line);
	putc(']', file);
}

void post_html_functions_write(struct post_html_page *page)
{
	static const struct column counts[] = {
		{"module", module_of}, {"calls", calls_of}, {"made", made_of}};
	static const struct column times[] = {{"self", self_of},          {"total", total_of},
					      {"average", average_of},    {"min", minimum_of},
					      {"max", maximum_of},        {"timed", timed_of},
					      {"self_known", self_known}, {"at_least", at_least}};
	static const struct column bounds[] = {{"least", least_of}, {"most", most_of}};
	const struct post_session *session = page->output->session;
	size_t count = page->tallies->count;
	FILE *file = page->output->file;

	fputs("\"functions\":{\"name\":[", file);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ",\n" : "", file);
		post_write_json_text(file,
				     session->functions[page->tallies->items[i].function].name);
	}
	putc(']', file);
	write_columns(page, counts, COUNT(counts), NULL, count);
	if (page->timing == POST_TIMING_MEASURED)
		write_columns(page, times, COUNT(times), NULL, count);
	else if (page->timing == POST_TIMING_BOUNDS)
		write_columns(page, bounds, COUNT(bounds), NULL, count);
	if (page->output->energy)
		post_html_function_energy_write(page->output->energy, page->tallies, file);
	if (session->options.lines) {
		struct place *places = post_allocate(count + 1, sizeof(*places));
		for (size_t i = 0; i < count; i++) {
			const struct post_tally *tally = &page->tallies->items[i];
			const struct post_function *about = &session->functions[tally->function];
			struct post_html_counts counted = {.entered = tally->calls};
			places[i].file = POST_NONE;
			if (about->symbol)
				places[i].file = post_html_sources_count(
					page->sources, about->module, about->address, &counted,
					&places[i].line);
		}
		write_places(file, places, count);
		free(places);
	}
	fputs("},\n", file);
}

static const struct post_call *call_of(const struct post_html_page *page, size_t number)
{
	return &page->output->session->calls[number];
}

static uint64_t site_caller(const struct post_html_page *page, size_t number)
{
	return page->numbers[call_of(page, number)->caller];
}

static uint64_t site_callee(const struct post_html_page *page, size_t number)
{
	return page->numbers[call_of(page, number)->callee];
}

static uint64_t site_calls(const struct post_html_page *page, size_t number)
{
	return call_of(page, number)->count;
}

static uint64_t site_offset(const struct post_html_page *page, size_t number)
{
	return call_of(page, number)->caller_offset;
}

static uint64_t site_plt(const struct post_html_page *page, size_t number)
{
	return call_of(page, number)->plt;
}

static uint64_t site_total(const struct post_html_page *page, size_t number)
{
	return nanoseconds(page, page->output->measures->calls[number].value[POST_METRIC_TOTAL]);
}

void post_html_sites_write(struct post_html_page *page)
{
	static const struct column columns[] = {{"caller", site_caller}, {"callee", site_callee},
						{"calls", site_calls},   {"offset", site_offset},
						{"plt", site_plt},       {"total", site_total}};
	const struct post_session *session = page->output->session;
	bool measured = page->timing == POST_TIMING_MEASURED;
	uint32_t *shown = post_allocate(session->call_count + 1, sizeof(*shown));
	FILE *file = page->output->file;
	size_t count = 0;

	for (uint32_t i = 0; i < session->call_count; i++) {
		if (!session->calls[i].hidden && session->calls[i].count)
			shown[count++] = i;
	}
	fputs("\"sites\":{", file);
	write_columns(page, columns, COUNT(columns) - !measured, shown, count);
	if (session->options.lines) {
		struct place *places = post_allocate(count + 1, sizeof(*places));
		for (size_t i = 0; i < count; i++) {
			const struct post_call *call = call_of(page, shown[i]);
			struct post_html_counts counted = {
				.made = call->count,
				.time = measured ? site_total(page, shown[i]) : 0,
			};
			places[i].file = post_html_sources_count(page->sources, call->site_module,
								 call->site_address, &counted,
								 &places[i].line);
		}
		write_places(file, places, count);
		free(places);
	}
	fputs("},\n", file);
	free(shown);
}
