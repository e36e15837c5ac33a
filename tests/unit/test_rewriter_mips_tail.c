/* Tail calls of the MIPS back end: which jumps are some, and how they go by trampolines,
 * islands and numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rewriter/mips/mips.h"

#define MIPS LITIFUT_CODE_PLAIN
#define BRANCH LITIFUT_CLASS_BRANCH_DIRECT
#define BRANCH_REGISTER LITIFUT_CLASS_BRANCH_INDIRECT
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct litifut_arch_context contexts[] = {
	{.cpu.big_endian = false, .cpu.position_independent = true},
	{.cpu.big_endian = true, .cpu.position_independent = true},
};

static struct litifut_cramped_call tail_call(const struct litifut_section *section,
					     uint32_t address)
{
	struct litifut_cramped_call call = {
		.address = address,
		.tail = true,
		.section = section,
		.function_start = section->address,
		.function_end = section->address + section->size,
	};

	litifut_mips_decode(&contexts[0].cpu, section->bytes + (address - section->address), 4,
			    address, MIPS, &call.instruction);
	return call;
}

static void tail_calls_go_by_trampolines(void **state)
{
	/* lw ra, 28(sp); b 0x40000; addiu sp, sp, 32 */
	uint8_t bytes[12] = {0x1c, 0, 0xbf, 0x8f, 0xfe, 0xbf, 0x00, 0x10, 0x20, 0, 0xbd, 0x27};
	struct litifut_section section = {.address = 0x10000, .size = 12, .bytes = bytes};
	struct litifut_cramped_call call = tail_call(&section, 0x10004);
	const uint32_t entries[LITIFUT_ENTRIES_MAX] = {0x20000, 0x20100, 0x20200, 0x20400};
	const struct litifut_gate near = {0x20400, entries, 0};
	const uint32_t far_entries[LITIFUT_ENTRIES_MAX] = {0x90000, 0x90100, 0x90200, 0x90400};
	const struct litifut_gate far = {0x90400, far_entries, 0};
	const uint32_t island[LITIFUT_ENTRIES_MAX] = {0x12008, 0x12000, 0x1200c, 0};
	uint32_t first = LITIFUT_MIPS_GATE_BYTES;
	struct litifut_detour detour;
	uint8_t code[LITIFUT_MIPS_TRAMPOLINE_BYTES];

	(void)state;
	assert_true(litifut_mips_can_detour(&contexts[0], &call, NULL));
	assert_true(litifut_mips_write_detour(&contexts[0], &call, 0x20400 + first, &near, code,
					      &detour));
	/* past the copy of the delay slot, which stays where it is */
	assert_int_equal(detour.length, 4);
	assert_int_equal(detour.entry, 0x20400 + first + 4);
	assert_int_equal(detour.return_address, 0x20400 + first + 16);
	assert_int_equal(litifut_get32(false, code), 0x27bd0020);

	assert_false(litifut_mips_write_detour(&contexts[0], &call, 0x90400 + first, &far, code,
					       &detour));
	assert_true(litifut_mips_encode_numbered(&contexts[0], &call, 0x90400 + first + 16, &far,
						 island, code, &detour));
	assert_int_equal(detour.length, 8);
	assert_int_equal(detour.entry, island[LITIFUT_MIPS_ENTRY_NUMBERED]);
	assert_int_equal(litifut_get32(false, detour.code + 4), 0x3c010001); /* number 1 */
	/* not one of the numbered places */
	assert_false(litifut_mips_encode_numbered(&contexts[0], &call, 0x90400 + first + 8, &far,
						  island, code, &detour));
}

