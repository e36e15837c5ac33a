/* Reading traces: every kind of word, both byte orders, and every way to be
 * damaged that a device or a disk can cause. Longer than 500 lines, because all are cases of one
 * reader, with traces of one builder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/sources/trace.h"
#include "tests/unit/trace_builder.h"

#define HEADER(field) offsetof(struct litifut_trace_header, field)

static char last_problem[512];

static void remember(void *context, const struct litifut_error *error)
{
	(void)context;
	litifut_error_line(error, last_problem, sizeof(last_problem));
}

static struct post_trace *open_built(const struct trace_builder *builder,
				     struct post_problems *problems)
{
	struct litifut_error error = {0};
	struct post_trace *trace = NULL;

	*problems = (struct post_problems){.report = remember};
	last_problem[0] = '\0';
	enum litifut_status status = post_trace_open_memory(builder->data, builder->size, "t.trace",
							    &trace, problems, &error);
	if (status != LITIFUT_OK) {
		litifut_error_line(&error, last_problem, sizeof(last_problem));
		return NULL;
	}
	return trace;
}

static void reads_every_kind_of_word(bool big_endian)
{
	struct trace_builder builder;
	struct post_problems problems;
	struct post_cursor cursor;
	struct post_item item;

	trace_builder_start(&builder, big_endian, BUILDER_MACHINE_ARM, 4711, "prog");
	trace_builder_module(&builder, &(struct litifut_module_record){
					       .serial = 1,
					       .epoch = 3,
					       .load_bias = 0x40000000,
					       .text_start = 0x40001000,
					       .text_end = 0x40002000,
					       .build_id = {0xab, 0xcd},
					       .build_id_bytes = 2,
					       .name = "libone.so",
				       });
	trace_builder_chunk(&builder, 4711, 0, 0);
	trace_builder_call(&builder, 0x40001235);
	trace_builder_word(&builder, 0); /* a hole */
	trace_builder_indirect(&builder, 0x40001237, 0x40001801);
	trace_builder_tail(&builder, 0x40001239, 0x40001900);
	trace_builder_control(&builder, LITIFUT_WORD_CALL, 2,
			      (const uint32_t[]){0x4000123d, 0x40001a00});
	trace_builder_control(&builder, LITIFUT_WORD_LOST, 1, (const uint32_t[]){7});
	trace_builder_control(&builder, LITIFUT_WORD_THREAD, 1, (const uint32_t[]){4712});
	trace_builder_control(&builder, LITIFUT_WORD_EPOCH, 1, (const uint32_t[]){9});
	trace_builder_control(&builder, LITIFUT_WORD_STOPPED, 0, NULL);
	trace_builder_finish(&builder);

	struct post_trace *trace = open_built(&builder, &problems);
	assert_non_null(trace);
	assert_int_equal(problems.count, 0);
	assert_int_equal(trace->header.pid, 4711);
	assert_string_equal(trace->header.program, "prog");
	assert_int_equal(trace->module_count, 1);
	assert_int_equal(trace->modules[0].record.load_bias, 0x40000000);
	assert_int_equal(trace->modules[0].record.epoch, 3);
	assert_int_equal(trace->modules[0].record.build_id[1], 0xcd);
	assert_string_equal(trace->modules[0].record.name, "libone.so");
	assert_int_equal(trace->chunk_count, 1);

	static const struct post_item expected[] = {
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x40001235},
		{.kind = LITIFUT_WORD_INDIRECT, .return_address = 0x40001237, .callee = 0x40001801},
		{.kind = LITIFUT_WORD_TAIL, .return_address = 0x40001239, .callee = 0x40001900},
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x4000123d, .callee = 0x40001a00},
		{.kind = LITIFUT_WORD_LOST, .value = 7},
		{.kind = LITIFUT_WORD_THREAD, .value = 4712},
		{.kind = LITIFUT_WORD_EPOCH, .value = 9},
		{.kind = LITIFUT_WORD_STOPPED},
	};
	post_cursor_start(&cursor, trace, 0, NULL, &problems);
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		assert_true(post_cursor_next(&cursor, &item));
		assert_int_equal(item.kind, expected[i].kind);
		assert_int_equal(item.return_address, expected[i].return_address);
		assert_int_equal(item.callee, expected[i].callee);
		assert_int_equal(item.value, expected[i].value);
	}
	assert_false(post_cursor_next(&cursor, &item));
	assert_int_equal(cursor.holes, 1);
	post_trace_close(trace);
	trace_builder_release(&builder);
}

