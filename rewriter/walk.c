/* The code is cut into pieces, and each worker fills its own lists. These are put together in
 * the order of the pieces, so the result does not depend on scheduling. Code that stands in no
 * function comes after that. One file of more than 500 lines, because all of it is one walk. */
#include "rewriter/walk.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "rewriter/gaps.h"
#include "rewriter/program_code.h"
#include "rewriter/tail.h"

/* Bytes of code in one piece: some milliseconds of work. */
#define PIECE_BYTES (128u << 10)

/* Bytes of code for each of the sites that a list has room for before it must grow. */
#define BYTES_PER_SITE 64

/* Neighbouring code ranges of one section. */
struct piece {
	const struct litifut_section *section;
	const struct litifut_code_range *ranges;
	size_t count;
	bool is_first; /* no range of the section stands before */
	/* Its sites, in the list of the worker that has found them. */
	size_t worker;
	size_t start;
	size_t sites;
};

/* The state of one worker. */
struct walk {
	const struct litifut_image *image;
	const struct litifut_arch *arch;
	const struct litifut_arch_context *context;
	const struct litifut_rewrite_options *options;
	const struct litifut_range *excluded; /* options->excluded, sorted */
	struct litifut_site_list list;
	struct litifut_targets branches; /* where branches and calls in the code lead to */
	/* The function of the site before: neighbours mostly share it. */
	const struct litifut_symbol *function;
	bool function_refused;
	struct litifut_gaps gaps; /* code in no function, to be walked when all functions are */
	/* Code of a gap: the function that it belongs to; else NULL. */
	const struct litifut_symbol *owner;
	bool tails_only;    /* its calls have been found already, as they need no function */
	size_t strays;      /* sites with LITIFUT_SITE_NO_FUNCTION */
	uint64_t before;    /* lengths of instructions, as skip() keeps them */
	bool needs_targets; /* there are sites that only the branch targets can judge */
	bool no_memory;
};

