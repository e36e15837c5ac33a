/* Finding the call sites of an image. */
#ifndef LITIFUT_REWRITER_SITES_H
#define LITIFUT_REWRITER_SITES_H

#include <litifut/module_format.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/arch.h"
#include "rewriter/image.h"
#include "rewriter/rewriter.h"
#include "rewriter/targets.h"

/* One call site under way through the rewriter. Large programs have a million of them, and
 * memory is what they cost, so there are no pointers in it. */
struct litifut_found_site {
	struct litifut_site site; /* as it will stand in .litifut.sites */
	struct litifut_instruction instruction;
	uint32_t function; /* that it stands in: its number in the image's symbols, and 1; or 0 */
	uint32_t known_callee; /* this and what follows: as in struct litifut_cramped_call */
	uint32_t stone;
	uint32_t argument_room;
	uint8_t before[LITIFUT_REMEMBERED];
	uint8_t stone_bytes : 5;
	bool behind_site : 1;
	bool spawns : 1;
	bool detour : 1;  /* goes through a trampoline */
	uint16_t section; /* its number */
};

struct litifut_site_list {
	struct litifut_found_site *items; /* sorted by address */
	size_t count;
	size_t capacity;
	uint32_t text_bytes; /* of code that was decoded */
	/* Where control can arrive, as litifut_targets_of_all() says it, if the sites could
	 * not be judged without; else bits is NULL. */
	struct litifut_targets targets;
};

/* Decodes every executable section of `image` and lists its call sites. Each
 * is marked LITIFUT_SITE_PATCHED (meaning: to be patched) or with the reason
 * why it must be left alone. The tracer's own code is not listed. */
enum litifut_status litifut_sites_find(const struct litifut_image *image,
				       const struct litifut_arch *arch,
				       const struct litifut_arch_context *context,
				       const struct litifut_rewrite_options *options,
				       struct litifut_site_list *list, struct litifut_error *error);

/* The call is one that ends its function. */
bool litifut_site_is_tail(const struct litifut_site *site);

/* May there be calls of the program's own in this section? */
bool litifut_sites_in(const struct litifut_section *section);

/* The section with all of the code of `function`; NULL: it has no such section, or that
 * holds no calls of the program's own. */
const struct litifut_section *litifut_sites_section_of(const struct litifut_image *image,
						       const struct litifut_symbol *function);

/* The site, one of `image`, in the form that the detour functions of an arch take. Inline, as it
 * is asked for several times for each site: a copy of what has just been written piece by piece
 * waits for all of the pieces. */
static inline struct litifut_cramped_call
litifut_site_cramped(const struct litifut_image *image, const struct litifut_found_site *site)
{
	const struct litifut_symbol *function =
		site->function ? &image->symbols[site->function - 1] : NULL;
	struct litifut_cramped_call call = {
		.address = site->site.address,
		.instruction = site->instruction,
		.tail = litifut_site_is_tail(&site->site),
		.section = &image->sections[site->section],
		.behind_site = site->behind_site,
		.stone = site->stone,
		.stone_bytes = site->stone_bytes,
		.known_callee = site->known_callee,
		.argument_room = site->argument_room,
		.spawns = site->spawns,
	};

	if (function) {
		call.function_start = function->address;
		call.function_end = function->address + function->size;
	}

	memcpy(call.before, site->before, sizeof(call.before));
	return call;
}

/* May the code of `function` be changed, as far as names and ranges in the
 * options say? */
bool litifut_sites_may_change(const struct litifut_image *image,
			      const struct litifut_rewrite_options *options,
			      const struct litifut_symbol *function);

/* Has no function of `image` such a name? False where there are no globs. */
bool litifut_sites_unnamed(const struct litifut_image *image, const char *const *globs);

void litifut_sites_release(struct litifut_site_list *list);

#endif
