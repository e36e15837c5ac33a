/* json: everything that was counted, as one object. docs/output-formats.md
 * lists the members; new ones may come, none changes its meaning. */
#include <inttypes.h>

#include "postproc/measure/edges.h"
#include "postproc/formats/format.h"
#include "postproc/formats/text.h"

static void write_processes(struct post_output *output)
{
	const struct post_session *session = output->session;
	FILE *file = output->file;

	fputs("\"processes\":[", file);
	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		const struct litifut_trace_header *header = &process->trace->header;
		fprintf(file, "%s\n{\"pid\":%u,\"parent_pid\":%u,\"program\":", i ? "," : "",
			header->pid, header->parent_pid);
		post_write_json_text(file, header->program);
		fprintf(file, ",\"events\":%" PRIu64 ",\"stopped\":%s,\"threads\":[",
			process->events, header->state == LITIFUT_TRACE_STOPPED ? "true" : "false");
		for (size_t t = 0; t < process->thread_count; t++)
			fprintf(file, "%s{\"tid\":%u,\"events\":%" PRIu64 ",\"lost\":%" PRIu64 "}",
				t ? "," : "", process->threads[t]->id,
				process->threads[t]->sequence, process->threads[t]->lost);
		fputs("]}", file);
	}
	fputs("],\n", file);
}

static void write_modules(struct post_output *output)
{
	const struct post_session *session = output->session;
	FILE *file = output->file;

	fputs("\"modules\":[", file);
	for (size_t i = 0; i < session->module_count; i++) {
		const struct post_module *module = &session->modules[i];
		fprintf(file, "%s\n{\"name\":", i ? "," : "");
		post_write_json_text(file, module->name);
		fputs(",\"build_id\":\"", file);
		for (unsigned b = 0; b < module->build_id_bytes; b++)
			fprintf(file, "%02x", module->build_id[b]);
		fprintf(file, "\",\"traced\":%s,\"file\":", module->traced ? "true" : "false");
		if (module->image)
			post_write_json_text(file, module->image->path);
		else
			fputs("null", file);
		putc('}', file);
	}
	fputs("],\n", file);
}

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
	write_processes(output);
	write_modules(output);
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
