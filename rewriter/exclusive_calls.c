/* Compilers put no call between an exclusive load and its store, but a program can, by intrinsics
 * that are functions with nothing but the load or the store, or by functions that call these. What
 * stands between the two is looked for in the order of the addresses, not along branches: too many
 * sites are left rather than too few. */
#include "rewriter/exclusive_calls.h"

#include <elf.h>
#include <stdlib.h>

#include "cpu/cpu.h"
#include "cpu/step.h"

/* How far behind a load its store is expected, in bytes. */
#define EXCLUSIVE_BYTES 256

/* So many functions are around one another at most. */
#define WRAPPERS_MOST 8

enum place_kind { PLACE_OPENS, PLACE_CLOSES, PLACE_GIVES_UP, PLACE_SITE };

struct place {
	uint32_t address;
	enum place_kind kind;
	struct litifut_site *site;
};

/* What a function does to its caller's exclusive access. */
#define OPENS 1
#define CLOSES 2

struct search {
	const struct litifut_image *image;
	struct litifut_site_list *sites;
	struct place *places;
	size_t count, capacity;
	uint8_t *effects;   /* by number of the symbol */
	uint8_t *functions; /* the same */
	uint32_t *open;     /* symbols whose calls are still to be followed */
	size_t open_count;
	bool enough; /* memory */
};

static void add_place(struct search *search, uint32_t address, enum place_kind kind,
		      struct litifut_site *site)
{
	if (search->count == search->capacity) {
		const size_t capacity = 2 * search->capacity + 64;
		struct place *more = realloc(search->places, capacity * sizeof(*more));

		if (!more) {
			search->enough = false;
			return;
		}
		search->places = more;
		search->capacity = capacity;
	}
	search->places[search->count++] = (struct place){address, kind, site};
}

static void add_accesses(struct search *search, const struct litifut_arch *arch,
			 const struct litifut_arch_context *context,
			 const struct litifut_section *section,
			 const struct litifut_code_range *range)
{
	unsigned block = 0;
	unsigned length;

	for (uint32_t at = range->start; at < range->end; at += length) {
		struct cpu_step step;

		length = arch->cpu->step(&context->cpu, section->bytes + (at - section->address),
					 range->end - at, at, range->state, &block, &step);
		if (!length)
			return;
		if (step.exclusive)
			add_place(search, at,
				  step.exclusive == CPU_EXCLUSIVE_OPENS    ? PLACE_OPENS
				  : step.exclusive == CPU_EXCLUSIVE_CLOSES ? PLACE_CLOSES
									   : PLACE_GIVES_UP,
				  NULL);
	}
}

static enum litifut_status find_accesses(struct search *search, const struct litifut_arch *arch,
					 const struct litifut_arch_context *context,
					 struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 0; i < search->image->section_count && !status; i++) {
		const struct litifut_section *section = &search->image->sections[i];
		struct litifut_code_range *ranges = NULL;
		size_t count = 0;

		if (!(section->flags & SHF_EXECINSTR) || !section->bytes)
			continue;
		status = arch->code_ranges(search->image, section, &ranges, &count, error);
		for (size_t k = 0; k < count && !status; k++)
			if (ranges[k].state == LITIFUT_CODE_PLAIN ||
			    ranges[k].state == LITIFUT_CODE_THUMB)
				add_accesses(search, arch, context, section, &ranges[k]);
		free(ranges);
	}
	return status;
}

static int by_address(const void *left, const void *right)
{
	const struct place *one = left;
	const struct place *other = right;

	return (one->address > other->address) - (one->address < other->address);
}

static size_t number_of(const struct search *search, const struct litifut_symbol *function)
{
	return (size_t)(function - search->image->symbols);
}

static const struct litifut_symbol *callee_of(const struct search *search,
					      const struct litifut_site *site)
{
	const struct litifut_symbol *callee =
		site->callee ? litifut_image_function_start(search->image, site->callee & ~1u)
			     : NULL;

	return callee && !callee->own ? callee : NULL;
}

/* What a place does by itself or, a call, by what it leads to. */
static uint8_t effect_of(const struct search *search, const struct place *place)
{
	const struct litifut_symbol *callee;

	if (place->kind != PLACE_SITE)
		return place->kind == PLACE_OPENS    ? OPENS
		       : place->kind == PLACE_CLOSES ? CLOSES
						     : 0;
	callee = callee_of(search, place->site);
	return callee ? search->effects[number_of(search, callee)] : 0;
}

/* Where both are in a function it is done with that, whatever their order. A load that is left open
 * stands near the end, and a store of the caller's load near the start. */
