/* Compilers put no call between an exclusive load and its store, but a program can, by intrinsics
 * that are functions with nothing but the load or the store, or by functions that call these.
 *
 * Each function with such an instruction is followed along its branches. What can come behind a
 * load and before a store is between the two. So in most programs these functions alone are looked
 * at, and nothing is left. Only where the start of one leads to a store without a load are there
 * accesses that span functions, and calls of these are followed as well.
 *
 * More than 500 lines in one file, because all steps are about the same nodes and symbols. */
#include "rewriter/exclusive_calls.h"

#include <stdlib.h>

#include "cpu/cpu.h"
#include "cpu/step.h"
#include "rewriter/callees.h"
#include "rewriter/program_code.h"

/* So many functions are around one another at most. */
#define WRAPPERS_MOST 8

/* What an instruction, or a function, does to an exclusive access. A function can do both: it makes
 * the store, or returns without one. */
#define OPENS 1
#define CLOSES 2

#define NOWHERE UINT32_MAX

/* An instruction of the function that is looked at. */
struct node {
	uint32_t address;
	uint32_t target;                 /* number of the node that it leads to, or NOWHERE */
	struct litifut_found_site *site; /* a call, at its delay slot if it has one */
	uint8_t effect;
	bool goes_on; /* to the next node */
	bool leaves;  /* the function */
	bool open;    /* a load can come before, and no store in between */
	bool ahead;   /* a store can come, it or behind it, and no load in between */
};

struct search {
	const struct litifut_image *image;
	const struct litifut_arch *arch;
	const struct litifut_arch_context *context;
	struct litifut_site_list *sites;
	uint32_t *callees;  /* by site: see litifut_callees_of_sites() */
	struct node *nodes; /* of one function */
	size_t count, capacity;
	/* By number of the symbol: */
	uint8_t *found;     /* it has an access, or calls a function that does something to one */
	uint8_t *effects;   /* what it does to its caller's */
	uint8_t *openers;   /* its load is that of a store in a caller */
	uint8_t *functions; /* code of it is executed between the two */
	uint32_t *open;     /* symbols whose calls are still to be followed */
	size_t open_count;
	bool spans;   /* there are accesses that span functions */
	bool between; /* there are calls between a load and its store */
	bool returns; /* are recorded */
	bool changed;
};

static size_t number_of(const struct search *search, const struct litifut_symbol *function)
{
	return (size_t)(function - search->image->symbols);
}

/* Few functions have any. */
static void scan(struct search *search, const struct litifut_section *section,
		 const struct litifut_code_range *range)
{
	const struct litifut_arch *arch = search->arch;

	for (uint32_t at = range->start; at < range->end;) {
		const struct litifut_symbol *function;
		uint32_t end;

		at += arch->cpu->find_exclusive(&search->context->cpu,
						section->bytes + (at - section->address),
						range->end - at, range->state);
		if (at >= range->end)
			return;
		function = litifut_image_function_at(search->image, at);
		end = function ? litifut_image_function_end(search->image, function) : 0;
		if (function && !litifut_is_tracer_code(function)) {
			search->found[number_of(search, function)] = 1;
			search->changed = true;
		}
		at = end > at ? end : at + 2;
	}
}

static enum litifut_status find_ranges(struct search *search, struct litifut_error *error)
{
	const struct litifut_image *image = search->image;
	struct litifut_site_list *sites = search->sites;
	enum litifut_status status = LITIFUT_OK;

	if (sites->ranges)
		return LITIFUT_OK;
	sites->ranges = calloc(image->section_count + 1, sizeof(*sites->ranges));
	if (!sites->ranges)
		return litifut_error_memory(error, image->path);
	sites->range_count = image->section_count;
	for (size_t i = 1; i < image->section_count && !status; i++)
		if (litifut_sites_in(&image->sections[i]))
			status = search->arch->code_ranges(image, &image->sections[i],
							   &sites->ranges[i].items,
							   &sites->ranges[i].count, error);
	return status;
}

