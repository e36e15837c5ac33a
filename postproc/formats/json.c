/* json: everything that was counted, as one object. docs/output-formats.md
 * lists the members; new ones may come, none changes its meaning. */
#include <inttypes.h>

#include "postproc/formats/about.h"
#include "postproc/formats/format.h"
#include "postproc/formats/text.h"
#include "postproc/measure/edges.h"

static void finish(struct post_output *output)
{
	const struct post_session *session = output->session;
	FILE *file = output->file;
	struct post_edges edges;
	struct post_tallies tallies;

	post_edges_collect(session, &edges);
	post_tallies_collect(session, &edges, &tallies);
	fprintf(file, "{\"format\":\"litifut-calls\",\"version\":1,\"calls\":%" PRIu64 ",\n",
		edges.total);
	post_about_processes(file, session);
	post_about_modules(file, session);
	fputs("\"functions\":[", file);
	for (size_t i = 0; i < tallies.count; i++) {
		const struct post_tally *tally = &tallies.items[i];
		const struct post_function *function = &session->functions[tally->function];
		fprintf(file, "%s\n{\"id\":%u,\"name\":", i ? "," : "", tally->function);
		post_write_json_text(file, function->name);
		fprintf(file,
			",\"module\":%u,\"address\":%u,\"plt\":%s,\"calls\":%" PRIu64
			",\"made\":%" PRIu64 ",\"callers\":%u,\"callees\":%u}",
			function->module, function->address, function->plt ? "true" : "false",
			tally->calls, tally->made, tally->callers, tally->callees);
	}
	fputs("],\n\"edges\":[", file);
	for (size_t i = 0; i < edges.count; i++)
		fprintf(file,
			"%s\n{\"caller\":%u,\"callee\":%u,\"calls\":%" PRIu64 ",\"sites\":%u}",
			i ? "," : "", edges.items[i].caller, edges.items[i].callee,
			edges.items[i].count, edges.items[i].sites);
	fputs("],\n\"sites\":[", file);
	static const char *const through[] = {"none", "entry", "joined", "guessed"};
	bool some = false;
	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];
		if (call->hidden || !call->count)
			continue;
		fprintf(file,
			"%s\n{\"module\":%u,\"address\":%u,\"caller\":%u,\"callee\":%u,\"calls\":"
			"%" PRIu64 ",\"kind\":\"%s\",\"plt\":\"%s\"}",
			some ? "," : "", call->site_module, call->site_address, call->caller,
			call->callee, call->count, call->tail ? "tail" : "call",
			through[call->plt]);
		some = true;
	}
	fputs("]}\n", file);
	post_tallies_release(&tallies);
	post_edges_release(&edges);
}

const struct post_format post_format_json = {
	.name = "json",
	.summary = "all counts as one JSON object",
	.finish = finish,
};
