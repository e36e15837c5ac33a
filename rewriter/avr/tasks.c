/* Programs with several stacks. A function that makes room on its stack calculates the new stack
 * pointer from the old one, or has pushed that, or saved it in its frame, which Y points to if the
 * function has not set Y to something else; a kernel loads that of a task from elsewhere. */
#include <string.h>

#include "cpu/avr/avr.h"
#include "cpu/step.h"
#include "rewriter/avr/avr.h"

#define REGISTERS 32
#define Y_LOW 28 /* the lower half of Y */

/* May set it to anything, but its returns are not followed. */
static bool is_known(const struct litifut_symbol *function)
{
	return !strcmp(function->name, "longjmp");
}

/* What is known of the registers before an instruction. */
struct known {
	bool loaded[REGISTERS];   /* from memory that is not the function's frame */
	bool of_stack[REGISTERS]; /* the lower half of the stack pointer, or calculated from it */
	bool elsewhere;           /* Y does not point to the frame */
	bool pushed;              /* the function has pushed the old one, and may pop it */
};

static void move(struct known *known, unsigned to, unsigned from)
{
	known->loaded[to] = known->loaded[from];
	known->of_stack[to] = known->of_stack[from];
	if (to == Y_LOW)
		known->elsewhere = !known->of_stack[from];
}

static void load(struct known *known, uint16_t word, unsigned to)
{
	const bool of_frame = (word & 0xd208) == 0x8008; /* ldd of Y */
	const bool pop = (word & 0xfe0f) == 0x900f;

	known->loaded[to] = of_frame ? known->elsewhere : !pop || !known->pushed;
	known->of_stack[to] = false;
	if (to == Y_LOW && !of_frame && !pop)
		known->elsewhere = true;
}

static void look_at(struct known *known, uint16_t word)
{
	const unsigned to = word >> 4 & 31;

	if ((word & 0xfe00) == 0x9000 || (word & 0xd200) == 0x8000) { /* lds, ld, lpm, pop; ldd */
		load(known, word, to);
	} else if ((word & 0xfe0f) == 0x920f) { /* push */
		known->pushed |= known->of_stack[to];
	} else if ((word & 0xf800) == 0xb000) { /* in */
		known->loaded[to] = false;
		known->of_stack[to] = (word & 0xfe0f) == 0xb60d; /* of SPL */
		if (to == Y_LOW)
			known->elsewhere = !known->of_stack[to];
	} else if ((word & 0xfc00) == 0x2c00) { /* mov */
		move(known, to, (word & 0xf) | (word >> 5 & 0x10));
	} else if ((word & 0xff00) == 0x0100) { /* movw */
		move(known, 2 * (word >> 4 & 15), 2 * (word & 15));
		move(known, 2 * (word >> 4 & 15) + 1, 2 * (word & 15) + 1);
	}
}

/* Where the table for lpm ends that stands at the address, among code that was written by hand: at
 * the next label. */
static uint32_t table_end(const struct litifut_image *image, uint32_t at, uint32_t end)
{
	for (size_t i = 0; i < image->symbol_count; i++) {
		const uint32_t label = image->symbols[i].address;

		if (label > at + 1 && label < end)
			end = label & ~1u;
	}
	return end;
}

/* Does the code from `at` to before `end` load what it writes to the lower half of the stack
 * pointer? What stands behind a return or a jump is reached from elsewhere: what was loaded before
 * that (the registers that one way out of the function restores) does not count there.
 */
static bool loads_stack(const struct litifut_image *image, const struct litifut_section *section,
			const struct litifut_arch_context *context, uint32_t at, uint32_t end)
{
	struct known known = {0};
	struct cpu_step step;
	unsigned block = 0;

	for (uint32_t next; at + 2 <= end; at = next) {
		const uint8_t *code = section->bytes + (at - section->address);
		const uint16_t word = litifut_get16(false, code);

		if (litifut_avr_marks(context, at) & LITIFUT_AVR_BYTES) {
			known = (struct known){.pushed = known.pushed};
			next = table_end(image, at, end);
			continue;
		}
		if (!litifut_avr_step(&context->cpu, code, end - at, at, LITIFUT_CODE_PLAIN, &block,
				      &step))
			break;
		next = at + step.length;
		if ((word & 0xfe0f) == 0xbe0d && known.loaded[word >> 4 & 31]) /* out SPL */
			return true;
		look_at(&known, word);
		if (step.way != LITIFUT_ENDS_ON && step.way != LITIFUT_ENDS_CALL &&
		    !step.conditional)
			known = (struct known){.pushed = known.pushed};
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
		    loads_stack(image, section, context, function->address,
				function->address + function->size))
			return true;
	}
	return false;
}
