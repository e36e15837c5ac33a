/* LITIFUT_MODE=paths on the host: what instructions do to frames, where the blocks of a function
 * have their return address, the walk from words of a trace to blocks, activations with their
 * paths, units, and patterns. All code is bytes of this file; the words were made by the assembler.
 * More than 500 lines, as all cases walk the same few functions. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/bytes.h"
#include "cpu/cpu.h"
#include "cpu/frame.h"
#include "postproc/paths/activations.h"
#include "postproc/paths/mined.h"
#include "postproc/paths/units.h"
#include "postproc/table.h"

#define A32 LITIFUT_CODE_PLAIN
#define T32 LITIFUT_CODE_THUMB
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* What one instruction makes of a frame. */
struct track_case {
	const char *mnemonic;
	uint32_t word; /* 32-bit T32: first halfword << 16 | second */
	enum litifut_code_state state;
	uint32_t depth, saved, kept; /* before */
	bool known_after;
	uint32_t depth_after, saved_after, kept_after;
};

static const struct track_case arm_cases[] = {
	{"push {r4, lr}", 0xe92d4010, A32, 0, 0, 0, true, 8, 4, 0},
	{"push {r4, r5}", 0xe92d0030, A32, 0, 0, 0, true, 8, 0, 0},
	{"str lr, [sp, #-4]!", 0xe52de004, A32, 0, 0, 0, true, 4, 4, 0},
	{"sub sp, sp, #16", 0xe24dd010, A32, 8, 4, 0, true, 24, 4, 0},
	{"add sp, sp, #16", 0xe28dd010, A32, 24, 4, 0, true, 8, 4, 0},
	{"pop {r4, lr}", 0xe8bd4010, A32, 8, 4, 0, true, 0, 0, 0},
	{"mov r0, r1", 0xe1a00001, A32, 8, 4, 0, true, 8, 4, 0},
	{"sub sp, sp, r3", 0xe04dd003, A32, 8, 4, 0, false, 8, 4, 0},
	{"push {r4, lr}", 0xb510, T32, 0, 0, 0, true, 8, 4, 0},
	{"push.w {r4, r8, lr}", 0xe92d4110, T32, 0, 0, 0, true, 12, 4, 0},
	{"sub sp, #8", 0xb082, T32, 8, 4, 0, true, 16, 4, 0},
	{"add sp, #8", 0xb002, T32, 16, 4, 0, true, 8, 4, 0},
	{"nop", 0xbf00, T32, 8, 4, 0, true, 8, 4, 0},
};

static const struct track_case mips_cases[] = {
	{"addiu $sp, $sp, -32", 0x27bdffe0, A32, 0, 0, 0, true, 32, 0, 0},
	{"sw $ra, 28($sp)", 0xafbf001c, A32, 32, 0, 0, true, 32, 4, 0},
	{"sw $s0, 24($sp)", 0xafb00018, A32, 32, 4, 0, true, 32, 4, 0},
	{"move $fp, $sp", 0x03a0f025, A32, 32, 4, 0, true, 32, 4, 32},
	{"subu $sp, $sp, $v0", 0x03a2e823, A32, 32, 4, 32, false, 32, 4, 32},
	{"move $sp, $fp", 0x03c0e825, A32, 48, 4, 32, true, 32, 4, 32},
	{"lw $fp, 24($sp)", 0x8fbe0018, A32, 32, 4, 32, true, 32, 4, 0},
	{"addiu $sp, $sp, 32", 0x27bd0020, A32, 32, 4, 0, true, 0, 0, 0},
	{"nop", 0x00000000, A32, 32, 4, 0, true, 32, 4, 0},
};

/* The return address takes two bytes, but in the last ones. */
static const struct track_case avr_cases[] = {
	{"push r28", 0x93cf, T32, 2, 2, 0, true, 3, 2, 0},
	{"pop r17", 0x911f, T32, 4, 2, 9, true, 3, 2, 9},
	{"pop r28", 0x91cf, T32, 4, 2, 9, true, 3, 2, 0},
	{"pop r0, above the return address", 0x900f, T32, 2, 2, 0, false, 0, 0, 0},
	{"in r28, SPL", 0xb7cd, T32, 6, 2, 0, true, 6, 2, 6},
	{"in r29, SPH", 0xb7de, T32, 6, 2, 6, true, 6, 2, 6},
	{"in r29, SREG", 0xb7df, T32, 6, 2, 6, true, 6, 2, 0},
	{"sbiw r28, 21", 0x9765, T32, 6, 2, 6, true, 6, 2, 27},
	{"adiw r28, 21", 0x9665, T32, 27, 2, 27, true, 27, 2, 6},
	{"sbiw r26, 21", 0x9755, T32, 6, 2, 6, true, 6, 2, 6},
	{"subi r28, 44", 0x52cc, T32, 6, 2, 6, true, 6, 2, 50},
	{"sbci r29, 1", 0x40d1, T32, 6, 2, 50, true, 6, 2, 306},
	{"sbci r29, 255", 0x4fdf, T32, 50, 2, 262, true, 50, 2, 6},
	{"out SPL, r28", 0xbfcd, T32, 6, 2, 27, true, 27, 2, 27},
	{"out SPH, r29", 0xbfde, T32, 6, 2, 27, true, 6, 2, 27},
	{"out SPL, r28 of anything", 0xbfcd, T32, 6, 2, 0, false, 0, 0, 0},
	{"out SPL, r24", 0xbf8d, T32, 6, 2, 27, false, 0, 0, 0},
	{"movw r28, r24", 0x01ec, T32, 6, 2, 27, true, 6, 2, 0},
	{"ldi r29, 1", 0xe0d1, T32, 6, 2, 27, true, 6, 2, 0},
	{"cpi r28, 1", 0x30c1, T32, 6, 2, 27, true, 6, 2, 27},
	{"add r28, r24", 0x0fc8, T32, 6, 2, 27, true, 6, 2, 0},
	{"cp r28, r24", 0x17c8, T32, 6, 2, 27, true, 6, 2, 27},
	{"inc r28", 0x95c3, T32, 6, 2, 27, true, 6, 2, 0},
	{"ldd r28, Z+1", 0x81c1, T32, 6, 2, 27, true, 6, 2, 0},
	{"std Y+1, r28", 0x83c9, T32, 6, 2, 27, true, 6, 2, 27},
	{"ld r24, Y+", 0x9189, T32, 6, 2, 27, true, 6, 2, 0},
	{"lds r28, 0x100", 0x91c00100, T32, 6, 2, 27, true, 6, 2, 0},
	{"call", 0x940e0100, T32, 6, 2, 27, true, 6, 2, 27},
	{"rcall .+0", 0xd000, T32, 6, 2, 0, true, 8, 2, 0},
	{"rcall .+0, addresses of three bytes", 0xd000, T32, 6, 3, 0, true, 9, 3, 0},
};

