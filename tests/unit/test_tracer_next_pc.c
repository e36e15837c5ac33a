/* The emulation of a replaced call, ARM and MIPS through one table of cases, and
 * the search of the instruction DB: the device's own code, built for the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "tracer/arm/next_pc.h"
#include "tracer/entry/database.h"
#include "tracer/mips/next_pc.h"

typedef uint32_t (*next_pc_function)(uint32_t instruction, uint32_t return_address,
				     const uint32_t *registers, uint32_t *kind);

struct next_pc_case {
	const char *mnemonic;
	uint32_t instruction;
	uint32_t return_address;
	uint32_t next_pc; /* 0: not a call */
	uint32_t kind;
};

#define REGISTER(n) (0x10000000u + (n)*0x10u)
/* What memory holds at an address. */
#define WORD(address) ((address) ^ 0x2000)
#define DIRECT LITIFUT_SITE_DIRECT
#define INDIRECT LITIFUT_SITE_INDIRECT
#define TAIL LITIFUT_SITE_TAIL_DIRECT
#define TAIL_INDIRECT LITIFUT_SITE_TAIL_INDIRECT

/* The words are what GNU as makes of the mnemonics, with the call at the return
 * address less its length (less 8 on MIPS). */
static const struct next_pc_case arm_cases[] = {
	{"bl .+8", 0xeb000000, 0x8004, 0x8008, DIRECT},
	{"bl .", 0xebfffffe, 0x8004, 0x8000, DIRECT},
	{"bl .+0x2000004", 0xeb7fffff, 0x8004, 0x2008004, DIRECT},
	{"bl .-0x1fffff8", 0xeb800000, 0x4000004, 0x2000008, DIRECT},
	{"blne .+0x100", 0x1b00003e, 0x8004, 0x8100, DIRECT},
	{"blx .+8, H clear", 0xfa000000, 0x8004, 0x8009, DIRECT},
	{"blx .+10, H set", 0xfb000000, 0x8004, 0x800b, DIRECT},
	{"blx .-0x1fffff8", 0xfa800000, 0x4000004, 0x2000009, DIRECT},
	{"blx r0", 0xe12fff30, 0x8004, REGISTER(0), INDIRECT},
	{"blx r12", 0xe12fff3c, 0x8004, REGISTER(12), INDIRECT},
	{"blxeq r4", 0x012fff34, 0x8004, REGISTER(4), INDIRECT},
	{"b .", 0xeafffffe, 0x8004, 0x8000, TAIL},
	{"b .-0x1fffff8", 0xea800000, 0x4000004, 0x2000008, TAIL},
	{"bne .+0x100", 0x1a00003e, 0x8004, 0x8100, TAIL},
	{"bx r3", 0xe12fff13, 0x8004, REGISTER(3), TAIL_INDIRECT},
	{"bxeq r12", 0x012fff1c, 0x8004, REGISTER(12), TAIL_INDIRECT},
	{"bxj r3", 0xe12fff23, 0x8004, 0, 0},
	{"mov r0, r0", 0xe1a00000, 0x8004, 0, 0},
	{"ldr pc, [r3, #8]", 0xe593f008, 0x8004, WORD(REGISTER(3) + 8), INDIRECT},
	{"ldr pc, [r3, #-8]", 0xe513f008, 0x8004, WORD(REGISTER(3) - 8), INDIRECT},
	{"ldreq pc, [r3]", 0x0593f000, 0x8004, WORD(REGISTER(3)), INDIRECT},
	{"ldr pc, [pc, #8]", 0xe59ff008, 0x10000104, WORD(0x10000110), INDIRECT},
	{"ldr pc, [r3], #4", 0xe493f004, 0x8004, 0, 0},
	{"ldr pc, [r3, #4]!", 0xe5b3f004, 0x8004, 0, 0},
	{"ldr pc, [sp, #4]", 0xe59df004, 0x8004, 0, 0},
	{"sub pc, r3, #63", 0xe243f03f, 0x8004, REGISTER(3) - 63, INDIRECT},
	{"add pc, r3, #4096", 0xe283fa01, 0x8004, REGISTER(3) + 4096, INDIRECT},
	{"add pc, r3, r2, lsl #2", 0xe083f102, 0x8004, REGISTER(3) + (REGISTER(2) << 2), INDIRECT},
	{"bic pc, r3, #1", 0xe3c3f001, 0x8004, 0, 0},
	{"ldr pc, [r3, #8], tail call", 0xf593f008, 0x8004, WORD(REGISTER(3) + 8), TAIL_INDIRECT},
	{"sub pc, r3, #63, tail call", 0xf243f03f, 0x8004, REGISTER(3) - 63, TAIL_INDIRECT},
	{"mcr2 (unconditional space)", 0xfe000010, 0x8004, 0, 0},
	{"T32 bl .+4", 0xf000f800, 0x8005, 0x8005, DIRECT},
	{"T32 bl .", 0xf7fffffe, 0x8005, 0x8001, DIRECT},
	{"T32 bl .+0x1000002", 0xf3ffd7ff, 0x8005, 0x1008003, DIRECT},
	{"T32 bl .-0xfffffc", 0xf400d000, 0x2000005, 0x1000005, DIRECT},
	{"T32 blx .+4 at a multiple of 4", 0xf000e800, 0x8005, 0x8004, DIRECT},
	{"T32 blx at 2 mod 4", 0xf000e800, 0x8007, 0x8004, DIRECT},
	{"T32 blx .-4", 0xf7ffeffc, 0x8005, 0x7ffc, DIRECT},
	{"T32 blx r3", 0x4798, 0x8003, REGISTER(3), INDIRECT},
	{"T32 blx r12", 0x47e0, 0x8003, REGISTER(12), INDIRECT},
	{"T32 bx r3", 0x4718, 0x8003, REGISTER(3), TAIL_INDIRECT},
	{"T32 mov pc, r3", 0x469f, 0x8003, REGISTER(3) | 1, TAIL_INDIRECT},
	{"T32 ldr.w pc, [r3, #8]", 0xf8d3f008, 0x8005, WORD(REGISTER(3) + 8), TAIL_INDIRECT},
	{"T32 ldr.w pc, [r3, #-8]", 0xf853fc08, 0x8005, WORD(REGISTER(3) - 8), TAIL_INDIRECT},
	{"T32 ldr.w pc, [pc, #8]", 0xf8dff008, 0x10000107, WORD(0x1000010c), TAIL_INDIRECT},
	{"T32 ldr.w pc, [pc, #-8]", 0xf85ff008, 0x10000107, WORD(0x100000fc), TAIL_INDIRECT},
	{"T32 ldr.w pc, [r3], #8", 0xf853fb08, 0x8005, 0, 0},
	{"T32 ldr.w pc, [r3, #8]!", 0xf853ff08, 0x8005, 0, 0},
	{"T32 ldr.w pc, [sp, #8]", 0xf8ddf008, 0x8005, 0, 0},
	{"T32 ldm.w r3, {pc}", 0xe8938000, 0x8005, 0, 0},
	{"T32 b.w .", 0xf7ffbffe, 0x8005, 0x8001, TAIL},
	{"T32 b.w .+0x1000002", 0xf3ff97ff, 0x8005, 0x1008003, TAIL},
	{"T32 b.w .-0xfffffc", 0xf4009000, 0x2000005, 0x1000005, TAIL},
	{"T32 b.w, far", 0xfa7fffff, 0x8007, 0x2008005, TAIL},
	{"T32 b.w, far and 2 mod 4", 0xfb800000, 0x4000005, 0x200000b, TAIL},
	{"T32 beq.w .", 0xf43faffe, 0x8005, 0, 0},
	{"T32 b.n .", 0xe7fe, 0x8003, 0, 0},
};

