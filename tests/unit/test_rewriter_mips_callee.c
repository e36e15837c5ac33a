/* What $t9 holds at a call, as far as the code before it tells. Over 500 lines, as most of them are
 * tables of cases that share one fixture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/mips/mips.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))
#define TEXT 0x1000u
#define STUBS 0x2000u
#define GOT 0x20000u
#define GP (GOT + 0x7ff0)

/* Entries of the GOT: two reserved, local ones, and those of symbols 3 to 5. */
enum { PAGE = 2, LOCAL = 3, ELSEWHERE = 4, OWN = 5, LAZY = 6, RESOLVED = 7, ENTRIES = 8 };

/* lw t9, the entry(gp) */
#define LOAD(entry) (0x8f990000u | ((GOT + 4 * (entry)-GP) & 0xffff))
#define LOAD_TO(reg, entry) ((LOAD(entry) & ~(31u << 16)) | (uint32_t)(reg) << 16)
#define LOAD_FROM(reg, entry) ((LOAD(entry) & ~(31u << 21)) | (uint32_t)(reg) << 21)
#define AT_FROM(reg) ((LOAD_TO(1, PAGE) & ~(31u << 21)) | (uint32_t)(reg) << 21)
#define ADD(low) (0x27390000u | (low)) /* addiu t9, t9, low */
#define JALR 0x0320f809u
#define BEQZ 0x10400002u  /* beqz v0 */
#define BEQZL 0x50400002u /* its likely form */
#define LW_GP 0x8fbc0010u /* lw gp, 16(sp) */

struct fixture {
	struct litifut_section sections[7];
	struct litifut_image image;
	struct litifut_mips_facts facts;
	struct litifut_arch_context context;
	struct litifut_targets targets;
	struct litifut_arrivals arrivals;
	size_t elsewhere; /* the number of the instruction that another function branches to; or 0
			   */
	uint8_t text[0x80];
	uint8_t stubs[32];
	uint8_t got[4 * ENTRIES];
	uint8_t dynamic[40];
	uint8_t symbols[16 * 6];
	uint8_t names[8];
};

static struct litifut_section section(const char *name, uint32_t address, uint32_t flags,
				      uint8_t *bytes, size_t size)
{
	return (struct litifut_section){.name = name,
					.address = address,
					.size = (uint32_t)size,
					.type = SHT_PROGBITS,
					.flags = SHF_ALLOC | flags,
					.bytes = bytes};
}

static void put(const struct fixture *fixture, uint8_t *bytes, uint32_t value)
{
	litifut_put32(fixture->image.file.big_endian, bytes, value);
}

static void put_symbol(struct fixture *fixture, unsigned number, uint32_t value, unsigned type,
		       unsigned place)
{
	uint8_t *symbol = fixture->symbols + 16 * (size_t)number;

	put(fixture, symbol + 4, value);
	symbol[12] = (uint8_t)(STB_GLOBAL << 4 | type);
	litifut_put16(fixture->image.file.big_endian, symbol + 14, (uint16_t)place);
}

/* An executable or a library with a GOT as the linker makes it. */
static void set_up(struct fixture *fixture, bool big_endian, bool executable)
{
	static const uint32_t entries[ENTRIES] = {0,   0x80000000,  TEXT,  TEXT + 0x40,
						  GOT, TEXT + 0x48, STUBS, TEXT + 0x50};
	static const uint32_t tags[] = {DT_PLTGOT,        GOT, DT_MIPS_LOCAL_GOTNO, 5,
					DT_MIPS_SYMTABNO, 6,   DT_MIPS_GOTSYM,      3,
					DT_NULL,          0};
	struct litifut_error error;

	memset(fixture, 0, sizeof(*fixture));
	fixture->sections[1] =
		section(".text", TEXT, SHF_EXECINSTR, fixture->text, sizeof(fixture->text));
	fixture->sections[2] = section(".MIPS.stubs", STUBS, SHF_EXECINSTR, fixture->stubs,
				       sizeof(fixture->stubs));
	fixture->sections[3] = section(".got", GOT, SHF_WRITE, fixture->got, sizeof(fixture->got));
	fixture->sections[4] =
		section(".dynamic", 0x30000, 0, fixture->dynamic, sizeof(fixture->dynamic));
	fixture->sections[5] =
		section(".dynsym", 0x31000, 0, fixture->symbols, sizeof(fixture->symbols));
	fixture->sections[5].link = 6;
	fixture->sections[6] =
		section(".dynstr", 0x32000, 0, fixture->names, sizeof(fixture->names));
	fixture->image = (struct litifut_image){.file.type = ET_DYN,
						.file.big_endian = big_endian,
						.has_interpreter = executable,
						.sections = fixture->sections,
						.section_count = COUNT(fixture->sections)};
	fixture->context = (struct litifut_arch_context){.cpu.big_endian = big_endian,
							 .cpu.position_independent = true,
							 .cpu.facts = &fixture->facts};
	fixture->facts = (struct litifut_mips_facts){.global_pointer = GP};
	for (size_t i = 0; i < ENTRIES; i++)
		put(fixture, fixture->got + 4 * i, entries[i]);
	for (size_t i = 0; i < COUNT(tags); i++)
		put(fixture, fixture->dynamic + 4 * i, tags[i]);
	put_symbol(fixture, 3, TEXT + 0x48, STT_FUNC, 1);
	put_symbol(fixture, 4, STUBS, STT_FUNC, SHN_UNDEF);
	put_symbol(fixture, 5, TEXT + 0x50, STT_GNU_IFUNC, 1);
	memcpy(fixture->names + 1, "vfork", 6);
	put(fixture, fixture->symbols + 16 * 4, 1);
	litifut_mips_find_got(&fixture->image, &fixture->context, &fixture->facts);
	assert_int_equal(litifut_targets_create(TEXT, TEXT + sizeof(fixture->text),
						&fixture->targets, &error),
			 LITIFUT_OK);
}

