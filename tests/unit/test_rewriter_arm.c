/* The ARM back end on its table of cases; the words were made by the assembler. */
#include "tests/unit/rewriter_cases.h"

#include <elf.h>
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>
#include <litifut/module_format.h>

#include "rewriter/arm/arm.h"
#include "rewriter/arm/displaced.h"
#include "rewriter/arm/return_kept.h"
#include "tracer/arm/next_pc.h"

#define A32 LITIFUT_CODE_PLAIN
#define T32 LITIFUT_CODE_THUMB
#define CALL LITIFUT_CLASS_CALL_DIRECT
#define CALL_REGISTER LITIFUT_CLASS_CALL_INDIRECT
#define BRANCH LITIFUT_CLASS_BRANCH_DIRECT
#define BRANCH_REGISTER LITIFUT_CLASS_BRANCH_INDIRECT
#define BRANCH_COMPUTED LITIFUT_CLASS_BRANCH_COMPUTED
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
	{"mov pc, r3", 0x8000, 0xe1a0f003, A32, 4, BRANCH_REGISTER, 0, 3, 0},
	{"moveq pc, r3", 0x8000, 0x01a0f003, A32, 4, BRANCH_REGISTER, 0, 3, 1},
	{"ldr pc, [r3, #-8]", 0x8000, 0xe513f008, A32, 4, BRANCH_COMPUTED, 0, 3, 0},
	{"ldr pc, [r3], #4", 0x8000, 0xe493f004, A32, 4, BRANCH_COMPUTED, 0, 3, 0},
	{"addls pc, pc, r3, lsl #2", 0x8000, 0x908ff103, A32, 4, BRANCH_COMPUTED, 0, 15, 1},
	{"ldm r3, {r0, pc}", 0x8000, 0xe8938001, A32, 4, BRANCH_COMPUTED, 0, 3, 0},
	{"pop {r4, pc}", 0x8000, 0xe8bd8010, A32, 4, OTHER, 0, 0, 0},
	{"cmp r3, pc", 0x8000, 0xe153000f, A32, 4, OTHER, 0, 0, 0},
	{"mul r0, r1, r2", 0x8000, 0xe0000291, A32, 4, OTHER, 0, 0, 0},
	{"ldrh r0, [r1]", 0x8000, 0xe1d100b0, A32, 4, OTHER, 0, 0, 0},
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
	{"mov pc, r3", 0x8000, 0x469f, T32, 2, BRANCH_REGISTER, 0, 3, 0},
	{"mov pc, lr", 0x8000, 0x46f7, T32, 2, BRANCH_REGISTER, 0, 14, 0},
	{"mov r3, pc", 0x8000, 0x467b, T32, 2, OTHER, 0, 0, 0},
	{"ldr.w pc, [r3, #4]", 0x8000, 0xf8d3f004, T32, 4, BRANCH_COMPUTED, 0, 3, 0},
	{"ldr.w pc, [r3, #-4]", 0x8000, 0xf853fc04, T32, 4, BRANCH_COMPUTED, 0, 3, 0},
	{"ldr.w pc, [r3, r2, lsl #2]", 0x8000, 0xf853f022, T32, 4, BRANCH_COMPUTED, 0, 3, 0},
	{"ldr.w pc, [pc, #8]", 0x8000, 0xf8dff008, T32, 4, BRANCH_COMPUTED, 0, 15, 0},
	{"ldr.w pc, [sp], #4", 0x8000, 0xf85dfb04, T32, 4, OTHER, 0, 0, 0},
	{"ldr.w r8, [r3]", 0x8000, 0xf8d38000, T32, 4, OTHER, 0, 0, 0},
	{"str.w r3, [r3]", 0x8000, 0xf8c33000, T32, 4, OTHER, 0, 0, 0},
	{"ldm.w r3, {r0, pc}", 0x8000, 0xe8938001, T32, 4, BRANCH_COMPUTED, 0, 3, 0},
	{"pop.w {r8, pc}", 0x8000, 0xe8bd8100, T32, 4, OTHER, 0, 0, 0},
	{"tbb [pc, r3]", 0x8000, 0xe8dff003, T32, 4, OTHER, 0, 0, 0},
	{"svc 0", 0x8000, 0xdf00, T32, 2, OTHER, 0, 0, 0},
	{"udf 0", 0x8000, 0xde00, T32, 2, OTHER, 0, 0, 0},
	{"cbz r0, 0x8044", 0x8000, 0xb300, T32, 2, BRANCH, 0x8045, 0, 1},
	{"cbnz r1, 0x8004", 0x8000, 0xb901, T32, 2, BRANCH, 0x8005, 0, 1},
	{"b.w 0x8004", 0x8000, 0xf000b800, T32, 4, BRANCH, 0x8005, 0, 0},
	{"bne.w 0x8004", 0x8000, 0xf0408000, T32, 4, BRANCH, 0x8005, 0, 1},
	{"le lr, 0x8000", 0x8004, 0xf00fc005, T32, 4, BRANCH, 0x8001, 0, 1},
	{"le 0x8000", 0x8008, 0xf02fc007, T32, 4, BRANCH, 0x8001, 0, 0},
	{"letp lr, 0x8000", 0x801a, 0xf01fc80f, T32, 4, BRANCH, 0x8001, 0, 1},
	{"wls lr, r3, 0x801e", 0x800c, 0xf043c807, T32, 4, BRANCH, 0x801f, 0, 1},
	{"wlstp.8 lr, r3, 0x801e", 0x8014, 0xf003c803, T32, 4, BRANCH, 0x801f, 0, 1},
	{"dls lr, r3", 0x8000, 0xf043e001, T32, 4, OTHER, 0, 0, 0},
	{"dlstp.32 lr, r1", 0x8000, 0xf021e001, T32, 4, OTHER, 0, 0, 0},
	{"lctp", 0x8000, 0xf00fe001, T32, 4, OTHER, 0, 0, 0},
	{"vctp.32 r3", 0x8000, 0xf023e801, T32, 4, OTHER, 0, 0, 0},
	{"clrm {r0, r1, apsr}", 0x8000, 0xe89f8003, T32, 4, OTHER, 0, 0, 0},
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
	{"blx lr", 0x8000, 0xe12fff3e, A32, 0xe1a00000, "", LITIFUT_SITE_TOO_SHORT},
	{"blx lr, 16 bits", 0x8000, 0x47f0, T32, 0xbf00, "", LITIFUT_SITE_TOO_SHORT},
	{"blx pc", 0x8000, 0xe12fff3f, A32, 0xe1a00000, "", LITIFUT_SITE_SPECIAL_CALLEE},
	{"blx r3", 0x8000, 0xe12fff33, A32, 0xe1a00000, "", LITIFUT_SITE_PATCHED},
	{"bl __gnu_thumb1_case_uqi", 0x8000, 0xf000f800, T32, 0xbf00, "__gnu_thumb1_case_uqi",
	 LITIFUT_SITE_NOT_A_CALL},
	{"the same by a veneer", 0x8000, 0xf000f800, T32, 0xbf00, "____gnu_thumb1_case_uqi_veneer",
	 LITIFUT_SITE_NOT_A_CALL},
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
	const struct litifut_arch_context old = {
		.cpu.facts = &(struct litifut_arm_facts){.short_thumb_branches = true}};
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
	assert_int_equal(cpu_arm.return_address(&plain, 0x8000), 0x8004);
	assert_int_equal(cpu_arm.return_address(&thumb, 0x8000), 0x8005);
	assert_int_equal(cpu_arm.return_address(&narrow, 0x8000), 0x8003);
}

