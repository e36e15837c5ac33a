#include "tests/unit/rewriter_cases.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <capstone/capstone.h>
#include <cmocka.h>
#include <litifut/module_format.h>

unsigned put_instruction(const struct litifut_arch_context *context, uint32_t word,
			 enum litifut_code_state state, uint8_t *bytes)
{
	if (state == LITIFUT_CODE_PLAIN) {
		litifut_put32(context->cpu.big_endian, bytes, word);
		return 4;
	}
	if (word >> 16 == 0) {
		litifut_put16(context->cpu.big_endian, bytes, (uint16_t)word);
		return 2;
	}
	litifut_put16(context->cpu.big_endian, bytes, (uint16_t)(word >> 16));
	litifut_put16(context->cpu.big_endian, bytes + 2, (uint16_t)word);
	return 4;
}

void check_decode(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		  const struct decode_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct decode_case *expected = &cases[i];
		struct litifut_instruction got;
		uint8_t bytes[4] = {0};

		put_instruction(context, expected->word, expected->state, bytes);
		print_message("# %s\n", expected->mnemonic);
		assert_int_equal(arch->cpu->decode(&context->cpu, bytes, 4, expected->address,
						   expected->state, &got),
				 expected->length);
		assert_int_equal(got.length, expected->length);
		assert_int_equal(got.class, expected->class);
		if (expected->class == LITIFUT_CLASS_OTHER)
			continue;
		assert_int_equal(got.word, expected->word);
		assert_int_equal(got.target_register, expected->target_register);
		assert_int_equal(got.conditional, expected->conditional);
		if (expected->class == LITIFUT_CLASS_CALL_DIRECT ||
		    expected->class == LITIFUT_CLASS_BRANCH_DIRECT)
			assert_int_equal(got.target, expected->target);
		/* Bytes that are not there are not read. */
		assert_int_equal(arch->cpu->decode(&context->cpu, bytes, expected->length - 1u,
						   expected->address, expected->state, &got),
				 0);
	}
}

static void decode_one(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		       const struct reach_case *row, struct litifut_instruction *instruction)
{
	uint8_t bytes[4];

	print_message("# %s\n", row->mnemonic);
	put_instruction(context, row->word, row->state, bytes);
	assert_int_equal(
		arch->cpu->decode(&context->cpu, bytes, 4, row->address, row->state, instruction),
		4);
}

void check_reach(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		 const struct reach_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct reach_case *row = &cases[i];
		struct litifut_instruction instruction;
		uint8_t code[4];

		decode_one(arch, context, row, &instruction);
		assert_true(arch->cpu->encode_call(&context->cpu, &instruction, row->address,
						   row->farthest_below, code));
		assert_true(arch->cpu->encode_call(&context->cpu, &instruction, row->address,
						   row->farthest_above, code));
		assert_false(arch->cpu->encode_call(&context->cpu, &instruction, row->address,
						    row->farthest_below - row->step, code));
		assert_false(arch->cpu->encode_call(&context->cpu, &instruction, row->address,
						    row->farthest_above + row->step, code));
		assert_true(row->address - row->farthest_below >=
			    arch->cpu->reach(&context->cpu, &instruction));
		assert_true(row->farthest_above - row->address >=
			    arch->cpu->reach(&context->cpu, &instruction));
	}
}

void check_refuse(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		  const struct refuse_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct refuse_case *row = &cases[i];
		struct litifut_instruction instruction;
		uint8_t bytes[8] = {0};
		unsigned length = put_instruction(context, row->word, row->state, bytes);

		put_instruction(context, row->following, row->state, bytes + length);
		print_message("# %s\n", row->mnemonic);
		assert_int_equal(arch->cpu->decode(&context->cpu, bytes, 4, row->address,
						   row->state, &instruction),
				 length);
		assert_int_equal(arch->refuse(context, &instruction, row->address, bytes + length,
					      4, 0, row->callee),
				 row->reason);
	}
}

static uint32_t capstone_target(csh handle, int arch, const uint8_t *code, uint32_t address)
{
	cs_insn *instruction;
	uint32_t target = UINT32_MAX;

	assert_int_equal(cs_disasm(handle, code, 4, address, 1, &instruction), 1);
	const cs_detail *detail = instruction->detail;

	if (arch == CS_ARCH_ARM) {
		for (unsigned i = 0; i < detail->arm.op_count; i++)
			if (detail->arm.operands[i].type == ARM_OP_IMM)
				target = (uint32_t)detail->arm.operands[i].imm;
	} else {
		for (unsigned i = 0; i < detail->mips.op_count; i++)
			if (detail->mips.operands[i].type == MIPS_OP_IMM)
				target = (uint32_t)detail->mips.operands[i].imm;
	}
	cs_free(instruction, 1);
	return target;
}

void check_round_trip(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		      const struct reach_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct reach_case *row = &cases[i];
		struct litifut_instruction instruction;
		csh handle;
		int cs_architecture;
		int mode;
		/* All near ones, then ever larger odd jumps: every bit gets its turn. */
		uint64_t stride = row->step;

		decode_one(arch, context, row, &instruction);
		arch->cpu->disassembler(&context->cpu, row->state, &cs_architecture, &mode);
		assert_int_equal(cs_open((cs_arch)cs_architecture, (cs_mode)mode, &handle),
				 CS_ERR_OK);
		cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
		for (uint64_t entry = row->farthest_below; entry <= row->farthest_above;
		     entry += stride) {
			struct litifut_instruction again;
			uint8_t code[4];

			assert_true(arch->cpu->encode_call(&context->cpu, &instruction,
							   row->address, (uint32_t)entry, code));
			arch->cpu->decode(&context->cpu, code, 4, row->address, row->state, &again);
			assert_int_equal(again.class, LITIFUT_CLASS_CALL_DIRECT);
			assert_int_equal(again.target & ~1u, entry);
			assert_int_equal(again.conditional, instruction.conditional);
			assert_int_equal(
				capstone_target(handle, cs_architecture, code, row->address) & ~1u,
				entry);
			stride = (entry - row->farthest_below) / 997 / row->step * row->step +
				 row->step;
		}
		cs_close(&handle);
	}
}

#define SKIP_BYTES 65536u

/* A number for everything that a walk of `code` tells. */
static uint64_t walk(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		     enum litifut_code_state state, const uint8_t *code, bool skip)
{
	uint64_t before = 0;
	uint64_t sum = 0;
	uint32_t at = 0;

	while (at < SKIP_BYTES) {
		struct litifut_instruction found;
		unsigned length;

		if (skip)
			/* the parentheses: cmocka has a macro of this name */
			at += (arch->cpu->skip)(&context->cpu, code + at, SKIP_BYTES - at, state,
						&before);
		length = arch->cpu->decode(&context->cpu, code + at, SKIP_BYTES - at, at, state,
					   &found);
		if (!length)
			break;
		if (found.class != LITIFUT_CLASS_OTHER || found.link) {
			sum = sum * 31 + at;
			for (size_t i = 0; i < LITIFUT_REMEMBERED; i++)
				sum = sum * 31 + (before >> 8 * i & 0xff);
		}
		before = before << 8 | length;
		at += length;
	}
	return sum * 31 + at;
}

void check_skip(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		enum litifut_code_state state)
{
	static uint8_t code[SKIP_BYTES];
	uint64_t random = 1;

	for (unsigned round = 0; round < 64; round++) {
		for (size_t i = 0; i < sizeof(code); i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			code[i] = (uint8_t)(random >> 56);
		}
		assert_true(walk(arch, context, state, code, false) ==
			    walk(arch, context, state, code, true));
	}
}