static unsigned put_code(bool big_endian, enum litifut_code_state state, uint32_t word,
			 uint8_t *code)
{
	if (state == A32) {
		litifut_put32(big_endian, code, word);
		return 4;
	}
	if (word >> 16)
		litifut_put16(big_endian, code, (uint16_t)(word >> 16));
	litifut_put16(big_endian, code + (word >> 16 ? 2 : 0), (uint16_t)word);
	return word >> 16 ? 4 : 2;
}

static void track_all(unsigned machine, bool big_endian, const struct track_case *cases,
		      size_t count)
{
	const struct cpu_context context = {.big_endian = big_endian};
	const struct cpu *cpu = cpu_find(machine);

	for (size_t i = 0; i < count; i++) {
		const struct track_case *test = &cases[i];
		struct cpu_frame frame = {.known = true,
					  .depth = test->depth,
					  .saved = test->saved,
					  .kept = test->kept};
		uint8_t code[4];
		const unsigned length = put_code(big_endian, test->state, test->word, code);

		if (cpu->track(&context, code, length, test->state, &frame) != length ||
		    frame.known != test->known_after ||
		    (frame.known &&
		     (frame.depth != test->depth_after || frame.saved != test->saved_after ||
		      frame.kept != test->kept_after)))
			fail_msg("%s: known %d, depth %u, saved %u, kept %u", test->mnemonic,
				 frame.known, frame.depth, frame.saved, frame.kept);
		/* a piece of it is not an instruction */
		assert_int_equal(cpu->track(&context, code, 1, test->state, &frame), 0);
	}
}

static void instructions_change_frames(void **state)
{
	(void)state;
	track_all(EM_ARM, false, arm_cases, COUNT(arm_cases));
	track_all(EM_MIPS, false, mips_cases, COUNT(mips_cases));
	track_all(EM_MIPS, true, mips_cases, COUNT(mips_cases));
	track_all(EM_AVR, false, avr_cases, COUNT(avr_cases));
}

/* In an IT block a push is made or not. */
static void conditional_instructions_leave_frames(void **state)
{
	static const uint16_t words[] = {0xbf1c /* itt ne */, 0xb082 /* sub sp, #8 */,
					 0xbf00 /* nop */, 0xb082 /* sub sp, #8 */};
	const struct cpu_context context = {0};
	const struct cpu *cpu = cpu_find(EM_ARM);
	struct cpu_frame frame = {.known = true};
	uint8_t code[2];

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		put_code(false, T32, words[i], code);
		assert_int_equal(cpu->track(&context, code, 2, T32, &frame), 2);
		assert_int_equal(frame.may_leave, i > 0);
		assert_int_equal(frame.depth, i == 3 ? 8 : 0);
	}
}

/* The program of the other tests, for each CPU: main() has a condition, and calls other() if it
 * does not hold; other(), which is a leaf, has one as well. */
enum { MAIN, CALL, BEHIND, MAIN_END, OTHER, PASSED, OTHER_END, BLOCKS };

#define BASE 0x1000u
#define BIAS 0x40000000u
#define STUB(block) (BASE + 0x1000u + 0x40u * (block)) /* the code of an edge of a block */
#define STACK 0x7fff0000u
#define CODE_BYTES 0x80u

struct program {
	unsigned machine;
	bool big_endian;
	uint32_t words[20];
	struct {
		uint32_t start, end, branch; /* from BASE on */
	} blocks[BLOCKS];
	uint32_t depth; /* of main()'s frame, whose first word from above is the return address */
};

