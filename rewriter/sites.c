/* Finding the call sites of an image: walk the code ranges of every executable
 * section, decode, and judge each call: to be patched, or left for a reason. */
#include "rewriter/sites.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/code_targets.h"
#include "rewriter/libc.h"
#include "rewriter/sort.h"
#include "rewriter/tail.h"

/* What stays the same during one walk. */
struct walk {
	const struct litifut_image *image;
	const struct litifut_arch *arch;
	const struct litifut_arch_context *context;
	const struct litifut_rewrite_options *options;
	struct litifut_site_list *list;
	struct litifut_range *excluded;  /* options->excluded, sorted */
	struct litifut_targets branches; /* where branches and calls in the code lead to */
	/* The function of the site before: neighbours mostly share it. */
	const struct litifut_symbol *function;
	bool function_refused;
	uint8_t before[LITIFUT_REMEMBERED];
	bool needs_targets; /* there are sites that only the branch targets can judge */
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

/* Does the name begin as the glob does up to its first special character? Most do not,
 * and fnmatch() looks at all of a name first. */
static bool begins_alike(const char *glob, const char *name)
{
	for (; *glob && !strchr("*?[\\", *glob); glob++, name++)
		if (*glob != *name)
			return false;
	return true;
}

static bool matches(const char *const *globs, const char *name)
{
	for (; globs && *globs; globs++)
		if (begins_alike(*globs, name) && fnmatch(*globs, name, 0) == 0)
			return true;
	return false;
}

static bool function_refused(const struct litifut_image *image,
			     const struct litifut_rewrite_options *options,
			     const struct litifut_symbol *function)
{
	const char *const *include = options->include_functions;
	const char *name = function ? function->name : "";

	if (matches(options->exclude_functions, name) ||
	    (function && function->reserved && litifut_libc_must_keep(image, name)))
		return true;
	return include && *include && !matches(include, name);
}

static bool is_tracer_code(const struct litifut_symbol *function)
{
	return function && function->own;
}

bool litifut_sites_may_change(const struct litifut_image *image,
			      const struct litifut_rewrite_options *options,
			      const struct litifut_symbol *function)
{
	for (size_t i = 0; i < options->excluded_count; i++)
		if (options->excluded[i].start < function->address + function->size &&
		    options->excluded[i].end > function->address)
			return false;
	return !is_tracer_code(function) && !function_refused(image, options, function);
}

static bool append(struct litifut_site_list *list, const struct litifut_found_site *site)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 1024;
		void *items = realloc(list->items, capacity * sizeof(*list->items));

		if (!items)
			return false;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = *site;
	return true;
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
	if (instruction->class == LITIFUT_CLASS_CALL_DIRECT && !callee && walk->arch->judge_target)
		reason = walk->arch->judge_target(walk->image, section, range, walk->function,
						  instruction);
	if (reason != LITIFUT_SITE_PATCHED)
		return reason;
	reason = walk->arch->refuse(walk->context, instruction, address, section->bytes + after,
				    section->size - after, before,
				    callee && callee->reserved ? callee->name : "");
	if (reason != LITIFUT_SITE_PATCHED && reason != LITIFUT_SITE_TOO_SHORT)
		return reason;
	if (walk->function_refused || in_excluded_range(walk, address))
		return LITIFUT_SITE_EXCLUDED;
	if (instruction->inexact)
		return LITIFUT_SITE_SPECIAL_FORM;
	/* May be patched in place, but that needs to know the branch targets. */
	return instruction->linked ? LITIFUT_SITE_TOO_SHORT : reason;
}

/* Why a tail call is left alone, as far as can be told without the branch targets
 * around it. */
static unsigned judge_tail(const struct walk *walk, const struct litifut_instruction *instruction,
			   uint32_t address)
{
	if (!walk->options->tail_calls)
		return LITIFUT_SITE_TAIL_OFF;
	if (walk->function_refused || in_excluded_range(walk, address))
		return LITIFUT_SITE_EXCLUDED;
	return instruction->inexact ? LITIFUT_SITE_SPECIAL_FORM : LITIFUT_SITE_TOO_SHORT;
}

bool litifut_site_is_tail(const struct litifut_site *site)
{
	return site->kind == LITIFUT_SITE_TAIL_DIRECT || site->kind == LITIFUT_SITE_TAIL_INDIRECT;
}

