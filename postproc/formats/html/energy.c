#include "postproc/formats/html/energy.h"

#include <math.h>
#include <stdlib.h>

#include "postproc/formats/text.h"

/* Of the range between the least and the most power: what an analyser resolves. */
#define STEPS 65535.0

static bool is_hole(const struct post_html_curve *curve, size_t i)
{
	return curve->low[i] > curve->high[i];
}

static void range_of(const struct post_html_energy *energy, double *least, double *most)
{
	*least = 0;
	*most = 0;
	for (unsigned k = 0; k < energy->curve_count; k++) {
		const struct post_html_curve *curve = &energy->curves[k];
		for (size_t i = 0; i < curve->count; i++) {
			if (is_hole(curve, i))
				continue;
			*least = fmin(*least, curve->low[i]);
			*most = fmax(*most, curve->high[i]);
		}
	}
}

/* Numbers of steps; the most and the mean as what they are above the least. */
static void write_curve(const struct post_html_curve *curve, double step, FILE *file)
{
	fputs("{\"name\":", file);
	post_write_json_text(file, curve->name);
	fputs(",\"low\":[", file);
	for (size_t i = 0; i < curve->count; i++) {
		fputs(i ? "," : "", file);
		if (is_hole(curve, i))
			fputs("null", file);
		else
			fprintf(file, "%.0f", round(curve->low[i] / step));
	}
	fputs("],\n\"high\":[", file);
	for (size_t i = 0; i < curve->count; i++)
		fprintf(file, "%s%.0f", i ? "," : "",
			is_hole(curve, i)
				? 0
				: round(curve->high[i] / step) - round(curve->low[i] / step));
	fputs("],\n\"mean\":[", file);
	for (size_t i = 0; i < curve->count; i++)
		fprintf(file, "%s%.0f", i ? "," : "",
			is_hole(curve, i)
				? 0
				: round(curve->mean[i] / step) - round(curve->low[i] / step));
	fputs("]}", file);
}

void post_html_power_write(const struct post_html_energy *energy, FILE *file)
{
	double least, most;

	range_of(energy, &least, &most);
	double step = most > least ? (most - least) / STEPS : 1;
	fprintf(file,
		"\"power\":{\"total\":%.12g,\"outside\":%.12g,\"tracer\":%.12g,\"transfer\":%.12g,"
		"\"unexplained\":%.12g,\n\"from\":%.0f,\"width\":%.17g,\"step\":%.17g,\"curves\":[",
		energy->total, energy->outside, energy->tracer, energy->transfer,
		energy->unexplained, energy->from, energy->width, step);
	for (unsigned k = 0; k < energy->curve_count; k++) {
		fputs(k ? ",\n" : "\n", file);
		write_curve(&energy->curves[k], step, file);
	}
	fputs("]},\n", file);
}

static double self_of(const struct post_html_function_energy *f)
{
	return f->self;
}

static double error_of(const struct post_html_function_energy *f)
{
	return isfinite(f->error) ? f->error : 0;
}

static double inclusive_of(const struct post_html_function_energy *f)
{
	return f->inclusive;
}

static double later_of(const struct post_html_function_energy *f)
{
	return f->later;
}

void post_html_function_energy_write(const struct post_html_energy *energy,
				     const struct post_tallies *tallies, FILE *file)
{
	static const struct {
		const char *name;
		double (*value)(const struct post_html_function_energy *function);
	} columns[] = {{"energy", self_of},
		       {"energy_error", error_of},
		       {"energy_total", inclusive_of},
		       {"energy_later", later_of}};
	static const struct post_html_function_energy none;

	for (size_t c = 0; c < sizeof(columns) / sizeof(*columns); c++) {
		fprintf(file, ",\n\"%s\":[", columns[c].name);
		for (size_t i = 0; i < tallies->count; i++) {
			uint32_t number = tallies->items[i].function;
			fprintf(file, "%s%.12g", i ? "," : "",
				columns[c].value(number < energy->function_count
							 ? &energy->functions[number]
							 : &none));
		}
		putc(']', file);
	}
}

double *post_html_path_energies(const struct post_html_energy *energy,
				const struct post_call_tree *tree, double *left)
{
	double *joules = post_allocate(tree->count + (size_t)1, sizeof(*joules));
	uint32_t *nodes = post_allocate(energy->path_count + 1, sizeof(*nodes));

	*left = 0;
	for (size_t i = 0; i < energy->path_count; i++) {
		const struct post_html_path_energy *path = &energy->paths[i];
		bool lost = path->parent != POST_NONE && nodes[path->parent] == POST_NONE;
		nodes[i] =
			lost ? POST_NONE
			     : post_call_tree_find(tree,
						   path->parent == POST_NONE ? POST_NONE
									     : nodes[path->parent],
						   path->function);
		*(nodes[i] == POST_NONE ? left : &joules[nodes[i]]) += path->joules;
	}
	free(nodes);
	return joules;
}
