#include "rewriter/reachable.h"

#include <stdlib.h>

struct reach {
	const struct litifut_image *image;
	struct litifut_site_list *sites;
	bool *seen;     /* by number of the symbol */
	uint32_t *open; /* symbols whose calls are still to be followed */
	size_t count;
};

static void add(struct reach *reach, uint32_t target)
{
	const struct litifut_symbol *function =
		litifut_image_function_start(reach->image, target & ~1u);
	size_t number = function ? (size_t)(function - reach->image->symbols) : 0;

	if (!function || reach->seen[number] || function->own)
		return;
	reach->seen[number] = true;
	reach->open[reach->count++] = (uint32_t)number;
}

/* The tracer's own code, and what has a name like it, is not among the sites. */
static void add_callees(struct reach *reach, const struct litifut_arch *arch,
			const struct litifut_arch_context *context,
			const struct litifut_symbol *function)
{
	const struct litifut_section *section =
		litifut_image_section_at(reach->image, function->address, function->size);
	uint32_t end = function->address + function->size;
	uint32_t address = function->address;

	while (section && section->bytes && address < end) {
		struct litifut_instruction instruction;
		unsigned length = arch->cpu->decode(
			&context->cpu, section->bytes + (address - section->address), end - address,
			address, function->thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN,
			&instruction);

		if (!length)
			break;
		if (litifut_has_target(&instruction))
			add(reach, instruction.target);
		address += length;
	}
}

enum litifut_status litifut_reachable_mark(const struct litifut_image *image,
					   const struct litifut_arch *arch,
					   const struct litifut_arch_context *context,
					   const char *name, struct litifut_site_list *sites,
					   uint8_t *functions, struct litifut_error *error)
{
	const struct litifut_symbol *root = litifut_image_symbol(image, name);
	struct reach reach = {.image = image, .sites = sites};

	if (!root)
		return LITIFUT_OK;
	reach.seen = calloc(image->symbol_count + 1, sizeof(*reach.seen));
	reach.open = calloc(image->symbol_count + 1, sizeof(*reach.open));
	if (reach.seen && reach.open)
		add_callees(&reach, arch, context, root);
	while (reach.count) {
		const struct litifut_symbol *function = &image->symbols[reach.open[--reach.count]];

		for (size_t i = 0; i < sites->count; i++) {
			struct litifut_site *site = &sites->items[i].site;

			if (site->address - function->address >= function->size)
				continue;
			if (site->reason == LITIFUT_SITE_PATCHED)
				site->reason = LITIFUT_SITE_PORT;
			if (site->callee)
				add(&reach, site->callee);
		}
	}
	bool enough = reach.seen && reach.open;

	for (size_t i = 0; i < image->symbol_count && enough && functions; i++)
		functions[i] |= reach.seen[i];
	free(reach.seen);
	free(reach.open);
	return enough ? LITIFUT_OK : litifut_error_memory(error, image->path);
}
