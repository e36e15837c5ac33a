/* The events of a firmware: frames that are whole, doubled, cut, damaged and missing; clocks of
 * few bits; and the lanes that follow from call sites and stack pointers. Over 500 lines, because
 * it has the tables of both, and a sender. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <litifut/avr_spans.h>
#include <litifut/firmware_pool.h>

#include "postproc/sources/capture.h"
#include "postproc/sources/span_events.h"
#include "postproc/sources/span_calls.h"
#include "postproc/sources/span_lanes.h"
#include "tests/unit/frame_sender.h"

/* ---- a sender ---- */

static void header(struct frame_sender *sender, uint32_t round)
{
	sender->line[sender->used++] = 0;
	frame_sender_begin(sender, LITIFUT_FRAME_HEADER);
	frame_sender_number(sender, LITIFUT_FRAMES_VERSION);
	frame_sender_number(sender, LITIFUT_FRAMES_SPANS);
	for (uint8_t i = 0; i < 8; i++)
		sender->frame[sender->frame_used++] = i;
	frame_sender_number(sender, 0);
	frame_sender_number(sender, 0);
	frame_sender_number(sender, 0);
	frame_sender_number(sender, round);
	frame_sender_end(sender);
}

static void ring(struct frame_sender *sender, uint32_t bits, uint32_t first, uint32_t last,
		 uint32_t lost)
{
	frame_sender_begin(sender, LITIFUT_FRAME_RING);
	frame_sender_number(sender, 8000000);
	frame_sender_number(sender, bits);
	frame_sender_number(sender, first);
	frame_sender_number(sender, last);
	frame_sender_number(sender, lost);
	frame_sender_end(sender);
}

/* Five events a frame, of sites 0, 1, 2 ..., each a tick after the one before it. */
static void spans(struct frame_sender *sender, uint32_t from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint16_t stack = (uint16_t)(0x1000 - (from + i) % 7);

		if (i % 5 == 0) {
			frame_sender_begin(sender, LITIFUT_FRAME_SPANS);
			frame_sender_number(sender, from + i);
		}
		frame_sender_number(sender, LITIFUT_SPAN_SITE + from + i);
		frame_sender_number(sender, i % 5 ? 1 : 0xfffffff0u + from + i);
		frame_sender_number(
			sender,
			litifut_span_zigzag(
				i % 5 ? (uint16_t)(stack - (0x1000 - (from + i - 1) % 7)) : stack));
		if (i % 5 == 4 || i + 1 == count)
			frame_sender_end(sender);
	}
}

/* ---- frames ---- */

/* Each event that is there is the right one, in its order. */
static void check_events(const struct post_span_events *events, uint64_t *lost)
{
	uint64_t next = 0;

	*lost = 0;
	for (size_t i = 0; i < events->count; i++) {
		const struct post_span_event *event = &events->items[i];

		if (event->number == LITIFUT_SPAN_LOST) {
			next += event->value;
			*lost += event->value;
			continue;
		}
		assert_int_equal(event->number, LITIFUT_SPAN_SITE + next);
		assert_int_equal(event->value, 0x1000 - next % 7);
		assert_true((uint32_t)event->time == (uint32_t)(0xfffffff0u + next));
		if (!*lost) /* it goes on beyond 32 bits */
			assert_true(event->time == 0xfffffff0u + next);
		next++;
	}
}

static void read_line(const uint8_t *line, size_t size, struct post_capture *capture,
		      enum litifut_status *status)
{
	struct post_problems problems = {0};
	struct litifut_error error;

	*status = post_capture_read("line", line, size, NULL, capture, &problems, &error);
}

static struct frame_sender *two_rounds(void)
{
	struct frame_sender *sender = calloc(1, sizeof(*sender));

	assert_non_null(sender);
	header(sender, 0);
	ring(sender, 32, 0, 23, 0);
	spans(sender, 0, 23);
	memcpy(sender->line + sender->used, "hello\r\n", 7);
	sender->used += 7;
	header(sender, 1);
	ring(sender, 32, 23, 40, 2);
	spans(sender, 23, 17);
	return sender;
}

