/* The AVR back end, on bytes: what the decoder makes of code, where the encoder reaches, which
 * calls through Z can make room for a branch, and the stubs. Words were made by avr-as. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <litifut/module_format.h>

#include "common/bytes.h"
#include "rewriter/avr/avr.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct litifut_avr_facts small = {.small = true};
static const struct cpu_context large_context = {0};
static const struct cpu_context small_context = {.facts = &small};

static const struct decode_row {
	const char *mnemonic;
	uint32_t address;
	uint16_t words[2];
	unsigned length;
	enum litifut_instruction_class class;
	uint32_t target;
	bool small, conditional;
} rows[] = {
	{"call 0x11235e", 0, {0x944e, 0x91af}, 4, LITIFUT_CLASS_CALL_DIRECT, 0x11235e, 0, 0},
	{"call 0x176", 0xce, {0x940e, 0x00bb}, 4, LITIFUT_CLASS_CALL_DIRECT, 0x176, 0, 0},
	{"call 0x20000", 0, {0x940f, 0x0000}, 4, LITIFUT_CLASS_CALL_DIRECT, 0x20000, 0, 0},
	{"call 0x7ffffe", 0, {0x95ff, 0xffff}, 4, LITIFUT_CLASS_CALL_DIRECT, 0x7ffffe, 0, 0},
	{"jmp 0x98", 0, {0x940c, 0x004c}, 4, LITIFUT_CLASS_BRANCH_DIRECT, 0x98, 0, 0},
	{"jmp 0x3fffe", 0, {0x940d, 0xffff}, 4, LITIFUT_CLASS_BRANCH_DIRECT, 0x3fffe, 0, 0},
	{"rcall .+0", 0x100, {0xd000, 0}, 2, LITIFUT_CLASS_CALL_DIRECT, 0x102, 0, 0},
	{"rcall .-2", 0x100, {0xdfff, 0}, 2, LITIFUT_CLASS_CALL_DIRECT, 0x100, 0, 0},
	{"rcall .+4094", 0x100, {0xd7ff, 0}, 2, LITIFUT_CLASS_CALL_DIRECT, 0x1100, 0, 0},
	{"rcall, around the end", 0x1ff0, {0xd010, 0}, 2, LITIFUT_CLASS_CALL_DIRECT, 0x12, 1, 0},
	{"rjmp, around the start", 0x10, {0xcff0, 0}, 2, LITIFUT_CLASS_BRANCH_DIRECT, 0x1ff2, 1, 0},
	{"rjmp .-8", 0xe0, {0xcffc, 0}, 2, LITIFUT_CLASS_BRANCH_DIRECT, 0xda, 0, 0},
	{"brne .-10", 0xbc, {0xf7d9, 0}, 2, LITIFUT_CLASS_BRANCH_DIRECT, 0xb4, 0, 1},
	{"brcc .+10", 0, {0xf428, 0}, 2, LITIFUT_CLASS_BRANCH_DIRECT, 0xc, 0, 1},
	{"icall", 0, {0x9509, 0}, 2, LITIFUT_CLASS_CALL_INDIRECT, 0, 0, 0},
	{"eicall", 0, {0x9519, 0}, 2, LITIFUT_CLASS_CALL_INDIRECT, 0, 0, 0},
	{"ijmp", 0, {0x9409, 0}, 2, LITIFUT_CLASS_BRANCH_INDIRECT, 0, 0, 0},
	{"eijmp", 0, {0x9419, 0}, 2, LITIFUT_CLASS_BRANCH_INDIRECT, 0, 0, 0},
	{"ret", 0, {0x9508, 0}, 2, LITIFUT_CLASS_OTHER, 0, 0, 0},
	{"reti", 0, {0x9518, 0}, 2, LITIFUT_CLASS_OTHER, 0, 0, 0},
	{"lds r25, 0xc0", 0, {0x9190, 0x00c0}, 4, LITIFUT_CLASS_OTHER, 0, 0, 0},
	{"sts 0xc6, r24", 0, {0x9380, 0x00c6}, 4, LITIFUT_CLASS_OTHER, 0, 0, 0},
	{"push r24", 0, {0x938f, 0}, 2, LITIFUT_CLASS_OTHER, 0, 0, 0},
	{"elpm r0, Z+", 0, {0x9007, 0}, 2, LITIFUT_CLASS_OTHER, 0, 0, 0},
};

static void decoding(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct cpu_context *context = rows[i].small ? &small_context : &large_context;
		struct litifut_instruction got;
		uint8_t code[4];

		litifut_put16(false, code, rows[i].words[0]);
		litifut_put16(false, code + 2, rows[i].words[1]);
		print_message("# %s\n", rows[i].mnemonic);
		assert_int_equal(litifut_avr_decode(context, code, 4, rows[i].address,
						    LITIFUT_CODE_PLAIN, &got),
				 rows[i].length);
		assert_int_equal(got.class, rows[i].class);
		assert_int_equal(got.target, rows[i].target);
		assert_int_equal(got.conditional, rows[i].conditional);
		assert_int_equal(litifut_avr_decode(context, code, rows[i].length - 1,
						    rows[i].address, LITIFUT_CODE_PLAIN, &got),
				 0);
	}
}

/* What is encoded is decoded as the same. */
static void encoding(void **state)
{
	struct litifut_instruction got;
	uint8_t code[4];

	(void)state;
	for (uint32_t target = 0; target < 0x800000; target += 0x12342) {
		litifut_avr_far(true, target, code);
		litifut_avr_decode(&large_context, code, 4, 0, LITIFUT_CODE_PLAIN, &got);
		assert_int_equal(got.class, LITIFUT_CLASS_CALL_DIRECT);
		assert_int_equal(got.target, target);
	}
	assert_true(litifut_avr_near(&large_context, false, 0x2000, 0x2000 + 4096, code));
	assert_false(litifut_avr_near(&large_context, false, 0x2000, 0x2000 + 4098, code));
	assert_true(litifut_avr_near(&large_context, true, 0x2000, 0x2000 - 4094, code));
	assert_false(litifut_avr_near(&large_context, true, 0x2000, 0x2000 - 4096, code));
	for (uint32_t target = 0; target < 8192; target += 2)
		assert_true(litifut_avr_near(&small_context, true, 0x123e, target, code));
}

