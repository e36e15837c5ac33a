/* Code is cut into blocks at the targets of branches, calls and tables, and after each instruction
 * that leads elsewhere. An address that only looks like a target cuts a block in two, which does no
 * harm, but for one within an IT block: nothing branches there, and what is conditional must stay
 * with its `it`.
 *
 * More than 500 lines in one file, because what ends a block and what leads to one are found from
 * the same walk. */
#include "rewriter/graph.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "cpu/step.h"
#include "rewriter/code_targets.h"
#include "rewriter/formed.h"
#include "rewriter/landing_pads.h"
#include "rewriter/program_code.h"

/* How far after an exclusive load its store is searched. */
#define EXCLUSIVE_STEPS 64
#define EXCLUSIVE_WAYS 16

struct maker {
	const struct litifut_image *image;
	const struct litifut_arch *arch;
	const struct litifut_arch_context *context;
	const struct litifut_rewrite_options *options;
	struct litifut_graph *graph;
	struct litifut_targets exclusive; /* instructions between exclusive loads and stores */
	uint16_t section;
	const struct litifut_symbol *function; /* the last one that was asked for */
	bool may_change;
};

static unsigned step_at(const struct maker *maker, const struct litifut_code_range *range,
			uint32_t address, unsigned *block, struct cpu_step *step)
{
	const struct litifut_section *section = &maker->image->sections[maker->section];

	return maker->arch->cpu->step(&maker->context->cpu,
				      section->bytes + (address - section->address),
				      range->end - address, address, range->state, block, step);
}

/* Marks what is executed from the exclusive load at `address` to its store, where that follows in
 * a straight line, as it usually does. False: it does not. */
static bool mark_straight(struct maker *maker, const struct litifut_code_range *range,
			  uint32_t address)
{
	struct cpu_step step = {0};
	unsigned block = 0;
	uint32_t at = address;

	for (unsigned steps = 0; steps < EXCLUSIVE_STEPS && step.exclusive < CPU_EXCLUSIVE_CLOSES;
	     steps++) {
		unsigned length = at < range->end ? step_at(maker, range, at, &block, &step) : 0;

		if (!length || step.way == LITIFUT_ENDS_CALL ||
		    (step.way != LITIFUT_ENDS_ON && !step.conditional) ||
		    (step.exclusive == CPU_EXCLUSIVE_OPENS && at != address))
			return false;
		at += length;
	}
	if (step.exclusive < CPU_EXCLUSIVE_CLOSES)
		return false;
	for (uint32_t each = address; each < at; each += 2)
		litifut_targets_add(&maker->exclusive, each);
	return true;
}

/* The same along all ways from the load, up to whatever ends the exclusive access. */
static void mark_exclusive(struct maker *maker, const struct litifut_code_range *range,
			   uint32_t address)
{
	uint32_t ways[EXCLUSIVE_WAYS] = {address};
	unsigned count = 1;
	unsigned steps = 0;

	while (count && steps < EXCLUSIVE_STEPS) {
		uint32_t at = ways[--count];
		struct cpu_step step;
		unsigned block = 0;

		for (bool first = at == address;
		     at < range->end && at >= range->start && steps++ < EXCLUSIVE_STEPS;
		     first = false) {
			unsigned length = step_at(maker, range, at, &block, &step);

			if (!length || (!first && litifut_targets_has(&maker->exclusive, at)))
				break;
			litifut_targets_add(&maker->exclusive, at);
			if (step.exclusive >= CPU_EXCLUSIVE_CLOSES)
				break;
			if (step.way == LITIFUT_ENDS_BRANCH && count < EXCLUSIVE_WAYS)
				ways[count++] = step.target & ~1u;
			if (step.way == LITIFUT_ENDS_CALL ||
			    (step.way != LITIFUT_ENDS_ON && !step.conditional))
				break;
			at += length + step.slot;
		}
	}
}

static void mark_all_exclusive(struct maker *maker, const struct litifut_code_range *range)
{
	unsigned block = 0;
	struct cpu_step step;
	unsigned length;

	for (uint32_t at = range->start; at < range->end; at += length) {
		length = step_at(maker, range, at, &block, &step);
		if (!length)
			return;
		if (step.exclusive == CPU_EXCLUSIVE_OPENS && !mark_straight(maker, range, at))
			mark_exclusive(maker, range, at);
	}
}

/* The function at `address`, if its code may be changed; NULL: it has none, or may not. */
static const struct litifut_symbol *function_at(struct maker *maker, uint32_t address)
{
	const struct litifut_symbol *function = maker->function;

	if (!function || address < function->address ||
	    address - function->address >= function->size) {
		function = litifut_image_function_at(maker->image, address);
		maker->function = function;
		maker->may_change =
			function && !litifut_is_tracer_code(function) &&
			litifut_sites_may_change(maker->image, maker->options, function) &&
			!(function->reserved && cpu_is_veneer(maker->arch->cpu, function->name));
	}
	return maker->may_change ? function : NULL;
}

