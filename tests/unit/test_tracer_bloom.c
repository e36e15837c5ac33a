/* The Bloom filter's error: new (call site, callee) pairs that it takes for known
 * ones, against the theory, for pairs as programs have them: sites close together
 * and callees at round addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tracer/recorder/bloom_bits.h"

#define BITS (64 * 8192)
static uint8_t filter[BITS / 8];

/* Adds a pair; 1 when all its bits were set already. */
static int seen(uint32_t site, uint32_t callee)
{
	struct litifut_bloom_bits bits = litifut_bloom_bits(site, callee);
	int known = 1;

	for (uint32_t i = 0; i < LITIFUT_BLOOM_HASHES; i++) {
		uint32_t bit = litifut_bloom_bit(bits, i, BITS - 1);

		known &= filter[bit / 8] >> bit % 8 & 1;
		filter[bit / 8] |= (uint8_t)(1 << bit % 8);
	}
	return known;
}

static double filled(void)
{
	uint32_t set = 0;

	for (uint32_t i = 0; i < BITS; i++)
		set += filter[i / 8] >> i % 8 & 1;
	return (double)set / BITS;
}

static void check(uint32_t pairs, uint32_t site_step, uint32_t callees, uint32_t callee_step)
{
	double expected = 0;
	uint32_t missed = 0;

	memset(filter, 0, sizeof(filter));
	for (uint32_t i = 0; i < pairs; i++) {
		if (i % 1000 == 0) {
			double full = filled();

			expected +=
				full * full * full * full * (pairs - i < 1000 ? pairs - i : 1000);
		}
		missed += (uint32_t)seen(0x00010000 + i / (callees > 1 ? 2 : 1) * site_step,
					 0x00400000 + (i % callees) * callee_step);
	}
	if (missed > 2 * expected + 10)
		fail_msg("%u of %u pairs missed, %.0f by the theory", missed, pairs, expected);
	/* A filter that never errs would be a wrong test. */
	if (pairs > BITS / 8)
		assert_true(missed > 0);
}

static void misses_what_the_theory_says(void **state)
{
	(void)state;
	check(20000, 4, 3000, 16);
	check(80000, 4, 128000, 64);
	check(130000, 2, 1, 0);
	check(130000, 8, 130001, 4);
	check(200000, 36, 977, 256);
}

static void knows_what_it_has_seen(void **state)
{
	(void)state;
	memset(filter, 0, sizeof(filter));
	for (uint32_t i = 0; i < 50000; i++)
		seen(0x10000 + i * 6, i * 52);
	for (uint32_t i = 0; i < 50000; i++)
		assert_int_equal(seen(0x10000 + i * 6, i * 52), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misses_what_the_theory_says),
		cmocka_unit_test(knows_what_it_has_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
