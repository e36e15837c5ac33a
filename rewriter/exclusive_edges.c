/* The calls are taken from the graph: where edges are recorded, calls are not sites. */
#include "rewriter/exclusive_edges.h"

#include <stdlib.h>

#include "rewriter/exclusive_calls.h"
#include "rewriter/graph.h"

static enum litifut_status list_calls(const struct litifut_session *session,
				      const struct litifut_graph *graph,
				      struct litifut_site_list *calls, struct litifut_error *error)
{
	calls->items = calloc(graph->count + 1, sizeof(*calls->items));
	if (!calls->items)
		return litifut_error_memory(error, session->image.path);
	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_block *block = &graph->items[i].block;
		const bool call = block->ends == LITIFUT_ENDS_CALL;

		if (!call && block->ends != LITIFUT_ENDS_BRANCH && block->ends != LITIFUT_ENDS_JUMP)
			continue;
		if (block->ends == LITIFUT_ENDS_BRANCH &&
		    !litifut_image_function_start(&session->image, block->target & ~1u))
			continue;
		calls->items[calls->count++] = (struct litifut_found_site){
			.site = {.address = block->branch,
				 .callee = block->target,
				 .kind = call ? LITIFUT_SITE_DIRECT : LITIFUT_SITE_TAIL_DIRECT,
				 .reason = LITIFUT_SITE_PATCHED},
			.instruction = {.class = LITIFUT_CLASS_CALL_INDIRECT, .length = 4},
			.function = graph->items[i].function,
			.section = graph->items[i].section,
		};
	}
	calls->targets = graph->targets;
	return LITIFUT_OK;
}

enum litifut_status litifut_exclusive_functions(struct litifut_session *session,
						const struct litifut_graph *graph,
						struct litifut_error *error)
{
	const size_t count = session->image.symbol_count;
	struct litifut_site_list calls = {0};
	uint8_t *functions = calloc(count + 1, 1);
	enum litifut_status status = LITIFUT_OK;

	if (!session->left)
		session->left = calloc(count + 2, 1);
	if (!functions || !session->left)
		status = litifut_error_memory(error, session->image.path);
	if (!status)
		status = list_calls(session, graph, &calls, error);
	if (!status)
		status = litifut_exclusive_mark(&session->image, session->arch, &session->context,
						&calls, false, functions, error);
	for (size_t i = 0; i < count && !status; i++)
		if (functions[i] && !session->left[i + 1])
			session->left[i + 1] = LITIFUT_SITE_EXCLUSIVE;
	calls.targets = (struct litifut_targets){0}; /* the graph has them */
	litifut_sites_release(&calls);
	free(functions);
	return status;
}