/* A function of these words; the last one is the call. */
struct room_row {
	const char *what;
	uint16_t words[6];
	unsigned count;
	uint8_t before[2]; /* lengths of the instructions before it */
	bool tail, can;
};

static const struct room_row room_rows[] = {
	{"movw before it", {0x2411, 0x01fc, 0x9509}, 3, {2, 2}, false, true},
	{"lds before it", {0x2411, 0x91f0, 0x0101, 0x9509}, 4, {4, 2}, false, true},
	{"nothing before it", {0x9509}, 1, {0, 0}, false, false},
	{"the first instruction before it", {0x01fc, 0x9509}, 2, {2, 0}, false, true},
	{"a branch before it", {0x2411, 0xf409, 0x9509}, 3, {2, 2}, false, false},
	{"a skip before it", {0x2411, 0xfd80, 0x9509}, 3, {2, 2}, false, false},
	{"a skip before that", {0xfd80, 0x01fc, 0x9509}, 3, {2, 2}, false, false},
	{"pop before a call", {0x2411, 0x91ff, 0x9509}, 3, {2, 2}, false, false},
	{"pop before a jump", {0x2411, 0x91cf, 0x9409}, 3, {2, 2}, true, true},
	{"in from SPL before a call", {0x2411, 0xb7cd, 0x9509}, 3, {2, 2}, false, false},
	{"a call before it", {0x940e, 0x0100, 0x9509}, 3, {4, 0}, false, false},
};

