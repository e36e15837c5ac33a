/* The MIPS back end on its table of cases, in both byte orders; the words were
 * made by the assembler. */
#include "tests/unit/rewriter_cases.h"

#include <stdarg.h>
#include <setjmp.h>

#include <cmocka.h>
#include <elf.h>
#include <litifut/module_format.h>

#include "rewriter/mips/mips.h"

#define MIPS LITIFUT_CODE_PLAIN
#define CALL LITIFUT_CLASS_CALL_DIRECT
#define CALL_REGISTER LITIFUT_CLASS_CALL_INDIRECT
#define FOREIGN LITIFUT_CLASS_FOREIGN_CALL
#define BRANCH LITIFUT_CLASS_BRANCH_DIRECT
#define BRANCH_REGISTER LITIFUT_CLASS_BRANCH_INDIRECT
#define OTHER LITIFUT_CLASS_OTHER
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct litifut_arch_context contexts[] = {
	{.cpu.big_endian = false, .cpu.position_independent = true},
	{.cpu.big_endian = true, .cpu.position_independent = true},
};

static const struct decode_case decode_cases[] = {
	{"jal 0x400100", 0x400000, 0x0c100040, MIPS, 4, CALL, 0x400100, 0, 0},
	{"jal, delay slot in the next region", 0x0ffffffc, 0x0c000040, MIPS, 4, CALL, 0x10000100, 0,
	 0},
	{"bal .+8", 0x1000, 0x04110001, MIPS, 4, CALL, 0x1008, 0, 0},
	{"bal .-4", 0x1000, 0x0411fffe, MIPS, 4, CALL, 0xffc, 0, 0},
	{"bgezal $2, .+16", 0x1000, 0x04510003, MIPS, 4, CALL, 0x1010, 0, 1},
	{"bltzal $2, .+16", 0x1000, 0x04500003, MIPS, 4, CALL, 0x1010, 0, 1},
	{"jalr $25", 0x1000, 0x0320f809, MIPS, 4, CALL_REGISTER, 0, 25, 0},
	{"jalr $2", 0x1000, 0x0040f809, MIPS, 4, CALL_REGISTER, 0, 2, 0},
	{"jr $31", 0x1000, 0x03e00008, MIPS, 4, BRANCH_REGISTER, 0, 31, 0},
	{"jr $25", 0x1000, 0x03200008, MIPS, 4, BRANCH_REGISTER, 0, 25, 0},
	{"j 0x400100", 0x400000, 0x08100040, MIPS, 4, BRANCH, 0x400100, 0, 0},
	{"b .+8", 0x1000, 0x10000001, MIPS, 4, BRANCH, 0x1008, 0, 0},
	{"beq $2, $3, .+8", 0x1000, 0x10430001, MIPS, 4, BRANCH, 0x1008, 0, 1},
	{"bne $2, $0, .+8", 0x1000, 0x14400001, MIPS, 4, BRANCH, 0x1008, 0, 1},
	{"bltz $2, .+8", 0x1000, 0x04400001, MIPS, 4, BRANCH, 0x1008, 0, 1},
	{"jalx 0x400100", 0x400000, 0x74100040, MIPS, 4, FOREIGN, 0, 0, 0},
	{"addu $2, $3, $4", 0x1000, 0x00641021, MIPS, 4, OTHER, 0, 0, 0},
	{"synci 0($2)", 0x1000, 0x045f0000, MIPS, 4, OTHER, 0, 0, 0},
	{"nop", 0x1000, 0x00000000, MIPS, 4, OTHER, 0, 0, 0},
};

static const struct reach_case reach_cases[] = {
	{"bal", 0x400000, 0x04110001, MIPS, 0x3e0004, 0x420000, 4},
	{"bgezal $2", 0x400000, 0x04510001, MIPS, 0x3e0004, 0x420000, 4},
	{"jalr $25", 0x400000, 0x0320f809, MIPS, 0x3e0004, 0x420000, 4},
};

