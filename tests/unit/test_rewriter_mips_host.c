/* Functions of MIPS that make room for an island: which of them can, and where what is
 * put there leads to. In both byte orders. */
#include "tests/unit/rewriter_cases.h"

#include <stdarg.h>
#include <setjmp.h>

#include <cmocka.h>
#include <elf.h>
#include <string.h>

#include "rewriter/mips/mips.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct litifut_arch_context contexts[] = {
	{.cpu.big_endian = false, .cpu.position_independent = true},
	{.cpu.big_endian = true, .cpu.position_independent = true},
};

/* A function that can be a host of an island's first piece: global pointer, a frame,
 * seventeen instructions. */
static const uint32_t host_words[] = {
	0x3c1c0002, 0x279c8010, 0x0399e021, 0x27bdffe0, 0xafbf001c, 0xafb20018, 0xafb10014,
	0xafb00010, 0xafbc000c, 0x00808025, 0x00a08825, 0x00c09025, 0x8f828020, 0x24420010,
	0x00021080, 0x8c430000, 0x00000000, 0x1460fffe, 0x00000000, 0x03e00008, 0x00000000,
};

enum { HOST = 0x100000, HOST_WORDS = COUNT(host_words) };

static bool can_host(size_t changed, uint32_t word, uint32_t target)
{
	uint8_t bytes[sizeof(host_words)];
	struct litifut_section section = {.address = HOST, .size = sizeof(bytes), .bytes = bytes};
	struct litifut_targets targets = {0};
	struct litifut_error error;
	bool result;

	assert_int_equal(litifut_targets_create(HOST, HOST + sizeof(bytes), &targets, &error), 0);
	if (target)
		litifut_targets_add(&targets, target);
	for (size_t i = 0; i < HOST_WORDS; i++)
		litifut_put32(contexts[0].cpu.big_endian, bytes + 4 * i,
			      i == changed ? word : host_words[i]);
	result = litifut_mips_can_host(&contexts[0], &section, HOST, sizeof(bytes),
				       litifut_mips_borrow.host_pieces[0].bytes, &targets);
	litifut_targets_release(&targets);
	return result;
}

static void knows_hosts(void **state)
{
	(void)state;
	assert_true(can_host(HOST_WORDS, 0, 0));
	assert_true(can_host(HOST_WORDS, 0, HOST));                    /* its own start */
	assert_true(can_host(HOST_WORDS, 0, HOST + 4 * 17));           /* behind what moves */
	assert_false(can_host(HOST_WORDS, 0, HOST + 4 * 16));          /* into what moves */
	assert_false(can_host(0, 0x3c020002, 0));                      /* lui of another register */
	assert_false(can_host(2, 0x0398e021, 0));                      /* addu gp, gp, t8 */
	assert_false(can_host(14, 0x00211080 | 1 << 16 | 1 << 11, 0)); /* $at */
	assert_false(can_host(15, 0x10400002, 0));                     /* a branch */
	assert_false(can_host(15, 0x0000000c, 0));                     /* syscall */
	assert_false(can_host(15, 0xc0430000, 0));                     /* ll */
	assert_false(can_host(19, 0x00400008, 0));                     /* jr v0: a switch */
	/* either of the two may change, not both */
	assert_true(can_host(12, 0x8f998020, 0));
	assert_true(can_host(12, 0x8fbc000c, 0));
}

/* With instruction 14 and a call behind those that move. */
static bool can_host_before_call(uint32_t word)
{
	uint8_t bytes[sizeof(host_words)];
	struct litifut_section section = {.address = HOST, .size = sizeof(bytes), .bytes = bytes};
	const struct litifut_targets targets = {0};

	for (size_t i = 0; i < HOST_WORDS; i++)
		litifut_put32(contexts[0].cpu.big_endian, bytes + 4 * i, host_words[i]);
	litifut_put32(contexts[0].cpu.big_endian, bytes + 4 * 14, word);
	litifut_put32(contexts[0].cpu.big_endian, bytes + 4 * 17, 0x0320f809);
	return litifut_mips_can_host(&contexts[0], &section, HOST, sizeof(bytes),
				     litifut_mips_borrow.host_pieces[0].bytes, &targets);
}

static void keeps_what_calls_get(void **state)
{
	(void)state;
	assert_true(can_host_before_call(0x24010001)); /* addiu at, zero, 1 */
	/* move at, ra: _mcount gets it */
	assert_false(can_host_before_call(0x03e00825));
	assert_false(can_host_before_call(0x03e00821));
}

