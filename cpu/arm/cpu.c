/* ARM, in A32 and T32 code: the table that the rest of the host's programs see. */
#include "cpu/arm/arm.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <string.h>

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name);
	size_t tail = strlen(end);

	return length >= tail && strcmp(name + length - tail, end) == 0;
}

static bool is_veneer(const char *name)
{
	if (!*name) /* Cortex-A8 erratum stubs of GNU ld */
		return true;
	if (ends_with(name, "$thunk")) /* mold */
		return true;
	return strncmp(name, "__", 2) == 0 &&
	       (ends_with(name, "_veneer") || ends_with(name, "_from_thumb") ||
		ends_with(name, "_from_arm") || ends_with(name, "_change_to_arm") ||
		strncmp(name, "__bx_r", 6) == 0 || strstr(name, "Thunk_"));
}

/* $a, $t, $d, also with a suffix such as $d.realdata (AAELF32 "Mapping symbols"). */
bool litifut_arm_mapping(const char *name, enum litifut_code_state *state)
{
	if (name[0] != '$' || !name[1] || (name[2] && name[2] != '.'))
		return false;
	switch (name[1]) {
	case 'a':
		*state = LITIFUT_CODE_PLAIN;
		return true;
	case 't':
		*state = LITIFUT_CODE_THUMB;
		return true;
	case 'd':
		*state = LITIFUT_CODE_DATA;
		return true;
	default:
		return false;
	}
}

static uint32_t return_address(const struct litifut_instruction *instruction, uint32_t address)
{
	return (address + instruction->length) | instruction->thumb;
}

static uint32_t reach(const struct cpu_context *context,
		      const struct litifut_instruction *instruction)
{
	if (!instruction->thumb)
		return (32u << 20) - 16;
	return ((litifut_arm_short_branches(context) ? 4u : 16u) << 20) - 16;
}

static void disassembler(const struct cpu_context *context, enum litifut_code_state state,
			 int *arch, int *mode)
{
	(void)context;
	*arch = CS_ARCH_ARM;
	*mode = (state == LITIFUT_CODE_THUMB ? CS_MODE_THUMB : CS_MODE_ARM) | CS_MODE_V8 |
		CS_MODE_LITTLE_ENDIAN;
}

static bool disassembled_target(const void *disassembled, uint32_t *target)
{
	const cs_insn *instruction = disassembled;
	const cs_arm *detail = &instruction->detail->arm;

	for (unsigned i = 0; i < detail->op_count; i++)
		if (detail->operands[i].type == ARM_OP_IMM) {
			*target = (uint32_t)detail->operands[i].imm;
			return instruction->id == ARM_INS_BL || instruction->id == ARM_INS_BLX ||
			       instruction->id == ARM_INS_B || instruction->id == ARM_INS_CBZ ||
			       instruction->id == ARM_INS_CBNZ;
		}
	return false;
}

const struct cpu cpu_arm = {
	.edge_call_bytes = {4 + 4,
			    2 + 4 + 4 + 2 + 4}, /* of an interrupt handler it is the second */
	.machine = EM_ARM,
	.name = "arm",
	.title = "ARM",
	.linkage = {.jump_slot = R_ARM_JUMP_SLOT,
		    .global_data = R_ARM_GLOB_DAT,
		    .indirect_function = R_ARM_IRELATIVE,
		    .byte_invariant_flag = EF_ARM_BE8,
		    .follow = litifut_arm_follow,
		    .is_veneer = is_veneer,
		    .mapping = litifut_arm_mapping},
	.objects = &litifut_objects_arm,
	.decode = litifut_arm_decode,
	.skip = litifut_arm_skip,
	.find_exclusive = litifut_arm_find_exclusive,
	.step = litifut_arm_step,
	.track = litifut_arm_track,
	.link = litifut_arm_link,
	.return_address = return_address,
	.reach = reach,
	.encode_call = litifut_arm_encode_call,
	.disassembler = disassembler,
	.disassembled_target = disassembled_target,
	.place_parameters = litifut_arm_place_parameters,
	.site_before = litifut_arm_site_before,
	.site_of_entry = litifut_arm_site_of_entry,
};