static uint8_t effect_of_function(const struct search *search,
				  const struct litifut_symbol *function, const struct place *places,
				  size_t count)
{
	const uint32_t end = litifut_image_function_end(search->image, function);
	uint8_t all = 0, near = 0;

	for (size_t i = 0; i < count; i++) {
		const uint8_t effect = effect_of(search, &places[i]);

		all |= effect;
		if (end - places[i].address <= EXCLUSIVE_BYTES)
			near |= effect & OPENS;
		if (places[i].address - function->address <= EXCLUSIVE_BYTES)
			near |= effect & CLOSES;
	}
	return all == (OPENS | CLOSES) ? 0 : near;
}

/* Also of functions around others, so again until there are no more. */
static void find_effects(struct search *search)
{
	bool changed = true;

	for (unsigned round = 0; changed && round < WRAPPERS_MOST; round++) {
		changed = false;
		for (size_t first = 0, end; first < search->count; first = end) {
			const struct litifut_symbol *function = litifut_image_function_at(
				search->image, search->places[first].address);
			uint8_t *effect, found;

			for (end = first + 1;
			     end < search->count &&
			     litifut_image_function_at(search->image,
						       search->places[end].address) == function;)
				end++;
			if (!function || function->own)
				continue;
			effect = &search->effects[number_of(search, function)];
			found = effect_of_function(search, function, &search->places[first],
						   end - first);
			changed |= found != *effect;
			*effect = found;
		}
	}
}

static void follow(struct search *search, const struct litifut_site *site)
{
	const struct litifut_symbol *callee = callee_of(search, site);

	if (!callee || search->functions[number_of(search, callee)])
		return;
	search->functions[number_of(search, callee)] = 1;
	search->open[search->open_count++] = (uint32_t)number_of(search, callee);
}

static void leave(struct search *search, struct litifut_site *site)
{
	if (site->reason == LITIFUT_SITE_PATCHED)
		site->reason = LITIFUT_SITE_EXCLUSIVE;
	follow(search, site);
}

/* The load of a store stands behind it where a loop is entered in its midst. */
static void leave_before(struct search *search, size_t store, const struct litifut_symbol *function)
{
	const uint32_t from = search->places[store].address;

	for (size_t i = store; i--;) {
		const struct place *place = &search->places[i];

		if (place->kind != PLACE_SITE || from - place->address > EXCLUSIVE_BYTES ||
		    litifut_image_function_at(search->image, place->address) != function ||
		    effect_of(search, place))
			return;
		leave(search, place->site);
	}
}

static void leave_between(struct search *search)
{
	const struct litifut_symbol *last = NULL;
	uint32_t from = 0;
	bool open = false;

	for (size_t i = 0; i < search->count; i++) {
		const struct place *place = &search->places[i];
		const struct litifut_symbol *function =
			litifut_image_function_at(search->image, place->address);
		const uint8_t effect = effect_of(search, place);

		if (function != last || place->address - from > EXCLUSIVE_BYTES)
			open = false;
		last = function;
		if (!function || function->own)
			continue;
		if (effect & CLOSES && !open)
			leave_before(search, i, function);
		if (place->kind == PLACE_SITE) {
			if (open || effect)
				search->functions[number_of(search, function)] = 1;
			if (open || effect & CLOSES)
				leave(search, place->site);
		}
		if (effect || place->kind == PLACE_GIVES_UP) {
			open = effect & OPENS;
			from = place->address;
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

		for (size_t i = 0; i < search->sites->count; i++) {
			struct litifut_site *site = &search->sites->items[i].site;

			if (site->address - function->address < size)
				leave(search, site);
		}
	}
}

enum litifut_status litifut_exclusive_mark(const struct litifut_image *image,
					   const struct litifut_arch *arch,
					   const struct litifut_arch_context *context,
					   struct litifut_site_list *sites, uint8_t *functions,
					   struct litifut_error *error)
{
	struct search search = {
		.image = image, .sites = sites, .functions = functions, .enough = true};
	enum litifut_status status = find_accesses(&search, arch, context, error);

	if (!status && !search.enough)
		status = litifut_error_memory(error, image->path);
	if (!status && search.count) {
		search.effects = calloc(image->symbol_count + 1, sizeof(*search.effects));
		search.open = calloc(image->symbol_count + 1, sizeof(*search.open));
		for (size_t i = 0; i < sites->count; i++)
			add_place(&search, sites->items[i].site.address, PLACE_SITE,
				  &sites->items[i].site);
		if (!search.enough || !search.effects || !search.open)
			status = litifut_error_memory(error, image->path);
	}
	if (!status && search.count) {
		qsort(search.places, search.count, sizeof(*search.places), by_address);
		find_effects(&search);
		leave_between(&search);
		leave_callees(&search);
	}
	free(search.places);
	free(search.effects);
	free(search.open);
	return status;
}