/* The tracer finds the callee of either by what the DB has for jr. */
static void jalr_of_no_link_register_stands_as_jr_in_the_db(void **state)
{
	static const struct {
		uint32_t word, instruction;
	} rows[] = {
		{0x03200008, 0x03200008}, /* jr t9 */
		{0x03200009, 0x03200008}, /* jalr zero, t9 */
		{0x00400009, 0x00400008}, /* jalr zero, v0 */
		{0x03200409, 0x03200408}, /* jalr.hb zero, t9 */
	};
	const uint32_t entries[LITIFUT_ENTRIES_MAX] = {0x20000, 0x20100, 0x20200, 0x20400};
	const struct litifut_gate gate = {0x20400, entries, 0};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t bytes[8] = {0};
		struct litifut_section section = {.address = 0x10000, .size = 8, .bytes = bytes};
		uint8_t code[2 * LITIFUT_MIPS_TRAMPOLINE_BYTES];
		struct litifut_detour detour;

		litifut_put32(false, bytes, rows[i].word);
		const struct litifut_cramped_call call = tail_call(&section, 0x10000);

		assert_int_equal(call.instruction.class, BRANCH_REGISTER);
		assert_true(litifut_mips_write_detour(&contexts[0], &call,
						      0x20400 + LITIFUT_MIPS_GATE_BYTES, &gate,
						      code, &detour));
		assert_int_equal(detour.instruction, rows[i].instruction);
	}
}

/* Trampolines of a large program at a fixed address take more room than a branch spans. */
static void trampolines_far_from_the_tracer_jump(void **state)
{
	const struct litifut_arch_context fixed = {.thunks = true};
	/* b 0x10000; nop */
	uint8_t bytes[8] = {0xfe, 0xff, 0x00, 0x10};
	struct litifut_section section = {.address = 0x10004, .size = 8, .bytes = bytes};
	const struct litifut_cramped_call call = tail_call(&section, 0x10004);
	const uint32_t entries[LITIFUT_ENTRIES_MAX] = {
		0x400000, 0x400100, 0x400200,
		0x400400, [LITIFUT_MIPS_ENTRY_THUNK_TAIL_BACK] = 0x400340};
	const struct litifut_gate gate = {0x400400, entries, 0x400340};
	const uint32_t place = 0x400400 + LITIFUT_MIPS_GATE_BYTES + 0x20000;
	struct litifut_detour detour;
	uint8_t code[2 * LITIFUT_MIPS_TRAMPOLINE_BYTES];

	(void)state;
	assert_false(litifut_mips_write_detour(&contexts[0], &call, place, &gate, code, &detour));
	assert_true(litifut_mips_write_detour(&fixed, &call, place, &gate, code, &detour));
	assert_int_equal(detour.return_address, place + 16);
	assert_int_equal(litifut_get32(false, code + 8), 0x0c000000 | 0x400340 >> 2); /* jal */
	assert_int_equal(litifut_get32(false, code + 16), 0x08000000 | 0x10000 >> 2); /* j */
}

/* Where a branch at `address` of the `size` bytes in `code`, which stand at `base`, leads by
 * itself and by the branches there. */
static uint32_t follow_branches(const struct litifut_arch_context *context, const uint8_t *code,
				uint32_t base, uint32_t size, uint32_t address)
{
	struct litifut_instruction instruction;

	while (address >= base && address < base + size) {
		assert_int_equal(litifut_mips_decode(&context->cpu, code + (address - base), 4,
						     address, MIPS, &instruction),
				 4);
		assert_int_equal(instruction.class, BRANCH);
		assert_int_equal(
			litifut_get32(context->cpu.big_endian, code + (address - base) + 4),
			0); /* the delay slot */
		assert_true(instruction.target < address);
		address = instruction.target;
	}
	return address;
}

/* In a room of 1 MB the tracer is in reach from everywhere, over branches that change no
 * register. */
