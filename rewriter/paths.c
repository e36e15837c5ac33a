/* What is recorded besides branches. In code that can be followed, a call leads to its callee and a
 * return back; for all else a record follows, which the reader finds next:
 *
 * - A block to which a table, a pointer or an exception may lead is recorded by its address, and so
 *   is a function that is called by code that can't be followed.
 * - Behind a call of such code a bit says that it has returned, so that whatever it calls has its
 *   place, and nothing is taken for executed that stands behind exit(). Where the block behind the
 *   call has no room for that, a later one has it, or it is done without. */
#include "rewriter/paths.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/step.h"
#include "rewriter/program_code.h"
#include "rewriter/twice.h"

/* The block that has the code at `address`, or NULL. */
static const struct litifut_graph_block *block_of(const struct litifut_graph *graph,
						  uint32_t address)
{
	size_t low = 0, high = graph->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (graph->items[middle].block.start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < graph->items[low - 1].block.end ? &graph->items[low - 1] : NULL;
}

static void add_range(struct litifut_paths *paths, const struct litifut_section *section,
		      const struct litifut_code_range *range)
{
	const struct litifut_session *session = paths->session;
	struct cpu_step step;
	unsigned conditional = 0;
	unsigned length = 1;

	for (uint32_t at = range->start; at < range->end && length; at += length) {
		length = session->arch->cpu->step(
			&session->context.cpu, section->bytes + (at - section->address),
			range->end - at, at, range->state, &conditional, &step);
		if (length && step.target && !block_of(paths->graph, at))
			litifut_targets_add(&paths->reached, step.target);
	}
}

/* Removes the ranges of the tracer, which forms no address of the program's code: literals of it
 * that happen to be near would make functions look as if a pointer led to them. Returns how many
 * stay. */
static size_t leave_tracer(const struct litifut_image *image, struct litifut_code_range *ranges,
			   size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		const struct litifut_symbol *function =
			litifut_image_function_at(image, ranges[i].start);

		if (!function || !function->own)
			ranges[left++] = ranges[i];
	}
	return left;
}

/* Where code that is not in the graph leads, and the addresses that all code forms. */
static enum litifut_status add_code(struct litifut_paths *paths, struct litifut_error *error)
{
	const struct litifut_session *session = paths->session;
	const struct litifut_image *image = &session->image;
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 1; i < image->section_count && !status; i++) {
		const struct litifut_section *section = &image->sections[i];
		struct litifut_code_range *ranges = NULL;
		size_t count = 0;

		if (!(section->flags & SHF_EXECINSTR) || !section->bytes)
			continue;
		status = session->arch->code_ranges(image, section, &ranges, &count, error);
		for (size_t j = 0; j < count && !status; j++)
			if (ranges[j].state == LITIFUT_CODE_PLAIN ||
			    ranges[j].state == LITIFUT_CODE_THUMB)
				add_range(paths, section, &ranges[j]);
		if (!status && paths->add_addresses)
			paths->add_addresses(image, &session->context, section, ranges,
					     leave_tracer(image, ranges, count), &paths->outer);
		free(ranges);
	}
	return status;
}

/* What the dynamic linker calls when the module is loaded and when it goes. */
static void add_first_and_last(struct litifut_paths *paths)
{
	const struct litifut_image *image = &paths->session->image;
	const struct litifut_section *dynamic = litifut_image_section(image, ".dynamic");

	for (uint32_t at = 0; dynamic && dynamic->bytes && at + 8 <= dynamic->size; at += 8) {
		const uint32_t tag = litifut_get32(image->file.big_endian, dynamic->bytes + at);

		if (tag == DT_INIT || tag == DT_FINI)
			litifut_targets_add(&paths->outer, litifut_get32(image->file.big_endian,
									 dynamic->bytes + at + 4));
	}
}

/* What other modules may call, and what the C library and the dynamic linker do. */
static void add_exports(struct litifut_paths *paths)
{
	const struct litifut_image *image = &paths->session->image;
	const struct litifut_section *symbols = litifut_image_section(image, ".dynsym");

	for (uint32_t at = 0; symbols && symbols->bytes && at + sizeof(Elf32_Sym) <= symbols->size;
	     at += sizeof(Elf32_Sym)) {
		const uint8_t *symbol = symbols->bytes + at;

		if (litifut_get16(image->file.big_endian, symbol + offsetof(Elf32_Sym, st_shndx)) !=
		    SHN_UNDEF)
			litifut_targets_add(&paths->outer,
					    litifut_get32(image->file.big_endian,
							  symbol + offsetof(Elf32_Sym, st_value)));
	}
	add_first_and_last(paths);
	litifut_targets_add(&paths->outer, image->file.entry);
	for (size_t i = 0; i < image->function_count; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];

		/* _init, _start and others that are reached by entries of .dynamic */
		if (function->name[0] == '_' && function->binding != STB_LOCAL)
			litifut_targets_add(&paths->outer, function->address);
	}
}

