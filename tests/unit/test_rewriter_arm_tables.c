/* Switches of Thumb-1 code: which calls are such, where their tables lead, and what is data. The
 * code is what the assembler made, at BASE, and that of libgcc's functions at HELPERS. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/bytes.h"
#include "rewriter/arm/table_call.h"
#include "rewriter/code_targets.h"

#define BASE 0x10000u
#define HELPERS 0x10100u /* uqi, sqi, uhi, shi, si, si, each 32 bytes behind the one before */
#define OTHER 0x101c0u   /* looks like uqi, but adds 4 */
#define VENEER 0x101e0u  /* of a Cortex-M0, to uqi */
#define BYTES 0x200u
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { UQI, SQI, UHI, SHI, SI, OLD_SI, ADDS_4, TO_UQI };

static const uint16_t code_of_helpers[][16] = {
	{0xb402, 0x4671, 0x0849, 0x0049, 0x5c09, 0x0049, 0x448e, 0xbc02, 0x4770},
	{0xb402, 0x4671, 0x0849, 0x0049, 0x5609, 0x0049, 0x448e, 0xbc02, 0x4770},
	{0xb403, 0x4671, 0x0849, 0x0040, 0x0049, 0x5a09, 0x0049, 0x448e, 0xbc03, 0x4770},
	{0xb403, 0x4671, 0x0849, 0x0040, 0x0049, 0x5e09, 0x0049, 0x448e, 0xbc03, 0x4770},
	{0xb403, 0x4671, 0x3102, 0x0889, 0x0080, 0x0089, 0x5808, 0x1840, 0x4686, 0xbc03, 0x46f7},
	{0xb403, 0x4671, 0x1c89, 0x0889, 0x0080, 0x0089, 0x5808, 0x1840, 0x4686, 0xbc03, 0x46f7},
	{0xb402, 0x4671, 0x0849, 0x0049, 0x5c09, 0x0049, 0x3104, 0x448e, 0xbc02, 0x4770},
	/* push {r0}; ldr r0, [pc, #8]; mov ip, r0; pop {r0}; bx ip; nop; .word */
	{0xb401, 0x4802, 0x4684, 0xbc01, 0x4760, 0xbf00, 0x0101, 0x0001},
};

struct code {
	uint8_t bytes[BYTES];
	struct litifut_section sections[2];
	struct litifut_symbol symbols[2];
	uint32_t functions[2];
	uint32_t addresses[2];
	struct litifut_image image;
};

static void put(struct code *code, uint32_t address, uint16_t half)
{
	litifut_put16(false, code->bytes + (address - BASE), half);
}

static void put_call(struct code *code, uint32_t address, unsigned callee)
{
	const uint32_t distance = HELPERS + 32 * callee - (address + 4);

	put(code, address, (uint16_t)(0xf000 | (distance >> 12 & 0x7ff)));
	put(code, address + 2, (uint16_t)(0xf800 | (distance >> 1 & 0x7ff)));
}

static void set_up(struct code *code)
{
	memset(code, 0, sizeof(*code));
	for (size_t i = 0; i < COUNT(code_of_helpers); i++)
		for (uint32_t j = 0; j < 16; j++)
			put(code, HELPERS + 32 * (uint32_t)i + 2 * j, code_of_helpers[i][j]);
	code->sections[1] = (struct litifut_section){.name = ".text",
						     .type = SHT_PROGBITS,
						     .flags = SHF_ALLOC,
						     .address = BASE,
						     .size = BYTES,
						     .bytes = code->bytes};
	code->symbols[0] = (struct litifut_symbol){
		.name = "f", .address = BASE, .size = HELPERS - BASE, .section = 1, .thumb = true};
	code->symbols[1] = (struct litifut_symbol){.name = "__gnu_thumb1_case_uqi",
						   .address = HELPERS,
						   .size = 18,
						   .section = 1,
						   .thumb = true};
	code->functions[1] = 1;
	code->addresses[0] = BASE;
	code->addresses[1] = HELPERS;
	code->image = (struct litifut_image){.sections = code->sections,
					     .section_count = 2,
					     .symbols = code->symbols,
					     .symbol_count = 2,
					     .functions = code->functions,
					     .function_addresses = code->addresses,
					     .function_count = 2};
}

/* A switch: code before the call, the call, its table and, in `graph`, where blocks begin behind
 * it. */
struct table_case {
	const char *name;
	uint16_t before[4]; /* 0: no more */
	unsigned callee;
	uint16_t table[6]; /* halfwords */
	unsigned halves;
	uint32_t blocks[6]; /* offsets from the end of the call, or below it with a sign; 0: no more
			     */
	bool is_followed;
	unsigned targets[6]; /* the same, of those that the data names */
};