static const struct refuse_case refuse_cases[] = {
	{"bal .+16", 0x1000, 0x04110003, MIPS, 0, "", LITIFUT_SITE_PATCHED},
	{"bal .+8", 0x1000, 0x04110001, MIPS, 0, "", LITIFUT_SITE_NOT_A_CALL},
	{"jalx", 0x400000, 0x74100040, MIPS, 0, "", LITIFUT_SITE_FOREIGN_ISA},
	{"jalr $25; nop", 0x1000, 0x0320f809, MIPS, 0, "", LITIFUT_SITE_PATCHED},
	{"jalr $25; move $4, $25", 0x1000, 0x0320f809, MIPS, 0x03202025, "", LITIFUT_SITE_PATCHED},
	{"jalr $25; move $25, $4", 0x1000, 0x0320f809, MIPS, 0x0080c825, "",
	 LITIFUT_SITE_TOO_SHORT},
	{"jalr $25; lw $25, 0($4)", 0x1000, 0x0320f809, MIPS, 0x8c990000, "",
	 LITIFUT_SITE_TOO_SHORT},
	{"jalr $25; sw $25, 0($4)", 0x1000, 0x0320f809, MIPS, 0xac990000, "", LITIFUT_SITE_PATCHED},
	{"jalr $25; addiu $25, $25, 4", 0x1000, 0x0320f809, MIPS, 0x27390004, "",
	 LITIFUT_SITE_TOO_SHORT},
	{"jalr $25; mtc1 $25, $f0", 0x1000, 0x0320f809, MIPS, 0x44990000, "", LITIFUT_SITE_PATCHED},
	{"jalr $25; mfc1 $25, $f0", 0x1000, 0x0320f809, MIPS, 0x44190000, "",
	 LITIFUT_SITE_TOO_SHORT},
	{"jalr.hb $25", 0x1000, 0x0320fc09, MIPS, 0, "", LITIFUT_SITE_PATCHED},
	{"jalr $7, $25", 0x1000, 0x03203809, MIPS, 0, "", LITIFUT_SITE_SPECIAL_FORM},
	{"bal .+16; addiu $31, $31, 4", 0x1000, 0x04110003, MIPS, 0x27ff0004, "",
	 LITIFUT_SITE_DELAY_SLOT},
};

/* MIPS16 and microMIPS: only that calls are seen and lengths are right. */
static const struct decode_case compact_cases[] = {
	{"MIPS16 jal", 0x1000, 0x18000040, LITIFUT_CODE_MIPS16, 4, FOREIGN, 0, 0, 0},
	{"MIPS16 jalr $2", 0x1000, 0xea40, LITIFUT_CODE_MIPS16, 2, FOREIGN, 0, 0, 0},
	{"MIPS16 jalrc $2", 0x1000, 0xeac0, LITIFUT_CODE_MIPS16, 2, FOREIGN, 0, 0, 0},
	{"MIPS16 jr $31", 0x1000, 0xe820, LITIFUT_CODE_MIPS16, 2, OTHER, 0, 0, 0},
	{"MIPS16 extended lw", 0x1000, 0xf0109a60, LITIFUT_CODE_MIPS16, 4, OTHER, 0, 0, 0},
	{"microMIPS jal", 0x1000, 0xf4000800, LITIFUT_CODE_MICROMIPS, 4, FOREIGN, 0, 0, 0},
	{"microMIPS jals", 0x1000, 0x74000800, LITIFUT_CODE_MICROMIPS, 4, FOREIGN, 0, 0, 0},
	{"microMIPS jalr $25", 0x1000, 0x03f90f3c, LITIFUT_CODE_MICROMIPS, 4, FOREIGN, 0, 0, 0},
	{"microMIPS jalr16 $25", 0x1000, 0x45d9, LITIFUT_CODE_MICROMIPS, 2, FOREIGN, 0, 0, 0},
	{"microMIPS jrc $31", 0x1000, 0x45bf, LITIFUT_CODE_MICROMIPS, 2, OTHER, 0, 0, 0},
	{"microMIPS bal", 0x1000, 0x40600004, LITIFUT_CODE_MICROMIPS, 4, FOREIGN, 0, 0, 0},
	{"microMIPS bgez", 0x1000, 0x40400004, LITIFUT_CODE_MICROMIPS, 4, OTHER, 0, 0, 0},
};

static void decodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(contexts); i++)
		check_decode(&litifut_arch_mips, &contexts[i], decode_cases, COUNT(decode_cases));
}

static void reaches_as_far_as_the_manual_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(contexts); i++)
		check_reach(&litifut_arch_mips, &contexts[i], reach_cases, COUNT(reach_cases));
}

