/* What the post-processor holds in memory follows from the functions and calls
 * that are distinct, not from how many events there are: eight times as many
 * of the same ones need no more, but for the list of the trace's chunks. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/formats/run.h"
#include "tests/unit/trace_builder.h"

#define CHUNK_BYTES 65536u
#define ROUNDS 120u
#define MORE 8u

static const struct post_format *measured;
static size_t held;

static size_t allocated(void)
{
	struct mallinfo2 now = mallinfo2();

	return now.uordblks + now.hblkhd;
}

/* At the end of all events, before the format gives anything back. */
static void measure(struct post_output *output)
{
	held = allocated();
	if (measured->finish)
		measured->finish(output);
}

/* One round: recursion, callbacks, tail calls, an unknown function now and then,
 * by two threads. 300 calls. */
static void write_round(struct trace_builder *builder, uint32_t round)
{
	for (uint32_t i = 0; i < 100; i++) {
		trace_builder_call(builder, 0x10010 + i % 7 * 16);
		trace_builder_indirect(builder, 0x10100 + i % 11 * 16, 0x20000 + i % 13 * 64);
		trace_builder_tail(builder, 0x20020 + (i + round) % 17 * 4, 0x10000);
	}
}

static size_t held_after(unsigned rounds, bool timed, const struct post_format *format,
			 size_t *chunks)
{
	struct trace_builder builder;
	struct post_problems problems = {0};
	struct post_session session = {.problems = &problems};
	struct post_trace *trace;
	struct post_totals totals;
	struct post_timeline_options options = {
		.window = {.last_event = UINT64_MAX, .last_time = UINT64_MAX}};
	FILE *nowhere = fopen("/dev/null", "w");

	assert_non_null(nowhere);
	trace_builder_start(&builder, false, BUILDER_MACHINE_ARM, 1, "p");
	trace_builder_header32(&builder, offsetof(struct litifut_trace_header, chunk_bytes),
			       CHUNK_BYTES);
	builder.chunk_bytes = CHUNK_BYTES;
	if (timed)
		trace_builder_header32(&builder, offsetof(struct litifut_trace_header, clock),
				       LITIFUT_CLOCK_MONOTONIC);
	for (unsigned round = 0; round < rounds; round++) {
		if (round % 40 == 0)
			trace_builder_chunk(&builder, 1 + round / 40 % 2, 0, 0);
		write_round(&builder, round);
	}
	trace_builder_finish(&builder);
	size_t before = allocated();
	assert_int_equal(post_trace_open_memory(builder.data, builder.size, "p.trace", &trace,
						&problems, NULL),
			 LITIFUT_OK);
	*chunks = trace->chunk_capacity;
	post_session_take(&session, trace);
	post_session_open(&session);
	char folder[] = "/tmp/litifut-memory-XXXXXX";
	assert_non_null(mkdtemp(folder));
	struct post_output output = {.file = nowhere,
				     .folder = folder,
				     .session = &session,
				     .options = {.min_share = -1, .function = "*"}};
	struct post_format probe = *format;
	probe.finish = measure;
	measured = format;
	post_run(&session, &probe, &output, &options, &totals);
	assert_int_equal(totals.events, (uint64_t)rounds * 300);
	post_session_close(&session);
	trace_builder_release(&builder);
	fclose(nowhere);
	char command[64];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	return held - before;
}

static void memory_does_not_follow_events(void **state)
{
	(void)state;
	mallopt(M_MMAP_THRESHOLD, 1 << 16); /* large blocks count by their size alone */
	for (size_t i = 0; post_formats[i]; i++) {
		if (post_formats[i]->interactive)
			continue;
		for (unsigned timed = 0; timed < 2; timed++) {
			size_t few_chunks, many_chunks;
			size_t few = held_after(ROUNDS, timed, post_formats[i], &few_chunks);
			size_t many =
				held_after(ROUNDS * MORE, timed, post_formats[i], &many_chunks);
			size_t list = (many_chunks - few_chunks) * sizeof(struct post_chunk);
			if (many > few + list + 8192)
				fail_msg("%s: %zu bytes for %u events, %zu for %u",
					 post_formats[i]->name, few, ROUNDS * 300, many,
					 ROUNDS * MORE * 300);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(memory_does_not_follow_events)};

	return cmocka_run_group_tests_name("post: memory", tests, NULL, NULL);
}
