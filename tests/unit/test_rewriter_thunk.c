/* The thunks that the rewriter writes: as many instructions as they are said to
 * cost, the right exit, and the way to the recorder behind it. Capstone, which
 * had no part in writing them, reads them. Longer than 500 lines, because all
 * tests use the same reader of listings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <capstone/capstone.h>
#include <litifut/trace_format.h>
#include <string.h>

#include "rewriter/arm/thunk.h"
#include "rewriter/mips/mips.h"

#define ADDRESS 0x20000u
#define ENTRY 0x21000u

struct listing {
	char text[64][96]; /* "mnemonic operands" */
	uint32_t addresses[64];
	size_t count;
};

static void read_code(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		      enum litifut_code_state state, const uint8_t *code, size_t bytes,
		      uint32_t address, struct listing *listing)
{
	int cpu;
	int mode;
	csh handle;
	cs_insn *instructions;
	size_t count;

	arch->cpu->disassembler(&context->cpu, state, &cpu, &mode);
	assert_int_equal(cs_open((cs_arch)cpu, (cs_mode)mode, &handle), CS_ERR_OK);
	count = cs_disasm(handle, code, bytes, address, 0, &instructions);
	listing->count = 0;
	for (size_t i = 0; i < count && i < 64; i++) {
		snprintf(listing->text[i], sizeof(listing->text[i]), "%.31s %.60s",
			 instructions[i].mnemonic, instructions[i].op_str);
		listing->addresses[i] = (uint32_t)instructions[i].address;
		listing->count++;
	}
	cs_free(instructions, count);
	cs_close(&handle);
}

/* Index of the instruction that starts with `text`, or a failed test. */
static size_t find(const struct listing *listing, const char *text)
{
	for (size_t i = 0; i < listing->count; i++)
		if (strncmp(listing->text[i], text, strlen(text)) == 0)
			return i;
	fail_msg("no %s", text);
	return 0;
}

static const uint32_t entries[LITIFUT_ENTRIES_MAX] = {
	ENTRY, ENTRY, ENTRY,
	ENTRY, ENTRY, ENTRY,
	ENTRY, ENTRY, [LITIFUT_MIPS_ENTRY_THUNK_CALL_OWN] = ENTRY + 0x100};

static void arm_direct_calls_take_12_instructions(void **state)
{
	const struct litifut_arch_context context = {.thunks = true};
	const struct litifut_thunk thunk = {LITIFUT_THUNK_CALLEE, true, 0, 0x10001, 0};
	struct listing listing;
	uint8_t code[256];
	unsigned bytes = litifut_arm_write_thunk(&context, &thunk, ADDRESS, entries, code);

	(void)state;
	assert_int_equal(bytes, 44);
	read_code(&litifut_arch_arm, &context, LITIFUT_CODE_THUMB, code, bytes, ADDRESS, &listing);
	assert_int_equal(find(&listing, "b.w #0x10000"), 11);
	assert_string_equal(listing.text[0], "push {r0, r1, r2, lr}");
	assert_string_equal(listing.text[12], "blx #0x21000");
	assert_int_equal(listing.count, 13);
	/* both tests lead to the call of the recorder */
	assert_string_equal(listing.text[5], "cbz r2, #0x20028");
	assert_string_equal(listing.text[8], "cbnz r2, #0x20028");
}

/* With a counter: one more, and an exit that stands where the recorder looks for it. */
static void arm_timed_calls_take_13_instructions(void **state)
{
	static const uint32_t callees[] = {0x10001, 0x10000};
	const struct litifut_arch_context context = {.thunks = true, .clock = LITIFUT_CLOCK_CYCLE};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct litifut_thunk thunk = {LITIFUT_THUNK_CALLEE, true, 0, callees[i], 0};
		struct listing listing;
		uint8_t code[256];
		unsigned bytes = litifut_arm_write_thunk(&context, &thunk, ADDRESS, entries, code);

		read_code(&litifut_arch_arm, &context, LITIFUT_CODE_THUMB, code, bytes, ADDRESS,
			  &listing);
		assert_int_equal(find(&listing, i ? "bx pc" : "b.w #0x10000"), 12);
		assert_int_equal(listing.addresses[12] % 4, 0);
		assert_string_equal(listing.text[9], "mrrc p15, #1, r2, r1, c14");
		assert_string_equal(listing.text[10], "strd lr, r2, [r0, #-0x8]");
		assert_string_equal(listing.text[11], "pop.w {r0, r1, r2, lr}");
		if (!i)
			assert_int_equal(find(&listing, "blx #0x21000"), 13);
	}
}

/* An indirect call stores four words, of which none may cross a multiple of 16 KB. */
static void arm_timed_indirect_calls_have_four_words(void **state)
{
	const struct litifut_arch_context context = {.thunks = true, .clock = LITIFUT_CLOCK_CYCLE};

	(void)state;
	for (uint8_t number = 1; number < 13; number += 11) {
		const struct litifut_thunk thunk = {LITIFUT_THUNK_REGISTER, true, number, 0, 0};
		struct listing listing;
		uint8_t code[256];
		unsigned bytes = litifut_arm_write_thunk(&context, &thunk, ADDRESS, entries, code);

		read_code(&litifut_arch_arm, &context, LITIFUT_CODE_THUMB, code, bytes, ADDRESS,
			  &listing);
		assert_string_equal(listing.text[4], "add.w r0, r0, #0x10");
		assert_string_equal(listing.text[5], "ubfx r2, r0, #5, #9");
		assert_string_equal(listing.text[9], "movw r2, #0x302");
		assert_string_equal(listing.text[10], "strd r2, lr, [r0, #-0x10]");
		find(&listing, number == 1 ? "ldr r1, [sp, #4]" : "strd ip, r2, [r0, #-0x8]");
	}
}

