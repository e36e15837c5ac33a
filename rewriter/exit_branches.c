#include "rewriter/exit_branches.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code_targets.h"
#include "rewriter/formed.h"
#include "rewriter/landing_pads.h"
#include "rewriter/program_code.h"

static bool add(struct litifut_exit_branches *branches, const struct litifut_exit_branch *branch)
{
	if (branches->count == branches->capacity) {
		const size_t capacity = 2 * branches->capacity + 256;
		void *items = realloc(branches->items, capacity * sizeof(*branches->items));

		if (!items)
			return false;
		branches->items = items;
		branches->capacity = capacity;
	}
	branches->items[branches->count++] = *branch;
	return true;
}

/* The branches of one range that lead to a place of `wanted`. */
static bool add_range(const struct litifut_session *session, size_t section,
		      const struct litifut_code_range *range, const struct litifut_targets *wanted,
		      struct litifut_exit_branches *branches)
{
	const struct litifut_arch *arch = session->arch;
	const struct litifut_section *code = &session->image.sections[section];
	struct litifut_instruction instruction;
	unsigned length = 1;

	for (uint32_t at = range->start; at < range->end && length; at += length) {
		const uint32_t left = range->end - at;

		length =
			arch->cpu->decode(&session->context.cpu, code->bytes + (at - code->address),
					  left, at, range->state, &instruction);
		if (!length)
			break;
		if (arch->returns->branch_at)
			instruction = arch->returns->branch_at(&session->context, code, at);
		if (!litifut_has_target(&instruction) ||
		    !litifut_targets_has(wanted, instruction.target))
			continue;
		const struct litifut_exit_branch branch = {
			.target = instruction.target & ~1u,
			.address = at,
			.section = (uint16_t)section,
			.state = (uint8_t)range->state,
			.length = (uint8_t)length,
			.is_call = instruction.class != LITIFUT_CLASS_BRANCH_DIRECT,
		};
		if (!add(branches, &branch))
			return false;
	}
	return true;
}

/* The branches of one section, and the tables in it. */
static enum litifut_status add_section(const struct litifut_session *session, size_t number,
				       const struct litifut_targets *wanted,
				       struct litifut_exit_branches *branches,
				       struct litifut_error *error)
{
	const struct litifut_arch *arch = session->arch;
	const struct litifut_section *section = &session->image.sections[number];
	struct litifut_code_range *ranges = NULL;
	size_t count = 0;
	enum litifut_status status =
		arch->code_ranges(&session->image, section, &ranges, &count, error);

	for (size_t i = 0; i < count && !status; i++)
		if (ranges[i].state != LITIFUT_CODE_DATA &&
		    !add_range(session, number, &ranges[i], wanted, branches))
			status = litifut_error_memory(error, session->image.path);
	if (!status && LITIFUT_ARCH_GET(arch, flow, add_targets))
		arch->flow->add_targets(&session->image, &session->context, section, ranges, count,
					&branches->labels);
	free(ranges);
	return status;
}

static int by_target(const void *left, const void *right)
{
	const struct litifut_exit_branch *a = left;
	const struct litifut_exit_branch *b = right;

	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

enum litifut_status litifut_exit_branches_find(const struct litifut_session *session,
					       struct litifut_exit_branches *branches,
					       struct litifut_error *error)
{
	const struct litifut_image *image = &session->image;
	struct litifut_targets wanted = {0};
	enum litifut_status status;

	memset(branches, 0, sizeof(*branches));
	status = litifut_targets_of_data(image, &session->context, &branches->labels, error);
	if (!status)
		status = litifut_targets_create(image->text_start, image->text_end, &wanted, error);
	for (size_t i = 0; i < session->exits.count && !status; i++)
		for (uint32_t at = 0; at < LITIFUT_EXIT_BYTES_MAX; at += 2)
			litifut_targets_add(&wanted, session->exits.items[i].address + at);
	for (size_t i = 1; i < image->section_count && !status; i++)
		if (litifut_sites_in(&image->sections[i]))
			status = add_section(session, i, &wanted, branches, error);
	if (!status)
		litifut_landing_pads_add(image, session->arch, &branches->labels);
	if (!status)
		status = litifut_formed_labels(image, session->arch, &session->context,
					       &branches->labels, NULL, error);
	if (branches->count)
		qsort(branches->items, branches->count, sizeof(*branches->items), by_target);
	litifut_targets_release(&wanted);
	return status;
}

const struct litifut_exit_branch *
litifut_exit_branches_to(const struct litifut_exit_branches *branches, uint32_t target)
{
	size_t low = 0;
	size_t high = branches->count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (branches->items[middle].target < target)
			low = middle + 1;
		else
			high = middle;
	}
	return low < branches->count && branches->items[low].target == target
		       ? &branches->items[low]
		       : NULL;
}

bool litifut_exit_branch_is_in(const struct litifut_targets *set,
			       const struct litifut_exit_branch *branch)
{
	for (uint32_t at = 0; at < branch->length; at += 2)
		if (litifut_targets_has(set, branch->address + at))
			return true;
	return false;
}

bool litifut_exit_branch_lead(const struct litifut_session *session,
			      const struct litifut_exit_branch *branch, uint32_t target,
			      uint8_t *code)
{
	const struct litifut_section *section = &session->image.sections[branch->section];

	memcpy(code, section->bytes + (branch->address - section->address), branch->length);
	return session->arch->returns->lead_branch(&session->context,
						   (enum litifut_code_state)branch->state,
						   branch->address, branch->length, target, code);
}

/* The next one that leads to the same place, or NULL. */
const struct litifut_exit_branch *
litifut_exit_branch_next(const struct litifut_exit_branches *branches,
			 const struct litifut_exit_branch *branch)
{
	const struct litifut_exit_branch *each = branch + 1;

	return each < branches->items + branches->count && each->target == branch->target ? each
											  : NULL;
}

const struct litifut_exit_branch *
litifut_exit_branch_first(const struct litifut_exit_branches *branches,
			  const struct litifut_exit *exit)
{
	return litifut_exit_branches_to(branches, exit->address + exit->inner);
}

void litifut_exit_branches_release(struct litifut_exit_branches *branches)
{
	litifut_targets_release(&branches->labels);
	free(branches->items);
	memset(branches, 0, sizeof(*branches));
}
