/* Instructions of MIPS in the middle of a function that make way for a branch: which of
 * them can, and where what is put there leads to. In both byte orders. */
#include "tests/unit/rewriter_cases.h"

#include <stdarg.h>
#include <setjmp.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/landing_pads.h"
#include "rewriter/mips/mips.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { START = 0x100000, NONE = 99 };

/* A function with one run, at its fifth instruction: what is before and behind ends too
 * early. */
static const uint32_t function_words[] = {
	0x10800012, /* beqz  a0, out */
	0x00000000, /* nop */
	0x0c000000, /* jal   0 */
	0x00000000, /* nop */
	0x24820001, /* addiu v0, a0, 1: the run */
	0x24430002, /* addiu v1, v0, 2 */
	0x00622021, /* addu  a0, v1, v0 */
	0xafa40010, /* sw    a0, 16(sp) */
	0x10a0000a, /* beqz  a1, out */
	0x00000000, /* nop */
	0x8fa20010, /* lw    v0, 16(sp) */
	0x00000000, /* nop */
	0x10c00006, /* beqz  a2, out */
	0x00000000, /* nop */
	0x8fa20010, /* lw    v0, 16(sp) */
	0x00000000, /* nop */
	0x10e00002, /* beqz  a3, out */
	0x00000000, /* nop */
	0x00000000, /* nop */
	0x03e00008, /* out: jr ra */
	0x00000000, /* nop */
};

enum { RUN = 4, WORDS = COUNT(function_words) };

static struct litifut_mips_facts facts = {.global_pointer = 0x200000, .got = {.alone = true}};

/* The index of the first run of the function when word `changed` is `word`, and something
 * leads to `target` (0: nothing does). */
static size_t first_run(size_t changed, uint32_t word, uint32_t target)
{
	size_t found[2] = {0, 0};

	for (unsigned big_endian = 0; big_endian < 2; big_endian++) {
		const struct litifut_arch_context context = {.cpu.big_endian = big_endian,
							     .cpu.position_independent = true,
							     .cpu.facts = &facts};
		static const struct litifut_image image;
		uint8_t bytes[sizeof(function_words)];
		struct litifut_section section = {
			.address = START, .size = sizeof(bytes), .bytes = bytes};
		struct litifut_targets targets = {0};
		struct litifut_error error;
		uint32_t runs[WORDS];

		assert_int_equal(
			litifut_targets_create(START, START + sizeof(bytes), &targets, &error), 0);
		if (target)
			litifut_targets_add(&targets, target);
		for (size_t i = 0; i < WORDS; i++)
			litifut_put32(big_endian, bytes + 4 * i,
				      i == changed ? word : function_words[i]);
		found[big_endian] = litifut_mips_find_runs(&image, &context, &section, START,
							   START + sizeof(bytes), &targets, runs)
					    ? (runs[0] - START) / 4
					    : NONE;
		litifut_targets_release(&targets);
	}
	assert_int_equal(found[0], found[1]);
	return found[0];
}

static void knows_runs(void **state)
{
	(void)state;
	assert_int_equal(first_run(WORDS, 0, 0), RUN);
	assert_int_equal(first_run(WORDS, 0, START + 4 * RUN), RUN);        /* to its start */
	assert_int_equal(first_run(WORDS, 0, START + 4 * (RUN + 4)), RUN);  /* behind it */
	assert_int_equal(first_run(WORDS, 0, START + 4 * (RUN + 1)), NONE); /* into it */
	assert_int_equal(first_run(WORDS, 0, START + 4 * (RUN + 3)), NONE);
	/* its first instruction is replaced with the return point before it */
	assert_int_equal(first_run(WORDS, 0, START + 4 * RUN + 2), NONE);
	assert_int_equal(first_run(RUN - 1, 0x10a00001, 0), NONE); /* it is a delay slot */
	assert_int_equal(first_run(RUN + 2, 0x0000000c, 0), NONE); /* syscall */
	assert_int_equal(first_run(RUN + 2, 0x0c000000, 0), NONE); /* jal */
	assert_int_equal(first_run(RUN + 2, 0xc0430000, 0), NONE); /* ll */
	assert_int_equal(first_run(RUN + 2, 0x45010001, 0), NONE); /* bc1t */
	assert_int_equal(first_run(14, 0xe0430000, 0), NONE);      /* sc behind it */
	/* addiu v0, v0, the low half of an address in it */
	assert_int_equal(first_run(14, 0x24420014, 0), NONE);
	assert_int_equal(first_run(14, 0x34420014, 0), NONE); /* ori */
	assert_int_equal(first_run(14, 0x27bd0014, 0), RUN);  /* of sp */
	assert_int_equal(first_run(14, 0x279c0014, 0), RUN);  /* of gp, as functions set it */
}

