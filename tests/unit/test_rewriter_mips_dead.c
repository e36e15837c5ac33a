/* Which registers hold nothing: uses of single instructions, whose words the assembler made, and
 * random functions, for each of whose instructions the answer is that of a backward data-flow
 * analysis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/mips/uses.h"
#include "rewriter/mips/dead.h"

#define ALL LITIFUT_MIPS_USES_ALL
#define MOST LITIFUT_MIPS_DEAD_MOST
#define R(n) (1u << (n))
#define RA R(31)
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct uses_case {
	const char *name;
	uint32_t word;
	uint32_t reads;
	uint32_t writes;
} uses_cases[] = {
	{"sll $3,$2,5", 0x00021940, R(2), R(3)},
	{"rotr $3,$2,5", 0x00221942, R(2), R(3)},
	{"srav $3,$2,$4", 0x00821807, R(2) | R(4), R(3)},
	{"addu $3,$2,$4", 0x00441821, R(2) | R(4), R(3)},
	{"sub $3,$2,$4", 0x00441822, R(2) | R(4), R(3)},
	{"slt $3,$2,$4", 0x0044182a, R(2) | R(4), R(3)},
	{"movf $3,$2,$fcc0", 0x00401801, R(2) | R(3), 0},
	{"movz $3,$2,$4", 0x0044180a, R(2) | R(3) | R(4), 0},
	{"movn $3,$2,$4", 0x0044180b, R(2) | R(3) | R(4), 0},
	{"jr $31", 0x03e00008, RA, 0},
	{"jr $25", 0x03200008, R(25), 0},
	{"jalr $25", 0x0320f809, R(25), RA},
	{"mthi $3", 0x00600011, R(3), 0},
	{"mflo $3", 0x00001812, 0, R(3)},
	{"mult $2,$4", 0x00440018, R(2) | R(4), 0},
	{"divu $0,$2,$4", 0x0044001b, R(2) | R(4), 0},
	{"teq $2,$4,7", 0x004401f4, R(2) | R(4), 0},
	{"sync", 0x0000000f, 0, 0},
	{"syscall", 0x0000000c, ALL, 0},
	{"break", 0x0000000d, ALL, 0},
	{"bltz $2,.", 0x0440ffff, R(2), 0},
	{"bgezl $2,.", 0x0443ffff, R(2), 0},
	{"bgezal $2,.", 0x0451ffff, R(2), RA},
	{"bal .", 0x0411ffff, 0, RA},
	{"teqi $2,5", 0x044c0005, R(2), 0},
	{"j 0", 0x08000000, 0, 0},
	{"jal 0", 0x0c000000, 0, RA},
	{"beq $2,$3,.", 0x1043ffff, R(2) | R(3), 0},
	{"bnel $2,$3,.", 0x5443ffff, R(2) | R(3), 0},
	{"blez $2,.", 0x1840ffff, R(2), 0},
	{"bgtzl $2,.", 0x5c40ffff, R(2), 0},
	{"addiu $3,$2,5", 0x24430005, R(2), R(3)},
	{"sltiu $3,$2,5", 0x2c430005, R(2), R(3)},
	{"xori $3,$2,5", 0x38430005, R(2), R(3)},
	{"lui $3,5", 0x3c030005, 0, R(3)},
	{"mfc0 $3,$4", 0x40032000, ALL, 0},
	{"mfc1 $3,$f4", 0x44032000, 0, R(3)},
	{"mtc1 $3,$f4", 0x44832000, R(3), 0},
	{"ctc1 $3,$31", 0x44c3f800, R(3), 0},
	{"bc1t .", 0x4501ffff, 0, 0},
	{"add.d $f2,$f4,$f6", 0x46262080, 0, 0},
	{"movz.s $f2,$f4,$3", 0x46032092, R(3), 0},
	{"ldxc1 $f2,$3($2)", 0x4c430081, R(2) | R(3), 0},
	{"madd.s $f2,$f4,$f6,$f8", 0x4c8830a0, 0, 0},
	{"mul $3,$2,$4", 0x70441802, R(2) | R(4), R(3)},
	{"madd $2,$4", 0x70440000, R(2) | R(4), 0},
	{"clz $3,$2", 0x70431820, R(2), R(3)},
	{"ext $3,$2,4,5", 0x7c432100, R(2), R(3)},
	{"ins $3,$2,4,5", 0x7c434104, R(2) | R(3), R(3)},
	{"seb $3,$2", 0x7c021c20, R(2), R(3)},
	{"wsbh $3,$2", 0x7c0218a0, R(2), R(3)},
	{"rdhwr $3,$29", 0x7c03e83b, 0, R(3)},
	{"lw $3,8($2)", 0x8c430008, R(2), R(3)},
	{"lbu $3,8($2)", 0x90430008, R(2), R(3)},
	{"lwl $3,8($2)", 0x88430008, R(2) | R(3), 0},
	{"lwr $3,8($2)", 0x98430008, R(2) | R(3), 0},
	{"ll $3,8($2)", 0xc0430008, R(2), R(3)},
	{"sw $3,8($2)", 0xac430008, R(2) | R(3), 0},
	{"sc $3,8($2)", 0xe0430008, R(2) | R(3), R(3)},
	{"swl $3,8($2)", 0xa8430008, R(2) | R(3), 0},
	{"lwc1 $f3,8($2)", 0xc4430008, R(2), 0},
	{"sdc1 $f4,8($2)", 0xf4440008, R(2), 0},
	{"pref 1,8($2)", 0xcc410008, R(2), 0},
	{"cache 1,8($2)", 0xbc410008, ALL, 0},
};

static void single_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(uses_cases); i++) {
		const struct uses_case *each = &uses_cases[i];
		const struct litifut_mips_uses uses = litifut_mips_uses(each->word);

		if (uses.reads != each->reads || uses.writes != each->writes)
			fail_msg("%s: reads %x, writes %x", each->name, uses.reads, uses.writes);
	}
}

#define BASE 0x10000u
#define MANY 40

static uint32_t seed = 1;

static unsigned random_below(unsigned limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 16) % limit;
}

/* An instruction, and the branch that it is the delay slot of. */
struct made {
	uint32_t word;
	uint32_t reads;
	uint32_t writes;
	bool branches;    /* the next one is its delay slot */
	bool conditional; /* control may go on behind that */
	bool likely;
	unsigned target; /* number of an instruction */
};

