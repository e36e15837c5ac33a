/* Where lr holds nothing in code of the small instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rewriter/arm/link_register.h"

#define BASE 0x8000u
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Is lr free at this halfword of a function that has these? */
static bool is_free(const uint16_t *halves, unsigned count, unsigned at)
{
	uint8_t code[64] = {0};
	const struct litifut_section section = {
		.address = BASE, .size = sizeof(code), .bytes = code};

	for (unsigned i = 0; i < count; i++)
		litifut_put16(false, code + 2 * (size_t)i, halves[i]);
	return litifut_arm_link_is_free(&section, BASE, BASE + 2 * count, true, BASE,
					BASE + 2 * at);
}

static void a_jump_leads_on_with_a_link_that_is_not_saved(void **state)
{
	/* str r1, [r0]; ldr r3, [r2]; mov pc, r3; movs r0, #1; bx lr */
	const uint16_t leaf[] = {0x6001, 0x6813, 0x469f, 0x2001, 0x4770};
	/* push {r4, lr}; str r1, [r0]; ldr r3, [r2]; mov pc, r3; pop {r4, pc} */
	const uint16_t framed[] = {0xb510, 0x6001, 0x6813, 0x469f, 0xbd10};
	/* str r1, [r0]; cmp r1, #0; beq the jump; push {r4, lr}; pop {r4, pc}; mov pc, r3 */
	const uint16_t shared[] = {0x6001, 0x2900, 0xd001, 0xb510, 0xbd10, 0x469f};
	/* push {r4, lr}; cmp r1, #0; beq the jump; movs r0, #1; pop {r4, pc}; mov pc, r3 */
	const uint16_t ways[] = {0xb510, 0x2900, 0xd001, 0x2001, 0xbd10, 0x469f};

	(void)state;
	for (unsigned i = 0; i < COUNT(leaf); i++)
		assert_false(is_free(leaf, COUNT(leaf), i));
	assert_false(is_free(framed, COUNT(framed), 0));
	for (unsigned i = 1; i < COUNT(framed); i++)
		assert_true(is_free(framed, COUNT(framed), i));
	assert_false(is_free(shared, COUNT(shared), 5));
	assert_true(is_free(shared, COUNT(shared), 4));
	for (unsigned i = 1; i < COUNT(ways); i++)
		assert_true(is_free(ways, COUNT(ways), i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_leads_on_with_a_link_that_is_not_saved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
