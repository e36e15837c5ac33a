/* What link-time optimisation is expected to make of sections and files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ldwrap/lto.h"

#define GRAPH ".gnu.lto_.symbol_nodes.44e414d0d7d2b2ee"

static size_t calls(const char *name, const uint8_t *bytes, size_t size)
{
	struct lto_guess guess = {0};

	lto_add_section(&guess, name, bytes, size);
	assert_true(guess.text >= guess.calls);
	return guess.calls;
}

static void only_the_graph_counts(void **state)
{
	static const uint8_t bytes[1200] = {0};

	(void)state;
	assert_int_equal(calls(GRAPH, bytes, sizeof(bytes)), 100);
	assert_int_equal(calls(".gnu.lto_.decls.44e414d0d7d2b2ee", bytes, sizeof(bytes)), 0);
	assert_int_equal(calls(".gnu.lto_main.20.44e414d0d7d2b2ee", bytes, sizeof(bytes)), 0);
	assert_int_equal(calls(".gnu.debuglto_.debug_info", bytes, sizeof(bytes)), 0);
	assert_int_equal(calls(".debug_info", bytes, sizeof(bytes)), 0);
}

/* Frames of zstd, whose heads have the size in 1, 2, 4 and 8 bytes, some behind other fields. */
static void packed_graphs_count_as_unpacked(void **state)
{
	static const uint8_t one[200] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 240};
	static const uint8_t two[1000] = {0x28, 0xb5, 0x2f, 0xfd, 0x60, 0xb0, 0x03};
	static const uint8_t window[1000] = {0x28, 0xb5, 0x2f, 0xfd, 0x40, 0x99, 0xb0, 0x03};
	static const uint8_t four[1000] = {0x28, 0xb5, 0x2f, 0xfd, 0xa1, 0x77, 0xe0, 0x2e};
	static const uint8_t eight[1000] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xe0, 0x2e};
	static const uint8_t unsized[400] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x99};
	static const uint8_t zlib[400] = {0x78, 0x9c};

	(void)state;
	assert_int_equal(calls(GRAPH, one, sizeof(one)), 20);
	assert_int_equal(calls(GRAPH, two, sizeof(two)), 100);
	assert_int_equal(calls(GRAPH, window, sizeof(window)), 100);
	assert_int_equal(calls(GRAPH, four, sizeof(four)), 1000);
	assert_int_equal(calls(GRAPH, eight, sizeof(eight)), 1000);
	assert_int_equal(calls(GRAPH, unsized, sizeof(unsized)), 100);
	assert_int_equal(calls(GRAPH, zlib, sizeof(zlib)), 100);
}

static void damage_is_bounded(void **state)
{
	static const uint8_t huge[13] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t cut[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0};

	(void)state;
	assert_int_equal(calls(GRAPH, huge, sizeof(huge)), sizeof(huge) * 64 / 12);
	assert_int_equal(calls(GRAPH, cut, sizeof(cut)), sizeof(cut) * 3 / 12);
	assert_int_equal(calls(GRAPH, cut, 4), 0);
	assert_int_equal(calls(GRAPH, cut, 0), 0);
}

static void bitcode(void **state)
{
	struct lto_guess guess = {.calls = 1, .text = 2};

	(void)state;
	lto_add_bitcode(&guess, 1200);
	assert_int_equal(guess.calls, 13);
	assert_int_equal(guess.text, 1202);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_graph_counts),
		cmocka_unit_test(packed_graphs_count_as_unpacked),
		cmocka_unit_test(damage_is_bounded),
		cmocka_unit_test(bitcode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