static void ways_onward_lead_to_the_tracer(void **state)
{
	static const struct litifut_arch_context fixed;
	static uint8_t room[0x100000];
	const uint32_t base = 0x40000;
	uint32_t tracer[LITIFUT_ENTRIES_MAX];

	(void)state;
	for (uint32_t i = 0; i < LITIFUT_ENTRIES_MAX; i++)
		tracer[i] = 0x38000 + 0x100 * i;
	for (size_t order = 0; order < COUNT(contexts); order++) {
		uint32_t entries[LITIFUT_ENTRIES_MAX];
		size_t written = 0;

		memcpy(entries, tracer, sizeof(entries));
		for (uint32_t at = base; at + LITIFUT_ONWARD_INTERVAL <= base + sizeof(room);
		     at += LITIFUT_ONWARD_INTERVAL) {
			size_t bytes = litifut_mips_write_onward(&contexts[order], at, entries,
								 room + (at - base));

			assert_true(bytes <= LITIFUT_ONWARD_BYTES_MAX);
			assert_int_equal(bytes % LITIFUT_MIPS_TRAMPOLINE_BYTES, 0);
			written += bytes != 0;
			for (unsigned i = 0; i < LITIFUT_ENTRIES_MAX; i++) {
				uint32_t behind = at + 2 * LITIFUT_ONWARD_INTERVAL;

				assert_int_equal(follow_branches(&contexts[order], room, base,
								 sizeof(room), entries[i]),
						 tracer[i]);
				if (i == LITIFUT_MIPS_ENTRY_CALL || i == LITIFUT_MIPS_ENTRY_TAIL ||
				    (i >= LITIFUT_MIPS_ENTRY_THUNK_TAIL &&
				     i <= LITIFUT_MIPS_ENTRY_THUNK_TAIL_BACK) ||
				    i == LITIFUT_MIPS_ENTRY_THUNK_CALL_OWN)
					assert_true(
						litifut_mips_branch_reaches(behind, entries[i]));
			}
		}
		assert_in_range(written, 8, 9);
		/* what is too far already, and what jumps anyway */
		assert_int_equal(litifut_mips_write_onward(&contexts[order], 0x90000, tracer, room),
				 0);
		assert_int_equal(litifut_mips_write_onward(&fixed, base + 0x17000, tracer, room),
				 0);
	}
}

/* The thunk that stores the event comes back to where the trampoline goes on, which
 * is the call's key. */
static void trampolines_go_on_where_their_thunk_returns(void **state)
{
	/* b 0x20004; nop */
	uint8_t bytes[8] = {0xff, 0x3f, 0x00, 0x10};
	struct litifut_section section = {.address = 0x10004, .size = 8, .bytes = bytes};
	const struct litifut_cramped_call call = tail_call(&section, 0x10004);
	const uint32_t entries[LITIFUT_ENTRIES_MAX] = {
		0x20000,
		0x20100,
		0x20200,
		0x20400,
		0,
		0,
		0,
		0,
		[LITIFUT_MIPS_ENTRY_THUNK_TAIL_NEAR] = 0x20300,
		[LITIFUT_MIPS_ENTRY_THUNK_TAIL_BACK] = 0x20340};
	const uint32_t place = 0x20400 + LITIFUT_MIPS_GATE_BYTES;
	struct litifut_gate gate = {0x20400, entries, 0x20340};
	struct litifut_detour detour;
	uint8_t code[2 * LITIFUT_MIPS_TRAMPOLINE_BYTES];

	(void)state;
	assert_true(litifut_mips_write_detour(&contexts[0], &call, place, &gate, code, &detour));
	assert_int_equal(detour.return_address, place + 16);
	assert_int_equal(detour.trampoline_bytes, 32);
	assert_int_equal(litifut_get32(false, code + 8),
			 litifut_mips_branch(0x04110000, place + 8, 0x20340));
	assert_int_equal(litifut_get32(false, code + 16),
			 litifut_mips_branch(0x10000000, place + 16, 0x20004));
	/* the other thunks leave through $t9 */
	gate.thunk = 0x20300;
	assert_true(litifut_mips_write_detour(&contexts[0], &call, place, &gate, code, &detour));
	assert_int_equal(detour.trampoline_bytes, 16);
}

/* The way by a number, without the gate. */
static void numbers_lead_to_trampolines(void **state)
{
	const uint32_t entries[LITIFUT_ENTRIES_MAX] = {0x90000, 0x90100, 0x90200, 0x90400};
	uint32_t island[LITIFUT_ENTRIES_MAX];
	uint8_t code[LITIFUT_MIPS_ISLAND_BYTES];

	(void)state;
	litifut_mips_write_island(&contexts[0], 0x12000, entries, code, island);
	uint32_t at = island[LITIFUT_MIPS_ENTRY_NUMBERED] - 0x12000;

	assert_int_equal(litifut_get32(false, code + at + 12), 0x00010b02); /* srl at, at, 12 */
	uint32_t high = litifut_get32(false, code + at + 20) & 0xffff;
	uint32_t low = litifut_get32(false, code + at + 32) & 0xffff;
	/* from what the bal leaves in ra */
	assert_int_equal(0x12000 + at + 16 + (high << 16) + (uint32_t)(int16_t)low,
			 0x90400 + LITIFUT_MIPS_GATE_BYTES);
}

