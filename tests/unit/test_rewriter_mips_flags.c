/* The code of MIPS edges that sets flags, executed by a small interpreter: whichever registers hold
 * nothing, and wherever the target is, it sets the flag, goes on at the target and keeps the
 * registers that it must. The targets around the end of a branch's reach are all tried, with code
 * that moves by an instruction, as what is stored must not end with a zero byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rewriter/mips/edge_flags.h"

enum { AT = 1, V1 = 3, SP = 29, RA = 31, LINK = 32, STEPS = 64 };

#define FLAGS 0x400000u
#define FLAG 0x12345u
#define MARK 0x108000u
#define STACK 0x7fff0000u

struct machine {
	const struct litifut_mips_emitter *emitter;
	uint8_t mark[LITIFUT_MIPS_MARK_BYTES];
	uint32_t registers[32];
	uint32_t stack[4]; /* from sp - 16 on */
	uint32_t stored_at;
	uint32_t stored;
};

/* The word of code at the address. */
static uint32_t fetch(const struct machine *machine, uint32_t address)
{
	const struct litifut_mips_emitter *emitter = machine->emitter;

	if (address - emitter->address < 4 * emitter->count)
		return emitter->words[(address - emitter->address) / 4];
	assert_true(address - MARK < sizeof(machine->mark));
	return litifut_get32(emitter->place->context->cpu.big_endian,
			     machine->mark + (address - MARK));
}

static uint32_t *on_stack(struct machine *machine, uint32_t address)
{
	assert_true(address - (STACK - 16) < 16);
	/* what is below the stack pointer is a signal handler's */
	assert_true(address >= machine->registers[SP]);
	return &machine->stack[(address - (STACK - 16)) / 4];
}

/* Executes what is not a branch. */
static void execute(struct machine *machine, uint32_t word)
{
	uint32_t *const r = machine->registers;
	const uint32_t address = r[word >> 21 & 31] + (uint32_t)(int16_t)word;
	uint32_t *const target = &r[word >> 16 & 31];

	switch (word >> 26) {
	case 0x00:
		if (!word)
			break;
		assert_true((word & 0x3f) == 0x21 || (word & 0x3f) == 0x25); /* addu, or */
		r[word >> 11 & 31] = (word & 0x3f) == 0x21 ? r[word >> 21 & 31] + *target
							   : (r[word >> 21 & 31] | *target);
		break;
	case 0x09: /* addiu */
		*target = address;
		break;
	case 0x0f: /* lui */
		*target = word << 16;
		break;
	case 0x23: /* lw */
		*target = (address & ~15u) == STACK - 16 ? *on_stack(machine, address)
							 : fetch(machine, address);
		break;
	case 0x28: /* sb */
		machine->stored_at = address;
		machine->stored = *target & 0xff;
		break;
	case 0x2b: /* sw */
		*on_stack(machine, address) = *target;
		break;
	default:
		fail_msg("0x%08x", word);
	}
}

/* Where the code leads to that has been written. */
static uint32_t run(struct machine *machine)
{
	const struct litifut_mips_emitter *emitter = machine->emitter;
	const uint32_t end = emitter->address + 4 * emitter->count;
	uint32_t at = emitter->address;

	for (unsigned i = 0; i < STEPS; i++) {
		const uint32_t word = fetch(machine, at);
		uint32_t next = at + 8;

		if (word >> 16 == 0x1000 || word >> 16 == 0x0411) { /* b, bal */
			next = at + 4 + 4 * (uint32_t)(int16_t)word;
			if (word >> 16 == 0x0411)
				machine->registers[RA] = at + 8;
		} else if (word == 0x00200008) { /* jr at */
			next = machine->registers[AT];
		} else {
			execute(machine, word);
			at += 4;
			if (at == end)
				return at;
			continue;
		}
		execute(machine, fetch(machine, at + 4));
		at = next;
		if (at - emitter->address >= 4 * emitter->count &&
		    at - MARK >= sizeof(machine->mark))
			return at;
	}
	fail_msg("the code does not end");
	return 0;
}

/* `code` says what holds nothing, as the edge has it. A target of 0: control goes on behind. */
static void check(unsigned code, uint32_t address, uint32_t target)
{
	/* the words are the same, but for those of the code that all share */
	const struct litifut_arch_context context = {.cpu.position_independent = true,
						     .cpu.big_endian = (address & 8) != 0};
	const struct litifut_edge_place place = {.context = &context};
	const struct litifut_edge edge = {0};
	struct litifut_edge_code edge_code = {.flags = FLAGS, .mark = MARK};
	struct litifut_mips_emitter emitter = {
		.place = &place, .edge = &edge, .code = &edge_code, .address = address};
	struct machine machine = {.emitter = &emitter};
	uint32_t before[32];

	for (unsigned i = 0; i < 32; i++)
		machine.registers[i] = i ? 0x11110000 * (i % 7 + 1) + i : 0;
	machine.registers[SP] = STACK;
	memcpy(before, machine.registers, sizeof(before));
	litifut_mips_write_mark(&context, MARK, machine.mark);
	litifut_mips_put_flag(&emitter, code, FLAG, target);
	assert_false(emitter.failed);
	assert_int_equal(run(&machine), target ? target : address + 4 * emitter.count);
	assert_int_equal(machine.stored_at, FLAGS + FLAG);
	assert_int_not_equal(machine.stored, 0);
	for (unsigned i = 0; i < 32; i++)
		if (i != AT && i != code && !(i == RA && code == LINK))
			assert_int_equal(machine.registers[i], before[i]);
}

static void sets_flags_and_goes_on(void **state)
{
	static const unsigned codes[] = {0, V1, LINK};

	(void)state;
	for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		/* all low bytes */
		for (uint32_t address = 0x100000; address < 0x100104; address += 4) {
			check(codes[i], address, 0);
			check(codes[i], address, address + 0x1000);
			check(codes[i], address, address + 0x100000);
			for (uint32_t away = 0x20000 - 64; away < 0x20000 + 64; away += 4) {
				check(codes[i], address, address + away);
				check(codes[i], address, address - away);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_flags_and_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
