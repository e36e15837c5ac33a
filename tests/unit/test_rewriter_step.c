/* Where control goes behind an instruction, and the blocks that follow from it; the words were made
 * by the assembler. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/bytes.h"
#include "cpu/cpu.h"
#include "cpu/mips/mips.h"
#include "cpu/step.h"
#include "elf/sections.h"

#define A32 LITIFUT_CODE_PLAIN
#define T32 LITIFUT_CODE_THUMB
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct step_case {
	const char *mnemonic;
	uint32_t word; /* 32-bit T32: first halfword << 16 | second */
	enum litifut_code_state state;
	unsigned block; /* how many conditional instructions are to come, this one included */
	unsigned length;
	enum litifut_block_end way;
	bool conditional;
	bool likely;
	uint32_t target;
	enum cpu_exclusive exclusive;
};

static const struct step_case arm_cases[] = {
	{"beq 0x8008", 0x0a000000, A32, 0, 4, LITIFUT_ENDS_BRANCH, true, false, 0x8008, 0},
	{"b 0x8008", 0xea000000, A32, 0, 4, LITIFUT_ENDS_BRANCH, false, false, 0x8008, 0},
	{"blne 0x8008", 0x1b000000, A32, 0, 4, LITIFUT_ENDS_CALL, true, false, 0x8008, 0},
	{"blx r3", 0xe12fff33, A32, 0, 4, LITIFUT_ENDS_CALL, false, false, 0, 0},
	{"bxeq lr", 0x012fff1e, A32, 0, 4, LITIFUT_ENDS_RETURN, true, false, 0, 0},
	{"popne {r4, pc}", 0x18bd8010, A32, 0, 4, LITIFUT_ENDS_RETURN, true, false, 0, 0},
	{"ldr pc, [sp], #4", 0xe49df004, A32, 0, 4, LITIFUT_ENDS_RETURN, false, false, 0, 0},
	{"addls pc, pc, r0, lsl #2", 0x908ff100, A32, 0, 4, LITIFUT_ENDS_JUMP, true, false, 0, 0},
	{"movne r0, #1", 0x13a00001, A32, 0, 4, LITIFUT_ENDS_ON, false, false, 0, 0},
	{"udf #0", 0xe7f000f0, A32, 0, 4, LITIFUT_ENDS_STOP, false, false, 0, 0},
	{"ldrex r1, [r0]", 0xe1901f9f, A32, 0, 4, LITIFUT_ENDS_ON, false, false, 0,
	 CPU_EXCLUSIVE_OPENS},
	{"strex r2, r1, [r0]", 0xe1802f91, A32, 0, 4, LITIFUT_ENDS_ON, false, false, 0,
	 CPU_EXCLUSIVE_CLOSES},
	{"clrex", 0xf57ff01f, A32, 0, 4, LITIFUT_ENDS_ON, false, false, 0, CPU_EXCLUSIVE_GIVES_UP},
	{"swp r2, r1, [r0]", 0xe1002091, A32, 0, 4, LITIFUT_ENDS_ON, false, false, 0, 0},
	{"ldrh r1, [r0]", 0xe1d010b0, A32, 0, 4, LITIFUT_ENDS_ON, false, false, 0, 0},
	{"beq.n 0x8004", 0xd000, T32, 0, 2, LITIFUT_ENDS_BRANCH, true, false, 0x8005, 0},
	{"cbz r3, 0x8006", 0xb10b, T32, 0, 2, LITIFUT_ENDS_BRANCH, true, false, 0x8007, 0},
	{"bne.w 0x8004", 0xf0408000, T32, 0, 4, LITIFUT_ENDS_BRANCH, true, false, 0x8005, 0},
	{"b.n 0x8004", 0xe000, T32, 0, 2, LITIFUT_ENDS_BRANCH, false, false, 0x8005, 0},
	{"b.n 0x8004 behind it", 0xe000, T32, 1, 2, LITIFUT_ENDS_BRANCH, true, false, 0x8005, 0},
	{"bx lr", 0x4770, T32, 0, 2, LITIFUT_ENDS_RETURN, false, false, 0, 0},
	{"bxns lr", 0x4774, T32, 0, 2, LITIFUT_ENDS_RETURN, false, false, 0, 0},
	{"bxns r3", 0x471c, T32, 0, 2, LITIFUT_ENDS_JUMP, false, false, 0, 0},
	{"blxns r4", 0x47a4, T32, 0, 2, LITIFUT_ENDS_CALL, false, false, 0, 0},
	{"bxne lr", 0x4770, T32, 1, 2, LITIFUT_ENDS_RETURN, true, false, 0, 0},
	{"popne {r3, pc}", 0xbd08, T32, 1, 2, LITIFUT_ENDS_RETURN, true, false, 0, 0},
	{"pop.w {r4, r8, pc}", 0xe8bd8110, T32, 0, 4, LITIFUT_ENDS_RETURN, false, false, 0, 0},
	{"bx r3", 0x4718, T32, 0, 2, LITIFUT_ENDS_JUMP, false, false, 0, 0},
	{"add pc, r3", 0x449f, T32, 0, 2, LITIFUT_ENDS_JUMP, false, false, 0, 0},
	{"tbb [pc, r0]", 0xe8dff000, T32, 0, 4, LITIFUT_ENDS_JUMP, false, false, 0, 0},
	{"tbh [pc, r0, lsl #1]", 0xe8dff010, T32, 0, 4, LITIFUT_ENDS_JUMP, false, false, 0, 0},
	{"bl 0x8004", 0xf000f800, T32, 0, 4, LITIFUT_ENDS_CALL, false, false, 0x8005, 0},
	{"udf #0", 0xde00, T32, 0, 2, LITIFUT_ENDS_STOP, false, false, 0, 0},
	{"ldrex r1, [r0]", 0xe8501f00, T32, 0, 4, LITIFUT_ENDS_ON, false, false, 0,
	 CPU_EXCLUSIVE_OPENS},
	{"strex r2, r1, [r0]", 0xe8401200, T32, 0, 4, LITIFUT_ENDS_ON, false, false, 0,
	 CPU_EXCLUSIVE_CLOSES},
	{"ldrexb r1, [r0]", 0xe8d01f4f, T32, 0, 4, LITIFUT_ENDS_ON, false, false, 0,
	 CPU_EXCLUSIVE_OPENS},
	{"clrex", 0xf3bf8f2f, T32, 0, 4, LITIFUT_ENDS_ON, false, false, 0, CPU_EXCLUSIVE_GIVES_UP},
	{"tt r3, r0", 0xe840f300, T32, 0, 4, LITIFUT_ENDS_ON, false, false, 0, CPU_EXCLUSIVE_NONE},
	{"ttat r3, r1", 0xe841f3c0, T32, 0, 4, LITIFUT_ENDS_ON, false, false, 0,
	 CPU_EXCLUSIVE_NONE},
	{"ldrd r2, r3, [r0]", 0xe9d02300, T32, 0, 4, LITIFUT_ENDS_ON, false, false, 0, 0},
};

