/* Any bytes as a trace, through everything that reads events. */
#include <stdio.h>
#include <stdlib.h>

#include "postproc/formats/format.h"
#include "postproc/formats/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_format(const uint8_t *data, size_t size, const char *name, FILE *nowhere)
{
	struct post_problems problems = {0};
	struct post_session session = {.problems = &problems};
	struct post_trace *trace;
	struct post_totals totals;
	struct post_timeline_options options = {.window = {.last_event = UINT64_MAX}};

	if (post_trace_open_memory(data, size, "fuzz", &trace, &problems, NULL) != LITIFUT_OK)
		return;
	post_session_take(&session, trace);
	post_session_open(&session);
	struct post_output output = {.file = nowhere,
				     .session = &session,
				     .options = {.min_share = -1, .function = "*"}};
	post_run(&session, post_format_find(name), &output, &options, &totals);
	post_session_close(&session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere || size > 1 << 20)
		return 0;
	run_format(data, size, "report", nowhere);
	run_format(data, size, "callgrind", nowhere);
	run_format(data, size, "chrome", nowhere);
	run_format(data, size, "tsv", nowhere);
	return 0;
}
