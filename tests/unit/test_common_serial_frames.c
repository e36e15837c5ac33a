/* The frames of a firmware, as they come out of a serial line: whole, cut, doubled, damaged,
 * with text between them. The sender is the one of the device, compiled for the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/serial_frames.h"
#include "tracer/sink/frames/frames.h"

/* What the sender sends. */
static uint8_t line[8192];
static size_t line_used;
static unsigned busy;

/* The rewriter puts these one behind the other. */
__asm__(".bss\n"
	".balign 4\n"
	".globl litifut_table, litifut_overflow, litifut_profile\n"
	"litifut_table: .space 4 * 40\n"
	"litifut_overflow: .space 4 * 48\n"
	"litifut_profile: .space 2 * 30\n"
	".text\n"
	".globl litifut_words, litifut_numbers\n"
	".set litifut_words, 40 + 48\n"
	".set litifut_numbers, 40 + 48 + 30\n");
extern uint32_t litifut_overflow[48];
const uint8_t litifut_header[LITIFUT_HEADER_BYTES] = {
	LITIFUT_FRAMES_VERSION, 0, 1, 2, 0, 4, 5, 6, 0, 8, 40, 48, 30 | 0x80, 0x80, 0x80, 0};

int litifut_putc(uint8_t byte)
{
	if (busy++ % 3)
		return 0;
	assert_true(line_used < sizeof(line));
	line[line_used++] = byte;
	return 1;
}

struct seen {
	char types[256];
	unsigned frames;
	uint32_t words[40 + 48 + 30];
	char text[1024];
	size_t text_used;
	uint8_t last_sequence;
	unsigned gaps;
};

static void see_frame(void *context, uint8_t type, uint8_t sequence, const uint8_t *payload,
		      size_t size)
{
	struct seen *seen = context;
	size_t at = 0;

	if (seen->frames && (uint8_t)(seen->last_sequence + 1) != sequence)
		seen->gaps++;
	seen->last_sequence = sequence;
	seen->types[seen->frames++] = (char)type;
	if (type != LITIFUT_FRAME_COUNTS)
		return;
	for (uint32_t word = litifut_serial_number(payload, size, &at); at < size; word++) {
		assert_true(word < 40 + 48 + 30);
		seen->words[word] = litifut_serial_number(payload, size, &at);
	}
	assert_int_equal(at, size);
}

static void see_other(void *context, const uint8_t *bytes, size_t size)
{
	struct seen *seen = context;

	assert_true(seen->text_used + size < sizeof(seen->text));
	memcpy(seen->text + seen->text_used, bytes, size);
	seen->text_used += size;
}

static void read_line(struct seen *seen, size_t from, size_t to)
{
	const struct litifut_serial_sink sink = {see_frame, see_other, seen};
	struct litifut_serial frames;

	memset(seen, 0, sizeof(*seen));
	litifut_serial_begin(&frames, &sink);
	litifut_serial_feed(&frames, line + from, to - from);
	litifut_serial_end(&frames);
}

static void fill_and_send(void)
{
	for (unsigned i = 0; i < 40; i++)
		litifut_table[i] = i * i * i * i * 977;
	litifut_table[7] = UINT32_MAX;
	for (unsigned i = 0; i < 3 * LITIFUT_OVERFLOW_TRIED; i++)
		litifut_overflow[i] = i * 7919;
	for (unsigned i = 0; i < 30; i++)
		litifut_profile[i] = (uint16_t)(i * 331 + 1);
	line_used = 0;
	litifut_send();
}