/* The callee of the call, the last of these instructions but for `behind` of them. They
 * begin a function. `label`: the number of one that something jumps to; 0: none. */
static uint32_t callee_of(struct fixture *fixture, const uint32_t *words, size_t all, size_t behind,
			  size_t label)
{
	const size_t count = all - behind - 1;
	const uint32_t call_address = TEXT + 4 * (uint32_t)count;
	struct litifut_cramped_call call = {
		.address = call_address,
		.section = &fixture->sections[1],
		.function_start = TEXT,
		.function_end = TEXT + sizeof(fixture->text),
	};
	struct litifut_function_facts facts;
	struct litifut_error error;
	uint32_t result;

	for (size_t i = 0; i < all; i++)
		put(fixture, fixture->text + 4 * i, words[i]);
	litifut_mips_decode(&fixture->context.cpu, fixture->text + 4 * count, 4, call_address,
			    LITIFUT_CODE_PLAIN, &call.instruction);
	fixture->arrivals = (struct litifut_arrivals){.all = &fixture->targets};
	assert_int_equal(litifut_targets_create(TEXT, TEXT + sizeof(fixture->text),
						&fixture->arrivals.elsewhere, &error),
			 LITIFUT_OK);
	if (fixture->elsewhere)
		litifut_targets_add(&fixture->arrivals.elsewhere,
				    TEXT + 4 * (uint32_t)fixture->elsewhere);
	if (label)
		litifut_targets_add(&fixture->targets, TEXT + 4 * (uint32_t)label);
	litifut_mips_function_facts(&fixture->image, &fixture->context, call.section,
				    call.function_start, call.function_end, &facts);
	result = litifut_mips_callee(&fixture->image, &fixture->context, &call, &facts,
				     &fixture->arrivals);
	free(facts.branches);
	litifut_targets_release(&fixture->arrivals.elsewhere);
	memset(fixture->text, 0, sizeof(fixture->text));
	litifut_targets_release(&fixture->targets);
	return result;
}

/* The same for a jalr behind them. */
static uint32_t callee(struct fixture *fixture, const uint32_t *words, size_t count, size_t label)
{
	uint32_t all[16] = {0};

	memcpy(all, words, count * sizeof(*words));
	all[count] = JALR;
	return callee_of(fixture, all, count + 1, 0, label);
}

struct callee_case {
	const char *what;
	uint32_t words[5]; /* up to the first 0 behind them, NOPs before */
	size_t label;
	uint32_t executable;
	uint32_t library;
};