static const struct step_case mips_cases[] = {
	{"beq v0, v1, 0x8008", 0x10430001, A32, 0, 4, LITIFUT_ENDS_BRANCH, true, false, 0x8008, 0},
	{"b 0x8008", 0x10000001, A32, 0, 4, LITIFUT_ENDS_BRANCH, false, false, 0x8008, 0},
	{"bnel v0, v1, 0x8008", 0x54430001, A32, 0, 4, LITIFUT_ENDS_BRANCH, true, true, 0x8008, 0},
	{"bltzl v0, 0x8008", 0x04420001, A32, 0, 4, LITIFUT_ENDS_BRANCH, true, true, 0x8008, 0},
	{"bc1t 0x8008", 0x45010001, A32, 0, 4, LITIFUT_ENDS_BRANCH, true, false, 0x8008, 0},
	{"bc1fl 0x8008", 0x45020001, A32, 0, 4, LITIFUT_ENDS_BRANCH, true, true, 0x8008, 0},
	{"bgezal v0, 0x8008", 0x04510001, A32, 0, 4, LITIFUT_ENDS_CALL, true, false, 0x8008, 0},
	{"bal 0x8008", 0x04110001, A32, 0, 4, LITIFUT_ENDS_CALL, false, false, 0x8008, 0},
	{"jalr t9", 0x0320f809, A32, 0, 4, LITIFUT_ENDS_CALL, false, false, 0, 0},
	{"jr ra", 0x03e00008, A32, 0, 4, LITIFUT_ENDS_RETURN, false, false, 0, 0},
	{"jr v0", 0x00400008, A32, 0, 4, LITIFUT_ENDS_JUMP, false, false, 0, 0},
	{"break", 0x0000000d, A32, 0, 4, LITIFUT_ENDS_STOP, false, false, 0, 0},
	{"break 7", 0x0007000d, A32, 0, 4, LITIFUT_ENDS_STOP, false, false, 0, 0},
	{"teq zero, zero", 0x00000034, A32, 0, 4, LITIFUT_ENDS_STOP, false, false, 0, 0},
	{"teq zero, zero, 7", 0x000001f4, A32, 0, 4, LITIFUT_ENDS_STOP, false, false, 0, 0},
	{"teq a1, zero, 7", 0x00a001f4, A32, 0, 4, LITIFUT_ENDS_ON, false, false, 0, 0},
	{"movn v0, v1, a0", 0x0064100b, A32, 0, 4, LITIFUT_ENDS_ON, false, false, 0, 0},
	{"ll v0, 0(a0)", 0xc0820000, A32, 0, 4, LITIFUT_ENDS_ON, false, false, 0,
	 CPU_EXCLUSIVE_OPENS},
	{"sc v0, 0(a0)", 0xe0820000, A32, 0, 4, LITIFUT_ENDS_ON, false, false, 0,
	 CPU_EXCLUSIVE_CLOSES},
};