static void little_endian_words(void **state)
{
	(void)state;
	reads_every_kind_of_word(false);
}

static void big_endian_words(void **state)
{
	(void)state;
	reads_every_kind_of_word(true);
}

/* What the words of a marked trace are read as, with these flags of trace and chunk. */
static void read_marked(uint32_t flags, uint32_t chunk_flags, const struct post_item *expected,
			size_t count, uint64_t holes)
{
	struct trace_builder builder;
	struct post_problems problems;
	struct post_cursor cursor;
	struct post_item item;

	trace_builder_start(&builder, chunk_flags == 0, BUILDER_MACHINE_MIPS, 1, "p");
	trace_builder_header32(&builder, offsetof(struct litifut_trace_header, flags), flags);
	trace_builder_chunk(&builder, 1, chunk_flags, 0);
	trace_builder_word(&builder, 0x400008);
	trace_builder_word(&builder, 0x400010 | LITIFUT_MARK_INDIRECT);
	trace_builder_word(&builder, 0x400201); /* MIPS16 */
	trace_builder_word(&builder, 0x400018 | LITIFUT_MARK_TAIL);
	trace_builder_word(&builder, 0x400300);
	trace_builder_word(&builder, 0x400020 | LITIFUT_MARK_INDIRECT);
	trace_builder_word(&builder, 0); /* reserved, not written */
	trace_builder_word(&builder, 0x400028);
	trace_builder_finish(&builder);

	struct post_trace *trace = open_built(&builder, &problems);
	assert_non_null(trace);
	post_cursor_start(&cursor, trace, 0, NULL, &problems);
	for (size_t i = 0; i < count; i++) {
		assert_true(post_cursor_next(&cursor, &item));
		assert_int_equal(item.kind, expected[i].kind);
		assert_int_equal(item.return_address, expected[i].return_address);
		assert_int_equal(item.callee, expected[i].callee);
	}
	assert_false(post_cursor_next(&cursor, &item));
	assert_int_equal(cursor.holes, holes);
	assert_int_equal(problems.count, 0);
	post_trace_close(trace);
	trace_builder_release(&builder);
}

static void marked_calls_are_followed_by_their_callee(void **state)
{
	static const struct post_item marked[] = {
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400008},
		{.kind = LITIFUT_WORD_INDIRECT, .return_address = 0x400010, .callee = 0x400201},
		{.kind = LITIFUT_WORD_TAIL, .return_address = 0x400018, .callee = 0x400300},
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400028},
	};
	static const struct post_item plain[] = {
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400008},
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400011},
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400201},
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x40001a},
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400300},
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400021},
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400028},
	};
	/* every second word is a time there */
	static const struct post_item timed[] = {
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400008},
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400201},
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400300},
		{.kind = LITIFUT_WORD_CALL, .return_address = 0x400028},
	};

	(void)state;
	read_marked(LITIFUT_TRACE_MARKED, 0, marked, 4, 1);
	read_marked(0, 0, plain, 7, 1);
	read_marked(LITIFUT_TRACE_MARKED, LITIFUT_CHUNK_TIMED, timed, 4, 1);
}

static void timed_chunks_count_from_their_start(void **state)
{
	struct trace_builder builder;
	struct post_problems problems;
	struct post_cursor cursor;
	struct post_item item;

	(void)state;
	trace_builder_start(&builder, true, BUILDER_MACHINE_MIPS, 1, "p");
	trace_builder_chunk(&builder, 1, LITIFUT_CHUNK_TIMED, 0x100000000u);
	trace_builder_call(&builder, 0x400008);
	trace_builder_word(&builder, 5);
	trace_builder_call(&builder, 0x400010);
	trace_builder_word(&builder, 0); /* no hole; read as the time of the event before */
	trace_builder_control(&builder, LITIFUT_WORD_INDIRECT, 3,
			      (const uint32_t[]){0x400018, 0x400100, 0xfffffff0});
	trace_builder_control(&builder, LITIFUT_WORD_TIME, 2, (const uint32_t[]){0xffffff00, 2});
	trace_builder_call(&builder, 0x400020);
	trace_builder_word(&builder, 1);
	trace_builder_finish(&builder);

	struct post_trace *trace = open_built(&builder, &problems);
	assert_non_null(trace);
	post_cursor_start(&cursor, trace, 0, NULL, &problems);
	static const uint64_t times[] = {0x100000005, 0x100000005, 0x0fffffff0, 0x2ffffff00,
					 0x300000001};
	for (size_t i = 0; i < 5; i++) {
		assert_true(post_cursor_next(&cursor, &item));
		assert_true(item.time == times[i]);
	}
	assert_false(post_cursor_next(&cursor, &item));
	assert_int_equal(cursor.holes, 0);
	post_trace_close(trace);
	trace_builder_release(&builder);
}