static void mips_timed_calls_take_17(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct litifut_arch_context context = {
			.cpu.big_endian = i, .thunks = true, .clock = LITIFUT_CLOCK_CYCLE};
		const struct litifut_thunk thunk = {LITIFUT_THUNK_CALLEE, false, 0, 0x10000, 0};
		struct listing listing;
		uint8_t code[256];
		unsigned bytes = litifut_mips_write_thunk(&context, &thunk, ADDRESS, entries, code);

		assert_int_equal(bytes, LITIFUT_MIPS_TIMED_THUNK_BYTES);
		/* which capstone has no name for: rdhwr $t0, $2 */
		assert_int_equal(litifut_get32(i, code + 44), 0x7c08103b);
		read_code(&litifut_arch_mips, &context, LITIFUT_CODE_PLAIN, code + 48, bytes - 48,
			  ADDRESS + 48, &listing);
		assert_string_equal(listing.text[0], "sw $ra, ($at)");
		assert_string_equal(listing.text[1], "sw $t0, 4($at)");
		assert_string_equal(listing.text[2], "lw $t0, ($sp)");
		assert_int_equal(find(&listing, "j 0x10000"), 3);
		assert_int_equal(find(&listing, "jal 0x21000"), 6);
	}
}

/* What debuggers read of the stack is what the instructions before do to it. */
static void arm_thunks_say_what_is_on_the_stack(void **state)
{
	static const struct litifut_thunk thunks[] = {
		{LITIFUT_THUNK_CALLEE, true, 0, 0x10001, 0},
		{LITIFUT_THUNK_CALLEE, true, 0, 0x10000, 0},
		{LITIFUT_THUNK_REGISTER, true, 2, 0, 0},
		{LITIFUT_THUNK_TAIL, true, 0, 0x10001, 0},
		{LITIFUT_THUNK_TAIL_REGISTER, true, 5, 0, 0},
	};
	const struct litifut_arch_context context = {.thunks = true};

	(void)state;
	for (size_t i = 0; i < sizeof(thunks) / sizeof(*thunks); i++) {
		bool tail = thunks[i].kind >= LITIFUT_THUNK_TAIL;
		struct litifut_frame_code frame = {0};
		unsigned step = tail;
		uint8_t code[256];
		unsigned bytes =
			litifut_arm_write_thunk(&context, &thunks[i], ADDRESS, entries, code);

		litifut_arm_thunk_frame(&context, &thunks[i], &frame);
		assert_int_equal(frame.step_count, 3 + tail);
		assert_int_equal(frame.steps[0].stack, tail ? 4 : 16);
		for (unsigned at = 2; at < bytes; at += 2) {
			unsigned half = litifut_get16(false, code + at - 2);
			unsigned before = at < 4 ? 0 : litifut_get16(false, code + at - 4);

			if (half == 0xb507) /* push {r0-r2, lr} */
				assert_int_equal(frame.steps[step].stack, tail ? 20 : 16);
			else if (half == 0xbc07) /* pop {r0-r2} */
				assert_int_equal(frame.steps[step].stack, 8);
			else if (before == 0xe8bd) /* pop.w {r0-r2, lr} */
				assert_int_equal(frame.steps[step].stack, 0);
			else
				continue;
			assert_int_equal(frame.steps[step++].at, at);
		}
		assert_int_equal(frame.steps[step].stack, tail ? 20 : 16);
		/* blx litifut_thunk_call */
		assert_int_equal(litifut_get16(false, code + frame.steps[step].at) & 0xf800,
				 0xf000);
		assert_true(frame.steps[step].at + 6 >= bytes);
		assert_int_equal(step, frame.step_count - 1);
	}
}

static void arm_calls_of_a32_code_take_13(void **state)
{
	const struct litifut_arch_context context = {.thunks = true};
	const struct litifut_thunk thunk = {LITIFUT_THUNK_CALLEE, true, 0, 0x10000, 0};
	struct listing listing;
	uint8_t code[256];
	unsigned bytes = litifut_arm_write_thunk(&context, &thunk, ADDRESS, entries, code);

	(void)state;
	assert_int_equal(bytes, 52);
	read_code(&litifut_arch_arm, &context, LITIFUT_CODE_THUMB, code, 40, ADDRESS, &listing);
	assert_int_equal(find(&listing, "bx pc"), 11);
	assert_int_equal(listing.addresses[11] & 3, 0);
	read_code(&litifut_arch_arm, &context, LITIFUT_CODE_PLAIN, code + 40, 4, ADDRESS + 40,
		  &listing);
	assert_string_equal(listing.text[0], "b #0x10000");
	read_code(&litifut_arch_arm, &context, LITIFUT_CODE_THUMB, code + 44, 8, ADDRESS + 44,
		  &listing);
	assert_string_equal(listing.text[0], "b #0x20024"); /* back to bx pc */
	assert_string_equal(listing.text[2], "blx #0x21000");
}