static void check(unsigned machine, bool big_endian, const struct step_case *cases, size_t count)
{
	const struct cpu *cpu = cpu_find(machine);
	const struct cpu_context context = {.big_endian = big_endian};

	for (size_t i = 0; i < count; i++) {
		const struct step_case *each = &cases[i];
		unsigned block = each->block;
		struct cpu_step step;
		uint8_t code[4];

		if (each->state == T32 && each->length == 4) {
			litifut_put16(false, code, (uint16_t)(each->word >> 16));
			litifut_put16(false, code + 2, (uint16_t)each->word);
		} else {
			litifut_put32(big_endian, code, each->word);
		}
		print_message("%s\n", each->mnemonic);
		assert_int_equal(
			cpu->step(&context, code, each->length, 0x8000, each->state, &block, &step),
			each->length);
		assert_int_equal(step.way, each->way);
		assert_int_equal(step.conditional, each->conditional);
		assert_int_equal(step.likely, each->likely);
		assert_int_equal(step.target, each->target);
		assert_int_equal(step.exclusive, each->exclusive);
		if (each->exclusive != CPU_EXCLUSIVE_GIVES_UP)
			assert_int_equal(
				cpu->find_exclusive(&context, code, each->length, each->state),
				each->exclusive ? 0 : each->length);
		assert_int_equal(step.slot, machine == EM_MIPS && each->way != LITIFUT_ENDS_ON &&
							    each->way != LITIFUT_ENDS_STOP
						    ? 4
						    : 0);
		assert_int_equal(block, each->block ? each->block - 1 : 0);
		assert_int_equal(cpu->step(&context, code, each->length - 1, 0x8000, each->state,
					   &block, &step),
				 0);
	}
}

static void test_steps(void **state)
{
	(void)state;
	check(EM_ARM, false, arm_cases, COUNT(arm_cases));
	check(EM_MIPS, false, mips_cases, COUNT(mips_cases));
	check(EM_MIPS, true, mips_cases, COUNT(mips_cases));
}