static void whole_and_doubled(void **state)
{
	struct frame_sender *sender = two_rounds();
	struct post_capture capture;
	enum litifut_status status;
	uint64_t lost;

	(void)state;
	read_line(sender->line, sender->used, &capture, &status);
	assert_int_equal(status, LITIFUT_OK);
	check_events(&capture.events, &lost);
	assert_int_equal(capture.events.count, 40);
	assert_int_equal(lost, 0);
	assert_int_equal(capture.events.hertz, 8000000);
	assert_int_equal(capture.events.lost_so_far, 2);
	assert_int_equal(post_span_events_missing(&capture.events), 0);
	assert_false(capture.events.lost_at_least);
	post_capture_release(&capture);

	/* the device has restarted */
	sender->sequence = 0;
	header(sender, 0);
	ring(sender, 32, 0, 5, 0);
	spans(sender, 0, 5);
	read_line(sender->line, sender->used, &capture, &status);
	assert_int_equal(capture.events.count, 5);
	post_capture_release(&capture);

	/* cut in the middle of its last round: the run before it is shown */
	read_line(sender->line, sender->used - 4, &capture, &status);
	assert_int_equal(capture.events.count, 40);
	post_capture_release(&capture);
	free(sender);
}

static void cut_and_damaged(void **state)
{
	struct frame_sender *sender = two_rounds();
	struct post_capture capture;
	enum litifut_status status;
	uint64_t lost;

	(void)state;
	for (size_t size = 0; size < sender->used; size++) {
		read_line(sender->line, size, &capture, &status);
		if (status)
			continue;
		check_events(&capture.events, &lost);
		assert_int_equal(lost, 0);
		assert_true(capture.events.count + post_span_events_missing(&capture.events) <= 40);
		post_capture_release(&capture);
	}
	for (size_t at = 0; at < sender->used; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			sender->line[at] ^= (uint8_t)(1u << bit);
			read_line(sender->line, sender->used, &capture, &status);
			sender->line[at] ^= (uint8_t)(1u << bit);
			if (status)
				continue;
			check_events(&capture.events, &lost);
			post_capture_release(&capture);
		}
	}
	/* each frame's loss is seen, by its events and in their number */
	for (size_t at = 0; at < sender->used; at++) {
		struct frame_sender *less = calloc(1, sizeof(*less));
		size_t last = at;

		assert_non_null(less);
		while (last < sender->used && sender->line[last])
			last++;
		memcpy(less->line, sender->line, at);
		memcpy(less->line + at, sender->line + last, sender->used - last);
		read_line(less->line, sender->used - (last - at), &capture, &status);
		free(less);
		at = last;
		if (status)
			continue;
		check_events(&capture.events, &lost);
		if (capture.events.bits && capture.events.end == 40)
			assert_int_equal(lost + post_span_events_missing(&capture.events) +
						 capture.events.count - (lost ? 1 : 0),
					 40);
		post_capture_release(&capture);
	}
	free(sender);
}

/* The payload of the last frame that was begun. */
static bool take(struct post_span_events *events, const struct frame_sender *sender)
{
	return post_span_events_take(events, sender->frame + 2, sender->frame_used - 2);
}

static bool take_ring(struct post_span_events *events, const struct frame_sender *sender)
{
	return post_span_events_ring(events, sender->frame + 2, sender->frame_used - 2);
}