static const struct callee_case cases[] = {
	{"a local entry", {0, 0, 0, 0, LOAD(LOCAL)}, 0, TEXT + 0x40, TEXT + 0x40},
	{"a page", {0, 0, 0, LOAD(PAGE), ADD(0x60)}, 0, TEXT + 0x60, TEXT + 0x60},
	{"others between", {0, LOAD(LOCAL), LW_GP, 0x24040001, 0}, 0, TEXT + 0x40, TEXT + 0x40},
	{"what is not code", {0, 0, 0, 0, LOAD(ELSEWHERE)}, 0, 0, 0},
	{"past the end of the code", {0, 0, 0, LOAD(PAGE), ADD(0x7ff0)}, 0, 0, 0},
	{"no instruction's address", {0, 0, 0, LOAD(PAGE), ADD(0x62)}, 0, 0, 0},
	{"an own symbol", {0, 0, 0, 0, LOAD(OWN)}, 0, TEXT + 0x48, 0},
	{"a lazy stub", {0, 0, 0, 0, LOAD(LAZY)}, 0, 0, 0},
	{"a resolver's choice", {0, 0, 0, 0, LOAD(RESOLVED)}, 0, 0, 0},
	{"a reserved entry", {0, 0, 0, 0, LOAD(1)}, 0, 0, 0},
	{"behind the last entry", {0, 0, 0, 0, LOAD(ENTRIES)}, 0, 0, 0},
	{"a pointer", {0, 0, 0, 0, 0x8c590000}, 0, 0, 0},                  /* lw t9, 0(v0) */
	{"another register", {0, 0, 0, LOAD(LOCAL), 0x0200c825}, 0, 0, 0}, /* move t9, s0 */
	{"jumped to behind", {0, 0, LOAD(LOCAL), 0, 0}, 4, 0, 0},
	{"the call is jumped to", {0, 0, LOAD(LOCAL), 0, 0}, 5, 0, 0},
	{"the load is jumped to", {0, 0, LOAD(LOCAL), 0, 0}, 2, TEXT + 0x40, TEXT + 0x40},
	{"a branch not taken", {0, LOAD(LOCAL), BEQZ, 0, 0}, 0, TEXT + 0x40, TEXT + 0x40},
	{"in its delay slot", {0, 0, BEQZ, LOAD(LOCAL), 0}, 0, TEXT + 0x40, TEXT + 0x40},
	{"in that of a likely one", {0, 0, BEQZL, LOAD(LOCAL), 0}, 0, 0, 0},
	{"before a likely one", {0, LOAD(LOCAL), BEQZL, 0, 0}, 0, TEXT + 0x40, TEXT + 0x40},
	{"another call between", {LOAD(LOCAL), 0, 0x0411fff0, 0, 0}, 0, 0, 0},
	{"in that one's slot", {0, 0, 0x0411fff0, LOAD(LOCAL), 0}, 0, 0, 0},
	{"behind a jump", {LOAD(LOCAL), 0, 0x10000004, 0, 0}, 0, 0, 0},
	/* by way of others: at, v0, s0 */
	{"a page in at", {0, 0, LOAD_TO(1, PAGE), 0, 0x24390060}, 0, TEXT + 0x60, TEXT + 0x60},
	{"moved", {0, LOAD_TO(2, LOCAL), 0, 0x0040c825, 0}, 0, TEXT + 0x40, TEXT + 0x40},
	{"moved twice",
	 {0, LOAD_TO(2, PAGE), 0x00408021, 0x26020060, 0x0002c825},
	 0,
	 TEXT + 0x60,
	 TEXT + 0x60},
	{"changed before", {0, LOAD_TO(2, LOCAL), 0x24020001, 0x0040c825, 0}, 0, 0, 0},
	{"changed by a sum", {0, LOAD_TO(2, LOCAL), 0x00431021, 0x0040c825, 0}, 0, 0, 0},
	{"changed behind",
	 {0, LOAD_TO(2, LOCAL), 0x0040c825, 0x24020001, 0},
	 0,
	 TEXT + 0x40,
	 TEXT + 0x40},
	{"zero", {0, 0, 0, 0, 0x0000c825}, 0, 0, 0},
	{"a constant", {0, 0, 0, 0, 0x24191040}, 0, 0, 0},
	/* s0 may be anything */
	{"by another pointer", {0, 0, 0, 0, LOAD_FROM(16, LOCAL)}, 0, 0, 0},
	{"by none", {0, 0, 0, 0, LOAD_FROM(0, LOCAL)}, 0, 0, 0},
};

static void knows_what_the_table_of_addresses_tells(void **state)
{
	struct fixture fixture;

	(void)state;
	for (size_t i = 0; i < 4 * COUNT(cases); i++) {
		const struct callee_case *row = &cases[i / 4];
		bool executable = i & 1;

		print_message("# %s\n", row->what);
		set_up(&fixture, i & 2, executable);
		assert_int_equal(callee(&fixture, row->words, COUNT(row->words), row->label),
				 executable ? row->executable : row->library);
	}
}