/* Little-endian words of 2 bytes, and how long the first instruction is. */
static const struct {
	const char *mnemonic;
	uint16_t words[3];
	unsigned available, length;
	enum litifut_block_end way;
	bool conditional;
	uint32_t target;
} avr_cases[] = {
	{"brne .-4", {0xf7f1}, 2, 2, LITIFUT_ENDS_BRANCH, true, 0x7ffe},
	{"rjmp .+2", {0xc001}, 2, 2, LITIFUT_ENDS_BRANCH, false, 0x8004},
	{"jmp 0x1234", {0x940c, 0x091a}, 4, 4, LITIFUT_ENDS_BRANCH, false, 0x1234},
	{"call 0x1234", {0x940e, 0x091a}, 4, 4, LITIFUT_ENDS_CALL, false, 0x1234},
	{"rcall .+0", {0xd000}, 2, 2, LITIFUT_ENDS_ON, false, 0},
	{"icall", {0x9509}, 2, 2, LITIFUT_ENDS_CALL, false, 0},
	{"eijmp", {0x9419}, 2, 2, LITIFUT_ENDS_JUMP, false, 0},
	{"ret", {0x9508}, 2, 2, LITIFUT_ENDS_RETURN, false, 0},
	{"reti", {0x9518}, 2, 2, LITIFUT_ENDS_RETURN, false, 0},
	{"sbrc r24, 0; inc r25", {0xfd80, 0x9593}, 4, 2, LITIFUT_ENDS_BRANCH, true, 0x8004},
	{"sbrs r24, 0; sts", {0xff80, 0x9380, 0x0100}, 6, 2, LITIFUT_ENDS_BRANCH, true, 0x8006},
	{"cpse r24, r25; jmp", {0x1389, 0x940c, 0x091a}, 6, 2, LITIFUT_ENDS_BRANCH, true, 0x8006},
	{"sbic 3, 1; ret", {0x9919, 0x9508}, 4, 2, LITIFUT_ENDS_BRANCH, true, 0x8004},
	{"sbis 3, 1 at the end", {0x9b19}, 2, 2, LITIFUT_ENDS_JUMP, true, 0},
	{"sbi 3, 1", {0x9a19}, 2, 2, LITIFUT_ENDS_ON, false, 0},
	{"bld r24, 1", {0xf981}, 2, 2, LITIFUT_ENDS_ON, false, 0},
	{"jmp, cut", {0x940c}, 2, 0, LITIFUT_ENDS_ON, false, 0},
};

static void test_avr_steps(void **state)
{
	const struct cpu *cpu = cpu_find(EM_AVR);
	const struct cpu_context context = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(avr_cases); i++) {
		struct cpu_step step;
		unsigned block = 0;
		uint8_t code[6];

		for (unsigned word = 0; word < 3; word++)
			litifut_put16(false, code + 2 * word, avr_cases[i].words[word]);
		print_message("%s\n", avr_cases[i].mnemonic);
		assert_int_equal(cpu->step(&context, code, avr_cases[i].available, 0x8000,
					   LITIFUT_CODE_PLAIN, &block, &step),
				 avr_cases[i].length);
		assert_int_equal(step.way, avr_cases[i].way);
		assert_int_equal(step.conditional, avr_cases[i].conditional);
		assert_int_equal(step.target, avr_cases[i].target);
		assert_int_equal(block, 0);
	}
}

static void test_it_block(void **state)
{
	static const uint8_t code[] = {0x18, 0xbf, 0x01,
				       0x20, 0x70, 0x47}; /* it ne; movne; bx lr */
	const struct cpu *cpu = cpu_find(EM_ARM);
	const struct cpu_context context = {0};
	struct cpu_step step;
	unsigned block = 0;

	(void)state;
	cpu->step(&context, code, 6, 0x8000, T32, &block, &step);
	assert_int_equal(block, 1);
	assert_int_equal(step.way, LITIFUT_ENDS_ON);
	cpu->step(&context, code + 2, 4, 0x8002, T32, &block, &step);
	assert_int_equal(block, 0);
	cpu->step(&context, code + 4, 2, 0x8004, T32, &block, &step);
	assert_int_equal(step.way, LITIFUT_ENDS_RETURN);
	assert_false(step.conditional);
}

