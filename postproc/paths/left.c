#include "postproc/paths/left.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMED_MOST 5

struct left_function {
	uint32_t module;
	uint32_t address;
	uint32_t bytes;
};

struct left_functions {
	struct left_function *items;
	size_t count, capacity;
};

/* Which blocks have a site that could not be patched? Start-up code without branches is left as
 * well, and what the user has excluded is not missing. */
static bool *refused_blocks(const struct post_image *image)
{
	bool *refused = post_allocate(image->block_count, sizeof(*refused));

	for (size_t i = 0; i < image->site_count; i++) {
		const struct litifut_site *site = &image->sites[i];
		const uint32_t block = post_image_block(image, site->address);

		if (block != POST_NONE)
			refused[block] |= site->reason != LITIFUT_SITE_PATCHED &&
					  site->reason != LITIFUT_SITE_EXCLUDED;
	}
	return refused;
}

static void collect(const struct post_session *session, uint32_t module,
		    struct left_functions *functions)
{
	const struct post_image *image = session->modules[module].image;
	bool *refused = refused_blocks(image);

	for (size_t first = 0, end; first < image->block_count; first = end) {
		bool some = refused[first];

		for (end = first + 1; end < image->block_count &&
				      !(image->blocks[end].flags & LITIFUT_BLOCK_FUNCTION);
		     end++)
			some |= refused[end];
		if (!some || !(image->blocks[first].flags & LITIFUT_BLOCK_LEFT))
			continue;
		POST_GROW(functions->items, functions->count, functions->capacity);
		functions->items[functions->count++] = (struct left_function){
			.module = module,
			.address = image->blocks[first].start,
			.bytes = image->blocks[end - 1].end - image->blocks[first].start,
		};
	}
	free(refused);
}

static int by_size(const void *left, const void *right)
{
	const struct left_function *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

bool post_left_line(struct post_session *session, char *line, size_t size)
{
	struct left_functions functions = {0};
	FILE *text;

	for (uint32_t i = 1; i < session->module_count; i++) {
		const struct post_image *image = session->modules[i].image;

		if (session->modules[i].traced && image && image->block_count &&
		    (image->mode == LITIFUT_MODE_PATHS || image->mode == LITIFUT_MODE_BALLLARUS))
			collect(session, i, &functions);
	}
	text = functions.count ? fmemopen(line, size, "w") : NULL;
	if (text) {
		qsort(functions.items, functions.count, sizeof(*functions.items), by_size);
		fprintf(text,
			"nothing is known of %zu function%s, executed or not, as not all of %s "
			"branches can be recorded: ",
			functions.count, functions.count == 1 ? "" : "s",
			functions.count == 1 ? "its" : "their");
		for (size_t i = 0; i < functions.count && i < NAMED_MOST; i++) {
			const struct left_function *function = &functions.items[i];
			const uint32_t number =
				post_session_function(session, function->module, function->address);

			fprintf(text, "%s%.48s", i ? ", " : "", session->functions[number].name);
		}
		fprintf(text, "%s; litifut info --skipped says why",
			functions.count > NAMED_MOST ? ", ..." : "");
		fclose(text);
	}
	free(functions.items);
	return text;
}