static void clock_of_few_bits(void **state)
{
	struct frame_sender sender = {0};
	struct post_span_events events = {0};

	(void)state;
	ring(&sender, 16, 0, 6, 0);
	sender.frame_used -= 2; /* the CRC */
	assert_true(take_ring(&events, &sender));
	frame_sender_begin(&sender, LITIFUT_FRAME_SPANS);
	frame_sender_number(&sender, 0);
	frame_sender_number(&sender, LITIFUT_SPAN_MARK), frame_sender_number(&sender, 65000),
		frame_sender_number(&sender, 0);
	frame_sender_number(&sender, LITIFUT_SPAN_MARK), frame_sender_number(&sender, 1000),
		frame_sender_number(&sender, 3);
	/* three turns later, 7 ticks after the turn */
	frame_sender_number(&sender, LITIFUT_SPAN_CLOCK),
		frame_sender_number(&sender, 65536 - 464 + 7), frame_sender_number(&sender, 4);
	frame_sender_number(&sender, LITIFUT_SPAN_MARK), frame_sender_number(&sender, 2),
		frame_sender_number(&sender, 4);
	assert_true(take(&events, &sender));
	assert_int_equal(events.count, 4);
	assert_int_equal(events.items[0].time, 65000);
	assert_int_equal(events.items[1].time, 66000);
	assert_int_equal(events.items[2].time, 4 * 65536 + 7);
	assert_int_equal(events.items[3].time, 4 * 65536 + 9);
	/* the next frame has the clock itself */
	frame_sender_begin(&sender, LITIFUT_FRAME_SPANS);
	frame_sender_number(&sender, 4);
	frame_sender_number(&sender, LITIFUT_SPAN_MARK), frame_sender_number(&sender, 5),
		frame_sender_number(&sender, 5);
	assert_true(take(&events, &sender));
	assert_int_equal(events.items[4].time, 5 * 65536 + 5);
	/* The number of turns has 16 bits: 65,530 turns later it is 65,535, two more later 1, and
	 * then an event that was recorded just before it is read behind it. */
	frame_sender_begin(&sender, LITIFUT_FRAME_SPANS);
	frame_sender_number(&sender, 5);
	frame_sender_number(&sender, LITIFUT_SPAN_CLOCK), frame_sender_number(&sender, 8),
		frame_sender_number(&sender, 65535);
	frame_sender_number(&sender, LITIFUT_SPAN_CLOCK), frame_sender_number(&sender, 1),
		frame_sender_number(&sender, 1);
	frame_sender_number(&sender, LITIFUT_SPAN_MARK), frame_sender_number(&sender, 65530),
		frame_sender_number(&sender, 4);
	frame_sender_number(&sender, LITIFUT_SPAN_CLOCK), frame_sender_number(&sender, 0),
		frame_sender_number(&sender, 1);
	assert_true(take(&events, &sender));
	assert_int_equal(events.items[5].time, 65535 * UINT64_C(65536) + 8);
	assert_int_equal(events.items[6].time, 65537 * UINT64_C(65536) + 9);
	assert_int_equal(events.items[7].time, 65538 * UINT64_C(65536) + 3);
	assert_int_equal(events.items[8].time, 65538 * UINT64_C(65536) + 3);
	post_span_events_release(&events);
}

/* A ring that outlasts a reset: the clock of each run begins anew, and time goes on. */
static void restarts(void **state)
{
	struct frame_sender sender = {0};
	struct post_span_events events = {0};

	(void)state;
	ring(&sender, 32, 0, 4, 0);
	sender.frame_used -= 2;
	assert_true(take_ring(&events, &sender));
	frame_sender_begin(&sender, LITIFUT_FRAME_SPANS);
	frame_sender_number(&sender, 0);
	frame_sender_number(&sender, LITIFUT_SPAN_MARK), frame_sender_number(&sender, 500),
		frame_sender_number(&sender, 3);
	frame_sender_number(&sender, LITIFUT_SPAN_RESET),
		frame_sender_number(&sender, (uint32_t)-500), frame_sender_number(&sender, 1);
	frame_sender_number(&sender, LITIFUT_SPAN_MARK), frame_sender_number(&sender, 20),
		frame_sender_number(&sender, 4);
	frame_sender_number(&sender, LITIFUT_SPAN_MARK), frame_sender_number(&sender, 5),
		frame_sender_number(&sender, 5);
	assert_true(take(&events, &sender));
	assert_int_equal(events.count, 4);
	assert_int_equal(events.resets, 1);
	assert_int_equal(events.kept, 2);
	assert_int_equal(events.items[2].time, 501);
	assert_int_equal(events.items[3].time, 506);
	/* the power was off: the positions begin anew, too */
	ring(&sender, 32, 0, 1, 0);
	sender.frame_used -= 2;
	assert_true(take_ring(&events, &sender));
	frame_sender_begin(&sender, LITIFUT_FRAME_SPANS);
	frame_sender_number(&sender, 0);
	frame_sender_number(&sender, LITIFUT_SPAN_MARK), frame_sender_number(&sender, 7),
		frame_sender_number(&sender, 6);
	assert_true(take(&events, &sender));
	assert_int_equal(events.resets, 2);
	assert_int_equal(events.count, 6);
	assert_int_equal(events.items[5].time, 507);
	assert_int_equal(events.missing, 0);
	assert_int_equal(post_span_events_missing(&events), 0);
	post_span_events_release(&events);
}

