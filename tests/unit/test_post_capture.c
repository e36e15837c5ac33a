/* The table of a firmware, sent three times, cut and damaged at each place: what is read without a
 * word is of one sending. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/sources/capture.h"
#include "tests/unit/frame_sender.h"

#define WORDS 40
#define OVERFLOW 8
#define OPEN 4
#define TASKS 3
#define WITH_TASKS 0x80000000u /* beside flags of frames, of which it is none */
#define SENDINGS 3

static size_t ends[SENDINGS]; /* on the line */

/* Numbers of one sending differ from those of all others. */
static uint32_t value(uint32_t sending, uint32_t number)
{
	return 1000 * (sending + 1) + number;
}

static void header(struct frame_sender *sender, uint32_t sending, uint32_t flags)
{
	sender->line[sender->used++] = 0;
	frame_sender_begin(sender, LITIFUT_FRAME_HEADER);
	frame_sender_number(sender, LITIFUT_FRAMES_VERSION);
	frame_sender_number(sender, flags);
	for (uint8_t i = 0; i < 8; i++)
		sender->frame[sender->frame_used++] = i;
	frame_sender_number(sender, WORDS);
	frame_sender_number(sender, OVERFLOW);
	frame_sender_number(sender, 0);
	frame_sender_number(sender, sending);
	frame_sender_end(sender);
}

/* Numbers of a task, as they are sent. */
static struct litifut_task task_of(uint32_t sending, uint32_t number)
{
	struct litifut_task task = {
		.task = number == TASKS - 1 ? LITIFUT_TASK_OTHERS : 0x20000000 + 64 * number,
		.calls = value(sending, 700 + number),
		.ticks_low = value(sending, 710 + number),
		.ticks_high = number,
	};

	snprintf(task.name, sizeof(task.name), "task %u", number);
	return task;
}

static void tasks(struct frame_sender *sender, uint32_t sending)
{
	for (uint32_t i = 0; i < TASKS; i++) {
		const struct litifut_task task = task_of(sending, i);

		frame_sender_begin(sender, LITIFUT_FRAME_TASK);
		frame_sender_number(sender, 2 * i + 1);
		for (const char *at = task.name; *at; at++)
			frame_sender_number(sender, (uint8_t)*at);
		frame_sender_end(sender);
		frame_sender_begin(sender, LITIFUT_FRAME_TASK);
		frame_sender_number(sender, 2 * i);
		frame_sender_number(sender, task.task);
		frame_sender_number(sender, task.calls);
		frame_sender_number(sender, task.ticks_low);
		frame_sender_number(sender, task.ticks_high);
		frame_sender_end(sender);
	}
}

static void times(struct frame_sender *sender, uint32_t sending, bool with_tasks)
{
	const uint32_t numbers[] = {8000000, 1, 2, 3, value(sending, 900), OPEN};

	frame_sender_begin(sender, LITIFUT_FRAME_TIMES);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		frame_sender_number(sender, numbers[i]);
	if (with_tasks)
		frame_sender_number(sender, TASKS);
	frame_sender_end(sender);
	frame_sender_begin(sender, LITIFUT_FRAME_OPEN);
	frame_sender_number(sender, 0);
	for (uint32_t i = 0; i < OPEN; i++) {
		frame_sender_number(sender, i + 1);
		frame_sender_number(sender, value(sending, 800 + i));
	}
	frame_sender_end(sender);
	if (with_tasks)
		tasks(sender, sending);
}

/* `halves': by turns the one half of the frames is missing, and the other. */
static struct frame_sender *send_table(uint32_t flags, bool halves)
{
	struct frame_sender *sender = calloc(1, sizeof(*sender));

	assert_non_null(sender);
	for (uint32_t sending = 0; sending < SENDINGS; sending++) {
		header(sender, sending, flags & ~WITH_TASKS);
		if (flags & LITIFUT_FRAMES_TIMES)
			times(sender, sending, flags & WITH_TASKS);
		for (uint32_t i = 0; i < WORDS + OVERFLOW; i += 8) {
			if (halves && (i / 8 + sending) % 2) {
				sender->sequence++;
				continue;
			}
			frame_sender_begin(sender, LITIFUT_FRAME_COUNTS);
			frame_sender_number(sender, i);
			for (uint32_t k = 0; k < 8; k++)
				frame_sender_number(sender, value(sending, i + k));
			frame_sender_end(sender);
		}
		ends[sending] = sender->used;
		frame_sender_begin(sender, LITIFUT_FRAME_END);
		frame_sender_number(sender, sending);
		frame_sender_number(sender, (WORDS + OVERFLOW) / 8 +
						    (flags & LITIFUT_FRAMES_TIMES ? 2 : 0) +
						    (flags & WITH_TASKS ? 2 * TASKS : 0));
		frame_sender_end(sender);
	}
	return sender;
}