/* The kind of site that the instruction is, as far as it alone tells; 0: none. */
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
		return walk->arch->write_detour ? LITIFUT_SITE_TAIL_DIRECT : 0;
	case LITIFUT_CLASS_BRANCH_INDIRECT:
	case LITIFUT_CLASS_BRANCH_COMPUTED:
		return walk->arch->is_indirect_tail ? LITIFUT_SITE_TAIL_INDIRECT : 0;
	default:
		return 0;
	}
}

static bool take_site(struct walk *walk, const struct litifut_section *section,
		      const struct litifut_code_range *range,
		      const struct litifut_instruction *instruction, uint32_t address, uint8_t kind)
{
	struct litifut_found_site found = {.instruction = *instruction, .section = section};
	const struct litifut_symbol *function = walk->function;
	bool tail = kind == LITIFUT_SITE_TAIL_DIRECT || kind == LITIFUT_SITE_TAIL_INDIRECT;
	unsigned reason;

	if (!function || address - function->address >= function->size) {
		function = litifut_image_function_at(walk->image, address);
		walk->function = function;
		walk->function_refused = function_refused(walk->image, walk->options, function);
	}
	/* A veneer passes on what another site has called. */
	if (tail && function && function->reserved && walk->arch->is_veneer &&
	    walk->arch->is_veneer(function->name))
		return true;
	if (is_tracer_code(function) ||
	    (kind == LITIFUT_SITE_TAIL_DIRECT &&
	     !litifut_tail_is_direct(walk->image, walk->arch, function, &found.instruction)))
		return true;
	reason = tail ? judge_tail(walk, instruction, address)
		      : judge(walk, section, range, &found.instruction, address);
	if (!tail)
		kind = kind_of(walk, &found.instruction);
	found.function = function;
	found.site.address = address;
	found.site.return_address = walk->arch->return_address(instruction, address);
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
	memcpy(found.before, walk->before, sizeof(found.before));
	return append(walk->list, &found);
}

static bool walk_range(struct walk *walk, const struct litifut_section *section,
		       const struct litifut_code_range *range)
{
	uint32_t address = range->start;
	struct litifut_instruction setter = {0}; /* of the link register */
	uint32_t after_setter = 0;

	memset(walk->before, 0, sizeof(walk->before));
	while (address < range->end) {
		struct litifut_instruction instruction;
		const uint8_t *code = section->bytes + (address - section->address);
		uint32_t skipped = walk->arch->skip(walk->context, code, range->end - address,
						    range->state, walk->before);

		address += skipped;
		unsigned length =
			walk->arch->decode(walk->context, code + skipped, range->end - address,
					   address, range->state, &instruction);

		if (!length)
			break;
		if (litifut_has_target(&instruction))
			litifut_targets_add(&walk->branches, instruction.target);
		if (setter.link && setter.link == address + length)
			walk->arch->link(&setter, address == after_setter, &instruction);
		if (instruction.link) {
			setter = instruction;
			after_setter = address + length;
		}
		uint8_t kind = kind_of(walk, &instruction);

		if (kind && !take_site(walk, section, range, &instruction, address, kind))
			return false;
		memmove(walk->before + 1, walk->before, sizeof(walk->before) - 1);
		walk->before[0] = (uint8_t)length;
		address += length;
	}
	walk->list->text_bytes += address - range->start;
	return true;
}

/* Functions that stand in data: someone has assembled them as numbers, and nothing
 * tells which of these are instructions. */
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
			.section = section,
			.function = function,
		};

		if (!is_tracer_code(function) && !append(walk->list, &found))
			return false;
	}
	return true;
}

/* PLT entries and lazy stubs hold no calls of the program's own. */
bool litifut_sites_in(const struct litifut_section *section)
{
	return section->type == SHT_PROGBITS && section->flags & SHF_EXECINSTR && section->bytes &&
	       !litifut_section_is_linkage(section);
}

static enum litifut_status walk_section(struct walk *walk, const struct litifut_section *section,
					struct litifut_error *error)
{
	struct litifut_code_range *ranges = NULL;
	size_t count = 0;
	bool enough = true;
	enum litifut_status status =
		walk->arch->code_ranges(walk->image, section, &ranges, &count, error);

	if (status)
		return status;
	for (size_t i = 0; i < count && enough; i++)
		enough = ranges[i].state == LITIFUT_CODE_DATA
				 ? list_functions(walk, section, &ranges[i])
				 : walk_range(walk, section, &ranges[i]);
	free(ranges);
	if (!enough)
		return litifut_error_set(error, LITIFUT_ERROR_IO, walk->image->path, section->name,
					 LITIFUT_NO_ADDRESS, "out of memory");
	return LITIFUT_OK;
}