/* A killed program leaves chunks that are not closed; a full disk leaves half
 * of the last one. */
static void cut_traces_give_what_is_there(void **state)
{
	struct trace_builder builder;
	struct post_problems problems;
	struct post_cursor cursor;
	struct post_item item;

	(void)state;
	trace_builder_start(&builder, false, BUILDER_MACHINE_ARM, 1, "p");
	trace_builder_chunk(&builder, 1, 0, 0);
	trace_builder_call(&builder, 0x10000);
	trace_builder_call(&builder, 0x10004);
	trace_builder_indirect(&builder, 0x10008, 0x20000);
	trace_builder_leave_open(&builder);
	for (unsigned bytes = 64; bytes <= 288; bytes += 4) {
		struct trace_builder cut = builder;
		cut.size = 4096 + bytes;
		struct post_trace *trace = open_built(&cut, &problems);
		assert_non_null(trace);
		assert_int_equal(problems.count, bytes == 288 ? 0 : 1);
		unsigned events = 0;
		post_cursor_start(&cursor, trace, 0, NULL, &problems);
		while (post_cursor_next(&cursor, &item))
			events++;
		unsigned words = (bytes - 64) / 4;
		assert_int_equal(events, words < 2 ? words : words < 5 ? 2 : 3);
		assert_int_equal(cursor.holes, 0);
		post_trace_close(trace);
	}
	trace_builder_release(&builder);
}

static void bad_headers_are_refused(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
		const char *message;
	} cases[] = {
		{0, 0x12345678, "t.trace: header: 0x0: not a LITIFUT trace"},
		{HEADER(byte_order), 0x01020305,
		 "t.trace: header: 0x8: the mark of the byte order is damaged"},
		{HEADER(version_major), 9,
		 "t.trace: header: 0xc: trace format 9.0; this program "
		 "reads 1.x to 2.x"},
		{HEADER(word_bytes), 8, "t.trace: header: 0x1c: not a trace of a 32-bit program"},
		{HEADER(header_bytes), 12, "t.trace: header: 0x10: impossible size of the header"},
		{HEADER(chunk_bytes), 0, "t.trace: header: 0x14: impossible size of the chunks"},
		{HEADER(chunk_bytes), 0xfffffffc,
		 "t.trace: header: 0x14: impossible size of the chunks"},
	};
	struct post_problems problems;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct trace_builder builder;
		trace_builder_start(&builder, false, BUILDER_MACHINE_ARM, 1, "p");
		trace_builder_header32(&builder, cases[i].offset, cases[i].value);
		assert_null(open_built(&builder, &problems));
		assert_string_equal(last_problem, cases[i].message);
		trace_builder_release(&builder);
	}
	struct trace_builder builder;
	trace_builder_start(&builder, false, BUILDER_MACHINE_ARM, 1, "p");
	builder.size = 100;
	assert_null(open_built(&builder, &problems));
	assert_string_equal(last_problem,
			    "t.trace: header: 0x64: the trace was cut here, inside its header, so "
			    "that nothing of it can be read: copy it again");
	trace_builder_release(&builder);
}

static void damaged_chunks_are_left_out(void **state)
{
	struct trace_builder builder;
	struct post_problems problems;

	(void)state;
	trace_builder_start(&builder, false, BUILDER_MACHINE_ARM, 1, "p");
	for (uint32_t i = 0; i < 3; i++) {
		trace_builder_chunk(&builder, i, 0, 0);
		trace_builder_call(&builder, 0x10000 + i);
	}
	trace_builder_finish(&builder);
	builder.data[4096 + 288] ^= 1;
	struct post_trace *trace = open_built(&builder, &problems);
	assert_non_null(trace);
	assert_int_equal(trace->chunk_count, 2);
	assert_int_equal(problems.count, 1);
	assert_string_equal(last_problem, "t.trace: 0x1120: the start of a chunk is damaged; the "
					  "chunk is left out");
	post_trace_close(trace);
	trace_builder_release(&builder);
}

