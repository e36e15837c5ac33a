/* Where an object is larger than two reaches, no island that the linker puts between objects serves
 * the code in its middle. There, entries take 8 bytes more of their block, for a branch that leads
 * on to an island, or to another such step. The same bytes are lent to an entry that has room for a
 * branch, but not for what an island needs to know. */
#include "rewriter/edges.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	uint32_t address;
	size_t item;
};

struct chooser {
	struct litifut_session *session;
	struct litifut_landings *landings;
	size_t capacity;
	struct entry *entries; /* of all that is recorded, by address */
	size_t count;
	uint32_t reach;
};

static int by_address(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static int by_value(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static bool can_step(const struct chooser *chooser, size_t item)
{
	static const struct litifut_targets none;
	const struct litifut_session *session = chooser->session;
	const struct litifut_edge *edge = &session->edges->items[item];
	const struct litifut_edge_place place = litifut_edge_place_of(session, edge->block, &none);

	return !edge->step && session->arch->edges->can_step(&place, edge);
}

/* Makes a step in [from, to) that leads to `target`: the one that is the farthest from there.
 * Returns where it is; 0: there is none. */
static uint32_t add_step(struct chooser *chooser, uint32_t from, uint32_t to, uint32_t target)
{
	const struct litifut_edges *edges = chooser->session->edges;
	const bool up = from >= target;
	struct litifut_landing *landing;

	for (size_t i = 0; i < chooser->count; i++) {
		const struct entry *entry = &chooser->entries[up ? chooser->count - 1 - i : i];
		const uint32_t address = entry->address + LITIFUT_EDGE_STEP;

		if (address < from || address >= to || !can_step(chooser, entry->item) ||
		    chooser->landings->count == chooser->capacity)
			continue;
		edges->items[entry->item].step = target;
		landing = &chooser->landings->items[chooser->landings->count++];
		memset(landing, 0, sizeof(*landing));
		landing->entries[chooser->session->arch->edges->step_entry] = address;
		return address;
	}
	return 0;
}

/* Fills what lies between two landings, from both of them; 0: there is none on that side. */
static void fill_gap(struct chooser *chooser, uint32_t low, uint32_t high)
{
	const uint32_t reach = chooser->reach;
	const uint32_t first = chooser->entries[0].address;
	const uint32_t last = chooser->entries[chooser->count - 1].address;
	bool up = low && last > low, down = high && first < high;

	while (up || down) {
		const uint32_t top = high ? high : last;
		const uint32_t bottom = low ? low : first;
		uint32_t step;

		if (top < bottom || top - bottom <= (low && high ? 2 * reach : reach))
			return;
		if (up) {
			step = add_step(chooser, low + LITIFUT_EDGE_STEP_BYTES,
					top - low < reach ? top : low + reach, low);
			up = step != 0;
			low = step ? step : low;
		}
		if (down) {
			step = add_step(chooser, high - bottom < reach ? bottom + 1 : high - reach,
					high, high);
			down = step != 0;
			high = step ? step : high;
		}
	}
}

/* The entry of the function of `borrower` that is the nearest to it of those that can lend a step;
 * NULL: none is in reach. */
static struct litifut_edge *find_lender(const struct chooser *chooser,
					const struct litifut_edge *borrower)
{
	const struct litifut_edges *edges = chooser->session->edges;
	const struct litifut_graph_block *blocks = edges->graph.items;
	struct litifut_edge *found = NULL;
	uint32_t least = chooser->reach;

	for (size_t i = 0; i < chooser->count; i++) {
		struct litifut_edge *edge = &edges->items[chooser->entries[i].item];
		const uint32_t step = edge->address + LITIFUT_EDGE_STEP;
		const uint32_t away = step > borrower->address ? step - borrower->address
							       : borrower->address - step;

		if (away < least &&
		    blocks[edge->block].function == blocks[borrower->block].function &&
		    can_step(chooser, chooser->entries[i].item)) {
			found = edge;
			least = away;
		}
	}
	return found;
}

static void lend_steps(struct chooser *chooser)
{
	const struct litifut_edges *edges = chooser->session->edges;

	for (size_t i = 0; i < edges->count; i++) {
		struct litifut_edge *borrower = &edges->items[i];
		struct litifut_edge *lender;

		if (!borrower->borrows ||
		    chooser->session->sites.items[i].site.reason != LITIFUT_SITE_PATCHED)
			continue;
		lender = find_lender(chooser, borrower);
		if (!lender)
			continue;
		lender->lends = true;
		lender->step = borrower->address;
		borrower->borrowed = lender->address + LITIFUT_EDGE_STEP;
	}
}

static void fill_gaps(struct chooser *chooser, uint32_t *islands, size_t count)
{
	if (!count || !chooser->count)
		return;
	qsort(islands, count, sizeof(*islands), by_value);
	for (size_t i = 0; i <= count; i++)
		fill_gap(chooser, i ? islands[i - 1] : 0, i < count ? islands[i] : 0);
}

enum litifut_status litifut_edge_steps_choose(struct litifut_session *session,
					      struct litifut_landings *landings,
					      struct litifut_error *error)
{
	const struct litifut_arch_edges *arch = session->arch->edges;
	const size_t islands = session->landings.count;
	struct chooser chooser = {.session = session, .landings = landings};
	uint32_t *places = calloc(islands + 1, sizeof(*places));
	size_t count = 0;

	*landings = session->landings;
	chooser.reach = arch->near_bytes;
	chooser.capacity = islands + session->edges->count;
	chooser.entries = calloc(session->edges->count + 1, sizeof(*chooser.entries));
	landings->items = calloc(chooser.capacity + 1, sizeof(*landings->items));
	if (!places || !chooser.entries || !landings->items) {
		free(places);
		free(chooser.entries);
		return litifut_error_memory(error, session->image.path);
	}
	if (islands)
		memcpy(landings->items, session->landings.items,
		       islands * sizeof(*landings->items));
	for (size_t i = 0; i < islands; i++)
		if (i != landings->own && landings->items[i].entries[arch->step_entry])
			places[count++] = landings->items[i].entries[arch->step_entry];
	for (size_t i = 0; i < session->edges->count; i++) {
		session->edges->items[i].step = session->edges->items[i].borrowed = 0;
		session->edges->items[i].lends = false;
		if (session->sites.items[i].site.reason == LITIFUT_SITE_PATCHED)
			chooser.entries[chooser.count++] =
				(struct entry){session->edges->items[i].address, i};
	}
	qsort(chooser.entries, chooser.count, sizeof(*chooser.entries), by_address);
	if (arch->can_step) {
		fill_gaps(&chooser, places, count);
		lend_steps(&chooser);
	}
	free(places);
	free(chooser.entries);
	return LITIFUT_OK;
}