static void without_sense(void **state)
{
	static const uint32_t numbers[] = {6, 7, 65536, UINT32_MAX};
	struct post_span_events events = {0};
	struct frame_sender sender = {0};

	(void)state;
	frame_sender_begin(&sender, LITIFUT_FRAME_SPANS);
	frame_sender_number(&sender, 0);
	assert_false(take(&events, &sender)); /* no 'R' */
	for (uint32_t bits = 0; bits < 35; bits += 33) {
		ring(&sender, bits, 0, 1, 0);
		sender.frame_used -= 2;
		assert_false(take_ring(&events, &sender));
	}
	ring(&sender, 32, 0, 0x80000000u, 0);
	sender.frame_used -= 2;
	assert_false(take_ring(&events, &sender));
	ring(&sender, 32, 0, 9, 0);
	sender.frame_used -= 3;
	assert_false(take_ring(&events, &sender));
	sender.frame_used++;
	assert_true(take_ring(&events, &sender));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		frame_sender_begin(&sender, LITIFUT_FRAME_SPANS);
		frame_sender_number(&sender, 0);
		frame_sender_number(&sender, numbers[i]), frame_sender_number(&sender, 0),
			frame_sender_number(&sender, 0);
		assert_false(take(&events, &sender));
	}
	assert_int_equal(events.count, 0);
	/* a position far away loses nothing and adds nothing */
	frame_sender_begin(&sender, LITIFUT_FRAME_SPANS);
	frame_sender_number(&sender, 0xf0000000u);
	frame_sender_number(&sender, LITIFUT_SPAN_MARK), frame_sender_number(&sender, 0),
		frame_sender_number(&sender, 0);
	assert_true(take(&events, &sender));
	assert_int_equal(events.count, 0);
	post_span_events_release(&events);
}

static bool lost_is_least(uint32_t bits, uint32_t told, uint32_t lost)
{
	struct frame_sender sender = {0};
	struct post_capture capture;
	enum litifut_status status;

	header(&sender, 0);
	ring(&sender, bits, 0, 1, 0);
	frame_sender_begin(&sender, LITIFUT_FRAME_SPANS);
	frame_sender_number(&sender, 0);
	frame_sender_number(&sender, LITIFUT_SPAN_LOST);
	frame_sender_number(&sender, 1);
	frame_sender_number(&sender, told);
	frame_sender_end(&sender);
	header(&sender, 1);
	ring(&sender, bits, 1, 1, lost);
	read_line(sender.line, sender.used, &capture, &status);
	assert_int_equal(status, LITIFUT_OK);
	assert_int_equal(capture.events.lost_so_far, lost);
	const bool least = capture.events.lost_at_least;

	post_capture_release(&capture);
	return least;
}

/* An AVR counts to 65,535 what it loses until there is room again. */
static void lost_more_than_counted(void **state)
{
	uint8_t ring_state[LITIFUT_AVR_RING_BYTES] = {[LITIFUT_AVR_RING_LOST] = 0xff,
						      [LITIFUT_AVR_RING_LOST + 1] = 0xff,
						      [LITIFUT_AVR_RING_REPORTED] = 3};
	struct post_span_events events = {0};
	const uint8_t none[LITIFUT_AVR_EVENT_BYTES] = {0};

	(void)state;
	assert_true(lost_is_least(16, 65535, 65535));
	assert_true(lost_is_least(16, 7, 7 + 65535));
	assert_false(lost_is_least(16, 7, 7 + 65534));
	assert_false(lost_is_least(16, 65534, 65534 + 3));
	assert_false(lost_is_least(32, 65535, 80000));
	assert_true(post_span_events_short(&events, none, 1, 0, ring_state));
	assert_int_equal(events.lost_so_far, 3 + 65535);
	assert_true(events.lost_at_least);
	post_span_events_release(&events);
	ring_state[LITIFUT_AVR_RING_LOST] = 0xfe;
	assert_true(post_span_events_short(&events, none, 1, 0, ring_state));
	assert_false(events.lost_at_least);
	post_span_events_release(&events);
}

