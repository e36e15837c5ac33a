/* MIPS: the table that the rest of the host's programs see. */
#include "cpu/mips/mips.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <string.h>

/* Code of GNU ld and of lld that sets $t9 for a PIC callee. */
static bool is_veneer(const char *name)
{
	return strncmp(name, ".pic.", 5) == 0 ||
	       (strncmp(name, "__", 2) == 0 && strstr(name, "Thunk_"));
}

static uint32_t return_address(const struct litifut_instruction *instruction, uint32_t address)
{
	(void)instruction;
	return address + 8;
}

static uint32_t reach(const struct cpu_context *context,
		      const struct litifut_instruction *instruction)
{
	if (!context->position_independent && !instruction->conditional)
		return UINT32_MAX;
	return (128u << 10) - 16;
}

static void disassembler(const struct cpu_context *context, enum litifut_code_state state,
			 int *arch, int *mode)
{
	(void)state;
	*arch = CS_ARCH_MIPS;
	*mode = (int)(CS_MODE_MIPS32 |
		      (context->big_endian ? (unsigned)CS_MODE_BIG_ENDIAN : CS_MODE_LITTLE_ENDIAN));
}

static bool is_jump(unsigned id)
{
	static const unsigned jumps[] = {
		MIPS_INS_JAL,
		MIPS_INS_BAL,
		MIPS_INS_BGEZAL,
		MIPS_INS_BLTZAL,
		MIPS_INS_J,
		MIPS_INS_B,
		MIPS_INS_BEQ,
		MIPS_INS_BEQZ,
		MIPS_INS_BNE,
		MIPS_INS_BNEZ,
		MIPS_INS_BLEZ,
		MIPS_INS_BGTZ,
		MIPS_INS_BLTZ,
		MIPS_INS_BGEZ,
		MIPS_INS_BC1T,
		MIPS_INS_BC1F,
		/* the "likely" forms */
		MIPS_INS_BGEZALL,
		MIPS_INS_BLTZALL,
		MIPS_INS_BEQL,
		MIPS_INS_BNEL,
		MIPS_INS_BLEZL,
		MIPS_INS_BGTZL,
		MIPS_INS_BLTZL,
		MIPS_INS_BGEZL,
		MIPS_INS_BC1TL,
		MIPS_INS_BC1FL,
	};

	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++)
		if (jumps[i] == id)
			return true;
	return false;
}

static bool disassembled_target(const void *disassembled, uint32_t *target)
{
	const cs_insn *instruction = disassembled;
	const cs_mips *detail = &instruction->detail->mips;

	for (unsigned i = 0; i < detail->op_count; i++)
		if (detail->operands[i].type == MIPS_OP_IMM) {
			*target = (uint32_t)detail->operands[i].imm;
			return is_jump(instruction->id);
		}
	return false;
}

const struct cpu cpu_mips = {
	.edge_call_bytes = {36, 0},
	.machine = EM_MIPS,
	.name = "mips",
	.title = "MIPS",
	.linkage = {.jump_slot = R_MIPS_JUMP_SLOT,
		    .global_data = R_MIPS_GLOB_DAT,
		    .follow = litifut_mips_follow,
		    .is_veneer = is_veneer},
	.objects = &litifut_objects_mips,
	.decode = litifut_mips_decode,
	.skip = litifut_mips_skip,
	.find_exclusive = litifut_mips_find_exclusive,
	.step = litifut_mips_step,
	.leads_by_name = litifut_mips_leads_by_name,
	.track = litifut_mips_track,
	.return_address = return_address,
	.reach = reach,
	.encode_call = litifut_mips_encode_call,
	.disassembler = disassembler,
	.disassembled_target = disassembled_target,
	.place_parameters = litifut_mips_place_parameters,
	.site_before = litifut_mips_site_before,
	.site_of_entry = litifut_mips_site_of_entry,
};
