/* Where lr holds nothing in code of the small instruction set, and calls through a register and
 * tail calls that are reached by way of such code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/arm/arm.h"
#include "rewriter/arm/link_register.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/targets.h"

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

#define CALL (BASE + 14)
#define STUB (BASE + 0x1000)
#define COUNTS (BASE + 0x2000)

/* 0: push {r4, lr}; 2: movs r4, r0; 4: ldr r3, [r0]; 6: movs r1, #1; 8: movs r2, #2; 10: cmp r3,
 * #0; 12: beq 16; 14: blx r3; 16: pop {r4, pc} */
static const uint16_t passed[] = {0xb510, 0x0004, 0x6803, 0x2101, 0x2202,
				  0x2b00, 0xd000, 0x4798, 0xbd10};

static struct litifut_section section_of(uint8_t *code, size_t bytes, const uint16_t *halves,
					 unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		litifut_put16(false, code + 2 * (size_t)i, halves[i]);
	return (struct litifut_section){.address = BASE, .size = (uint32_t)bytes, .bytes = code};
}

/* Finds a stone for the call at CALL, or for a tail call in its place. */
static bool find(const struct litifut_section *section, bool tail, uint32_t label,
		 struct litifut_cramped_call *call)
{
	struct litifut_arm_facts facts = {.short_thumb_branches = true};
	const struct litifut_arch_context context = {.cpu.facts = &facts};
	const struct litifut_code_range range = {BASE, BASE + section->size, LITIFUT_CODE_THUMB};
	struct litifut_targets targets, taken;
	struct litifut_error error;
	bool found;

	*call = (struct litifut_cramped_call){
		.address = CALL,
		.instruction = {.class = LITIFUT_CLASS_CALL_INDIRECT,
				.thumb = true,
				.length = 2,
				.word = 0x4798,
				.target_register = 3},
		.tail = tail,
		.section = section,
		.function_start = BASE,
		.function_end = BASE + section->size,
	};
	assert_int_equal(litifut_targets_create(BASE, BASE + 0x100, &targets, &error), LITIFUT_OK);
	assert_int_equal(litifut_targets_create(BASE, BASE + 0x100, &taken, &error), LITIFUT_OK);
	litifut_targets_add(&targets, BASE + 16);
	litifut_targets_add(&targets, label);
	litifut_targets_add(&taken, CALL);
	found = litifut_firmware_arm.find_stone(&context, &range, 1, &targets, &taken, call);
	litifut_targets_release(&targets);
	litifut_targets_release(&taken);
	return found;
}

static void a_call_is_reached_by_other_code_where_lr_holds_nothing(void **state)
{
	uint8_t code[2 * COUNT(passed)];
	const struct litifut_section section =
		section_of(code, sizeof(code), passed, COUNT(passed));
	struct litifut_firmware_call call = {.detour = true,
					     .pointer = true,
					     .baseline = true,
					     .number = 7,
					     .count_pointer = COUNTS};
	struct litifut_firmware_stub stub;
	/* push {r0}; ldr r0, [pc, #12]; mov lr, r0; pop {r0}; push {r0, lr}; mov r0, r3 */
	const uint16_t begins[] = {0xb401, 0x4804, 0x4686, 0xbc01, 0xb501, 0x4618};
	const uint16_t moved[] = {0x0004, 0x6803, 0x2101, 0x2202};
	uint8_t expected[8];

	(void)state;
	assert_false(find(&section, false, BASE + 6, &call.call));
	assert_true(find(&section, false, BASE, &call.call));
	assert_int_equal(call.call.stone, BASE + 2);
	assert_int_equal(call.call.stone_bytes, 8);
	assert_true(litifut_firmware_arm.write_stub(&call, STUB, &stub));
	for (unsigned i = 0; i < COUNT(begins); i++)
		assert_int_equal(litifut_get16(false, stub.code + 2 * (size_t)i), begins[i]);
	assert_int_equal(litifut_get32(false, stub.code + 20), (CALL + 2) | 1);
	for (unsigned i = 0; i < COUNT(moved); i++)
		assert_int_equal(litifut_get16(false, stub.code + 24 + 2 * (size_t)i), moved[i]);
	assert_true(litifut_firmware_arm.write_branch(STUB + 32, BASE + 10, expected));
	litifut_put16(false, expected + 2, litifut_get16(false, expected + 2) | 0x4000);
	assert_memory_equal(stub.code + 32, expected, 4);

	assert_int_equal(stub.patches[0].address, CALL);
	assert_int_equal(stub.patches[0].length, 2);
	assert_int_equal(litifut_get16(false, stub.patches[0].bytes), 0xe7fa); /* b BASE + 6 */
	assert_int_equal(stub.patches[1].address, BASE + 2);
	assert_int_equal(stub.patches[1].length, 8);
	for (unsigned i = 0; i < 8; i += 4) { /* by a bl each, as there is no b.w */
		const uint32_t at = BASE + 2 + i;

		assert_true(litifut_firmware_arm.write_branch(at, i ? STUB : STUB + 24, expected));
		litifut_put16(false, expected + 2, litifut_get16(false, expected + 2) | 0x4000);
		assert_memory_equal(stub.patches[1].bytes + i, expected, 4);
	}
}