/* clang-format off */
static const struct program programs[] = {
	{EM_ARM, false,
	 {0xe92d4010 /* push {r4, lr} */, 0xe3500000 /* cmp r0, #0 */, 0x0a000001 /* beq */,
	  0xeb000003 /* bl */, 0xe1a00000 /* nop */, 0xe8bd8010 /* pop {r4, pc} */, 0xe1a00000, 0xe1a00000,
	  0xe3500001 /* cmp r0, #1 */, 0x0a000000 /* beq */, 0xe1a00000, 0xe12fff1e /* bx lr */},
	 {{0x00, 0x0c, 0x08}, {0x0c, 0x10, 0x0c}, {0x10, 0x14, 0}, {0x14, 0x18, 0x14},
	  {0x20, 0x28, 0x24}, {0x28, 0x2c, 0}, {0x2c, 0x30, 0x2c}}, 8},
	{EM_MIPS, true,
	 {0x27bdffe0 /* addiu $sp, $sp, -32 */, 0xafbf001c /* sw $ra, 28($sp) */, 0x10800005 /* beqz */, 0,
	  0x0c000000 /* jal */, 0, 0, 0, 0x8fbf001c /* lw $ra, 28($sp) */, 0x03e00008 /* jr $ra */,
	  0x27bd0020 /* addiu $sp, $sp, 32 */, 0, 0x10850002 /* beq */, 0, 0, 0x03e00008, 0},
	 {{0x00, 0x10, 0x08}, {0x10, 0x18, 0x10}, {0x18, 0x20, 0}, {0x20, 0x2c, 0x24},
	  {0x30, 0x38, 0x30}, {0x38, 0x3c, 0}, {0x3c, 0x44, 0x3c}}, 32},
};
/* clang-format on */

/* What all CPUs have in common: how each block ends, and where it goes. */
static const struct {
	uint8_t ends, flags;
	int target;
	uint32_t entered;
} common[BLOCKS] = {
	[MAIN] = {LITIFUT_ENDS_BRANCH, LITIFUT_BLOCK_CONDITIONAL | LITIFUT_BLOCK_FUNCTION, MAIN_END,
		  LITIFUT_ENTERED_RECORD},
	[CALL] = {LITIFUT_ENDS_CALL, 0, OTHER, 0},
	[BEHIND] = {LITIFUT_ENDS_ON, 0, -1, 0},
	[MAIN_END] = {LITIFUT_ENDS_RETURN, 0, -1, 0},
	[OTHER] = {LITIFUT_ENDS_BRANCH, LITIFUT_BLOCK_CONDITIONAL | LITIFUT_BLOCK_FUNCTION,
		   OTHER_END, 0},
	[PASSED] = {LITIFUT_ENDS_ON, 0, -1, 0},
	[OTHER_END] = {LITIFUT_ENDS_RETURN, 0, -1, 0},
};

/* A session with one process that has one module. */
struct made {
	uint8_t code[CODE_BYTES];
	struct litifut_block blocks[BLOCKS];
	struct litifut_site sites[4];
	struct post_segment segment;
	struct post_image image;
	struct post_module modules[2];
	struct post_mapping mapping;
	struct post_problems problems;
	struct post_session session;
	uint32_t words[64];
	struct post_chunk chunks[2];
	struct post_trace trace;
	struct post_process process;
	struct post_path_codes codes;
};

static void add_site(struct made *made, unsigned number, uint32_t address, uint32_t exit,
		     enum litifut_site_kind kind)
{
	made->sites[number] = (struct litifut_site){.address = address,
						    .exit = exit,
						    .kind = kind,
						    .site_class = LITIFUT_SITE_CLASS_EDGE};
}

static void make(struct made *made, const struct program *program)
{
	*made = (struct made){0};
	for (size_t i = 0; i < COUNT(program->words); i++)
		litifut_put32(program->big_endian, made->code + 4 * i, program->words[i]);
	for (size_t i = 0; i < BLOCKS; i++)
		made->blocks[i] = (struct litifut_block){
			.start = BASE + program->blocks[i].start,
			.end = BASE + program->blocks[i].end,
			.branch = program->blocks[i].branch || i == MAIN
					  ? BASE + program->blocks[i].branch
					  : 0,
			.target = common[i].target < 0
					  ? 0
					  : BASE + program->blocks[common[i].target].start,
			.entered = common[i].entered,
			.ends = common[i].ends,
			.flags = common[i].flags,
		};
	add_site(made, 0, made->blocks[MAIN].start, STUB(0), LITIFUT_SITE_BLOCK);
	add_site(made, 1, made->blocks[MAIN].branch, STUB(1), LITIFUT_SITE_BRANCH);
	add_site(made, 2, made->blocks[OTHER].branch, STUB(2), LITIFUT_SITE_BRANCH);
	made->segment = (struct post_segment){BASE, 0, CODE_BYTES, CODE_BYTES, true};
	made->image = (struct post_image){.path = (char *)"program",
					  .cpu = cpu_find(program->machine),
					  .file = {.bytes = made->code,
						   .size = CODE_BYTES,
						   .big_endian = program->big_endian},
					  .big_endian_code = program->big_endian,
					  .segments = &made->segment,
					  .segment_count = 1,
					  .sites = made->sites,
					  .site_count = 3,
					  .blocks = made->blocks,
					  .block_count = BLOCKS};
	made->modules[1] = (struct post_module){.name = (char *)"program", .image = &made->image};
	made->mapping = (struct post_mapping){.start = BIAS + BASE,
					      .end = BIAS + BASE + 0x2000,
					      .bias = BIAS,
					      .module = 1,
					      .end_epoch = UINT32_MAX};
	made->session = (struct post_session){
		.problems = &made->problems, .modules = made->modules, .module_count = 2};
	made->trace = (struct post_trace){.path = (char *)"trace",
					  .data = (const uint8_t *)made->words,
					  .bits = made->chunks};
	made->process = (struct post_process){
		.trace = &made->trace, .mappings = &made->mapping, .mapping_count = 1};
}