static void room(void **state)
{
	struct litifut_avr_image *image = calloc(1, sizeof(*image) + 64 * sizeof(*image->marks));
	struct litifut_arch_context context = {.cpu.facts = image};
	struct litifut_error error;

	(void)state;
	image->end = 128;
	for (size_t i = 0; i < COUNT(room_rows); i++) {
		const struct room_row *row = &room_rows[i];
		struct litifut_targets targets = {0};
		uint8_t code[16] = {0};
		struct litifut_section section = {
			.address = 0x20, .size = sizeof(code), .bytes = code};
		struct litifut_cramped_call call = {.address = 0x20 + 2 * row->count - 2,
						    .section = &section,
						    .tail = row->tail,
						    .function_start = 0x20,
						    .function_end = 0x20 + 2 * row->count};

		for (unsigned k = 0; k < row->count; k++)
			litifut_put16(false, code + 2 * k, row->words[k]);
		memcpy(call.before, row->before, sizeof(row->before));
		litifut_avr_decode(&context.cpu, code + 2 * row->count - 2, 2, call.address,
				   LITIFUT_CODE_PLAIN, &call.instruction);
		assert_int_equal(litifut_targets_create(0, 128, &targets, &error), LITIFUT_OK);
		print_message("# %s\n", row->what);
		assert_int_equal(litifut_avr_can_detour(&context, &call, &targets), row->can);
		/* Code that jumps to the call alone would meet the middle of the branch. */
		litifut_targets_add(&targets, call.address);
		assert_false(litifut_avr_can_detour(&context, &call, &targets));
		litifut_targets_release(&targets);
	}
	free(image);
}

static void stubs(void **state)
{
	static const uint16_t fast[] = {0x938f, 0xb78f, 0x94f8, 0x938f, 0x9180, 0x0234,
					0x5f8f, 0x9380, 0x0234, 0xf428, 0x918f, 0xbf8f,
					0x918f, 0x940d, 0x0000, 0x940e, 0x0800, 0xcff8};
	struct litifut_firmware_call call = {
		.call = {.address = 0x100,
			 .instruction = {.class = LITIFUT_CLASS_CALL_DIRECT, .length = 4}},
		.callee = 0x20000,
		.counter = 0x800234,
		.count_carry = 0x1000,
		.count_small = 0x1800,
		.count_pointer = 0x3000,
	};
	uint8_t code[8];
	struct litifut_section section = {.address = 0x100, .size = sizeof(code), .bytes = code};
	struct litifut_firmware_stub stub;

	(void)state;
	assert_true(litifut_firmware_avr.write_stub(&call, 0x400, &stub));
	assert_int_equal(stub.bytes, 36);
	for (size_t i = 0; i < COUNT(fast); i++)
		assert_int_equal(litifut_get16(false, stub.code + 2 * i), fast[i]);
	assert_int_equal(stub.patches[0].length, 4);
	assert_int_equal(litifut_get16(false, stub.patches[0].bytes), 0x940e);
	assert_int_equal(litifut_get16(false, stub.patches[0].bytes + 2), 0x200);
	call.small = true;
	assert_true(litifut_firmware_avr.write_stub(&call, 0x400, &stub));
	assert_int_equal(stub.bytes, 8);

	/* Through Z, behind an lds: a nop, and the call ends where the icall did. */
	litifut_put16(false, code, 0x91f0);
	litifut_put16(false, code + 2, 0x0101);
	litifut_put16(false, code + 4, 0x9509);
	call.pointer = true;
	call.call = (struct litifut_cramped_call){
		.address = 0x104,
		.instruction = {.class = LITIFUT_CLASS_CALL_INDIRECT, .length = 2},
		.section = &section,
		.before = {4}};
	assert_true(litifut_firmware_avr.write_stub(&call, 0x400, &stub));
	assert_int_equal(stub.bytes, 24);
	assert_int_equal(stub.patches[0].address, 0x100);
	assert_int_equal(stub.patches[0].length, 6);
	assert_int_equal(litifut_get16(false, stub.patches[0].bytes), 0);
	assert_int_equal(litifut_get16(false, stub.patches[0].bytes + 2), 0x940e);
	assert_int_equal(litifut_get16(false, stub.code), 0x91f0);
	assert_int_equal(litifut_get16(false, stub.code + 8), 0xe3a4); /* ldi r26, 0x34 */
	assert_int_equal(litifut_get16(false, stub.code + 10), 0xe0b2);

	/* The same where calls are timed: all of it is at the end of 12 bytes. */
	call.small = false;
	call.times = call.timed = true;
	assert_true(litifut_firmware_avr.write_stub(&call, 0x400, &stub));
	assert_int_equal(stub.bytes, 12);
	assert_int_equal(stub.patches[0].target, 0x402);
	assert_int_equal(litifut_get16(false, stub.code + 2), 0x91f0);
	assert_int_equal(litifut_get16(false, stub.code + 6), 0x940e);
	assert_int_equal(litifut_get16(false, stub.code + 8), 0x1800);
	assert_int_equal(litifut_get16(false, stub.code + 10), 0x9409); /* ijmp */
	call.times = call.timed = false;

	/* A short call that is too far. */
	call.pointer = false;
	call.call.instruction =
		(struct litifut_instruction){.class = LITIFUT_CLASS_CALL_DIRECT, .length = 2};
	assert_false(litifut_firmware_avr.write_stub(&call, 0x4000, &stub));
	call.baseline = true;
	call.callee = 0x40;
	assert_true(litifut_firmware_avr.write_stub(&call, 0x1f00, &stub));
	assert_int_equal(stub.patches[0].length, 2);
}