static int by_start(const void *left, const void *right)
{
	const struct litifut_range *a = left;
	const struct litifut_range *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static bool in_excluded_range(const struct walk *walk, uint32_t address)
{
	size_t low = 0;
	size_t high = walk->options->excluded_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (walk->excluded[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < walk->options->excluded_count && walk->excluded[low].start <= address;
}

static bool append(struct litifut_site_list *list, const struct litifut_found_site *site)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity * 2;
		void *items = litifut_memory_resized(list->items, capacity, sizeof(*list->items));

		if (!items)
			return false;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = *site;
	return true;
}

static bool refuses_caller(const struct walk *walk, uint32_t address)
{
	return walk->function_refused || in_excluded_range(walk, address);
}

static unsigned judge(struct walk *walk, const struct litifut_section *section,
		      const struct litifut_code_range *range,
		      struct litifut_instruction *instruction, uint32_t address)
{
	const struct litifut_symbol *callee = NULL;
	uint32_t before = address - section->address;
	uint32_t after = before + instruction->length;
	unsigned reason = LITIFUT_SITE_PATCHED;

	if (instruction->class == LITIFUT_CLASS_CALL_DIRECT)
		callee = litifut_image_function_start(walk->image, instruction->target & ~1u);
	if (instruction->class == LITIFUT_CLASS_CALL_DIRECT && !callee &&
	    LITIFUT_ARCH_GET(walk->arch, flow, judge_target))
		reason = walk->arch->flow->judge_target(walk->image, walk->context, section, range,
							walk->function, instruction);
	if (reason != LITIFUT_SITE_PATCHED)
		return reason;
	if (!walk->arch->refuse)
		return LITIFUT_SITE_PATCHED;
	reason = walk->arch->refuse(walk->context, instruction, address, section->bytes + after,
				    section->size - after, before,
				    callee && callee->reserved ? callee->name : "");
	if (reason != LITIFUT_SITE_PATCHED && reason != LITIFUT_SITE_TOO_SHORT)
		return reason;
	if (litifut_leaves_call(walk->options, refuses_caller(walk, address), callee))
		return LITIFUT_SITE_EXCLUDED;
	if (instruction->inexact)
		return LITIFUT_SITE_SPECIAL_FORM;
	/* May be patched in place, but that needs to know the branch targets. */
	return instruction->linked ? LITIFUT_SITE_TOO_SHORT : reason;
}

/* Why a tail call is left alone, as far as can be said without the branch targets
 * around it. */
static unsigned judge_tail(const struct walk *walk, const struct litifut_instruction *instruction,
			   uint32_t address, uint8_t kind)
{
	const struct litifut_symbol *callee = NULL;

	if (!walk->options->tail_calls)
		return LITIFUT_SITE_TAIL_OFF;
	if (kind == LITIFUT_SITE_TAIL_DIRECT)
		callee = litifut_image_function_start(walk->image, instruction->target & ~1u);
	if (litifut_leaves_call(walk->options, refuses_caller(walk, address), callee))
		return LITIFUT_SITE_EXCLUDED;
	return instruction->inexact ? LITIFUT_SITE_SPECIAL_FORM : LITIFUT_SITE_TOO_SHORT;
}

/* The kind of site that the instruction is, as far as it alone shows; 0: none. */
static uint8_t kind_of(const struct walk *walk, const struct litifut_instruction *instruction)
{
	switch (instruction->class) {
	case LITIFUT_CLASS_CALL_INDIRECT:
	case LITIFUT_CLASS_CALL_COMPUTED:
		return LITIFUT_SITE_INDIRECT;
	case LITIFUT_CLASS_CALL_DIRECT:
	case LITIFUT_CLASS_FOREIGN_CALL:
		return LITIFUT_SITE_DIRECT;
	case LITIFUT_CLASS_BRANCH_DIRECT:
		return LITIFUT_ARCH_GET(walk->arch, detour, can_detour) ? LITIFUT_SITE_TAIL_DIRECT
									: 0;
	case LITIFUT_CLASS_BRANCH_INDIRECT:
	case LITIFUT_CLASS_BRANCH_COMPUTED:
		return LITIFUT_ARCH_GET(walk->arch, flow, is_indirect_tail)
			       ? LITIFUT_SITE_TAIL_INDIRECT
			       : 0;
	default:
		return 0;
	}
}

static uint16_t section_number(const struct litifut_image *image,
			       const struct litifut_section *section)
{
	return (uint16_t)(section - image->sections);
}

/* As in struct litifut_found_site. */
static uint32_t function_number(const struct litifut_image *image,
				const struct litifut_symbol *function)
{
	return function ? (uint32_t)(function - image->symbols) + 1 : 0;
}

/* Does a branch in no function go to one? */
static bool leads_to_function(const struct walk *walk,
			      const struct litifut_instruction *instruction)
{
	const struct litifut_symbol *callee =
		litifut_image_function_start(walk->image, instruction->target & ~1u);

	return callee && *callee->name && callee->thumb == (instruction->target & 1) &&
	       !litifut_is_tracer_code(callee);
}

static bool take_site(struct walk *walk, const struct litifut_section *section,
		      const struct litifut_code_range *range,
		      const struct litifut_instruction *instruction, uint32_t address, uint8_t kind)
{
	struct litifut_found_site found = {.site.kind = kind, .instruction = *instruction};
	const struct litifut_found_site *last =
		walk->list.count ? &walk->list.items[walk->list.count - 1] : NULL;
	const struct litifut_symbol *function = walk->function;
	const bool tail = litifut_site_is_tail(&found.site);
	unsigned reason;

	if (!function || address - function->address >= function->size) {
		function = litifut_image_function_at(walk->image, address);
		walk->function = function;
		walk->function_refused = litifut_is_excluded(walk->image, walk->options, function);
	}
	/* A veneer passes on what another site has called. */
	if (tail && function && function->reserved &&
	    cpu_is_veneer(walk->arch->cpu, function->name))
		return true;
	if (litifut_is_tracer_code(function) || (walk->tails_only && !tail))
		return true;
	if (kind == LITIFUT_SITE_TAIL_DIRECT) {
		bool stray = !function && leads_to_function(walk, instruction);

		if (!stray &&
		    !litifut_tail_is_direct(walk->image, walk->arch, function, &found.instruction))
			return !function ||
			       litifut_gaps_add(&walk->gaps, walk->image, function, instruction);
		if (walk->owner &&
		    (found.instruction.target & ~1u) - walk->owner->address < walk->owner->size)
			return true;
	}
	reason = tail ? judge_tail(walk, instruction, address, kind)
		      : judge(walk, section, range, &found.instruction, address);
	if (tail && !function && kind == LITIFUT_SITE_TAIL_DIRECT &&
	    reason == LITIFUT_SITE_TOO_SHORT) {
		reason = LITIFUT_SITE_NO_FUNCTION;
		walk->strays++;
	}
	if (!tail)
		kind = kind_of(walk, &found.instruction);
	found.section = section_number(walk->image, section);
	found.function = function_number(walk->image, function);
	found.site.address = address;
	found.site.return_address = walk->arch->cpu->return_address(instruction, address);
	found.site.instruction = tail ? instruction->word : found.instruction.word;
	found.site.thumb = instruction->thumb;
	found.site.length = instruction->length;
	found.site.kind = kind;
	found.site.reason = (uint8_t)reason;
	if (found.instruction.class == LITIFUT_CLASS_CALL_DIRECT ||
	    kind == LITIFUT_SITE_TAIL_DIRECT)
		found.site.callee = found.instruction.target;
	if (reason == LITIFUT_SITE_TOO_SHORT || kind == LITIFUT_SITE_TAIL_INDIRECT)
		walk->needs_targets = true;
	for (unsigned i = 0; i < LITIFUT_REMEMBERED; i++)
		found.before[i] = (uint8_t)(walk->before >> 8 * i);
	found.behind_site = last && last->section == found.section &&
			    last->site.address + last->site.length == address;
	return append(&walk->list, &found);
}

static bool walk_range(struct walk *walk, const struct litifut_section *section,
		       const struct litifut_code_range *range)
{
	const struct cpu *cpu = walk->arch->cpu;
	uint32_t address = range->start;
	struct litifut_instruction setter = {0}; /* of the link register */
	uint32_t after_setter = 0;

	walk->before = 0;
	while (address < range->end) {
		struct litifut_instruction instruction;
		const uint8_t *code = section->bytes + (address - section->address);
		uint32_t skipped =
			cpu->skip ? cpu->skip(&walk->context->cpu, code, range->end - address,
					      range->state, &walk->before)
				  : 0;

		address += skipped;
		unsigned length =
			cpu->decode(&walk->context->cpu, code + skipped, range->end - address,
				    address, range->state, &instruction);

		if (!length)
			break;
		if (litifut_has_target(&instruction))
			litifut_targets_add(&walk->branches, instruction.target);
		if (setter.link && setter.link == address + length)
			cpu->link(&setter, address == after_setter, &instruction);
		if (instruction.link) {
			setter = instruction;
			after_setter = address + length;
		}
		uint8_t kind = kind_of(walk, &instruction);

		if (kind && !take_site(walk, section, range, &instruction, address, kind))
			return false;
		walk->before = walk->before << 8 | length;
		address += length;
	}
	walk->list.text_bytes += address - range->start;
	return true;
}

/* Functions that stand in data: someone has assembled them as numbers, and nothing
 * says which of these are instructions. */
static bool list_functions(struct walk *walk, const struct litifut_section *section,
			   const struct litifut_code_range *range)
{
	const struct litifut_symbol *function =
		litifut_image_function_from(walk->image, range->start);

	for (; function && function->address < range->end;
	     function = litifut_image_function_from(walk->image, function->address + 1)) {
		const struct litifut_found_site found = {
			.site = {.address = function->address,
				 .instruction = function->size,
				 .kind = LITIFUT_SITE_FUNCTION,
				 .reason = LITIFUT_SITE_CODE_AS_DATA,
				 .thumb = function->thumb},
			.section = section_number(walk->image, section),
			.function = function_number(walk->image, function),
		};

		if (!litifut_is_tracer_code(function) && !append(&walk->list, &found))
			return false;
	}
	return true;
}

struct walks {
	struct walk workers[LITIFUT_WORKERS_MAX];
	struct piece *pieces;
	size_t piece_count;
	size_t piece_room;
	struct litifut_code_ranges *ranges; /* by section */
};

static void walk_piece(void *context, size_t worker, size_t item)
{
	struct walks *walks = context;
	struct walk *walk = &walks->workers[worker];
	struct piece *piece = &walks->pieces[item];
	bool enough = true;

	piece->worker = worker;
	piece->start = walk->list.count;
	walk->function = NULL; /* not what depends on who did the piece before */
	for (size_t i = 0; i < piece->count && enough; i++)
		enough = piece->ranges[i].state == LITIFUT_CODE_DATA
				 ? list_functions(walk, piece->section, &piece->ranges[i])
				 : walk_range(walk, piece->section, &piece->ranges[i]);
	piece->sites = walk->list.count - piece->start;
	walk->no_memory |= !enough;
	/* What a range means may depend on the one before. */
	if (LITIFUT_ARCH_GET(walk->arch, flow, add_targets))
		walk->arch->flow->add_targets(walk->image, walk->context, piece->section,
					      piece->ranges - !piece->is_first,
					      piece->count + !piece->is_first, &walk->branches);
	for (size_t i = 0; i < piece->count && LITIFUT_ARCH_GET(walk->arch, flow, add_computed);
	     i++)
		walk->arch->flow->add_computed(walk->image, piece->section, &piece->ranges[i],
					       &walk->branches);
}

static struct piece *add_piece(struct walks *walks)
{
	if (walks->piece_count == walks->piece_room) {
		size_t room = 2 * walks->piece_room + 64;
		void *pieces = realloc(walks->pieces, room * sizeof(*walks->pieces));

		if (!pieces)
			return NULL;
		walks->pieces = pieces;
		walks->piece_room = room;
	}
	return &walks->pieces[walks->piece_count++];
}

static bool cut(struct walks *walks, const struct litifut_section *section,
		const struct litifut_code_range *ranges, size_t count)
{
	struct piece *piece = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!piece || ranges[i].start - piece->ranges->start >= PIECE_BYTES) {
			piece = add_piece(walks);
			if (!piece)
				return false;
			*piece = (struct piece){
				.section = section, .ranges = &ranges[i], .is_first = !i};
		}
		piece->count++;
	}
	return true;
}