static void arm_registers_are_stored(void **state)
{
	const struct litifut_arch_context context = {.thunks = true};

	(void)state;
	for (uint8_t number = 0; number < 13; number++) {
		const struct litifut_thunk thunk = {LITIFUT_THUNK_REGISTER, true, number, 0, 0};
		static const char *const names[] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6",
						    "r7", "r8", "sb", "sl", "fp", "ip"};
		struct listing listing;
		char text[40];
		uint8_t code[256];
		unsigned bytes = litifut_arm_write_thunk(&context, &thunk, ADDRESS, entries, code);

		read_code(&litifut_arch_arm, &context, LITIFUT_CODE_THUMB, code, bytes, ADDRESS,
			  &listing);
		/* those that the thunk uses itself come from the stack */
		snprintf(text, sizeof(text), "str %s, [r0, #-0x4]",
			 number < 3 ? "r2" : names[number]);
		find(&listing, text);
		snprintf(text, sizeof(text), "bx %s", names[number]);
		assert_int_equal(find(&listing, text), number < 3 ? 14 : 13);
		find(&listing, "blx #0x21000");
	}
}

static void arm_tail_calls_go_back_to_their_trampoline(void **state)
{
	const struct litifut_arch_context context = {.thunks = true};
	const struct litifut_thunk thunk = {LITIFUT_THUNK_TAIL, true, 0, 0, 0};
	struct listing listing;
	uint8_t code[256];
	unsigned bytes = litifut_arm_write_thunk(&context, &thunk, ADDRESS, entries, code);

	(void)state;
	read_code(&litifut_arch_arm, &context, LITIFUT_CODE_THUMB, code, bytes, ADDRESS, &listing);
	assert_int_equal(find(&listing, "ldr pc, [sp], #8"), 12);
}

static void arm_thunks_know_their_reach(void **state)
{
	const struct litifut_arch_context context = {.thunks = true};
	const struct litifut_thunk near = {LITIFUT_THUNK_CALLEE, true, 0, ADDRESS + (15u << 20) + 1,
					   0};
	const struct litifut_thunk far = {LITIFUT_THUNK_CALLEE, true, 0, ADDRESS + (17u << 20) + 1,
					  0};
	const struct litifut_thunk plain = {LITIFUT_THUNK_CALLEE, true, 0, ADDRESS + (31u << 20),
					    0};
	const struct litifut_thunk too_far = {LITIFUT_THUNK_CALLEE, true, 0, ADDRESS + (33u << 20),
					      0};
	uint8_t code[256];

	(void)state;
	assert_int_not_equal(litifut_arm_write_thunk(&context, &near, ADDRESS, entries, code), 0);
	assert_int_equal(litifut_arm_write_thunk(&context, &far, ADDRESS, entries, code), 0);
	assert_int_not_equal(litifut_arm_write_thunk(&context, &plain, ADDRESS, entries, code), 0);
	assert_int_equal(litifut_arm_write_thunk(&context, &too_far, ADDRESS, entries, code), 0);
}

/* Images that may run on CPUs before ARMv7: the code of each thunk, and its exit, which
 * stands two instructions behind its call of what all share. */
static struct litifut_arm_facts older = {.shares_thunks = true};
static const struct litifut_arch_context older_context = {.cpu.facts = &older, .thunks = true};

static unsigned list_older(const struct litifut_thunk *thunk, struct listing *listing,
			   uint8_t *code)
{
	static const uint32_t tracer[LITIFUT_ENTRIES_MAX] = {
		[LITIFUT_ARM_ENTRY_SHARED] = ENTRY,
		[LITIFUT_ARM_ENTRY_SHARED_TAIL] = ENTRY + 4,
		[LITIFUT_ARM_ENTRY_POINTER] = ENTRY + 8,
		[LITIFUT_ARM_ENTRY_POINTER_TAIL] = ENTRY + 12,
	};
	unsigned bytes = litifut_arm_write_thunk(&older_context, thunk, ADDRESS, tracer, code);

	read_code(&litifut_arch_arm, &older_context, LITIFUT_CODE_PLAIN, code, bytes, ADDRESS,
		  listing);
	return bytes;
}

static void arm_shared_thunks_have_four_instructions(void **state)
{
	const struct litifut_thunk thunk = {LITIFUT_THUNK_CALLEE, false, 0, 0x10000, 0};
	struct listing listing;
	uint8_t code[64];

	(void)state;
	assert_int_equal(list_older(&thunk, &listing, code), 16);
	assert_int_equal(listing.count, 4);
	assert_string_equal(listing.text[0], "push {r0, r1, r2, r3, r4, r5, ip, lr}");
	assert_string_equal(listing.text[1], "bl #0x21000");
	assert_string_equal(listing.text[2], "pop {r0, r1, r2, r3, r4, r5, ip, lr}");
	assert_string_equal(listing.text[3], "b #0x10000");
}

/* A callee that is T32 code, or out of reach, is reached through the stack. */
static void arm_shared_thunks_reach_all_callees(void **state)
{
	static const uint32_t callees[] = {0x10001, ADDRESS + (40u << 20)};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct litifut_thunk thunk = {LITIFUT_THUNK_CALLEE, false, 0, callees[i], 0};
		struct litifut_frame_code frame = {.start = ADDRESS};
		struct listing listing;
		uint8_t code[64];

		assert_int_equal(list_older(&thunk, &listing, code), 40);
		assert_string_equal(listing.text[3], "sub sp, sp, #4");
		assert_string_equal(listing.text[5], "ldr ip, [pc, #8]");
		assert_string_equal(listing.text[8], "pop {ip, pc}");
		/* the add sees the pc 8 bytes on */
		assert_int_equal(litifut_get32(false, code + 36) + listing.addresses[6] + 8,
				 callees[i]);
		litifut_arm_thunk_frame(&older_context, &thunk, &frame);
		assert_int_equal(frame.step_count, 4);
		assert_int_equal(frame.steps[0].stack, 32);
		assert_int_equal(frame.steps[1].at, 12);
		assert_int_equal(frame.steps[1].stack, 0);
		assert_int_equal(frame.steps[3].stack, 8);
	}
}