static struct made make(bool slot)
{
	const unsigned d = 2 + random_below(4), a = 2 + random_below(4), b = 2 + random_below(4);
	const unsigned target = random_below(MANY);

	switch (random_below(slot ? 5 : 9)) {
	case 0:
		return (struct made){.word = 0x24000001 | d << 16, .writes = R(d)}; /* li */
	case 1:
		return (struct made){.word = 0x00000021 | a << 21 | b << 16 | d << 11,
				     .reads = R(a) | R(b),
				     .writes = R(d)}; /* addu */
	case 2:
		return (struct made){.word = 0x8c00001c | a << 21 | d << 16,
				     .reads = R(a),
				     .writes = R(d)}; /* lw */
	case 3:
		return (struct made){.word = 0xafbf001c, .reads = RA}; /* sw ra */
	case 4:
		return (struct made){.word = 0x8fbf001c, .writes = RA}; /* lw ra */
	case 5:
	case 6:
		return (struct made){.word = 0x14000000 | a << 21 | b << 16,
				     .reads = R(a) | R(b),
				     .branches = true,
				     .conditional = true,
				     .target = target}; /* bne */
	case 7:
		return (struct made){.word = 0x5c000000 | a << 21,
				     .reads = R(a),
				     .branches = true,
				     .conditional = true,
				     .likely = true,
				     .target = target}; /* bgtzl */
	default:
		return (struct made){
			.word = 0x10000000, .branches = true, .target = target}; /* b */
	}
}

/* Is ra written on some way on from number `from`, before it is read? A way that begins in a delay
 * slot goes on behind it. */
static bool is_link_written(const struct made *made, unsigned from)
{
	bool seen[MANY + 3] = {false};
	unsigned ways[MANY + 3] = {from};
	unsigned count = 1;

	seen[from] = true;
	for (unsigned i = 0; i < count; i++) {
		const struct made *each = &made[ways[i]];
		unsigned next[2] = {ways[i] + 1, MANY + 2};

		if (ways[i] > MANY || each->reads & RA)
			continue;
		if (each->writes & RA)
			return true;
		if (each->branches) {
			const struct made *slot = each + 1;
			const bool read = slot->reads & RA, written = slot->writes & RA;

			/* a way that leaves the slot out has neither */
			next[0] = each->conditional && (each->likely || (!read && !written))
					  ? ways[i] + 2
					  : MANY + 2;
			next[1] = read || written ? MANY + 2 : each->target;
			if (written)
				return true;
		}
		for (unsigned j = 0; j < 2; j++)
			if (next[j] < MANY + 2 && !seen[next[j]]) {
				seen[next[j]] = true;
				ways[count++] = next[j];
			}
	}
	return false;
}