static void find_callers_of_twice(struct litifut_paths *paths)
{
	const struct litifut_session *session = paths->session;
	const struct litifut_graph_block *items = paths->graph->items;

	for (size_t first = 0, end; first < paths->graph->count; first = end) {
		for (end = first + 1;
		     end < paths->graph->count && items[end].function == items[first].function;)
			end++;
		paths->calls_twice[items[first].function] = paths->may_call(
			&session->image, &session->context,
			&session->image.sections[items[first].section], items[first].block.start,
			items[end - 1].block.end, 0, litifut_returns_twice);
	}
}

enum litifut_status litifut_paths_start(const struct litifut_session *session,
					struct litifut_graph *graph,
					litifut_add_addresses *add_addresses,
					litifut_may_call *may_call, struct litifut_paths *paths,
					struct litifut_error *error)
{
	const struct litifut_image *image = &session->image;
	enum litifut_status status;

	*paths = (struct litifut_paths){.session = session,
					.graph = graph,
					.add_addresses = add_addresses,
					.may_call = may_call};
	paths->left = calloc(graph->count + 1, 1);
	paths->later = calloc(graph->count + 1, 1);
	paths->wanted = calloc(graph->count + 1, 1);
	paths->ends = calloc(image->symbol_count + 2, 1);
	paths->calls_twice = calloc(image->symbol_count + 2, 1);
	if (!paths->left || !paths->later || !paths->wanted || !paths->ends || !paths->calls_twice)
		return litifut_error_memory(error, image->path);
	status = litifut_targets_create(image->text_start, image->text_end, &paths->outer, error);
	if (!status)
		status = litifut_targets_create(image->text_start, image->text_end, &paths->reached,
						error);
	if (status)
		return status;
	litifut_spawners_named(image, &session->arch->cpu->linkage, litifut_returns_twice,
			       &paths->twice);
	if (paths->twice.used && may_call)
		find_callers_of_twice(paths);
	litifut_targets_add_pointers(&paths->outer, image, &session->context.pointers);
	if (session->context.offset_base)
		litifut_targets_add_offsets(&paths->outer, image, &session->context.pointers,
					    session->context.offset_base);
	add_exports(paths);
	return add_code(paths, error);
}

void litifut_paths_release(struct litifut_paths *paths)
{
	litifut_targets_release(&paths->outer);
	litifut_targets_release(&paths->reached);
	free(paths->left);
	free(paths->later);
	free(paths->wanted);
	free(paths->ends);
	free(paths->calls_twice);
}

void litifut_paths_leave(struct litifut_paths *paths, size_t block)
{
	const struct litifut_graph_block *items = paths->graph->items;
	size_t first = block;

	while (first && items[first - 1].function == items[block].function)
		first--;
	for (; first < paths->graph->count && items[first].function == items[block].function;
	     first++)
		paths->left[first] = 1;
}

/* The block at `address` if control can be followed there, or NULL. */
static const struct litifut_graph_block *followed(const struct litifut_paths *paths,
						  uint32_t address)
{
	const struct litifut_graph_block *block = litifut_graph_at(paths->graph, address & ~1u);

	return block && !paths->left[block - paths->graph->items] ? block : NULL;
}

static bool goes_on(const struct litifut_graph_block *block)
{
	return block->block.ends == LITIFUT_ENDS_ON || block->block.ends == LITIFUT_ENDS_CALL ||
	       block->block.flags & LITIFUT_BLOCK_CONDITIONAL;
}

/* May the way from a block of `function` to `address` end in code that is not known? */
static bool leads_out(const struct litifut_paths *paths, uint32_t function, uint32_t address)
{
	const struct litifut_graph_block *to = followed(paths, address);

	return !to || (to->function != function && paths->ends[to->function]);
}

static void find_ends(struct litifut_paths *paths)
{
	const struct litifut_graph *graph = paths->graph;
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < graph->count; i++) {
			const struct litifut_graph_block *block = &graph->items[i];
			const struct litifut_block *at = &block->block;

			if (paths->left[i] || paths->ends[block->function])
				continue;
			if (at->ends == LITIFUT_ENDS_JUMP ||
			    (at->ends == LITIFUT_ENDS_BRANCH &&
			     leads_out(paths, block->function, at->target)) ||
			    (goes_on(block) && leads_out(paths, block->function, at->end))) {
				paths->ends[block->function] = 1;
				changed = true;
			}
		}
	}
}

