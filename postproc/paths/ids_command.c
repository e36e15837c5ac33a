/* litifut-post path-ids. */
#include <inttypes.h>
#include <stdlib.h>

#include <litifut/numbers_format.h>
#include <litifut/trace_format.h>

#include "postproc/paths/command_private.h"
#include "postproc/paths/program.h"
#include "postproc/table.h"

static unsigned count_above(const struct path_numbers *numbers, unsigned bits)
{
	unsigned count = 0;

	for (size_t i = 0; i < numbers->flow->function_count; i++)
		count += numbers->functions[i].paths > UINT64_C(1) << bits;
	return count;
}

static void summarize(const struct path_program *program, const struct path_numbers *own,
		      const struct path_numbers *whole)
{
	const struct path_flow *flow = &program->graph.flow;
	size_t traced = 0, dependent = 0, loops = 0, cut = 0;

	for (uint32_t i = 0; i < flow->function_count; i++) {
		traced += flow->functions[i].traced;
		dependent += !whole->functions[i].reasons;
		loops += own->functions[i].loops > 0;
		cut += own->functions[i].cuts > 0;
	}
	fprintf(stderr,
		"litifut-post path-ids: %zu of %zu functions, %zu with loops, %zu dependent; %zu "
		"conditional branches, %zu jumps, %zu calls of what is not here\n",
		traced, flow->function_count, loops, dependent, program->graph.branches,
		program->graph.jumps, program->graph.unknown_calls);
	fprintf(stderr,
		"litifut-post path-ids: with numbers above 2^8, 2^16, 2^32: %u, %u, %u, and "
		"interprocedural ones: %u, %u, %u; in %zu paths end early so that numbers fit\n",
		count_above(own, 8), count_above(own, 16), count_above(own, 32),
		count_above(whole, 8), count_above(whole, 16), count_above(whole, 32), cut);
}

/* The paths of each function, those with most of them first. */
static void write_ids(FILE *file, const struct path_arguments *given,
		      const struct path_program *program)
{
	const struct path_flow *flow = &program->graph.flow;
	const bool recorded = program->image->mode == LITIFUT_MODE_BALLLARUS;
	struct path_options how = {.id_bits = recorded && given->id_bits > LITIFUT_NUMBERS_BITS
						      ? LITIFUT_NUMBERS_BITS
						      : given->id_bits};
	struct path_row *rows = post_allocate(flow->function_count + 1, sizeof(*rows));
	struct path_numbers own, whole;
	size_t count = 0;

	bool made = path_numbers_make(flow, &how, &own);

	how.interprocedural = true;
	made = path_numbers_make(flow, &how, &whole) && made;
	if (!made)
		post_out_of_memory();
	for (uint32_t i = 0; i < flow->function_count; i++)
		if (flow->functions[i].traced)
			rows[count++] = (struct path_row){i, whole.functions[i].paths};
	qsort(rows, count, sizeof(*rows), path_by_paths);
	fprintf(file, "%20s %4s %20s %4s %5s %4s %-9s %s\n", "PATHS", "BITS", "WITH CALLEES",
		"BITS", "LOOPS", "CUTS", "APART", "FUNCTION");
	for (size_t i = 0; i < count && (!given->top || i < given->top); i++) {
		const uint32_t f = rows[i].function;

		fprintf(file, "%20" PRIu64 " %4u %20" PRIu64 " %4u %5u %4u %-9s %s\n",
			own.functions[f].paths, path_bits(own.functions[f].paths),
			whole.functions[f].paths, path_bits(whole.functions[f].paths),
			whole.functions[f].loops, whole.functions[f].cuts,
			path_reason_text(whole.functions[f].reasons), program->names[f]);
	}
	if (!given->quiet)
		summarize(program, &own, &whole);
	path_numbers_release(&own);
	path_numbers_release(&whole);
	free(rows);
}

int path_ids(FILE *file, const struct path_arguments *given)
{
	int status = 0;

	for (size_t i = 0; i < given->path_count; i++) {
		struct post_image *image = path_open_image(given, given->paths[i]);
		struct path_program program;
		struct litifut_error error;

		if (!image) {
			status = 1;
			continue;
		}
		if (path_program_recorded(image, (const char *const *)given->only, &program,
					  &error) == LITIFUT_OK) {
			if (given->path_count > 1)
				fprintf(file, "%s%s:\n", i ? "\n" : "", given->paths[i]);
			write_ids(file, given, &program);
		} else {
			status = path_problem(given, &error);
		}
		path_program_release(&program);
		post_image_close(image);
	}
	return status;
}