struct said {
	unsigned lines;
	char line[512];
};

static void hear(void *context, const struct litifut_error *error)
{
	struct said *said = context;

	said->lines++;
	litifut_error_line(error, said->line, sizeof(said->line));
}

/* Which sending all numbers are of; -1: of several, or some are missing. */
static int sending_of(const struct post_capture *capture)
{
	const uint32_t first = capture->words[0] / 1000;

	for (uint32_t i = 0; i < WORDS + OVERFLOW; i++)
		if ((i < WORDS ? capture->words[i] : capture->overflow[i - WORDS]) !=
		    value(first - 1, i))
			return -1;
	if (!(capture->flags & LITIFUT_FRAMES_TIMES))
		return (int)first - 1;
	if (capture->untimed != value(first - 1, 900) || capture->open_count != 2 * OPEN)
		return -1;
	for (uint32_t i = 0; i < OPEN; i++)
		if (capture->open[2 * i + 1] != value(first - 1, 800 + i))
			return -1;
	for (uint32_t i = 0; i < capture->task_count; i++) {
		const struct litifut_task task = task_of(first - 1, i);

		if (memcmp(&task, &capture->tasks[i], sizeof(task)) != 0)
			return -1;
	}
	return (int)first - 1;
}

/* Gives what sending_of() says; -2: there is nothing to show. */
static int read_line(const uint8_t *line, size_t size, struct said *said, unsigned *problems)
{
	struct post_problems heard = {.report = hear, .context = said};
	struct post_capture capture;
	struct litifut_error error;
	int sending = -2;

	memset(said, 0, sizeof(*said));
	if (!post_capture_read("line", line, size, NULL, &capture, &heard, &error)) {
		sending = sending_of(&capture);
		post_capture_release(&capture);
	}
	*problems = heard.count;
	return sending;
}

static const uint32_t kinds[] = {0, LITIFUT_FRAMES_TIMES, LITIFUT_FRAMES_TIMES | WITH_TASKS};

static void cut_anywhere(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		struct frame_sender *sender = send_table(kinds[kind], false);

		for (size_t size = ends[0]; size <= sender->used; size++) {
			const int last = size >= ends[2] ? 2 : size >= ends[1] ? 1 : 0;
			struct said said;
			unsigned problems;

			assert_int_equal(read_line(sender->line, size, &said, &problems), last);
			assert_int_equal(problems, 0);
			/* the next one has begun */
			if (last < 2 && size > ends[last] + 50) {
				assert_int_equal(said.lines, 1);
				assert_non_null(strstr(said.line, "the last sending is cut"));
			}
		}
		free(sender);
	}
}

/* A sending that is whole is shown, whatever is with the others. */
static void a_byte_is_missing_or_another(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		struct frame_sender *sender = send_table(kinds[kind], false);
		uint8_t *line = malloc(sender->used);

		assert_non_null(line);
		for (size_t at = 0; at < sender->used; at++)
			for (unsigned way = 0; way < 2; way++) {
				size_t size = sender->used;
				struct said said;
				unsigned problems;
				int sending;

				memcpy(line, sender->line, size);
				if (way)
					line[at] ^= 0x41;
				else
					memmove(line + at, line + at + 1, --size - at);
				sending = read_line(line, size, &said, &problems);
				assert_true(sending >= 1);
				if (at < ends[1] || at > ends[2])
					assert_int_equal(sending, 2);
			}
		free(line);
		free(sender);
	}
}