static void arm_shared_thunks_hand_over_registers(void **state)
{
	static const char *const names[] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6",
					    "r7", "r8", "sb", "sl", "fp", "ip"};

	(void)state;
	for (uint8_t number = 0; number < 13; number++) {
		const struct litifut_thunk thunk = {LITIFUT_THUNK_REGISTER, false, number, 0, 0};
		struct listing listing;
		uint8_t code[64];
		char text[40];

		assert_int_equal(list_older(&thunk, &listing, code), number == 6 ? 16 : 20);
		assert_string_equal(listing.text[0], "push {r0, r1, r2, r3, r4, r5, r6, ip, lr}");
		snprintf(text, sizeof(text), "mov r6, %s", names[number]);
		if (number != 6)
			assert_string_equal(listing.text[1], text);
		snprintf(text, sizeof(text), "bx %s", names[number]);
		assert_int_equal(find(&listing, text), find(&listing, "bl #0x21008") + 2);
	}
}

static void arm_shared_thunks_of_tail_calls_go_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct litifut_thunk thunk = {
			i ? LITIFUT_THUNK_TAIL_REGISTER : LITIFUT_THUNK_TAIL, false, 6, 0, 0};
		struct litifut_frame_code frame = {.start = ADDRESS};
		struct listing listing;
		uint8_t code[64];

		assert_int_equal(list_older(&thunk, &listing, code), 20);
		assert_string_equal(listing.text[1], i ? "bl #0x2100c" : "bl #0x21004");
		assert_string_equal(listing.text[2], i ? "pop {r0, r1, r2, r3, r4, r5, r6, ip}"
						       : "pop {r0, r1, r2, r3, r4, r5, ip}");
		assert_string_equal(listing.text[3], "ldr lr, [sp, #4]");
		assert_string_equal(listing.text[4], "ldr pc, [sp], #8");
		litifut_arm_thunk_frame(&older_context, &thunk, &frame);
		assert_int_equal(frame.step_count, 3);
		assert_int_equal(frame.steps[1].stack, i ? 40 : 36);
		assert_int_equal(frame.steps[2].at, 12);
		assert_int_equal(frame.steps[2].stack, 8);
	}
}

/* A tracer without what they share: the call uses the instruction DB. */
static void arm_shared_thunks_need_their_tracer(void **state)
{
	static const uint32_t none[LITIFUT_ENTRIES_MAX] = {ENTRY, ENTRY, ENTRY, ENTRY, ENTRY};
	const struct litifut_thunk thunk = {LITIFUT_THUNK_CALLEE, false, 0, 0x10000, 0};
	uint8_t code[64];

	(void)state;
	assert_int_equal(litifut_arm_write_thunk(&older_context, &thunk, ADDRESS, none, code), 0);
}

static void arm_shared_thunks_serve_these_calls(void **state)
{
	static const struct {
		uint32_t word;
		bool thumb;
		unsigned bytes;
		enum litifut_thunk_kind kind;
	} calls[] = {
		{0xeb000010, false, 4, LITIFUT_THUNK_CALLEE},        /* bl */
		{0x0b000010, false, 4, LITIFUT_THUNK_CALLEE},        /* bleq */
		{0xe12fff33, false, 4, LITIFUT_THUNK_REGISTER},      /* blx r3 */
		{0x112fff33, false, 4, LITIFUT_THUNK_REGISTER},      /* blxne r3 */
		{0xea000010, false, 4, LITIFUT_THUNK_TAIL},          /* b */
		{0xe12fff13, false, 4, LITIFUT_THUNK_TAIL_REGISTER}, /* bx r3 */
		{0xe1a0f003, false, 4, LITIFUT_THUNK_NONE},          /* mov pc, r3 */
		{0xe593f000, false, 4, LITIFUT_THUNK_NONE},          /* ldr pc, [r3] */
		{0xf810f000, true, 4, LITIFUT_THUNK_CALLEE},         /* bl, of Thumb code */
		{0x4798, true, 2, LITIFUT_THUNK_NONE},               /* blx r3 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct litifut_cramped_call call = {.address = ADDRESS};
		struct litifut_thunk thunk;
		uint8_t code[4];

		litifut_put32(false, code, calls[i].word);
		litifut_arm_decode(&older_context.cpu, code, calls[i].bytes, ADDRESS,
				   calls[i].thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN,
				   &call.instruction);
		thunk = litifut_arm_thunk(NULL, &older_context, &call);
		assert_int_equal(thunk.kind, calls[i].kind);
		assert_false(thunk.kind && thunk.thumb);
		if (thunk.kind == LITIFUT_THUNK_REGISTER)
			assert_int_equal(thunk.number, 3);
	}
}

static void mips_direct_calls_take_14(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const struct litifut_arch_context context = {
			.cpu.big_endian = i & 1, .cpu.position_independent = i & 2, .thunks = true};
		const struct litifut_thunk thunk = {LITIFUT_THUNK_CALLEE, false, 0, 0x10000, 0};
		struct listing listing;
		uint8_t code[256];
		unsigned bytes = litifut_mips_write_thunk(&context, &thunk, ADDRESS, entries, code);

		assert_int_equal(bytes, LITIFUT_MIPS_THUNK_BYTES);
		read_code(&litifut_arch_mips, &context, LITIFUT_CODE_PLAIN, code, bytes, ADDRESS,
			  &listing);
		/* with its delay slot, 14 */
		assert_int_equal(find(&listing, i & 2 ? "b 0x10000" : "j 0x10000"), 12);
		assert_string_equal(listing.text[13], "lw $v1, 4($sp)");
		assert_string_equal(listing.text[6], "beqz $t0, 0x20038");
		assert_string_equal(listing.text[9], "beqz $t0, 0x20038");
		find(&listing, i & 2 ? "bal 0x21000" : "jal 0x21000");
	}
}