static enum litifut_status cut_all(struct walks *walks, const struct litifut_image *image,
				   const struct litifut_arch *arch, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	walks->ranges = calloc(image->section_count + 1, sizeof(*walks->ranges));
	if (!walks->ranges)
		return litifut_error_memory(error, image->path);
	for (size_t i = 1; i < image->section_count && !status; i++) {
		const struct litifut_section *section = &image->sections[i];
		struct litifut_code_ranges *ranges = &walks->ranges[i];

		if (!litifut_sites_in(section))
			continue;
		status = arch->code_ranges(image, section, &ranges->items, &ranges->count, error);
		if (!status && !cut(walks, section, ranges->items, ranges->count))
			status = litifut_error_memory(error, image->path);
	}
	return status;
}

/* The first worker's list becomes that of all. From the last piece to the first: none of
 * them moves down, so that what has not been moved yet is never written over. */
static bool interleave(struct walks *walks, size_t total)
{
	struct litifut_site_list *list = &walks->workers[0].list;
	size_t at = total;

	if (list->capacity < total) {
		void *items = litifut_memory_resized(list->items, total, sizeof(*list->items));

		if (!items)
			return false;
		list->items = items;
		list->capacity = total;
	}
	for (size_t i = walks->piece_count; i-- > 0;) {
		const struct piece *piece = &walks->pieces[i];

		at -= piece->sites;
		memmove(list->items + at, walks->workers[piece->worker].list.items + piece->start,
			piece->sites * sizeof(*list->items));
	}
	list->count = total;
	return true;
}

