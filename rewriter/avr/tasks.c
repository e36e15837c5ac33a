/* Programs with several stacks. A function that makes room on its stack calculates the new stack
 * pointer from the old one, or has saved that in its frame, which Y points to; a kernel loads that
 * of a task from elsewhere. */
#include <string.h>

#include "cpu/avr/avr.h"
#include "cpu/step.h"
#include "rewriter/avr/avr.h"

#define REGISTERS 32

/* May set it to anything, but its returns are not followed. */
static bool is_known(const struct litifut_symbol *function)
{
	return !strcmp(function->name, "longjmp");
}

/* Does the code from `at` to before `end` load what it writes to the lower half of the stack
 * pointer? What stands behind a return or a jump is reached from elsewhere: what was loaded before
 * that (the registers that one way out of the function restores) does not count there.
 */
static bool loads_stack(const struct litifut_section *section,
			const struct litifut_arch_context *context, uint32_t at, uint32_t end)
{
	bool loaded[REGISTERS] = {false};
	struct cpu_step step;
	unsigned block = 0;

	for (; at + 2 <= end; at += step.length) {
		const uint8_t *code = section->bytes + (at - section->address);
		const uint16_t word = litifut_get16(false, code);
		const unsigned written = word >> 4 & 31;

		if (!litifut_avr_step(&context->cpu, code, end - at, at, LITIFUT_CODE_PLAIN, &block,
				      &step))
			break;
		if ((word & 0xfe0f) == 0xbe0d && loaded[written]) /* out SPL */
			return true;
		if ((word & 0xfe00) == 0x9000) /* lds, ld, lpm, pop */
			loaded[written] = true;
		else if ((word & 0xd200) == 0x8000) /* ldd: of Z, or Y */
			loaded[written] = !(word & 8);
		else if ((word & 0xf800) == 0xb000) /* in */
			loaded[written] = false;
		else if ((word & 0xfc00) == 0x2c00) /* mov */
			loaded[written] = loaded[(word & 0xf) | (word >> 5 & 0x10)];
		else if ((word & 0xff00) == 0x0100) { /* movw */
			loaded[2 * (word >> 4 & 15)] = loaded[2 * (word & 15)];
			loaded[2 * (word >> 4 & 15) + 1] = loaded[2 * (word & 15) + 1];
		}
		if (step.way != LITIFUT_ENDS_ON && step.way != LITIFUT_ENDS_CALL &&
		    !step.conditional)
			memset(loaded, 0, sizeof(loaded));
	}
	return false;
}

bool litifut_avr_changes_tasks(const struct litifut_image *image,
			       const struct litifut_arch_context *context)
{
	for (size_t i = 0; i < image->function_count; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];
		const struct litifut_section *section;

		if (function->own || is_known(function) ||
		    function->section >= image->section_count)
			continue;
		section = &image->sections[function->section];
		if (section->bytes && function->address >= section->address &&
		    function->size <= section->size &&
		    function->address - section->address <= section->size - function->size &&
		    loads_stack(section, context, function->address,
				function->address + function->size))
			return true;
	}
	return false;
}
