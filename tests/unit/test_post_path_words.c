/* The words in which a firmware records its branches (<litifut/paths_format.h>): from a memory,
 * where the ring may have begun anew, and from frames that are missing, doubled or damaged, to the
 * words of a trace; and any words at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <litifut/paths_format.h>
#include <litifut/trace_format.h>

#include "postproc/sources/path_words.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define RECORD LITIFUT_PATHS_RECORD
#define RING 0x20000100u /* its address */

static void expect_words(const struct post_path_words *words, const uint32_t *expected,
			 size_t count)
{
	assert_int_equal(words->count, count);
	assert_memory_equal(words->items, expected, count * sizeof(*expected));
}

/* What was recorded is in front of the newest word, and behind it what is older. */
static void memory_is_in_order(void **state)
{
	uint32_t ring[] = {0, 11, 12, 13, 21, 22, 23, 24, 25, 26};
	const uint32_t old[] = {RECORD | LITIFUT_PATHS_LOST, 0, 25, 26, 11, 12, 13};
	struct post_path_words words = {0};

	(void)state;
	assert_true(post_path_words_memory(&words, ring, COUNT(ring), RING, RING + 4 * 3));
	expect_words(&words, ring + 1, 3);
	assert_int_equal(post_path_words_missing(&words), 0);
	post_path_words_release(&words);

	/* four words behind the newest may be damaged */
	ring[0] = 2;
	assert_true(post_path_words_memory(&words, ring, COUNT(ring), RING, RING + 4 * 3));
	expect_words(&words, old, COUNT(old));
	assert_int_equal(post_path_words_missing(&words), 9 + 3);
	post_path_words_release(&words);

	/* recording is off: the newest word has nothing */
	ring[3] = LITIFUT_PATHS_CLOSED;
	assert_true(post_path_words_memory(&words, ring, COUNT(ring), RING, RING + 4 * 3));
	expect_words(&words, old, COUNT(old) - 1);
	assert_true(words.off);
	assert_int_equal(words.stops, 1);
	post_path_words_release(&words);

	/* recording has not begun */
	assert_true(post_path_words_memory(&words, ring, COUNT(ring), RING, 0x20000040));
	assert_int_equal(words.count, 0);
	post_path_words_release(&words);

	/* neither is a place of the ring */
	assert_false(post_path_words_memory(&words, ring, COUNT(ring), RING, RING));
	assert_false(post_path_words_memory(&words, ring, COUNT(ring), RING, RING + 6));
	assert_false(post_path_words_memory(&words, ring, 1, RING, RING + 4));
	post_path_words_release(&words);
}

static size_t put_number(uint8_t *to, uint32_t number)
{
	size_t at = 0;

	for (; number >= 0x80; number >>= 7)
		to[at++] = (uint8_t)(number | 0x80);
	to[at++] = (uint8_t)number;
	return at;
}

static bool begin(struct post_path_words *words, uint32_t first, uint32_t end, uint32_t lost)
{
	uint8_t payload[16];
	size_t size = put_number(payload, first);

	size += put_number(payload + size, end);
	size += put_number(payload + size, lost);
	return post_path_words_begin(words, payload, size);
}

/* A frame with the words that are the positions plus 100. */
static bool take(struct post_path_words *words, uint32_t first, uint32_t count)
{
	uint8_t payload[64] = {0};
	size_t size = put_number(payload, first);

	for (uint32_t i = 0; i < count; i++, size += 4) {
		payload[size] = (uint8_t)(100 + first + i);
		memset(payload + size + 1, 0, 3);
	}
	return post_path_words_take(words, payload, size);
}

static void frames_may_be_missing(void **state)
{
	const uint32_t whole[] = {100, 101, 102, 103, 104};
	const uint32_t gap[] = {100, 101, RECORD | LITIFUT_PATHS_LOST, 0, 104, 105};
	const uint32_t anew[] = {100, 101, RECORD | LITIFUT_PATHS_RESET, 0, 100};
	const uint8_t cut[] = {0, 100, 0, 0};
	struct post_path_words words = {0};

	(void)state;
	assert_false(take(&words, 0, 2)); /* nothing has begun */
	assert_true(begin(&words, 0, 5, 7));
	assert_true(take(&words, 0, 2));
	assert_true(take(&words, 0, 3)); /* the first two have come before */
	assert_true(take(&words, 3, 2));
	assert_false(post_path_words_take(&words, cut, sizeof(cut)));
	expect_words(&words, whole, COUNT(whole));
	assert_int_equal(words.lost, 7);
	assert_int_equal(post_path_words_missing(&words), 0);
	post_path_words_release(&words);

	assert_true(begin(&words, 0, 8, 0));
	assert_true(take(&words, 0, 2));
	assert_true(take(&words, 4, 2));
	expect_words(&words, gap, COUNT(gap));
	assert_int_equal(post_path_words_missing(&words), 2 + 2);
	post_path_words_release(&words);

	/* the power was off in between */
	assert_true(begin(&words, 0, 2, 0));
	assert_true(take(&words, 0, 2));
	assert_true(begin(&words, 0, 1, 0));
	assert_true(take(&words, 0, 1));
	expect_words(&words, anew, COUNT(anew));
	post_path_words_release(&words);

	assert_false(begin(&words, 1, 0, 0)); /* -1 words */
	post_path_words_release(&words);
}

