/* The levels that fit the rows best, and how certain they are. */
#include "postproc/energy/regression_solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRIOR 1e-3 /* samples */
/* By how much of what a processor draws do the ends of spans differ from what is between them? */
#define USUAL_END 0.25

/* Cholesky of the rows and columns that are in use, into `lower`. */
static bool decompose(const double *matrix, size_t columns, const size_t *used, size_t count,
		      double *lower)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k <= i; k++) {
			double sum = matrix[used[i] * columns + used[k]];
			for (size_t j = 0; j < k; j++)
				sum -= lower[i * count + j] * lower[k * count + j];
			if (i == k) {
				if (!(sum > 0))
					return false;
				lower[i * count + i] = sqrt(sum);
			} else {
				lower[i * count + k] = sum / lower[k * count + k];
			}
		}
	}
	return true;
}

static void substitute(const double *lower, size_t count, double *vector)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < i; k++)
			vector[i] -= lower[i * count + k] * vector[k];
		vector[i] /= lower[i * count + i];
	}
	for (size_t i = count; i-- > 0;) {
		for (size_t k = i + 1; k < count; k++)
			vector[i] -= lower[k * count + i] * vector[k];
		vector[i] /= lower[i * count + i];
	}
}

/* Of each function over its columns, by the time in each. */
static void combine(struct energy_resolved *resolved, const double *lower, const size_t *used,
		    size_t count, double *vector, double *weights, double variance)
{
	for (size_t i = 0; i < resolved->function_count; i++) {
		const uint32_t column = resolved->column_of[i], ends = resolved->ends_of[i];
		struct energy_level *level = &resolved->functions[i];

		*level = resolved->columns[column];
		if (!ends)
			continue;
		const uint32_t behind = ends + 2 * resolved->end_parts;
		for (uint32_t k = ends; k < behind; k++)
			level->seconds += resolved->columns[k].seconds;
		level->watts = level->error = 0;
		for (size_t k = 0; k < count && level->seconds > 0; k++) {
			const struct energy_level *part = &resolved->columns[used[k]];
			const bool own = used[k] == column || (used[k] >= ends && used[k] < behind);

			weights[k] = own ? part->seconds / level->seconds : 0;
			vector[k] = weights[k];
			level->watts += weights[k] * part->watts;
		}
		substitute(lower, count, vector);
		for (size_t k = 0; k < count; k++)
			level->error += weights[k] * vector[k];
		level->error = sqrt(fmax(0, level->error) * variance);
	}
}

/* No power is negative: those that would be are set to 0, one after another, and taken back
 * when the others allow it. */
static bool solve(const struct energy_resolve_input *input, double *matrix, const double *right,
		  struct energy_resolved *resolved, double variance)
{
	struct energy_level *levels = resolved->columns;
	const size_t columns = resolved->column_count;
	size_t *used = malloc(columns * sizeof(*used)), count = 0;
	double *lower = malloc(columns * columns * sizeof(*lower));
	double *vector = malloc(columns * sizeof(*vector));
	double *weights = malloc(columns * sizeof(*weights));
	bool *out = calloc(columns, sizeof(*out));
	bool good = used && lower && vector && weights && out;

	for (size_t round = 0; good && round < 3 * columns; round++) {
		count = 0;
		for (size_t i = 0; i < columns; i++) {
			if (!out[i] && matrix[i * columns + i] > PRIOR)
				used[count++] = i;
		}
		good = decompose(matrix, columns, used, count, lower);
		for (size_t i = 0; i < count; i++)
			vector[i] = right[used[i]];
		if (good)
			substitute(lower, count, vector);
		size_t worst = count;
		for (size_t i = 0; i < count; i++) {
			const bool is_power = !resolved->shift || used[i] < resolved->shift;
			if (is_power && vector[i] < -1e-15 &&
			    (worst == count || vector[i] < vector[worst]))
				worst = i;
		}
		if (worst == count)
			break;
		out[used[worst]] = true;
	}
	for (size_t i = 0; good && i < columns; i++)
		levels[i].watts = levels[i].error = 0;
	for (size_t i = 0; good && i < count; i++)
		levels[used[i]].watts = vector[i];
	/* the errors: the diagonal of the inverse; the search for the clock needs none */
	for (size_t i = 0; good && i < count && !input->for_clock; i++) {
		memset(vector, 0, count * sizeof(*vector));
		vector[i] = 1;
		substitute(lower, count, vector);
		levels[used[i]].error = sqrt(fmax(0, vector[i]) * variance);
	}
	if (good && !input->for_clock)
		combine(resolved, lower, used, count, vector, weights, variance);
	free(weights);
	free(used);
	free(lower);
	free(vector);
	free(out);
	return good;
}

