/* Which registers and flags hold nothing: uses of single instructions, whose words the assembler
 * made, and random functions, for each of whose instructions the answer is that of a backward
 * data-flow analysis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/arm/uses.h"
#include "rewriter/arm/arm.h"
#include "rewriter/arm/dead.h"

#define NZ LITIFUT_ARM_USES_NZ
#define C LITIFUT_ARM_USES_C
#define V LITIFUT_ARM_USES_V
#define FLAGS LITIFUT_ARM_USES_FLAGS
#define ALL LITIFUT_ARM_USES_ALL
#define R(n) (1u << (n))
#define LR R(14)
#define MOST LITIFUT_ARM_DEAD_MOST
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct uses_case {
	const char *name;
	uint32_t word;
	unsigned length; /* 0: A32 */
	uint32_t reads;
	uint32_t writes;
} uses_cases[] = {
	{"movs r1, r2", 0x0011, 2, R(2), R(1) | NZ},
	{"lsrs r1, r2, #32", 0x0811, 2, R(2), R(1) | NZ | C},
	{"adds r1, r2, r3", 0x18d1, 2, R(2) | R(3), R(1) | FLAGS},
	{"subs r1, r2, #1", 0x1e51, 2, R(2), R(1) | FLAGS},
	{"cmp r1, #1", 0x2901, 2, R(1), FLAGS},
	{"lsls r1, r2", 0x4091, 2, R(1) | R(2), R(1) | NZ},
	{"sbcs r1, r2", 0x4191, 2, R(1) | R(2) | C, R(1) | FLAGS},
	{"rsbs r1, r2, #0", 0x4251, 2, R(2), R(1) | FLAGS},
	{"tst r1, r2", 0x4211, 2, R(1) | R(2), NZ},
	{"add r8, r1", 0x4488, 2, R(8) | R(1), R(8)},
	{"mov r8, lr", 0x46f0, 2, LR, R(8)},
	{"mov pc, r1", 0x468f, 2, ALL, 0},
	{"blx r3", 0x4798, 2, R(3), LR},
	{"bx lr", 0x4770, 2, ALL, 0},
	{"ldrsb r1, [r2, r3]", 0x56d1, 2, R(2) | R(3), R(1)},
	{"strb r1, [r2, r3]", 0x54d1, 2, R(1) | R(2) | R(3), 0},
	{"push {r1, lr}", 0xb502, 2, R(1) | LR | R(13), R(13)},
	{"pop {r1, pc}", 0xbd02, 2, ALL, 0},
	{"cbz r3, .", 0xb103, 2, R(3), 0},
	{"ldmia r1!, {r2, r3}", 0xc90c, 2, R(1), R(2) | R(3)},
	{"bhi .", 0xd8fe, 2, NZ | C, 0},
	{"ble .", 0xddfe, 2, NZ | V, 0},
	{"svc 0", 0xdf00, 2, ALL, 0},
	{"ands.w r8, r9, r1, ror #3", 0xea1908f1, 4, R(9) | R(1), R(8) | NZ},
	{"mov.w r1, r2, rrx", 0xea4f0132, 4, R(2) | C, R(1)},
	{"adc.w r1, r2, r3", 0xeb420103, 4, R(2) | R(3) | C, R(1)},
	{"cmp.w r1, r2, lsl #3", 0xebb10fc2, 4, R(1) | R(2), FLAGS},
	{"movw r1, #0xe234", 0xf24e2134, 4, 0, R(1)},
	{"movt r1, #0xe234", 0xf2ce2134, 4, R(1), R(1)},
	{"bfi r1, r2, #3, #5", 0xf36201c7, 4, R(1) | R(2), R(1)},
	{"ubfx r1, r2, #3, #5", 0xf3c201c4, 4, R(2), R(1)},
	{"ldrd r1, r2, [r3]", 0xe9d31200, 4, R(3), R(1) | R(2)},
	{"ldrex r1, [r2]", 0xe8521f00, 4, ALL, 0},
	{"tbb [pc, r1]", 0xe8dff001, 4, ALL, 0},
	{"ldr.w r1, [r2, r3, lsl #2]", 0xf8521023, 4, R(2) | R(3), R(1)},
	{"str r1, [r2], #4", 0xf8421b04, 4, R(1) | R(2), 0},
	{"ldr.w pc, [r2]", 0xf8d2f000, 4, ALL, 0},
	{"umlal r1, r2, r3, r4", 0xfbe31204, 4, R(1) | R(2) | R(3) | R(4), R(1) | R(2)},
	{"udiv r1, r2, r3", 0xfbb2f1f3, 4, R(2) | R(3), R(1)},
	{"vmov r1, r2, d3", 0xec521b13, 4, 0, R(1) | R(2)},
	{"vmov s3, r1", 0xee011a90, 4, R(1), 0},
	{"vmrs APSR_nzcv, fpscr", 0xeef1fa10, 4, 0, FLAGS},
	{"bl .", 0xf7fffffe, 4, 0, LR},
	{"le lr, .", 0xf00fc003, 4, LR, LR},
	{"le .", 0xf02fc003, 4, ALL, 0},
	{"wls lr, r3, .", 0xf043c807, 4, R(3), LR},
	{"dls lr, r3", 0xf043e001, 4, ALL, 0},
	{"vctp.32 r3", 0xf023e801, 4, ALL, 0},
	{"csinc r1, r2, r3, hi", 0xea529183, 4, R(2) | R(3) | C | NZ, R(1)},
	{"csel r1, r2, r3, le", 0xea5281d3, 4, R(2) | R(3) | NZ | V, R(1)},
	{"orrs r1, r2, r3", 0xea520103, 4, R(2) | R(3), R(1) | NZ},
	{"lsll r2, r3, #5", 0xea52134f, 4, ALL, 0},
	{"asrl r2, r3, r4", 0xea52432d, 4, ALL, 0},
	{"vaddv.u32 r2, q3", 0xfef92f06, 4, ALL, 0},
	{"vdup.32 q0, r3", 0xeea03b10, 4, R(3), 0},
	{"adds r1, r2, r3", 0xe0921003, 0, R(2) | R(3), R(1) | FLAGS},
	{"addsne r1, r2, r3", 0x10921003, 0, R(2) | R(3) | NZ, 0},
	{"ands r1, r2, r3, lsl r4", 0xe0121413, 0, R(2) | R(3) | R(4), R(1) | NZ},
	{"rsc r1, r2, #0", 0xe2e21000, 0, R(2) | C, R(1)},
	{"mov r1, r2, rrx", 0xe1a01062, 0, R(2) | C, R(1)},
	{"cmp r1, r2", 0xe1510002, 0, R(1) | R(2), FLAGS},
	{"mul r1, r2, r3", 0xe0010392, 0, R(2) | R(3), R(1)},
	{"mls r1, r2, r3, r4", 0xe0614392, 0, R(2) | R(3) | R(4), R(1)},
	{"strd r2, r3, [r4, r5]", 0xe18420f5, 0, R(2) | R(3) | R(4) | R(5), 0},
	{"ldrd r2, r3, [r4]", 0xe1c420d0, 0, R(4), R(2) | R(3)},
	{"ldrexd r2, r3, [r4]", 0xe1b42f9f, 0, ALL, 0},
	{"movt r1, #0x1234", 0xe3411234, 0, R(1), R(1)},
	{"msr cpsr_f, r1", 0xe128f001, 0, ALL, 0},
	{"clz r1, r2", 0xe16f1f12, 0, R(2), R(1)},
	{"blx r3", 0xe12fff33, 0, R(3), LR},
	{"ldr r1, [r2, r3]!", 0xe7b21003, 0, R(2) | R(3), R(1)},
	{"sxth r1, r2", 0xe6bf1072, 0, R(2), R(1)},
	{"bfc r1, #3, #5", 0xe7c7119f, 0, R(1), R(1)},
	{"sdiv r1, r2, r3", 0xe711f312, 0, R(2) | R(3), R(1)},
	{"pop {r1, lr}", 0xe8bd4002, 0, R(13), R(1) | LR},
	{"pop {r1, pc}", 0xe8bd8002, 0, ALL, 0},
	{"blge .", 0xabfffffe, 0, NZ | V, 0},
	{"svc 0", 0xef000000, 0, ALL, 0},
};

