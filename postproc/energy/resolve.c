/* The normal equations: which columns there are, and what is asked of them. */
#include "postproc/energy/resolve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/energy/regression_solve.h"
#include "postproc/energy/regression_walk.h"

#define MOST_FUNCTIONS 500
#define MOST_ENDS 50 /* functions whose spans have ends */
/* With fewer spans the levels of begin and end are too uncertain. */
#define MANY_SPANS 1000
/* Columns of each end of a span where the clock is looked for. */
#define CLOCK_ENDS 20
/* Samples of a mean span: in a longer one the ends do not matter. */
#define SHORT_SPAN 5

/* Functions by their time; the longest get a column each. */
struct by_time {
	uint32_t function;
	double seconds;
};

static int by_seconds(const void *left, const void *right)
{
	const struct by_time *a = left, *b = right;

	return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

static size_t choose_columns(struct energy_resolved *resolved, const struct energy_result *result,
			     double interval, bool fine)
{
	struct by_time *order = malloc((result->function_count + 1) * sizeof(*order));
	size_t count = 0, next = ENERGY_COLUMN_FIRST;

	resolved->function_count = result->function_count;
	resolved->column_of = malloc((result->function_count + 1) * sizeof(uint32_t));
	resolved->ends_of = calloc(result->function_count + 1, sizeof(uint32_t));
	resolved->functions = calloc(result->function_count + 1, sizeof(*resolved->functions));
	if (!order || !resolved->column_of || !resolved->ends_of || !resolved->functions) {
		free(order);
		return 0;
	}
	for (uint32_t i = 0; i < result->function_count; i++) {
		resolved->column_of[i] = ENERGY_COLUMN_REST;
		if (result->functions[i].calls)
			order[count++] = (struct by_time){i, result->functions[i].self_seconds};
	}
	qsort(order, count, sizeof(*order), by_seconds);
	for (size_t i = 0; i < count && i < MOST_FUNCTIONS; i++)
		resolved->column_of[order[i].function] = (uint32_t)next++;
	for (size_t i = 0; i < count && i < MOST_ENDS && fine; i++) {
		const struct energy_function *f = &result->functions[order[i].function];
		const double spans = (double)(f->calls + f->made);
		if (spans < MANY_SPANS || f->self_seconds > SHORT_SPAN * interval * spans)
			continue;
		resolved->ends_of[order[i].function] = (uint32_t)next;
		next += 2 * resolved->end_parts;
	}
	free(order);
	return next;
}

static enum litifut_status no_memory(struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
				 "not enough memory for the regression");
}

/* Of each two cells that mirror each other the rows have filled one or the other. */
static void both_halves(struct energy_rows *rows, size_t columns)
{
	for (size_t i = 0; i < columns; i++) {
		for (size_t k = 0; k < i; k++) {
			double *one = &rows->xx[i * columns + k],
			       *other = &rows->xx[k * columns + i];
			*one = *other = *one + *other;
		}
	}
}

enum litifut_status energy_resolve(struct energy_resolved *resolved,
				   const struct energy_resolve_input *input,
				   struct litifut_error *error)
{
	struct energy_regression r = {.input = input};

	*resolved = (struct energy_resolved){.state_count = input->state_count};
	resolved->end_parts = input->for_clock ? CLOCK_ENDS : 1;
	resolved->first_state = choose_columns(resolved, input->result, input->power->interval,
					       energy_hooks_are_fine(input));
	if (!resolved->first_state)
		return no_memory(error);
	r.first_state = resolved->first_state;
	r.columns = resolved->first_state + input->state_count;
	if (input->before) {
		r.shift = resolved->shift = r.columns;
		r.columns += 2;
		r.middle = (input->result->begin + input->result->end) / 2;
		r.half = (input->result->end - input->result->begin) / 2;
	}
	resolved->column_count = r.columns;
	r.column_of = resolved->column_of;
	r.ends_of = resolved->ends_of;
	r.end_parts = resolved->end_parts;
	r.rows.xx = calloc(r.columns * r.columns, sizeof(*r.rows.xx));
	r.rows.xy = calloc(r.columns, sizeof(*r.rows.xy));
	r.part = calloc(r.columns, sizeof(*r.part));
	/* for the clock rows whose edges are where they were say more */
	r.kept = input->only_sure ? 0 : input->power->kept;
	r.smeared = calloc(r.columns, sizeof(*r.smeared));
	r.live = calloc(r.columns, sizeof(*r.live));
	r.seconds = calloc(r.columns, sizeof(*r.seconds));
	resolved->columns = calloc(r.columns, sizeof(*resolved->columns));
	enum litifut_status status = LITIFUT_OK;
	if (!r.rows.xx || !r.rows.xy || !r.part || !r.smeared || !r.live || !r.seconds ||
	    !resolved->columns)
		status = no_memory(error);
	else
		status = energy_regression_walk(&r, error);
	for (size_t i = 0; status == LITIFUT_OK && i < r.columns; i++)
		resolved->columns[i].seconds = r.seconds[i];
	resolved->rows = r.rows;
	if (status == LITIFUT_OK) {
		both_halves(&resolved->rows, r.columns);
		resolved->samples = r.samples;
		for (size_t i = 0; i < r.columns; i++)
			resolved->unknowns += r.rows.xx[i * r.columns + i] > 0;
		if (!energy_regression_solve(resolved, input))
			status = no_memory(error);
	}
	free(r.part);
	free(r.smeared);
	free(r.live);
	free(r.seconds);
	return status;
}