/* Where the caller may have no room for two registers, the thunk makes it: two
 * instructions more, and the callee finds the stack as the caller left it. */
static void mips_thunks_with_room_of_their_own_take_16(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const struct litifut_arch_context context = {
			.cpu.big_endian = i & 1, .cpu.position_independent = i & 2, .thunks = true};
		const struct litifut_thunk thunk = {LITIFUT_THUNK_CALLEE, false,
						    LITIFUT_MIPS_OWN_ROOM, 0x10000, 0};
		struct litifut_frame_code frame = {0};
		struct listing listing;
		uint8_t code[256];
		unsigned bytes = litifut_mips_write_thunk(&context, &thunk, ADDRESS, entries, code);

		assert_int_equal(bytes, LITIFUT_MIPS_THUNK_BYTES);
		read_code(&litifut_arch_mips, &context, LITIFUT_CODE_PLAIN, code, bytes, ADDRESS,
			  &listing);
		assert_string_equal(listing.text[0], "addiu $sp, $sp, -0x10");
		assert_string_equal(listing.text[7], "beqz $t0, 0x20040");
		assert_string_equal(listing.text[10], "beqz $t0, 0x20040");
		assert_string_equal(listing.text[11], "lw $t0, ($sp)");
		assert_string_equal(listing.text[13], "lw $v1, 4($sp)");
		assert_int_equal(find(&listing, i & 2 ? "b 0x10000" : "j 0x10000"), 14);
		assert_string_equal(listing.text[15], "addiu $sp, $sp, 0x10");
		assert_int_equal(listing.addresses[16], 0x20040);
		assert_string_equal(listing.text[16], "sw $ra, 8($sp)");
		/* as far behind the exit as LITIFUT_EXIT_DISTANCE says */
		assert_int_equal(find(&listing, i & 2 ? "bal 0x21100" : "jal 0x21100"), 17);
		litifut_mips_thunk_frame(&context, &thunk, &frame);
		assert_int_equal(frame.step_count, 1);
		assert_int_equal(frame.steps[0].at, 4);
		assert_int_equal(frame.steps[0].stack, 16);
	}
}

/* LITIFUT_MODE=counts. */
static void arm_counts_take_10_instructions(void **state)
{
	static const uint32_t callees[] = {0x10001, 0x10000};
	const struct litifut_arch_context context = {.thunks = true, .counts = true};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct litifut_thunk thunk = {LITIFUT_THUNK_CALLEE, true, 0, callees[i],
						    0x30060};
		struct litifut_frame_code frame = {0};
		struct listing listing;
		uint8_t code[256];
		unsigned bytes = litifut_arm_write_thunk(&context, &thunk, ADDRESS, entries, code);
		unsigned load;

		read_code(&litifut_arch_arm, &context, LITIFUT_CODE_THUMB, code, bytes, ADDRESS,
			  &listing);
		assert_int_equal(find(&listing, i ? "bx pc" : "b.w #0x10000"), 9);
		assert_int_equal(listing.addresses[9] % 4, 0);
		assert_string_equal(listing.text[0], "push {r0, r1, r2}");
		assert_string_equal(listing.text[3], "ldrex r0, [r1]");
		assert_string_equal(listing.text[8], "pop.w {r0, r1, r2}");
		/* what it loads and adds to its pc */
		load = litifut_get16(false, code + 4) & 0xfff;
		assert_int_equal(litifut_get32(false, code + 4 + load) + ADDRESS + 10, 0x30060);
		assert_int_equal(4 + load + 4, bytes);
		litifut_arm_thunk_frame(&context, &thunk, &frame);
		assert_int_equal(frame.step_count, 3);
		assert_int_equal(frame.steps[0].stack, 12);
		if (i) /* A32 code follows the exit */
			continue;
		/* over: the high word, then the same once more */
		size_t carry = find(&listing, "add.w r1, r1, #4");
		char text[40];
		snprintf(text, sizeof(text), "cbz r0, #0x%x", listing.addresses[carry]);
		assert_string_equal(listing.text[7], text);
		snprintf(text, sizeof(text), "cbnz r2, #0x%x", listing.addresses[carry + 1]);
		assert_string_equal(listing.text[6], text);
		snprintf(text, sizeof(text), "b #0x%x", listing.addresses[3]);
		assert_string_equal(listing.text[carry + 1], text);
	}
}

