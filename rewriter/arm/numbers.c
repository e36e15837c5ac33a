/* Instructions that the assembler did not know, and that their author has written as numbers
 * (OpenSSL's of AES), are data by the mapping symbols. They are code, to which the code before them
 * leads; literals are data, which code before them reads. */
#include "rewriter/arm/numbers.h"

#include "cpu/arm/arm.h"
#include "cpu/step.h"
#include "rewriter/arm/displaced.h"
#include "rewriter/arm/plain.h"
#include "rewriter/image.h"

/* The longest row of instructions that were assembled as numbers in the midst of code. */
#define NUMBERS_BYTES_MAX 64u

/* The length of a nop at the end of a range; 0: there is none. */
static unsigned filler_bytes(const struct litifut_section *section,
			     const struct litifut_code_range *range)
{
	const uint8_t *end = section->bytes + (range->end - section->address);

	if (range->state == LITIFUT_CODE_PLAIN)
		return litifut_get32(false, end - 4) == 0xe320f000 ||
				       litifut_get32(false, end - 4) == 0xe1a00000
			       ? 4
			       : 0;
	return litifut_get32(false, end - 4) == 0x8000f3af ? 4
	       : litifut_get16(false, end - 2) == 0xbf00   ? 2
							   : 0;
}

/* The instruction at the end of a range, if it has this length: does it lead to what follows? */
static bool leads_on(const struct litifut_section *section, const struct litifut_code_range *range,
		     unsigned length)
{
	static const struct cpu_context context;
	const uint32_t at = range->end - length;
	const uint8_t *code = section->bytes + (at - section->address);
	const uint32_t word = length == 4 ? litifut_get32(false, code) : litifut_get16(false, code);
	const bool thumb = range->state == LITIFUT_CODE_THUMB;
	struct cpu_step step;
	unsigned block = 0;

	if (thumb && (word & 0xffff) >> 11 < 0x1d ? length != 2 : length != 4)
		return true; /* no instruction begins there */
	if (thumb ? !word || word == 0x46c0 ||
			    (length == 2 && (word >> 8 == 0xbe || word >> 8 == 0xdf))
		  : !word || (word & 0x0ff000f0) == 0x01200070 || (word >> 24 & 15) == 15)
		return false; /* what fills up; bkpt; svc, which may be exit() */
	return litifut_arm_step(&context, code, length, at, range->state, &block, &step) ==
		       length &&
	       (step.way == LITIFUT_ENDS_ON || step.conditional);
}

/* A literal is read from so near. */
#define LITERAL_DISTANCE 4100u

/* Does the instruction at `at` read a literal in the data, or make its address? */
static bool reads(const struct litifut_section *section, const struct litifut_code_range *data,
		  bool thumb, uint32_t at, unsigned length)
{
	const uint8_t *code = section->bytes + (at - section->address);
	struct litifut_arm_displaced each = {at, litifut_get16(false, code), length};
	uint32_t operand;

	if (!thumb) {
		operand = litifut_arm_plain_operand(litifut_get32(false, code), at);
	} else {
		if (length == 4)
			each.instruction = each.instruction << 16 | litifut_get16(false, code + 2);
		operand = litifut_arm_analyse(&each).value;
	}
	return operand - data->start < data->end - data->start;
}

/* Does code before the data read it as literals? */
static bool is_literal_pool(const struct litifut_section *section,
			    const struct litifut_code_range *first,
			    const struct litifut_code_range *data)
{
	for (const struct litifut_code_range *range = data;
	     range-- > first && data->start - range->end < LITERAL_DISTANCE;) {
		const bool thumb = range->state == LITIFUT_CODE_THUMB;
		unsigned length;

		if (range->state == LITIFUT_CODE_DATA)
			continue;
		for (uint32_t at = range->start; at + (thumb ? 2 : 4) <= range->end; at += length) {
			const uint16_t half =
				litifut_get16(false, section->bytes + (at - section->address));

			length = thumb && half >> 11 < 0x1d ? 2 : 4;
			if (at + length <= range->end && data->start - at < LITERAL_DISTANCE &&
			    reads(section, data, thumb, at, length))
				return true;
		}
	}
	return false;
}

/* Is the data between two ranges of code made of instructions that were written as numbers? The
 * code before it leads to it. */
static bool is_assembled_as_numbers(const struct litifut_image *image,
				    const struct litifut_section *section,
				    const struct litifut_code_range *first,
				    const struct litifut_code_range *before)
{
	const struct litifut_code_range *data = before + 1;
	const bool thumb = before->state == LITIFUT_CODE_THUMB;
	struct litifut_code_range code;
	uint32_t at = data->start;
	unsigned fill;

	if (data->state != LITIFUT_CODE_DATA || before->state == LITIFUT_CODE_DATA ||
	    data[1].state != before->state || data->end - data->start > NUMBERS_BYTES_MAX ||
	    before->end - before->start < 4 || data[1].end - data[1].start < 4 ||
	    litifut_image_function_start(image, data->end))
		return false;
	while (at < data->end) {
		const uint16_t half =
			litifut_get16(false, section->bytes + (at - section->address));

		at += thumb && half >> 11 < 0x1d ? 2 : 4;
	}
	for (code = *before; code.end - code.start >= 8; code.end -= fill) {
		fill = filler_bytes(section, &code);
		if (!fill)
			break;
	}
	return at == data->end && !(data->start & (thumb ? 1 : 3)) && leads_on(section, &code, 4) &&
	       (!thumb || leads_on(section, &code, 2)) && !is_literal_pool(section, first, data);
}

void litifut_arm_join_numbers(const struct litifut_image *image,
			      const struct litifut_section *section,
			      struct litifut_code_range *ranges, size_t *count)
{
	size_t last = 0;

	for (size_t i = 1; i < *count; i++) {
		ranges[last + 1] = ranges[i];
		if (i + 1 < *count)
			ranges[last + 2] = ranges[i + 1];
		if (i + 1 < *count &&
		    is_assembled_as_numbers(image, section, ranges, &ranges[last]))
			ranges[last].end = ranges[++i].end;
		else
			last++;
	}
	*count = *count ? last + 1 : 0;
}