static void scan_all(struct search *search)
{
	for (size_t i = 0; i < search->sites->range_count; i++) {
		const struct litifut_code_ranges *ranges = &search->sites->ranges[i];

		for (size_t k = 0; k < ranges->count; k++)
			if (ranges->items[k].state == LITIFUT_CODE_PLAIN ||
			    ranges->items[k].state == LITIFUT_CODE_THUMB)
				scan(search, &search->image->sections[i], &ranges->items[k]);
	}
}

/* The number of the first one that is not below. */
static size_t first_site(const struct search *search, uint32_t address)
{
	size_t low = 0, high = search->sites->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (search->sites->items[middle].site.address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct litifut_found_site *site_at(const struct search *search, uint32_t address)
{
	const size_t number = first_site(search, address);

	return number < search->sites->count && search->sites->items[number].site.address == address
		       ? &search->sites->items[number]
		       : NULL;
}

static const struct litifut_symbol *callee_of(const struct search *search,
					      const struct litifut_found_site *site)
{
	const uint32_t known = search->callees ? search->callees[site - search->sites->items] : 0;
	const uint32_t address =
		known && !LITIFUT_CALLEE_IS_SYMBOL(known) ? known : site->site.callee;
	const struct litifut_symbol *callee =
		address ? litifut_image_function_start(search->image, address & ~1u) : NULL;

	return callee && !callee->own ? callee : NULL;
}

static uint8_t effect_of_call(const struct search *search, const struct litifut_found_site *site)
{
	const struct litifut_symbol *callee = callee_of(search, site);

	return callee ? search->effects[number_of(search, callee)] : 0;
}

static struct node *add_node(struct search *search, uint32_t address)
{
	if (search->count == search->capacity) {
		const size_t capacity = 2 * search->capacity + 256;
		struct node *more = realloc(search->nodes, capacity * sizeof(*more));

		if (!more)
			return NULL;
		search->nodes = more;
		search->capacity = capacity;
	}
	search->nodes[search->count] = (struct node){.address = address, .target = NOWHERE};
	return &search->nodes[search->count++];
}

/* Adds the instructions of the function in the range; `target` of each is an address still.
 * False: there is not enough memory. */
static bool add_nodes(struct search *search, const struct litifut_section *section,
		      const struct litifut_code_range *range, const struct litifut_symbol *function,
		      uint32_t end)
{
	struct cpu_step branch = {0}; /* to which this delay slot belongs */
	struct litifut_found_site *site = NULL;
	unsigned block = 0, length;
	uint32_t at = range->start > function->address ? range->start : function->address;

	for (; at < end && at < range->end; at += length) {
		struct cpu_step step;
		struct node *node = add_node(search, at);

		length = search->arch->cpu->step(&search->context->cpu,
						 section->bytes + (at - section->address),
						 range->end - at, at, range->state, &block, &step);
		if (!node || !length)
			return node != NULL;
		if (step.exclusive == CPU_EXCLUSIVE_OPENS || step.exclusive == CPU_EXCLUSIVE_CLOSES)
			node->effect = step.exclusive == CPU_EXCLUSIVE_OPENS ? OPENS : CLOSES;
		node->goes_on = true;
		if (step.slot) {
			site = step.way == LITIFUT_ENDS_ON ? NULL : site_at(search, at);
			branch = step;
			continue;
		}
		if (branch.slot)
			step = branch;
		else if (step.way != LITIFUT_ENDS_ON)
			site = site_at(search, at);
		branch = (struct cpu_step){0};
		if (step.way == LITIFUT_ENDS_ON)
			continue;
		node->site = site;
		node->goes_on = step.conditional || step.way == LITIFUT_ENDS_CALL;
		if (step.way == LITIFUT_ENDS_BRANCH &&
		    (step.target & ~1u) - function->address < end - function->address)
			node->target = step.target & ~1u;
		else
			node->leaves =
				step.way != LITIFUT_ENDS_CALL && step.way != LITIFUT_ENDS_STOP;
	}
	return true;
}

static uint32_t node_at(const struct search *search, uint32_t address)
{
	size_t low = 0, high = search->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (search->nodes[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < search->count && search->nodes[low].address == address ? (uint32_t)low
									    : NOWHERE;
}

static bool decode(struct search *search, const struct litifut_symbol *function)
{
	const struct litifut_section *section = &search->image->sections[function->section];
	const struct litifut_code_ranges *ranges = &search->sites->ranges[function->section];
	const uint32_t end = litifut_image_function_end(search->image, function);
	size_t low = 0, high = ranges->count;

	search->count = 0;
	while (low < high) { /* the first one that ends behind its start */
		const size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].end <= function->address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < ranges->count && ranges->items[low].start < end; low++) {
		const struct litifut_code_range *range = &ranges->items[low];

		if ((range->state == LITIFUT_CODE_PLAIN || range->state == LITIFUT_CODE_THUMB) &&
		    !add_nodes(search, section, range, function, end))
			return false;
	}
	for (size_t i = 0; i < search->count; i++) {
		struct node *node = &search->nodes[i];

		if (node->target != NOWHERE)
			node->target = node_at(search, node->target);
		if (node->site && search->spans && !node->effect)
			node->effect = effect_of_call(search, node->site);
	}
	return true;
}

static bool is_ahead_behind(const struct search *search, size_t number)
{
	const struct node *node = &search->nodes[number];

	return (node->goes_on && number + 1 < search->count && search->nodes[number + 1].ahead) ||
	       (node->target != NOWHERE && search->nodes[node->target].ahead);
}

/* `returns`: a store is expected behind the function. */
static void look_ahead(struct search *search, bool returns)
{
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = search->count; i-- > 0;) {
			struct node *node = &search->nodes[i];

			if (node->ahead || node->effect == OPENS)
				continue;
			node->ahead = node->effect & CLOSES || (node->leaves && returns) ||
				      is_ahead_behind(search, i);
			again |= node->ahead;
		}
	}
}

static bool open_node(struct search *search, size_t number)
{
	struct node *node;

	if (number >= search->count)
		return false;
	node = &search->nodes[number];
	if (node->open)
		return false;
	node->open = true;
	return true;
}

static void look_behind(struct search *search)
{
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < search->count; i++) {
			const struct node *node = &search->nodes[i];

			if (node->effect ? !(node->effect & OPENS) : !node->open)
				continue;
			if (node->goes_on)
				open_node(search, i + 1);
			if (node->target != NOWHERE && open_node(search, node->target))
				again |= node->target <= i;
		}
	}
}

