/* From enters and returns to a table of calls: what returns, what is cut, tail calls, setjmp that
 * returns twice, signal handlers, slots that are not filled, any words at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <litifut/fold_words.h>

#define ENTRIES 16
#define DEPTH 8
#define WORDS 4096

/* Calls of the tests are by number; their exits are these. */
#define ADDRESS(number) (0x20000u + 16 * (number))
#define EXIT(number) (0x30000u + 16 * (number))
#define SP 0x7fff0000u

static struct litifut_table_call calls[ENTRIES];
static struct litifut_open_calls open_calls;
static struct litifut_open_call frames[DEPTH];
static uint32_t words[WORDS];
static unsigned count;

static struct litifut_fold_index no_index(void *context)
{
	(void)context;
	return (struct litifut_fold_index){0};
}

static uint32_t look(const struct litifut_fold_index *index, uint32_t address, uint32_t callee)
{
	(void)index;
	for (uint32_t i = 0; i < ENTRIES; i++)
		if (calls[i].address == address && calls[i].callee == callee)
			return i + 1;
	return 0;
}

static uint32_t find(void *context, uint32_t address, uint32_t callee, bool tail)
{
	(void)context;
	(void)tail;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		if (!calls[i].count) {
			calls[i].address = address;
			calls[i].callee = callee;
		}
		if (calls[i].address == address && calls[i].callee == callee)
			return i + 1;
	}
	return 0;
}

static struct litifut_table_call *entry(void *context, uint32_t handle)
{
	(void)context;
	assert_in_range(handle, 1, ENTRIES);
	return &calls[handle - 1];
}

static bool returns_by(void *context, struct litifut_table_call *call, uint32_t exit)
{
	(void)context;
	if (exit - EXIT(0) == call->address - ADDRESS(0))
		call->exit = exit;
	return call->exit == exit;
}

static void begin_epoch(void *context, uint32_t epoch)
{
	(void)context;
	(void)epoch;
}

static const struct litifut_fold_ways ways = {no_index, look, find, entry, returns_by, begin_epoch};

static void begin(void)
{
	memset(calls, 0, sizeof(calls));
	memset(&open_calls, 0, sizeof(open_calls));
	memset(words, 0, sizeof(words));
	count = 0;
}

static unsigned fold_from(unsigned from, bool skip)
{
	const struct litifut_fold all = {.open = &open_calls, .frames = frames, .limit = DEPTH};

	return (unsigned)(litifut_fold_words(&all, &ways, words + from, words + count, skip) -
			  words);
}

static unsigned fold(bool skip)
{
	return fold_from(0, skip);
}

static void put(uint32_t first, uint32_t address, uint32_t time)
{
	words[count++] = first;
	words[count++] = address;
	words[count++] = time;
}

static void enter(uint32_t sp, unsigned number, uint32_t time)
{
	put(sp, ADDRESS(number), time);
}

static void leave(uint32_t sp, unsigned number, uint32_t time)
{
	put(sp + LITIFUT_FOLD_RETURN, EXIT(number), time);
}

static void has(unsigned number, unsigned made, unsigned untimed, unsigned sum, unsigned self)
{
	const struct litifut_table_call *call = &calls[look(NULL, ADDRESS(number), 0) - 1];

	assert_int_equal(call->count, made);
	assert_int_equal(call->untimed, untimed);
	assert_int_equal(call->sum, sum);
	assert_int_equal(call->self, self);
}

static void calls_within_calls(void **state)
{
	(void)state;
	begin();
	for (unsigned i = 0; i < 2; i++) {
		enter(SP, 0, 100 * i + 10);
		enter(SP - 16, 1, 100 * i + 20);
		leave(SP - 16, 1, 100 * i + 25 + i);
		leave(SP, 0, 100 * i + 40);
	}
	assert_int_equal(fold(false), count);
	has(0, 2, 0, 60, 49);
	has(1, 2, 0, 11, 11);
	assert_int_equal(~calls[1].minimum_inverted, 5);
	assert_int_equal(calls[1].maximum, 6);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(words[i], 0);
}