/* A ring of 4 events in a dump, whose numbers may be anything. */
static void in_memory(void **state)
{
	static const uint32_t ring[] = {
		40, (LITIFUT_SPAN_SITE + 2) << 16 | 7, 50,     LITIFUT_SPAN_RETURN << 16 | 7,
		20, (LITIFUT_SPAN_SITE + 1) << 16 | 9, 0x1235, LITIFUT_SPAN_CALLEE << 16};
	uint32_t words[RING_STATE_BYTES / 4] = {0};
	struct post_span_events events = {0};

	(void)state;
	words[RING_HEAD / 4] = 6;
	words[RING_LIMIT / 4] = RING_NO_LIMIT;
	words[RING_MASK / 4] = 3;
	words[RING_LOST / 4] = 5;
	assert_true(post_span_events_memory(&events, ring, 8, words));
	assert_int_equal(events.count, 5);
	assert_int_equal(events.items[0].number, LITIFUT_SPAN_LOST);
	assert_int_equal(events.items[0].value, 2);
	assert_int_equal(events.items[1].number, LITIFUT_SPAN_SITE + 1);
	assert_int_equal(events.items[1].time, 20);
	assert_int_equal(events.items[2].value, 0x1235);
	assert_int_equal(events.items[3].time, 40);
	assert_int_equal(events.items[4].number, LITIFUT_SPAN_RETURN);
	assert_int_equal(events.lost_so_far, 5);
	post_span_events_release(&events);
	/* one that is sent, and has two events that were not */
	words[RING_LIMIT / 4] = 8;
	assert_true(post_span_events_memory(&events, ring, 8, words));
	assert_int_equal(events.count, 3);
	post_span_events_release(&events);

	words[RING_HEAD / 4] = 9;
	assert_false(post_span_events_memory(&events, ring, 8, words));
	words[RING_HEAD / 4] = 6;
	words[RING_MASK / 4] = 7;
	assert_false(post_span_events_memory(&events, ring, 8, words));
	words[RING_MASK / 4] = 2;
	assert_false(post_span_events_memory(&events, ring, 6, words));
	assert_false(post_span_events_memory(&events, ring, 0, words));
	for (uint32_t i = 0; i < 100000; i++) {
		for (size_t at = 0; at < sizeof(words) / sizeof(*words); at++)
			words[at] = (i * 2654435761u) >> (at + i % 20);
		words[RING_MASK / 4] = 3;
		if (post_span_events_memory(&events, ring, 8, words))
			assert_true(events.count <= 5);
		post_span_events_release(&events);
	}
}

/* ---- lanes ---- */

enum { MAIN = 0x100, ONE = 0x200, TWO = 0x300, LEAF = 0x400, TICK = 0x500, SORT = 0x600 };

/* In the order of their addresses. */
enum { VECTOR, MAIN_ONE, ONE_LEAF, ONE_POINTER, TWO_LEAF, LEAF_TAIL, TICK_LEAF, SITES };

static struct litifut_site sites[SITES] = {
	[VECTOR] = {.address = 0x3c,
		    .return_address = 0x3c,
		    .callee = TICK + 1,
		    .kind = LITIFUT_SITE_VECTOR,
		    .exit = 0x9001},
	[MAIN_ONE] = {.address = 0x110, .return_address = 0x115, .callee = ONE + 1, .exit = 0x9011},
	[ONE_LEAF] = {.address = 0x210,
		      .return_address = 0x215,
		      .callee = LEAF + 1,
		      .exit = 0x9021},
	[ONE_POINTER] = {.address = 0x220,
			 .return_address = 0x223,
			 .kind = LITIFUT_SITE_INDIRECT,
			 .exit = 0x9031},
	[TWO_LEAF] = {.address = 0x310,
		      .return_address = 0x315,
		      .callee = LEAF + 1,
		      .exit = 0x9041},
	[LEAF_TAIL] = {.address = 0x410,
		       .return_address = 0x9059,
		       .callee = SORT + 1,
		       .kind = LITIFUT_SITE_TAIL_DIRECT,
		       .exit = 0x9051},
	[TICK_LEAF] = {.address = 0x510,
		       .return_address = 0x515,
		       .callee = LEAF + 1,
		       .exit = 0x9061},
};