static void single_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(uses_cases); i++) {
		const struct uses_case *each = &uses_cases[i];
		const struct litifut_arm_uses uses =
			each->length ? litifut_arm_thumb_uses(each->word, each->length, true)
				     : litifut_arm_plain_uses(each->word);

		if (uses.reads != each->reads || uses.writes != each->writes)
			fail_msg("%s: reads %x, writes %x", each->name, uses.reads, uses.writes);
	}
	assert_int_equal(litifut_arm_thumb_uses(0x2101, 2, false).writes, 0);
	assert_int_equal(litifut_arm_thumb_uses(0x2101, 2, false).reads, FLAGS);
}

#define MANY 24
#define BASE 0x8000u

/* An instruction of a random function. */
struct made {
	uint32_t word;
	unsigned length;
	uint32_t reads;
	uint32_t writes;
	bool goes_on;
	int target; /* the number of an instruction, or -1 */
};

static uint32_t seed = 1;

static unsigned random_below(unsigned limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 16) % limit;
}

static const uint32_t of_condition[14] = {NZ, NZ,     C,      C,      NZ,     NZ,     V,
					  V,  NZ | C, NZ | C, NZ | V, NZ | V, NZ | V, NZ | V};

static struct made make_thumb(void)
{
	const unsigned d = random_below(4), a = random_below(4), b = random_below(4);
	const unsigned condition = random_below(14);