/* Two calls end by a longjmp to their caller's setjmp, which returns again. */
static void setjmp_returns_again(void **state)
{
	(void)state;
	begin();
	enter(SP, 0, 10);
	enter(SP - 16, 1, 12); /* setjmp */
	leave(SP - 16, 1, 15);
	enter(SP - 16, 2, 20);
	enter(SP - 32, 3, 22);
	enter(SP - 48, 4, 25);
	leave(SP - 48, 4, 29);
	leave(SP - 16, 1, 40);
	leave(SP, 0, 50);
	fold(false);
	has(1, 1, 0, 3, 3);
	has(2, 1, 1, 0, 0);
	has(3, 1, 1, 0, 0);
	has(4, 1, 0, 4, 4);
	has(0, 1, 0, 40, 33);
	assert_int_equal(open_calls.depth, 0);
}

static void tail_calls_end_together(void **state)
{
	(void)state;
	begin();
	put(SP + LITIFUT_FOLD_TAIL, ADDRESS(5), 5); /* of what? its end is not known */
	enter(SP, 0, 10);
	put(SP + LITIFUT_FOLD_TAIL, ADDRESS(1), 14);
	put(SP + LITIFUT_FOLD_TAIL, ADDRESS(2), 16);
	leave(SP, 0, 20);
	fold(false);
	has(0, 1, 0, 10, 4);
	has(1, 1, 0, 6, 2);
	has(2, 1, 0, 4, 4);
	has(5, 1, 1, 0, 0);
}

/* The next call of the same function shows that a call has ended whose return is not recorded. */
static void unrecorded_returns_are_cut(void **state)
{
	(void)state;
	begin();
	enter(SP, 0, 10);
	for (unsigned i = 0; i < 3; i++) {
		enter(SP - 8, 1, 20 + i);
		enter(SP - 24, 2, 20 + i);
		leave(SP - 24, 2, 21 + i);
	}
	leave(SP, 0, 30);
	fold(false);
	has(1, 3, 3, 0, 0);
	has(2, 3, 0, 3, 3);
	has(0, 1, 0, 20, 17);
}

/* A handler's events stand behind the slot that it has interrupted, and are older. */
static void waits_for_slots(void **state)
{
	unsigned slot;

	(void)state;
	begin();
	enter(SP, 0, 10);
	slot = count;
	count += 3;
	enter(SP - 64, 1, 20);
	leave(SP - 64, 1, 22);
	assert_int_equal(fold(false), slot);
	has(0, 1, 0, 0, 0);
	words[slot + 1] = EXIT(0);
	words[slot] = SP + LITIFUT_FOLD_RETURN;
	assert_int_equal(fold_from(slot, false), slot);
	words[slot + 2] = 30;
	assert_int_equal(fold_from(slot, false), count);
	has(0, 1, 0, 20, 20);
	has(1, 1, 0, 0, 0); /* no time has passed for it */

	begin();
	enter(SP, 0, 10);
	count += 3; /* never filled */
	leave(SP, 0, 17);
	assert_int_equal(fold(true), count);
	has(0, 1, 0, 7, 7);
}

static void another_thread_takes_over(void **state)
{
	(void)state;
	begin();
	enter(SP, 0, 10);
	words[count++] = LITIFUT_CONTROL_WORD(LITIFUT_WORD_THREAD, 1);
	words[count++] = 77;
	leave(SP, 0, 20);
	fold(false);
	has(0, 1, 1, 0, 0);
	assert_int_equal(open_calls.thread, 77);
}

static void depth_is_bounded(void **state)
{
	(void)state;
	begin();
	for (unsigned i = 0; i < 12; i++)
		enter(SP - 16 * i, i, i + 1);
	for (unsigned i = 12; i--;)
		leave(SP - 16 * i, i, 40 - i);
	fold(false);
	for (unsigned i = 0; i < 12; i++)
		has(i, 1, i >= DEPTH, i >= DEPTH ? 0 : 39 - 2 * i,
		    i >= DEPTH      ? 0
		    : i + 1 < DEPTH ? 2
				    : 39 - 2 * i);
	assert_int_equal(open_calls.depth, 0);
}