static void test_all_arrives(void **state)
{
	struct seen seen;

	(void)state;
	fill_and_send();
	read_line(&seen, 0, line_used);
	assert_int_equal(seen.types[0], 'H');
	assert_int_equal(seen.types[seen.frames - 1], 'E');
	assert_int_equal(seen.gaps, 0);
	assert_int_equal(seen.text_used, 0);
	assert_memory_equal(seen.words, litifut_table, 4 * 40);
	assert_memory_equal(seen.words + 40, litifut_overflow, sizeof(litifut_overflow));
	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(seen.words[40 + 48 + i], litifut_profile[i]);
	for (size_t i = 0, start = 0; i < line_used; i++)
		if (!line[i]) {
			assert_true(i + 1 - start <= LITIFUT_FRAME_BYTES);
			start = i + 1;
		}
}

static void test_text_between(void **state)
{
	static const char text[] = "hello\r\n";
	struct seen seen;

	(void)state;
	fill_and_send();
	/* In front of the first frame, and in front of the third without a zero. */
	size_t third = 1;

	for (unsigned zeros = 0; zeros < 2; third++)
		zeros += !line[third];
	memmove(line + third + 7, line + third, line_used - third);
	memcpy(line + third, text, 7);
	memmove(line + 7, line, line_used + 7);
	memcpy(line, text, 7);
	line_used += 14;
	read_line(&seen, 0, line_used);
	assert_int_equal(seen.gaps, 0);
	assert_memory_equal(seen.words, litifut_table, 4 * 40);
	assert_memory_equal(seen.text, "hello\r\nhello\r\n", 14);
	assert_int_equal(seen.text_used, 14);
}

/* Each byte in turn has another value: at most its frame is gone, and a second round
 * repairs that. */
static void test_damage(void **state)
{
	struct seen whole;
	struct seen seen;

	(void)state;
	fill_and_send();
	read_line(&whole, 0, line_used);
	for (size_t i = 1; i < line_used; i++) {
		uint8_t good = line[i];

		line[i] ^= 0x41;
		read_line(&seen, 0, line_used);
		/* A zero that is gone joins two frames, of which the second is found. */
		assert_true(seen.frames + 2 >= whole.frames && seen.frames < whole.frames);
		line[i] = good;
	}
}

static void test_cuts(void **state)
{
	struct seen seen;
	unsigned before = 0;

	(void)state;
	fill_and_send();
	for (size_t to = 0; to <= line_used; to++) {
		read_line(&seen, 0, to);
		assert_true(seen.frames >= before && seen.frames <= before + 1);
		before = seen.frames;
	}
	assert_true(before > 5);
}

static void test_long_text(void **state)
{
	const struct litifut_serial_sink sink = {see_frame, NULL, NULL};
	struct litifut_serial frames;
	uint8_t byte = 'x';

	(void)state;
	litifut_serial_begin(&frames, &sink);
	for (unsigned i = 0; i < 100000; i++)
		litifut_serial_feed(&frames, &byte, 1);
	litifut_serial_end(&frames);
}

static void test_numbers(void **state)
{
	static const uint8_t largest[] = {0xff, 0xff, 0xff, 0xff, 0x0f, 5};
	static const uint8_t too_large[] = {0xff, 0xff, 0xff, 0xff, 0x1f};
	static const uint8_t cut[] = {0x80};
	static const uint8_t longest[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
	static const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3};
	size_t at = 0;

	(void)state;
	assert_int_equal(litifut_serial_number(largest, 6, &at), UINT32_MAX);
	assert_int_equal(litifut_serial_number(largest, 6, &at), 5);
	assert_int_equal(at, 6);
	at = 0;
	litifut_serial_number(too_large, 5, &at);
	assert_int_equal(at, 6);
	at = 0;
	litifut_serial_number(cut, 1, &at);
	assert_int_equal(at, 2);
	at = 0;
	assert_true(litifut_serial_long(longest, 10, &at) == UINT64_MAX);
	assert_int_equal(at, 10);
	at = 0;
	litifut_serial_number(longest, 10, &at);
	assert_int_equal(at, 11);
	at = 0;
	litifut_serial_long(too_long, 10, &at);
	assert_int_equal(at, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrives), cmocka_unit_test(test_text_between),
		cmocka_unit_test(test_damage),      cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_long_text),   cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