/* One more chunk of thread 7. */
static void add_chunk(struct made *made, const uint32_t *words, uint32_t count)
{
	const size_t number = made->trace.bits_count++;
	const size_t offset = number ? made->chunks[0].word_count * sizeof(*words) : 0;

	memcpy((uint8_t *)made->words + offset, words, count * sizeof(*words));
	made->chunks[number] = (struct post_chunk){
		.offset = offset, .word_count = count, .thread = 7, .number = (uint32_t)number};
}

/* B: a block, with the calls that are open; b: a possible one; + and -: its branch is taken, or
 * not; a gap. */
static void write_step(void *context, const struct post_path_step *step)
{
	static const char *const words[] = {"B", "+", "-", "gap"};
	char *text = context;

	text += strlen(text);
	if (step->kind == POST_PATH_GAP)
		strcpy(text, "gap ");
	else if (step->kind == POST_PATH_BLOCK)
		sprintf(text, "B%u@%u ", step->block, step->depth);
	else if (step->kind == POST_PATH_POSSIBLE)
		sprintf(text, "b%u@%u ", step->block, step->depth);
	else
		sprintf(text, "%s ", words[step->kind]);
}

static void expect(struct made *made, size_t first, const char *steps, unsigned problems)
{
	struct post_path_totals totals = {0};
	char text[500] = "";

	made->problems.count = 0;
	post_paths_walk_from(&made->session, &made->process, first, &made->codes, write_step, text,
			     &totals);
	assert_string_equal(text, steps);
	assert_int_equal(made->problems.count, problems);
	post_path_codes_release(&made->codes);
}

/* The record of the start of main(), in a trace. */
#define ENTER_MAIN (LITIFUT_BITS_RECORD | (BIAS + STUB(0)) >> 1)

static void bits_become_blocks(void **state)
{
	struct made made;

	(void)state;
	for (size_t i = 0; i < COUNT(programs); i++) {
		/* the first bit of a word is its highest */
		const uint32_t words[] = {ENTER_MAIN, 5 /* 0, 1 */, ENTER_MAIN, 4 /* 0, 0 */,
					  ENTER_MAIN, 3 /* 1 */,    0};

		make(&made, &programs[i]);
		add_chunk(&made, words, COUNT(words));
		expect(&made, 0,
		       "B0@0 - B1@0 B4@1 + B6@1 B2@0 B3@0 "
		       "B0@0 - B1@0 B4@1 - B5@1 B6@1 B2@0 B3@0 B0@0 + B3@0 ",
		       0);
	}
}

/* A handler comes where a bit is waited for, and goes; then the bit of what it has interrupted. */
static void records_interrupt(void **state)
{
	struct made made;

	(void)state;
	for (size_t i = 0; i < COUNT(programs); i++) {
		const uint32_t words[] = {ENTER_MAIN, 2 /* 0 */, ENTER_MAIN, 3 /* 1 */, 3 /* 1 */};

		make(&made, &programs[i]);
		add_chunk(&made, words, COUNT(words));
		expect(&made, 0, "B0@0 - B1@0 B4@1 B0@2 + B3@2 + B6@1 b2@0 b3@0 ", 0);
	}
}

/* What only the code leads to is possible, until the thread has recorded something behind it, or
 * has ended by exit(). A handler that never returns proves nothing of what it has interrupted. */
static void ends_are_possible(void **state)
{
	const uint32_t words[] = {ENTER_MAIN, 2 /* 0 */, 3 /* 1 */};
	const uint32_t handler[] = {ENTER_MAIN, 2 /* 0 */, ENTER_MAIN, 3 /* 1 */};
	const uint32_t again[] = {ENTER_MAIN, 2 /* 0 */, ENTER_MAIN,
				  2 /* 0 */,  2 /* 0 */, 2 /* 0 */};
	struct made made;

	(void)state;
	for (size_t i = 0; i < COUNT(programs); i++) {
		make(&made, &programs[i]);
		add_chunk(&made, words, COUNT(words));
		expect(&made, 0, "B0@0 - B1@0 B4@1 + B6@1 b2@0 b3@0 ", 0);
		made.trace.header.state = LITIFUT_TRACE_RUNNING;
		expect(&made, 0, "B0@0 - B1@0 B4@1 + B6@1 b2@0 b3@0 ", 0);
		made.trace.header.state = LITIFUT_TRACE_STOPPED;
		expect(&made, 0, "B0@0 - B1@0 B4@1 + B6@1 B2@0 B3@0 ", 0);
		/* the memory of a firmware */
		made.trace.bare = true;
		expect(&made, 0, "B0@0 - B1@0 B4@1 + B6@1 b2@0 b3@0 ", 0);

		make(&made, &programs[i]);
		add_chunk(&made, handler, COUNT(handler));
		expect(&made, 0, "B0@0 - B1@0 b4@1 B0@2 + B3@2 ", 0);
		made.trace.header.state = LITIFUT_TRACE_STOPPED;
		/* it waits at the branch, so it has not ended the process */
		expect(&made, 0, "B0@0 - B1@0 b4@1 B0@2 + B3@2 ", 0);

		make(&made, &programs[i]);
		add_chunk(&made, again, COUNT(again));
		expect(&made, 0,
		       "B0@0 - B1@0 B4@1 B0@2 - B1@2 B4@3 - B5@3 B6@3 B2@2 B3@2 - B5@1 b6@1 b2@0 "
		       "b3@0 ",
		       0);
	}
}

