/* The energy of two builds side by side. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/energy/output.h"

/* The energy of a call in the function itself, with what it caused. */
static double a_call(const struct energy_analysis *analysis, const struct energy_function *f)
{
	return (energy_sum(f->self, analysis->result.channels) + f->later) / (double)f->calls;
}

static void whole_row(FILE *file, double old, double new, const char *what)
{
	char texts[3][32];

	fprintf(file, "%12s %12s %12s %10s %+8.2f%% %9s %9s  %s\n",
		energy_quantity(old, "J", texts[0], 32), energy_quantity(new, "J", texts[1], 32),
		energy_quantity(new - old, "J", texts[2], 32), "",
		old != 0 ? 100 * (new - old) / old : 0, "", "", what);
}

/* Functions of both by name; what has changed by more than its error is marked. */
void energy_compare(FILE *file, const struct energy_analysis *old,
		    const struct energy_analysis *new)
{
	uint32_t *order = calloc(new->result.function_count + 1, sizeof(*order));
	size_t count = order ? energy_order(new, order) : 0;

	fprintf(file, "%12s %12s %12s %10s %9s %9s %9s  %s\n", "old a call", "new a call", "change",
		"+-", "percent", "old calls", "new calls", "function");
	for (size_t i = 0; i < count; i++) {
		const struct energy_function *b = &new->result.functions[order[i]];
		const struct energy_function *a = NULL;
		const char *name = energy_name(new, order[i]);
		char texts[4][32];
		for (uint32_t k = 0; k < old->result.function_count && !a; k++) {
			if (old->result.functions[k].calls && !strcmp(energy_name(old, k), name))
				a = &old->result.functions[k];
		}
		double now = a_call(new, b);
		if (!a) {
			fprintf(file, "%12s %12s %12s %10s %9s %9s %9" PRIu64 "  %s  (new)\n", "",
				energy_quantity(now, "J", texts[0], 32), "", "", "", "", b->calls,
				name);
			continue;
		}
		double before = a_call(old, a);
		double error =
			hypot(b->uncertainty / (double)b->calls, a->uncertainty / (double)a->calls);
		fprintf(file, "%12s %12s %12s %10s %+8.2f%% %9" PRIu64 " %9" PRIu64 "  %s%s\n",
			energy_quantity(before, "J", texts[0], 32),
			energy_quantity(now, "J", texts[1], 32),
			energy_quantity(now - before, "J", texts[2], 32),
			energy_quantity(error, "J", texts[3], 32),
			before != 0 ? 100 * (now - before) / fabs(before) : 0, a->calls, b->calls,
			name, fabs(now - before) > 2 * error ? "" : "  (within the error)");
	}
	char text[32];
	for (uint32_t k = 0; k < old->result.function_count; k++) {
		bool found = !old->result.functions[k].calls;
		for (size_t i = 0; i < count && !found; i++)
			found = !strcmp(energy_name(old, k), energy_name(new, order[i]));
		if (!found)
			fprintf(file, "%12s %12s %12s %10s %9s %9" PRIu64 " %9s  %s  (gone)\n",
				energy_quantity(a_call(old, &old->result.functions[k]), "J", text,
						sizeof(text)),
				"", "", "", "", old->result.functions[k].calls, "",
				energy_name(old, k));
	}
	whole_row(file, energy_functions(old), energy_functions(new),
		  "all functions and what they caused");
	whole_row(file, energy_total(old), energy_total(new),
		  "whole recording, with the tracer and what is (outside)");
	free(order);
}