static void any_words_do_no_harm(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		begin();
		for (count = 0; count < 512; count++) {
			seed = seed * 1664525u + 1013904223u;
			words[count] = seed >> (seed >> 3 & 24);
		}
		assert_true(fold(true) <= count);
		assert_true(open_calls.depth <= DEPTH);
	}
}

/* While recording was off, open calls may have returned. */
static void a_pause_ends_what_is_open(void **state)
{
	(void)state;
	begin();
	enter(SP, 0, 10);
	enter(SP - 16, 1, 20);
	words[count++] = LITIFUT_CONTROL_WORD(LITIFUT_WORD_STARTED, 0);
	leave(SP - 16, 1, 500);
	enter(SP - 16, 1, 510);
	leave(SP - 16, 1, 515);
	assert_int_equal(fold(false), count);
	has(0, 1, 1, 0, 0);
	has(1, 2, 1, 5, 5);
}

/* A thread that loses the CPU while it makes a chunk writes an event older than the chunk. */
static void an_event_may_be_older_than_its_chunk(void **state)
{
	(void)state;
	for (uint32_t late = 1; late < 1u << 30; late *= 3) {
		begin();
		open_calls.now = UINT64_C(0x500000000);
		enter(SP, 0, 0u - late);
		leave(SP, 0, 70);
		assert_int_equal(fold(false), count);
		has(0, 1, 0, 70, 70);
	}
}

/* The low half of what it takes is as usual. */
static void a_call_may_take_longer_than_32_bits(void **state)
{
	(void)state;
	begin();
	for (unsigned i = 0; i < 3; i++) {
		enter(SP, 0, 100 * i + 10);
		if (i == 2) {
			words[count++] = LITIFUT_CONTROL_WORD(LITIFUT_WORD_TIME, 2);
			words[count++] = 215;
			words[count++] = 3;
		}
		enter(SP - 16, 1, 100 * i + 16);
		leave(SP - 16, 1, 100 * i + 18);
		leave(SP, 0, 100 * i + 20 + 10 * (i == 1));
	}
	for (unsigned i = 0; i < 3; i++)
		put(SP, 0x50000, 300); /* the loop for usual events keeps away from the end */
	assert_int_equal(fold(false), count);
	assert_int_equal(calls[0].count, 3);
	assert_true(calls[0].sum == (UINT64_C(3) << 32) + 40);
	assert_true(calls[0].self == (UINT64_C(3) << 32) + 34);
	assert_true(calls[0].maximum == (UINT64_C(3) << 32) + 10);
	assert_true(calls[0].minimum_inverted == ~UINT64_C(10));
}

/* The same, each event by itself: what the loop for usual events leaves alone goes this way. */
static unsigned fold_slowly(uint32_t cost)
{
	const struct litifut_fold all = {
		.open = &open_calls, .frames = frames, .limit = DEPTH, .cost = cost};
	unsigned at = 0;

	while (at < count) {
		uint32_t done = litifut_fold_item(&all, &ways, words + at, count - at, false);

		if (!done)
			break;
		at += done;
	}
	return at;
}

static uint32_t random_seed;

static uint32_t below(uint32_t bound)
{
	random_seed = random_seed * 1664525u + 1013904223u;
	return (random_seed >> 8) % bound;
}