/* The lazy stub of a function in another module names it, as a PLT entry does. */
static void names_what_is_in_other_modules(void **state)
{
	static const struct {
		const char *what;
		uint32_t words[5];
		size_t label;
		uint32_t expected;
	} named[] = {
		{"through the table", {0, 0, 0, 0, LOAD(LAZY)}, 0, STUBS},
		{"by way of v0", {0, LOAD_TO(2, LAZY), 0, 0x0040c825, 0}, 0, STUBS},
		{"behind the load is jumped to", {0, 0, LOAD(LAZY), 0, 0}, 4, 0},
		{"with something added", {0, 0, 0, LOAD(LAZY), ADD(8)}, 0, 0},
		/* the method of an object, far behind its start */
		{"by another pointer", {0, 0, 0, 0, LOAD_FROM(16, LAZY)}, 0, 0},
		{"by none", {0, 0, 0, 0, LOAD_FROM(0, LAZY)}, 0, 0},
		{"an own function", {0, 0, 0, 0, LOAD(LOCAL)}, 0, TEXT + 0x40},
	};
	struct fixture fixture;

	(void)state;
	for (size_t i = 0; i < 4 * COUNT(named); i++) {
		print_message("# %s\n", named[i / 4].what);
		set_up(&fixture, i & 2, i & 1);
		fixture.context.names = true;
		assert_int_equal(callee(&fixture, named[i / 4].words, COUNT(named[i / 4].words),
					named[i / 4].label),
				 named[i / 4].expected);
	}
}

#define MOVE_S0 0x0200c825u                                  /* move t9, s0 */
#define CALL 0x0411fff0u                                     /* bal to another function */
#define BRANCH(distance) (0x10400000u | ((distance)&0xffff)) /* beqz v0 */
#define JUMP(distance) (0x10000000u | ((distance)&0xffff))   /* b */
#define KEEP_GP 0xafbc0010u                                  /* sw gp, 16(sp) */
#define STORE 0xafb9001cu                                    /* sw t9, 28(sp) */
#define RELOAD 0x8fb9001cu                                   /* lw t9, 28(sp) */
#define JR_V0 0x00400008u

/* Adds where the branches among these words lead to the fixture. */
static void add_jumps(struct fixture *fixture, const uint32_t *words, size_t count)
{
	for (size_t at = 0; at < count; at++)
		if (words[at] >> 26 == 4 || words[at] >> 16 == 0x0411)
			litifut_targets_add(&fixture->targets,
					    TEXT + 4 * (uint32_t)(at + 1) +
						    4 * (uint32_t)(int16_t)(words[at] & 0xffff));
}