static void knows_what_reads_at(void **state)
{
	(void)state;
	assert_true(litifut_mips_may_read_at(0x00221021)); /* addu v0, at, v0 */
	assert_true(litifut_mips_may_read_at(0x00411021)); /* addu v0, v0, at */
	/* movt and movf with a condition where other instructions have a second source */
	assert_false(litifut_mips_may_read_at(0x00011001)); /* movt v0, zero, $fcc0 */
	assert_true(litifut_mips_may_read_at(0x00211001));  /* movt v0, at, $fcc0 */
	assert_true(litifut_mips_may_read_at(0x00201001));  /* movf v0, at, $fcc0 */
	/* the fields of jumps are those of their targets */
	assert_false(litifut_mips_may_read_at(0x0c200147)); /* jal 0x80051c */
	assert_false(litifut_mips_may_read_at(0x08200147)); /* j 0x80051c */
	assert_false(litifut_mips_sets_at(0x0c010147));     /* jal 0x4051c */
	assert_false(litifut_mips_sets_at(0x08010147));     /* j 0x4051c */
	assert_true(litifut_mips_sets_at(0x00400821));      /* addu at, v0, zero */
	assert_false(litifut_mips_sets_at(0x00400801));     /* movf at, v0, $fcc0 */
}

/* What the five instructions of a way, standing at `code`, jump to. */
static uint32_t way_target(const uint8_t *code, uint32_t base)
{
	uint32_t high = litifut_get32(false, code) & 0xffff;
	uint32_t low = litifut_get32(false, code + 4) & 0xffff;

	return base + (high << 16) + (uint32_t)(int16_t)low;
}

/* Can so many instructions at the start of a function of forty be moved? They are those
 * of `words`, then such as can. */
static bool can_move_away(const struct litifut_arch_context *context, const uint32_t *words,
			  size_t count, unsigned moved)
{
	uint8_t bytes[4 * 40];
	struct litifut_section section = {.address = HOST, .size = sizeof(bytes), .bytes = bytes};
	const struct litifut_targets targets = {0};

	for (size_t i = 0; i < sizeof(bytes) / 4; i++)
		litifut_put32(context->cpu.big_endian, bytes + 4 * i,
			      i < count ? words[i] : 0x24420010);
	return litifut_mips_can_host(context, &section, HOST, sizeof(bytes), 4 * (size_t)moved,
				     &targets);
}

/* A function whose first line divides begins with the check of the divisor. */
static void traps_with_a_condition_move(void **state)
{
	(void)state;
	static const uint32_t checks[] = {0x00a001f4, /* teq a1, zero, 7 */
					  0x0085ffb0, 0x0085ffb1, 0x0085ffb2,
					  0x0085ffb3, 0x0085ffb6}; /* tge, tgeu, tlt, tltu, tne */

	for (size_t i = 0; i < COUNT(checks); i++)
		assert_true(litifut_mips_can_move(checks[i]));
	assert_false(litifut_mips_can_move(0x0000000c)); /* syscall */
	assert_false(litifut_mips_can_move(0x0007000d)); /* break 7 */
}

static void hosts_keep_a_way_back(void **state)
{
	uint32_t words[20];

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++)
		words[i] = i < 12 ? host_words[i] : 0x24420010;
	assert_true(can_move_away(&contexts[0], words, COUNT(words), 24));
	/* up to where the second of $t9 and the global pointer is lost */
	words[15] = 0x8f998020;
	words[19] = 0x8fbc000c;
	assert_true(can_move_away(&contexts[0], words, COUNT(words), 19));
	assert_false(can_move_away(&contexts[0], words, COUNT(words), 20));
	/* two instructions of the function stay */
	assert_true(can_move_away(&contexts[0], words, 12, 38));
	assert_false(can_move_away(&contexts[0], words, 12, 39));
}

/* Clang computes the pointer by way of another register, with instructions between, and
 * takes $at for its own. */