static struct litifut_instruction decoded(uint32_t word)
{
	struct litifut_instruction instruction;
	uint8_t bytes[4];

	litifut_put32(false, bytes, word);
	litifut_arm_decode(&context.cpu, bytes, 4, 0x8000, A32, &instruction);
	return instruction;
}

static const struct {
	const char *mnemonic;
	uint32_t setter;
	bool adjacent;
	uint32_t branch;
	enum litifut_instruction_class class;
	uint32_t word; /* as the DB has it */
	enum litifut_linked linked;
} linked_cases[] = {
	{"mov lr, pc; bx r3", 0xe1a0e00f, true, 0xe12fff13, CALL_REGISTER, 0xe12fff33,
	 LITIFUT_LINKED_SAME},
	{"mov lr, pc; mov pc, r3", 0xe1a0e00f, true, 0xe1a0f003, CALL_REGISTER, 0xe12fff33,
	 LITIFUT_LINKED_SAME},
	{"mov lr, pc; bxeq r3", 0xe1a0e00f, true, 0x012fff13, CALL_REGISTER, 0x012fff33,
	 LITIFUT_LINKED_SAME},
	{"moveq lr, pc; bxeq r3", 0x01a0e00f, true, 0x012fff13, CALL_REGISTER, 0x012fff33,
	 LITIFUT_LINKED_SAME},
	{"moveq lr, pc; bx r3", 0x01a0e00f, true, 0xe12fff13, CALL_REGISTER, 0xe12fff33,
	 LITIFUT_LINKED_BEFORE},
	{"mov lr, pc; b .", 0xe1a0e00f, true, 0xeafffffe, CALL, 0xebfffffe, LITIFUT_LINKED_SAME},
	{"mov lr, pc; ldr pc, [r3]", 0xe1a0e00f, true, 0xe593f000, LITIFUT_CLASS_CALL_COMPUTED,
	 0xe593f000, LITIFUT_LINKED_SAME},
	{"add lr, pc, #4; nop; bx r3", 0xe28fe004, false, 0xe12fff13, CALL_REGISTER, 0xe12fff33,
	 LITIFUT_LINKED_BEFORE},
	{"adr lr, .; add pc, lr, r1", 0xe28fe004, false, 0xe08ef001, LITIFUT_CLASS_BRANCH_COMPUTED,
	 0xe08ef001, LITIFUT_LINKED_NOT},
	{"mov lr, pc; nop", 0xe1a0e00f, true, 0xe1a00000, OTHER, 0xe1a00000, LITIFUT_LINKED_NOT},
};

