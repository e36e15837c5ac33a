/* The oracle's decoders against encodings taken from GNU as. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/oracle/decode.h"

/* LINKED: A32 after `mov lr, pc` */
enum isa { A32, LINKED, T32, MIPS };

static const struct {
	const char *text;
	enum isa isa;
	uint32_t address;
	uint32_t word; /* T32: first halfword << 16 | second; 16-bit in the low half */
	bool is_call;
	uint32_t target;
	uint32_t return_address;
} cases[] = {
	{"bl .", A32, 0x8000, 0xebfffffe, true, 0x8000, 0x8004},
	{"bl .+0x100", A32, 0x8000, 0xeb00003e, true, 0x8100, 0x8004},
	{"blne .+8", A32, 0x8000, 0x1b000000, true, 0x8008, 0x8004},
	{"blx .+10", A32, 0x8000, 0xfb000000, true, 0x800a, 0x8004},
	{"blx .+8", A32, 0x8000, 0xfa000000, true, 0x8008, 0x8004},
	{"blx r3", A32, 0x8000, 0xe12fff33, true, ORACLE_UNKNOWN, 0x8004},
	{"blxeq r12", A32, 0x8000, 0x012fff3c, true, ORACLE_UNKNOWN, 0x8004},
	{"b .+8", A32, 0x8000, 0xea000000, false, 0, 0},
	{"bx lr", A32, 0x8000, 0xe12fff1e, false, 0, 0},
	{"mov r0, r0", A32, 0x8000, 0xe1a00000, false, 0, 0},
	{"mov lr, pc; bx r3", LINKED, 0x8000, 0xe12fff13, true, ORACLE_UNKNOWN, 0x8004},
	{"mov lr, pc; mov pc, r3", LINKED, 0x8000, 0xe1a0f003, true, ORACLE_UNKNOWN, 0x8004},
	{"moveq lr, pc; ldreq pc, [r3]", LINKED, 0x8000, 0x0593f000, true, ORACLE_UNKNOWN, 0x8004},
	{"mov lr, pc; ldm r3, {r0, pc}", LINKED, 0x8000, 0xe8938001, true, ORACLE_UNKNOWN, 0x8004},
	{"mov lr, pc; sub pc, r3, #63", LINKED, 0x8000, 0xe243f03f, true, ORACLE_UNKNOWN, 0x8004},
	{"mov lr, pc; cmp r3, pc", LINKED, 0x8000, 0xe153000f, false, 0, 0},
	{"mov lr, pc; ldrh r0, [r1]", LINKED, 0x8000, 0xe1d100b0, false, 0, 0},
	{"mov pc, r3", A32, 0x8000, 0xe1a0f003, false, 0, 0},
	{"bl .", T32, 0x8000, 0xf7fffffe, true, 0x8000, 0x8004},
	{"bl .+0x100 at 2 mod 4", T32, 0x8002, 0xf000f87e, true, 0x8102, 0x8006},
	{"blx .+4 at 2 mod 4", T32, 0x8002, 0xf000e800, true, 0x8004, 0x8006},
	{"blx .-4", T32, 0x8000, 0xf7ffeffc, true, 0x7ffc, 0x8004},
	{"bl .+0xfffffe", T32, 0x1000000, 0xf3ffd7fd, true, 0x1fffffe, 0x1000004},
	{"blx r3", T32, 0x8000, 0x4798, true, ORACLE_UNKNOWN, 0x8002},
	{"bx lr", T32, 0x8000, 0x4770, false, 0, 0},
	{"b.w .+4", T32, 0x8000, 0xf000b800, false, 0, 0},
	{"jal 0x400100", MIPS, 0x400000, 0x0c100040, true, 0x400100, 0x400008},
	{"bal .+8", MIPS, 0x400000, 0x04110001, true, 0x400008, 0x400008},
	{"bal .-4", MIPS, 0x400000, 0x0411fffe, true, 0x3ffffc, 0x400008},
	{"bltzal $2, .+0x100", MIPS, 0x400000, 0x0450003f, true, 0x400100, 0x400008},
	{"jalr $25", MIPS, 0x400000, 0x0320f809, true, ORACLE_UNKNOWN, 0x400008},
	{"jalr $0, $25", MIPS, 0x400000, 0x03200009, false, 0, 0},
	{"jr $25", MIPS, 0x400000, 0x03200008, false, 0, 0},
	{"b .+8", MIPS, 0x400000, 0x10000001, false, 0, 0},
	{"bltz $2, .+8", MIPS, 0x400000, 0x04400001, false, 0, 0},
	{"j 0x400100", MIPS, 0x400000, 0x08100040, false, 0, 0},
};

static void decodes_all_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct oracle_call call = {0, 0};
		uint32_t word = cases[i].word;
		bool is_call = false;

		switch (cases[i].isa) {
		case A32:
		case LINKED:
			is_call = oracle_decode_a32(cases[i].address, word,
						    cases[i].isa == LINKED ? 0xe1a0e00f : 0, &call);
			break;
		case T32:
			if (word >> 16)
				is_call =
					oracle_decode_t32(cases[i].address, (uint16_t)(word >> 16),
							  (uint16_t)word, 4, &call);
			else
				is_call = oracle_decode_t32(cases[i].address, (uint16_t)word, 0, 2,
							    &call);
			break;
		case MIPS:
			is_call = oracle_decode_mips(cases[i].address, word, &call);
			break;
		}
		if (is_call != cases[i].is_call || call.target != cases[i].target ||
		    call.return_address != cases[i].return_address)
			fail_msg("%s: call %d, target %#x, return address %#x", cases[i].text,
				 is_call, call.target, call.return_address);
	}
}

/* A branch on a condition in a block of its own was once taken for the call that its
 * bytes are in the other state. */
static void reads_what_the_disassembler_says(void **state)
{
	static const struct {
		const char *text;
		bool is_call;
	} lines[] = {
		{"bl #0x10400", true},     {"blx #0x10400", true},  {"blx r3", true},
		{"bleq #0x10400", true},   {"blls #0x10400", true}, {"blle #0x10400", true},
		{"blxne r3", true},        {"ble #0x10400", false}, {"ble.w #0x10400", false},
		{"blt.w #0x10400", false}, {"bls #0x10400", false}, {"blo.w #0x10400", false},
		{"b.w #0x10400", false},   {"beq.w #0x104", false}, {"bx lr", false},
		{"push {r4, lr}", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (oracle_text_is_call(lines[i].text) != lines[i].is_call)
			fail_msg("%s", lines[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(decodes_all_cases),
					   cmocka_unit_test(reads_what_the_disassembler_says)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