/* What the workers have found, in the order of the pieces, becomes the first one's. */
static bool put_together(struct walks *walks)
{
	struct walk *first = &walks->workers[0];
	size_t total = 0;
	bool alone = true;

	for (size_t i = 0; i < LITIFUT_WORKERS_MAX; i++) {
		struct walk *worker = &walks->workers[i];

		if (worker->no_memory)
			return false;
		total += worker->list.count;
		if (!i || !worker->branches.bits)
			continue;
		alone = alone && !worker->list.count;
		first->needs_targets |= worker->needs_targets;
		first->list.text_bytes += worker->list.text_bytes;
		litifut_targets_merge(&first->branches, &worker->branches);
	}
	return alone || interleave(walks, total);
}

static enum litifut_status walk_pieces(struct walks *walks, const struct walk *template,
				       struct litifut_error *error)
{
	const struct litifut_image *image = template->image;
	enum litifut_status status = cut_all(walks, image, template->arch, error);
	size_t bytes = 0;

	if (status)
		return status;
	for (size_t i = 0; i < walks->piece_count; i++)
		bytes += walks->pieces[i].ranges[walks->pieces[i].count - 1].end -
			 walks->pieces[i].ranges->start;
	for (size_t i = 0; i < litifut_parallel_workers() && !status; i++) {
		struct litifut_site_list *list = &walks->workers[i].list;

		walks->workers[i] = *template;
		list->capacity = bytes / BYTES_PER_SITE + 16;
		list->items = litifut_memory_array(list->capacity, sizeof(*list->items));
		if (!list->items)
			return litifut_error_memory(error, image->path);
		status = litifut_targets_create(image->text_start, image->text_end,
						&walks->workers[i].branches, error);
	}
	if (status)
		return status;
	litifut_parallel(walks->piece_count, walk_piece, walks);
	return put_together(walks) ? LITIFUT_OK : litifut_error_memory(error, image->path);
}

