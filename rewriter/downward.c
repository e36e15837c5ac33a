#include "rewriter/downward.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/dynamic_symbols.h"
#include "rewriter/program_code.h"
#include "rewriter/sites.h"

/* A call from one function to another, by their numbers in image->functions. */
struct call {
	uint32_t from, to;
	bool inside; /* to a part of the same function */
};

struct finder {
	const struct litifut_image *image;
	const struct litifut_arch *arch;
	struct litifut_slots slots;
	struct call *calls;
	size_t call_count;
	uint8_t *depths; /* by function: how many calls deeper are included, and 1; 0: it is not */
};

/* The number of the function at the address; image->function_count: there is none. */
static size_t number_at(const struct litifut_image *image, uint32_t address)
{
	const size_t number = litifut_image_functions_below(image, address);

	return number < image->function_count && image->function_addresses[number] == address
		       ? number
		       : image->function_count;
}

static size_t number_of_name(const struct litifut_image *image, const char *name)
{
	const struct litifut_symbol *function = *name ? litifut_image_symbol(image, name) : NULL;

	return function ? number_at(image, function->address) : image->function_count;
}

/* The function that code at the address is, or leads to. */
static size_t callee_at(const struct finder *finder, uint32_t address)
{
	const struct litifut_way_end end =
		litifut_way_from(finder->image, finder->arch->cpu, &finder->slots, address);

	if (end.function)
		return number_at(finder->image, end.function->address);
	return end.slot ? number_of_name(finder->image, end.slot) : finder->image->function_count;
}

static size_t callee_of(const struct finder *finder, const struct litifut_found_site *site)
{
	const uint32_t known = site->known_callee;

	if (LITIFUT_CALLEE_IS_SYMBOL(known) && finder->slots.symbols)
		return number_of_name(finder->image,
				      litifut_dynamic_name(finder->image, finder->slots.symbols,
							   LITIFUT_CALLEE_SYMBOL_OF(known)));
	if (site->site.callee)
		return callee_at(finder, site->site.callee);
	return known && !LITIFUT_CALLEE_IS_SYMBOL(known) ? callee_at(finder, known)
							 : finder->image->function_count;
}

/* Is the second one a part of the first, which the compiler has put elsewhere? */
static bool is_part(const char *name, const char *part)
{
	const size_t length = strlen(name);

	return !strncmp(name, part, length) && !strncmp(part + length, ".cold", 5);
}

static void add_call(struct finder *finder, const struct litifut_found_site *site)
{
	const struct litifut_image *image = finder->image;
	const struct litifut_symbol *caller =
		site->function ? &image->symbols[site->function - 1] : NULL;
	const size_t from = caller ? number_at(image, caller->address) : image->function_count;
	const size_t to = callee_of(finder, site);

	if (from == image->function_count || to == image->function_count || from == to)
		return;
	finder->calls[finder->call_count++] =
		(struct call){(uint32_t)from, (uint32_t)to,
			      is_part(image->symbols[image->functions[from]].name,
				      image->symbols[image->functions[to]].name)};
}

/* All names of a function have one number, that of the first. */
static enum litifut_status add_roots(struct finder *finder, const char *word,
				     struct litifut_error *error)
{
	const struct litifut_image *image = finder->image;
	unsigned calls;
	size_t length;
	char *glob;

	if (!litifut_include_split(word, &length, &calls))
		return LITIFUT_OK;
	glob = calloc(length + 1, 1);
	if (!glob)
		return litifut_error_memory(error, image->path);
	memcpy(glob, word, length);
	for (size_t i = 0; i < image->function_count; i++) {
		const size_t number = number_at(image, image->function_addresses[i]);

		if (finder->depths[number] < calls + 1 &&
		    litifut_is_named((const char *const[]){glob, NULL},
				     image->symbols[image->functions[i]].name))
			finder->depths[number] = (uint8_t)(calls + 1);
	}
	free(glob);
	return LITIFUT_OK;
}

/* From the deepest on, so that each function gets as many calls as it can have. */
static void follow(struct finder *finder)
{
	for (unsigned depth = LITIFUT_INCLUDE_CALLS_MAX + 1; depth; depth--)
		for (bool again = true; again;) {
			again = false;
			for (size_t i = 0; i < finder->call_count; i++) {
				const struct call *call = &finder->calls[i];
				const unsigned left = call->inside ? depth : depth - 1;

				if (finder->depths[call->from] != depth ||
				    finder->depths[call->to] >= left)
					continue;
				finder->depths[call->to] = (uint8_t)left;
				again |= call->inside;
			}
		}
}

static enum litifut_status collect(struct litifut_image *image, const uint8_t *depths,
				   struct litifut_error *error)
{
	image->downward = calloc(image->function_count + 1, sizeof(*image->downward));
	if (!image->downward)
		return litifut_error_memory(error, image->path);
	for (size_t i = 0; i < image->function_count; i++)
		if (depths[i])
			image->downward[image->downward_count++] = image->function_addresses[i];
	return LITIFUT_OK;
}

static bool asks(const struct litifut_rewrite_options *options)
{
	const char *const *words = options->include_functions;
	unsigned calls;
	size_t length;

	while (words && *words && !litifut_include_split(*words, &length, &calls))
		words++;
	return words && *words;
}

enum litifut_status litifut_downward_find(struct litifut_image *image,
					  const struct litifut_arch *arch,
					  const struct litifut_arch_context *context,
					  const struct litifut_rewrite_options *options,
					  struct litifut_error *error)
{
	struct litifut_rewrite_options all = *options;
	struct litifut_arch_context naming = *context;
	struct finder finder = {.image = image, .arch = arch};
	const struct litifut_section *symbols;
	struct litifut_site_list sites;
	enum litifut_status status;

	if (!asks(options))
		return LITIFUT_OK;
	all.include_functions = NULL;
	all.tail_calls = true;
	naming.symbols = true;
	status = litifut_sites_find(image, arch, &naming, &all, &sites, error);
	if (status)
		return status;
	finder.calls = calloc(sites.count + 1, sizeof(*finder.calls));
	finder.depths = calloc(image->function_count + 1, sizeof(*finder.depths));
	symbols = litifut_image_section(image, ".dynsym");
	if (symbols && (!symbols->bytes || symbols->type != SHT_DYNSYM))
		symbols = NULL;
	status = finder.calls && finder.depths ? litifut_slots_find(image, &arch->cpu->linkage,
								    symbols, &finder.slots, error)
					       : litifut_error_memory(error, image->path);
	for (size_t i = 0; i < sites.count && !status; i++)
		add_call(&finder, &sites.items[i]);
	for (const char *const *word = options->include_functions; *word && !status; word++)
		status = add_roots(&finder, *word, error);
	if (!status) {
		follow(&finder);
		status = collect(image, finder.depths, error);
	}
	litifut_slots_release(&finder.slots);
	free(finder.calls);
	free(finder.depths);
	litifut_sites_release(&sites);
	return status;
}