static void encodes_what_it_decodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(contexts); i++)
		check_round_trip(&litifut_arch_mips, &contexts[i], reach_cases, COUNT(reach_cases));
}

static void leaves_what_is_special(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(contexts); i++)
		check_refuse(&litifut_arch_mips, &contexts[i], refuse_cases, COUNT(refuse_cases));
}

static void sees_compact_calls(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(contexts); i++)
		check_decode(&litifut_arch_mips, &contexts[i], compact_cases, COUNT(compact_cases));
}

static void absolute_jumps_reach_their_region(void **state)
{
	const struct litifut_arch_context fixed = {.cpu.big_endian = true};
	const struct reach_case row = {"jal", 0x400000, 0x0c100000, MIPS, 0, 0x0ffffffc, 4};
	const struct reach_case bal = {"bal", 0x400000, 0x04110001, MIPS, 0, 0x0ffffffc, 4};
	struct litifut_instruction instruction;
	uint8_t bytes[4];

	(void)state;
	check_round_trip(&litifut_arch_mips, &fixed, &row, 1);
	check_round_trip(&litifut_arch_mips, &fixed, &bal, 1);
	put_instruction(&fixed, row.word, MIPS, bytes);
	cpu_mips.decode(&fixed.cpu, bytes, 4, row.address, MIPS, &instruction);
	assert_false(
		cpu_mips.encode_call(&fixed.cpu, &instruction, row.address, 0x10000000, bytes));
	assert_int_equal(cpu_mips.reach(&fixed.cpu, &instruction), UINT32_MAX);
}

static void return_address_is_behind_the_delay_slot(void **state)
{
	const struct litifut_instruction instruction = {.length = 4};

	(void)state;
	assert_int_equal(cpu_mips.return_address(&instruction, 0x1000), 0x1008);
}

static void skips_what_is_no_branch(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(contexts); i++) {
		check_skip(&litifut_arch_mips, &contexts[i], LITIFUT_CODE_PLAIN);
		check_skip(&litifut_arch_mips, &contexts[i], LITIFUT_CODE_MIPS16);
	}
}

/* Words of data beside each other may be distances of a switch; words of unwind tables are not. */
static void tables_name_labels(void **state)
{
	static const char *const names[] = {".rodata", ".eh_frame", ".eh_frame_hdr", ".data"};
	uint8_t bytes[4][12];
	struct litifut_section sections[5] = {0};
	struct litifut_image image = {.sections = sections, .section_count = 5};
	const struct litifut_pointers pointers = {.alignment = 4};
	struct litifut_targets targets = {0};
	struct litifut_error error;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		const uint32_t first = 0x100 * i - 0x7000;

		/* the last has one that stands alone */
		litifut_put32(false, bytes[i], i == 3 ? 1 : first);
		litifut_put32(false, bytes[i] + 4, first + 4);
		litifut_put32(false, bytes[i] + 8, i == 3 ? 2 : first + 8);
		sections[i + 1] = (struct litifut_section){.name = names[i],
							   .type = SHT_PROGBITS,
							   .flags = SHF_ALLOC,
							   .size = sizeof(bytes[i]),
							   .bytes = bytes[i]};
	}
	assert_int_equal(litifut_targets_create(0x1000, 0x2000, &targets, &error), 0);
	litifut_targets_add_offsets(&targets, &image, &pointers, 0x8000);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t at = 0x1000 + 0x100 * i; at < 0x100c + 0x100 * i; at += 4)
			assert_int_equal(litifut_targets_has(&targets, at), i == 0);
	litifut_targets_release(&targets);
}

/* Text and numbers of 16 bits often look like an address that code can't have. */
static void pointers_to_the_middle_of_instructions_are_not_labels(void **state)
{
	uint8_t bytes[16];
	struct litifut_section sections[2] = {{0},
					      {.name = ".rodata",
					       .type = SHT_PROGBITS,
					       .flags = SHF_ALLOC,
					       .size = sizeof(bytes),
					       .bytes = bytes}};
	const struct litifut_image image = {.sections = sections, .section_count = 2};
	struct litifut_pointers pointers = {.alignment = 4};
	struct litifut_targets targets = {0};
	struct litifut_error error;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		litifut_put32(false, bytes + 4 * i, 0x1000 + 0x11 * i);
	for (unsigned any = 0; any < 2; any++) {
		assert_int_equal(litifut_targets_create(0x1000, 0x2000, &targets, &error), 0);
		litifut_targets_add_pointers(&targets, &image, &pointers);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(litifut_targets_has(&targets, 0x1000 + 0x11 * i),
					 any || i == 0);
		litifut_targets_release(&targets);
		pointers.alignment = 0;
	}
}