/* What is written is read back, in both byte orders; what is cut or claims too much is refused. */
static void test_blocks(void **state)
{
	const struct litifut_block block = {0x8000, 0x8010, 0x800e, 0x8021, 0, 97, 98, 1, 9, 0, 0};
	const struct litifut_original original = {0x800c, 4, {1, 2, 3, 4}};
	uint8_t bytes[sizeof(struct litifut_blocks_header) + sizeof(block) + sizeof(original)];
	struct litifut_error error;

	(void)state;
	for (unsigned big = 0; big < 2; big++) {
		struct litifut_blocks_header header = {
			.count = 1, .originals = 1, .flags_bytes = 0x10000};
		struct elf_contents contents = {"file", bytes, sizeof(bytes), big};
		struct elf_blocks read;

		elf_write_blocks_header(big, bytes, &header);
		elf_write_block(big, bytes + sizeof(header), &block);
		elf_write_original(big, bytes + sizeof(header) + sizeof(block), &original);
		assert_int_equal(elf_read_blocks(&contents, &read, &error), LITIFUT_OK);
		assert_int_equal(read.header.flags_bytes, 0x10000);
		const struct litifut_block back = elf_read_block(&read.blocks, 0);
		const struct litifut_original bytes_back = elf_read_original(&read.originals, 0);

		assert_memory_equal(&back, &block, sizeof(block));
		assert_memory_equal(&bytes_back, &original, sizeof(original));
		for (contents.size = 0; contents.size < sizeof(bytes); contents.size++)
			assert_int_equal(elf_read_blocks(&contents, &read, &error),
					 LITIFUT_ERROR_FORMAT);
		contents.size = sizeof(bytes);
		/* lists of older writers are read, those of newer ones are not */
		for (uint32_t version = 0; version <= LITIFUT_BLOCKS_VERSION + 1; version++) {
			const bool known = version && version <= LITIFUT_BLOCKS_VERSION;

			litifut_put32(big, bytes + offsetof(struct litifut_blocks_header, version),
				      version);
			assert_int_equal(elf_read_blocks(&contents, &read, &error),
					 known ? LITIFUT_OK : LITIFUT_ERROR_UNSUPPORTED);
		}
		header.count = UINT32_MAX;
		elf_write_blocks_header(big, bytes, &header);
		assert_int_equal(elf_read_blocks(&contents, &read, &error), LITIFUT_ERROR_FORMAT);
	}
}

