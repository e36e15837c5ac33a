#include "ldwrap/growth.h"

#include "litifut/module_format.h"

static size_t grown(size_t bytes, size_t last, unsigned link)
{
	if (link > 1 && bytes < last)
		bytes = last;
	if (link >= GROWTH_LAST_ISLANDS)
		bytes += (bytes << (link - GROWTH_LAST_ISLANDS)) / 4;
	return bytes;
}

void growth_add(struct litifut_rewrite_plan *plan, const struct litifut_rewrite_plan *last,
		unsigned link)
{
	const size_t piece = LITIFUT_FLAGS_PIECE;

	plan->trampoline_bytes = grown(plan->trampoline_bytes, last->trampoline_bytes, link);
	plan->db_entries = grown(plan->db_entries, last->db_entries, link);
	plan->sites = grown(plan->sites, last->sites, link);
	plan->unwind_entries = grown(plan->unwind_entries, last->unwind_entries, link);
	plan->island_bytes = (grown(plan->island_bytes, last->island_bytes, link) + 15) & ~15u;
	plan->flags_bytes =
		(grown(plan->flags_bytes, last->flags_bytes, link) + piece - 1) / piece * piece;
}
