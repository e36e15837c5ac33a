/* Where code, symbols and data say that control can arrive other than from the
 * instruction before. */
#include "rewriter/code_targets.h"

#include <stdlib.h>

#include "rewriter/formed.h"
#include "rewriter/landing_pads.h"
#include "rewriter/program_code.h"

/* Where the branches and calls in one range lead to. */
static void add_branch_targets(const struct litifut_arch *arch,
			       const struct litifut_arch_context *context,
			       const struct litifut_section *section,
			       const struct litifut_code_range *range,
			       struct litifut_targets *targets)
{
	uint32_t address = range->start;
	struct litifut_instruction instruction;
	unsigned length = 1;

	while (range->state != LITIFUT_CODE_DATA && address < range->end && length) {
		const uint8_t *code = section->bytes + (address - section->address);
		uint64_t before = 0;
		uint32_t skipped =
			arch->cpu->skip ? arch->cpu->skip(&context->cpu, code, range->end - address,
							  range->state, &before)
					: 0;

		address += skipped;
		length = arch->cpu->decode(&context->cpu, code + skipped, range->end - address,
					   address, range->state, &instruction);
		if (length && litifut_has_target(&instruction))
			litifut_targets_add(targets, instruction.target);
		address += length;
	}
}

/* The branch targets of one section: those its code names, and table branches. */
static enum litifut_status
add_code_targets(const struct litifut_image *image, const struct litifut_arch *arch,
		 const struct litifut_arch_context *context, const struct litifut_section *section,
		 struct litifut_targets *targets, struct litifut_error *error)
{
	struct litifut_code_range *ranges = NULL;
	size_t count = 0;
	enum litifut_status status = arch->code_ranges(image, section, &ranges, &count, error);

	for (size_t i = 0; i < count && !status; i++)
		add_branch_targets(arch, context, section, &ranges[i], targets);
	if (!status && LITIFUT_ARCH_GET(arch, flow, add_targets))
		arch->flow->add_targets(image, context, section, ranges, count, targets);
	for (size_t i = 0; i < count && !status && LITIFUT_ARCH_GET(arch, flow, add_computed); i++)
		arch->flow->add_computed(image, section, &ranges[i], targets);
	free(ranges);
	return status;
}

enum litifut_status litifut_targets_of_data(const struct litifut_image *image,
					    const struct litifut_arch_context *context,
					    struct litifut_targets *targets,
					    struct litifut_error *error)
{
	enum litifut_status status =
		litifut_targets_create(image->text_start, image->text_end, targets, error);

	if (status)
		return status;
	litifut_targets_add_data(targets, image, &context->pointers);
	if (context->offset_base)
		litifut_targets_add_offsets(targets, image, &context->pointers,
					    context->offset_base);
	return LITIFUT_OK;
}

enum litifut_status litifut_targets_of_code(const struct litifut_image *image,
					    const struct litifut_arch *arch,
					    const struct litifut_arch_context *context,
					    struct litifut_targets *targets,
					    struct litifut_error *error)
{
	enum litifut_status status = litifut_targets_of_data(image, context, targets, error);

	for (size_t i = 1; i < image->section_count && !status; i++)
		if (litifut_sites_in(&image->sections[i]))
			status = add_code_targets(image, arch, context, &image->sections[i],
						  targets, error);
	if (!status)
		litifut_landing_pads_add(image, arch, targets);
	return status;
}

enum litifut_status litifut_targets_of_all(const struct litifut_image *image,
					   const struct litifut_arch *arch,
					   const struct litifut_arch_context *context,
					   struct litifut_targets *targets,
					   struct litifut_error *error)
{
	enum litifut_status status = litifut_targets_of_code(image, arch, context, targets, error);

	return status ? status : litifut_formed_add(image, arch, context, targets, error);
}
