/* The compact form of the words of a firmware's branches: what the device packs a little at a time
 * gives the same branches and records on the host, whatever they are; it is short where they are
 * expected; where frames are missing a gap is all that is wrong; and damaged bytes do no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/sources/path_words.h"
#include "tracer/sink/paths/pack.h"

#define RECORD LITIFUT_PATHS_RECORD
#define WORDS 20000
#define FRAME 24 /* payload of a frame */
#define FRAMES 20000

static uint32_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

/* Words as a ring has them. */
static uint32_t ring[WORDS];
static size_t ring_count;
static unsigned word_bits; /* of a full word: 24 on AVR, 30 on Cortex-M */

static void put(uint32_t word)
{
	if (ring_count < WORDS)
		ring[ring_count++] = word;
}

static void branch(uint32_t taken)
{
	uint32_t *newest = ring_count ? &ring[ring_count - 1] : NULL;

	if (newest && *newest && !(*newest >> word_bits))
		*newest = *newest << 1 | taken;
	else
		put(LITIFUT_PATHS_NONE << 1 | taken);
}

/* Behind a record bits begin another word. */
static void block(uint32_t address)
{
	put(RECORD | address);
	put(LITIFUT_PATHS_NONE);
}

static void sync_at(uint32_t address, uint32_t calls)
{
	put(RECORD | LITIFUT_PATHS_SYNC);
	put(address);
	put(0x21f0);
	put(calls);
	for (uint32_t i = 0; i < 2 * calls; i++)
		put(0x1000 + any(0x100000));
	put(LITIFUT_PATHS_NONE);
}

static void interrupt(void)
{
	put(RECORD | LITIFUT_PATHS_INTERRUPT);
	put(2 * any(0x2000));
	put(0x4000 + 2 * any(40));
	block(0x80 + any(3));
}

/* The branches of a message that is checked and sent: its contents change little. */
static void message(uint32_t number)
{
	block(0x200 + number % 2);
	for (uint32_t byte = 0; byte < 12; byte++) {
		for (uint32_t bit = 0; bit < 8; bit++) {
			branch((byte ? 0x41u : number) >> bit & 1);
			branch(bit < 7);
		}
		branch(byte < 11);
	}
	block(0x300);
	branch(1);
}

/* What the device sends of the words from `at' on, buffer after buffer. */
struct frame {
	uint8_t bytes[FRAME];
	size_t count;
	bool begins;
};

static struct frame frames[FRAMES];
static size_t frame_count;
static struct litifut_pack pack;

static void litifut_pack_byte(uint8_t byte)
{
	struct frame *frame = &frames[frame_count - 1];

	assert_in_range(frame->count, 0, FRAME - 1);
	frame->bytes[frame->count++] = byte;
}

static void begin_frame(bool begins)
{
	assert_in_range(frame_count, 0, FRAMES - 1);
	frames[frame_count++] = (struct frame){.begins = begins};
}

static void check_room(void)
{
	if (frames[frame_count - 1].count + LITIFUT_PACK_BYTES > FRAME)
		begin_frame(false);
}

static void pack_ring(void)
{
	size_t at = 0;

	frame_count = 0;
	memset(&pack, 0, sizeof(pack));
	while (at < ring_count) {
		const bool anew = !at || ring[at] == (RECORD | LITIFUT_PATHS_SYNC);
		const size_t first = at;

		if (anew)
			litifut_packed_begin(&pack.model);
		begin_frame(true);
		litifut_pack_begin(&pack, anew, (uint32_t)at);
		do {
			bool done;

			do {
				check_room();
				const size_t before = frames[frame_count - 1].count;

				done = litifut_pack_step(&pack, ring[at]);
				assert_in_range(frames[frame_count - 1].count - before, 0,
						LITIFUT_PACK_BYTES);
			} while (!done);
			at++;
		} while (at < ring_count &&
			 (pack.more || (at - first < LITIFUT_PACKED_WORDS &&
					ring[at] != (RECORD | LITIFUT_PATHS_SYNC))));
		check_room();
		litifut_pack_end(&pack, (uint8_t)(at - first));
	}
}

/* Branches are 0 and 1; then come the words of records. Without those of the host for what is
 * missing, of which *gaps gets the number. */
