/* Moved instructions, tail calls and landing pads of the ARM back end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rewriter/landing_pads.h"
#include "rewriter/arm/plain.h"
#include "rewriter/arm/stone.h"
#include "rewriter/arm/tail.h"
#include "rewriter/arm/trampoline.h"
#include "rewriter/arm/word_table.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *mnemonic;
	uint32_t word;
	unsigned length;
	bool displaceable;
	bool copyable;
} forms[] = {
	{"mov r0, r4", 0x4620, 2, true, true},
	{"mov r3, pc", 0x467b, 2, true, true},
	{"add r3, pc", 0x447b, 2, true, false},
	{"mov pc, r3", 0x469f, 2, false, false},
	{"cmp r3, pc", 0x457b, 2, false, false},
	{"adr r3, .+8", 0xa301, 2, true, true},
	{"ldr r3, .+8", 0x4b01, 2, true, true},
	{"cbz r3, .+4", 0xb103, 2, true, false},
	{"beq.n .+4", 0xd000, 2, true, false},
	{"beq.w .+4", 0xf0008000, 4, true, false},
	{"b.n .", 0xe7fe, 2, false, false},
	{"pop {r4, pc}", 0xbd10, 2, false, false},
	{"pop {r4, r5}", 0xbc30, 2, true, true},
	{"pop.w {r4-r8, lr}", 0xe8bd41f0, 4, true, true},
	{"pop.w {r4-r8, pc}", 0xe8bd81f0, 4, false, false},
	{"ldr.w pc, [r3]", 0xf8d3f000, 4, false, false},
	{"ldr.w r3, [r4]", 0xf8d43000, 4, true, true},
	{"add lr, pc", 0x44fe, 2, true, false},
	{"add sp, pc", 0x44fd, 2, false, false},
	{"mov lr, pc", 0x46fe, 2, true, true},
	{"ldr.w lr, [pc, #8]", 0xf8dfe008, 4, true, true},
	{"ldr.w sp, [pc, #8]", 0xf8dfd008, 4, false, false},
	{"ldrd r2, r3, [pc, #8]", 0xe9df2302, 4, true, true},
	{"tbb [pc, r3]", 0xe8dff003, 4, false, false},
	{"vldr s0, [pc, #8]", 0xed9f0a02, 4, true, false},
	{"vldmia pc, {s0}", 0xec9f0a01, 4, false, false},
	{"vldr s0, [r1, #8]", 0xed910a02, 4, true, true},
	{"bl .", 0xf7fffffe, 4, false, false},
	{"it eq", 0xbf08, 2, false, false},
	{"nop", 0xbf00, 2, true, true},
	{"svc 0", 0xdf00, 2, false, false},
};

/* A32, at 0x1000; what is done in two steps never has the stack pointer in between. */
static const struct {
	const char *mnemonic;
	uint32_t word;
	enum litifut_arm_plain_treatment treatment;
	uint32_t operand;
} plain_forms[] = {
	{"ldr r3, [pc, #8]", 0xe59f3008, LITIFUT_ARM_PLAIN_LOADS_LITERAL, 0x1010},
	{"ldr sp, [pc, #8]", 0xe59fd008, LITIFUT_ARM_PLAIN_STUCK, 0},
	{"ldrne lr, [pc, #-8]", 0x151fe008, LITIFUT_ARM_PLAIN_LOADS_LITERAL, 0x1000},
	{"add r3, pc, #0xff0", 0xe28f3eff, LITIFUT_ARM_PLAIN_MAKES_ADDRESS, 0x1ff8},
	{"sub r3, pc, #8", 0xe24f3008, LITIFUT_ARM_PLAIN_MAKES_ADDRESS, 0x1000},
	{"add sp, pc, #8", 0xe28fd008, LITIFUT_ARM_PLAIN_STUCK, 0},
	{"ldr r3, [pc, r3]", 0xe79f3003, LITIFUT_ARM_PLAIN_USES_PC, 0},
	{"ldr sp, [pc, r3]", 0xe79fd003, LITIFUT_ARM_PLAIN_STUCK, 0},
	{"add r3, pc, r4", 0xe08f3004, LITIFUT_ARM_PLAIN_USES_PC, 0},
	{"add sp, pc, r4", 0xe08fd004, LITIFUT_ARM_PLAIN_STUCK, 0},
	{"ldrd r2, r3, [pc, #8]", 0xe1cf20d8, LITIFUT_ARM_PLAIN_LOADS_PAIR, 0x1010},
	{"vldr s0, [pc, #8]", 0xed9f0a02, LITIFUT_ARM_PLAIN_LOADS_VECTOR, 0x1010},
	{"mov r0, r1", 0xe1a00001, LITIFUT_ARM_PLAIN_MOVES, 0},
	{"svc 0", 0xef000000, LITIFUT_ARM_PLAIN_STUCK, 0},
	{"vld1.8 {d0}, [r0]", 0xf420070f, LITIFUT_ARM_PLAIN_MOVES, 0},
	{"vst1.64 {d16, d17}, [r2:128], r3", 0xf4420ae3, LITIFUT_ARM_PLAIN_MOVES, 0},
	{"vld1.8 {d0[1]}, [r2]!", 0xf4a2002d, LITIFUT_ARM_PLAIN_MOVES, 0},
	{"vadd.i32 d0, d1, d2", 0xf2210802, LITIFUT_ARM_PLAIN_MOVES, 0},
	{"pld [r0]", 0xf5d0f000, LITIFUT_ARM_PLAIN_MOVES, 0},
	{"pldw [r1, #-8]", 0xf511f008, LITIFUT_ARM_PLAIN_MOVES, 0},
	{"pld [r1, r2, lsl #3]", 0xf7d1f182, LITIFUT_ARM_PLAIN_MOVES, 0},
	{"pld [pc, #8]", 0xf5dff008, LITIFUT_ARM_PLAIN_STUCK, 0},
	{"blx 0x1008", 0xfa000000, LITIFUT_ARM_PLAIN_STUCK, 0},
};