/* An island and the gate. */
struct ways {
	struct litifut_arch_context context;
	uint32_t island[LITIFUT_ENTRIES_MAX];
	uint8_t island_code[LITIFUT_MIPS_ISLAND_BYTES];
	uint8_t gate_code[LITIFUT_MIPS_GATE_BYTES];
};

#define ISLAND 0x12000u
#define GATE 0x90400u

static const uint8_t *code_of(const struct ways *ways, uint32_t address)
{
	if (address - ISLAND < sizeof(ways->island_code))
		return ways->island_code + (address - ISLAND);
	return address - GATE < sizeof(ways->gate_code) ? ways->gate_code + (address - GATE) : NULL;
}

/* Does what the few kinds of instructions there do, from `address` on with `at` in $at, and returns
 * where they lead outside. */
static uint32_t walk(const struct ways *ways, uint32_t address, uint32_t at)
{
	const bool big = ways->context.cpu.big_endian;
	const uint32_t stack = 0x7fff0000;
	uint32_t registers[32] = {[1] = at, [29] = stack + 8, [31] = 0x12345678};
	uint32_t words[2] = {0};
	uint32_t jump = 0;

	for (unsigned steps = 0; steps < 60 && code_of(ways, address); steps++) {
		const uint32_t word = litifut_get32(big, code_of(ways, address));
		const unsigned rs = word >> 21 & 31;
		const unsigned rt = word >> 16 & 31;
		const unsigned rd = word >> 11 & 31;
		const uint32_t low = (uint32_t)(int16_t)(word & 0xffff);
		const uint32_t beyond = address + 4 + (low << 2);
		const uint32_t place = registers[rs] + low - stack;
		const uint32_t target = jump;

		jump = 0;
		address += 4;
		if (word >> 16 == 0x0422 || word >> 16 == 0x5c20) { /* bltzl, bgtzl */
			const int32_t value = (int32_t)registers[1];

			if (word >> 16 == 0x0422 ? value < 0 : value > 0)
				jump = beyond;
			else
				address += 4;
		} else if (word >> 16 == 0x1000) {
			jump = beyond;
		} else if (word >> 26 == 0x21) { /* lh */
			registers[rt] = (uint32_t)(int16_t)(words[0] >> ((place == 2) != big) * 16);
		} else if (word >> 26 == 0x09) {
			registers[rt] = registers[rs] + low;
		} else if (word >> 26 == 0x0f) {
			registers[rt] = word << 16;
		} else if (word >> 26 == 0x2b) {
			words[place / 4] = registers[rt];
		} else if (word >> 26 == 0x23) {
			registers[rt] = words[place / 4];
		} else if (word == 0x04110001) { /* bal */
			registers[31] = address + 4;
		} else if (word == 0x00200008) { /* jr at */
			jump = registers[1];
		} else if ((word & 0xfc00003f) == 0x00) {
			registers[rd] = registers[rt] << (word >> 6 & 31);
		} else if ((word & 0xfc00003f) == 0x02) {
			registers[rd] = registers[rt] >> (word >> 6 & 31);
		} else if ((word & 0xfc00003f) == 0x21) {
			registers[rd] = registers[rs] + registers[rt];
		} else {
			fail_msg("instruction %08x", (unsigned)word);
		}
		if (target)
			address = target;
	}
	assert_int_equal(registers[29], stack + 8); /* sp, and ra, are what they were */
	assert_int_equal(registers[31], 0x12345678);
	return address;
}

/* Rooms for more than a megabyte of trampolines have several tables, and an island a way for each.
 * The gate serves the first of them. */
