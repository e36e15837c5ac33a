/* The energy of two builds side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/energy/output.h"

/* Functions of both by name; what has changed by more than its error is marked. */
void energy_compare(FILE *file, const struct energy_analysis *old,
		    const struct energy_analysis *new)
{
	uint32_t *order = calloc(new->result.function_count + 1, sizeof(*order));
	size_t count = order ? energy_order(new, order) : 0;

	fprintf(file, "%12s %12s %12s %10s %9s  %s\n", "old a call", "new a call", "change", "+-",
		"percent", "function");
	for (size_t i = 0; i < count; i++) {
		const struct energy_function *b = &new->result.functions[order[i]];
		const struct energy_function *a = NULL;
		const char *name = energy_name(new, order[i]);
		char texts[4][32];
		for (uint32_t k = 0; k < old->result.function_count && !a; k++) {
			if (old->result.functions[k].calls && !strcmp(energy_name(old, k), name))
				a = &old->result.functions[k];
		}
		double now =
			(energy_sum(b->self, new->result.channels) + b->later) / (double)b->calls;
		if (!a) {
			fprintf(file, "%12s %12s %12s %10s %9s  %s  (new)\n", "-",
				energy_quantity(now, "J", texts[0], 32), "", "", "", name);
			continue;
		}
		double before =
			(energy_sum(a->self, old->result.channels) + a->later) / (double)a->calls;
		double error =
			hypot(b->uncertainty / (double)b->calls, a->uncertainty / (double)a->calls);
		fprintf(file, "%12s %12s %12s %10s %+8.2f%%  %s%s\n",
			energy_quantity(before, "J", texts[0], 32),
			energy_quantity(now, "J", texts[1], 32),
			energy_quantity(now - before, "J", texts[2], 32),
			energy_quantity(error, "J", texts[3], 32),
			before != 0 ? 100 * (now - before) / fabs(before) : 0, name,
			fabs(now - before) > 2 * error ? "" : "  (within the error)");
	}
	for (uint32_t k = 0; k < old->result.function_count; k++) {
		bool found = !old->result.functions[k].calls;
		for (size_t i = 0; i < count && !found; i++)
			found = !strcmp(energy_name(old, k), energy_name(new, order[i]));
		if (!found)
			fprintf(file, "%12s %12s %12s %10s %9s  %s  (gone)\n", "", "-", "", "", "",
				energy_name(old, k));
	}
	char texts[3][32];
	double a = energy_total(old), b = energy_total(new);
	fprintf(file, "%12s %12s %12s %10s %+8.2f%%  whole recording\n",
		energy_quantity(a, "J", texts[0], 32), energy_quantity(b, "J", texts[1], 32),
		energy_quantity(b - a, "J", texts[2], 32), "", a != 0 ? 100 * (b - a) / a : 0);
	free(order);
}
