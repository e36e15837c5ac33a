/* Capstone says what the new instructions are. */
#include "rewriter/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <capstone/capstone.h>

#include "cpu/step.h"

/* How many of the new calls capstone is asked about, evenly spread: it takes ten
 * times as long for one as all else together, and a mistake would be in many of them. */
#define DISASSEMBLED 2000

/* What the decoders of cpu/ make of it: only step() has the branches of coprocessors. */
static bool leads_to(const struct litifut_session *session, const struct litifut_change *change)
{
	const struct cpu *cpu = session->arch->cpu;
	const struct cpu_context *context = &session->context.cpu;
	const enum litifut_code_state state = (enum litifut_code_state)change->state;
	struct litifut_instruction instruction;
	struct cpu_step step;
	unsigned conditional = 0;

	if (!cpu->decode(context, change->code, change->length, change->address, state,
			 &instruction))
		return false;
	if (instruction.class == LITIFUT_CLASS_CALL_DIRECT ||
	    instruction.class == LITIFUT_CLASS_BRANCH_DIRECT)
		return (instruction.target & ~1u) == change->entry;
	return cpu->step &&
	       cpu->step(context, change->code, change->length, change->address, state,
			 &conditional, &step) &&
	       step.way == LITIFUT_ENDS_BRANCH && (step.target & ~1u) == change->entry;
}

/* What capstone makes of it; a detour may leave a nop behind the branch. */
static bool reads_as_call(const struct cpu *cpu, csh handle, const struct litifut_change *change,
			  cs_insn *instruction)
{
	const uint8_t *code = change->code;
	size_t left = change->length;
	uint64_t address = change->address;
	uint32_t target;

	return cs_disasm_iter(handle, &code, &left, &address, instruction) &&
	       cpu->disassembled_target(instruction, &target) && (target & ~1u) == change->entry;
}

static enum litifut_status wrong_call(const struct litifut_session *session,
				      const struct litifut_change *change,
				      struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_INTERNAL, session->image.path, NULL,
				 change->address, "the new call does not lead to the tracer");
}

/* By the decoder that found the calls alone. */
static enum litifut_status check_targets(const struct litifut_session *session,
					 const struct litifut_changes *changes,
					 enum litifut_code_state state, struct litifut_error *error)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct litifut_change *change = &changes->items[i];

		if (change->state == state && change->entry && !leads_to(session, change))
			return wrong_call(session, change, error);
	}
	return LITIFUT_OK;
}

/* Capstone does not look whether there was memory. */
static jmp_buf without_memory;

static void *needed(void *memory)
{
	if (!memory)
		longjmp(without_memory, 1);
	return memory;
}

static void *needed_malloc(size_t size)
{
	return needed(malloc(size));
}

static void *needed_calloc(size_t count, size_t size)
{
	return needed(calloc(count, size));
}

static void *needed_realloc(void *memory, size_t size)
{
	return needed(realloc(memory, size));
}

static enum litifut_status ask_capstone(const struct litifut_session *session,
					const struct litifut_changes *changes,
					enum litifut_code_state state, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;
	const size_t step = changes->count / DISASSEMBLED + 1;
	cs_insn *instruction;
	int arch;
	int mode;
	csh handle;

	session->arch->cpu->disassembler(&session->context.cpu, state, &arch, &mode);
	if (cs_open((cs_arch)arch, (cs_mode)mode, &handle) != CS_ERR_OK)
		return litifut_error_set(error, LITIFUT_ERROR_INTERNAL, session->image.path, NULL,
					 LITIFUT_NO_ADDRESS, "capstone does not know this CPU");
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	instruction = cs_malloc(handle);
	for (size_t i = 0; i < changes->count && !status; i++) {
		const struct litifut_change *change = &changes->items[i];

		if (change->state != state || !change->entry)
			continue;
		if (!leads_to(session, change) ||
		    (i % step == 0 &&
		     !reads_as_call(session->arch->cpu, handle, change, instruction)))
			status = wrong_call(session, change, error);
	}
	cs_free(instruction, 1);
	cs_close(&handle);
	return status;
}

static enum litifut_status check_calls(const struct litifut_session *session,
				       const struct litifut_changes *changes,
				       enum litifut_code_state state, struct litifut_error *error)
{
	cs_opt_mem memory = {.malloc = needed_malloc,
			     .calloc = needed_calloc,
			     .realloc = needed_realloc,
			     .free = free,
			     .vsnprintf = vsnprintf};

	if (!session->arch->cpu->disassembler)
		return check_targets(session, changes, state, error);
	cs_option(0, CS_OPT_MEM, (size_t)&memory);
	if (setjmp(without_memory))
		return litifut_error_memory(error, session->image.path);
	return ask_capstone(session, changes, state, error);
}

enum litifut_status litifut_verify(const struct litifut_session *session,
				   const struct litifut_changes *changes,
				   struct litifut_error *error)
{
	enum litifut_status status = check_calls(session, changes, LITIFUT_CODE_PLAIN, error);

	return status ? status : check_calls(session, changes, LITIFUT_CODE_THUMB, error);
}