static void mips_counts_take_11_instructions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const struct litifut_arch_context context = {.cpu.big_endian = i & 1,
							     .thunks = true,
							     .counts = true,
							     .counters = {.of_return = 0x1fffc}};
		const struct litifut_thunk thunk = {LITIFUT_THUNK_CALLEE, false,
						    i & 2 ? LITIFUT_MIPS_OWN_ROOM : 0, 0x10000, 0};
		const size_t own = i / 2; /* one more, and the last is not empty */
		struct listing listing;
		uint8_t code[256];
		unsigned bytes = litifut_mips_write_thunk(&context, &thunk, ADDRESS, entries, code);
		char text[40];

		read_code(&litifut_arch_mips, &context, LITIFUT_CODE_PLAIN, code, bytes, ADDRESS,
			  &listing);
		assert_int_equal(find(&listing, "j 0x10000"), 9 + own);
		assert_string_equal(listing.text[own], "sw $v1, 4($sp)");
		assert_string_equal(listing.text[own + 1], "lui $v1, 2");
		assert_string_equal(listing.text[own + 3], "ll $at, -4($v1)");
		assert_string_equal(listing.text[own + 6], "sc $at, -4($v1)");
		assert_string_equal(listing.text[own + 8], "lw $v1, 4($sp)");
		assert_string_equal(listing.text[own + 10], own ? "addiu $sp, $sp, 0x10" : "nop ");
		/* to the carry, and from there to what follows the store */
		snprintf(text, sizeof(text), "beqz $at, 0x%x", listing.addresses[own + 11]);
		assert_string_equal(listing.text[own + 5], text);
		snprintf(text, sizeof(text), "beqz $at, 0x%x", listing.addresses[own + 1]);
		assert_string_equal(listing.text[own + 7], text);
		assert_string_equal(listing.text[own + 11], text);
		assert_string_equal(listing.text[own + 12], "addiu $v1, $v1, 4");
		snprintf(text, sizeof(text), "beqz $at, 0x%x", listing.addresses[own + 13]);
		assert_string_equal(listing.text[own + 16], text);
		snprintf(text, sizeof(text), "b 0x%x", listing.addresses[own + 7]);
		assert_string_equal(listing.text[own + 18], text);
	}
}

static void mips_thunks_know_their_reach(void **state)
{
	const struct litifut_arch_context fixed = {.thunks = true};
	const struct litifut_arch_context moving = {.cpu.position_independent = true,
						    .thunks = true};
	const struct litifut_thunk near = {LITIFUT_THUNK_CALLEE, false, 0, ADDRESS + 0x1f000, 0};
	const struct litifut_thunk far = {LITIFUT_THUNK_CALLEE, false, 0, ADDRESS + 0x21000, 0};
	uint8_t code[256];

	(void)state;
	assert_int_not_equal(litifut_mips_write_thunk(&moving, &near, ADDRESS, entries, code), 0);
	assert_int_equal(litifut_mips_write_thunk(&moving, &far, ADDRESS, entries, code), 0);
	assert_int_not_equal(litifut_mips_write_thunk(&fixed, &far, ADDRESS, entries, code), 0);
}

/* The thunks of an island, and what they do when they can't store: they go to the
 * island's way for calls through $t9. */
static void mips_islands_have_thunks(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const struct litifut_arch_context context = {
			.cpu.big_endian = i & 1, .cpu.position_independent = i & 2, .thunks = true};
		const uint32_t near =
			ADDRESS + LITIFUT_MIPS_WAYS_BYTES + LITIFUT_MIPS_NUMBERED_BYTES;
		const uint32_t indirect = near + LITIFUT_MIPS_NEAR_BYTES;
		uint32_t island[LITIFUT_ENTRIES_MAX];
		uint8_t code[LITIFUT_MIPS_ISLAND_BYTES];
		struct listing listing;

		litifut_mips_write_island(&context, ADDRESS, entries, code, island);
		assert_int_equal(island[LITIFUT_MIPS_ENTRY_THUNK_NEAR], near);
		assert_int_equal(island[LITIFUT_MIPS_ENTRY_THUNK_T9], indirect);
		assert_int_equal(island[LITIFUT_MIPS_ENTRY_T9], ADDRESS);
		read_code(&litifut_arch_mips, &context, LITIFUT_CODE_PLAIN, code + (near - ADDRESS),
			  LITIFUT_MIPS_NEAR_BYTES, near, &listing);
		assert_int_equal(listing.count, LITIFUT_MIPS_NEAR_BYTES / 4);
		assert_int_equal(find(&listing, "jr $t9"), 12); /* 14 with its delay slot */
		assert_string_equal(listing.text[6], "beqz $t0, 0x200d8");
		assert_string_equal(listing.text[9], "beqz $t0, 0x200d8");
		assert_int_equal(listing.addresses[14], 0x200d8);
		assert_int_equal(find(&listing, "b 0x20000"), 15);
		read_code(&litifut_arch_mips, &context, LITIFUT_CODE_PLAIN,
			  code + (indirect - ADDRESS), LITIFUT_MIPS_INDIRECT_BYTES, indirect,
			  &listing);
		assert_int_equal(find(&listing, "jr $t9"), 15);
		assert_int_equal(listing.count, LITIFUT_MIPS_INDIRECT_BYTES / 4);
		assert_string_equal(listing.text[7], "beqz $t0, 0x200d8");
		assert_string_equal(listing.text[10], "beqz $t0, 0x200d8");
		find(&listing, "addiu $t0, $ra, 1"); /* LITIFUT_MARK_INDIRECT */
		find(&listing, "sw $t9, 4($at)");
		/* callers without room go by the gate */
		assert_int_equal(island[LITIFUT_MIPS_ENTRY_THUNK_NEAR_OWN], ADDRESS);
		assert_int_equal(island[LITIFUT_MIPS_ENTRY_THUNK_T9_OWN], ADDRESS);
	}
}

