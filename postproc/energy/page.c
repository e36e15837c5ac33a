#include "postproc/energy/page.h"

#include <math.h>
#include <stdlib.h>

#include "postproc/energy/curve.h"
#include "postproc/formats/html/energy.h"

_Static_assert(ENERGY_CHANNELS <= POST_HTML_CURVES, "each channel has a curve");

void energy_page_start(struct energy_page *page, struct post_session *session)
{
	page->output.session = session;
	page->output.options.min_share = -1;
	page->run.output = &page->output;
	page->run.format = post_format_find("html");
	session->problems->keep = true; /* the page lists them */
}

static void functions_of(const struct energy_result *result,
			 struct post_html_function_energy *functions)
{
	for (size_t i = 0; i < result->function_count; i++) {
		const struct energy_function *f = &result->functions[i];
		functions[i] = (struct post_html_function_energy){
			.self = energy_sum(f->self, result->channels),
			.error = f->uncertainty,
			.inclusive = energy_sum(f->inclusive, result->channels),
			.later = f->later,
		};
	}
}

/* Of each node but the root, in which nothing is called. */
static size_t paths_of(const struct energy_analysis *a, struct post_html_path_energy *paths)
{
	const struct energy_tree *tree = &a->result.tree;

	for (uint32_t i = 1; i < tree->count; i++) {
		const struct energy_node *node = &tree->nodes[i];
		double hooks = energy_hook_seconds(&a->hook, &node->hooks) * a->hook.watts;
		paths[i - 1] = (struct post_html_path_energy){
			.parent = node->parent == ENERGY_ROOT ? POST_NONE : node->parent - 1,
			.function = node->function,
			.joules =
				energy_sum(node->joules, a->result.channels) - hooks + node->later,
		};
	}
	return tree->count ? tree->count - 1 : 0;
}

/* From the first event to the last one, which is what the page's timeline shows. */
static enum litifut_status curves_of(const struct energy_analysis *a, struct energy_curve *curves,
				     struct post_html_energy *energy, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	for (unsigned k = 0; k < a->power.channels && status == LITIFUT_OK; k++) {
		status = energy_curve_make(&curves[k], &a->power, k, &a->clock, 0,
					   energy_events_length(&a->events),
					   POST_HTML_POINTS / a->power.channels, error);
		energy->curves[k] = (struct post_html_curve){
			.name = a->power.channels > 1 ? a->power.channel_names[k] : "",
			.count = curves[k].count,
			.low = curves[k].low,
			.high = curves[k].high,
			.mean = curves[k].mean,
		};
	}
	energy->curve_count = a->power.channels;
	energy->from = (double)a->events.first;
	energy->width = curves[0].width * 1e9;
	return status;
}

enum litifut_status energy_page_finish(struct energy_page *page,
				       const struct energy_analysis *analysis,
				       struct litifut_error *error)
{
	struct energy_curve curves[ENERGY_CHANNELS] = {0};
	struct post_html_energy energy = {0};
	struct post_html_function_energy *functions = NULL;
	struct post_html_path_energy *paths = NULL;
	enum litifut_status status = LITIFUT_OK;
	FILE *nowhere = NULL;

	if (!page->output.totals) /* no trace was read */
		return LITIFUT_OK;
	if (analysis)
		status = curves_of(analysis, curves, &energy, error);
	if (analysis && status == LITIFUT_OK) {
		const struct energy_result *result = &analysis->result;
		functions = post_allocate(result->function_count + 1, sizeof(*functions));
		paths = post_allocate(result->tree.count + 1, sizeof(*paths));
		energy.total = energy_total(analysis);
		energy.outside = energy_sum(result->outside, result->channels);
		energy.tracer = energy_sum(result->hooks, result->channels);
		energy.transfer = energy_sum(result->transfer, result->channels);
		energy.unexplained = analysis->unexplained;
		functions_of(result, functions);
		energy.functions = functions;
		energy.function_count = result->function_count;
		energy.path_count = paths_of(analysis, paths);
		energy.paths = paths;
		page->output.energy = &energy;
	} else {
		/* what the format holds is released only by writing it */
		page->output.file = nowhere = fopen("/dev/null", "we");
	}
	if (page->output.file)
		post_run_finish(&page->run);
	page->output.energy = NULL;
	if (nowhere)
		fclose(nowhere);
	for (unsigned k = 0; k < ENERGY_CHANNELS; k++)
		energy_curve_release(&curves[k]);
	free(functions);
	free(paths);
	return status;
}