	switch (random_below(13)) {
	case 0:
		return (struct made){0x2000 | d << 8, 2, 0, R(d) | NZ, true, -1}; /* movs */
	case 1:
		return (struct made){0x2800 | a << 8, 2, R(a), FLAGS, true, -1}; /* cmp */
	case 2:
		return (struct made){0x1800 | b << 6 | a << 3 | d,
				     2,
				     R(a) | R(b),
				     R(d) | FLAGS,
				     true,
				     -1}; /* adds */
	case 3:
		return (struct made){0x4140 | a << 3 | d, 2,    R(a) | R(d) | C,
				     R(d) | FLAGS,        true, -1}; /* adcs */
	case 4:
		return (struct made){0x4600 | a << 3 | d, 2, R(a), R(d), true, -1}; /* mov */
	case 5:
		return (struct made){0x4686 | a << 3, 2, R(a), LR, true, -1}; /* mov lr, rN */
	case 6:
		return (struct made){0xb500, 2, LR, 0, true, -1}; /* push {lr} */
	case 7:
		return (struct made){0xf85de004 | 0xb00, 4, 0, LR, true, -1}; /* ldr lr, [sp], #4 */
	case 8:
		return (struct made){0xf800f000, 4, MOST & ~(LR | FLAGS), LR | FLAGS, false, -1};
	case 9:
		return (struct made){0xe000, 2, 0, 0, false, (int)random_below(MANY)};
	case 10:
	case 11:
		return (struct made){0xd000 | condition << 8, 2, of_condition[condition], 0, true,
				     (int)random_below(MANY)};
	default:
		return (struct made){0xb100 | a, 2, R(a), 0, true, 0}; /* cbz, forward */
	}
}

static struct made make_plain(void)
{
	const unsigned d = random_below(4), a = random_below(4), b = random_below(4);
	const unsigned condition = random_below(2) ? 14 : random_below(14);
	struct made made;