static void what_can_be_moved_of_a32(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(plain_forms); i++) {
		if (litifut_arm_plain_treatment(plain_forms[i].word, 0x1000) !=
		    plain_forms[i].treatment)
			fail_msg("%s", plain_forms[i].mnemonic);
		assert_int_equal(litifut_arm_plain_operand(plain_forms[i].word, 0x1000),
				 plain_forms[i].operand);
	}
}

static void what_can_be_moved(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(forms); i++) {
		const struct litifut_arm_displaced each = {0x8000, forms[i].word, forms[i].length};

		if (litifut_arm_displaceable(&each) != forms[i].displaceable ||
		    litifut_arm_copyable(&each) != forms[i].copyable)
			fail_msg("%s", forms[i].mnemonic);
	}
}

static void a_tail_call_leaves_a_key_of_its_own(void **state)
{
	const struct litifut_arm_displaced none = {.address = 0x9000};
	struct litifut_arm_tail tail = {.entry = 0x8000};
	/* push {lr}; blx 0x8000; nop */
	const uint8_t expected[] = {0x00, 0xb5, 0xfd, 0xf7, 0xfe, 0xef, 0x00, 0xbf};
	uint8_t code[64];

	(void)state;
	assert_int_equal(litifut_arm_tail_write(&none, &tail, 0xa000, code), 8);
	assert_int_equal(tail.link, 0xa007);
	assert_memory_equal(code, expected, sizeof(expected));
	tail.entry = 0x8000 + (64u << 20);
	assert_int_equal(litifut_arm_tail_write(&none, &tail, 0xa000, code), 0);
}