static void keeps_at(void **state)
{
	(void)state;
	assert_int_equal(first_run(RUN, 0x24220001, 0), NONE);     /* addiu v0, at, 1 */
	assert_int_equal(first_run(RUN, 0x24810001, 0), RUN);      /* addiu at, a0, 1 */
	assert_int_equal(first_run(RUN + 4, 0x10200002, 0), NONE); /* beqz at behind it */
	assert_int_equal(first_run(RUN + 5, 0xafa10000, 0), NONE); /* in the delay slot */
	assert_int_equal(first_run(10, 0xafa10000, 0), NONE);      /* when it is not taken */
	assert_int_equal(first_run(20, 0xafa10000, 0), NONE);      /* at the end of all ways */
	/* move at, ra: for the next call, as -pg makes it */
	assert_int_equal(first_run(RUN + 1, 0x03e00825, 0), NONE);
}

/* The four instructions from word 10 on. */
static size_t with_jump(uint32_t a, uint32_t b, uint32_t c)
{
	static const struct litifut_image image;
	const struct litifut_arch_context context = {.cpu.position_independent = true,
						     .cpu.facts = &facts};
	uint8_t bytes[sizeof(function_words)];
	struct litifut_section section = {.address = START, .size = sizeof(bytes), .bytes = bytes};
	struct litifut_targets targets = {0};
	struct litifut_error error;
	uint32_t runs[WORDS];
	size_t count;

	assert_int_equal(litifut_targets_create(START, START + sizeof(bytes), &targets, &error), 0);
	for (size_t i = 0; i < WORDS; i++)
		litifut_put32(false, bytes + 4 * i, function_words[i]);
	litifut_put32(false, bytes + 36, 0x3c010000); /* lui at, 0: it is free behind the run */
	litifut_put32(false, bytes + 40, a);
	litifut_put32(false, bytes + 44, b);
	litifut_put32(false, bytes + 48, c);
	count = litifut_mips_find_runs(&image, &context, &section, START, START + sizeof(bytes),
				       &targets, runs);
	litifut_targets_release(&targets);
	return count;
}

static void judges_jumps(void **state)
{
	(void)state;
	/* a switch: lw v0, 0(v1); addu v0, v0, gp; jr v0 */
	assert_int_equal(with_jump(0x8c620000, 0x005c1021, 0x00400008), 1);
	/* absolute addresses: lw v0, 0(v1); nop; jr v0 */
	assert_int_equal(with_jump(0x8c620000, 0x00000000, 0x00400008), 1);
	/* a distance from elsewhere: lw v0, 0(v1); addu v0, v0, a0; jr v0 */
	assert_int_equal(with_jump(0x8c620000, 0x00441021, 0x00400008), 0);
	/* nothing is known of it: nop; nop; jr a2 */
	assert_int_equal(with_jump(0x00000000, 0x00000000, 0x00c00008), 0);
	/* jalr zero, v0 is the same as jr v0 */
	assert_int_equal(with_jump(0x8c620000, 0x00441021, 0x00400009), 0);
	/* addiu ra, ra, 8; the caller's frame is left elsewhere */
	assert_int_equal(with_jump(0x27ff0008, 0x00000000, 0x00000000), 0);
	/* srl ra, a0, 19; lw ra, 28(sp): ra was one register of many, and is a return address
	 * again; what moves these is a second run */
	assert_int_equal(with_jump(0x0004fcc2, 0x8fbf001c, 0x00000000), 2);
	/* srl ra, a0, 19; lw ra, 28(a1): nothing is known of it */
	assert_int_equal(with_jump(0x0004fcc2, 0x8cbf001c, 0x00000000), 0);
	/* lw ra, 28(sp); srl ra, a0, 19 */
	assert_int_equal(with_jump(0x8fbf001c, 0x0004fcc2, 0x00000000), 0);
	/* srl ra, a0, 19; j 0: what comes to the last jump is not seen */
	assert_int_equal(with_jump(0x0004fcc2, 0x08000000, 0x00000000), 0);
	/* bal to the next but one: asks where it is */
	assert_int_equal(with_jump(0x04110001, 0x00000000, 0x00000000), 0);
}

/* Where the branch at `address` leads. */
static uint32_t branch_target(const uint8_t *code, uint32_t address)
{
	uint32_t word = litifut_get32(false, code);

	assert_int_equal(word >> 16, 0x1000);
	return address + 4 + ((uint32_t)(int16_t)(word & 0xffff) << 2);
}