static struct litifut_graph_block *append(struct litifut_graph *graph)
{
	if (graph->count == graph->capacity) {
		size_t capacity = 2 * graph->capacity + 1024;
		void *items = realloc(graph->items, capacity * sizeof(*graph->items));

		if (!items)
			return NULL;
		graph->items = items;
		graph->capacity = capacity;
	}
	memset(&graph->items[graph->count], 0, sizeof(*graph->items));
	return &graph->items[graph->count++];
}

/* Is code at the address, which is in no function, to be recorded? */
static bool is_chosen(const struct maker *maker, uint32_t address)
{
	const struct litifut_rewrite_options *options = maker->options;

	if (maker->context->units || litifut_is_excluded(maker->image, options, NULL))
		return false;
	for (size_t i = 0; i < options->excluded_count; i++)
		if (address >= options->excluded[i].start && address < options->excluded[i].end)
			return false;
	return true;
}

/* False: there is not enough memory. */
static bool add_stray(const struct maker *maker, const struct litifut_code_range *range,
		      uint32_t address, const struct cpu_step *step)
{
	struct litifut_graph *graph = maker->graph;

	/* a function that is left has another reason */
	if (maker->function || !step->conditional || step->way != LITIFUT_ENDS_BRANCH ||
	    !is_chosen(maker, address))
		return true;
	if (graph->stray_count == graph->stray_capacity) {
		const size_t capacity = 2 * graph->stray_capacity + 64;
		void *strays = realloc(graph->strays, capacity * sizeof(*graph->strays));

		if (!strays)
			return false;
		graph->strays = strays;
		graph->stray_capacity = capacity;
	}
	graph->strays[graph->stray_count++] = (struct litifut_graph_stray){
		.address = address,
		.target = step->target,
		.section = maker->section,
		.length = step->length,
		.thumb = range->state == LITIFUT_CODE_THUMB,
	};
	return true;
}

static struct litifut_graph_block *begin(struct maker *maker,
					 const struct litifut_code_range *range, uint32_t address,
					 const struct litifut_symbol *function)
{
	struct litifut_graph_block *block = append(maker->graph);

	if (!block)
		return NULL;
	block->block.start = address;
	block->function = (uint32_t)(function - maker->image->symbols) + 1;
	block->section = maker->section;
	block->block.flags = range->state == LITIFUT_CODE_THUMB ? LITIFUT_BLOCK_THUMB : 0;
	if (litifut_image_function_start(maker->image, address))
		block->block.flags |= LITIFUT_BLOCK_FUNCTION;
	else if (litifut_targets_has(&maker->graph->labels, address))
		block->block.flags |= LITIFUT_BLOCK_LABEL;
	block->first_exclusive = litifut_targets_has(&maker->exclusive, address);
	return block;
}

static void finish(struct litifut_graph_block *block, const struct maker *maker, uint32_t address,
		   const struct cpu_step *step)
{
	block->block.branch = address;
	block->block.target = step->target;
	block->block.ends = (uint8_t)step->way;
	block->length = step->length;
	block->slot = step->slot;
	block->likely = step->likely;
	block->exclusive = litifut_targets_has(&maker->exclusive, address);
	if (step->conditional)
		block->block.flags |= LITIFUT_BLOCK_CONDITIONAL;
}

/* Is it a call by its form only, which goes on within its function? */
static bool is_jump(const struct maker *maker, const struct litifut_code_range *range,
		    const struct litifut_symbol *function, const struct cpu_step *step)
{
	struct litifut_instruction call = {
		.class = LITIFUT_CLASS_CALL_DIRECT,
		.target = step->target,
		.length = step->length,
		.thumb = range->state == LITIFUT_CODE_THUMB,
	};

	return step->way == LITIFUT_ENDS_CALL && !step->conditional &&
	       (step->target & ~1u) - function->address < function->size &&
	       (step->target & ~1u) != function->address &&
	       LITIFUT_ARCH_GET(maker->arch, flow, judge_target) &&
	       maker->arch->flow->judge_target(maker->image, maker->context,
					       &maker->image->sections[maker->section], range,
					       function, &call) == LITIFUT_SITE_NOT_A_CALL;
}

/* Does a jump through a register stand for a branch? Then the step gets its target. */
static bool is_far_branch(const struct maker *maker, uint32_t address, struct cpu_step *step)
{
	uint32_t target = 0;

	if (step->way == LITIFUT_ENDS_JUMP && !step->conditional &&
	    LITIFUT_ARCH_GET(maker->arch, flow, far_target))
		target = maker->arch->flow->far_target(maker->image, maker->context,
						       &maker->image->sections[maker->section],
						       address);
	if (target)
		step->target = target;
	return target != 0;
}

