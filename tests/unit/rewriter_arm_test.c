/* The ARM back end on its table of cases; the words were made by the assembler. */
#include "tests/unit/rewriter_cases.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>
#include <litifut/module_format.h>

#include "rewriter/arm/arm.h"

#define A32 LITIFUT_CODE_PLAIN
#define T32 LITIFUT_CODE_THUMB
#define CALL LITIFUT_CLASS_CALL_DIRECT
#define CALL_REGISTER LITIFUT_CLASS_CALL_INDIRECT
#define BRANCH LITIFUT_CLASS_BRANCH_DIRECT
#define BRANCH_REGISTER LITIFUT_CLASS_BRANCH_INDIRECT
#define OTHER LITIFUT_CLASS_OTHER
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct litifut_arch_context context;

static const struct decode_case decode_cases[] = {
	{"bl 0x10000", 0x8000, 0xeb001ffe, A32, 4, CALL, 0x10000, 0, 0},
	{"bl 0x8000", 0x8000, 0xebfffffe, A32, 4, CALL, 0x8000, 0, 0},
	{"blne 0x8010", 0x8000, 0x1b000002, A32, 4, CALL, 0x8010, 0, 1},
	{"blx 0x800a", 0x8000, 0xfb000000, A32, 4, CALL, 0x800b, 0, 0},
	{"blx 0x8008", 0x8000, 0xfa000000, A32, 4, CALL, 0x8009, 0, 0},
	{"blx r3", 0x8000, 0xe12fff33, A32, 4, CALL_REGISTER, 0, 3, 0},
	{"blxeq r12", 0x8000, 0x012fff3c, A32, 4, CALL_REGISTER, 0, 12, 1},
	{"bx lr", 0x8000, 0xe12fff1e, A32, 4, BRANCH_REGISTER, 0, 14, 0},
	{"b 0x8000", 0x8000, 0xeafffffe, A32, 4, BRANCH, 0x8000, 0, 0},
	{"bne 0x8008", 0x8000, 0x1a000000, A32, 4, BRANCH, 0x8008, 0, 1},
	{"add r0, r0, r1", 0x8000, 0xe0800001, A32, 4, OTHER, 0, 0, 0},
	{"svc 0", 0x8000, 0xef000000, A32, 4, OTHER, 0, 0, 0},
	{"bl 0x8004", 0x8000, 0xf000f800, T32, 4, CALL, 0x8005, 0, 0},
	{"bl 0x8002", 0x8002, 0xf7fffffe, T32, 4, CALL, 0x8003, 0, 0},
	{"blx 0x8004 at 0 mod 4", 0x8000, 0xf000e800, T32, 4, CALL, 0x8004, 0, 0},
	{"blx 0x8004 at 2 mod 4", 0x8002, 0xf000e800, T32, 4, CALL, 0x8004, 0, 0},
	{"bl +16 MB - 2", 0x1000000, 0xf3ffd7ff, T32, 4, CALL, 0x2000003, 0, 0},
	{"bl -16 MB", 0x1000000, 0xf400d000, T32, 4, CALL, 0x5, 0, 0},
	{"blx r3", 0x8000, 0x4798, T32, 2, CALL_REGISTER, 0, 3, 0},
	{"blx r12", 0x8000, 0x47e0, T32, 2, CALL_REGISTER, 0, 12, 0},
	{"bx lr", 0x8000, 0x4770, T32, 2, BRANCH_REGISTER, 0, 14, 0},
	{"b.n 0x8000", 0x8000, 0xe7fe, T32, 2, BRANCH, 0x8001, 0, 0},
	{"beq.n 0x8004", 0x8000, 0xd000, T32, 2, BRANCH, 0x8005, 0, 1},
	{"svc 0", 0x8000, 0xdf00, T32, 2, OTHER, 0, 0, 0},
	{"udf 0", 0x8000, 0xde00, T32, 2, OTHER, 0, 0, 0},
	{"cbz r0, 0x8044", 0x8000, 0xb300, T32, 2, BRANCH, 0x8045, 0, 1},
	{"cbnz r1, 0x8004", 0x8000, 0xb901, T32, 2, BRANCH, 0x8005, 0, 1},
	{"b.w 0x8004", 0x8000, 0xf000b800, T32, 4, BRANCH, 0x8005, 0, 0},
	{"bne.w 0x8004", 0x8000, 0xf0408000, T32, 4, BRANCH, 0x8005, 0, 1},
	{"mrs r0, apsr", 0x8000, 0xf3ef8000, T32, 4, OTHER, 0, 0, 0},
	{"dmb sy", 0x8000, 0xf3bf8f5f, T32, 4, OTHER, 0, 0, 0},
	{"mov.w r0, #0", 0x8000, 0xf04f0000, T32, 4, OTHER, 0, 0, 0},
	{"movs r0, #0", 0x8000, 0x2000, T32, 2, OTHER, 0, 0, 0},
};