static void a_tail_call_has_its_lr_on_the_stack_there(void **state)
{
	uint8_t code[2 * COUNT(passed)];
	const struct litifut_section section =
		section_of(code, sizeof(code), passed, COUNT(passed));
	struct litifut_firmware_call call = {.detour = true,
					     .pointer = true,
					     .baseline = true,
					     .number = 7,
					     .count_pointer = COUNTS};
	struct litifut_firmware_stub stub;
	const uint16_t begins[] = {0xb401, 0x4618}; /* push {r0}; mov r0, r3 */
	/* push {r0, r1}; ldr r0, [sp, #8]; mov lr, r0; str r2, [sp, #8] */
	const uint16_t fast[] = {0xb403, 0x9802, 0x4686, 0x9202};
	const uint16_t moved[] = {0x0004, 0x6803, 0x2101, 0x2202, 0x2b00};
	uint8_t expected[4];

	(void)state;
	assert_false(find(&section, true, BASE + 10, &call.call)); /* 8 bytes before it */
	assert_true(find(&section, true, BASE, &call.call));
	assert_int_equal(call.call.stone, BASE + 2);
	assert_int_equal(call.call.stone_bytes, 10);
	assert_true(litifut_firmware_arm.write_stub(&call, STUB, &stub));
	for (unsigned i = 0; i < COUNT(begins); i++)
		assert_int_equal(litifut_get16(false, stub.code + 2 * (size_t)i), begins[i]);
	for (unsigned i = 0; i < COUNT(moved); i++)
		assert_int_equal(litifut_get16(false, stub.code + 12 + 2 * (size_t)i), moved[i]);
	assert_true(litifut_firmware_arm.write_branch(STUB + 22, BASE + 12, expected));
	litifut_put16(false, expected + 2, litifut_get16(false, expected + 2) | 0x4000);
	assert_memory_equal(stub.code + 22, expected, 4);

	assert_int_equal(litifut_get16(false, stub.patches[0].bytes), 0xe7fa); /* b BASE + 6 */
	assert_int_equal(stub.patches[1].address, BASE + 2);
	assert_int_equal(stub.patches[1].length, 10);
	assert_int_equal(litifut_get16(false, stub.patches[1].bytes + 4), 0xb500); /* push {lr} */
	for (unsigned i = 0; i <= 6; i += 6) {
		const uint32_t at = BASE + 2 + i;

		assert_true(litifut_firmware_arm.write_branch(at, i ? STUB : STUB + 12, expected));
		litifut_put16(false, expected + 2, litifut_get16(false, expected + 2) | 0x4000);
		assert_memory_equal(stub.patches[1].bytes + i, expected, 4);
	}

	call.pointer = false;
	assert_true(litifut_firmware_arm.write_stub(&call, STUB, &stub));
	for (unsigned n = 0; n < COUNT(fast); n++)
		assert_int_equal(litifut_get16(false, stub.code + 2 * (size_t)n), fast[n]);
	/* push {r0}, or nop for the code that takes times, which needs lr alone */
	call.small = true;
	for (unsigned times = 0; times < 2; times++) {
		call.times = times;
		assert_true(litifut_firmware_arm.write_stub(&call, STUB, &stub));
		assert_int_equal(litifut_get16(false, stub.code), times ? 0x46c0 : 0xb401);
	}
}

static void a_jump_to_an_even_address_stays_in_t32_code(void **state)
{
	uint8_t code[2 * COUNT(passed)];
	const struct litifut_section section =
		section_of(code, sizeof(code), passed, COUNT(passed));
	const struct litifut_firmware_call call = {
		.call = {.address = BASE + 10,
			 .instruction = {.class = LITIFUT_CLASS_BRANCH_INDIRECT,
					 .thumb = true,
					 .length = 2,
					 .word = 0x469f, /* mov pc, r3 */
					 .target_register = 3},
			 .tail = true,
			 .section = &section,
			 .before = {2}},
		.detour = true,
		.pointer = true,
		.count_pointer = COUNTS};
	struct litifut_firmware_stub stub;
	/* movs r2, #2; push {r0, lr}; mov r0, r3; lsrs r0, #1; lsls r0, #1; adds r0, #1 */
	const uint16_t begins[] = {0x2202, 0xb501, 0x4618, 0x0840, 0x0040, 0x3001};

	(void)state;
	assert_true(litifut_firmware_arm.write_stub(&call, STUB, &stub));
	for (unsigned i = 0; i < COUNT(begins); i++)
		assert_int_equal(litifut_get16(false, stub.code + 2 * (size_t)i), begins[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_leads_on_with_a_link_that_is_not_saved),
		cmocka_unit_test(a_call_is_reached_by_other_code_where_lr_holds_nothing),
		cmocka_unit_test(a_tail_call_has_its_lr_on_the_stack_there),
		cmocka_unit_test(a_jump_to_an_even_address_stays_in_t32_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