static bool add_range(struct maker *maker, const struct litifut_code_range *range)
{
	struct litifut_graph_block *block = NULL;
	unsigned conditional = 0;
	uint32_t slot = UINT32_MAX;   /* the last delay slot that is a target, */
	uint32_t behind = UINT32_MAX; /* and where its branch goes on if it is not taken */
	uint32_t next;

	/* one of avr-libc's may be said to reach into the next function, and that of this range */
	maker->function = NULL;
	for (uint32_t at = range->start; at < range->end; at = next) {
		const struct litifut_symbol *function = function_at(maker, at);
		const bool in_block = conditional != 0;
		struct cpu_step step;
		unsigned length = step_at(maker, range, at, &conditional, &step);

		next = at + length;
		if (!length)
			break;
		if (!function) {
			if (!add_stray(maker, range, at, &step))
				return false;
			block = NULL;
			continue;
		}
		if (block && !in_block &&
		    (at == behind || litifut_targets_has(&maker->graph->targets, at)))
			block = NULL;
		if (!block) {
			block = begin(maker, range, at, function);
			if (!block)
				return false;
			/* Compilers put no labels there: a word of the data happens to look like
			 * the address. */
			if (at == slot)
				block->block.flags &= (uint8_t)~LITIFUT_BLOCK_LABEL;
		}
		block->block.end = next;
		block->in_block = in_block;
		if (step.way == LITIFUT_ENDS_ON) {
			block->last = (uint8_t)length;
			block->last_in_block = in_block;
			continue;
		}
		if (is_jump(maker, range, function, &step) || is_far_branch(maker, at, &step))
			step.way = LITIFUT_ENDS_BRANCH;
		finish(block, maker, at, &step);
		/* A delay slot belongs to its branch; if it is a target, it is a block as well. */
		if (step.slot && next + step.slot <= range->end) {
			block->block.end = next + step.slot;
			if (litifut_targets_has(&maker->graph->targets, next)) {
				slot = next;
				behind = block->block.end;
			} else {
				next = block->block.end;
			}
		}
		block = NULL;
	}
	return true;
}

static enum litifut_status add_section(struct maker *maker, struct litifut_error *error)
{
	const struct litifut_section *section = &maker->image->sections[maker->section];
	struct litifut_code_range *ranges = NULL;
	size_t count = 0;
	enum litifut_status status =
		maker->arch->code_ranges(maker->image, section, &ranges, &count, error);

	for (size_t i = 0; i < count && !status; i++) {
		if (ranges[i].state != LITIFUT_CODE_PLAIN && ranges[i].state != LITIFUT_CODE_THUMB)
			continue;
		mark_all_exclusive(maker, &ranges[i]);
		if (!add_range(maker, &ranges[i]))
			status = litifut_error_memory(error, maker->image->path);
	}
	free(ranges);
	return status;
}

/* Adds the targets of branches that the decoder of calls has no class for: coprocessor branches. */
static enum litifut_status add_steps(struct maker *maker, struct litifut_error *error)
{
	const struct litifut_section *section = &maker->image->sections[maker->section];
	struct litifut_code_range *ranges = NULL;
	size_t count = 0;
	enum litifut_status status =
		maker->arch->code_ranges(maker->image, section, &ranges, &count, error);

	for (size_t i = 0; i < count && !status; i++) {
		unsigned block = 0;
		unsigned length = 1;
		struct cpu_step step;

		for (uint32_t at = ranges[i].start;
		     ranges[i].state != LITIFUT_CODE_DATA && at < ranges[i].end && length;
		     at += length) {
			length = step_at(maker, &ranges[i], at, &block, &step);
			if (step.way == LITIFUT_ENDS_BRANCH)
				litifut_targets_add(&maker->graph->targets, step.target);
		}
		/* far branches are not labels: blocks have their targets */
		if (LITIFUT_ARCH_GET(maker->arch, flow, add_targets) &&
		    !maker->arch->flow->far_target && !i)
			maker->arch->flow->add_targets(maker->image, maker->context, section,
						       ranges, count, &maker->graph->labels);
	}
	free(ranges);
	return status;
}

static int by_start(const void *key, const void *item)
{
	const uint32_t address = *(const uint32_t *)key;
	const struct litifut_graph_block *block = item;

	return address < block->block.start ? -1 : address > block->block.start;
}