static const struct reach_case reach_cases[] = {
	{"bl", 0x4000000, 0xeb000000, A32, 0x2000008, 0x6000004, 4},
	{"blne", 0x4000000, 0x1b000000, A32, 0x2000008, 0x6000004, 4},
	{"blx imm", 0x4000000, 0xfa000000, A32, 0x2000008, 0x6000004, 4},
	{"blx r3", 0x4000000, 0xe12fff33, A32, 0x2000008, 0x6000004, 4},
	{"bl, T32", 0x4000000, 0xf000f800, T32, 0x3000004, 0x5000000, 4},
	{"bl, T32 at 2 mod 4", 0x4000002, 0xf000f800, T32, 0x3000004, 0x5000000, 4},
	{"blx imm, T32", 0x4000000, 0xf000e800, T32, 0x3000004, 0x5000000, 4},
};

static const struct refuse_case refuse_cases[] = {
	{"bl f", 0x8000, 0xeb000000, A32, 0xe1a00000, "f", LITIFUT_SITE_PATCHED},
	{"blx lr", 0x8000, 0xe12fff3e, A32, 0xe1a00000, "", LITIFUT_SITE_SPECIAL_CALLEE},
	{"blx r3", 0x8000, 0xe12fff33, A32, 0xe1a00000, "", LITIFUT_SITE_PATCHED},
	{"bl __gnu_thumb1_case_uqi", 0x8000, 0xf000f800, T32, 0xbf00, "__gnu_thumb1_case_uqi",
	 LITIFUT_SITE_SPECIAL_CALLEE},
	{"blx r3, 16 bits", 0x8000, 0x4798, T32, 0xbf00, "", LITIFUT_SITE_TOO_SHORT},
};

static void decodes(void **state)
{
	(void)state;
	check_decode(&litifut_arch_arm, &context, decode_cases, COUNT(decode_cases));
}

static void reaches_as_far_as_the_manual_says(void **state)
{
	(void)state;
	check_reach(&litifut_arch_arm, &context, reach_cases, COUNT(reach_cases));
}

static void encodes_what_it_decodes(void **state)
{
	(void)state;
	check_round_trip(&litifut_arch_arm, &context, reach_cases, COUNT(reach_cases));
}

static void leaves_what_is_special(void **state)
{
	(void)state;
	check_refuse(&litifut_arch_arm, &context, refuse_cases, COUNT(refuse_cases));
}

static void short_thumb_branches_reach_4_megabytes(void **state)
{
	const struct litifut_arch_context old = {.short_thumb_branches = true};
	const struct reach_case row = {"bl, Thumb-1", 0x4000000, 0xf000f800, T32,
				       0x3c00004,     0x4400000, 4};

	(void)state;
	check_reach(&litifut_arch_arm, &old, &row, 1);
	check_round_trip(&litifut_arch_arm, &old, &row, 1);
}

static void return_address_has_the_thumb_bit(void **state)
{
	const struct litifut_instruction plain = {.length = 4};
	const struct litifut_instruction thumb = {.length = 4, .thumb = true};
	const struct litifut_instruction narrow = {.length = 2, .thumb = true};

	(void)state;
	assert_int_equal(litifut_arch_arm.return_address(&plain, 0x8000), 0x8004);
	assert_int_equal(litifut_arch_arm.return_address(&thumb, 0x8000), 0x8005);
	assert_int_equal(litifut_arch_arm.return_address(&narrow, 0x8000), 0x8003);
}

static void reads_attributes(void **state)
{
	/* 'A', length, "aeabi", file tag with length, then tag and value pairs */
	const uint8_t v5t[] = "A\x1c\0\0\0"
			      "aeabi\0\1\x12\0\0\0"
			      "\5"
			      "5TE\0"
			      "\6\4\x8\1\x9\1";
	const uint8_t v7[] = "A\x1c\0\0\0"
			     "aeabi\0\1\x12\0\0\0"
			     "\5"
			     "7-A\0"
			     "\6\xa\x8\1\x9\2";

	(void)state;
	assert_false(litifut_arm_attributes_thumb2(v5t, sizeof(v5t) - 1));
	assert_true(litifut_arm_attributes_thumb2(v7, sizeof(v7) - 1));
	assert_true(litifut_arm_attributes_thumb2(NULL, 0));
	for (uint32_t cut = 0; cut < sizeof(v7); cut++)
		litifut_arm_attributes_thumb2(v7, cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes),
		cmocka_unit_test(reaches_as_far_as_the_manual_says),
		cmocka_unit_test(encodes_what_it_decodes),
		cmocka_unit_test(leaves_what_is_special),
		cmocka_unit_test(short_thumb_branches_reach_4_megabytes),
		cmocka_unit_test(return_address_has_the_thumb_bit),
		cmocka_unit_test(reads_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