/* All of the gaps that the workers know of become the first one's. */
static bool gather_gaps(struct walks *walks)
{
	struct litifut_gaps *all = &walks->workers[0].gaps;

	for (size_t i = 1; i < LITIFUT_WORKERS_MAX; i++) {
		const struct litifut_gaps *gaps = &walks->workers[i].gaps;
		void *items;

		walks->workers[0].strays += walks->workers[i].strays;
		if (!gaps->count)
			continue;
		items = realloc(all->items, (all->count + gaps->count) * sizeof(*all->items));
		if (!items)
			return false;
		all->items = items;
		memcpy(all->items + all->count, gaps->items, gaps->count * sizeof(*all->items));
		all->count += gaps->count;
		all->capacity = all->count;
	}
	return true;
}

/* The range of the section that has `address`; NULL: none has. */
static const struct litifut_code_range *
range_at(const struct walks *walks, const struct litifut_section *section, uint32_t address)
{
	for (size_t i = 0; i < walks->piece_count; i++)
		for (size_t j = 0;
		     walks->pieces[i].section == section && j < walks->pieces[i].count; j++) {
			const struct litifut_code_range *range = &walks->pieces[i].ranges[j];

			if (address >= range->start && address < range->end)
				return range;
		}
	return NULL;
}

static bool walk_gap(struct walks *walks, struct litifut_image *image,
		     const struct litifut_gap *gap, size_t number)
{
	struct walk *walk = &walks->workers[0];
	const struct litifut_section *section = &image->sections[gap->section];
	const struct litifut_symbol *next = litifut_image_function_from(image, gap->start);
	const struct litifut_code_range *around = range_at(walks, section, gap->start);
	struct litifut_code_range code = {gap->start, section->address + section->size,
					  gap->thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN};
	bool enough;

	if (around && around->state != code.state)
		return true;
	if (around && around->end < code.end)
		code.end = around->end;
	if (next && next->address < code.end)
		code.end = next->address;
	walk->function = litifut_gaps_name(image, walk->arch, walk->context, gap, code.end, number);
	walk->owner = &image->symbols[gap->owner];
	walk->function_refused = litifut_is_excluded(image, walk->options, walk->owner);
	walk->tails_only = around != NULL;
	code.end = walk->function->address + walk->function->size;
	enough = walk_range(walk, section, &code);
	walk->function = NULL;
	walk->owner = NULL;
	walk->tails_only = false;
	return enough;
}