static void blx_lr_hands_its_callee_over_on_the_stack(void **state)
{
	const struct litifut_arm_displaced before = {0x9000, 0x46a6, 2}; /* mov lr, r4 */
	/* mov lr, r4; push {lr}; push {lr}; ldr.w lr, =0x9005; add lr, pc;
	 * str.w lr, [sp, #4]; b.w 0x8008 */
	const uint8_t thumb[] = {0xa6, 0x46, 0x00, 0xb5, 0x00, 0xb5, 0xdf, 0xf8,
				 0x0c, 0xe0, 0xfe, 0x44, 0xcd, 0xf8, 0x04, 0xe0,
				 0xfd, 0xf7, 0xfa, 0xbf, 0xf7, 0xef, 0xff, 0xff};
	/* push {lr}; push {lr}; ldr lr, =0x9004; add lr, pc, lr; str lr, [sp, #4]; b 0x8000 */
	const uint8_t plain[] = {0x04, 0xe0, 0x2d, 0xe5, 0x04, 0xe0, 0x2d, 0xe5, 0x08, 0xe0,
				 0x9f, 0xe5, 0x0e, 0xe0, 0x8f, 0xe0, 0x04, 0xe0, 0x8d, 0xe5,
				 0xf9, 0xf7, 0xff, 0xea, 0xf0, 0xef, 0xff, 0xff};
	uint8_t code[64];
	unsigned pushed;

	(void)state;
	assert_int_equal(litifut_arm_lr_write(&before, 0xa000, 0x8008, code, &pushed),
			 sizeof(thumb));
	assert_memory_equal(code, thumb, sizeof(thumb));
	assert_int_equal(pushed, 2);
	assert_int_equal(litifut_arm_lr_write_plain(0x9004, 0xa000, 0x8000, code), sizeof(plain));
	assert_memory_equal(code, plain, sizeof(plain));
	assert_int_equal(litifut_arm_lr_write_plain(0x9004, 0xa000, 0x8000 + (64u << 20), code), 0);
}

static void a_moved_branch_keeps_its_condition(void **state)
{
	(void)state;
	assert_int_equal(litifut_arm_condition(0xd0fe, 2), 0xd000);
	assert_int_equal(litifut_arm_condition(0xb9fb, 2), 0xb903);
	assert_int_equal(litifut_arm_condition(0xf43faffe, 4), 0xd000);
	assert_int_equal(litifut_arm_condition(0xe7fe, 2), 0);
	assert_int_equal(litifut_arm_condition(0xdf00, 2), 0);
	assert_int_equal(litifut_arm_condition(0xf7ffbffe, 4), 0);
}

/* bx r3, with the code given before it in the function. */
static bool is_tail(const uint16_t *halves, unsigned count, bool label_inside)
{
	static const struct litifut_arch_context context;
	static const struct litifut_image image;
	uint8_t bytes[64];
	struct litifut_targets data;
	const struct litifut_section section = {
		.address = 0x8000, .size = sizeof(bytes), .bytes = bytes};
	struct litifut_cramped_call call = {
		.address = 0x8000 + 2 * count,
		.instruction = {.class = LITIFUT_CLASS_BRANCH_INDIRECT,
				.word = 0x4718,
				.target_register = 3,
				.length = 2,
				.thumb = true},
		.tail = true,
		.section = &section,
		.function_start = 0x8000,
		.function_end = 0x8000 + 2 * count + 2,
	};
	struct litifut_error error;
	bool result;

	for (unsigned i = 0; i < count; i++)
		litifut_put16(false, bytes + 2 * i, halves[i]);
	for (unsigned i = count, at = 0; i > 0 && at < LITIFUT_REMEMBERED; at++) {
		bool wide = i > 1 && litifut_arm_thumb_is_wide(halves[i - 2]);

		call.before[at] = wide ? 4 : 2;
		i -= wide ? 2 : 1;
	}
	assert_int_equal(litifut_targets_create(0x8000, 0x8100, &data, &error), LITIFUT_OK);
	if (label_inside)
		litifut_targets_add(&data, 0x8002);
	result = litifut_arm_is_indirect_tail(&image, &context, &call, &data);
	litifut_targets_release(&data);
	return result;
}

