/* Branches that are led elsewhere: past the record of a return. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rewriter/arch.h"
#include "rewriter/arm/exit.h"
#include "rewriter/mips/mips.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define FROM 0x10000u

static const struct {
	const char *mnemonic;
	uint8_t code[4]; /* little endian */
	unsigned length;
	enum litifut_code_state state;
	int32_t farthest; /* from the branch on; one instruction more is too far */
	int32_t nearest;
} arm_forms[] = {
	{"b.n", {0xfe, 0xe7}, 2, LITIFUT_CODE_THUMB, 2050, -2044},
	{"beq.n", {0x00, 0xd0}, 2, LITIFUT_CODE_THUMB, 258, -252},
	{"cbz r3", {0x03, 0xb1}, 2, LITIFUT_CODE_THUMB, 130, 4},
	{"cbnz r7", {0x07, 0xb9}, 2, LITIFUT_CODE_THUMB, 130, 4},
	{"b.w", {0x00, 0xf0, 0x00, 0xb8}, 4, LITIFUT_CODE_THUMB, 0x1000002, -0xfffffc},
	{"bhi.w", {0x00, 0xf2, 0x00, 0x80}, 4, LITIFUT_CODE_THUMB, 0x100002, -0xffffc},
	{"b", {0x00, 0x00, 0x00, 0xea}, 4, LITIFUT_CODE_PLAIN, 0x2000004, -0x1fffff8},
	{"bne", {0x00, 0x00, 0x00, 0x1a}, 4, LITIFUT_CODE_PLAIN, 0x2000004, -0x1fffff8},
};

/* Is the branch at FROM led to `offset` from it, and otherwise the same? */
static bool is_led(const struct litifut_arch *arch, const struct cpu_context *cpu,
		   const uint8_t *before, unsigned length, enum litifut_code_state state,
		   int32_t offset)
{
	const struct litifut_arch_context context = {.cpu = *cpu};
	const uint32_t base = 0x10000000;
	const uint32_t target = base + (uint32_t)offset;
	struct litifut_instruction old;
	struct litifut_instruction new;
	uint8_t code[4];

	memcpy(code, before, 4);
	if (!arch->returns->lead_branch(&context, state, base, length, target, code))
		return false;
	assert_int_equal(arch->cpu->decode(cpu, before, length, base, state, &old), length);
	assert_int_equal(arch->cpu->decode(cpu, code, length, base, state, &new), length);
	assert_int_equal(new.class, LITIFUT_CLASS_BRANCH_DIRECT);
	assert_int_equal(new.target & ~1u, target);
	assert_int_equal(new.conditional, old.conditional);
	return true;
}

static void arm_branches(void **state)
{
	static const struct cpu_context cpu;

	(void)state;
	for (size_t i = 0; i < COUNT(arm_forms); i++) {
		const uint8_t *code = arm_forms[i].code;
		const unsigned length = arm_forms[i].length;
		const enum litifut_code_state how = arm_forms[i].state;
		const int32_t step = how == LITIFUT_CODE_PLAIN ? 4 : 2;

		if (!is_led(&litifut_arch_arm, &cpu, code, length, how, arm_forms[i].farthest) ||
		    !is_led(&litifut_arch_arm, &cpu, code, length, how, arm_forms[i].nearest) ||
		    is_led(&litifut_arch_arm, &cpu, code, length, how,
			   arm_forms[i].farthest + step) ||
		    is_led(&litifut_arch_arm, &cpu, code, length, how, arm_forms[i].nearest - step))
			fail_msg("%s", arm_forms[i].mnemonic);
	}
}

static void conditions_stay(void **state)
{
	static const struct litifut_arch_context context;
	uint8_t wide[4] = {0x00, 0xf2, 0x00, 0x80}; /* bhi.w */
	uint8_t compare[4] = {0x07, 0xb9};          /* cbnz r7 */
	uint8_t call[4] = {0x00, 0xf0, 0x00, 0xf8}; /* bl */

	(void)state;
	assert_true(litifut_arm_lead_branch(&context, LITIFUT_CODE_THUMB, FROM, 4, FROM + 0x12346,
					    wide));
	assert_int_equal((wide[1] << 8 | wide[0]) >> 6 & 15, 8);
	assert_true(
		litifut_arm_lead_branch(&context, LITIFUT_CODE_THUMB, FROM, 2, FROM + 74, compare));
	assert_int_equal(compare[0] & 7, 7);
	assert_int_equal(compare[1] & 8, 8);
	assert_false(
		litifut_arm_lead_branch(&context, LITIFUT_CODE_THUMB, FROM, 4, FROM + 64, call));
}

static void mips_branches(void **state)
{
	static const uint32_t words[] = {0x10000000, 0x14620000, 0x05010000, 0x1c400000,
					 0x50400000}; /* b, bne, bgez, bgtz, beql */

	(void)state;
	for (unsigned big = 0; big < 2; big++)
		for (size_t i = 0; i < COUNT(words); i++) {
			const struct cpu_context cpu = {.big_endian = big};
			uint8_t code[4];

			litifut_put32(big, code, words[i]);
			assert_true(is_led(&litifut_arch_mips, &cpu, code, 4, LITIFUT_CODE_PLAIN,
					   0x20000));
			assert_true(is_led(&litifut_arch_mips, &cpu, code, 4, LITIFUT_CODE_PLAIN,
					   -0x1fffc));
			assert_false(is_led(&litifut_arch_mips, &cpu, code, 4, LITIFUT_CODE_PLAIN,
					    0x20004));
			assert_false(is_led(&litifut_arch_mips, &cpu, code, 4, LITIFUT_CODE_PLAIN,
					    -0x20000));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arm_branches),
		cmocka_unit_test(conditions_stay),
		cmocka_unit_test(mips_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
