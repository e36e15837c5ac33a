/* Which entry point or island serves which call site. */
#include "rewriter/reach.h"

#include <stdlib.h>
#include <string.h>

#define ISLAND_PREFIX "litifut_island_"

static bool is_island(const struct litifut_symbol *symbol)
{
	return strncmp(symbol->name, ISLAND_PREFIX, strlen(ISLAND_PREFIX)) == 0;
}

static int by_entry(const void *left, const void *right)
{
	const struct litifut_landing *a = left;
	const struct litifut_landing *b = right;

	return a->entries[0] < b->entries[0] ? -1 : a->entries[0] > b->entries[0];
}

static void sort(struct litifut_landings *landings)
{
	qsort(landings->items, landings->count, sizeof(*landings->items), by_entry);
	landings->own = 0;
	while (landings->items[landings->own].island || landings->items[landings->own].hosted)
		landings->own++;
}

static enum litifut_status append(struct litifut_landings *landings,
				  const struct litifut_landing *landing,
				  struct litifut_error *error)
{
	struct litifut_landing *items =
		realloc(landings->items, (landings->count + 1) * sizeof(*landings->items));

	if (!items)
		return litifut_error_memory(error, NULL);
	landings->items = items;
	items[landings->count++] = *landing;
	return LITIFUT_OK;
}

static enum litifut_status append_island(struct litifut_landings *landings,
					 const struct litifut_arch *arch,
					 const struct litifut_arch_context *context,
					 const struct litifut_symbol *island,
					 struct litifut_error *error)
{
	struct litifut_landing landing = {.island = island};
	uint8_t scratch[LITIFUT_ISLAND_BYTES_MAX];

	arch->write_island(context, island->address, landings->items[landings->own].entries,
			   scratch, landing.entries);
	return append(landings, &landing, error);
}

enum litifut_status litifut_landings_add_island(struct litifut_landings *landings,
						const struct litifut_arch *arch,
						const struct litifut_arch_context *context,
						const struct litifut_symbol *island,
						struct litifut_error *error)
{
	enum litifut_status status = append_island(landings, arch, context, island, error);

	sort(landings);
	return status;
}

enum litifut_status litifut_landings_find(const struct litifut_image *image,
					  const struct litifut_arch *arch,
					  const struct litifut_arch_context *context,
					  struct litifut_landings *landings,
					  struct litifut_error *error)
{
	struct litifut_landing own = {0};
	enum litifut_status status;

	memset(landings, 0, sizeof(*landings));
	for (size_t i = 0; i < arch->entry_count; i++) {
		const struct litifut_symbol *entry =
			litifut_image_symbol(image, arch->entry_names[i]);

		if (!entry && (strcmp(arch->entry_names[i], LITIFUT_TRAMPOLINES) == 0 ||
			       (arch->common_entries && i >= arch->common_entries)))
			continue;
		if (!entry)
			return litifut_error_set(
				error, LITIFUT_ERROR_MISSING, image->path, NULL, LITIFUT_NO_ADDRESS,
				"the tracer is not linked in (no %s)", arch->entry_names[i]);
		own.entries[i] = entry->address;
	}
	landings->gate = !LITIFUT_ARCH_GET(arch, detour, gate_works) ||
			 arch->detour->gate_works(own.entries);
	status = append(landings, &own, error);
	for (size_t i = 0; i < image->own_count && landings->gate && !status; i++) {
		const struct litifut_symbol *island = &image->symbols[image->own[i]];

		if (is_island(island) && arch->write_island && island->size >= arch->island_bytes &&
		    litifut_image_section_at(image, island->address, island->size))
			status = append_island(landings, arch, context, island, error);
	}
	if (!status)
		sort(landings);
	return status;
}

enum litifut_status litifut_landings_add_hosted(struct litifut_landings *landings,
						const uint32_t *entries, bool spare,
						struct litifut_error *error)
{
	struct litifut_landing landing = {.hosted = true, .spare = spare};
	enum litifut_status status;

	memcpy(landing.entries, entries, sizeof(landing.entries));
	status = append(landings, &landing, error);
	sort(landings);
	return status;
}

void litifut_landings_release(struct litifut_landings *landings)
{
	free(landings->items);
	memset(landings, 0, sizeof(*landings));
}

/* Index of the first landing at `address` or above. */
static size_t first_above(const struct litifut_landings *landings, uint32_t address)
{
	size_t low = 0;
	size_t high = landings->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (landings->items[middle].entries[0] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t litifut_landings_encode(const struct litifut_landings *landings,
				 const struct litifut_arch *arch,
				 const struct litifut_arch_context *context,
				 const struct litifut_found_site *site, unsigned entry,
				 uint8_t *code)
{
	const struct litifut_landing *items = landings->items;
	const uint32_t address = site->site.address;
	const size_t above = first_above(landings, address);
	uint32_t spare = 0;

	/* The tracer's own entry saves the detour over an island. */
	if (items[landings->own].entries[entry] &&
	    arch->cpu->encode_call(&context->cpu, &site->instruction, address,
				   items[landings->own].entries[entry], code))
		return items[landings->own].entries[entry];
	/* Away from the site on both sides, until one is out of reach. */
	for (size_t step = 0, ways = 3; ways; step++) {
		for (unsigned up = 0; up < 2; up++) {
			size_t index = up ? above + step : above - 1 - step;
			uint32_t target = index < landings->count ? items[index].entries[entry] : 0;

			if (index >= landings->count)
				ways &= up ? 1 : 2;
			if (!(ways & (up ? 2 : 1)) || !target)
				continue;
			if (!arch->cpu->encode_call(&context->cpu, &site->instruction, address,
						    target, code))
				ways &= up ? 1 : 2;
			else if (!items[index].spare)
				return target;
			else if (!spare)
				spare = target;
		}
	}
	if (spare)
		arch->cpu->encode_call(&context->cpu, &site->instruction, address, spare, code);
	return spare;
}
