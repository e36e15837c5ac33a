/* Follows the calls of the start-up code. Nothing in an image says where .bss is cleared, but
 * it is before the first constructor. */
#include "rewriter/before_ram.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

struct start {
	const struct litifut_image *image;
	const struct litifut_firmware_cpu *cpu;
	const struct litifut_arch_context *context;
	struct litifut_site_list *sites;
	uint32_t main_at; /* 0: there is none */
	bool *seen;       /* by number of the symbol: its function has been walked */
	unsigned depth;
};

static bool is_boundary(const struct start *start, const struct litifut_symbol *function)
{
	static const char *const names[] = {
		"__libc_init_array", "main",
		"__libc_start_main", "z_cstart", /* Zephyr: main() is called by a thread */
		"nx_start",                      /* NuttX: likewise */
		"lk_main",                       /* little kernel: likewise */
	};

	if (start->main_at)
		return (function->address & ~1u) == (start->main_at & ~1u);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(function->name, names[i]))
			return true;
	return false;
}

/* Number of the first site at `address` or above. */
static size_t first_site(const struct litifut_site_list *sites, uint32_t address)
{
	size_t low = 0;
	size_t high = sites->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sites->items[middle].site.address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void mark(struct litifut_found_site *site, unsigned from, unsigned to)
{
	if (site->site.reason == from)
		site->site.reason = (uint8_t)to;
}

static const struct litifut_symbol *callee_of(const struct start *start,
					      const struct litifut_symbol *function,
					      const struct litifut_site *site)
{
	uint32_t callee = site->callee;

	if (!callee && start->cpu->pointed_callee)
		callee = start->cpu->pointed_callee(start->image, start->context, function->address,
						    site->address);
	return callee ? litifut_image_function_start(start->image, callee & ~1u) : NULL;
}

/* Returns true when the boundary has been found: all before it is marked. */
static bool walk(struct start *start, const struct litifut_symbol *function)
{
	const uint32_t size =
		litifut_image_function_end(start->image, function) - function->address;
	size_t i = first_site(start->sites, function->address);
	bool found = false;

	if (start->seen[function - start->image->symbols] || start->depth == DEPTH_MAX)
		return false;
	start->seen[function - start->image->symbols] = true;
	start->depth++;
	for (; i < start->sites->count && !found; i++) {
		struct litifut_found_site *site = &start->sites->items[i];
		const struct litifut_symbol *callee;

		if (site->site.address - function->address >= size)
			break;
		callee = callee_of(start, function, &site->site);
		if (callee && is_boundary(start, callee)) {
			found = true;
			break;
		}
		mark(site, LITIFUT_SITE_PATCHED, LITIFUT_SITE_BEFORE_RAM);
		if (callee)
			found = walk(start, callee);
	}
	if (!found && start->cpu->pointed_jump) {
		const uint32_t target =
			start->cpu->pointed_jump(start->image, start->context, function->address);
		const struct litifut_symbol *next =
			target ? litifut_image_function_start(start->image, target & ~1u) : NULL;

		found = next && (is_boundary(start, next) || walk(start, next));
	}
	start->depth--;
	return found;
}

enum litifut_status litifut_before_ram_mark(const struct litifut_image *image,
					    const struct litifut_firmware_cpu *cpu,
					    const struct litifut_arch_context *context,
					    struct litifut_site_list *sites, uint32_t main_at,
					    uint8_t *functions, bool *found,
					    struct litifut_error *error)
{
	const uint32_t reset_address = cpu->reset ? cpu->reset(image) : image->file.entry;
	const struct litifut_symbol *reset = litifut_image_function_at(image, reset_address & ~1u);
	struct start start = {
		.image = image, .cpu = cpu, .context = context, .sites = sites, .main_at = main_at};
	uint32_t size;

	*found = false;
	if (!reset)
		return LITIFUT_OK;
	start.seen = calloc(image->symbol_count + 1, sizeof(*start.seen));
	if (!start.seen)
		return litifut_error_memory(error, image->path);
	size = litifut_image_function_end(image, reset) - reset->address;
	*found = walk(&start, reset);
	if (!*found)
		for (size_t i = 0; i < sites->count; i++)
			if (sites->items[i].site.address - reset->address >= size)
				mark(&sites->items[i], LITIFUT_SITE_BEFORE_RAM,
				     LITIFUT_SITE_PATCHED);
	for (size_t i = 0; i < image->symbol_count && functions; i++)
		functions[i] |= start.seen[i];
	free(start.seen);
	return LITIFUT_OK;
}