/* A program that prints while numbers are sent, at the ticks of a timer. */
static void text_among_frames(void **state)
{
	static const char text[] = "temperature 21\r\n";
	struct frame_sender *sender = send_table(0, false);
	uint8_t *line = malloc(2 * sender->used);
	struct said said;
	unsigned problems;
	size_t size = 0;

	(void)state;
	assert_non_null(line);
	for (size_t at = 0; at < sender->used; at++) {
		if (at < ends[1] && at % 97 == 50) {
			memcpy(line + size, text, sizeof(text) - 1);
			size += sizeof(text) - 1;
		}
		line[size++] = sender->line[at];
	}
	assert_int_equal(read_line(line, size, &said, &problems), 2);
	assert_int_equal(problems, 1);
	assert_int_equal(said.lines, 2);
	assert_non_null(strstr(said.line, "text stands among the frames"));
	/* as much text behind whole sendings damages nothing */
	memcpy(line, sender->line, sender->used);
	for (size = sender->used; size + sizeof(text) < 2 * sender->used; size += sizeof(text) - 1)
		memcpy(line + size, text, sizeof(text) - 1);
	read_line(line, size, &said, &problems);
	assert_int_equal(said.lines, 0);
	free(line);
	free(sender);
}

/* Pieces of any length are missing: numbers of several sendings are never shown without a word. */
static void pieces_are_missing(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		struct frame_sender *sender = send_table(kinds[kind], false);
		uint8_t *line = malloc(sender->used);
		unsigned mixed = 0;

		assert_non_null(line);
		for (size_t from = 0; from < sender->used; from += 3)
			for (size_t to = from + 1; to < sender->used; to += 5) {
				struct said said;
				unsigned problems;

				memcpy(line, sender->line, from);
				memcpy(line + from, sender->line + to, sender->used - to);
				if (read_line(line, from + sender->used - to, &said, &problems) !=
				    -1)
					continue;
				assert_true(problems > 0);
				mixed++;
			}
		assert_true(mixed > 0);
		free(line);
		free(sender);
	}
}

/* What comes of each sending is another part of it: together they are all, and that is said. */
static void put_together(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		struct frame_sender *sender = send_table(kinds[kind], true);
		struct said said;
		unsigned problems;

		assert_int_equal(read_line(sender->line, sender->used, &said, &problems), -1);
		assert_int_equal(problems, 1);
		assert_non_null(strstr(said.line, "put together from 3 of them"));
		/* nothing of it is good enough for this */
		assert_int_equal(read_line(sender->line, ends[0], &said, &problems), -1);
		assert_int_equal(problems, 1);
		assert_non_null(strstr(said.line, "numbers are missing"));
		assert_null(strstr(said.line, "of different moments"));
		assert_int_equal(strstr(said.line, "and so are self times that depend on them") !=
					 NULL,
				 kinds[kind] != 0);
		free(sender);
	}
}

/* Reads the last table with the frames of tasks that this one sends, and no others. */
static void read_tasks(void (*send)(struct frame_sender *sender), struct post_capture *capture,
		       struct said *said, unsigned *problems)
{
	struct post_problems heard = {.report = hear, .context = said};
	struct frame_sender *sender = send_table(LITIFUT_FRAMES_TIMES | WITH_TASKS, false);
	const size_t end = ends[SENDINGS - 1];
	struct litifut_error error;

	memset(said, 0, sizeof(*said));
	sender->used = end;
	sender->sequence -= 1;
	if (send)
		send(sender);
	assert_int_equal(post_capture_read("line", sender->line, sender->used, NULL, capture,
					   &heard, &error),
			 0);
	*problems = heard.count;
	free(sender);
}

/* A later frame of the same task takes the place of its numbers, and leaves its name. */
static void send_again(struct frame_sender *sender)
{
	frame_sender_begin(sender, LITIFUT_FRAME_TASK);
	frame_sender_number(sender, 2);
	frame_sender_number(sender, 5);
	frame_sender_number(sender, 6);
	frame_sender_number(sender, 0xffffffff);
	frame_sender_number(sender, 7);
	frame_sender_end(sender);
}

/* A number that no task has, too many numbers, and too few: right checksums, wrong contents. */
static void send_wrong(struct frame_sender *sender)
{
	frame_sender_begin(sender, LITIFUT_FRAME_TASK);
	frame_sender_number(sender, 2 * LITIFUT_TASKS_MOST);
	for (unsigned i = 0; i < 4; i++)
		frame_sender_number(sender, 1);
	frame_sender_end(sender);
	for (unsigned count = 3; count <= 5; count += 2) {
		frame_sender_begin(sender, LITIFUT_FRAME_TASK);
		frame_sender_number(sender, 0);
		for (unsigned i = 0; i < count; i++)
			frame_sender_number(sender, 1);
		frame_sender_end(sender);
	}
}