static void damaged_records_end_their_chunk(void **state)
{
	struct trace_builder builder;
	struct post_problems problems;
	struct post_cursor cursor;
	struct post_item item;

	(void)state;
	trace_builder_start(&builder, false, BUILDER_MACHINE_ARM, 1, "p");
	trace_builder_chunk(&builder, 1, 0, 0);
	trace_builder_call(&builder, 0x10000);
	trace_builder_word(&builder, LITIFUT_CONTROL_WORD(LITIFUT_WORD_INDIRECT, 1));
	trace_builder_call(&builder, 0x10004);
	trace_builder_finish(&builder);
	struct post_trace *trace = open_built(&builder, &problems);
	assert_non_null(trace);
	post_cursor_start(&cursor, trace, 0, NULL, &problems);
	assert_true(post_cursor_next(&cursor, &item));
	assert_false(post_cursor_next(&cursor, &item));
	assert_string_equal(last_problem, "t.trace: 0x1044: damaged record; the rest of the chunk "
					  "is left out");
	post_trace_close(trace);
	trace_builder_release(&builder);
}

/* Every bit of a closed chunk, its header included, is either without meaning or reported;
 * so is every bit of a compact block. */
static void flipped_bits_are_told(bool big_endian, bool packed)
{
	struct trace_builder builder;
	struct post_problems problems;
	unsigned untold = 0, told = 0;

	trace_builder_start(&builder, big_endian, BUILDER_MACHINE_ARM, 1, "p");
	trace_builder_chunk(&builder, 1, 0, 0);
	for (uint32_t i = 0; i < 24; i++)
		trace_builder_call(&builder, 0x10000 + 8 * (i % 5));
	trace_builder_finish(&builder);
	if (packed)
		trace_builder_pack(&builder, false);
	size_t first = packed ? 4096 + 288 + 64 : 4096;
	size_t end = packed ? builder.size : 4096 + 64 + 24 * 4;
	uint32_t block[8];
	memcpy(block, builder.data + first, sizeof(block));
	if (packed)
		end = first + 32 + (big_endian ? __builtin_bswap32(block[0]) : block[0]);
	for (size_t at = first; at < end; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			builder.data[at] ^= (uint8_t)(1 << bit);
			struct post_trace *trace = open_built(&builder, &problems);
			assert_non_null(trace);
			if (problems.count)
				told++;
			else
				untold++;
			post_trace_close(trace);
			builder.data[at] ^= (uint8_t)(1 << bit);
		}
	}
	assert_true(told > 400);
	/* Of a chunk: bits that make it a free one, one that is still open, or one without
	 * sums; the words behind the sums, which tell of losses. Of a block: those that make
	 * `bytes` 0. */
	assert_in_range(untold, 0, packed ? 1 : 3 + 24 * 8);
	trace_builder_release(&builder);
}

static void flipped_bits_of_chunks_are_told(void **state)
{
	(void)state;
	flipped_bits_are_told(false, false);
	flipped_bits_are_told(true, false);
}

static void flipped_bits_of_blocks_are_told(void **state)
{
	(void)state;
	flipped_bits_are_told(false, true);
	flipped_bits_are_told(true, true);
}

/* Chunks inside the header's bytes, as the header says where. */
static void first_chunks_are_read(void **state)
{
	struct trace_builder builder;
	struct post_problems problems;

	(void)state;
	trace_builder_start(&builder, false, BUILDER_MACHINE_ARM, 1, "p");
	trace_builder_chunk(&builder, 1, 0, 0);
	trace_builder_call(&builder, 0x10000);
	trace_builder_finish(&builder);
	memcpy(builder.data + 1024, builder.data + 4096, 288);
	memset(builder.data + 4096, 0, 288);
	builder.size = 4096;
	trace_builder_header32(&builder, HEADER(first), 1024);
	trace_builder_header32(&builder, HEADER(first) + 4, 288);
	struct post_trace *trace = open_built(&builder, &problems);
	assert_non_null(trace);
	assert_int_equal(problems.count, 0);
	assert_int_equal(trace->chunk_count, 1);
	assert_int_equal(trace->chunks[0].offset, 1024 + 64);
	post_trace_close(trace);

	static const uint32_t bad[][2] = {{4, 288},    {1026, 288},  {1024, 4}, {4092, 288},
					  {8192, 288}, {1024, 4096}, {4096, 64}};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		trace_builder_header32(&builder, HEADER(first), bad[i][0]);
		trace_builder_header32(&builder, HEADER(first) + 4, bad[i][1]);
		trace = open_built(&builder, &problems);
		assert_non_null(trace);
		assert_int_equal(problems.count, 1);
		assert_string_equal(last_problem, "t.trace: 0xc0: impossible place of a first "
						  "chunk, left out");
		assert_int_equal(trace->chunk_count, 0);
		post_trace_close(trace);
	}
	trace_builder_release(&builder);
}