struct litifut_cramped_call litifut_site_cramped(const struct litifut_found_site *site)
{
	struct litifut_cramped_call call = {
		.address = site->site.address,
		.instruction = site->instruction,
		.tail = litifut_site_is_tail(&site->site),
		.section = site->section,
		.stone = site->stone,
		.stone_bytes = site->stone_bytes,
		.known_callee = site->known_callee,
		.argument_room = site->argument_room,
	};

	if (site->function) {
		call.function_start = site->function->address;
		call.function_end = site->function->address + site->function->size;
	}

	memcpy(call.before, site->before, sizeof(call.before));
	return call;
}

/* Drops the indirect branches that are no tail calls. */
static void drop_jumps(const struct walk *walk, const struct litifut_targets *data)
{
	struct litifut_site_list *list = walk->list;
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct litifut_found_site *site = &list->items[i];

		if (site->site.kind == LITIFUT_SITE_TAIL_INDIRECT) {
			struct litifut_cramped_call call = litifut_site_cramped(site);

			if (!walk->arch->is_indirect_tail(walk->context, &call, data))
				continue;
		}
		if (kept != i)
			list->items[kept] = *site;
		kept++;
	}
	list->count = kept;
}

static void take(struct litifut_targets *taken, uint32_t address, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += 2)
		litifut_targets_add(taken, address + at);
}

/* Stepping stones for the calls of one section that could not be moved. */
static enum litifut_status find_stones(const struct walk *walk,
				       const struct litifut_section *section,
				       const struct litifut_targets *targets,
				       struct litifut_targets *taken, struct litifut_error *error)
{
	struct litifut_code_range *ranges = NULL;
	size_t count = 0;
	enum litifut_status status =
		walk->arch->code_ranges(walk->image, section, &ranges, &count, error);

	for (size_t i = 0; i < walk->list->count && !status; i++) {
		struct litifut_found_site *site = &walk->list->items[i];
		struct litifut_cramped_call call;

		if (site->section != section || site->site.reason != LITIFUT_SITE_BRANCH_TARGET)
			continue;
		call = litifut_site_cramped(site);
		if (!walk->arch->find_stone(walk->context, ranges, count, targets, taken, &call))
			continue;
		site->stone = call.stone;
		site->stone_bytes = call.stone_bytes;
		site->detour = true;
		site->site.reason = LITIFUT_SITE_PATCHED;
		take(taken, call.stone, call.stone_bytes);
	}
	free(ranges);
	return status;
}

/* The last resort for the calls that could not be moved. */
static enum litifut_status judge_stuck(const struct walk *walk,
				       const struct litifut_targets *targets,
				       struct litifut_error *error)
{
	struct litifut_targets taken;
	const struct litifut_section *section = NULL;
	enum litifut_status status = litifut_targets_create(walk->image->text_start,
							    walk->image->text_end, &taken, error);

	for (size_t i = 0; i < walk->list->count && !status; i++) {
		const struct litifut_found_site *site = &walk->list->items[i];
		/* With the instruction before, should that move as well. */
		uint32_t before = site->detour && site->site.length == 2 ? site->before[0] : 0;

		take(&taken, site->site.address - before, site->site.length + before);
	}
	for (size_t i = 0; i < walk->list->count && !status; i++) {
		const struct litifut_found_site *site = &walk->list->items[i];

		if (site->site.reason != LITIFUT_SITE_BRANCH_TARGET || site->section == section)
			continue;
		section = site->section; /* all of this section's at once */
		status = find_stones(walk, section, targets, &taken, error);
	}
	litifut_targets_release(&taken);
	return status;
}

/* What the code around the calls tells thunks. Neighbours mostly share their function. */
static void find_facts(const struct walk *walk, const struct litifut_targets *targets)
{
	const struct litifut_symbol *function = NULL;
	struct litifut_function_facts facts = {0};

	for (size_t i = 0; i < walk->list->count; i++) {
		struct litifut_found_site *site = &walk->list->items[i];
		const struct litifut_cramped_call call = litifut_site_cramped(site);

		if (site->site.reason != LITIFUT_SITE_PATCHED || !site->function)
			continue;
		if (site->function != function) {
			function = site->function;
			walk->arch->function_facts(walk->image, walk->context, site->section,
						   call.function_start, call.function_end, &facts);
		}
		site->argument_room = facts.argument_room;
		site->known_callee = walk->arch->known_callee(walk->image, walk->context, &call,
							      &facts, targets);
		if (!site->site.callee)
			site->site.callee = site->known_callee;
	}
}

