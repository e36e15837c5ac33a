/* Where jumps to a label and a number lead, from the code before them: words that the assembler
 * made, with blocks as the graph has them, and as many rounds or branches as are asked for behind
 * the jump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rewriter/arm/scaled_jump.h"

#define BASE 0x10000u
#define WORDS 24
#define BLOCKS 64
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Where a block ends, in the words. */
#define TO(word) (word), LITIFUT_ENDS_BRANCH
#define OUT(word) (word), LITIFUT_ENDS_RETURN
#define JUMP(word) (word), LITIFUT_ENDS_JUMP

struct end {
	unsigned word; /* the last one; of T32 code halves count */
	unsigned ends;
	bool conditional;
};

struct scaled_case {
	const char *name;
	bool thumb;
	uint32_t words[WORDS]; /* 16 bits each if `thumb` */
	unsigned count;
	struct end ends[5];
	unsigned rounds, step; /* behind the jump and what fills up to the label */
	unsigned label;        /* where these begin: word */
	unsigned led_to;       /* word that something else leads to; 0: none */
	enum litifut_arm_scaled_form form;
	int first, last;
};

/* cmp r0, r1; bls; tst r1, r2; beq; clz r3, r0; clz r2, r1; sub.w r3, r2, r3; rsb r3, r3, #31;
 * adr r2; add.w r3, r2, r3, lsl #4; mov.w r2, #0; mov pc, r3; nop */
#define DIVISION(compare, branch, first, sum)                                                      \
	{                                                                                          \
		compare, branch, 0x4211, 0xd011, 0xfab0, 0xf380, first, 0xf281, 0xeba2, 0x0303,    \
			0xf1c3, 0x031f, 0xa203, 0xeb02, sum, 0xf04f, 0x0200, 0x469f, 0xbf00,       \
			0xbf00                                                                     \
	}
#define DIVISION_ENDS                                                                              \
	{                                                                                          \
		{TO(1), true}, {TO(3), true},                                                      \
		{                                                                                  \
			JUMP(17), false                                                            \
		}                                                                                  \
	}
/* cmp r0, #39; bhi; adr r1; add.w r1, r1, r0, lsl #2; mov pc, r1 */
#define ROW(compare, branch, label, jump)                                                          \
	{                                                                                          \
		compare, branch, label, 0xeb01, 0x0180, jump                                       \
	}
#define ROW_ENDS                                                                                   \
	{                                                                                          \
		{TO(1), true},                                                                     \
		{                                                                                  \
			JUMP(5), false                                                             \
		}                                                                                  \
	}
/* cmp r0, r1; bls; clz r2, r0; clz r3, r1; sub r3, r3, r2; rsbs r3, r3, #31; addne r3, r3, r3,
 * lsl #1; mov r2, #0; addne pc, pc, r3, lsl #2; nop */
#define PLAIN(branch, sum, third, jump)                                                            \
	{                                                                                          \
		0xe1500001, branch, 0xe16f2f10, 0xe16f3f11, 0xe0433002, 0xe273301f, sum, third,    \
			jump, 0xe1a00000                                                           \
	}
#define PLAIN_ENDS                                                                                 \
	{                                                                                          \
		{TO(1), true},                                                                     \
		{                                                                                  \
			JUMP(8), true                                                              \
		}                                                                                  \
	}