#define CONTROL(kind, count)                                                                       \
	(LITIFUT_BITS_RECORD | LITIFUT_CONTROL_WORD(LITIFUT_WORD_##kind, count))
/* Of a firmware: two handlers that come one behind the other, and one within the other. The last
 * bit of the one that has been interrupted is there when the other has returned. */
static void interrupts_come_at_once(void **state)
{
	const uint32_t at = BIAS + STUB(2);
	const uint32_t chained[] = {ENTER_MAIN,
				    2 /* 0 */,
				    CONTROL(INTERRUPT, 2),
				    at,
				    STACK | 1,
				    ENTER_MAIN,
				    3 /* 1 */,
				    CONTROL(INTERRUPT, 2),
				    at,
				    STACK | 1,
				    ENTER_MAIN,
				    3 /* 1 */,
				    3 /* 1 */};
	/* the second one interrupts the first before that has recorded its start */
	const uint32_t within[] = {ENTER_MAIN,
				   2 /* 0 */,
				   CONTROL(INTERRUPT, 2),
				   at,
				   STACK | 1,
				   CONTROL(INTERRUPT, 2),
				   BIAS + STUB(0),
				   STACK - 64,
				   ENTER_MAIN,
				   3 /* 1 */,
				   ENTER_MAIN,
				   3 /* 1 */,
				   3 /* 1 */};
	/* of a task that has recorded nothing yet, the first one goes back to code that is not
	 * known */
	const uint32_t first[] = {CONTROL(INTERRUPT, 2), at, STACK | 1, ENTER_MAIN, 3 /* 1 */,
				  CONTROL(INTERRUPT, 2), at, STACK | 1, ENTER_MAIN, 3 /* 1 */};
	/* the same where words are missing, and one that says where the CPU is stands for the
	 * record
	 */
	const uint32_t missing[] = {CONTROL(LOST, 1),
				    1,
				    CONTROL(INTERRUPT, 2),
				    at,
				    STACK | 1,
				    CONTROL(SYNC, 3),
				    BIAS + STUB(0),
				    STACK - 8,
				    0, /* epoch */
				    3 /* 1 */,
				    CONTROL(INTERRUPT, 2),
				    at,
				    STACK | 1,
				    ENTER_MAIN,
				    3 /* 1 */};
	/* an interrupt came, then words are missing, and the next one is that of another interrupt
	 */
	const uint32_t behind_loss[] = {
		ENTER_MAIN,       2 /* 0 */, CONTROL(INTERRUPT, 2), at, STACK | 1,
		CONTROL(LOST, 1), 1,         CONTROL(INTERRUPT, 2), at, STACK | 1,
		ENTER_MAIN,       3 /* 1 */};
	struct made made;

	(void)state;
	make(&made, &programs[0]);
	add_chunk(&made, first, COUNT(first));
	expect(&made, 0, "B0@1 + B3@1 B0@1 + B3@1 ", 0);
	make(&made, &programs[0]);
	add_chunk(&made, missing, COUNT(missing));
	expect(&made, 0, "gap B0@1 + B3@1 B0@1 + B3@1 ", 0);
	make(&made, &programs[0]);
	add_chunk(&made, behind_loss, COUNT(behind_loss));
	expect(&made, 0, "B0@0 - B1@0 B4@1 gap B0@1 + B3@1 ", 0);
	make(&made, &programs[0]);
	add_chunk(&made, chained, COUNT(chained));
	expect(&made, 0, "B0@0 - B1@0 B4@1 B0@2 + B3@2 B0@2 + B3@2 + B6@1 b2@0 b3@0 ", 0);
	make(&made, &programs[0]);
	add_chunk(&made, within, COUNT(within));
	expect(&made, 0, "B0@0 - B1@0 B4@1 B0@2 + B3@2 B0@2 + B3@2 + B6@1 b2@0 b3@0 ", 0);
}

/* A call returns to a branch that does not reach the code of its edge, and leads to another one,
 * among the code of a block elsewhere. An interrupt comes there: the block to which the call
 * returns was entered before. */
static void interrupt_comes_at_stone(void **state)
{
	const uint32_t words[] = {ENTER_MAIN, 2 /* 0 */, 3 /* 1 */,  CONTROL(INTERRUPT, 2),
				  0,          STACK | 1, ENTER_MAIN, 3 /* 1 */,
				  3 /* 1 */};
	struct made made;
	uint32_t stone;

	(void)state;
	make(&made, &programs[0]);
	made.blocks[BEHIND].entered = LITIFUT_ENTERED_BIT;
	add_site(&made, 3, made.blocks[BEHIND].start, STUB(3), LITIFUT_SITE_BLOCK);
	made.image.site_count = 4;
	stone = made.blocks[PASSED].start;
	litifut_put32(false, made.code + stone - BASE,
		      0xea000000 | ((STUB(3) - stone - 8) >> 2 & 0xffffff)); /* b */
	add_chunk(&made, words, COUNT(words));
	made.words[4] = BIAS + stone;
	expect(&made, 0, "B0@0 - B1@0 B4@1 + B6@1 B2@0 B0@1 + B3@1 b3@0 ", 0);
}

/* main() ends its second block by a jump to one of the next two, which have numbers of three bits.
 */
static void number_labels(struct made *made)
{
	made->image.mode = LITIFUT_MODE_PATHS;
	made->blocks[CALL].ends = LITIFUT_ENDS_JUMP;
	made->blocks[CALL].target = 0;
	made->blocks[CALL].flags = LITIFUT_BLOCK_JUMPS_WITHIN;
	made->blocks[BEHIND].entered = LITIFUT_ENTERED_AS_NUMBER(3, 0);
	made->blocks[MAIN_END].entered = LITIFUT_ENTERED_AS_NUMBER(3, 5);
	add_site(made, 3, made->blocks[MAIN_END].start, STUB(3), LITIFUT_SITE_BLOCK);
	made->image.site_count = 4;
}

/* A number shows where a jump has led; a record does so, too. A block with a number to which
 * control comes in another way records it all the same. */
static void labels_have_numbers(void **state)
{
	static const struct {
		uint32_t words[4];
		const char *steps;
		unsigned problems;
	} runs[] = {
		{{ENTER_MAIN, 0x15 /* 0, 5 */, ENTER_MAIN, 2}, "B0@0 - B1@0 B3@0 B0@0 - B1@0 ", 0},
		{{ENTER_MAIN, 0x85 /* 0, 0, 5 */}, "B0@0 - B1@0 B2@0 B3@0 ", 0},
		{{ENTER_MAIN, 2 /* 0 */, 0x8, 0xd}, "B0@0 - B1@0 B2@0 B3@0 ", 0},
		{{ENTER_MAIN, 2, LITIFUT_BITS_RECORD | (BIAS + STUB(3)) >> 1},
		 "B0@0 - B1@0 B3@0 ",
		 0},
		{{ENTER_MAIN, 0x17 /* 0, 7 */, ENTER_MAIN, 3}, "B0@0 - B1@0 gap B0@0 + ", 1},
		{{ENTER_MAIN, 0x82 /* 0, 0, 2 */, ENTER_MAIN, 2},
		 "B0@0 - B1@0 B2@0 gap B0@0 - B1@0 ",
		 1},
		{{ENTER_MAIN, 0xa /* 0, and two bits */, ENTER_MAIN, 2},
		 "B0@0 - B1@0 gap B0@0 - B1@0 ",
		 1},
	};
	struct made made;

	(void)state;
	for (size_t i = 0; i < COUNT(runs); i++) {
		make(&made, &programs[0]);
		number_labels(&made);
		add_chunk(&made, runs[i].words, COUNT(runs[i].words));
		expect(&made, 0, runs[i].steps, runs[i].problems);
	}
}

static void count_step(void *context, const struct post_path_step *step)
{
	const uint32_t *most = context;

	assert_true(step->kind == POST_PATH_GAP || step->block < BLOCKS);
	assert_true(step->depth <= *most);
}

/* Any words: steps are of blocks that there are, and no more calls are open than words can tell. */
static void any_words_can_be_walked(void **state)
{
	static const uint32_t parts[] = {ENTER_MAIN,
					 2,
					 5,
					 0x3fffffff,
					 CONTROL(INTERRUPT, 2),
					 CONTROL(INTERRUPT, 1),
					 CONTROL(TASK_SAVED, 1),
					 CONTROL(TASK_RESUMED, 1),
					 CONTROL(SYNC, 5),
					 CONTROL(LOST, 1),
					 CONTROL(RESTARTED, 1),
					 CONTROL(BLOCK, 1),
					 BIAS + STUB(0),
					 BIAS + STUB(2),
					 BIAS + BASE + 4,
					 STACK,
					 STACK | 1,
					 STACK - 64,
					 LITIFUT_BITS_RECORD | (BIAS + STUB(2)) >> 1};
	uint32_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 5000; round++) {
		struct post_path_totals totals = {0};
		uint32_t words[60];
		uint32_t most = COUNT(words) * 31;
		struct made made;

		for (size_t i = 0; i < COUNT(words); i++) {
			random = random * 1664525u + 1013904223u;
			words[i] = parts[(random >> 16) % COUNT(parts)];
		}
		make(&made, &programs[round % COUNT(programs)]);
		if (round & 2)
			number_labels(&made);
		add_chunk(&made, words, COUNT(words));
		post_paths_walk(&made.session, &made.process, &made.codes, count_step, &most,
				&totals);
		post_path_codes_release(&made.codes);
		post_problems_release(&made.problems);
	}
}

static void damage_is_a_gap(void **state)
{
	const uint32_t too_many[] = {ENTER_MAIN, 15 /* 1, 1, 1 */, ENTER_MAIN, 3};
	const uint32_t elsewhere[] = {ENTER_MAIN, LITIFUT_BITS_RECORD | (BIAS + STUB(2)) >> 1,
				      ENTER_MAIN, 3};
	struct made made;

	(void)state;
	make(&made, &programs[0]);
	add_chunk(&made, too_many, COUNT(too_many));
	expect(&made, 0, "B0@0 + B3@0 gap B0@0 + B3@0 ", 0);
	make(&made, &programs[0]);
	add_chunk(&made, elsewhere, COUNT(elsewhere));
	expect(&made, 0, "B0@0 gap B0@0 + B3@0 ", 1);
}

/* A chunk that begins with where the thread is, in other(): the call is found on the stack. Alone,
 * as behind chunks that were overwritten, and behind the chunk that leads there. */
static void walks_begin_at_a_sync(void **state)
{
	struct made made;

	(void)state;
	for (size_t i = 0; i < COUNT(programs); i++) {
		const struct program *program = &programs[i];
		const uint32_t first[] = {ENTER_MAIN, 2 /* 0 */};
		uint32_t second[] = {
			LITIFUT_BITS_RECORD | LITIFUT_CONTROL_WORD(LITIFUT_WORD_SYNC, 7),
			BIAS + STUB(2) + 8,
			STACK,
			0, /* epoch */
			BIAS + BASE + program->blocks[CALL].end,
			STACK - 4, /* where the code of the edge has pushed the link register */
			0x12345678,
			STACK + program->depth - 4,
			3 /* 1 */,
		};

		make(&made, program);
		add_chunk(&made, first, COUNT(first));
		add_chunk(&made, second, COUNT(second));
		expect(&made, 0, "B0@0 - B1@0 B4@1 + B6@1 b2@0 b3@0 ", 0);
		expect(&made, 1, "gap B4@1 + B6@1 b2@0 b3@0 ", 0);
		/* a return address that does not stand behind a call of other() */
		second[4] += 4;
		make(&made, program);
		add_chunk(&made, first, COUNT(first));
		add_chunk(&made, second, COUNT(second));
		expect(&made, 1, "gap B4@0 + B6@0 ", 0);
		/* nothing says where the thread is */
		make(&made, program);
		add_chunk(&made, first, COUNT(first));
		add_chunk(&made, first, COUNT(first));
		expect(&made, 1, "", 0);
	}
}

static void frames_of_functions(void **state)
{
	struct made made;

	(void)state;
	for (size_t i = 0; i < COUNT(programs); i++) {
		struct path_frame *frames;

		make(&made, &programs[i]);
		frames = post_path_frames(&made.image);
		assert_true(frames[MAIN].start.known && !frames[MAIN].start.depth);
		for (unsigned block = CALL; block <= MAIN_END; block++) {
			assert_true(frames[block].start.known);
			assert_int_equal(frames[block].start.depth, programs[i].depth);
			assert_int_equal(frames[block].start.saved, 4);
		}
		assert_true(frames[OTHER].branch.known && !frames[OTHER].branch.depth);
		assert_int_equal(frames[OTHER].branch.saved, 0);
		free(frames);
		/* of two ways to a block, one has moved the stack pointer otherwise */
		litifut_put32(programs[i].big_endian, made.code + programs[i].blocks[BEHIND].start,
			      programs[i].machine == EM_ARM ? 0xe24dd008 : 0x27bdfff8);
		frames = post_path_frames(&made.image);
		assert_true(frames[BEHIND].start.known);
		assert_false(frames[MAIN_END].start.known);
		free(frames);
	}
}

static void write_piece(void *context, const struct post_path_piece *piece)
{
	static const char *const words[] = {"returns", "loops", "stops"};
	char *text = context;

	for (size_t i = 0; i < piece->count; i++)
		sprintf(text + strlen(text), "%u ", piece->blocks[i]);
	sprintf(text + strlen(text), "%s; ", words[piece->ending]);
}

/* Paths of activations: a call within one, a loop, a second call at once, a gap, and the end. */
static void activations_have_paths(void **state)
{
	static const struct {
		enum post_path_kind kind;
		uint32_t block, depth;
		bool begins;
	} steps[] = {
		{POST_PATH_BLOCK, MAIN, 0, true},    {POST_PATH_BLOCK, CALL, 0, false},
		{POST_PATH_BLOCK, OTHER, 1, true},   {POST_PATH_BLOCK, OTHER_END, 1, false},
		{POST_PATH_BLOCK, OTHER, 1, true},   {POST_PATH_BLOCK, PASSED, 1, false},
		{POST_PATH_BLOCK, PASSED, 1, false}, {POST_PATH_BLOCK, OTHER_END, 1, false},
		{POST_PATH_BLOCK, BEHIND, 0, false}, {POST_PATH_GAP, 0, 0, false},
		{POST_PATH_BLOCK, PASSED, 2, false}, {POST_PATH_BLOCK, OTHER_END, 2, false},
		{POST_PATH_BLOCK, BEHIND, 1, false}, {POST_PATH_BLOCK, MAIN, 2, true},
	};
	char text[300] = "";
	struct post_path_tracker tracker = {.take = write_piece, .context = text};
	struct made made;
	const struct post_path_code *code;

	(void)state;
	make(&made, &programs[0]);
	code = post_path_code(&made.codes, &made.session, 1);
	for (size_t i = 0; i < COUNT(steps); i++) {
		const struct post_path_step step = {.kind = steps[i].kind,
						    .thread = 7,
						    .code = steps[i].kind == POST_PATH_GAP ? NULL
											   : code,
						    .block = steps[i].block,
						    .depth = steps[i].depth};

		assert_int_equal(post_path_track(&tracker, &step), steps[i].begins);
		if (i == 3)
			assert_int_equal(post_path_caller(post_path_thread(&tracker, 7), 1), CALL);
	}
	post_path_track_end(&tracker);
	/* an activation that began in a gap is not reported */
	assert_string_equal(text, "4 6 returns; 4 5 loops; 5 6 returns; 0 stops; ");
	post_path_codes_release(&made.codes);
}

/* +: a unit starts, -: it ends, !: it is left otherwise; with its thread. */
static void write_unit(void *context, const struct post_unit_step *step)
{
	static const char kinds[] = {[POST_UNIT_START] = '+',
				     [POST_UNIT_END] = '-',
				     [POST_UNIT_CUT] = '!',
				     [POST_UNIT_GAP] = '?'};
	char *text = context;

	sprintf(text + strlen(text), "%u%c%u ", step->function, kinds[step->kind], step->thread);
}

static void expect_units(const uint32_t *words, uint32_t count, const char *steps)
{
	struct made made;

	for (size_t i = 0; i < COUNT(programs); i++) {
		char text[500] = "";

		make(&made, &programs[i]);
		/* as ends of main() and of other() */
		made.sites[1].kind = made.sites[2].kind = LITIFUT_SITE_BLOCK;
		add_chunk(&made, words, count);
		post_units_read(&made.session, &made.process, &made.codes, write_unit, text);
		assert_string_equal(text, steps);
		post_path_codes_release(&made.codes);
	}
}

#define END_MAIN (LITIFUT_BITS_RECORD | (BIAS + STUB(1)) >> 1)
#define END_OTHER (LITIFUT_BITS_RECORD | (BIAS + STUB(2)) >> 1)
/* A handler is to resume another task, and has no end: a unit below it, in the same thread, has. */
static void units_end_below_a_handler(void **state)
{
	const uint32_t resumed[] = {ENTER_MAIN, CONTROL(INTERRUPT, 2),    BIAS + STUB(2), STACK | 1,
				    END_OTHER,  CONTROL(TASK_RESUMED, 1), STACK + 64,     END_OTHER,
				    ENTER_MAIN};
	const uint32_t cut[] = {ENTER_MAIN, CONTROL(INTERRUPT, 2),    BIAS + STUB(2), STACK | 1,
				END_OTHER,  CONTROL(TASK_RESUMED, 1), STACK + 64,     END_MAIN,
				ENTER_MAIN};
	/* the stack pointer is where the CPU has put the registers of the task that it came in */
	const uint32_t same[] = {ENTER_MAIN, CONTROL(INTERRUPT, 2),    BIAS + STUB(2), STACK | 1,
				 END_OTHER,  CONTROL(TASK_RESUMED, 1), STACK,          END_OTHER,
				 ENTER_MAIN};

	(void)state;
	expect_units(same, COUNT(same), "0+7 4+7 4-7 0+7 ");
	expect_units(resumed, COUNT(resumed), "0+7 4+7 4-7 0+2 ");
	expect_units(cut, COUNT(cut), "0+7 4+7 4!7 0-7 0+7 ");
}

/* However often words are missing, nothing was there in between. */
static void losses_of_units_are_one_gap(void **state)
{
	const uint32_t words[] = {ENTER_MAIN,
				  CONTROL(LOST, 1),
				  1,
				  CONTROL(LOST, 1),
				  1,
				  3 /* 1 */,
				  CONTROL(LOST, 1),
				  1,
				  ENTER_MAIN,
				  END_MAIN,
				  CONTROL(LOST, 1),
				  1,
				  END_MAIN};

	(void)state;
	expect_units(words, COUNT(words), "0+7 0?7 0+7 0-7 0?7 0-7 ");
}

/* Of a firmware high in the memory, whose records of blocks are one word, and low in it. */
static void patterns_are_mined(void **state)
{
	static const struct {
		uint32_t words[3], count;
	} records[] = {{{ENTER_MAIN, 5 /* 0, 1 */}, 2},
		       {{CONTROL(BLOCK, 1), BIAS + STUB(0), 5 /* 0, 1 */}, 3}};
	struct made made;

	(void)state;
	for (size_t i = 0; i < COUNT(programs) * COUNT(records); i++) {
		const uint32_t count = records[i / COUNT(programs)].count;
		struct post_process *process = &made.process;
		uint32_t words[12 * 3];
		char *text;
		size_t size;
		FILE *file = open_memstream(&text, &size);

		for (uint32_t j = 0; j < 12 * count; j++)
			words[j] = records[i / COUNT(programs)].words[j % count];
		make(&made, &programs[i % COUNT(programs)]);
		post_symbols_add(&made.image.symbols, "main", BASE, 16, 0, POST_SYMBOL_FUNCTION);
		post_symbols_finish(&made.image.symbols);
		add_chunk(&made, words, 12 * count);
		made.session.processes = &process;
		made.session.process_count = 1;
		assert_int_equal(path_mined_patterns(&made.session, &made.image, 1, file), 1);
		fclose(file);
		assert_string_equal(text, "main+0:01 main+0:01 main+0:01 main+0:01 main+0:01 "
					  "main+0:01 # 2 times\n");
		free(text);
		post_symbols_release(&made.image.symbols);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_change_frames),
		cmocka_unit_test(conditional_instructions_leave_frames),
		cmocka_unit_test(bits_become_blocks),
		cmocka_unit_test(records_interrupt),
		cmocka_unit_test(ends_are_possible),
		cmocka_unit_test(interrupts_come_at_once),
		cmocka_unit_test(interrupt_comes_at_stone),
		cmocka_unit_test(labels_have_numbers),
		cmocka_unit_test(any_words_can_be_walked),
		cmocka_unit_test(damage_is_a_gap),
		cmocka_unit_test(walks_begin_at_a_sync),
		cmocka_unit_test(frames_of_functions),
		cmocka_unit_test(activations_have_paths),
		cmocka_unit_test(units_end_below_a_handler),
		cmocka_unit_test(losses_of_units_are_one_gap),
		cmocka_unit_test(patterns_are_mined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