	switch (random_below(9)) {
	case 0:
		made = (struct made){0x03a00000 | d << 12, 4, 0, R(d), true, -1}; /* mov */
		break;
	case 1:
		made = (struct made){0x03500000 | a << 16, 4, R(a), FLAGS, true, -1}; /* cmp */
		break;
	case 2:
		made = (struct made){0x00900000 | a << 16 | d << 12 | b,
				     4,
				     R(a) | R(b),
				     R(d) | FLAGS,
				     true,
				     -1}; /* adds */
		break;
	case 3:
		made = (struct made){0x00a00000 | a << 16 | d << 12 | b,
				     4,
				     R(a) | R(b) | C,
				     R(d),
				     true,
				     -1}; /* adc */
		break;
	case 4:
		made = (struct made){0x01a0e000 | a, 4, R(a), LR, true, -1}; /* mov lr, rN */
		break;
	case 5:
		made = (struct made){0x05900000 | a << 16 | d << 12, 4, R(a), R(d), true, -1};
		break; /* ldr */
	case 6:
		made = (struct made){0x01100000 | a << 16 | b, 4, R(a) | R(b), NZ, true, -1};
		break; /* tst */
	default:
		made = (struct made){0x0a000000, 4, 0, 0, condition != 14, (int)random_below(MANY)};
		break;
	}
	made.word |= condition << 28;
	if (condition != 14) {
		made.reads |= of_condition[condition];
		made.writes = 0;
	}
	return made;
}

/* Is lr written on some way on from number `from`, before it is read? */
static bool is_link_written(const struct made *made, unsigned from)
{
	bool seen[MANY + 1] = {false};
	unsigned ways[MANY + 1] = {from};
	unsigned count = 1;

	seen[from] = true;
	for (unsigned i = 0; i < count; i++) {
		const struct made *each = &made[ways[i]];
		const unsigned next[] = {ways[i] + 1, (unsigned)each->target};

		if (ways[i] == MANY || each->reads & LR)
			continue;
		if (each->writes & LR)
			return true;
		for (unsigned j = 0; j < 2; j++)
			if ((j ? each->target >= 0 : each->goes_on) && !seen[next[j]]) {
				seen[next[j]] = true;
				ways[count++] = next[j];
			}
	}
	return false;
}

static void random_function(bool thumb)
{
	uint8_t code[4 * MANY + 8] = {0};
	struct litifut_section section = {.address = BASE, .size = sizeof(code), .bytes = code};
	struct made made[MANY + 1];
	uint32_t at[MANY + 1];
	uint32_t alive[MANY + 1];
	uint32_t end = BASE;

	for (unsigned i = 0; i < MANY; i++) {
		made[i] = thumb ? make_thumb() : make_plain();
		at[i] = end;
		end += made[i].length;
	}
	at[MANY] = end;
	made[MANY] = (struct made){thumb ? 0x4770 : 0xe12fff1e, thumb ? 2 : 4, MOST, 0, false, -1};
	end += made[MANY].length;
	for (unsigned i = 0; i <= MANY; i++) {
		uint8_t *place = code + (at[i] - BASE);
		uint32_t word = made[i].word;

		if (thumb && word >> 8 == 0xb1) { /* over the next instruction, if that is short */
			made[i].target = i + 2 <= MANY ? (int)i + 2 : (int)MANY;
			if (i + 2 > MANY || at[i + 2] < at[i] + 4)
				made[i].target = -1, made[i].word = word = 0xbf00,
				made[i].reads = 0;
			else
				word |= (at[i + 2] - at[i] - 4) / 2 << 3;
		} else if (made[i].target >= 0) {
			const uint32_t by = at[made[i].target] - at[i] - (thumb ? 4 : 8);

			word |= !thumb          ? by >> 2 & 0xffffff
				: word < 0xe000 ? by >> 1 & 0xff
						: by >> 1 & 0x7ff;
		} else if (thumb && word == 0xf800f000) { /* bl to somewhere else */
			word = 0xf010f800;
		}
		if (thumb && made[i].length == 4) {
			litifut_put16(false, place, (uint16_t)(word >> 16));
			litifut_put16(false, place + 2, (uint16_t)word);
		} else if (thumb) {
			litifut_put16(false, place, (uint16_t)word);
		} else {
			litifut_put32(false, place, word);
		}
	}
	memset(alive, 0, sizeof(alive));
	for (bool again = true; again;) {
		again = false;
		for (unsigned i = MANY + 1; i-- > 0;) {
			uint32_t out = (made[i].goes_on ? alive[i + 1] : 0) |
				       (made[i].target >= 0 ? alive[made[i].target] : 0);

			out = (out & ~made[i].writes) | made[i].reads;
			again |= out != alive[i];
			alive[i] = out;
		}
	}
	for (unsigned i = 0; i <= MANY; i++) {
		uint32_t expected = MOST & ~alive[i];

		if (!is_link_written(made, i))
			expected &= ~LR;
		assert_int_equal(litifut_arm_dead(&section, BASE, end, thumb, at[i]), expected);
	}
}