enum litifut_status energy_resolve_again(struct energy_resolved *resolved,
					 const struct energy_resolve_input *input,
					 struct litifut_error *error)
{
	return energy_regression_solve(resolved, input) ? LITIFUT_OK : no_memory(error);
}

/* Levels are known: walks for what is asked of the samples then. */
static enum litifut_status with_levels(struct energy_regression *r,
				       const struct energy_resolved *resolved,
				       struct litifut_error *error)
{
	r->column_of = resolved->column_of;
	r->ends_of = resolved->ends_of;
	r->end_parts = resolved->end_parts;
	r->columns = resolved->column_count;
	r->first_state = resolved->first_state;
	r->levels = resolved->columns;
	r->part = calloc(r->columns, sizeof(*r->part));
	enum litifut_status status = r->part ? energy_regression_walk(r, error) : no_memory(error);
	free(r->part);
	return status;
}

enum litifut_status energy_divide(const struct energy_resolved *resolved,
				  const struct energy_resolve_input *input, double *watts,
				  struct litifut_error *error)
{
	const size_t columns = resolved->column_count;
	struct energy_regression r = {.input = input,
				      .divided = calloc(columns, sizeof(*r.divided)),
				      .divided_samples =
					      calloc(columns, sizeof(*r.divided_samples))};
	enum litifut_status status = LITIFUT_OK;

	if (!r.divided || !r.divided_samples)
		status = no_memory(error);
	else
		status = with_levels(&r, resolved, error);
	for (size_t i = 0; i < resolved->function_count && status == LITIFUT_OK; i++) {
		const size_t column = resolved->column_of[i], ends = resolved->ends_of[i];
		double sum = r.divided[column], samples = r.divided_samples[column];
		for (size_t k = ends; ends && k < ends + 2 * r.end_parts; k++) {
			sum += r.divided[k];
			samples += r.divided_samples[k];
		}
		watts[i] = sum / samples;
	}
	free(r.divided);
	free(r.divided_samples);
	return status;
}

enum litifut_status energy_observe(const struct energy_resolved *resolved,
				   const struct energy_resolve_input *input,
				   struct litifut_error *error)
{
	const size_t count = input->occupations ? input->occupations->count : 0;
	struct energy_regression r = {.input = input,
				      .observed = calloc(count + 1, sizeof(*r.observed)),
				      .observed_seconds =
					      calloc(count + 1, sizeof(*r.observed_seconds))};
	enum litifut_status status = LITIFUT_OK;

	if (!r.observed || !r.observed_seconds)
		status = no_memory(error);
	else
		status = with_levels(&r, resolved, error);
	for (size_t i = 0; i < count && status == LITIFUT_OK; i++) {
		struct energy_occupation *item = &input->occupations->items[i];
		item->observed =
			r.observed_seconds[i] > 0 ? r.observed[i] / r.observed_seconds[i] : NAN;
	}
	free(r.observed);
	free(r.observed_seconds);
	return status;
}

enum litifut_status energy_rest(const struct energy_resolved *resolved,
				const struct energy_resolve_input *input, float *rest,
				struct litifut_error *error)
{
	struct energy_resolve_input without = *input;
	struct energy_regression r = {.input = &without, .rest = rest};

	memset(rest, 0, input->power->count * sizeof(*rest));
	without.occupations = NULL;
	return with_levels(&r, resolved, error);
}

enum litifut_status energy_rest_sums(const struct energy_resolved *resolved,
				     const struct energy_resolve_input *input, size_t block,
				     double *sums, struct litifut_error *error)
{
	struct energy_regression r = {.input = input, .sums = sums, .block = block, .states = true};

	memset(sums, 0, (input->power->count / block + 1) * sizeof(*sums));
	return with_levels(&r, resolved, error);
}