static void writes_relays(void **state)
{
	const struct litifut_arch_context context = {.cpu.position_independent = true};
	const uint32_t gate_address = START + 0x400000;
	const struct litifut_gate gate = {.address = gate_address};
	uint32_t entries[LITIFUT_ENTRIES_MAX] = {0};
	struct litifut_relay relay = {
		.address = START + 0x10000,
		.trampoline = gate_address + LITIFUT_MIPS_GATE_BYTES + 5 * 16,
		.target = START + 0x8000,
	};
	uint8_t code[LITIFUT_MIPS_RELAY_BYTES];
	uint8_t moved[LITIFUT_MIPS_RELAY_TRAMPOLINE_BYTES];
	struct litifut_frame_code frames[2];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		litifut_put32(false, code + 4 * i, function_words[RUN + i]);
	/* no island */
	assert_false(
		litifut_mips_write_relay(&context, &relay, &gate, entries, code, moved, frames));
	entries[LITIFUT_MIPS_ENTRY_NUMBERED] = START + 0x100;
	assert_true(
		litifut_mips_write_relay(&context, &relay, &gate, entries, code, moved, frames));
	assert_int_equal(branch_target(code, relay.address), START + 0x100);
	assert_int_equal(litifut_get32(false, code + 4), 0x3c010005);
	assert_int_equal(branch_target(code + 8, relay.address + 8), START + 0x8000);
	assert_int_equal(litifut_get32(false, code + 12), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(litifut_get32(false, moved + 4 * i), function_words[RUN + i]);
	/* the way back: ra is where the lui's follower stands */
	uint32_t distance = (litifut_get32(false, moved + 28) << 16) +
			    (uint32_t)(int16_t)(litifut_get32(false, moved + 32) & 0xffff);

	assert_int_equal(relay.trampoline + 32 + distance, relay.address + 16);
	/* frames: of the moved instructions, of the way back */
	assert_int_equal(frames[0].instruction, relay.address);
	assert_int_equal(frames[1].start, relay.trampoline + 16);
	/* near: no number, and a target that has one is reached by it or without */
	relay.trampoline = START + 0x10000 + 0x8000;
	relay.target = gate_address + LITIFUT_MIPS_GATE_BYTES + 7 * 16;
	relay.numbered = true;
	assert_true(
		litifut_mips_write_relay(&context, &relay, &gate, entries, code, moved, frames));
	assert_int_equal(branch_target(code, relay.address), relay.trampoline);
	assert_int_equal(litifut_get32(false, code + 4), 0);
	assert_int_equal(branch_target(code + 8, relay.address + 8), START + 0x100);
	assert_int_equal(litifut_get32(false, code + 12), 0x3c010007);
	/* out of reach */
	relay.numbered = false;
	relay.target = START + 0x10000 + 0x20010;
	assert_false(
		litifut_mips_write_relay(&context, &relay, &gate, entries, code, moved, frames));
}

/* One CIE and one FDE as GCC makes them, and a table of two call sites. */
static void reads_landing_pads(void **state)
{
	(void)state;
	for (unsigned big_endian = 0; big_endian < 2; big_endian++) {
		/* version 1, "zPLR", 1, -4, 31, 7 bytes: the personality, absolute data,
		 * addresses relative to their place */
		uint8_t frame[64] = {[8] = 1, 'z',  'P', 'L', 'R', 0, 1,    0x7c, 31,
				     7,       0x80, 0,   0,   0,   0, 0x00, 0x1b};
		/* omitted, omitted, ULEB128, 8 bytes: two call sites */
		uint8_t pads[] = {0xff, 0xff, 0x01, 8, 0x10, 8, 0x48, 1, 0x20, 8, 0, 0};
		struct litifut_section sections[] = {
			{.name = ""},
			{.name = ".eh_frame",
			 .address = 0x2000,
			 .size = sizeof(frame),
			 .type = 1,
			 .flags = 2,
			 .bytes = frame},
			{.name = ".gcc_except_table",
			 .address = 0x3000,
			 .size = sizeof(pads),
			 .type = 1,
			 .flags = 2,
			 .bytes = pads},
		};
		struct litifut_image image = {
			.sections = sections, .section_count = 3, .file.big_endian = big_endian};
		struct litifut_targets targets = {0};
		struct litifut_error error;

		litifut_put32(big_endian, frame, 24);      /* to 28 */
		litifut_put32(big_endian, frame + 28, 20); /* to 52 */
		litifut_put32(big_endian, frame + 32, 32); /* back to the CIE */
		litifut_put32(big_endian, frame + 36, START - (0x2000 + 36));
		litifut_put32(big_endian, frame + 40, 0x100);
		frame[44] = 4;
		litifut_put32(big_endian, frame + 45, 0x3000);
		assert_int_equal(litifut_targets_create(START, START + 0x100, &targets, &error), 0);
		litifut_landing_pads_add(&image, litifut_arch_find(8), &targets);
		for (uint32_t at = 0; at < 0x100; at += 4)
			assert_int_equal(litifut_targets_has(&targets, START + at), at == 0x48);
		litifut_targets_release(&targets);
		/* Cut off anywhere: nothing is read that is not there. */
		for (uint32_t size = 0; size < sizeof(frame); size++) {
			uint8_t *copy = malloc(size + 1);

			assert_non_null(copy);
			memcpy(copy, frame, size);
			sections[1].bytes = copy;
			sections[1].size = size;
			assert_int_equal(
				litifut_targets_create(START, START + 0x100, &targets, &error), 0);
			litifut_landing_pads_add(&image, litifut_arch_find(8), &targets);
			litifut_targets_release(&targets);
			free(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_runs),         cmocka_unit_test(keeps_at),
		cmocka_unit_test(judges_jumps),       cmocka_unit_test(writes_relays),
		cmocka_unit_test(reads_landing_pads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