static const struct scaled_case cases[] = {
	{"division", true, DIVISION(0x4288, 0xd912, 0xfab1, 0x1303), 20, DIVISION_ENDS, 32, 16, 20,
	 0, LITIFUT_ARM_SCALED_KNOWN, -1, 31},
	{"one round too few", true, DIVISION(0x4288, 0xd912, 0xfab1, 0x1303), 20, DIVISION_ENDS, 31,
	 16, 20, 0, LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"rounds of another size", true, DIVISION(0x4288, 0xd912, 0xfab1, 0x1303), 20,
	 DIVISION_ENDS, 32, 12, 20, 0, LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"the other order", true, DIVISION(0x4281, 0xd212, 0xfab1, 0x1303), 20, DIVISION_ENDS, 32,
	 16, 20, 0, LITIFUT_ARM_SCALED_KNOWN, -1, 31},
	{"not so high", true, DIVISION(0x4288, 0xd312, 0xfab1, 0x1303), 20, DIVISION_ENDS, 32, 16,
	 20, 0, LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"with a sign", true, DIVISION(0x4288, 0xdd12, 0xfab1, 0x1303), 20, DIVISION_ENDS, 32, 16,
	 20, 0, LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"other numbers", true, DIVISION(0x4290, 0xd912, 0xfab1, 0x1303), 20, DIVISION_ENDS, 32, 16,
	 20, 0, LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"something leads behind it", true, DIVISION(0x4288, 0xd912, 0xfab1, 0x1303), 20,
	 DIVISION_ENDS, 32, 16, 20, 4, LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"a row", true, ROW(0x2827, 0xd804, 0xa101, 0x468f), 6, ROW_ENDS, 40, 4, 6, 0,
	 LITIFUT_ARM_SCALED_KNOWN, 0, 39},
	{"a row that is too short", true, ROW(0x2827, 0xd804, 0xa101, 0x468f), 6, ROW_ENDS, 39, 4,
	 6, 0, LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"below, and not at most", true, ROW(0x2827, 0xd204, 0xa101, 0x468f), 6, ROW_ENDS, 40, 4, 6,
	 0, LITIFUT_ARM_SCALED_KNOWN, 0, 38},
	{"another condition", true, ROW(0x2827, 0xd904, 0xa101, 0x468f), 6, ROW_ENDS, 40, 4, 6, 0,
	 LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"another number", true, ROW(0x2927, 0xd804, 0xa101, 0x468f), 6, ROW_ENDS, 40, 4, 6, 0,
	 LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"to A32 code", true, ROW(0x2827, 0xd804, 0xa101, 0x4708), 6, ROW_ENDS, 40, 4, 6, 0,
	 LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"no address", true, ROW(0x2827, 0xd804, 0x4601, 0x468f), 6, ROW_ENDS, 40, 4, 6, 0,
	 LITIFUT_ARM_SCALED_NOT, 0, 0},
	{"another block has the address",
	 true,
	 {0x2827, 0xd804, 0xa101, 0xe7ff, 0xeb01, 0x0180, 0x468f, 0xbf00},
	 8,
	 {{TO(1), true}, {TO(3), false}, {JUMP(6), false}},
	 40,
	 4,
	 8,
	 0,
	 LITIFUT_ARM_SCALED_UNKNOWN,
	 0,
	 0},
	{"by another register", true, ROW(0x2827, 0xd804, 0xa101, 0x4697), 6, ROW_ENDS, 40, 4, 6, 0,
	 LITIFUT_ARM_SCALED_NOT, 0, 0},
	{"clang's: cmp r0, #39; itt hi; movhi r0, #0; bxhi lr; push {r4, lr}; ...",
	 true,
	 {0x2827, 0xbf84, 0x2000, 0x4770, 0xb510, 0xa102, 0xeb01, 0x0180, 0x468f, 0xbf00},
	 10,
	 {{OUT(3), true}, {JUMP(8), false}},
	 40,
	 4,
	 10,
	 0,
	 LITIFUT_ARM_SCALED_KNOWN,
	 0,
	 39},
	{"the same, but moveq",
	 true,
	 {0x2827, 0xbf08, 0x2000, 0xd8fe, 0xb510, 0xa102, 0xeb01, 0x0180, 0x468f, 0xbf00},
	 10,
	 {{TO(3), true}, {JUMP(8), false}},
	 40,
	 4,
	 10,
	 0,
	 LITIFUT_ARM_SCALED_UNKNOWN,
	 0,
	 0},
	{"GCC's table: ldr.w r0, [r1, r0, lsl #2]; add r1, r0; bx r1",
	 true,
	 {0x2827, 0xd804, 0xa102, 0xf851, 0x0020, 0x4401, 0x4708, 0xbf00},
	 8,
	 {{TO(1), true}, {JUMP(6), false}},
	 40,
	 4,
	 8,
	 0,
	 LITIFUT_ARM_SCALED_NOT,
	 0,
	 0},
	{"lsls r0, r0, #2; adr r1; add r1, r0; mov pc, r1",
	 true,
	 {0x2827, 0xd804, 0x0080, 0xa101, 0x4401, 0x468f},
	 6,
	 {{TO(1), true}, {JUMP(5), false}},
	 40,
	 4,
	 6,
	 0,
	 LITIFUT_ARM_SCALED_KNOWN,
	 0,
	 39},
	{"the same with add r0, r1; mov pc, r0",
	 true,
	 {0x2827, 0xd804, 0x0080, 0xa101, 0x4408, 0x4687},
	 6,
	 {{TO(1), true}, {JUMP(5), false}},
	 40,
	 4,
	 6,
	 0,
	 LITIFUT_ARM_SCALED_KNOWN,
	 0,
	 39},
	{"A32", false, PLAIN(0x9a000010, 0x10833083, 0xe3a02000, 0x108ff103), 10, PLAIN_ENDS, 32,
	 12, 10, 0, LITIFUT_ARM_SCALED_KNOWN, -1, 31},
	{"A32, lower", false, PLAIN(0x3a000010, 0x10833083, 0xe3a02000, 0x108ff103), 10, PLAIN_ENDS,
	 32, 12, 10, 0, LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"A32, times three in another case", false,
	 PLAIN(0x9a000010, 0x00833083, 0xe3a02000, 0x108ff103), 10, PLAIN_ENDS, 32, 12, 10, 0,
	 LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
	{"A32, other flags", false, PLAIN(0x9a000010, 0x10833083, 0xe3b02000, 0x108ff103), 10,
	 PLAIN_ENDS, 32, 12, 10, 0, LITIFUT_ARM_SCALED_UNKNOWN, 0, 0},
#define CHANGED(name, change, form, last)                                                          \
	{                                                                                          \
		name, false, {0xe3500027, 0x8a000010, change, 0xe08ff100, 0xe1a00000}, 5,          \
			{{TO(1), true}, {JUMP(3), false}}, 40, 4, 5, 0, form, 0, last              \
	}
	CHANGED("A32, a row", 0xe1a01000, LITIFUT_ARM_SCALED_KNOWN, 39),
	CHANGED("A32, smulbb r0, r0, r1", 0xe1600180, LITIFUT_ARM_SCALED_UNKNOWN, 0),
	CHANGED("A32, umaal r0, r2, r3, r4", 0xe0420493, LITIFUT_ARM_SCALED_UNKNOWN, 0),
	CHANGED("A32, vldmia r0!, {d8}", 0xecb08b02, LITIFUT_ARM_SCALED_UNKNOWN, 0),
	CHANGED("A32, vld1.8 {d0}, [r0]!", 0xf420070d, LITIFUT_ARM_SCALED_UNKNOWN, 0),
	{"vstmia r0!, {s0}",
	 true,
	 {0x2827, 0xd804, 0xeca0, 0x0a01, 0xa101, 0xeb01, 0x0180, 0x468f},
	 8,
	 {{TO(1), true}, {JUMP(7), false}},
	 40,
	 4,
	 8,
	 0,
	 LITIFUT_ARM_SCALED_UNKNOWN,
	 0,
	 0},
	{"A32, another jump", false, PLAIN(0x9a000010, 0x10833083, 0xe3a02000, 0x112fff13), 10,
	 PLAIN_ENDS, 32, 12, 10, 0, LITIFUT_ARM_SCALED_NOT, 0, 0},
};

static uint32_t add_block(struct litifut_graph *graph, const struct scaled_case *c, uint32_t start,
			  uint32_t end, unsigned ends, unsigned length, bool conditional)
{
	struct litifut_graph_block *block = &graph->items[graph->count++];

	block->block.start = start;
	block->block.end = end;
	block->block.branch = ends == LITIFUT_ENDS_ON ? 0 : end - length;
	block->block.ends = (uint8_t)ends;
	block->block.flags = (uint8_t)((c->thumb ? LITIFUT_BLOCK_THUMB : 0) |
				       (conditional ? LITIFUT_BLOCK_CONDITIONAL : 0) |
				       (start == BASE ? LITIFUT_BLOCK_FUNCTION : 0));
	block->length = (uint8_t)length;
	block->function = 1;
	/* the only one whose condition an `it` makes */
	block->in_block = conditional && ends == LITIFUT_ENDS_RETURN;
	return end;
}

static void check(const struct scaled_case *c)
{
	const unsigned each = c->thumb ? 2 : 4;
	const uint32_t label = BASE + c->label * each;
	uint8_t code[4096] = {0};
	struct litifut_section section = {.address = BASE, .size = sizeof(code), .bytes = code};
	struct litifut_symbol symbol = {.address = BASE, .size = sizeof(code), .thumb = c->thumb};
	struct litifut_image image = {
		.sections = &section, .section_count = 1, .symbols = &symbol, .symbol_count = 1};
	struct litifut_graph_block items[BLOCKS];
	struct litifut_graph graph = {.items = items};
	struct litifut_arm_scaled jump;
	struct litifut_error error;
	uint32_t at = BASE;
	size_t number = 0;

	memset(items, 0, sizeof(items));
	for (unsigned i = 0; i < c->count; i++)
		if (c->thumb)
			litifut_put16(false, code + 2 * i, (uint16_t)c->words[i]);
		else
			litifut_put32(false, code + 4 * i, c->words[i]);
	for (unsigned i = 0; i < COUNT(c->ends) && c->ends[i].ends; i++) {
		number = graph.count;
		at = add_block(&graph, c, at, BASE + (c->ends[i].word + 1) * each, c->ends[i].ends,
			       each, c->ends[i].conditional);
	}
	if (at < label)
		at = add_block(&graph, c, at, label, LITIFUT_ENDS_ON, 0, false);
	for (unsigned i = 0; i < c->rounds; i++)
		at = add_block(&graph, c, at, at + c->step, LITIFUT_ENDS_ON, 0, false);
	assert_int_equal(litifut_targets_create(BASE, BASE + sizeof(code), &graph.targets, &error),
			 0);
	if (c->led_to)
		litifut_targets_add(&graph.targets, BASE + c->led_to * each);
	if (litifut_arm_scaled_jump(&image, &graph, number, &jump) != c->form)
		fail_msg("%s: another form", c->name);
	if (c->form == LITIFUT_ARM_SCALED_KNOWN && (jump.base != label || jump.step != c->step ||
						    jump.first != c->first || jump.last != c->last))
		fail_msg("%s: %#x, %u bytes, %d to %d", c->name, (unsigned)jump.base,
			 (unsigned)jump.step, (int)jump.first, (int)jump.last);
	litifut_targets_release(&graph.targets);
}

static void forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		check(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