/* Where the code of functions that are left leads to. */
static void add_left(struct litifut_paths *paths)
{
	const struct litifut_graph *graph = paths->graph;

	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];

		if (!paths->left[i])
			continue;
		if (block->block.target)
			litifut_targets_add(&paths->reached, block->block.target);
		if (goes_on(block))
			litifut_targets_add(&paths->reached, block->block.end);
	}
}

static bool returns_twice(const struct litifut_paths *paths,
			  const struct litifut_graph_block *block)
{
	const struct litifut_session *session = paths->session;
	const struct litifut_graph_block *items = paths->graph->items;
	size_t first = (size_t)(block - items);
	size_t end = first + 1;

	if (block->block.target)
		return litifut_spawners_has(&paths->twice, block->block.target);
	if (!paths->calls_twice[block->function])
		return false;
	while (first && items[first - 1].function == block->function)
		first--;
	while (end < paths->graph->count && items[end].function == block->function)
		end++;
	return paths->may_call(&session->image, &session->context,
			       &session->image.sections[block->section], items[first].block.start,
			       items[end - 1].block.end, block->block.branch,
			       litifut_returns_twice);
}

#define BEHIND_MOST 16 /* blocks */

/* The block behind a call has no room to record that the call has returned. The next one on the
 * way does that, unless the way comes to a decision of its own first. */
static void want_later(struct litifut_paths *paths, const struct litifut_graph_block *block)
{
	const struct litifut_graph_block *items = paths->graph->items;
	const struct litifut_graph_block *found = NULL;

	for (unsigned steps = 0; steps < BEHIND_MOST; steps++) {
		if (block->block.flags & LITIFUT_BLOCK_CONDITIONAL)
			return;
		block = block->block.ends == LITIFUT_ENDS_ON ? followed(paths, block->block.end)
			: block->block.ends == LITIFUT_ENDS_BRANCH
				? followed(paths, block->block.target)
				: NULL;
		if (!block || block->block.flags & LITIFUT_BLOCK_FUNCTION)
			break;
		if (paths->wanted[block - items] &&
		    block->block.entered_reason == LITIFUT_SITE_PATCHED)
			return;
		if (!found && block->block.entered_reason == LITIFUT_SITE_PATCHED)
			found = block;
	}
	if (found)
		paths->wanted[found - items] = LITIFUT_ENTERED_BIT;
}

/* Must the start of the block be recorded for other reasons than that it is a label? */
static bool wants_itself(const struct litifut_paths *paths, const struct litifut_graph_block *block)
{
	return litifut_targets_has(&paths->reached, block->block.start) ||
	       block->block.flags & LITIFUT_BLOCK_FUNCTION;
}

/* May the block that is `blocks` behind a label record it? Control must come by the label to all in
 * between, and by no other. */
static bool may_put_off(const struct litifut_paths *paths, size_t number, unsigned blocks)
{
	const struct litifut_graph *graph = paths->graph;
	const struct litifut_graph_block *label = &graph->items[number];

	if (number + blocks >= graph->count || !(label->block.flags & LITIFUT_BLOCK_LABEL) ||
	    wants_itself(paths, label))
		return false;
	for (const struct litifut_graph_block *block = label; block < label + blocks; block++) {
		const struct litifut_graph_block *next = block + 1;

		if (block->block.ends != LITIFUT_ENDS_ON || next->block.start != block->block.end ||
		    next->function != label->function || next->block.flags & LITIFUT_BLOCK_LABEL ||
		    wants_itself(paths, next))
			return false;
	}
	return true;
}

bool litifut_paths_put_off(struct litifut_paths *paths)
{
	const struct litifut_graph *graph = paths->graph;
	bool found = false;

	for (size_t i = 0; i < graph->count; i++) {
		const size_t last = i + paths->later[i];

		if (paths->left[i] || paths->wanted[last] != LITIFUT_ENTERED_RECORD ||
		    graph->items[last].block.entered_reason == LITIFUT_SITE_PATCHED ||
		    paths->later[i] == LITIFUT_LATER_MOST ||
		    !may_put_off(paths, i, paths->later[i] + 1u) ||
		    paths->wanted[last + 1] == LITIFUT_ENTERED_RECORD)
			continue;
		paths->later[i]++;
		found = true;
	}
	return found;
}

/* Does a function begin behind the one block and not behind the other? */
static bool is_apart(const struct litifut_graph *graph, size_t one, size_t other)
{
	const size_t last = one < other ? other : one;

	for (size_t i = (one < other ? one : other) + 1; i <= last; i++)
		if (graph->items[i].block.flags & LITIFUT_BLOCK_FUNCTION)
			return true;
	return false;
}