/* What only the branch targets tell: which of the calls without room can go
 * through a trampoline? */
static enum litifut_status judge_cramped(const struct walk *walk, struct litifut_error *error)
{
	struct litifut_targets *targets = &walk->list->targets;
	enum litifut_status status =
		litifut_targets_of_data(walk->image, walk->context, targets, error);
	size_t stuck = 0;

	if (!status) {
		drop_jumps(walk, targets);
		litifut_targets_merge(targets, &walk->branches);
		status = litifut_targets_of_code(walk->image, walk->arch, walk->context, false,
						 targets, error);
	}
	for (size_t i = 0; i < walk->list->count && !status; i++) {
		struct litifut_found_site *site = &walk->list->items[i];
		struct litifut_cramped_call call;

		if (site->site.reason != LITIFUT_SITE_TOO_SHORT)
			continue;
		call = litifut_site_cramped(site);
		/* Who jumps to the branch alone brings a link register of his own. */
		if (site->instruction.linked == LITIFUT_LINKED_SAME &&
		    !litifut_targets_has(targets, site->site.address)) {
			site->site.reason = LITIFUT_SITE_PATCHED;
			continue;
		}
		site->detour = walk->arch->can_detour(walk->context, &call, targets);
		site->site.reason =
			site->detour ? LITIFUT_SITE_PATCHED : LITIFUT_SITE_BRANCH_TARGET;
		if (!site->detour && (site->instruction.class == LITIFUT_CLASS_BRANCH_COMPUTED ||
				      site->instruction.class == LITIFUT_CLASS_CALL_COMPUTED))
			site->site.reason = LITIFUT_SITE_SPECIAL_FORM;
		stuck += site->site.reason == LITIFUT_SITE_BRANCH_TARGET;
	}
	if (stuck && !status && walk->arch->find_stone)
		status = judge_stuck(walk, targets, error);
	if (!status && walk->context->thunks && walk->arch->known_callee)
		find_facts(walk, targets);
	return status;
}

static int by_address(const void *left, const void *right)
{
	const struct litifut_found_site *a = left;
	const struct litifut_found_site *b = right;

	return a->site.address < b->site.address ? -1 : a->site.address > b->site.address;
}

enum litifut_status litifut_sites_find(const struct litifut_image *image,
				       const struct litifut_arch *arch,
				       const struct litifut_arch_context *context,
				       const struct litifut_rewrite_options *options,
				       struct litifut_site_list *list, struct litifut_error *error)
{
	struct walk walk = {
		.image = image, .arch = arch, .context = context, .options = options, .list = list};
	size_t excluded_bytes = options->excluded_count * sizeof(*options->excluded);
	enum litifut_status status = LITIFUT_OK;

	memset(list, 0, sizeof(*list));
	if (!image->symbol_count)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, image->path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "stripped: no symbol table to find the code by");
	if (options->excluded_count) {
		walk.excluded = malloc(excluded_bytes);
		if (!walk.excluded)
			return litifut_error_set(error, LITIFUT_ERROR_IO, image->path, NULL,
						 LITIFUT_NO_ADDRESS, "out of memory");
		memcpy(walk.excluded, options->excluded, excluded_bytes);
		qsort(walk.excluded, options->excluded_count, sizeof(*walk.excluded), by_start);
	}
	status = litifut_targets_create(image->text_start, image->text_end, &walk.branches, error);
	for (size_t i = 1; i < image->section_count && !status; i++)
		if (litifut_sites_in(&image->sections[i]))
			status = walk_section(&walk, &image->sections[i], error);
	free(walk.excluded);
	if (!status && arch->can_detour &&
	    (walk.needs_targets || (arch->known_callee && context->thunks)))
		status = judge_cramped(&walk, error);
	litifut_targets_release(&walk.branches);
	/* Sections mostly stand in the order of their numbers. */
	if (!status)
		status = litifut_sort_runs(list->items, list->count, sizeof(*list->items),
					   by_address, error);
	if (status)
		litifut_sites_release(list);
	return status;
}

void litifut_sites_release(struct litifut_site_list *list)
{
	free(list->items);
	litifut_targets_release(&list->targets);
	memset(list, 0, sizeof(*list));
}