/* Drops strays that are known to belong to a function by now: the sites from number `first` on
 * are those of gaps. */
static void drop_strays(struct litifut_site_list *list, size_t first)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		bool stray = i < first && list->items[i].site.reason == LITIFUT_SITE_NO_FUNCTION;

		for (size_t j = first; j < list->count && stray; j++)
			stray = list->items[j].site.address != list->items[i].site.address;
		if (i < first && list->items[i].site.reason == LITIFUT_SITE_NO_FUNCTION && !stray)
			continue;
		list->items[kept++] = list->items[i];
	}
	list->count = kept;
}

/* Walks the gaps that functions branch to. What is called is a function without a name, or
 * code that the linker has made to pass calls on: that is left. */
static enum litifut_status walk_gaps(struct walks *walks, struct litifut_image *image,
				     struct litifut_error *error)
{
	struct walk *walk = &walks->workers[0];
	struct litifut_targets seen = {0};
	const size_t before = walk->list.count;
	enum litifut_status status;
	size_t room, named = 0;

	if (!gather_gaps(walks))
		return litifut_error_memory(error, image->path);
	if (!walk->gaps.count)
		return LITIFUT_OK;
	room = 2 * walk->gaps.count + 64; /* gaps can lead to more of them */
	if (!litifut_gaps_reserve(image, room))
		return litifut_error_memory(error, image->path);
	status = litifut_targets_create(image->text_start, image->text_end, &seen, error);
	for (size_t i = 0; i < before && !status; i++)
		if (walk->list.items[i].site.kind == LITIFUT_SITE_DIRECT)
			litifut_targets_add(&seen, walk->list.items[i].site.callee);
	for (size_t i = 0; i < walk->gaps.count && named < room && !status; i++) {
		const struct litifut_gap gap = walk->gaps.items[i];

		if (litifut_targets_has(&seen, gap.start))
			continue;
		litifut_targets_add(&seen, gap.start);
		if (!walk_gap(walks, image, &gap, named++))
			status = litifut_error_memory(error, image->path);
	}
	if (walk->strays && walk->list.count > before)
		drop_strays(&walk->list, before);
	litifut_targets_release(&seen);
	return status;
}

enum litifut_status litifut_walk(struct litifut_image *image, const struct litifut_arch *arch,
				 const struct litifut_arch_context *context,
				 const struct litifut_rewrite_options *options,
				 struct litifut_walk *result, struct litifut_error *error)
{
	struct walk template = {
		.image = image, .arch = arch, .context = context, .options = options};
	struct walks walks = {0};
	struct litifut_range *excluded = NULL;
	enum litifut_status status;

	memset(result, 0, sizeof(*result));
	if (options->excluded_count) {
		excluded = calloc(options->excluded_count, sizeof(*excluded));
		if (!excluded)
			return litifut_error_memory(error, image->path);
		memcpy(excluded, options->excluded, options->excluded_count * sizeof(*excluded));
		qsort(excluded, options->excluded_count, sizeof(*excluded), by_start);
		template.excluded = excluded;
	}
	status = walk_pieces(&walks, &template, error);
	if (!status)
		status = walk_gaps(&walks, image, error);
	*result = (struct litifut_walk){.list = walks.workers[0].list,
					.branches = walks.workers[0].branches,
					.needs_targets = walks.workers[0].needs_targets};
	litifut_gaps_release(&walks.workers[0].gaps);
	for (size_t i = 1; i < LITIFUT_WORKERS_MAX; i++) {
		litifut_gaps_release(&walks.workers[i].gaps);
		free(walks.workers[i].list.items);
		litifut_targets_release(&walks.workers[i].branches);
	}
	result->list.ranges = walks.ranges;
	result->list.range_count = walks.ranges ? image->section_count : 0;
	free(walks.pieces);
	free(excluded);
	return status;
}

void litifut_walk_release(struct litifut_walk *walk)
{
	litifut_targets_release(&walk->branches);
	memset(walk, 0, sizeof(*walk));
}