static size_t events_of(const uint32_t *words, size_t count, uint32_t *events, size_t *gaps)
{
	size_t made = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned more;

		if (!(words[i] & RECORD)) {
			for (int bit = 31 - (words[i] ? __builtin_clz(words[i]) : 31); bit > 0;
			     bit--)
				events[made++] = words[i] >> (bit - 1) & 1;
			continue;
		}
		switch (words[i] & ~RECORD) {
		case LITIFUT_PATHS_SYNC:
			more = 3 + 2 * words[i + 3];
			break;
		case LITIFUT_PATHS_INTERRUPT:
			more = 2;
			break;
		default:
			more = (words[i] & ~RECORD) < LITIFUT_PATHS_KINDS;
		}
		if (gaps && words[i] == (RECORD | LITIFUT_PATHS_LOST) && !words[i + 1]) {
			++*gaps;
			i += more;
			continue;
		}
		for (unsigned j = 0; j <= more; j++)
			events[made++] = words[i + j] | RECORD;
		i += more;
	}
	return made;
}

static void take(struct post_path_words *words, const struct frame *frame, bool follows)
{
	assert_true(
		post_path_words_pack(words, frame->begins, follows, frame->bytes, frame->count));
}

/* All comes back. Returns the bits of a branch. */
static double check(void)
{
	static uint32_t expected[32 * WORDS], found[32 * WORDS];
	struct post_path_words words = {.begun = true};
	size_t bytes = 0, branches = 0, gaps = 0;

	pack_ring();
	for (size_t i = 0; i < frame_count; i++) {
		take(&words, &frames[i], true);
		bytes += frames[i].count;
	}
	assert_true(post_path_words_unpack(&words));
	const size_t count = events_of(ring, ring_count, expected, NULL);

	assert_int_equal(events_of(words.items, words.count, found, &gaps), count);
	assert_memory_equal(found, expected, count * sizeof(*found));
	assert_int_equal(gaps, 0);
	assert_int_equal(words.next, ring_count);
	assert_int_equal(post_path_words_missing(&words), 0);
	for (size_t i = 0; i < count; i++)
		branches += expected[i] < 2;
	post_path_words_release(&words);
	return branches ? 8.0 * (double)bytes / (double)branches : 0;
}

static void any_words_come_back(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		seed = round;
		ring_count = 0;
		word_bits = round % 2 ? 24 : 30;
		if (round % 3)
			sync_at(any(0x20000), any(LITIFUT_PACKED_CALLS + 1));
		while (ring_count < any(WORDS / 2)) {
			const uint32_t bits = any(4) ? any(40) : any(900);
			const uint32_t chance = any(5);

			for (uint32_t i = 0; i < bits; i++)
				branch(chance == 4 ? i % 3 == 0 : any(4) < chance);
			switch (any(13)) {
			case 0:
				sync_at(any(0x20000), any(LITIFUT_PACKED_CALLS + 1));
				break;
			case 1:
				interrupt();
				break;
			case 2:
				put(0);
				break;
			case 3:
				put(RECORD | LITIFUT_PATHS_LOST);
				put(1 + any(1u << 24));
				break;
			case 4:
				put(RECORD | LITIFUT_PATHS_SAVED);
				put(0x20000000 + any(1u << 24));
				break;
			case 5:
				block(32 + any(1u << 24));
				break;
			case 6:
				put(RECORD | LITIFUT_PATHS_STOPPED);
				put(0);
				break;
			default:
				block(32 + any(12));
			}
		}
		check();
	}
}

static void messages_are_short(void **state)
{
	(void)state;
	word_bits = 24;
	ring_count = 0;
	sync_at(0x100, 3);
	for (uint32_t i = 0; ring_count < WORDS / 2; i++)
		message(i / 16);
	assert_in_range((int)(1000 * check()), 1, 400);
	/* one branch */
	ring_count = 0;
	while (ring_count < WORDS / 2)
		branch(1);
	assert_in_range((int)(1000 * check()), 1, 60);
}

/* Where nothing can be expected, they take hardly more than a bit. */
static void noise_stays_as_it_is(void **state)
{
	(void)state;
	word_bits = 30;
	ring_count = 0;
	while (ring_count < WORDS / 2)
		branch(any(2));
	assert_in_range((int)(1000 * check()), 1000, 1350);
}