static const struct next_pc_case mips_cases[] = {
	{"jal 0x400100", 0x0c100040, 0x400008, 0x400100, DIRECT},
	{"jal, last of its region", 0x0fffffff, 0x400008, 0x0ffffffc, DIRECT},
	{"jal, delay slot in the next region", 0x0c000040, 0x10000004, 0x10000100, DIRECT},
	{"jal in the region at 0x70000000", 0x0c100040, 0x77000008, 0x70400100, DIRECT},
	{"bal .+4", 0x04110000, 0x400008, 0x400004, DIRECT},
	{"bal .", 0x0411ffff, 0x400008, 0x400000, DIRECT},
	{"bal .+0x20000", 0x04117fff, 0x400008, 0x420000, DIRECT},
	{"bal .-0x1fffc", 0x04118000, 0x420008, 0x400004, DIRECT},
	{"bgezal $4, .+0x104", 0x04910040, 0x400008, 0x400104, DIRECT},
	{"bltzal $4, .+0x104", 0x04900040, 0x400008, 0x400104, DIRECT},
	{"jalr $25", 0x0320f809, 0x400008, REGISTER(25), INDIRECT},
	{"jalr $2", 0x0040f809, 0x400008, REGISTER(2), INDIRECT},
	{"jalr.hb $16", 0x0200fc09, 0x400008, REGISTER(16), INDIRECT},
	{"jalr $4, $25", 0x03202009, 0x400008, 0, 0},
	{"jr $25", 0x03200008, 0x400008, REGISTER(25), LITIFUT_SITE_TAIL_INDIRECT},
	{"jr.hb $25", 0x03200408, 0x400008, REGISTER(25), LITIFUT_SITE_TAIL_INDIRECT},
	{"bc .+0x104, a tail call in the DB", 0xc8000040, 0x400008, 0x400104,
	 LITIFUT_SITE_TAIL_DIRECT},
	{"bc .-0x7fffffc", 0xca000000, 0x8400008, 0x400004, LITIFUT_SITE_TAIL_DIRECT},
	{"b .", 0x1000ffff, 0x400008, 0, 0},
	{"bgez $4, .", 0x0481ffff, 0x400008, 0, 0},
	{"j 0x400100", 0x08100040, 0x400008, 0, 0},
	{"nop", 0, 0x400008, 0, 0},
};