/* What it does to its caller's accesses. */
static uint8_t look_at(struct search *search, const struct litifut_symbol *function)
{
	uint8_t effect = 0;

	look_ahead(search, search->openers[number_of(search, function)]);
	if (search->count && search->nodes[0].ahead) {
		effect |= CLOSES;
		search->nodes[0].open = true;
	}
	look_behind(search);
	for (size_t i = 0; i < search->count; i++) {
		const struct node *node = &search->nodes[i];

		if (node->leaves && (node->effect ? node->effect & OPENS : node->open))
			effect |= OPENS;
	}
	return effect;
}

static void follow(struct search *search, const struct litifut_found_site *site)
{
	const struct litifut_symbol *callee = callee_of(search, site);

	if (!callee || search->functions[number_of(search, callee)])
		return;
	search->functions[number_of(search, callee)] = 1;
	search->open[search->open_count++] = (uint32_t)number_of(search, callee);
}

static void leave(struct litifut_found_site *site)
{
	if (site->site.reason == LITIFUT_SITE_PATCHED)
		site->site.reason = LITIFUT_SITE_EXCLUSIVE;
}

/* Its callee makes the load: what that does behind it is between as well, and its return is. */
static void leave_opener(struct search *search, struct litifut_found_site *site)
{
	uint8_t *opener = &search->openers[number_of(search, callee_of(search, site))];

	search->changed |= !*opener;
	*opener = 1;
	if (search->returns && !litifut_site_is_tail(&site->site))
		leave(site);
}

static void leave_between(struct search *search, const struct litifut_symbol *function)
{
	for (size_t i = 0; i < search->count; i++) {
		const struct node *node = &search->nodes[i];
		const bool opener =
			node->site && node->effect & OPENS &&
			(is_ahead_behind(search, i) ||
			 (node->leaves && search->openers[number_of(search, function)]));
		const bool between = node->site && node->open && node->ahead;

		if (opener || between)
			search->functions[number_of(search, function)] = 1;
		if (opener)
			leave_opener(search, node->site);
		search->between |= between;
		if (between) {
			leave(node->site);
			follow(search, node->site);
		}
	}
}

