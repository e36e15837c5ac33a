/* The compact form of a chunk: every stream of words comes back as it was, what
 * cannot be encoded is refused, and damaged bytes do no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <litifut/compact.h>

#define WORDS 16384
static uint32_t words[WORDS];
static uint32_t back[WORDS];
static uint8_t bytes[6 * WORDS];
static struct litifut_compact_tables tables;
static uint32_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

/* Returns the bytes of the block, which then stand at the start of `bytes`; 0 when
 * the words are refused. */
static uint32_t encode(uint32_t count, bool timed, uint32_t room)
{
	struct litifut_compact_size size;

	if (!litifut_compact_encode(&tables, words, count, timed, bytes, room, &size))
		return 0;
	assert_int_equal(size.front % 4 + size.back % 4, 0);
	assert_in_range(size.front + size.back, 0, room);
	memmove(bytes + size.front, bytes + room - size.back, size.back);
	return size.front + size.back;
}

/* A program: a loop over some call sites with an indirect call and a clock
 * among them, from time to time something else. `surprise` of 256 events are
 * not those of the loop. */
static uint32_t fill(uint32_t room, bool timed, uint32_t sites, uint32_t surprise)
{
	uint32_t at = 0;
	uint32_t site = 0;
	uint32_t time = 0xfffff000u;

	while (at + 5 <= room) {
		site = any(256) < surprise ? any(sites) : (site + 1) % sites;
		time += any(1000) - 20;
		if (any(500) == 0) {
			words[at++] = LITIFUT_CONTROL_WORD(LITIFUT_WORD_TIME, 2);
			words[at++] = any(1u << 24);
			/* may be zero, unlike the words of events */
			words[at++] = timed ? 0 : 7;
			continue;
		}
		if (site % 3 == 0) {
			words[at++] = LITIFUT_CONTROL_WORD(
				site % 2 ? LITIFUT_WORD_INDIRECT : LITIFUT_WORD_TAIL, 2 + timed);
			words[at++] = 0x10000 + site * 36;
			words[at++] = 0x20000 + any(2) * 4;
		} else {
			words[at++] = 0x10001 + site * 36;
		}
		if (timed)
			words[at++] = time;
	}
	return at;
}

static void comes_back(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 400; round++) {
		bool timed = round & 1;
		uint32_t count = fill(5 + any(WORDS - 5), timed, 1 + any(3000), any(257));
		uint32_t size = encode(count, timed, sizeof(bytes));

		assert_true(size > 0);
		memset(back, 0, sizeof(back));
		assert_int_equal(litifut_compact_decode(&tables, bytes, size, timed, back, count),
				 count);
		assert_memory_equal(words, back, count * 4);
	}
}

static void repeated_work_is_small(void **state)
{
	uint32_t count = fill(WORDS, false, 60, 10);

	(void)state;
	assert_in_range(encode(count, false, sizeof(bytes)), 1, count * 4 / 5);
}

static void a_slot_to_be_filled_is_refused(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		bool timed = round & 1;
		uint32_t count = fill(400, timed, 20, 30);
		uint32_t hole = any(count);

		/* an address, of a site or of a callee, or a clock word */
		while (words[hole] < 0x10000 ||
		       (hole >= 2 &&
			words[hole - 2] == LITIFUT_CONTROL_WORD(LITIFUT_WORD_TIME, 2)) ||
		       (hole && words[hole - 1] == LITIFUT_CONTROL_WORD(LITIFUT_WORD_TIME, 2)))
			hole = any(count);
		words[hole] = 0;
		assert_int_equal(encode(count, timed, sizeof(bytes)), 0);
	}
}

static void never_writes_beyond_its_room(void **state)
{
	(void)state;
	for (uint32_t size = 0; size < 3000; size += 4) {
		uint32_t count = fill(1000, size & 4, 900, 256);

		memset(bytes, 0xa5, sizeof(bytes));
		encode(count, size & 4, size);
		for (uint32_t i = size; i < size + 100; i++)
			assert_int_equal(bytes[i], 0xa5);
	}
}

static void damage_is_harmless(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 2000; round++) {
		bool timed = round & 1;
		uint32_t count = fill(600, timed, 100, 60);
		uint32_t size = encode(count, timed, sizeof(bytes));
		uint8_t *copy = malloc(size); /* exact, so that a sanitizer sees each read */
		uint32_t room = any(2) ? count : any(count);
		uint32_t *target = malloc(room * 4 + 4);

		memcpy(copy, bytes, size);
		for (uint32_t i = any(4); i < 4; i++)
			copy[any(size)] = (uint8_t)any(256);
		assert_in_range(
			litifut_compact_decode(&tables, copy, any(size + 1), timed, target, room),
			0, room);
		free(copy);
		free(target);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(repeated_work_is_small),
		cmocka_unit_test(a_slot_to_be_filled_is_refused),
		cmocka_unit_test(never_writes_beyond_its_room),
		cmocka_unit_test(damage_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
