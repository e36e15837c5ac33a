/* A call site on its way through the rewriter: found, judged, placed. */
#ifndef LITIFUT_REWRITER_FOUND_SITE_H
#define LITIFUT_REWRITER_FOUND_SITE_H

#include <litifut/module_format.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rewriter/arch.h"
#include "rewriter/image.h"
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
	bool ends : 1;     /* with `spawns`: the function ends the program */
	bool detour : 1;   /* goes through a trampoline */
	uint8_t arguments; /* which of struct litifut_argument_sets are recorded, and 1; or 0 */
	uint16_t section;  /* its number */
};

/* Of one section. */
struct litifut_code_ranges {
	struct litifut_code_range *items; /* by address */
	size_t count;
};

struct litifut_site_list {
	struct litifut_found_site *items; /* sorted by address */
	size_t count;
	size_t capacity;
	uint32_t text_bytes; /* of code that was decoded */
	/* Where control can arrive, as litifut_targets_of_all() says it, if the sites could
	 * not be judged without; else bits is NULL. */
	struct litifut_targets targets;
	struct litifut_code_ranges *ranges; /* of the code, by section; or NULL */
	size_t range_count;
};

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
		.arguments = site->arguments,
	};

	if (function) {
		call.function_start = function->address;
		call.function_end = function->address + function->size;
	}

	memcpy(call.before, site->before, sizeof(call.before));
	return call;
}

#endif