#define COMPARED                                                                                   \
	{                                                                                          \
		0x2802, 0xd804 /* cmp r0, #2; bhi */                                               \
	}

static const struct table_case cases[] = {
	{"bytes", COMPARED, UQI, {0x0402, 0x0006}, 2, {4, 8, 12}, true, {4, 8, 12}},
	{"bytes, not compared", {0x4018}, UQI, {0x0402, 0x0006}, 2, {4, 8, 12}, true, {4, 8, 12}},
	{"a copy of what was compared",
	 {0x2b02, 0xd804, 0x0018},
	 UQI,
	 {0x0402, 0x0006},
	 2,
	 {4, 8, 12},
	 true,
	 {4, 8, 12}},
	{"a copy of another number",
	 {0x2b02, 0xd804, 0x0008},
	 UQI,
	 {0x0402, 0x0106},
	 2,
	 {4, 8, 12},
	 false,
	 {4, 8, 12}},
	{"a place that is no block", COMPARED, UQI, {0x0402, 0x0007}, 2, {4, 8, 12}, false, {4, 8}},
	{"a table that is too short", COMPARED, UQI, {0x0401}, 1, {2, 8}, false, {2, 8}},
	{"something like more of it behind it",
	 COMPARED,
	 UQI,
	 {0x0804, 0x000a, 0x0405, 0x0404},
	 4,
	 {8, 16, 20},
	 true,
	 {8, 16, 20}},
	{"the same, not compared",
	 {0x4018},
	 UQI,
	 {0x0804, 0x000a, 0x0405, 0x0404},
	 4,
	 {8, 16, 20},
	 false,
	 {8, 16, 20}},
	{"behind a veneer", COMPARED, TO_UQI, {0x0402, 0x0006}, 2, {4, 8, 12}, true, {4, 8, 12}},
	{"bytes with a sign", COMPARED, SQI, {0xf002, 0x0004}, 2, {4, 8, -32u}, true, {4, 8, -32u}},
	{"halves", COMPARED, UHI, {0x0003, 0x0004, 0x0006}, 3, {6, 8, 12}, true, {6, 8, 12}},
	{"halves with a sign",
	 COMPARED,
	 SHI,
	 {0x0003, 0xfff0, 0x0006},
	 3,
	 {6, -32u, 12},
	 true,
	 {6, -32u, 12}},
	{"words",
	 {0x2801, 0xd804},
	 SI,
	 {0xbf00, 0x0008, 0x0000, 0xffe0, 0xffff},
	 5,
	 {10, -30u},
	 true,
	 {10, -30u}},
	{"words, an older libgcc",
	 {0x2801, 0xd804},
	 OLD_SI,
	 {0xbf00, 0x0008, 0x0000, 0xffe0, 0xffff},
	 5,
	 {10, -30u},
	 true,
	 {10, -30u}},
	{"what only looks like it", COMPARED, ADDS_4, {0x0402, 0x0006}, 2, {4, 8, 12}, false, {0}},
};

#define CALL (BASE + 0x40) /* the end of the call is at a multiple of 4 and 2 with words */

