/* AVR: the table that the rest of the host's programs see. */
#include <elf.h>
#include <string.h>

#include "cpu/avr/avr.h"

static uint32_t return_address(const struct litifut_instruction *instruction, uint32_t address)
{
	return address + instruction->length;
}

static uint32_t reach(const struct cpu_context *context,
		      const struct litifut_instruction *instruction)
{
	return instruction->length == 4 || litifut_avr_is_small(context) ? UINT32_MAX : 4094;
}

/* A pointer to a function beyond 128 KB, gs(function), is one to a jmp, which the linker puts
 * into the lower flash. Only there: a function may begin with a jmp as well. */
static struct litifut_lead follow(const struct litifut_code_reader *code, uint32_t address)
{
	struct litifut_lead lead = {LITIFUT_LEADS_NOWHERE, 0, 0};
	struct litifut_instruction jump;
	uint16_t halves[2];
	uint8_t bytes[4];

	if (!code->halfword(code->context, address, &halves[0]) ||
	    !code->halfword(code->context, address + 2, &halves[1]))
		return lead;
	for (unsigned i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(halves[i / 2] >> i % 2 * 8);
	litifut_avr_decode(&(struct cpu_context){0}, bytes, 4, address, LITIFUT_CODE_PLAIN, &jump);
	if (jump.class == LITIFUT_CLASS_BRANCH_DIRECT && jump.length == 4)
		lead = (struct litifut_lead){LITIFUT_LEADS_TO_CODE, jump.target, 4};
	return lead;
}

/* A call of 4 bytes is the best guess. */
static uint32_t site_before(uint32_t address)
{
	return address - 4;
}

static struct litifut_site site_of_entry(struct litifut_db_entry entry)
{
	struct litifut_site site = {.return_address = entry.return_address,
				    .instruction = entry.instruction};
	uint8_t code[4] = {0};
	struct litifut_instruction call;

	site.length = entry.instruction >> 16 ? 4 : 2;
	for (unsigned i = 0; i < site.length; i++)
		code[i] = (uint8_t)(entry.instruction >> (site.length / 2 - 1 - i / 2) * 16 >>
				    i % 2 * 8);
	litifut_avr_decode(&(struct cpu_context){0}, code, site.length,
			   entry.return_address - site.length, LITIFUT_CODE_PLAIN, &call);
	if (call.class == LITIFUT_CLASS_CALL_DIRECT)
		site.kind = LITIFUT_SITE_DIRECT;
	else if (call.class == LITIFUT_CLASS_CALL_INDIRECT)
		site.kind = LITIFUT_SITE_INDIRECT;
	site.callee = call.target;
	if (site.kind)
		site.address = entry.return_address - site.length;
	return site;
}

const struct cpu cpu_avr = {
	.machine = EM_AVR,
	.name = "avr",
	.title = "AVR",
	.debug_option = "-gdwarf-2", /* of -g older compilers make stabs */
	.linkage = {.follow = follow, .veneer_row = "__trampolines_start"},
	.objects = &litifut_objects_avr,
	.decode = litifut_avr_decode,
	.step = litifut_avr_step,
	.track = litifut_avr_track,
	.pushed = litifut_avr_pushed,
	.return_address = return_address,
	.reach = reach,
	.encode_call = litifut_avr_encode_call,
	.site_before = site_before,
	.site_of_entry = site_of_entry,
	.edge_call_bytes = {4},
	.interrupts_exactly = true,
};