/* The block that follows in the function whatever happens, or NULL. */
static const struct litifut_graph_block *only_next(const struct litifut_paths *paths, size_t block)
{
	const struct litifut_graph *graph = paths->graph;
	const struct litifut_block *at = &graph->items[block].block;
	const struct litifut_graph_block *next = NULL;

	if (at->flags & LITIFUT_BLOCK_CONDITIONAL)
		return NULL;
	if (at->ends == LITIFUT_ENDS_BRANCH)
		next = followed(paths, at->target);
	else if (at->ends == LITIFUT_ENDS_ON || at->ends == LITIFUT_ENDS_CALL)
		next = followed(paths, at->end);
	return next && !is_apart(graph, block, (size_t)(next - graph->items)) ? next : NULL;
}

#define ROUND_MOST 256 /* blocks */

/* Is the block in a loop in which nothing is decided, but something called? Then its rounds have to
 * be recorded where one begins: that is the first of its blocks. */
static bool begins_round(const struct litifut_paths *paths, size_t block)
{
	const struct litifut_graph_block *start = &paths->graph->items[block];
	const struct litifut_graph_block *at = start;
	bool calls = false;

	/* the way may lead into another loop, and stay there */
	for (unsigned steps = 0; steps < ROUND_MOST; steps++) {
		calls |= at->block.ends == LITIFUT_ENDS_CALL;
		at = only_next(paths, (size_t)(at - paths->graph->items));
		if (!at || at <= start)
			return at == start && calls;
	}
	return false;
}

/* LITIFUT_MODE=balllarus: the start of each function is recorded, and each block to which control
 * comes but by the edges of its function. */
static void want_numbers(struct litifut_paths *paths)
{
	const struct litifut_graph *graph = paths->graph;

	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];
		const struct litifut_graph_block *to =
			paths->left[i] ? NULL : followed(paths, block->block.target);

		/* a call of a part of the same function, too, as in assembly */
		if (to && (block->block.ends == LITIFUT_ENDS_CALL ||
			   (block->block.ends == LITIFUT_ENDS_BRANCH &&
			    is_apart(graph, i, (size_t)(to - graph->items)))))
			litifut_targets_add(&paths->reached, block->block.target);
	}
	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];
		const struct litifut_graph_block *next;

		if (paths->left[i])
			continue;
		if (block->block.flags & (LITIFUT_BLOCK_LABEL | LITIFUT_BLOCK_FUNCTION) ||
		    litifut_targets_has(&paths->reached, block->block.start))
			paths->wanted[i] = LITIFUT_ENTERED_RECORD;
		else if (!paths->wanted[i] && begins_round(paths, i))
			paths->wanted[i] = LITIFUT_ENTERED_BIT;
		next = block->block.ends == LITIFUT_ENDS_CALL ? followed(paths, block->block.end)
							      : NULL;
		if (next && next->function == block->function && returns_twice(paths, block))
			paths->wanted[next - graph->items] = LITIFUT_ENTERED_RECORD;
	}
}

void litifut_paths_want(struct litifut_paths *paths)
{
	const struct litifut_graph *graph = paths->graph;

	add_left(paths);
	find_ends(paths);
	memset(paths->wanted, 0, graph->count);
	if (paths->session->context.numbers) {
		want_numbers(paths);
		return;
	}
	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];
		const struct litifut_graph_block *callee;
		const struct litifut_graph_block *next;

		if (paths->left[i])
			continue;
		if (block->block.flags & LITIFUT_BLOCK_LABEL ||
		    litifut_targets_has(&paths->reached, block->block.start) ||
		    (block->block.flags & LITIFUT_BLOCK_FUNCTION &&
		     litifut_targets_has(&paths->outer, block->block.start)))
			paths->wanted[may_put_off(paths, i, paths->later[i]) ? i + paths->later[i]
									     : i] =
				LITIFUT_ENTERED_RECORD;
		/* its code moves, for the label before it */
		if (block->shift && !paths->wanted[i])
			paths->wanted[i] = LITIFUT_ENTERED_BIT;
		if (block->block.ends != LITIFUT_ENDS_CALL)
			continue;
		next = followed(paths, block->block.end);
		if (!next || next->function != block->function)
			continue;
		callee = block->block.target ? followed(paths, block->block.target) : NULL;
		if (returns_twice(paths, block))
			paths->wanted[next - graph->items] = LITIFUT_ENTERED_RECORD;
		else if ((!callee || paths->ends[callee->function]) &&
			 !paths->wanted[next - graph->items])
			paths->wanted[next - graph->items] = LITIFUT_ENTERED_BIT;
	}
	for (size_t i = 0; i < graph->count; i++)
		if (paths->wanted[i] == LITIFUT_ENTERED_BIT &&
		    graph->items[i].block.entered_reason != LITIFUT_SITE_PATCHED)
			want_later(paths, &graph->items[i]);
}
