/* edges: one line for each caller and callee, with the number of calls. */
#include <inttypes.h>

#include "postproc/measure/edges.h"
#include "postproc/formats/format.h"

static void finish(struct post_output *output)
{
	const struct post_session *session = output->session;
	struct post_edges edges;

	post_edges_collect(session, &edges);
	for (size_t i = 0; i < edges.count; i++) {
		const struct post_edge *edge = &edges.items[i];
		if (output->options.top && i == output->options.top)
			break;
		fprintf(output->file, "%10" PRIu64 "  %s -> %s\n", edge->count,
			session->functions[edge->caller].name,
			session->functions[edge->callee].name);
	}
	post_edges_release(&edges);
}

const struct post_format post_format_edges = {
	.name = "edges",
	.summary = "counted pairs of caller and callee",
	.uses = POST_USES_TOP,
	.finish = finish,
};