static void only_certain_jumps_are_tail_calls(void **state)
{
	const uint16_t leaf[] = {0x6803, 0xbf00};             /* ldr r3, [r0] */
	const uint16_t framed[] = {0xb510, 0x6803};           /* push {r4, lr} */
	const uint16_t restored[] = {0xb510, 0xe8bd, 0x4010}; /* ...; pop.w {r4, lr} */
	const uint16_t switched[] = {0xa301, 0x6818, 0x4403}; /* adr; ldr; add r3, r0 */
	/* add r3, r2; ldr r3, [r3]: by way of a sum, not to it */
	const uint16_t loaded[] = {0x4413, 0x681b};
	/* push {r4, lr}; ldr.w lr, [sp, #4]: any value; pop {r4}, with lr still pushed */
	const uint16_t scratch[] = {0xb510, 0xf8dd, 0xe004, 0xbc10};
	/* sub sp, #8; cbz r0, 1f; add sp, #8; bx lr; 1: ldr r3, [sp] */
	const uint16_t in_frame[] = {0xb082, 0xb108, 0xb002, 0x4770, 0x9b00};
	/* sub sp, #8; cbz r0, 1f; b.n 1f; 1: add sp, #8 */
	const uint16_t frame_gone[] = {0xb082, 0xb100, 0xe7ff, 0xb002};
	/* bl; nop: lr is not the caller's */
	const uint16_t called[] = {0xf000, 0xf800, 0xbf00};
	/* tbb [pc, r0]; of its cases, one */
	const uint16_t in_case[] = {0xe8df, 0xf000, 0x6803};
	/* push {r4, lr}; tbb; pop.w {r4, lr}: what holds at the jump does in the case */
	const uint16_t ends_case[] = {0xb510, 0xe8df, 0xf000, 0xe8bd, 0x4010};
	/* adr r2, ...; ldr r3, [r2]: from a table in the function */
	const uint16_t own_table[] = {0xa200, 0x6813};

	(void)state;
	assert_true(is_tail(leaf, COUNT(leaf), false));
	assert_false(is_tail(leaf, COUNT(leaf), true));
	assert_false(is_tail(framed, COUNT(framed), false));
	assert_true(is_tail(restored, COUNT(restored), true));
	assert_false(is_tail(switched, COUNT(switched), false));
	assert_true(is_tail(loaded, COUNT(loaded), false));
	assert_false(is_tail(scratch, COUNT(scratch), false));
	assert_false(is_tail(in_frame, COUNT(in_frame), false));
	assert_true(is_tail(frame_gone, COUNT(frame_gone), false));
	assert_false(is_tail(called, COUNT(called), false));
	assert_true(is_tail(in_case, COUNT(in_case), false));
	assert_true(is_tail(ends_case, COUNT(ends_case), true));
	assert_false(is_tail(own_table, COUNT(own_table), false));
}

/* An image of two sections: .ARM.exidx at 0x100, the tables at 0x200. */
static bool has_pad(uint8_t *tables, uint32_t size, uint32_t pad)
{
	/* function 0x8000, data at 0x200, both relative to where they stand */
	uint8_t index[8];
	struct litifut_section sections[3] = {
		{0},
		{.name = ".ARM.exidx",
		 .address = 0x100,
		 .size = sizeof(index),
		 .type = 0x70000001,
		 .flags = 2,
		 .bytes = index},
		{.name = ".ARM.extab",
		 .address = 0x200,
		 .size = size,
		 .type = 1,
		 .flags = 2,
		 .bytes = tables},
	};
	const struct litifut_image image = {.sections = sections, .section_count = 3};
	struct litifut_targets targets;
	struct litifut_error error;
	bool found;

	litifut_put32(false, index, 0x8000 - 0x100);
	litifut_put32(false, index + 4, 0x200 - 0x104);
	assert_int_equal(litifut_targets_create(0x8000, 0x9000, &targets, &error), LITIFUT_OK);
	litifut_landing_pads_add(&image, litifut_arch_find(40), &targets);
	found = litifut_targets_has(&targets, pad);
	litifut_targets_release(&targets);
	return found;
}

static void landing_pads_are_targets(void **state)
{
	/* personality; one more word of unwind code; its word; then the table: no
	 * start, types at 4, ULEB128 call sites of 8 bytes: two of them */
	uint8_t tables[] = {0, 0, 0, 0, 0xb0, 0xb0, 0xb0, 1, 0xb0, 0xb0, 0xb0, 0xb0, 0xff,
			    0, 4, 1, 8, 2,    4,    0x20, 1, 6,    4,    0x82, 0};

	(void)state;
	assert_true(has_pad(tables, sizeof(tables), 0x8020));
	assert_false(has_pad(tables, sizeof(tables), 0x8022));
	for (uint32_t cut = 0; cut < sizeof(tables); cut++)
		assert_false(has_pad(tables, cut, 0x8020));
}