/* After 65,536 libraries that were unloaded, a chunk has only the rest of their number. */
static void epochs_are_whole(void **state)
{
	static const uint32_t epochs[] = {0,      3,      0x7000,  0x7001,  0x6fff,
					  0xc000, 0xfff0, 0x10002, 0x17000, 0x1e000};
	enum { COUNT = sizeof(epochs) / sizeof(*epochs) };
	struct trace_builder builder;
	struct post_problems problems;
	struct post_cursor cursor;
	struct post_item item;

	(void)state;
	trace_builder_start(&builder, false, BUILDER_MACHINE_ARM, 1, "p");
	trace_builder_module(&builder,
			     &(struct litifut_module_record){.serial = 7, .name = "gone"});
	trace_builder_unload(&builder, 7, 0x20001);
	for (size_t i = 0; i < COUNT; i++) {
		trace_builder_chunk(&builder, 1, epochs[i] << LITIFUT_CHUNK_EPOCH_SHIFT, 0);
		trace_builder_call(&builder, 0x10000);
	}
	trace_builder_finish(&builder);
	struct post_trace *trace = open_built(&builder, &problems);
	assert_non_null(trace);
	assert_int_equal(problems.count, 0);
	assert_int_equal(trace->chunk_count, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(trace->chunks[i].epoch, epochs[i]);
		post_cursor_start(&cursor, trace, i, NULL, &problems);
		assert_true(post_cursor_next(&cursor, &item));
		if (!epochs[i])
			continue;
		assert_int_equal(item.kind, LITIFUT_WORD_EPOCH);
		assert_int_equal(item.value, epochs[i]);
	}
	post_trace_close(trace);
	trace_builder_release(&builder);
}

/* A trace without its last byte, of two chunks of events with a table between them, which has a
 * number as well. */
static void numbers_say_what_is_missing(void **state)
{
	(void)state;
	for (int big_endian = 0; big_endian < 2; big_endian++) {
		for (uint32_t lacks_table = 0; lacks_table < 2; lacks_table++) {
			struct trace_builder builder;
			struct post_problems problems;
			size_t table;

			trace_builder_start(&builder, big_endian, BUILDER_MACHINE_MIPS, 4711, "p");
			trace_builder_chunk(&builder, 4711, 0, 0);
			trace_builder_call(&builder, 0x40001235);
			table = builder.size;
			trace_builder_table(&builder, 4711);
			trace_builder_chunk(&builder, 4711, 0, 0);
			trace_builder_call(&builder, 0x40001239);
			trace_builder_finish(&builder);
			builder.size--;
			if (lacks_table)
				memset(builder.data + table, 0,
				       sizeof(struct litifut_chunk_header));

			struct post_trace *trace = open_built(&builder, &problems);
			assert_non_null(trace);
			assert_int_equal(trace->chunk_count, 2);
			assert_int_equal(trace->chunks[0].gaps, 0);
			assert_int_equal(trace->chunks[1].gaps, lacks_table);
			post_trace_close(trace);
			trace_builder_release(&builder);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_endian_words),
		cmocka_unit_test(big_endian_words),
		cmocka_unit_test(marked_calls_are_followed_by_their_callee),
		cmocka_unit_test(timed_chunks_count_from_their_start),
		cmocka_unit_test(cut_traces_give_what_is_there),
		cmocka_unit_test(bad_headers_are_refused),
		cmocka_unit_test(damaged_chunks_are_left_out),
		cmocka_unit_test(damaged_records_end_their_chunk),
		cmocka_unit_test(flipped_bits_of_chunks_are_told),
		cmocka_unit_test(flipped_bits_of_blocks_are_told),
		cmocka_unit_test(first_chunks_are_read),
		cmocka_unit_test(epochs_are_whole),
		cmocka_unit_test(numbers_say_what_is_missing),
	};
	return cmocka_run_group_tests_name("post: trace", tests, NULL, NULL);
}