static void hosts_of_clang(void **state)
{
	/* lui v0; addiu v0; addiu sp; sw ra; sw s1; addu s1, v0, t9; move; lw at, 0(s1);
	 * addiu s2, at, 208; move t9, s2; jalr t9; move s4, a0 */
	static const uint32_t clang[] = {
		0x3c020002, 0x24428010, 0x27bdffd0, 0xafbf002c, 0xafb10018, 0x00598821,
		0x00c09825, 0x8e210000, 0x243200d0, 0x0240c825, 0x0320f809, 0x0080a025,
	};
	static const struct {
		size_t at;
		uint32_t word;
		unsigned moved;
		bool can;
	} rows[] = {
		{0, 0x3c020002, 9, true},   {0, 0x3c020002, 7, true},
		{0, 0x3c020002, 8, false},  /* at is used behind them */
		{0, 0x3c020002, 5, true},   /* back by $t9 */
		{0, 0x3c020002, 11, false}, /* the call */
		{0, 0x3c020003, 9, false},  /* no pointer of the image */
		{3, 0x24420001, 9, false},  /* addiu v0, v0, 1 */
		{4, 0x24590001, 9, false},  /* addiu t9, v0, 1 */
		{4, 0x10400001, 9, false},  /* beqz v0 */
		{5, 0x00598823, 9, false},  /* subu */
		{6, 0x00209825, 9, false},  /* move s3, at: of before */
		{9, 0x0220c825, 9, true},   /* move t9, s1 */
		{9, 0x0020c825, 9, false},  /* move t9, at */
		{11, 0x0020a025, 9, false}, /* move s4, at, in the slot of the call */
		{8, 0x8c210004, 9, true},   /* lw at, 4(at): it is not used */
	};
	const struct litifut_arch_context fixed = {
		.cpu.facts = &(struct litifut_mips_facts){.global_pointer = HOST + 0x18010}};
	const struct litifut_arch_context second = {
		.cpu.big_endian = true,
		.cpu.facts = &(struct litifut_mips_facts){
			.global_pointer = 0x60000,
			.got = {.address = HOST + 0x8000, .end = HOST + 0x18000}}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t words[COUNT(clang)];

		memcpy(words, clang, sizeof(words));
		words[rows[i].at] = rows[i].word;
		assert_int_equal(can_move_away(&fixed, words, COUNT(words), rows[i].moved),
				 rows[i].can);
		assert_int_equal(can_move_away(&second, words, COUNT(words), rows[i].moved),
				 rows[i].can);
	}
}

static void hosts_lead_there_and_back(void **state)
{
	static const uint32_t entries[LITIFUT_ENTRIES_MAX] = {0x100, 0x200, 0x300, 0x400};
	const uint32_t trampoline = 0x2f8000;
	const uint32_t bytes = (uint32_t)litifut_mips_borrow.host_pieces[0].bytes;
	uint32_t island[LITIFUT_ENTRIES_MAX];
	uint8_t moved[LITIFUT_MIPS_HOST_TRAMPOLINE_BYTES(LITIFUT_MIPS_WAYS_BYTES)];
	uint8_t code[sizeof(host_words)];

	(void)state;
	for (size_t i = 0; i < HOST_WORDS; i++)
		litifut_put32(false, code + 4 * i, host_words[i]);
	litifut_mips_write_host(&contexts[0], 0, HOST, trampoline, entries, code, moved, island);
	assert_int_equal(way_target(code, HOST), trampoline);
	for (size_t i = 0; i < bytes / 4; i++)
		assert_int_equal(litifut_get32(false, moved + 4 * i), host_words[i]);
	for (size_t i = bytes / 4; i < HOST_WORDS; i++)
		assert_int_equal(litifut_get32(false, code + 4 * i), host_words[i]);
	/* gp is HOST + 0x20000 - 0x7ff0 when the way back is taken */
	assert_int_equal(way_target(moved + bytes, HOST + 0x20000 - 0x7ff0), HOST + bytes);
	/* the island: its last jump goes to the gate, relative to what its bal leaves */
	uint32_t start = HOST + LITIFUT_MIPS_WAY_BYTES;

	assert_int_equal(island[LITIFUT_MIPS_ENTRY_T9], start);
	assert_int_equal(island[LITIFUT_MIPS_ENTRY_THUNK_T9], start);
	assert_int_equal(way_target(code + LITIFUT_MIPS_WAY_BYTES + 28, start + 28), entries[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_hosts),
		cmocka_unit_test(keeps_what_calls_get),
		cmocka_unit_test(knows_what_reads_at),
		cmocka_unit_test(traps_with_a_condition_move),
		cmocka_unit_test(hosts_keep_a_way_back),
		cmocka_unit_test(hosts_of_clang),
		cmocka_unit_test(hosts_lead_there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