/* A function at 0x8000: the code, then words, then cases from 0x8040 on. */
static size_t count_targets(const uint16_t *code, size_t halves, const uint32_t *words,
			    size_t count)
{
	uint8_t bytes[0x80] = {0};
	struct litifut_symbol function = {.address = 0x8000, .size = sizeof(bytes), .thumb = true};
	uint32_t number = 0, address = 0x8000;
	const struct litifut_image image = {.symbols = &function,
					    .symbol_count = 1,
					    .functions = &number,
					    .function_addresses = &address,
					    .function_count = 1};
	const struct litifut_section section = {
		.address = 0x8000, .size = sizeof(bytes), .bytes = bytes};
	const uint32_t start = 0x8000 + 2 * (uint32_t)halves;
	const uint32_t table = (start + 3) & ~3u;
	const struct litifut_code_range data = {start, table + 4 * (uint32_t)count,
						LITIFUT_CODE_DATA};
	struct litifut_targets targets;
	struct litifut_error error;
	size_t found = 0;

	for (size_t i = 0; i < halves; i++)
		litifut_put16(false, bytes + 2 * i, code[i]);
	for (size_t i = 0; i < count; i++)
		litifut_put32(false, bytes + (table - 0x8000) + 4 * i, words[i]);
	assert_int_equal(litifut_targets_create(0x8000, 0x8080, &targets, &error), LITIFUT_OK);
	litifut_arm_add_word_table(&image, &section, &data, &targets);
	for (size_t i = 0; i < count && i < 3; i++)
		assert_true(litifut_targets_has(&targets, (table + words[i]) & ~1u));
	for (uint32_t at = 0x8000; at < 0x8080; at += 2)
		found += litifut_targets_has(&targets, at);
	litifut_targets_release(&targets);
	return found;
}

static void a_table_of_words_begins_where_the_code_says(void **state)
{
	/* push {r4, lr}; three times nop; adr r1, table; ldr.w r0, [r1, r3, lsl #2]; add r1, r0; bx
	 * r1 */
	const uint16_t code[] = {0xb510, 0xbf00, 0xbf00, 0xbf00, 0xa102,
				 0xf851, 0x0023, 0x4401, 0x4708, 0xbf00};
	/* push {r4, lr}; nop; adr.w r8, table; ldr.w r10, [r8, r9, lsl #2]; add r8, r10; bx r8 */
	const uint16_t wide[] = {0xb510, 0xbf00, 0xf20f, 0x0808, 0xf858, 0xa029, 0x44d0, 0x4740};
	const uint32_t words[] = {0x29, 0x33, 0x3d};
	/* even: not of the table; out of the function: of no table */
	const uint32_t pool[] = {0x29, 0x33, 0x3d, 0x20, 0x29, 0x1000};
	uint16_t other[COUNT(code)];

	(void)state;
	assert_int_equal(count_targets(code, COUNT(code), words, 3), 3);
	assert_int_equal(count_targets(wide, COUNT(wide), words, 3), 3);
	/* what stands behind the table is a literal pool: the only jump has its table */
	assert_int_equal(count_targets(code, COUNT(code), pool, 6), 3);
	/* bx r3: each word of the pool may be the start of another table: 2 more for the two before
	 * it */
	memcpy(other, code, sizeof(code));
	other[1] = 0x4718;
	assert_int_equal(count_targets(other, COUNT(other), pool, 6), 3 + 1 + 2);
	for (size_t i = 4; i < 9; i++) {
		memcpy(other, code, sizeof(code));
		other[i] ^= i == 8 ? 0x18 : 0x101; /* bx r2 */
		if (count_targets(other, COUNT(other), words, 3) == 3)
			fail_msg("halfword %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_moved),
		cmocka_unit_test(what_can_be_moved_of_a32),
		cmocka_unit_test(a_tail_call_leaves_a_key_of_its_own),
		cmocka_unit_test(blx_lr_hands_its_callee_over_on_the_stack),
		cmocka_unit_test(a_moved_branch_keeps_its_condition),
		cmocka_unit_test(only_certain_jumps_are_tail_calls),
		cmocka_unit_test(landing_pads_are_targets),
		cmocka_unit_test(a_table_of_words_begins_where_the_code_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