/* Compilers load an address once for several calls. */
static void follows_all_ways(void **state)
{
	static const struct {
		const char *what;
		uint32_t words[14]; /* up to the call, the last */
		size_t table;       /* the number of one that a table names */
		size_t elsewhere;   /* that another function's branch leads to */
		bool known;
	} ways[] = {
		{"a register that calls keep",
		 {LOAD_TO(16, LOCAL), CALL, 0, MOVE_S0, JALR},
		 0,
		 0,
		 true},
		{"that is written before the call",
		 {LOAD_TO(16, LOCAL), 0x8fb00020, CALL, 0, MOVE_S0, JALR},
		 0,
		 0,
		 false},
		{"that is written in its slot",
		 {LOAD_TO(16, LOCAL), CALL, 0x8fb00020, MOVE_S0, JALR},
		 0,
		 0,
		 false},
		{"a register that calls do not keep",
		 {LOAD_TO(8, LOCAL), CALL, 0, 0x0100c825, JALR},
		 0,
		 0,
		 false},
		{"a register that the kernel does not keep",
		 {LOAD(LOCAL), 0x0000000c, JALR},
		 0,
		 0,
		 false},
		/* over four and one; the first branch's slot is 2 */
		{"two loads of the same",
		 {0, BRANCH(3), 0, JUMP(2), LOAD(LOCAL), LOAD(LOCAL), JALR},
		 0,
		 0,
		 true},
		{"two loads of two",
		 {0, BRANCH(3), 0, JUMP(2), LOAD(LOCAL), LOAD(OWN), JALR},
		 0,
		 0,
		 false},
		{"two sums",
		 {0, BRANCH(4), LOAD(PAGE), ADD(0x40), JUMP(2), 0, ADD(0x48), JALR},
		 0,
		 0,
		 false},
		{"one that is not known",
		 {0, BRANCH(3), 0, JUMP(2), LOAD(LOCAL), 0, JALR},
		 0,
		 0,
		 false},
		{"a loop",
		 {LOAD_TO(16, LOCAL), 0, CALL, 0, BRANCH(-3), 0, MOVE_S0, JALR},
		 0,
		 0,
		 true},
		{"a loop that adds",
		 {LOAD_TO(16, PAGE), 0, 0x26100010, CALL, 0, BRANCH(-4), 0, MOVE_S0, JALR},
		 0,
		 0,
		 false},
		{"a branch of another function",
		 {LOAD_TO(16, LOCAL), 0, BRANCH(1), 0, MOVE_S0, JALR},
		 0,
		 4,
		 false},
		{"a branch without it",
		 {LOAD_TO(16, LOCAL), 0, BRANCH(1), 0, MOVE_S0, JALR},
		 0,
		 0,
		 true},
		{"the slot alone",
		 {LOAD_TO(16, LOCAL), BRANCH(3), 0, CALL, 0, MOVE_S0, JALR},
		 4,
		 0,
		 false},
		{"by a branch of a coprocessor",
		 {LOAD(LOCAL), 0x45000003, 0, LOAD(OWN), 0, JALR},
		 0,
		 0,
		 false},
		/* words of the frame */
		{"a word on the stack",
		 {KEEP_GP, LOAD(LOCAL), STORE, CALL, 0, RELOAD, JALR},
		 0,
		 0,
		 true},
		{"another word",
		 {KEEP_GP, LOAD(LOCAL), STORE, 0xafa20018, RELOAD, JALR},
		 0,
		 0,
		 true},
		{"half of it",
		 {KEEP_GP, LOAD(LOCAL), STORE, 0xa7a2001e, RELOAD, JALR},
		 0,
		 0,
		 false},
		{"an object begins below it",
		 {KEEP_GP, 0x27a40018, LOAD(LOCAL), STORE, CALL, 0, RELOAD, JALR},
		 0,
		 0,
		 false},
		{"one begins above it",
		 {KEEP_GP, 0x27a40020, LOAD(LOCAL), STORE, CALL, 0, RELOAD, JALR},
		 0,
		 0,
		 true},
		{"the frame's address is used",
		 {KEEP_GP, 0x03a22021, LOAD(LOCAL), STORE, CALL, 0, RELOAD, JALR},
		 0,
		 0,
		 false},
		{"the frame grows",
		 {KEEP_GP, LOAD(LOCAL), STORE, 0x27bdfff8, RELOAD, JALR},
		 0,
		 0,
		 false},
		{"the room of a callee",
		 {0xafbc0020, LOAD(LOCAL), STORE, CALL, 0, RELOAD, JALR},
		 0,
		 0,
		 false},
		{"one that nothing was stored in",
		 {KEEP_GP, 0, CALL, 0, RELOAD, JALR},
		 0,
		 0,
		 false},
		/* a jump through a register, of which nothing is known */
		{"a jump to the unknown",
		 {LOAD_TO(16, LOCAL), JR_V0, 0, MOVE_S0, JALR},
		 3,
		 0,
		 false},
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(ways); i++) {
		struct fixture fixture;
		size_t count = COUNT(ways[0].words);

		while (!ways[i / 2].words[count - 1])
			count--;
		print_message("# %s\n", ways[i / 2].what);
		set_up(&fixture, i & 1, false);
		add_jumps(&fixture, ways[i / 2].words, count);
		fixture.elsewhere = ways[i / 2].elsewhere;
		assert_int_equal(
			callee_of(&fixture, ways[i / 2].words, count, 0, ways[i / 2].table),
			ways[i / 2].known ? TEXT + 0x40 : 0);
	}
}

/* A call of vfork is recognised by the load above it, whatever other ways lead there. */
static void finds_spawners_behind_joins(void **state)
{
	static const struct {
		const char *what;
		uint32_t words[14]; /* up to the call, the last */
		bool found;
	} loads[] = {
		{"no way but one", {0, LOAD(LAZY), 0, 0, JALR}, true},
		{"two ways that are not known",
		 {BRANCH(5), 0, BRANCH(5), 0, LOAD(LAZY), 0, 0, 0, JALR},
		 true},
		{"a jump between", {LOAD(LAZY), JR_V0, 0, 0, JALR}, false},
		{"another load above", {BRANCH(2), LOAD(LAZY), LOAD(LOCAL), 0, 0, JALR}, false},
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(loads); i++) {
		struct fixture fixture;
		size_t count = COUNT(loads[0].words);

		while (!loads[i / 2].words[count - 1])
			count--;
		print_message("# %s\n", loads[i / 2].what);
		set_up(&fixture, i & 1, false);
		fixture.context.spawners.used = true;
		add_jumps(&fixture, loads[i / 2].words, count);
		assert_int_equal(callee_of(&fixture, loads[i / 2].words, count, 0, 0),
				 loads[i / 2].found ? LITIFUT_CALLEE_SYMBOL(4) : 0);
	}
}

