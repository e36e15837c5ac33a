/* The table of cases that every CPU's decoder and encoder must pass, and the
 * functions that run it: ARM and MIPS bring their rows, the questions are the
 * same. */
#ifndef LITIFUT_TESTS_REWRITER_CASES_H
#define LITIFUT_TESTS_REWRITER_CASES_H

#include <stddef.h>
#include <stdint.h>

#include "rewriter/arch.h"

struct decode_case {
	const char *mnemonic;
	uint32_t address;
	uint32_t word; /* 32-bit T32: first halfword << 16 | second */
	enum litifut_code_state state;
	unsigned length;
	enum litifut_instruction_class class;
	uint32_t target;
	unsigned target_register;
	int conditional;
};

/* A call, and entry points that are just within and just out of its reach. */
struct reach_case {
	const char *mnemonic;
	uint32_t address;
	uint32_t word;
	enum litifut_code_state state;
	uint32_t farthest_below;
	uint32_t farthest_above;
	uint32_t step; /* distance between two addresses that can be entries */
};

/* Which calls must be left, and why: `following` is the word after the call. */
struct refuse_case {
	const char *mnemonic;
	uint32_t address;
	uint32_t word;
	enum litifut_code_state state;
	uint32_t following;
	const char *callee;
	unsigned reason; /* enum litifut_site_reason */
};

/* Writes `word` as it would stand in an image; returns its length. */
unsigned put_instruction(const struct litifut_arch_context *context, uint32_t word,
			 enum litifut_code_state state, uint8_t *bytes);

void check_decode(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		  const struct decode_case *cases, size_t count);
void check_reach(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		 const struct reach_case *cases, size_t count);
void check_refuse(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		  const struct refuse_case *cases, size_t count);

/* Code of all kinds of words in `state` is walked by decode() alone and with
 * skip(): both find the same, and the same lengths before each. */
void check_skip(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		enum litifut_code_state state);

/* Every distance that the replacement call can express (in steps, thinned out
 * in the middle) decodes back to what was encoded, by our decoder and by
 * capstone. */
void check_round_trip(const struct litifut_arch *arch, const struct litifut_arch_context *context,
		      const struct reach_case *cases, size_t count);

#endif