static void frames_may_be_missing(void **state)
{
	static uint32_t expected[32 * WORDS], found[32 * WORDS];

	(void)state;
	seed = 7;
	word_bits = 24;
	ring_count = 0;
	for (uint32_t i = 0; ring_count < 3000; i++) {
		if (i % 20 == 0)
			sync_at(2 * i, 2);
		message(i);
	}
	pack_ring();
	const size_t count = events_of(ring, ring_count, expected, NULL);

	for (size_t missing = 1; missing < frame_count - 1; missing += 7) {
		struct post_path_words words = {.begun = true};
		size_t gaps = 0;

		for (size_t i = 0; i < frame_count; i++)
			if (i != missing)
				take(&words, &frames[i], i != missing + 1);
		assert_true(post_path_words_unpack(&words));
		const size_t left = events_of(words.items, words.count, found, &gaps);
		size_t same = 0;

		while (same < left && found[same] == expected[same])
			same++;
		assert_in_range(left, count / 2, count - 1);
		/* the end, behind the gap; the last buffers may be gone, too */
		if (gaps)
			assert_memory_equal(found + same, expected + count - (left - same),
					    (left - same) * sizeof(*found));
		else
			assert_int_equal(same, left);
		assert_in_range(gaps, 0, 1);
		assert_int_equal(words.next == ring_count, gaps);
		post_path_words_release(&words);
	}
}

/* What stands in the flash takes the place of its number, as often as it says. */
static void patterns_come_back(void **state)
{
	const uint32_t table[] = {3, RECORD | 0x200, 0xcc, 0x5, 1, RECORD | 0x300, 0};
	const uint32_t expected[] = {RECORD | 0x500,
				     0x7,
				     RECORD | 0x200,
				     0xcc,
				     0x5,
				     RECORD | 0x200,
				     0xcc,
				     0x5,
				     RECORD | 0x200,
				     0xcc,
				     0x5,
				     RECORD | 0x300,
				     0x1b};
	struct post_path_words words = {.begun = true};

	(void)state;
	frame_count = 0;
	memset(&pack, 0, sizeof(pack));
	begin_frame(true);
	litifut_pack_begin(&pack, true, 0);
	assert_false(litifut_pack_step(&pack, expected[0]));
	assert_true(litifut_pack_step(&pack, expected[0]));
	assert_true(litifut_pack_step(&pack, expected[1]));
	litifut_pack_pattern(&pack, 0, 3);
	litifut_pack_pattern(&pack, 1, 1);
	while (!litifut_pack_step(&pack, 0x1b))
		;
	litifut_pack_end(&pack, 13);
	take(&words, &frames[0], true);
	assert_true(post_path_words_unpack(&words));
	post_path_words_expand(&words, table, sizeof(table) / sizeof(*table));
	assert_int_equal(words.count, sizeof(expected) / sizeof(*expected));
	assert_memory_equal(words.items, expected, sizeof(expected));
	/* the ELF file has fewer of them: a gap */
	take(&words, &frames[0], true);
	assert_true(post_path_words_unpack(&words));
	post_path_words_expand(&words, table, 4);
	assert_int_equal(words.missing, 1);
	post_path_words_release(&words);
}

static void damage_does_no_harm(void **state)
{
	(void)state;
	seed = 11;
	word_bits = 24;
	ring_count = 0;
	sync_at(0x100, 3);
	for (uint32_t i = 0; i < 40; i++)
		message(i);
	pack_ring();
	for (unsigned round = 0; round < 2000; round++) {
		struct post_path_words words = {.begun = true};

		for (size_t i = 0; i < frame_count; i++) {
			struct frame frame = frames[i];

			if (!any(8))
				frame.bytes[any((uint32_t)frame.count)] ^= (uint8_t)(1u << any(8));
			post_path_words_pack(&words, frame.begins, any(10) != 0, frame.bytes,
					     frame.count);
		}
		post_path_words_unpack(&words);
		assert_in_range(words.count, 0, 1000000);
		post_path_words_release(&words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_words_come_back),  cmocka_unit_test(messages_are_short),
		cmocka_unit_test(noise_stays_as_it_is), cmocka_unit_test(frames_may_be_missing),
		cmocka_unit_test(damage_does_no_harm),  cmocka_unit_test(patterns_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