/* Where many callers have no room, its thunks serve all of them. */
static void mips_islands_make_room_for_all(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const struct litifut_arch_context context = {.cpu.big_endian = i & 1,
							     .cpu.position_independent = i & 2,
							     .thunks = true,
							     .own_room = true};
		const uint32_t near =
			ADDRESS + LITIFUT_MIPS_WAYS_BYTES + LITIFUT_MIPS_NUMBERED_BYTES;
		uint32_t island[LITIFUT_ENTRIES_MAX];
		uint8_t code[LITIFUT_MIPS_ISLAND_BYTES];

		litifut_mips_write_island(&context, ADDRESS, entries, code, island);
		assert_int_equal(island[LITIFUT_MIPS_ENTRY_THUNK_NEAR], near);
		assert_int_equal(island[LITIFUT_MIPS_ENTRY_THUNK_NEAR_OWN], near);
		assert_int_equal(island[LITIFUT_MIPS_ENTRY_THUNK_T9],
				 near + LITIFUT_MIPS_NEAR_BYTES);
		assert_int_equal(island[LITIFUT_MIPS_ENTRY_THUNK_T9_OWN],
				 near + LITIFUT_MIPS_NEAR_BYTES);
		for (unsigned thunk = 0; thunk < 2; thunk++) {
			uint32_t start = near + thunk * LITIFUT_MIPS_NEAR_BYTES;
			struct listing listing;
			size_t leaves;

			read_code(&litifut_arch_mips, &context, LITIFUT_CODE_PLAIN,
				  code + (start - ADDRESS), LITIFUT_MIPS_NEAR_BYTES, start,
				  &listing);
			assert_string_equal(listing.text[0], "addiu $sp, $sp, -0x10");
			leaves = find(&listing, "jr $t9");
			assert_int_equal(leaves, thunk ? 17 : 14);
			assert_string_equal(listing.text[leaves - 1], "lw $v1, 4($sp)");
			assert_string_equal(listing.text[leaves + 1], "addiu $sp, $sp, 0x10");
			assert_string_equal(listing.text[7 + thunk], "beqz $t0, 0x200e0");
			assert_string_equal(listing.text[10 + thunk], "beqz $t0, 0x200e0");
			if (thunk)
				continue;
			assert_int_equal(listing.addresses[16], 0x200e0);
			assert_string_equal(listing.text[16], "lw $t0, ($sp)");
			assert_string_equal(listing.text[17], "lw $v1, 4($sp)");
			assert_string_equal(listing.text[18], "b 0x20000");
			assert_string_equal(listing.text[19], "addiu $sp, $sp, 0x10");
		}
	}
}

/* Room for arguments at sp is only taken for granted in a function with a frame
 * that does not use it. Others go by thunks that make room. */
static void mips_callers_without_room_get_other_thunks(void **state)
{
	enum { OWN = 0, CALLERS = 1, LEFT = 2 };
	static const struct {
		uint32_t first; /* instruction of the caller */
		uint32_t second;
		uint32_t slot; /* delay slot of the call */
		int room;      /* or LEFT: no thunk at all */
		uint32_t last; /* instruction of the caller after the call */
	} cases[] = {
		{0x27bdffe0, 0xafbf001c, 0, CALLERS, 0}, /* addiu sp, sp, -32 */
		{0x00000000, 0xafbf001c, 0, OWN, 0},
		{0x27bdfff0, 0xafbf000c, 0, OWN, 0}, /* 16 bytes */
		{0x27bdffe0, 0xafa20004, 0, OWN, 0}, /* sw v0, 4(sp) */
		{0x27bdffe0, 0xafbf001c, 0xafa20000, OWN, 0},
		{0x27bdffe0, 0xafbf001c, 0x24190001, LEFT, 0}, /* li t9, 1 */
		{0x27bdffe0, 0x27a40010, 0, CALLERS, 0},       /* addiu a0, sp, 16 */
		{0x27bdffe0, 0x27a40008, 0, OWN, 0},           /* addiu a0, sp, 8 */
		/* addiu a0, s8, 8, and the same with move s8, sp */
		{0x27bdffe0, 0xafbf001c, 0x27c40008, CALLERS, 0},
		{0x27bdffe0, 0x03a0f025, 0x27c40008, OWN, 0},
		{0x27bdffe0, 0x03a0f025, 0, CALLERS, 0}, /* move s8, sp */
		{0x27bdffe0, 0x03a01025, 0, OWN, 0},     /* move v0, sp */
		{0x27bdffe0, 0x0220e821, 0, OWN, 0},     /* move sp, s1 */
		{0x27bdffe0, 0xafbf001c, 0, CALLERS, 0x27bd0020},
		{0x27bdffe0, 0xafbf001c, 0, OWN, 0x27bdfff0}, /* addiu sp, sp, -16 */
		/* sw a1, 4(s8) */
		{0x27bdffe0, 0xafbf001c, 0, CALLERS, 0xafc50004},
		{0x27bdffe0, 0x03a0f025, 0, OWN, 0xafc50004},
		{0x27bdffe0, 0x03a0f021, 0, OWN, 0xafc50004},
	};
	const struct litifut_arch_context context = {.cpu.position_independent = true,
						     .thunks = true};
	struct litifut_image image = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint32_t words[5] = {cases[i].first, cases[i].second, 0x0320f809,
					   cases[i].slot, cases[i].last};
		uint8_t bytes[20];
		struct litifut_section section = {
			.address = 0x1000, .size = sizeof(bytes), .bytes = bytes};
		struct litifut_cramped_call call = {.address = 0x1008,
						    .section = &section,
						    .function_start = 0x1000,
						    .function_end = 0x1014};

		for (unsigned word = 0; word < 5; word++)
			litifut_put32(false, bytes + 4 * word, words[word]);
		call.argument_room = litifut_mips_argument_room(&context, &section, 0x1000, 0x1014);
		litifut_mips_decode(&context.cpu, bytes + 8, 8, 0x1008, LITIFUT_CODE_PLAIN,
				    &call.instruction);
		for (unsigned known = 0; known < 2; known++) {
			static const unsigned numbers[2][2] = {
				{LITIFUT_MIPS_ENTRY_THUNK_T9_OWN, LITIFUT_MIPS_ENTRY_THUNK_T9},
				{LITIFUT_MIPS_ENTRY_THUNK_NEAR_OWN, LITIFUT_MIPS_ENTRY_THUNK_NEAR}};
			struct litifut_thunk thunk;

			call.known_callee = known ? 0x2000 : 0;
			thunk = litifut_mips_thunk(&image, &context, &call);
			assert_int_equal(thunk.kind, cases[i].room == LEFT ? LITIFUT_THUNK_NONE
									   : LITIFUT_THUNK_ENTRY);
			if (cases[i].room != LEFT)
				assert_int_equal(thunk.number, numbers[known][cases[i].room]);
		}
	}
}