static void random_function(bool big)
{
	uint8_t code[4 * (MANY + 2)];
	const struct litifut_arch_context context = {.cpu = {.big_endian = big}};
	const struct litifut_section section = {
		.address = BASE, .size = sizeof(code), .bytes = code};
	struct made made[MANY + 2];
	uint32_t alive[MANY + 3];
	bool slot[MANY + 2] = {false};

	for (unsigned i = 0; i < MANY; i++) {
		slot[i] = i && made[i - 1].branches;
		made[i] = make(slot[i] || i == MANY - 1);
	}
	made[MANY] = (struct made){.word = 0x03e00008, .reads = ALL}; /* jr ra */
	made[MANY + 1] = (struct made){.word = 0};
	for (unsigned i = 0; i < MANY; i++)
		if (made[i].branches) {
			if (slot[made[i].target])
				made[i].target--;
			made[i].word |= (made[i].target - i - 1) & 0xffff;
		}
	for (unsigned i = 0; i < MANY + 2; i++)
		litifut_put32(big, code + 4 * i, made[i].word);
	memset(alive, 0, sizeof(alive));
	for (bool again = true; again;) {
		again = false;
		for (unsigned i = MANY + 1; i-- > 0;) {
			uint32_t out = alive[i + 1];

			if (made[i].branches) {
				const struct made *each = &made[i + 1];
				const uint32_t taken =
					(alive[made[i].target] & ~each->writes) | each->reads;
				const uint32_t passed =
					made[i].likely
						? alive[i + 2]
						: (alive[i + 2] & ~each->writes) | each->reads;

				out = taken | (made[i].conditional ? passed : 0);
			}
			out = (out & ~made[i].writes) | made[i].reads;
			again |= out != alive[i];
			alive[i] = out;
		}
	}
	for (unsigned i = 0; i <= MANY; i++) {
		uint32_t expected = MOST & ~alive[i];

		if (!is_link_written(made, i))
			expected &= ~RA;
		if (!slot[i])
			assert_int_equal(litifut_mips_dead(&context, &section, BASE,
							   BASE + sizeof(code), BASE + 4 * i),
					 expected);
	}
}

static void random_functions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4000; i++)
		random_function(i & 1);
}

static void put(uint8_t *code, uint32_t first, uint32_t second, uint32_t third)
{
	litifut_put32(false, code, first);
	litifut_put32(false, code + 4, second);
	litifut_put32(false, code + 8, third);
}

/* What is behind the function, or leads out of it, may read all, and so may callees and callers;
 * each but what was written before, also by a delay slot. */
static void limits(void **state)
{
	uint8_t code[12];
	const struct litifut_arch_context context = {.cpu = {.big_endian = false}};
	const struct litifut_section section = {.address = BASE, .size = 12, .bytes = code};
	const uint32_t end = BASE + 12;

	(void)state;
	put(code, 0x24020001, 0x0320f809, 0x00002025); /* li v0, 1; jalr t9; move a0, zero */
	assert_int_equal(litifut_mips_dead(&context, &section, BASE, end, BASE), R(2) | R(4) | RA);
	assert_int_equal(litifut_mips_dead(&context, &section, BASE, end - 4, BASE), R(2) | RA);
	assert_int_equal(litifut_mips_dead(&context, &section, BASE, BASE, BASE), 0);
	put(code, 0x24020001, 0x03e00008, 0x00001825); /* li v0, 1; jr ra; move v1, zero */
	assert_int_equal(litifut_mips_dead(&context, &section, BASE, end, BASE), R(2) | R(3));
	put(code, 0x24020001, 0x00400008, 0x00001825); /* jr v0 */
	assert_int_equal(litifut_mips_dead(&context, &section, BASE, end, BASE), R(2) | R(3));
	put(code, 0x24020001, 0x08000000, 0x00001825); /* j to another function */
	assert_int_equal(litifut_mips_dead(&context, &section, BASE, end, BASE), R(2) | R(3));
	put(code, 0x24020001, 0x1000fffe, 0x00001825); /* b: a loop that does not end */
	assert_int_equal(litifut_mips_dead(&context, &section, BASE, end, BASE), MOST & ~RA);
	put(code, 0x24020001, 0x0000000d, 0x00001825); /* break */
	assert_int_equal(litifut_mips_dead(&context, &section, BASE, end, BASE), R(2));
	put(code, 0x24020001, 0x1000fffe, 0x1000fffe); /* a branch in a delay slot */
	assert_int_equal(litifut_mips_dead(&context, &section, BASE, end, BASE), R(2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_instructions),
		cmocka_unit_test(random_functions),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