static void expect_made(const uint32_t *device, size_t count, const uint32_t *expected,
			size_t expected_count)
{
	struct post_path_words words = {.items = malloc(count * sizeof(*device)), .count = count};
	struct post_trace trace = {0};

	assert_non_null(words.items);
	memcpy(words.items, device, count * sizeof(*device));
	post_path_words_make(&words, &trace);
	assert_int_equal(trace.size, expected_count * sizeof(*expected));
	assert_memory_equal(trace.owned, expected, trace.size);
	assert_int_equal(trace.bits_count, 1);
	assert_int_equal(trace.bits[0].word_count, expected_count);
	free(trace.owned);
	free(trace.bits);
	post_path_words_release(&words);
}

#define CONTROL(kind, count)                                                                       \
	(LITIFUT_BITS_RECORD | LITIFUT_CONTROL_WORD(LITIFUT_WORD_##kind, count))

static void words_become_those_of_a_trace(void **state)
{
	const uint32_t device[] = {
		5,
		RECORD | 0x8000, /* high code */
		RECORD | 0x100,  /* low code */
		RECORD | LITIFUT_PATHS_INTERRUPT,
		0x110,
		0x20000801, /* two words */
		RECORD | LITIFUT_PATHS_SAVED,
		0x20000800, /* one */
		RECORD | LITIFUT_PATHS_SYNC,
		0x122,
		0x20000900,
		1,
		0x131,
		0x20000904, /* and pairs */
		RECORD | LITIFUT_PATHS_RESET,
		1,
		RECORD | LITIFUT_PATHS_STOPPED,
		0,
		RECORD | 31, /* unknown, left out */
		3,
	};
	const uint32_t expected[] = {
		5,
		RECORD | 0x8000,
		CONTROL(BLOCK, 1),
		0x200,
		CONTROL(INTERRUPT, 2),
		0x110,
		0x20000801,
		CONTROL(TASK_SAVED, 1),
		0x20000800,
		CONTROL(SYNC, 5),
		0x122,
		0x20000900,
		0,
		0x131,
		0x20000904,
		CONTROL(RESTARTED, 1),
		1,
		CONTROL(STOPPED, 1),
		0,
		3,
	};
	/* records that are cut, or have more calls than there can be */
	const uint32_t cut[] = {3, RECORD | LITIFUT_PATHS_INTERRUPT, 0x110};
	const uint32_t large[] = {3,          RECORD | LITIFUT_PATHS_SYNC,  0x122,
				  0x20000900, LITIFUT_PATHS_SYNC_CALLS + 1, 7};

	(void)state;
	expect_made(device, COUNT(device), expected, COUNT(expected));
	expect_made(cut, COUNT(cut), cut, 1);
	expect_made(large, COUNT(large), large, 1);
}

/* Whatever stands in a ring, each control word of the trace has its words. */
static void any_words_make_a_trace(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		struct post_path_words words = {0};
		struct post_trace trace = {0};
		uint32_t ring[32];
		uint32_t i;

		for (i = 0; i < COUNT(ring); i++) {
			random = random * 1664525u + 1013904223u;
			/* records that are known are likely */
			ring[i] = random >> 30       ? random >> 8
				  : random >> 28 & 1 ? RECORD | (random >> 8 & 7)
						     : random >> 8 & 31;
		}
		if (post_path_words_memory(&words, ring, COUNT(ring), RING,
					   RING + 4 * (round % (COUNT(ring) + 2))))
			post_path_words_make(&words, &trace);
		for (i = 0; i < trace.size / 4; i++) {
			const uint32_t word = ((const uint32_t *)(const void *)trace.owned)[i];

			if (word & LITIFUT_BITS_RECORD &&
			    (word & ~LITIFUT_BITS_RECORD) < LITIFUT_WORD_FIRST_ADDRESS / 2)
				i += LITIFUT_CONTROL_FOLLOWING(word & ~LITIFUT_BITS_RECORD);
		}
		assert_int_equal(i, trace.size / 4);
		free(trace.owned);
		free(trace.bits);
		post_path_words_release(&words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_in_order),
		cmocka_unit_test(frames_may_be_missing),
		cmocka_unit_test(words_become_those_of_a_trace),
		cmocka_unit_test(any_words_make_a_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