/* Of MIPS instructions: may they end the program? */
static void knows_what_may_fault(void **state)
{
	static const struct {
		const char *mnemonic;
		uint32_t word;
		bool may;
	} cases[] = {
		{"nop", 0x00000000, false},
		{"lw v0, 4(a0)", 0x8c820004, true},
		{"sb zero, 0(zero)", 0xa0000000, true},
		{"ldc1 f0, 8(a0)", 0xd4800008, true},
		{"swl v0, 3(a1)", 0xa8a20003, true},
		{"ll v0, 0(a0)", 0xc0820000, true},
		{"pref 0, 0(a0)", 0xcc800000, false},
		{"lw t9, -32728(gp)", 0x8f998028, false},
		{"sw ra, 28(sp)", 0xafbf001c, false},
		{"lwxc1 f0, v0(a0)", 0x4c820000, true},
		{"lwx v0, v1(a0)", 0x7c83100a, true},
		{"teq a1, zero, 7", 0x00a001f4, true},
		{"tnei a0, 1", 0x048e0001, true},
		{"bltz a0, 0x8008", 0x04800001, false},
		{"bgezal a0, 0x8008", 0x04910001, false},
		{"syscall", 0x0000000c, true},
		{"break 7", 0x0007000d, true},
		{"add v0, v0, v1", 0x00431020, true},
		{"addu v0, v0, v1", 0x00431021, false},
		{"addi v0, v0, 1", 0x20420001, true},
		{"addiu v0, v0, 1", 0x24420001, false},
		{"lui gp, 2", 0x3c1c0002, false},
		{"divu zero, a0, a1", 0x0085001b, false},
		{"mul v0, v0, v1", 0x70431002, false},
		{"jr ra", 0x03e00008, false},
		{"div.s f0, f0, f1", 0x46010003, true},
		{"mfc1 v0, f0", 0x44020000, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		print_message("%s\n", cases[i].mnemonic);
		assert_int_equal(litifut_mips_may_fault(cases[i].word), cases[i].may);
	}
}

/* Which register they write, beside none. */
static void knows_what_is_written(void **state)
{
	static const struct {
		const char *mnemonic;
		uint32_t word;
		unsigned writes;
	} cases[] = {
		{"ins a0, v0, 16, 16", 0x7c44fc04, 4}, {"ext a1, v0, 0, 32", 0x7c45f800, 5},
		{"rdhwr v1, $29", 0x7c03e83b, 3},      {"seh ra, v0", 0x7c02fe20, 31},
		{"addu ra, v0, v1", 0x0043f821, 31},   {"lw ra, 28(sp)", 0x8fbf001c, 31},
		{"sw ra, 28(sp)", 0xafbf001c, 0},      {"mul ra, v0, v1", 0x7043f802, 31},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		print_message("%s\n", cases[i].mnemonic);
		for (unsigned reg = 28; reg < 32; reg++)
			assert_int_equal(litifut_mips_writes(cases[i].word, reg),
					 reg == cases[i].writes);
		if (cases[i].writes)
			assert_true(litifut_mips_writes(cases[i].word, cases[i].writes));
	}
}

/* From the start of a function up to its call or jump by $t9, which is the last word. */
struct name_case {
	const char *code;
	uint32_t words[3];
	bool by_name;
};

static const struct name_case name_cases[] = {
	{"lw t9, 8(gp); nop; jalr t9", {0x8f990008, 0, 0x0320f809}, true},
	{"lw t9, 8(gp); addiu t9, t9, 16; jalr t9", {0x8f990008, 0x27390010, 0x0320f809}, false},
	{"lw t9, 8(s0); jr t9", {0x8e190008, 0, 0x03200008}, false},
	{"lw t9, 8(sp); jalr t9", {0x8fb90008, 0, 0x0320f809}, true},
	{"lw s1, 8(gp); move t9, s1; jalr t9", {0x8f910008, 0x0220c825, 0x0320f809}, true},
	{"move s1, a0; move t9, s1; jalr t9", {0x00808825, 0x0220c825, 0x0320f809}, false},
	{"nop; jalr t9", {0, 0, 0x0320f809}, true},
};

static void knows_calls_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(name_cases); i++)
		for (unsigned big_endian = 0; big_endian < 2; big_endian++) {
			const struct cpu_context context = {.big_endian = big_endian};
			uint8_t code[12];

			for (size_t word = 0; word < 3; word++)
				litifut_put32(big_endian, code + 4 * word,
					      name_cases[i].words[word]);
			if (litifut_mips_leads_by_name(&context, code, sizeof(code)) !=
			    name_cases[i].by_name)
				fail_msg("%s", name_cases[i].code);
		}
	assert_true(litifut_mips_leads_by_name(&(struct cpu_context){0}, NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),           cmocka_unit_test(test_avr_steps),
		cmocka_unit_test(test_it_block),        cmocka_unit_test(test_blocks),
		cmocka_unit_test(knows_what_may_fault), cmocka_unit_test(knows_what_is_written),
		cmocka_unit_test(knows_calls_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