static void check(next_pc_function next_pc, const struct next_pc_case *cases, size_t count)
{
	uint32_t registers[32];

	for (uint32_t i = 0; i < 32; i++)
		registers[i] = REGISTER(i);
	for (size_t i = 0; i < count; i++) {
		uint32_t kind = 0;
		uint32_t next =
			next_pc(cases[i].instruction, cases[i].return_address, registers, &kind);

		if (next != cases[i].next_pc || (next && kind != cases[i].kind))
			fail_msg("%s: went to 0x%x, kind %u", cases[i].mnemonic, next, kind);
	}
}

static void arm_calls(void **state)
{
	uint32_t *memory = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	(void)state;
	assert_ptr_equal(memory, (void *)0x10000000);
	for (uint32_t i = 0; i < 1024; i++)
		memory[i] = WORD(0x10000000 + 4 * i);
	check(litifut_arm_next_pc, arm_cases, sizeof(arm_cases) / sizeof(arm_cases[0]));
}

static uint32_t mips_next_pc(uint32_t instruction, uint32_t return_address,
			     const uint32_t *registers, uint32_t *kind)
{
	return litifut_mips_next_pc(instruction, return_address, registers[instruction >> 21 & 31],
				    kind);
}

static void mips_calls(void **state)
{
	(void)state;
	check(mips_next_pc, mips_cases, sizeof(mips_cases) / sizeof(mips_cases[0]));
}

#define ENTRIES 1000
static struct litifut_db_entry entries[ENTRIES];

static void fill_entries(void)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		entries[i].return_address = 0x10000 + i * 6 + (i & 1);
}

static void search_finds_each_and_nothing_else(void **state)
{
	(void)state;
	fill_entries();
	for (uint32_t count = 0; count <= ENTRIES; count += count < 10 ? 1 : 99) {
		for (uint32_t i = 0; i < count; i++) {
			uint32_t address = entries[i].return_address;

			assert_int_equal(litifut_database_find(entries, count, address), i);
			assert_int_equal(litifut_database_find(entries, count, address + 2), count);
		}
		assert_int_equal(litifut_database_find(entries, count, 0), count);
		assert_int_equal(litifut_database_find(entries, count, UINT32_MAX), count);
	}
}

/* Any content of the cache is only a hint: what other threads, or another state
 * of the table, left there changes no answer. */
static void search_through_a_cache_of_any_content(void **state)
{
	uint32_t cache[16];

	(void)state;
	fill_entries();
	for (uint32_t seed = 0; seed < 3; seed++) {
		for (uint32_t i = 0; i < 16; i++)
			cache[i] = seed == 2 ? UINT32_MAX : seed * (i * 37 + 990);
		for (uint32_t i = 0; i < ENTRIES; i++) {
			uint32_t address = entries[i].return_address;

			for (int again = 0; again < 2; again++)
				assert_int_equal(litifut_database_find_cached(
							 entries, ENTRIES, address, cache, 16, 1),
						 i);
			assert_int_equal(litifut_database_find_cached(entries, ENTRIES, address + 2,
								      cache, 16, 1),
					 ENTRIES);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arm_calls),
		cmocka_unit_test(mips_calls),
		cmocka_unit_test(search_finds_each_and_nothing_else),
		cmocka_unit_test(search_through_a_cache_of_any_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
