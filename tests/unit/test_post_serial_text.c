/* The bytes of a serial line out of text: digits, and the lists of logic analysers in the spellings
 * of several programs; and what is neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/sources/serial_text.h"

/* expect(text, bytes, count, left): they come out of it, and so many rows are left out */
static void expect(const char *text, const char *bytes, size_t count, size_t left)
{
	size_t size = strlen(text), left_out;
	/* A copy of this size, so that a sanitizer sees what is read behind it. */
	uint8_t *copy = malloc(size + !size);

	memcpy(copy, text, size);
	assert_true(post_serial_text(copy, &size, &left_out));
	assert_int_equal(size, count);
	assert_memory_equal(copy, bytes, count);
	assert_int_equal(left_out, left);
	free(copy);
}

static void expect_none(const char *text, size_t size)
{
	size_t left_out, same = size;
	uint8_t *copy = malloc(size);

	memcpy(copy, text, size);
	assert_false(post_serial_text(copy, &same, &left_out));
	assert_int_equal(same, size);
	assert_memory_equal(copy, text, size);
	free(copy);
}

static void digits(void **state)
{
	(void)state;
	expect("41 001F\r\nfe\n", "A\0\x1f\xfe", 4, 0);
	expect("410", "A", 1, 0);
	expect("", "", 0, 0);
}

static void lists(void **state)
{
	(void)state;
	/* a column by name, in front of others */
	expect("name,type,start_time,duration,data,error\n"
	       "\"Async Serial\",\"data\",0.00051,8.6e-05,0x41,\n"
	       "\"Async Serial\",\"data\",0.00061,8.6e-05,0x00,\n",
	       "A\0", 2, 0);
	expect("Time [s],Value,Parity Error,Framing Error\r\n0.1,0xFF,,\r\n0.2,0x0a,,\r\n",
	       "\xff\n", 2, 0);
	/* the last field, without a name that is known */
	expect("Id;Time[ns];0:UART: RX/TX\n1;100.5;41\n2;200;FF\n3;300;10\n", "A\xff\x10", 3, 0);
	expect("Time (s)\tUART\n0.1\th41\n0.2\thA\n", "A\n", 2, 0);
	/* no head, words before the byte */
	expect("110-190 uart-1: 41\n220-300 uart-1: 2C", "A,", 2, 0);
	/* decimal numbers, some of which have two digits */
	expect("Value\n65\n10\n255\n7\n", "A\n\xff\x07", 4, 0);
	expect("Value\n0b01000001\n0b11111111\n", "A\xff", 2, 0);
}

static void rows_without_a_byte(void **state)
{
	(void)state;
	expect("Time,Value\n1,0x41\n2,framing error\n3,0x42\n4,0x143\n5,0x43\n", "ABC", 3, 2);
	expect("Value\n65\n7\n300\n66\n",
	       "A\x07"
	       "B",
	       3, 1);
}

static void neither(void **state)
{
	static const char raw[] = {'A', 0, 0x12, 0x34, 'P', 0, 1, 2};
	static const char prose[] = "Some words.\nAnd more of them\nin lines: 41\nwithout bytes.\n";

	(void)state;
	expect_none(raw, sizeof(raw));
	expect_none(prose, sizeof(prose) - 1);
	expect_none("0x\n0x\n", 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits),
		cmocka_unit_test(lists),
		cmocka_unit_test(rows_without_a_byte),
		cmocka_unit_test(neither),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
