/* csv: the counted edges with their times as a table for spreadsheets (RFC 4180). */
#include <inttypes.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/measure/measure.h"

static void write_field(FILE *file, const char *text)
{
	putc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', file);
		putc(*text, file);
	}
	putc('"', file);
}

static void finish(struct post_output *output)
{
	static const enum post_metric times[] = {POST_METRIC_TOTAL, POST_METRIC_SELF,
						 POST_METRIC_MIN, POST_METRIC_MAX};
	const struct post_session *session = output->session;
	FILE *file = output->file;

	fputs("caller,caller_module,site,callee,callee_module,kind,calls,timed_calls,total_ns,"
	      "self_ns,min_ns,max_ns\r\n",
	      file);
	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];
		const uint64_t *value = output->measures ? output->measures->calls[i].value : NULL;
		if (call->hidden || !call->count)
			continue;
		write_field(file, session->functions[call->caller].name);
		putc(',', file);
		write_field(file, session->modules[call->site_module].name);
		fprintf(file, ",0x%x,", call->site_address);
		write_field(file, session->functions[call->callee].name);
		putc(',', file);
		write_field(file, session->modules[session->functions[call->callee].module].name);
		fprintf(file, ",%s,%" PRIu64, call->tail ? "tail" : "call", call->count);
		fprintf(file, ",%" PRIu64, value ? value[POST_METRIC_TIMED] : 0);
		for (size_t t = 0; t < sizeof(times) / sizeof(*times); t++) {
			putc(',', file);
			const bool selfless = value && value[POST_METRIC_SELFLESS] &&
					      times[t] == POST_METRIC_SELF;
			if (value && value[POST_METRIC_TIMED] && !selfless) /* else not known */
				fprintf(file, "%" PRIu64,
					post_measures_ns(output->measures, value[times[t]]));
		}
		fputs("\r\n", file);
	}
}

const struct post_format post_format_csv = {
	.name = "csv",
	.summary = "one line a call site and callee, with times, for spreadsheets",
	.measured = true,
	.finish = finish,
};