static void calls_of_two_instructions(void **state)
{
	(void)state;
	assert_int_equal(decoded(0xe1a0e00f).link, 0x8008); /* mov lr, pc */
	assert_int_equal(decoded(0xe28fe004).link, 0x800c); /* add lr, pc, #4 */
	assert_int_equal(decoded(0xe1a0e003).link, 0);      /* mov lr, r3 */
	for (size_t i = 0; i < COUNT(linked_cases); i++) {
		const struct litifut_instruction setter = decoded(linked_cases[i].setter);
		struct litifut_instruction branch = decoded(linked_cases[i].branch);

		litifut_arm_link(&setter, linked_cases[i].adjacent, &branch);
		if (branch.linked != linked_cases[i].linked ||
		    branch.class != linked_cases[i].class || branch.word != linked_cases[i].word)
			fail_msg("%s: class %d, %08x", linked_cases[i].mnemonic, branch.class,
				 branch.word);
	}
}

/* What the decoder says that the tracer can do, the tracer does, and nothing else:
 * each addressing mode with each kind of register. */
static void computed_branches_are_done_as_they_are_read(void **state)
{
	static const uint32_t low = 0x10000000;
	static const uint32_t bases[] = {3, 12, 13, 14, 15};
	const uint32_t size = 0x10000;
	uint32_t registers[16];
	void *memory = mmap((void *)(uintptr_t)low, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	unsigned done = 0;

	(void)state;
	assert_ptr_equal(memory, (void *)(uintptr_t)low);
	for (uint32_t *word = memory; word < (uint32_t *)memory + size / 4; word++)
		*word = 0x12345678;
	for (uint32_t i = 0; i < 16; i++)
		registers[i] = low + size / 2 + 64 * i;
	registers[0] = 4;
	for (uint32_t top = 0; top < 0x800; top++) /* bits 27 to 20, then 6 to 4 */
		for (size_t base = 0; base < COUNT(bases); base++)
			for (uint32_t offset = 0; offset < 16; offset++) {
				uint32_t word = 0xe000f000 | (top & 0xff) << 20 |
						bases[base] << 16 | (top >> 8 & 7) << 4 | offset;
				struct litifut_instruction each = decoded(word);
				bool load = word & 0x04000000;
				uint32_t kind;

				if (each.class != BRANCH_COMPUTED)
					continue;
				/* the sum of two large registers points to no memory, and the
				 * difference of equal ones is 0 */
				if (!each.inexact && load == !!(word & 0x02000000) &&
				    (load ? offset != 0 : offset == bases[base]))
					continue;
				done += !each.inexact;
				assert_int_equal(!litifut_arm_next_pc(word, low + size / 2,
								      registers, &kind),
						 each.inexact);
			}
	assert_true(done > 100);
	munmap(memory, size);
}

/* The same for T32 loads of the pc: each addressing mode. */
static void thumb_loads_are_done_as_they_are_read(void **state)
{
	static const uint32_t low = 0x10000000;
	static const uint32_t bases[] = {3, 12, 13, 14, 15};
	const uint32_t size = 0x10000;
	uint32_t registers[16];
	void *memory = mmap((void *)(uintptr_t)low, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	unsigned done = 0;

	(void)state;
	assert_ptr_equal(memory, (void *)(uintptr_t)low);
	memset(memory, 0x12, size);
	for (uint32_t i = 0; i < 16; i++)
		registers[i] = i < 3 ? 4 : low + size / 2 + 64 * i;
	for (size_t base = 0; base < COUNT(bases); base++)
		for (uint32_t offset = 0; offset < 0x2000; offset++) {
			uint32_t word = 0xf850f000 | (offset >> 12) << 23 | bases[base] << 16 |
					(offset & 0xfff);
			struct litifut_instruction each;
			uint8_t bytes[4];
			uint32_t kind;

			litifut_put16(false, bytes, (uint16_t)(word >> 16));
			litifut_put16(false, bytes + 2, (uint16_t)word);
			litifut_arm_decode(&context.cpu, bytes, 4, 0x8000, T32, &each);
			/* the sum of two large registers points to no memory */
			if (each.class != BRANCH_COMPUTED ||
			    (offset < 0x40 && (offset & 15) > 2 && bases[base] < 13))
				continue;
			done += !each.inexact;
			assert_int_equal(
				litifut_arm_next_pc(word, (low + size / 2) | 1, registers, &kind),
				each.inexact ? 0 : 0x12121212);
		}
	assert_true(done > 10000);
	munmap(memory, size);
}

static void skips_what_is_no_branch(void **state)
{
	(void)state;
	check_skip(&litifut_arch_arm, &context, LITIFUT_CODE_PLAIN);
	check_skip(&litifut_arch_arm, &context, LITIFUT_CODE_THUMB);
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

/* Of functions at 0x8000, with their code: is a return address kept? */
static void return_addresses_are_kept(void **state)
{
	static const struct {
		const char *code;
		bool kept;
		uint16_t halves[8];
	} functions[] = {
		{"mov ip, sp; stmia r0!, {r4-ip, lr}", true, {0x46ec, 0xe8a0, 0x5ff0}},
		{"mov r3, lr; str r3, [r0]", true, {0x4673, 0x6003}},
		{"str.w lr, [r0, #32]", true, {0xf8c0, 0xe020}},
		{"strd ip, lr, [r0]", true, {0xe9c0, 0xce00}},
		{"push {r3, lr}; str r3, [r0]", false, {0xb508, 0x6003}},
		{"mov r3, lr; mov r3, r1; str r3, [r0]", false, {0x4673, 0x460b, 0x6003}},
		{"bx lr; then the next function", false, {0x4770, 0x4673, 0x6003}},
		{"pop {r3, pc}; then the next function", false, {0xbd08, 0x4673, 0x6003}},
		{"pop.w {r4, pc}; then the next function", false, {0xe8bd, 0x8010, 0x4673, 0x6003}},
		{"pop.w {r4, r5}; mov r3, lr; str r3, [r0]",
		 true,
		 {0xe8bd, 0x0030, 0x4673, 0x6003}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(functions); i++) {
		uint8_t bytes[sizeof(functions[i].halves)];
		struct litifut_section sections[2] = {{0},
						      {.address = 0x8000,
						       .size = sizeof(bytes),
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .type = SHT_PROGBITS,
						       .bytes = bytes}};
		const struct litifut_image image = {.sections = sections, .section_count = 2};

		for (size_t j = 0; j < COUNT(functions[i].halves); j++)
			litifut_put16(false, bytes + 2 * j, functions[i].halves[j]);
		if (litifut_arm_keeps_return(&image, 0x8001) != functions[i].kept)
			fail_msg("%s", functions[i].code);
	}
}

/* How many instructions each one holds, and whether it can move by itself. */
static void predicates(void **state)
{
	static const struct {
		const char *name;
		uint32_t word;
		unsigned count;
	} rows[] = {
		{"vpst", 0xfe710f4d, 1},
		{"vpte.f32 eq, q0, q1", 0xee718f02, 2},
		{"vptttt.u8 cs, q0, r4", 0xfe012f64, 4},
		{"vpt.f16 eq, q1, q2", 0xfe730f04, 1},
		{"vcmp.f32 eq, q0, q1", 0xee310f02, 0},
		{"vcmp.i16 ne, q0, q1", 0xfe110f82, 0},
		{"vpsel q0, q1, q2", 0xfe330f05, 0},
		{"vpsel q1, q1, q2", 0xfe332f05, 0},
		{"vpnot", 0xfe310f4d, 0},
		{"vadd.i32 q0, q0, q1", 0xef200842, 0},
		{"mrc 15, 0, r3, cr13, cr0, {3}", 0xee1d3f70, 0},
		{"mrc 15, 1, r7, cr13, cr0, {3}", 0xee3d7f70, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct litifut_arm_displaced each = {0x8000, rows[i].word, 4};

		if (litifut_arm_vpt_length(rows[i].word) != rows[i].count)
			fail_msg("%s holds %u", rows[i].name, litifut_arm_vpt_length(rows[i].word));
		assert_int_equal(litifut_arm_analyse(&each).treatment == LITIFUT_ARM_MOVES,
				 rows[i].count == 0);
	}
	assert_int_equal(litifut_arm_block_length(0xbf08, 2), 1);     /* it eq */
	assert_int_equal(litifut_arm_block_length(0xee718f02, 4), 2); /* vpte */
	static const uint32_t loops[] = {0xf00fc005, 0xf02fc007, 0xf01fc80f, 0xf043c807,
					 0xf003c803};

	for (size_t i = 0; i < COUNT(loops); i++) {
		const struct litifut_arm_displaced each = {0x8000, loops[i], 4};

		assert_int_equal(litifut_arm_analyse(&each).treatment, LITIFUT_ARM_STAYS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes),
		cmocka_unit_test(predicates),
		cmocka_unit_test(reaches_as_far_as_the_manual_says),
		cmocka_unit_test(encodes_what_it_decodes),
		cmocka_unit_test(leaves_what_is_special),
		cmocka_unit_test(short_thumb_branches_reach_4_megabytes),
		cmocka_unit_test(return_address_has_the_thumb_bit),
		cmocka_unit_test(calls_of_two_instructions),
		cmocka_unit_test(computed_branches_are_done_as_they_are_read),
		cmocka_unit_test(thumb_loads_are_done_as_they_are_read),
		cmocka_unit_test(skips_what_is_no_branch),
		cmocka_unit_test(reads_attributes),
		cmocka_unit_test(return_addresses_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