/* -pg: _mcount gets in $at what ra was, so that the tracer has no register. */
static void calls_with_something_in_at_are_left(void **state)
{
	static const struct {
		uint32_t before[3];
		unsigned reason;
	} cases[] = {
		{{0, 0, 0x03e00825}, LITIFUT_SITE_SPECIAL_CALLEE}, /* move at, ra */
		{{0x03e00821, 0x27bdfff8, 0x8f990000}, LITIFUT_SITE_SPECIAL_CALLEE},
		{{0, 0, 0x03e01025}, LITIFUT_SITE_PATCHED}, /* move v0, ra */
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		const struct litifut_arch_context context = {.cpu.big_endian = i & 1};
		struct litifut_instruction instruction;
		uint8_t bytes[20] = {0};

		for (unsigned word = 0; word < 3; word++)
			litifut_put32(i & 1, bytes + 4 * word, cases[i / 2].before[word]);
		litifut_put32(i & 1, bytes + 12, 0x0320f809);
		litifut_mips_decode(&context.cpu, bytes + 12, 8, 0x100c, MIPS, &instruction);
		assert_int_equal(litifut_arch_mips.refuse(&context, &instruction, 0x100c,
							  bytes + 16, 4, 12, ""),
				 cases[i / 2].reason);
	}
}

/* `bal` over some words, which the code behind them loads by the return address. */
static void bal_over_data_is_no_call(void **state)
{
	static const struct {
		uint32_t word;   /* at 0x1000 */
		uint32_t target; /* what stands 24 bytes behind it, the last that are known */
		unsigned reason;
	} cases[] = {
		{0x04110005, 0x8ffc0000, LITIFUT_SITE_NOT_A_CALL}, /* lw gp, 0(ra) */
		{0x04110005, 0x8ff90004, LITIFUT_SITE_NOT_A_CALL}, /* lw t9, 4(ra) */
		{0x04110005, 0x8fbc0000, LITIFUT_SITE_PATCHED},    /* lw gp, 0(sp) */
		{0x04110005, 0x27bdffe0, LITIFUT_SITE_PATCHED},    /* addiu sp, sp, -32 */
		{0x04110004, 0x8ffc0000, LITIFUT_SITE_PATCHED},    /* to before it */
		{0x04110006, 0x8ffc0000, LITIFUT_SITE_PATCHED},    /* to behind it */
		{0x0411fff0, 0x8ffc0000, LITIFUT_SITE_PATCHED},    /* backwards */
	};

	(void)state;
	for (unsigned order = 0; order < 2; order++) {
		const struct litifut_arch_context context = {.cpu.big_endian = order};

		for (size_t i = 0; i < COUNT(cases); i++) {
			struct litifut_instruction instruction;
			uint8_t bytes[28] = {0};

			litifut_put32(context.cpu.big_endian, bytes, cases[i].word);
			litifut_put32(context.cpu.big_endian, bytes + 24, cases[i].target);
			cpu_mips.decode(&context.cpu, bytes, 4, 0x1000, LITIFUT_CODE_PLAIN,
					&instruction);
			assert_int_equal(litifut_arch_mips.refuse(&context, &instruction, 0x1000,
								  bytes + 4, sizeof(bytes) - 4, 0,
								  ""),
					 cases[i].reason);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_to_the_middle_of_instructions_are_not_labels),
		cmocka_unit_test(decodes),
		cmocka_unit_test(calls_with_something_in_at_are_left),
		cmocka_unit_test(reaches_as_far_as_the_manual_says),
		cmocka_unit_test(encodes_what_it_decodes),
		cmocka_unit_test(leaves_what_is_special),
		cmocka_unit_test(sees_compact_calls),
		cmocka_unit_test(absolute_jumps_reach_their_region),
		cmocka_unit_test(return_address_is_behind_the_delay_slot),
		cmocka_unit_test(skips_what_is_no_branch),
		cmocka_unit_test(tables_name_labels),
		cmocka_unit_test(bal_over_data_is_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