static void tables_number_all_trampolines(void **state)
{
	const uint32_t entries[LITIFUT_ENTRIES_MAX] = {GATE - 0x400, GATE - 0x300, 0, GATE};
	const uint32_t first = GATE + LITIFUT_MIPS_GATE_BYTES;
	static const uint32_t offsets[] = {0,        16,       0x7fff0,  0xffff0,
					   0x100000, 0x100010, 0x8ffff0, 0xfffff0};

	(void)state;
	for (unsigned i = 0; i < 2 * LITIFUT_MIPS_TABLES; i++) {
		struct ways ways = {.context = {.cpu.position_independent = true,
						.cpu.big_endian = i & 1,
						.tables = 1 + i / 2}};
		uint32_t piece[LITIFUT_ENTRIES_MAX];
		uint8_t scratch[LITIFUT_MIPS_WAYS_BYTES];

		litifut_mips_write_island(&ways.context, ISLAND, entries, ways.island_code,
					  ways.island);
		litifut_mips_write_piece(&ways.context, LITIFUT_MIPS_PIECE_WAYS, ISLAND, entries,
					 scratch, piece);
		litifut_mips_write_gate(&ways.context, GATE, entries, ways.gate_code);
		assert_int_equal(walk(&ways, ways.island[LITIFUT_MIPS_ENTRY_CALL], 0),
				 entries[LITIFUT_MIPS_ENTRY_CALL]);
		assert_int_equal(walk(&ways, ways.island[LITIFUT_MIPS_ENTRY_T9], 0),
				 entries[LITIFUT_MIPS_ENTRY_T9]);
		for (size_t k = 0; k < COUNT(offsets); k++) {
			const bool has =
				offsets[k] < ways.context.tables * LITIFUT_MIPS_TABLE_BYTES;
			uint32_t word;
			unsigned way;

			assert_int_equal(
				litifut_mips_number(&ways.context, offsets[k], &word, &way), has);
			if (!has)
				continue;
			assert_int_equal(word >> 16, 0x3c01); /* lui at */
			assert_int_equal(walk(&ways, ways.island[way], word << 16),
					 first + offsets[k]);
			if (piece[way])
				assert_int_equal(walk(&ways, piece[way], word << 16),
						 first + offsets[k]);
			assert_false(
				litifut_mips_number(&ways.context, offsets[k] + 4, &word, &way));
		}
	}
}

/* As glibc's clone() starts a thread. Its number in at must be of no consequence
 * where the branch is not taken. */
static void a_far_branch_with_a_condition_takes_a_number(void **state)
{
	static const struct {
		uint32_t slot, behind[3];
		bool done;
	} rows[] = {
		{0, {0x03e00008, 0x27bd0020, 0x00200008}, true},           /* jr ra; addiu sp */
		{0, {0x00000000, 0x03200008, 0x27bd0020}, true},           /* nop; jr t9 */
		{0, {0x00201025, 0x03e00008, 0x27bd0020}, false},          /* move v0, at */
		{0, {0x03e00008, 0x00201025, 0x27bd0020}, false},          /* jr ra; move v0, at */
		{0, {0x10400001, 0x00000000, 0x03e00008}, false},          /* beqz v0 */
		{0, {0x45010001, 0x00000000, 0x03e00008}, false},          /* bc1t */
		{0x27bd0020, {0x03e00008, 0x00000000, 0x00000000}, false}, /* in the slot */
	};
	const uint32_t far_entries[LITIFUT_ENTRIES_MAX] = {0x90000, 0x90100, 0x90200, 0x90400};
	const struct litifut_gate far = {0x90400, far_entries, 0};
	const uint32_t island[LITIFUT_ENTRIES_MAX] = {0x12008, 0x12000, 0x1200c, 0};
	const uint32_t number_2 = 0x90400 + LITIFUT_MIPS_GATE_BYTES + 2 * 16;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t bytes[24];
		struct litifut_section section = {.address = 0x10000, .size = 24, .bytes = bytes};
		struct litifut_detour detour;
		uint8_t code[LITIFUT_MIPS_TRAMPOLINE_BYTES];

		litifut_put32(false, bytes, 0x1040bfff); /* beqz v0, 0x40000 */
		litifut_put32(false, bytes + 4, rows[i].slot);
		for (size_t k = 0; k < 3; k++)
			litifut_put32(false, bytes + 8 + 4 * k, rows[i].behind[k]);
		litifut_put32(false, bytes + 20, 0);
		const struct litifut_cramped_call call = tail_call(&section, 0x10000);

		assert_int_equal(litifut_mips_encode_numbered(&contexts[0], &call, number_2, &far,
							      island, code, &detour),
				 rows[i].done);
		if (!rows[i].done)
			continue;
		assert_int_equal(detour.length, 8);
		assert_int_equal(litifut_get32(false, detour.code),
				 0x10400000 | (0x1200c - 0x10004) >> 2);
		assert_int_equal(litifut_get32(false, detour.code + 4), 0x3c010002);
	}
}