/* A function that computes the pointer of a second table does not mean the first,
 * and where there is a second one, functions that compute none may mean either. */
static void minds_several_tables(void **state)
{
	/* lui, addiu, addu gp, gp, t9: for GP, and for 0x10000 behind it */
	uint32_t words[] = {0x3c1c0002, 0x279c6ff0, 0x0399e021, LOAD(LOCAL)};
	struct fixture fixture;

	(void)state;
	set_up(&fixture, false, true);
	assert_int_equal(callee(&fixture, words, COUNT(words), 0), TEXT + 0x40);
	set_up(&fixture, false, true);
	words[0]++;
	assert_int_equal(callee(&fixture, words, COUNT(words), 0), 0);
	set_up(&fixture, false, true);
	fixture.facts.got.alone = false;
	assert_int_equal(callee(&fixture, words + 3, 1, 0), 0);
	set_up(&fixture, false, true);
	words[0]--;
	fixture.facts.got.alone = false;
	assert_int_equal(callee(&fixture, words, COUNT(words), 0), TEXT + 0x40);
}

/* Clang keeps the pointer in a register that calls keep. The branch that the linker makes
 * of a call is a proof of its own. */
static void follows_other_registers(void **state)
{
	/* lui v0; addiu v0; sw s0, 16(sp); addu s0, v0, t9; lw at, page(s0);
	 * addiu t9, at, 0x60; the call; nop; lw s0, 16(sp); nop */
	static const uint32_t clang[] = {
		0x3c020002, 0x24426ff0, 0xafb00010, 0x00598021, AT_FROM(16),
		0x24390060, JALR,       0,          0x8fb00010, 0,
	};
	static const uint32_t near = 0x04110000 | (0x60 - 0x18 - 4) / 4;
	static const struct {
		size_t at;
		uint32_t word;
		bool known;
	} rows[] = {
		{9, 0, true},           {9, 0x8fb00014, false}, /* lw s0, 20(sp) */
		{9, 0x26100004, false},                         /* addiu s0, s0, 4 */
		{2, 0, false},                                  /* s0 is not saved there */
		{3, 0x00598821, false},                         /* the pointer is in s1 */
		{3, 0x00591021, false},                         /* in v0 */
		{6, near, true},                                /* bal to there */
	};
	struct fixture fixture;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t words[COUNT(clang)];

		memcpy(words, clang, sizeof(words));
		words[rows[i].at] = rows[i].word;
		set_up(&fixture, i & 1, true);
		assert_int_equal(callee_of(&fixture, words, COUNT(words), 3, 0),
				 rows[i].known ? TEXT + 0x60 : 0);
	}
	/* the branch alone, whatever s1 is; it leads there or elsewhere */
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t words[COUNT(clang)];

		memcpy(words, clang, sizeof(words));
		words[4] = AT_FROM(17);
		words[6] = near + i;
		set_up(&fixture, false, true);
		assert_int_equal(callee_of(&fixture, words, COUNT(words), 3, 0),
				 i ? 0 : TEXT + 0x60);
	}
}

/* In a static program the linker has filled all entries. */
static void knows_static_programs(void **state)
{
	static const uint32_t own[] = {LOAD(OWN)};
	static const uint32_t missing[] = {LOAD(0)};
	struct fixture fixture;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		set_up(&fixture, i, false);
		fixture.image.file.type = ET_EXEC;
		fixture.sections[4].name = ".data";
		fixture.facts.got = (struct litifut_mips_got){0};
		litifut_mips_find_got(&fixture.image, &fixture.context, &fixture.facts);
		assert_int_equal(callee(&fixture, i ? missing : own, 1, 0), i ? 0 : TEXT + 0x48);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_what_the_table_of_addresses_tells),
		cmocka_unit_test(names_what_is_in_other_modules),
		cmocka_unit_test(follows_all_ways),
		cmocka_unit_test(finds_spawners_behind_joins),
		cmocka_unit_test(minds_several_tables),
		cmocka_unit_test(follows_other_registers),
		cmocka_unit_test(knows_static_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
