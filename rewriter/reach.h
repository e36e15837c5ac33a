/* Which entry point or island serves which call site. */
#ifndef LITIFUT_REWRITER_REACH_H
#define LITIFUT_REWRITER_REACH_H

#include <stddef.h>
#include <stdint.h>

#include "rewriter/arch.h"
#include "rewriter/image.h"
#include "rewriter/found_site.h"

/* One place from which the tracer can be reached: its own code, or an island. */
struct litifut_landing {
	uint32_t entries[LITIFUT_ENTRIES_MAX]; /* link-time address of each entry point */
	const struct litifut_symbol *island;   /* NULL: the tracer itself, or hosted */
	bool hosted;                           /* in a function of the image, see hosts.h */
	bool spare; /* for what reaches no other: it has no more than the first piece */
};

struct litifut_landings {
	struct litifut_landing *items; /* by address */
	size_t count;
	size_t own; /* index of the tracer itself */
	bool gate;  /* islands and hosts can be used: what they lead to is there */
};

/* Finds the tracer's entry points and all islands in `image`. The islands'
 * entries are those that write_island() would give; nothing is written. */
enum litifut_status litifut_landings_find(const struct litifut_image *image,
					  const struct litifut_arch *arch,
					  const struct litifut_arch_context *context,
					  struct litifut_landings *landings,
					  struct litifut_error *error);

void litifut_landings_release(struct litifut_landings *landings);

/* Adds an island at the place of this symbol, which must live as long. */
enum litifut_status litifut_landings_add_island(struct litifut_landings *landings,
						const struct litifut_arch *arch,
						const struct litifut_arch_context *context,
						const struct litifut_symbol *island,
						struct litifut_error *error);

/* Adds an island whose entries are `entries`; `spare` as in struct litifut_landing. */
enum litifut_status litifut_landings_add_hosted(struct litifut_landings *landings,
						const uint32_t *entries, bool spare,
						struct litifut_error *error);

/* Encodes the call of `site` to the entry point number `entry`, the tracer's own or, if
 * that is too far, one of the nearest landing that it reaches (a spare one only if there is
 * no other) into `code` (4 bytes). Returns the address of that entry; 0: none is in reach. */
uint32_t litifut_landings_encode(const struct litifut_landings *landings,
				 const struct litifut_arch *arch,
				 const struct litifut_arch_context *context,
				 const struct litifut_found_site *site, unsigned entry,
				 uint8_t *code);

#endif