static void returns_and_switches_are_no_tail_calls(void **state)
{
	static const struct {
		uint32_t start, before, jump, slot;
		bool tail;
	} rows[] = {
		/* addiu sp, -32; lw ra; jr t9; addiu sp, 32 */
		{0x27bdffe0, 0x8fbf001c, 0x03200008, 0x27bd0020, true},
		{0x27bdffe0, 0x00000000, 0x03200008, 0x27bd0020, true},
		{0x27bdffe0, 0x00000000, 0x03200008, 0x00000000, false}, /* with its frame */
		{0x27bdffe0, 0x00000000, 0x03e00008, 0x27bd0020, false}, /* jr ra */
		{0x27bdffe0, 0x8fbf001c, 0x00200008, 0x27bd0020, false}, /* jr at */
		{0x00000000, 0x005c1021, 0x00400008, 0x00000000,
		 false}, /* addu v0, v0, gp; jr v0 */
		{0x00000000, 0x00451021, 0x00400008, 0x00000000,
		 false}, /* addu v0, v0, a1; jr v0 */
		{0x8f820000, 0x00451021, 0x00400008, 0x00000000, false}, /* lw v0; the same */
		{0x00000000, 0x8cb90008, 0x03200008, 0x00000000, true},  /* lw t9, 8(a1); jr t9 */
		{0x00000000, 0x8ca20008, 0x00400008, 0x00000000, true},  /* lw v0, 8(a1); jr v0 */
		{0x8cb90008, 0x00000000, 0x03200008, 0x00000000, true},  /* not just before */
		{0x00a0c825, 0x00000000, 0x03200008, 0x00000000, true},  /* move t9, a1; jr t9 */
		{0x00000000, 0x00000000, 0x00a00008, 0x00000000, true},  /* jr a1 */
		{0x00000000, 0x00000000, 0x03000008, 0x00000000, true},  /* jr t8, as it came */
		{0x03e05025, 0x00000000, 0x01400008, 0x00000000, false}, /* move t2, ra; jr t2 */
	};
	static const struct litifut_image image;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t bytes[16];
		struct litifut_section section = {.address = 0x1000, .size = 16, .bytes = bytes};
		struct litifut_targets targets = {0};

		print_message("# %zu\n", i);
		litifut_put32(false, bytes, rows[i].start);
		litifut_put32(false, bytes + 4, rows[i].before);
		litifut_put32(false, bytes + 8, rows[i].jump);
		litifut_put32(false, bytes + 12, rows[i].slot);
		struct litifut_cramped_call call = tail_call(&section, 0x1008);

		call.function_start = 0x1000;
		call.function_end = 0x1010;
		call.before[0] = 4;
		assert_int_equal(
			litifut_mips_is_indirect_tail(&image, &contexts[0], &call, &targets),
			rows[i].tail);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tail_calls_go_by_trampolines),
		cmocka_unit_test(jalr_of_no_link_register_stands_as_jr_in_the_db),
		cmocka_unit_test(trampolines_far_from_the_tracer_jump),
		cmocka_unit_test(ways_onward_lead_to_the_tracer),
		cmocka_unit_test(trampolines_go_on_where_their_thunk_returns),
		cmocka_unit_test(numbers_lead_to_trampolines),
		cmocka_unit_test(tables_number_all_trampolines),
		cmocka_unit_test(a_far_branch_with_a_condition_takes_a_number),
		cmocka_unit_test(returns_and_switches_are_no_tail_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