static struct post_image *make_image(void)
{
	static const struct {
		const char *name;
		uint32_t address;
	} functions[] = {{"main", MAIN}, {"one", ONE},   {"two", TWO},
			 {"leaf", LEAF}, {"tick", TICK}, {"sort", SORT}};
	struct post_image *image = calloc(1, sizeof(*image));

	assert_non_null(image);
	image->patched = calloc(SITES, sizeof(*image->patched));
	image->patched_count = SITES;
	for (size_t i = 0; i < SITES; i++)
		image->patched[i] = &sites[i];
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		post_symbols_add(&image->symbols, functions[i].name, functions[i].address, 0x100, 0,
				 POST_SYMBOL_FUNCTION);
	post_symbols_finish(&image->symbols);
	return image;
}

struct expected {
	uint32_t thread, kind, address, callee;
	uint64_t time;
};

static void check_items(bool stream, const struct post_span_event *items, size_t count,
			const struct expected *expected, size_t expected_count,
			const struct post_span_losses *losses_expected)
{
	const struct post_span_events events = {.items = (struct post_span_event *)items,
						.count = count};
	struct post_image *image = make_image();
	struct post_trace *trace = calloc(1, sizeof(*trace));
	struct post_span_losses losses = {0};
	struct post_buffer buffer = {0};
	size_t seen = 0;

	assert_non_null(trace);
	trace->header.version_major = LITIFUT_TRACE_VERSION_MAJOR;
	if (stream)
		losses.unknown = post_span_calls_make(&events, image, trace);
	else
		post_span_lanes_make(&events, image, trace, &losses);
	for (size_t i = 0; i < trace->chunk_count; i++) {
		struct post_cursor cursor;
		struct post_item item;

		post_cursor_start(&cursor, trace, i, &buffer, NULL);
		for (; post_cursor_next(&cursor, &item); seen++) {
			assert_true(seen < expected_count);
			assert_int_equal(trace->chunks[i].thread, expected[seen].thread);
			assert_int_equal(item.kind, expected[seen].kind);
			assert_int_equal(item.return_address, expected[seen].address);
			assert_int_equal(item.callee, expected[seen].callee);
			if (item.kind != LITIFUT_WORD_LOST)
				assert_true(item.time == expected[seen].time);
		}
	}
	assert_int_equal(seen, expected_count);
	assert_int_equal(losses.returns, losses_expected->returns);
	assert_int_equal(losses.unknown, losses_expected->unknown);
	post_trace_close(trace);
	post_buffer_release(&buffer);
	post_symbols_release(&image->symbols);
	free(image->patched);
	free(image);
}

static void check_lanes(const struct post_span_event *items, size_t count,
			const struct expected *expected, size_t expected_count,
			const struct post_span_losses *losses)
{
	check_items(false, items, count, expected, expected_count, losses);
}