size_t litifut_graph_first_behind(const struct litifut_graph *graph, uint32_t address)
{
	size_t low = 0, high = graph->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (graph->items[middle].block.end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct litifut_graph_block *litifut_graph_with(const struct litifut_graph *graph,
						     uint32_t address)
{
	const size_t number = litifut_graph_first_behind(graph, address);

	return number < graph->count && graph->items[number].block.start <= address
		       ? &graph->items[number]
		       : NULL;
}

struct litifut_graph_block *litifut_graph_at(const struct litifut_graph *graph, uint32_t address)
{
	return graph->count ? bsearch(&address, graph->items, graph->count, sizeof(*graph->items),
				      by_start)
			    : NULL;
}

static int by_address(const void *left, const void *right)
{
	const struct litifut_graph_block *a = left;
	const struct litifut_graph_block *b = right;

	return a->block.start < b->block.start ? -1 : a->block.start > b->block.start;
}

static void connect(struct litifut_graph *graph)
{
	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];
		const uint8_t ends = block->block.ends;
		struct litifut_graph_block *next;

		next = ends == LITIFUT_ENDS_BRANCH
			       ? litifut_graph_at(graph, block->block.target & ~1u)
			       : NULL;
		if (next)
			next->led_to = true;
		if (ends != LITIFUT_ENDS_ON && ends != LITIFUT_ENDS_CALL &&
		    !(block->block.flags & LITIFUT_BLOCK_CONDITIONAL))
			continue;
		next = litifut_graph_at(graph, block->block.end);
		if (next) {
			next->led_to = true;
			next->behind_call |= ends == LITIFUT_ENDS_CALL;
		}
	}
}

/* Finds blocks to which something may lead unseen. Nothing may move over their starts, either. */
static void find_unreached(const struct litifut_image *image, const struct litifut_arch *arch,
			   struct litifut_graph *graph)
{
	bool (*const only_fills)(const uint8_t *, uint32_t, bool) =
		LITIFUT_ARCH_GET(arch, flow, only_fills);

	for (size_t i = 1; i < graph->count; i++) {
		struct litifut_graph_block *block = &graph->items[i];
		const bool last = i + 1 == graph->count || block[1].function != block->function;
		const struct litifut_section *section = &image->sections[block->section];
		const bool fills =
			block->block.ends == LITIFUT_ENDS_ON &&
			(last || block[1].block.start != block->block.end ||
			 (only_fills &&
			  only_fills(section->bytes + (block->block.start - section->address),
				     block->block.end - block->block.start,
				     block->block.flags & LITIFUT_BLOCK_THUMB)));

		block->unreached = !block->led_to && !fills &&
				   block[-1].function == block->function &&
				   !litifut_targets_has(&graph->targets, block->block.start);
	}
	for (size_t i = 0; i < graph->count; i++)
		if (graph->items[i].unreached)
			litifut_targets_add(&graph->targets, graph->items[i].block.start);
}

enum litifut_status litifut_graph_make(const struct litifut_image *image,
				       const struct litifut_arch *arch,
				       const struct litifut_arch_context *context,
				       const struct litifut_rewrite_options *options,
				       struct litifut_graph *graph, struct litifut_error *error)
{
	struct maker maker = {.image = image,
			      .arch = arch,
			      .context = context,
			      .options = options,
			      .graph = graph};
	enum litifut_status status;

	memset(graph, 0, sizeof(*graph));
	status = litifut_targets_of_data(image, context, &graph->labels, error);
	if (!status)
		status = litifut_targets_of_code(image, arch, context, &graph->targets, error);
	if (!status)
		status = litifut_targets_create(image->text_start, image->text_end,
						&maker.exclusive, error);
	if (!status)
		litifut_landing_pads_add(image, arch, &graph->labels);
	if (!status)
		status = litifut_targets_create(image->text_start, image->text_end, &graph->formed,
						error);
	if (!status)
		status = litifut_formed_labels(image, arch, context, &graph->labels, &graph->formed,
					       error);
	for (size_t i = 1; i < image->section_count && !status; i++) {
		maker.section = (uint16_t)i;
		if (litifut_sites_in(&image->sections[i]))
			status = add_steps(&maker, error);
	}
	if (!status)
		litifut_targets_merge(&graph->targets, &graph->labels);
	for (size_t i = 1; i < image->section_count && !status; i++) {
		maker.section = (uint16_t)i;
		if (litifut_sites_in(&image->sections[i]))
			status = add_section(&maker, error);
	}
	if (!status && graph->count) {
		qsort(graph->items, graph->count, sizeof(*graph->items), by_address);
		connect(graph);
		find_unreached(image, arch, graph);
	}
	litifut_targets_release(&maker.exclusive);
	return status;
}

bool litifut_graph_has_unreached(const struct litifut_graph *graph, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		if (graph->items[i].unreached &&
		    !(graph->items[i].block.flags & LITIFUT_BLOCK_LABEL))
			return true;
	return false;
}

void litifut_graph_release(struct litifut_graph *graph)
{
	free(graph->items);
	free(graph->strays);
	litifut_targets_release(&graph->labels);
	litifut_targets_release(&graph->formed);
	litifut_targets_release(&graph->targets);
	memset(graph, 0, sizeof(*graph));
}