/* A tail call needs no room of its caller's. Its event is one word when the callee is
 * known: by the branch, or by what the code before a jump through $t9 tells. */
static void mips_tail_calls_have_thunks(void **state)
{
	static const struct {
		uint32_t word;
		uint32_t slot;
		uint32_t known_callee;
		enum litifut_thunk_kind kind;
		unsigned entry;
	} cases[] = {
		{0x10000007, 0, 0x1020, LITIFUT_THUNK_ENTRY, LITIFUT_MIPS_ENTRY_THUNK_TAIL_NEAR},
		{0x10000007, 0, 0, LITIFUT_THUNK_ENTRY, LITIFUT_MIPS_ENTRY_THUNK_TAIL_BACK},
		{0x10000007, 0, 0x2000, LITIFUT_THUNK_ENTRY, LITIFUT_MIPS_ENTRY_THUNK_TAIL_BACK},
		/* li t9, 1 */
		{0x10000007, 0x24190001, 0x1020, LITIFUT_THUNK_ENTRY,
		 LITIFUT_MIPS_ENTRY_THUNK_TAIL_BACK},
		{0x03200008, 0, 0x1020, LITIFUT_THUNK_ENTRY, LITIFUT_MIPS_ENTRY_THUNK_TAIL_NEAR},
		{0x03200008, 0, 0, LITIFUT_THUNK_ENTRY, LITIFUT_MIPS_ENTRY_THUNK_TAIL},
		{0x00600008, 0, 0, LITIFUT_THUNK_NONE, 0}, /* jr v1 */
		{0x03200408, 0, 0, LITIFUT_THUNK_NONE, 0}, /* jr.hb t9: thunks leave by jr */
	};
	const struct litifut_arch_context context = {.cpu.position_independent = true,
						     .thunks = true};
	const struct litifut_image image = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t bytes[8];
		struct litifut_section section = {
			.address = 0x1000, .size = sizeof(bytes), .bytes = bytes};
		struct litifut_cramped_call call = {.address = 0x1000,
						    .tail = true,
						    .section = &section,
						    .function_start = 0x1000,
						    .function_end = 0x1008,
						    .known_callee = cases[i].known_callee};
		struct litifut_thunk thunk;

		litifut_put32(false, bytes, cases[i].word);
		litifut_put32(false, bytes + 4, cases[i].slot);
		litifut_mips_decode(&context.cpu, bytes, 8, 0x1000, LITIFUT_CODE_PLAIN,
				    &call.instruction);
		thunk = litifut_mips_thunk(&image, &context, &call);
		assert_int_equal(thunk.kind, cases[i].kind);
		assert_int_equal(thunk.number, cases[i].entry);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arm_direct_calls_take_12_instructions),
		cmocka_unit_test(arm_timed_calls_take_13_instructions),
		cmocka_unit_test(arm_timed_indirect_calls_have_four_words),
		cmocka_unit_test(mips_timed_calls_take_17),
		cmocka_unit_test(arm_thunks_say_what_is_on_the_stack),
		cmocka_unit_test(arm_calls_of_a32_code_take_13),
		cmocka_unit_test(arm_registers_are_stored),
		cmocka_unit_test(arm_tail_calls_go_back_to_their_trampoline),
		cmocka_unit_test(arm_thunks_know_their_reach),
		cmocka_unit_test(arm_shared_thunks_have_four_instructions),
		cmocka_unit_test(arm_shared_thunks_reach_all_callees),
		cmocka_unit_test(arm_shared_thunks_hand_over_registers),
		cmocka_unit_test(arm_shared_thunks_of_tail_calls_go_back),
		cmocka_unit_test(arm_shared_thunks_need_their_tracer),
		cmocka_unit_test(arm_shared_thunks_serve_these_calls),
		cmocka_unit_test(mips_direct_calls_take_14),
		cmocka_unit_test(mips_thunks_with_room_of_their_own_take_16),
		cmocka_unit_test(arm_counts_take_10_instructions),
		cmocka_unit_test(mips_counts_take_11_instructions),
		cmocka_unit_test(mips_thunks_know_their_reach),
		cmocka_unit_test(mips_islands_have_thunks),
		cmocka_unit_test(mips_islands_make_room_for_all),
		cmocka_unit_test(mips_tail_calls_have_thunks),
		cmocka_unit_test(mips_callers_without_room_get_other_thunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
