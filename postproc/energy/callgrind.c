/* For KCachegrind and callgrind_annotate: nanojoules first, as they select and sort by the
 * first event. Numbers are whole: what is rounded off a function is carried on to the next,
 * so that the sum is the total. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "postproc/energy/output.h"

struct carry {
	double joules, later, seconds;
};

static long long whole(double value, double *carry)
{
	double wanted = value + *carry, rounded = fmax(0, round(wanted));

	*carry = wanted - rounded;
	return (long long)rounded;
}

static void self_line(struct energy_output *output, const char *name, double joules, double later,
		      double seconds, uint64_t calls, struct carry *carry)
{
	long long nanojoules = whole(joules * 1e9, &carry->joules);
	long long caused = whole(later * 1e9, &carry->later);
	long long nanoseconds = whole(seconds * 1e9, &carry->seconds);

	fprintf(output->file, "fn=%s\n0 %lld %lld %lld %" PRIu64 "\n", name, nanojoules, caused,
		nanoseconds, calls);
}

static void write_callgrind(struct energy_output *output)
{
	const struct energy_analysis *a = output->analysis;
	const struct energy_result *result = &a->result;
	/* Costs are not below zero: what the parts are too much by is taken from the functions. */
	struct carry carry = {.joules = fmin(0, a->unexplained) * 1e9};
	size_t edge = 0;

	fputs("# callgrind format\nversion: 1\ncreator: litifut-post energy\npositions: line\n"
	      "event: nJ : Energy\nevent: nJa : Energy caused later\nevent: ns : Time\n"
	      "event: nJall = nJ + nJa : Energy with what it caused\n"
	      "events: nJ nJa ns Calls\n\nfl=\n",
	      output->file);
	for (uint32_t i = 0; i < result->function_count; i++) {
		const struct energy_function *f = &result->functions[i];
		while (edge < result->edge_count && result->edges[edge].caller < i)
			edge++;
		if (!f->calls)
			continue;
		self_line(output, energy_name(a, i), energy_sum(f->self, result->channels),
			  f->later, f->self_seconds, f->calls, &carry);
		for (; edge < result->edge_count && result->edges[edge].caller == i; edge++) {
			const struct energy_edge *e = &result->edges[edge];
			fprintf(output->file,
				"cfn=%s\ncalls=%" PRIu64 " 0\n0 %.0f %.0f %.0f %" PRIu64 "\n",
				energy_name(a, e->callee), e->calls,
				fmax(0, energy_sum(e->inclusive, result->channels) * 1e9),
				fmax(0, e->later * 1e9), fmax(0, e->seconds * 1e9), e->calls);
		}
		fputc('\n', output->file);
	}
	self_line(output, "(outside)", energy_sum(result->outside, result->channels), 0,
		  result->outside_seconds, 0, &carry);
	self_line(output, "(tracer)", energy_sum(result->hooks, result->channels), 0,
		  result->hook_seconds, 0, &carry);
	self_line(output, "(transfer)", energy_sum(result->transfer, result->channels), 0,
		  result->transfer_seconds, 0, &carry);
	self_line(output, "(unexplained)", fmax(0, a->unexplained), 0, 0, 0, &carry);
	fprintf(output->file, "\ntotals: %.0f %.0f %.0f %" PRIu64 "\n",
		fmax(0,
		     round((energy_total(a) - energy_sum(result->later, result->channels)) * 1e9)),
		round(energy_sum(result->later, result->channels) * 1e9),
		round((result->end - result->begin) * 1e9), result->counts.calls);
}

const struct energy_format energy_format_callgrind = {
	"callgrind", "for KCachegrind and callgrind_annotate", NULL, NULL, write_callgrind, false};