static void leave_callees(struct search *search)
{
	while (search->open_count) {
		const struct litifut_symbol *function =
			&search->image->symbols[search->open[--search->open_count]];
		const uint32_t size =
			litifut_image_function_end(search->image, function) - function->address;

		for (size_t i = first_site(search, function->address); i < search->sites->count;
		     i++) {
			struct litifut_found_site *site = &search->sites->items[i];

			if (site->site.address - function->address >= size)
				break;
			leave(site);
			follow(search, site);
		}
	}
}

/* Of all functions that are found so far. */
static bool find_effects(struct search *search)
{
	for (size_t i = 0; i < search->image->symbol_count; i++) {
		uint8_t effect;

		if (!search->found[i])
			continue;
		if (!decode(search, &search->image->symbols[i]))
			return false;
		effect = look_at(search, &search->image->symbols[i]);
		search->spans |= effect & CLOSES;
		search->changed |= effect != search->effects[i];
		search->effects[i] = effect;
		/* there is mostly nothing to be found out beyond */
		if (!search->spans)
			leave_between(search, &search->image->symbols[i]);
	}
	return true;
}

/* Also those around others, so again until there are no more. */
static bool find_wrappers(struct search *search)
{
	search->changed = true;
	for (unsigned round = 0; search->changed && round < WRAPPERS_MOST; round++) {
		for (size_t i = 0; i < search->sites->count; i++) {
			const struct litifut_found_site *site = &search->sites->items[i];
			const struct litifut_symbol *function;

			if (!effect_of_call(search, site))
				continue;
			function = litifut_image_function_at(search->image, site->site.address);
			if (function && !function->own)
				search->found[number_of(search, function)] = 1;
		}
		search->changed = false;
		if (!find_effects(search))
			return false;
	}
	return true;
}

static bool leave_all(struct search *search)
{
	search->changed = true;
	for (unsigned round = 0; search->changed && round < WRAPPERS_MOST; round++) {
		search->changed = false;
		for (size_t i = 0; i < search->image->symbol_count; i++) {
			const struct litifut_symbol *function = &search->image->symbols[i];

			if (!search->found[i])
				continue;
			if (!decode(search, function))
				return false;
			if (look_at(search, function) & CLOSES || search->openers[i])
				search->functions[i] = 1;
			leave_between(search, function);
		}
	}
	return true;
}

static enum litifut_status judge(struct search *search, struct litifut_error *error)
{
	const size_t count = search->image->symbol_count + 1;
	enum litifut_status status;

	search->effects = calloc(count, 1);
	search->openers = calloc(count, 1);
	search->open = calloc(count, sizeof(*search->open));
	if (!search->effects || !search->openers || !search->open || !find_effects(search))
		return litifut_error_memory(error, search->image->path);
	if (!search->spans && !search->between)
		return LITIFUT_OK;
	status = litifut_callees_of_sites(search->image, search->arch, search->context,
					  search->sites, &search->callees, error);
	if (!status && ((search->spans && !find_wrappers(search)) || !leave_all(search)))
		status = litifut_error_memory(error, search->image->path);
	if (!status)
		leave_callees(search);
	return status;
}

enum litifut_status litifut_exclusive_mark(const struct litifut_image *image,
					   const struct litifut_arch *arch,
					   const struct litifut_arch_context *context,
					   struct litifut_site_list *sites, bool returns,
					   uint8_t *functions, struct litifut_error *error)
{
	struct search search = {.image = image,
				.arch = arch,
				.context = context,
				.sites = sites,
				.functions = functions,
				.returns = returns};
	enum litifut_status status = LITIFUT_OK;

	if (!arch->cpu->find_exclusive)
		return LITIFUT_OK;
	search.found = calloc(image->symbol_count + 1, 1);
	if (!search.found)
		status = litifut_error_memory(error, image->path);
	if (!status)
		status = find_ranges(&search, error);
	if (!status)
		scan_all(&search);
	if (!status && search.changed)
		status = judge(&search, error);
	free(search.callees);
	free(search.nodes);
	free(search.found);
	free(search.effects);
	free(search.openers);
	free(search.open);
	return status;
}