static void check(const struct table_case *c)
{
	static struct code code;
	const uint32_t call = CALL + (c->callee == SI || c->callee == OLD_SI ? 2 : 0);
	const uint32_t end = call + 4;
	struct litifut_graph_block items[8] = {0};
	struct litifut_graph graph = {.items = items};
	struct litifut_targets targets;
	struct litifut_error error;
	unsigned before = 0;
	uint32_t start;

	set_up(&code);
	while (before < COUNT(c->before) && c->before[before])
		before++;
	start = call - 2 * before;
	for (unsigned i = 0; i < before; i++)
		put(&code, start + 2 * i, c->before[i]);
	put_call(&code, call, c->callee);
	for (unsigned i = 0; i < c->halves; i++)
		put(&code, end + 2 * i, c->table[i]);

	/* where the table leads */
	const struct litifut_code_range ranges[] = {
		{BASE, end, LITIFUT_CODE_THUMB},
		{end, end + 2 * c->halves, LITIFUT_CODE_DATA},
	};

	assert_int_equal(litifut_targets_create(BASE, BASE + BYTES, &targets, &error), 0);
	litifut_arm_add_table_call(&code.image, &code.sections[1], &ranges[0], &ranges[1],
				   &targets);
	for (uint32_t at = BASE; at < BASE + BYTES; at += 2) {
		bool named = false;

		for (unsigned i = 0; i < COUNT(c->targets); i++)
			named |= c->targets[i] && at == end + c->targets[i];
		if (litifut_targets_has(&targets, at) && !named && at >= end + 2 * c->halves &&
		    c->is_followed)
			fail_msg("%s: leads to %#x", c->name, (unsigned)(at - end));
		if (!litifut_targets_has(&targets, at) && named)
			fail_msg("%s: does not lead to %d", c->name, (int)(at - end));
	}

	/* the blocks: one before all, that of the comparison, that of the call, those behind */
	assert_int_equal(litifut_targets_create(BASE, BASE + BYTES, &graph.targets, &error), 0);
	for (unsigned i = 0; i < COUNT(c->blocks) && c->blocks[i]; i++)
		if (end + c->blocks[i] < call)
			items[graph.count++].block = (struct litifut_block){
				.start = end + c->blocks[i], .flags = LITIFUT_BLOCK_LABEL};
	if (before > 1)
		items[graph.count++].block =
			(struct litifut_block){.start = start,
					       .end = start + 4,
					       .branch = start + 2,
					       .ends = LITIFUT_ENDS_BRANCH,
					       .flags = LITIFUT_BLOCK_CONDITIONAL};
	items[graph.count++].block = (struct litifut_block){.start = start + (before > 1 ? 4 : 0),
							    .end = end,
							    .branch = call,
							    .ends = LITIFUT_ENDS_CALL};

	const size_t number = graph.count - 1;

	for (unsigned i = 0; i < COUNT(c->blocks) && c->blocks[i]; i++)
		if (end + c->blocks[i] > call)
			items[graph.count++].block = (struct litifut_block){
				.start = end + c->blocks[i], .flags = LITIFUT_BLOCK_LABEL};
	for (size_t i = 0; i < graph.count; i++) {
		items[i].block.flags |= LITIFUT_BLOCK_THUMB;
		items[i].function = 1;
		items[i].section = 1;
		items[i].length = 4;
		if (!items[i].block.end)
			items[i].block.end = items[i].block.start + 2;
	}
	items[number - (before > 1)].length = before > 1 ? 2 : 4;
	if (litifut_arm_follows_table(&code.image, &graph, number) != c->is_followed)
		fail_msg("%s: is%s followed", c->name, c->is_followed ? " not" : "");
	litifut_targets_release(&graph.targets);
	litifut_targets_release(&targets);
}

static void forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		check(&cases[i]);
}

static void helpers_are_known_by_their_code(void **state)
{
	static struct code code;

	(void)state;
	set_up(&code);
	for (unsigned i = 0; i < COUNT(code_of_helpers); i++)
		assert_int_equal(litifut_arm_is_table_helper(&code.image, HELPERS + 32 * i),
				 i <= OLD_SI);
	assert_false(litifut_arm_is_table_helper(&code.image, BASE + BYTES - 4));
}

/* The ranges of a section that is code all over. */
static size_t cut(struct code *code, struct litifut_code_range **ranges)
{
	struct litifut_error error;
	size_t count = 1;

	*ranges = malloc(sizeof(**ranges));
	assert_non_null(*ranges);
	(*ranges)[0] = (struct litifut_code_range){BASE, HELPERS, LITIFUT_CODE_THUMB};
	assert_int_equal(
		litifut_arm_cut_tables(&code->image, &code->sections[1], ranges, &count, &error),
		0);
	return count;
}

static void tables_without_mapping_symbols_are_data(void **state)
{
	struct litifut_code_range *ranges;
	struct code code;

	(void)state;
	set_up(&code);
	put(&code, BASE + 0x10, 0x2802); /* cmp r0, #2; bhi */
	put(&code, BASE + 0x12, 0xd804);
	put_call(&code, BASE + 0x14, UQI);
	put(&code, BASE + 0x18, 0x0402); /* places at 0x1c, 0x20 and 0x24 */
	put(&code, BASE + 0x1a, 0xf006);
	put_call(&code, BASE + 0x30, UHI); /* not compared */
	put(&code, BASE + 0x34, 0x0006);
	put(&code, BASE + 0x36, 0x0003);
	put(&code, BASE + 0x38, 0x0007);
	put_call(&code, BASE + 0x50, ADDS_4);
	put(&code, BASE + 0x54, 0x0402);
	assert_int_equal(cut(&code, &ranges), 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(ranges[i].state, i % 2 ? LITIFUT_CODE_DATA : LITIFUT_CODE_THUMB);
	assert_int_equal(ranges[1].start, BASE + 0x18);
	assert_int_equal(ranges[1].end, BASE + 0x1c);
	assert_int_equal(ranges[3].start, BASE + 0x34);
	assert_int_equal(ranges[3].end, BASE + 0x3a);
	assert_int_equal(ranges[4].end, HELPERS);
	free(ranges);

	/* what leads out of the function is no table */
	put(&code, BASE + 0x38, 0x4000);
	put(&code, BASE + 0x18, 0x0302);
	put(&code, BASE + 0x1a, 0xf0ff);
	assert_int_equal(cut(&code, &ranges), 1);
	free(ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(helpers_are_known_by_their_code),
		cmocka_unit_test(tables_without_mapping_symbols_are_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