#define CALL(site) (LITIFUT_SPAN_SITE + (site))
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A task on each of two stacks, an interrupt between them, a tail call, a pointer. */
static void tasks(void **state)
{
	static const struct post_span_event events[] = {
		{CALL(MAIN_ONE), 0x2000, 1},
		{CALL(ONE_LEAF), 0x1800, 2}, /* on another stack than main */
		{CALL(VECTOR), 0x1f00, 3},
		{CALL(TICK_LEAF), 0x1ef0, 4},
		{LITIFUT_SPAN_RETURN, 0x1ef0, 5},
		{LITIFUT_SPAN_RETURN, 0x1f00, 6},
		{CALL(TWO_LEAF), 0x1000, 7}, /* the second task begins */
		{LITIFUT_SPAN_MARK, LITIFUT_SPAN_MARK_PIN, 8},
		{CALL(VECTOR), 0x1f00, 9},
		{LITIFUT_SPAN_RETURN, 0x1f00, 10},
		{LITIFUT_SPAN_RETURN, 0x1800, 11}, /* the first one goes on */
		{LITIFUT_SPAN_CALLEE, LEAF + 1, 11},
		{CALL(ONE_POINTER), 0x1800, UINT64_C(0x300000010)},
		{CALL(LEAF_TAIL), 0x1800, UINT64_C(0x300000011)},
		{LITIFUT_SPAN_RETURN, 0x1800, UINT64_C(0x300000012)},
		{LITIFUT_SPAN_RETURN, 0x1800, UINT64_C(0x300000013)},
		{LITIFUT_SPAN_RETURN, 0x1000, UINT64_C(0x300000014)},
		{CALL(TWO_LEAF), 0x1000, UINT64_C(0x300000015)}, /* in its lane again */
		{LITIFUT_SPAN_RETURN, 0x2000, UINT64_C(0x300000016)},
	};
	static const struct expected expected[] = {
		{1, LITIFUT_WORD_ENTER, 0x115, 0, 1},
		{1, LITIFUT_WORD_ENTER, 0x215, 0, 2},
		{1, LITIFUT_WORD_ENTER, 0x3c, 0, 3},
		{1, LITIFUT_WORD_ENTER, 0x515, 0, 4},
		{1, LITIFUT_WORD_EXIT, 0x9061, 0, 5},
		{1, LITIFUT_WORD_EXIT, 0x9001, 0, 6},
		{1, LITIFUT_WORD_EXIT, 0x9021, 0, 11},
		{1, LITIFUT_WORD_TIME, 0, 0, UINT64_C(0x300000010)},
		{1, LITIFUT_WORD_INDIRECT, 0x223, LEAF + 1, UINT64_C(0x300000010)},
		{1, LITIFUT_WORD_TAIL, 0x9059, SORT + 1, UINT64_C(0x300000011)},
		{1, LITIFUT_WORD_EXIT, 0x9031, 0, UINT64_C(0x300000013)},
		{1, LITIFUT_WORD_EXIT, 0x9011, 0, UINT64_C(0x300000016)},
		{2, LITIFUT_WORD_ENTER, 0x315, 0, 7},
		{2, LITIFUT_WORD_MARK, 0, 0, 8},
		{2, LITIFUT_WORD_ENTER, 0x3c, 0, 9},
		{2, LITIFUT_WORD_EXIT, 0x9001, 0, 10},
		{2, LITIFUT_WORD_TIME, 0, 0, UINT64_C(0x300000014)},
		{2, LITIFUT_WORD_EXIT, 0x9041, 0, UINT64_C(0x300000014)},
		{2, LITIFUT_WORD_ENTER, 0x315, 0, UINT64_C(0x300000015)},
	};
	static const struct post_span_losses losses = {0};

	(void)state;
	check_lanes(events, COUNT(events), expected, COUNT(expected), &losses);
}

/* Calls that have ended without a return, calls from code that is not traced, and events that
 * are missing or make no sense. */
static void torn(void **state)
{
	static const struct post_span_event events[] = {
		{LITIFUT_SPAN_RETURN, 0x1234, 1},
		{CALL(MAIN_ONE), 0x2000, 2},
		{CALL(ONE_LEAF), 0x1ff0, 3},
		{CALL(ONE_LEAF), 0x1ff0, 4}, /* the one before has not returned */
		{LITIFUT_SPAN_LOST, 12, 4},
		{CALL(TWO_LEAF), 0x1fe8, 5}, /* two() was called back */
		{LITIFUT_SPAN_RETURN, 0x2000, 6},
		{LITIFUT_SPAN_RETURN, 0x1fe8, 7},
		{LITIFUT_SPAN_CALLEE, 0x1234, 8},
		{CALL(SITES), 0x2000, 8},
		{CALL(ONE_POINTER), 0x1000, 9}, /* its callee is missing */
	};
	static const struct expected expected[] = {
		{1, LITIFUT_WORD_ENTER, 0x115, 0, 2}, {1, LITIFUT_WORD_ENTER, 0x215, 0, 3},
		{1, LITIFUT_WORD_ENTER, 0x215, 0, 4}, {1, LITIFUT_WORD_LOST, 0, 0, 4},
		{1, LITIFUT_WORD_ENTER, 0x315, 0, 5}, {1, LITIFUT_WORD_EXIT, 0x9011, 0, 6},
		{2, LITIFUT_WORD_ENTER, 0x223, 0, 9},
	};
	static const struct post_span_losses losses = {.returns = 2, .unknown = 1};

	(void)state;
	check_lanes(events, COUNT(events), expected, COUNT(expected), &losses);
}

