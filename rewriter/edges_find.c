#include "rewriter/edges_find.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/edges_flags.h"
#include "rewriter/edges_paths.h"
#include "rewriter/exclusive_edges.h"
#include "rewriter/units.h"

/* functions[i]: why the code of the function of block number i must be left. */
static void judge_functions(struct litifut_edges_judge *judge, uint8_t *functions)
{
	struct litifut_session *session = judge->session;
	struct litifut_graph *graph = &judge->edges->graph;
	const struct litifut_arch_edges *arch = session->arch->edges;

	for (size_t first = 0, end; first < graph->count; first = end) {
		unsigned reason = LITIFUT_SITE_PATCHED;

		for (end = first + 1; end < graph->count &&
				      graph->items[end].function == graph->items[first].function;)
			end++;
		if (arch->judge_function)
			reason = arch->judge_function(&session->image, &session->context, graph,
						      first, end);
		if (session->left && session->left[graph->items[first].function])
			reason = session->left[graph->items[first].function];
		memset(functions + first, (int)reason, end - first);
	}
}

static enum litifut_status reserve(struct litifut_edges_judge *judge, struct litifut_error *error)
{
	struct litifut_session *session = judge->session;
	const size_t most = 2 * judge->edges->graph.count + 1;

	judge->edges->items = calloc(most, sizeof(*judge->edges->items));
	session->sites.capacity = most + judge->edges->graph.stray_count;
	session->sites.items = calloc(session->sites.capacity, sizeof(*session->sites.items));
	for (size_t i = 0; i < judge->edges->graph.count; i++)
		session->sites.text_bytes += judge->edges->graph.items[i].block.end -
					     judge->edges->graph.items[i].block.start;
	return judge->edges->items && session->sites.items
		       ? LITIFUT_OK
		       : litifut_error_memory(error, session->image.path);
}

#define GRAIN_LEAST 4
#define GRAIN_MOST 7

/* The least with which the numbers are enough: for the room, or for what the code would take if all
 * were near it. */
static void choose_grain(struct litifut_session *session)
{
	const size_t has = session->room ? session->room->size : 0;
	unsigned *grain = &session->context.grain;

	if (*grain || !session->arch->edges->near_bytes)
		return;
	for (*grain = GRAIN_LEAST; session->context.cpu.position_independent && *grain < GRAIN_MOST;
	     ++*grain) {
		const size_t bytes = session->is_unmeasured ? litifut_edges_bytes(session) : has;

		if (bytes <= (size_t)0x10000 << *grain)
			break;
	}
}

enum litifut_status litifut_edges_find(struct litifut_session *session,
				       const struct litifut_rewrite_options *options,
				       struct litifut_error *error)
{
	struct litifut_edges *edges = calloc(1, sizeof(*edges));
	struct litifut_edges_judge judge = {.session = session, .edges = edges};
	enum litifut_status status;
	uint8_t *functions = NULL;

	session->edges = edges;
	if (!edges)
		return litifut_error_memory(error, session->image.path);
	if (!session->dead && session->arch->edges->near_bytes)
		session->dead =
			calloc((session->image.text_end - session->image.text_start) / 4 + 1,
			       sizeof(*session->dead));
	status = litifut_graph_make(&session->image, session->arch, &session->context, options,
				    &edges->graph, error);
	/* that of firmware has found them with its calls */
	if (!status && session->context.system)
		status = litifut_exclusive_functions(session, &edges->graph, error);
	if (!status)
		status = litifut_targets_create(session->image.text_start, session->image.text_end,
						&judge.taken, error);
	if (!status)
		status = reserve(&judge, error);
	if (!status) {
		functions = calloc(edges->graph.count + 1, sizeof(*functions));
		if (!functions)
			status = litifut_error_memory(error, session->image.path);
	}
	if (!status) {
		/* the room for trampolines is code as well, and is written to later */
		for (size_t i = 0; i < session->image.own_count; i++) {
			const struct litifut_symbol *own =
				&session->image.symbols[session->image.own[i]];

			/* what is in the file only has addresses that mean nothing */
			if (own->section < session->image.section_count &&
			    session->image.sections[own->section].flags & SHF_ALLOC &&
			    litifut_image_section_at(&session->image, own->address, own->size))
				litifut_edges_take(&judge.taken, own->address, own->size);
		}
		for (size_t i = 0; i < session->fixed_count; i++)
			litifut_edges_take(&judge.taken, session->fixed[i], 4);
		judge_functions(&judge, functions);
		if (!session->context.units)
			for (size_t i = 0; i < edges->graph.count; i++)
				litifut_edges_judge_branch(&judge, i, functions[i]);
		judge.branches = edges->count;
	}
	if (!status)
		status = session->context.units
				 ? litifut_units_judge(&judge, options, functions, error)
			 : session->context.bits
				 ? litifut_edges_judge_paths(&judge, functions, error)
				 : litifut_edges_judge_flags(&judge, functions, error);
	free(functions);
	free(judge.ranges);
	litifut_targets_release(&judge.taken);
	if (!status) {
		choose_grain(session);
		litifut_edges_add_strays(session);
	}
	return status;
}