/* Calls as events: the lower byte of the number, the call, and the way back to behind the site. */
static void event_stubs(void **state)
{
	static const uint16_t direct[] = {0x938f, 0xe384, 0x940e, 0x0c00, 0x918f, 0x940e,
					  0x1000, 0x940e, 0x1800, 0x940c, 0x0082, 0};
	static const uint16_t alone[] = {0x938f, 0xe384, 0x940e, 0x0c00, 0x918f, 0x940c, 0x1000, 0};
	static const uint16_t switched[] = {0x938f, 0xe384, 0x940e, 0x0c00, 0xc005, 0x918f,
					    0x940e, 0x1000, 0x940c, 0x0082, 0x918f, 0x940e,
					    0x1000, 0x940e, 0x1800, 0x940c, 0x0082, 0};
	struct litifut_firmware_call call = {
		.call = {.address = 0x100,
			 .instruction = {.class = LITIFUT_CLASS_CALL_DIRECT, .length = 4}},
		.spans = true,
		.number = 0x1234,
		.callee = 0x2000,
		.count_small = 0x1800,
		.count_return = 0x3000,
	};
	struct litifut_firmware_stub stub;

	(void)state;
	assert_true(litifut_firmware_avr.write_stub(&call, 0x400, &stub));
	assert_int_equal(stub.bytes, sizeof(direct));
	for (size_t i = 0; i < COUNT(direct); i++)
		assert_int_equal(litifut_get16(false, stub.code + 2 * i), direct[i]);
	assert_int_equal(litifut_get16(false, stub.patches[0].bytes), 0x940c);
	/* One that is not recorded returns to the second word behind the call of the tracer. */
	call.switched = true;
	assert_true(litifut_firmware_avr.write_stub(&call, 0x400, &stub));
	assert_int_equal(stub.bytes, sizeof(switched));
	for (size_t i = 0; i < COUNT(switched); i++)
		assert_int_equal(litifut_get16(false, stub.code + 2 * i), switched[i]);
	call.stream = true;
	assert_true(litifut_firmware_avr.write_stub(&call, 0x400, &stub));
	assert_int_equal(stub.bytes, sizeof(alone));
	for (size_t i = 0; i < COUNT(alone); i++)
		assert_int_equal(litifut_get16(false, stub.code + 2 * i), alone[i]);
	assert_int_equal(litifut_get16(false, stub.patches[0].bytes), 0x940e);
	/* by rcall and rjmp */
	call.stream = false;
	call.baseline = true;
	call.call.instruction.length = 2;
	call.callee = 0x240;
	call.count_small = 0x180;
	call.count_return = 0x300;
	assert_true(litifut_firmware_avr.write_stub(&call, 0x400, &stub));
	assert_int_equal(stub.bytes, 24);
	assert_int_equal(litifut_get16(false, stub.code + 6), 0xc003);
	assert_int_equal(litifut_get16(false, stub.code + 8), 0x918f);
	assert_int_equal(litifut_get16(false, stub.code + 14), 0x918f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(decoding), cmocka_unit_test(encoding),
					   cmocka_unit_test(room), cmocka_unit_test(stubs),
					   cmocka_unit_test(event_stubs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
