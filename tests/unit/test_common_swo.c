/* The packets of an ITM, as DDI 0403E D4 has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/swo.h"

/* In pieces of so many bytes. */
static void expect(const uint8_t *bytes, size_t size, const char *text)
{
	for (size_t piece = 1; piece <= size; piece++) {
		struct litifut_swo swo = {0};
		uint8_t taken[64];
		size_t count = 0;

		for (size_t at = 0; at < size; at += piece)
			count += litifut_swo_take(&swo, bytes + at,
						  size - at < piece ? size - at : piece,
						  taken + count);
		assert_int_equal(count, strlen(text));
		assert_memory_equal(taken, text, count);
	}
}

#define EXPECT(text, ...)                                                                          \
	do {                                                                                       \
		static const uint8_t packets[] = {__VA_ARGS__};                                    \
                                                                                                   \
		expect(packets, sizeof(packets), text);                                            \
	} while (0)

static void test_ports(void **state)
{
	(void)state;
	EXPECT("ab", 0x09, 'a', 0x01, 'x', 0x09, 'b', 0x11, 'y');
	EXPECT("abcdef", 0x0a, 'a', 'b', 0x0b, 'c', 'd', 'e', 'f');
	/* of the hardware, with the same number: a program counter, an exception */
	EXPECT("a", 0x0f, 1, 2, 3, 4, 0x0e, 0x10, 0x20, 0x0d, 9, 0x09, 'a');
}

static void test_others(void **state)
{
	(void)state;
	EXPECT("ab", 0x09, 'a', 0x70, 0x09, 'b');                         /* overflow */
	EXPECT("ab", 0x09, 'a', 0xc0, 0x81, 0x89, 0x09, 0x09, 'b');       /* local time */
	EXPECT("ab", 0x09, 'a', 0x20, 0x09, 'b');                         /* a short one */
	EXPECT("ab", 0x09, 'a', 0x94, 0x89, 0x89, 0x89, 0x09, 0x09, 'b'); /* global time */
	EXPECT("ab", 0x09, 'a', 0x88, 0x09, 0x08, 0x09, 'b');             /* extension */
	EXPECT("ab", 0x09, 'a', 0, 0, 0, 0, 0, 0x80, 0x09, 'b');          /* synchronisation */
	EXPECT("ab", 0x09, 'a', 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 'b');    /* a long one */
	EXPECT("", 0x09);                                                 /* cut */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ports),
					   cmocka_unit_test(test_others)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
