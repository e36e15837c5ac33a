/* Processes and modules of a session as JSON. */
#include "postproc/formats/about.h"

#include <inttypes.h>

#include "common/hex.h"
#include "common/site_text.h"
#include "postproc/formats/text.h"
#include "postproc/timeline/timeline.h"

static const char *clock_name(const struct post_process *process)
{
	switch (process->trace->header.clock) {
	case LITIFUT_CLOCK_MONOTONIC:
		return "monotonic";
	case LITIFUT_CLOCK_CYCLE:
		return "cycle";
	case LITIFUT_CLOCK_PAGE:
		return "page";
	default:
		return "none";
	}
}

static void write_thread(FILE *file, const char *separator, const struct post_thread *thread)
{
	fprintf(file, "%s{\"tid\":%u", separator, thread->id);
	if (thread->task) {
		fputs(",\"name\":", file);
		post_write_json_text(file, thread->task->name);
		fprintf(file, ",\"ticks\":%" PRIu64, thread->task->ticks);
	}
	fprintf(file, ",\"events\":%" PRIu64 ",\"lost\":%" PRIu64 "}", thread->sequence,
		thread->lost);
}

void post_about_processes(FILE *file, const struct post_session *session)
{
	fputs("\"processes\":[", file);
	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		const struct litifut_trace_header *header = &process->trace->header;
		fprintf(file, "%s\n{\"pid\":%u,\"parent_pid\":%u,\"program\":", i ? "," : "",
			header->pid, header->parent_pid);
		post_write_json_text(file, header->program);
		fprintf(file,
			",\"events\":%" PRIu64 ",\"lost\":%" PRIu64
			",\"clock\":\"%s\",\"mode\":\"%s\",\"stopped\":%s,\"threads\":[",
			process->events, post_timeline_lost(process), clock_name(process),
			litifut_mode_name(header->mode),
			header->state == LITIFUT_TRACE_STOPPED ? "true" : "false");
		for (size_t t = 0; t < process->thread_count; t++)
			write_thread(file, t ? "," : "", process->threads[t]);
		fputs("]}", file);
	}
	fputs("],\n", file);
}

void post_about_modules(FILE *file, const struct post_session *session)
{
	fputs("\"modules\":[", file);
	for (size_t i = 0; i < session->module_count; i++) {
		const struct post_module *module = &session->modules[i];
		fprintf(file, "%s\n{\"name\":", i ? "," : "");
		post_write_json_text(file, module->name);
		char hex[POST_BUILD_ID_BYTES * 2 + 1];
		fprintf(file, ",\"build_id\":\"%s\",\"traced\":%s,\"engine\":",
			litifut_hex(module->build_id, module->build_id_bytes, hex),
			module->traced ? "true" : "false");
		if (module->traced && module->image && module->image->rewritten)
			post_write_json_text(file, litifut_engine_name(module->image->engine));
		else
			fputs("null", file);
		fputs(",\"file\":", file);
		if (module->image)
			post_write_json_text(file, module->image->path);
		else
			fputs("null", file);
		putc('}', file);
	}
	fputs("],\n", file);
}