/* A name that is longer than a name is. */
static void send_long(struct frame_sender *sender)
{
	frame_sender_begin(sender, LITIFUT_FRAME_TASK);
	frame_sender_number(sender, 1);
	for (unsigned i = 0; i < LITIFUT_TASK_NAME_BYTES + 4; i++)
		frame_sender_number(sender, 'a' + i % 26);
	frame_sender_end(sender);
}

static void frames_of_tasks(void **state)
{
	struct post_capture capture;
	struct litifut_task task;
	struct said said;
	unsigned problems;

	(void)state;
	read_tasks(NULL, &capture, &said, &problems);
	assert_int_equal(capture.task_count, TASKS);
	for (uint32_t i = 0; i < TASKS; i++) {
		task = task_of(SENDINGS - 1, i);
		assert_memory_equal(&task, &capture.tasks[i], sizeof(task));
	}
	post_capture_release(&capture);
	read_tasks(send_again, &capture, &said, &problems);
	assert_int_equal(capture.tasks[1].task, 5);
	assert_int_equal(capture.tasks[1].calls, 6);
	assert_int_equal(capture.tasks[1].ticks_low, 0xffffffff);
	assert_int_equal(capture.tasks[1].ticks_high, 7);
	assert_string_equal(capture.tasks[1].name, "task 1");
	post_capture_release(&capture);
	read_tasks(send_wrong, &capture, &said, &problems);
	assert_int_equal(problems, 1);
	assert_non_null(strstr(said.line, "a right checksum and wrong contents"));
	task = task_of(SENDINGS - 1, 0);
	assert_memory_equal(&task, &capture.tasks[0], sizeof(task));
	post_capture_release(&capture);
	read_tasks(send_long, &capture, &said, &problems);
	assert_string_equal(capture.tasks[0].name, "abcdefghijklmno");
	assert_int_equal(problems, 0);
	post_capture_release(&capture);
}

/* A table is sent once, and its first frame has not come: with what the ELF file says that this
 * has, the numbers that have come are right, wherever the line begins, and all of them are there if
 * nothing else is missing. */
static void begins_late(void **state)
{
	static const uint8_t first[LITIFUT_HEADER_BYTES] = {LITIFUT_FRAMES_VERSION,
							    0,
							    0,
							    1,
							    2,
							    3,
							    4,
							    5,
							    6,
							    7,
							    WORDS,
							    OVERFLOW,
							    0x80,
							    0x80,
							    0x80};
	struct frame_sender *sender = send_table(0, false);
	const size_t header_end = strlen((const char *)sender->line + 1) + 2;

	(void)state;
	for (size_t at = header_end; at < ends[0]; at++) {
		const uint8_t *line = sender->line + at;
		const size_t size = ends[0] - at;
		struct said said = {0};
		struct post_problems heard = {.report = hear, .context = &said};
		struct post_capture capture;
		struct litifut_error error;

		assert_false(post_capture_is(line, size));
		assert_true(post_capture_is_rest(line, size) || size < LITIFUT_FRAME_BYTES);
		assert_int_equal(
			post_capture_read("line", line, size, NULL, &capture, &heard, &error),
			LITIFUT_ERROR_FORMAT);
		assert_int_equal(
			post_capture_read("line", line, size, first, &capture, &heard, &error), 0);
		assert_int_equal(capture.word_count, WORDS);
		assert_int_equal(capture.overflow_count, OVERFLOW);
		for (size_t i = 0; i < WORDS; i++)
			assert_true(!capture.words[i] || capture.words[i] == value(0, (uint32_t)i));
		assert_int_equal(heard.count, at > header_end);
		if (at == header_end)
			assert_int_equal(sending_of(&capture), 0);
		post_capture_release(&capture);
	}
	free(sender);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_anywhere),      cmocka_unit_test(a_byte_is_missing_or_another),
		cmocka_unit_test(text_among_frames), cmocka_unit_test(pieces_are_missing),
		cmocka_unit_test(put_together),      cmocka_unit_test(frames_of_tasks),
		cmocka_unit_test(begins_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