/* Calls without returns: one thread for each run, in order, whatever stack they are made on. */
static void streams(void **state)
{
	static const struct post_span_event events[] = {
		{CALL(MAIN_ONE), 0x2000, 0},        {CALL(VECTOR), 0x1f00, 0},
		{LITIFUT_SPAN_CALLEE, LEAF + 1, 0}, {CALL(ONE_POINTER), 0x1800, 0},
		{CALL(LEAF_TAIL), 0x1800, 0},       {LITIFUT_SPAN_LOST, 7, 0},
		{CALL(SITES), 0x1800, 0}, /* none */
		{LITIFUT_SPAN_RESET, 1, 0},         {CALL(ONE_LEAF), 0x2000, 0},
	};
	const struct expected expected[] = {
		{1, LITIFUT_WORD_CALL, 0x115, ONE + 1, 0},
		{1, LITIFUT_WORD_CALL, sites[VECTOR].return_address, sites[VECTOR].callee, 0},
		{1, LITIFUT_WORD_INDIRECT, 0x223, LEAF + 1, 0},
		{1, LITIFUT_WORD_TAIL, 0x9059, SORT + 1, 0},
		{1, LITIFUT_WORD_LOST, 0, 0, 0},
		{2, LITIFUT_WORD_CALL, 0x215, LEAF + 1, 0},
	};
	static const struct post_span_losses losses = {.unknown = 1};

	(void)state;
	check_items(true, events, COUNT(events), expected, COUNT(expected), &losses);
}

/* Whatever comes, it ends. */
static void random_events(void **state)
{
	enum { EVENTS = 20000 };
	struct post_span_event *items = calloc(EVENTS, sizeof(*items));
	struct post_image *image = make_image();
	uint32_t random = 1;

	(void)state;
	assert_non_null(items);
	for (unsigned round = 0; round < 4; round++) {
		struct post_span_events events = {.items = items, .count = EVENTS};
		struct post_trace *trace = calloc(1, sizeof(*trace));
		struct post_span_losses losses;

		assert_non_null(trace);
		for (size_t i = 0; i < EVENTS; i++) {
			random = random * 1664525 + 1013904223;
			items[i].number = (random >> 8) % (LITIFUT_SPAN_SITE + SITES + 1);
			items[i].value = random >> 16 & (round & 1 ? 0xffff : 15);
			items[i].time =
				i ? items[i - 1].time + (random >> (round & 2 ? 4 : 28)) : 0;
		}
		post_span_lanes_make(&events, image, trace, &losses);
		assert_true(trace->chunk_count > 0);
		post_trace_close(trace);
		trace = calloc(1, sizeof(*trace));
		assert_non_null(trace);
		post_span_calls_make(&events, image, trace);
		assert_true(trace->chunk_count > 0);
		post_trace_close(trace);
	}
	post_symbols_release(&image->symbols);
	free(image->patched);
	free(image);
	free(items);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_and_doubled),
		cmocka_unit_test(cut_and_damaged),
		cmocka_unit_test(clock_of_few_bits),
		cmocka_unit_test(restarts),
		cmocka_unit_test(without_sense),
		cmocka_unit_test(tasks),
		cmocka_unit_test(torn),
		cmocka_unit_test(streams),
		cmocka_unit_test(random_events),
		cmocka_unit_test(lost_more_than_counted),
		cmocka_unit_test(in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