/* What a thread may record: mostly calls and their returns, and all that is seldom. */
static void put_at_random(void)
{
	unsigned depth = 0;
	unsigned made[64];
	uint32_t time = 0u - below(2000);

	while (count < WORDS - 8) {
		unsigned number = below(10);

		time += below(30) ? below(200) : below(4000000000u);
		if (!below(200))
			time -= below(100000);
		if (below(100) < 45 && depth < 60) {
			made[depth] = number;
			enter(SP - 16 * depth++, number, time);
		} else if (below(100) < 80 && depth) {
			depth--;
			leave(SP - 16 * depth, made[depth], time);
		} else if (!below(3) && depth) {
			put(SP - 16 * (depth - 1) + LITIFUT_FOLD_TAIL, ADDRESS(number), time);
		} else if (!below(3)) { /* its return is not recorded, or it leaves several calls */
			depth -= depth ? below(depth) : 0;
		} else if (!below(2)) {
			words[count++] = SP - 16 * depth + LITIFUT_FOLD_CALL_POINTER;
			words[count++] = ADDRESS(number);
			words[count++] = 0x40000;
			words[count++] = time;
			made[depth++] = number;
		} else if (!below(4)) {
			words[count++] = LITIFUT_CONTROL_WORD(LITIFUT_WORD_TAKEN, 1);
			words[count++] = below(100);
		} else if (!below(4)) {
			leave(SP - 16 * depth, number, time);
		}
		if (depth > 60)
			depth = 60;
		if (!below(1500))
			put(SP - 16 * depth, ADDRESS(number), 0); /* not filled */
	}
}

/* Numbers of 64 bits that are about to carry. */
static void begin_at_random(void)
{
	static const uint64_t minimums[] = {~UINT64_C(40), ~UINT64_C(0), ~(UINT64_C(1) << 32), 0};
	static const uint64_t maximums[] = {150, UINT32_MAX, UINT64_C(0x100000010)};

	begin();
	for (unsigned i = 0; i < 10; i++) {
		calls[i] = (struct litifut_table_call){.address = ADDRESS(i),
						       .exit = below(2) ? EXIT(i) : 0,
						       .count = UINT64_C(0x1fffffff0) + below(16),
						       .untimed = UINT32_MAX - below(3),
						       .sum = UINT32_MAX - below(10000),
						       .self = UINT64_C(0x3ffffff00) + below(256),
						       .minimum_inverted = minimums[below(4)],
						       .maximum = maximums[below(3)]};
	}
	open_calls.now = UINT64_C(0x7ffffffff) - below(1000);
	open_calls.taken = below(2) ? UINT64_C(0xffffff00) + below(1000) : below(1000);
}

static void usual_events_are_folded_as_others(void **state)
{
	static struct litifut_table_call first_calls[ENTRIES];
	static struct litifut_open_call first_frames[DEPTH];
	static uint32_t first_words[WORDS];

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		const uint32_t cost = round % 3 ? below(5000) : 0;
		const struct litifut_fold all = {
			.open = &open_calls, .frames = frames, .limit = DEPTH, .cost = cost};
		struct litifut_open_calls first_open;
		unsigned first_end;

		random_seed = round;
		begin_at_random();
		put_at_random();
		first_end =
			(unsigned)(litifut_fold_words(&all, &ways, words, words + count, false) -
				   words);
		memcpy(first_calls, calls, sizeof(calls));
		memcpy(first_frames, frames, sizeof(frames));
		memcpy(first_words, words, sizeof(words));
		first_open = open_calls;

		random_seed = round;
		begin_at_random();
		put_at_random();
		assert_int_equal(first_end, fold_slowly(cost));
		assert_memory_equal(&first_open, &open_calls, sizeof(open_calls));
		assert_memory_equal(first_calls, calls, sizeof(calls));
		assert_memory_equal(first_frames, frames, open_calls.depth * sizeof(frames[0]));
		assert_memory_equal(first_words, words, sizeof(words));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_within_calls),
		cmocka_unit_test(setjmp_returns_again),
		cmocka_unit_test(tail_calls_end_together),
		cmocka_unit_test(unrecorded_returns_are_cut),
		cmocka_unit_test(waits_for_slots),
		cmocka_unit_test(another_thread_takes_over),
		cmocka_unit_test(a_pause_ends_what_is_open),
		cmocka_unit_test(an_event_may_be_older_than_its_chunk),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(any_words_do_no_harm),
		cmocka_unit_test(a_call_may_take_longer_than_32_bits),
		cmocka_unit_test(usual_events_are_folded_as_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