/* One level is the other one, with the weight of so many samples. */
static void hold(double *matrix, size_t columns, size_t one, size_t other, double weight)
{
	matrix[one * columns + one] += weight;
	matrix[other * columns + other] += weight;
	matrix[one * columns + other] -= weight;
	matrix[other * columns + one] -= weight;
}

/* The levels of the ends are those of the spans between them, and where there are many columns for
 * the clock also those of the parts of hooks their mean, as far as the samples do not say
 * otherwise. */
static void hold_parts(double *matrix, const struct energy_resolve_input *input,
		       const struct energy_resolved *resolved, double weight)
{
	const size_t columns = resolved->column_count;

	for (size_t i = 0; i < resolved->function_count; i++) {
		const size_t middle = resolved->column_of[i], ends = resolved->ends_of[i];
		for (size_t end = ends; ends && end < ends + 2 * resolved->end_parts; end++) {
			if (resolved->rows.xx[end * columns + end] > 0)
				hold(matrix, columns, end, middle, weight);
		}
	}
	for (size_t i = ENERGY_COLUMN_HOOKS; input->for_clock && i < ENERGY_COLUMN_FIRST; i++) {
		if (resolved->rows.xx[i * columns + i] > 0)
			hold(matrix, columns, i, ENERGY_COLUMN_HOOK, weight);
	}
}

/* Towards the mean power, with the weight of a thousandth of a sample: columns that the data
 * says nothing of get it, with an error that is large. */
bool energy_regression_solve(struct energy_resolved *resolved,
			     const struct energy_resolve_input *input)
{
	const size_t columns = resolved->column_count;
	double *matrix = malloc(columns * columns * sizeof(*matrix));
	double *right = malloc(columns * sizeof(*right));
	double mean = resolved->samples ? resolved->rows.y / (double)resolved->samples : 0;
	double noise = input->noise * input->noise, variance = noise;

	bool good = matrix && right;
	double usual = 0;
	for (int round = 0; good && round < 3; round++) {
		memcpy(matrix, resolved->rows.xx, columns * columns * sizeof(*matrix));
		memcpy(right, resolved->rows.xy, columns * sizeof(*right));
		for (size_t i = 0; i < columns; i++) {
			matrix[i * columns + i] += PRIOR;
			if (!resolved->shift || i < resolved->shift)
				right[i] += PRIOR * mean;
		}
		if (usual > 0)
			hold_parts(matrix, input, resolved,
				   variance / (USUAL_END * usual * USUAL_END * usual));
		good = solve(input, matrix, right, resolved, variance);
		double squares = resolved->rows.yy, held = resolved->rows.yy;
		for (size_t i = 0; good && i < columns; i++) {
			double level = resolved->columns[i].watts, sum = 0;
			for (size_t k = 0; k < columns; k++)
				sum += resolved->rows.xx[i * columns + k] *
				       resolved->columns[k].watts;
			squares += level * (sum - 2 * resolved->rows.xy[i]);
			held -= level * right[i];
		}
		resolved->held = resolved->samples ? fmax(0, held) / (double)resolved->samples : 0;
		resolved->residual =
			resolved->samples ? fmax(0, squares) / (double)resolved->samples : 0;
		/* what the columns do not explain counts as noise; each takes some of it away */
		double free_share = energy_is_determined(resolved)
					    ? (double)(resolved->samples - resolved->unknowns) /
						      (double)resolved->samples
					    : 1;
		variance = fmax(noise, resolved->residual / free_share);
		usual = energy_hook_power(resolved);
	}
	free(matrix);
	free(right);
	for (size_t i = 0; i <= ENERGY_COLUMN_TRANSFER; i++) {
		struct energy_level *level = &resolved->columns[i];
		if (!(level->watts > 0) && resolved->rows.left_out[i])
			level->watts =
				resolved->rows.left_out_sum[i] / (double)resolved->rows.left_out[i];
	}
	return good;
}