static void random_functions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4000; i++)
		random_function(i & 1);
}

/* What is behind the function, or leads out of it, may read all; so may a call into the function
 * itself. */
static void limits(void **state)
{
	uint8_t code[8];
	const struct litifut_section section = {.address = BASE, .size = 8, .bytes = code};

	(void)state;
	litifut_put16(false, code, 0x2000);     /* movs r0, #0 */
	litifut_put16(false, code + 2, 0x2800); /* cmp r0, #0 */
	litifut_put16(false, code + 4, 0xf000); /* bl to somewhere else */
	litifut_put16(false, code + 6, 0xf880);
	assert_int_equal(litifut_arm_dead(&section, BASE, BASE + 8, true, BASE), R(0) | LR | FLAGS);
	assert_int_equal(litifut_arm_dead(&section, BASE, BASE + 4, true, BASE), R(0) | FLAGS);
	litifut_put16(false, code + 2, 0xbf00);
	litifut_put16(false, code + 4, 0xf7ff); /* bl into the function */
	litifut_put16(false, code + 6, 0xfffd);
	assert_int_equal(litifut_arm_dead(&section, BASE, BASE + 8, true, BASE), R(0) | LR | NZ);
	litifut_put16(false, code + 4, 0xe7fc); /* b: a loop that does not end */
	assert_int_equal(litifut_arm_dead(&section, BASE, BASE + 8, true, BASE), MOST & ~LR);
	assert_int_equal(litifut_arm_dead(&section, BASE + 2, BASE + 8, true, BASE + 2), 0);
}

/* A function of the same section may keep the flags for its caller, or write them. */
static void callees(void **state)
{
	uint8_t code[16] = {0};
	const struct litifut_section section = {.address = BASE, .size = 16, .bytes = code};

	(void)state;
	litifut_put32(false, code, 0xeb000000);      /* bl to + 8 */
	litifut_put32(false, code + 4, 0xe12fff1e);  /* bx lr */
	litifut_put32(false, code + 8, 0xe2866005);  /* add r6, r6, #5 */
	litifut_put32(false, code + 12, 0xe12fff1e); /* bx lr */
	assert_int_equal(litifut_arm_dead(&section, BASE, BASE + 8, false, BASE), LR);
	litifut_put32(false, code + 8, 0xe2966005); /* adds */
	assert_int_equal(litifut_arm_dead(&section, BASE, BASE + 8, false, BASE), LR | FLAGS);
	litifut_put32(false, code + 8, 0x12966005); /* addsne */
	assert_int_equal(litifut_arm_dead(&section, BASE, BASE + 8, false, BASE), LR);
	litifut_put32(false, code, 0xfa000000); /* blx: T32 code is not followed */
	assert_int_equal(litifut_arm_dead(&section, BASE, BASE + 8, false, BASE), LR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_instructions),
		cmocka_unit_test(random_functions),
		cmocka_unit_test(limits),
		cmocka_unit_test(callees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
