/* Any bytes as a trace, through everything that reads events, and as buffers of branches in their
 * compact form. */
#include <stdio.h>
#include <stdlib.h>

#include "postproc/formats/format.h"
#include "postproc/formats/run.h"
#include "postproc/sources/path_words.h"

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

/* Each frame has a byte in front that says how long it is, and what is before it. */
static void unpack(const uint8_t *data, size_t size)
{
	struct post_path_words words = {.begun = true};
	struct post_trace *trace = calloc(1, sizeof(*trace));

	for (size_t at = 0, next; trace && at < size; at = next) {
		next = at + 1 + (data[at] & 31);
		if (next > size)
			next = size;
		post_path_words_pack(&words, data[at] & 32, !(data[at] & 64), data + at + 1,
				     next - at - 1);
	}
	post_path_words_unpack(&words);
	if (trace)
		post_path_words_make(&words, trace);
	post_path_words_release(&words);
	post_trace_close(trace);
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
	unpack(data, size);
	return 0;
}
