/* Choosing the instructions in the middle of functions that make way for branches. Longer than
 * 500 lines, because finding runs, taking them and linking them to a way share the lists of what
 * is taken. */
#include "rewriter/relays.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code_targets.h"
#include "rewriter/program_code.h"

/* What is left of a branch's reach, so that neighbours can do the same. */
#define MARGIN 64

/* How far from a site a run is looked for first: most have one near by. */
#define FIRST_STEPS (16u << 10)

enum litifut_status litifut_relays_create(
	struct litifut_session *session, const struct litifut_rewrite_options *options,
	const struct litifut_hosts *hosts, struct litifut_rooms *rooms,
	struct litifut_frames *frames, struct litifut_relays *relays, struct litifut_error *error)
{
	const struct litifut_arch *arch = session->arch;
	enum litifut_status status;

	*relays = (struct litifut_relays){
		.session = session, .options = options, .rooms = rooms, .frames = frames};
	status = litifut_targets_create(session->image.text_start, session->image.text_end,
					&relays->taken, error);
	for (size_t i = 0; i < hosts->count && !status; i++)
		for (size_t piece = 0; piece < LITIFUT_ARCH_GET(arch, borrow, host_piece_count);
		     piece++)
			for (size_t at = 0; hosts->items[i].pieces[piece] &&
					    at < arch->borrow->host_pieces[piece].bytes;
			     at += 2)
				litifut_targets_add(&relays->taken,
						    hosts->items[i].pieces[piece] + (uint32_t)at);
	return status;
}

unsigned litifut_relays_tables(const struct litifut_arch *arch, unsigned grain, size_t room_bytes)
{
	const size_t bytes =
		grain ? (size_t)0x10000 << grain : LITIFUT_ARCH_GET(arch, borrow, table_bytes);
	const unsigned most = LITIFUT_ARCH_GET(arch, borrow, tables_max);
	const size_t tables = bytes && room_bytes ? 1 + (room_bytes - 1) / bytes : 1;

	return tables > most && most ? most : (unsigned)tables;
}

void litifut_relays_release(struct litifut_relays *relays)
{
	litifut_targets_release(&relays->taken);
	litifut_targets_release(&relays->own);
	free(relays->is_searched);
	free(relays->runs);
	free(relays->is_used);
	free(relays->items);
	memset(relays, 0, sizeof(*relays));
}

static bool is_taken(const struct litifut_relays *relays, uint32_t run)
{
	for (size_t at = 0; at < relays->session->arch->borrow->relay_bytes; at += 2)
		if (litifut_targets_has(&relays->taken, run + (uint32_t)at))
			return true;
	return false;
}

/* Index of the first of `count` ascending addresses that is above `address`. */
static size_t first_above(const uint32_t *items, size_t count, uint32_t address)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (items[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t runs_above(const struct litifut_relays *relays, uint32_t address)
{
	return first_above(relays->runs, relays->run_count, address);
}

/* Once, and only when there is a site that needs a run. */
static enum litifut_status prepare(struct litifut_relays *relays, struct litifut_error *error)
{
	const struct litifut_session *session = relays->session;
	const struct litifut_image *image = &session->image;
	enum litifut_status status = LITIFUT_OK;

	if (relays->is_searched)
		return LITIFUT_OK;
	relays->targets = &session->sites.targets;
	if (!relays->targets->bits) {
		relays->targets = &relays->own;
		status = litifut_targets_of_all(image, session->arch, &session->context,
						&relays->own, error);
	}
	for (size_t i = 0; i < image->function_count; i++)
		if (image->symbols[image->functions[i]].size > relays->largest)
			relays->largest = image->symbols[image->functions[i]].size;
	if (relays->largest > image->text_end - image->text_start)
		relays->largest = 0; /* damaged */
	relays->is_searched = calloc(image->function_count + 1, sizeof(*relays->is_searched));
	return relays->is_searched ? status : litifut_error_memory(error, image->path);
}

static bool make_room_for_run(struct litifut_relays *relays)
{
	size_t room = 2 * relays->run_room + 256;
	uint32_t *runs;
	bool *is_used;

	if (relays->run_count < relays->run_room)
		return true;
	runs = realloc(relays->runs, room * sizeof(*runs));
	if (runs)
		relays->runs = runs;
	is_used = realloc(relays->is_used, room * sizeof(*is_used));
	if (is_used)
		relays->is_used = is_used;
	if (!runs || !is_used)
		return false;
	relays->run_room = room;
	return true;
}

/* Functions may overlap, but runs may not. */
static void add_run(struct litifut_relays *relays, uint32_t run)
{
	const size_t bytes = relays->session->arch->borrow->relay_bytes;
	size_t at = runs_above(relays, run);
	size_t behind = relays->run_count - at;

	if ((at && run - relays->runs[at - 1] < bytes) ||
	    (behind && relays->runs[at] - run < bytes) || is_taken(relays, run) ||
	    !make_room_for_run(relays))
		return;
	memmove(relays->runs + at + 1, relays->runs + at, behind * sizeof(*relays->runs));
	memmove(relays->is_used + at + 1, relays->is_used + at, behind * sizeof(*relays->is_used));
	relays->runs[at] = run;
	relays->is_used[at] = false;
	relays->run_count++;
}

static void search_function(struct litifut_relays *relays, const struct litifut_symbol *function)
{
	const struct litifut_session *session = relays->session;
	const struct litifut_section *section = litifut_sites_section_of(&session->image, function);
	uint32_t *runs;
	size_t count;

	if (!section || !function->size || function->thumb ||
	    !litifut_sites_may_change(&session->image, relays->options, function))
		return;
	runs = calloc(function->size / session->arch->borrow->relay_bytes + 1, sizeof(*runs));
	if (!runs)
		return;
	count = session->arch->borrow->find_runs(
		&session->image, &session->context, section, function->address,
		function->address + function->size, relays->targets, runs);
	for (size_t i = 0; i < count; i++)
		add_run(relays, runs[i]);
	free(runs);
}

/* Finds the runs of the functions that have code in [low, high]. All functions of a large
 * image take as long as the rest of the rewriter. */
static void search(struct litifut_relays *relays, uint32_t low, uint32_t high)
{
	const struct litifut_image *image = &relays->session->image;
	const uint32_t first = low > relays->largest ? low - relays->largest : 0;
	size_t i = first ? first_above(image->function_addresses, image->function_count, first - 1)
			 : 0;

	for (; i < image->function_count && image->function_addresses[i] <= high; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];

		if (relays->is_searched[i] || function->size > relays->largest ||
		    (function->address < low && low - function->address >= function->size))
			continue;
		relays->is_searched[i] = true;
		search_function(relays, function);
	}
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

static uint32_t relay_reach(const struct litifut_session *session)
{
	static const struct litifut_instruction branch;

	return session->arch->cpu->reach(&session->context.cpu, &branch);
}

static struct litifut_relay_code *next_item(struct litifut_relays *relays)
{
	if (relays->count == relays->capacity) {
		size_t capacity = relays->capacity ? 2 * relays->capacity : 64;
		void *items = realloc(relays->items, capacity * sizeof(*relays->items));

		if (!items)
			return NULL;
		relays->items = items;
		relays->capacity = capacity;
	}
	return &relays->items[relays->count];
}

/* Makes a relay of run number `index`. What it leads to is a trampoline if `numbered`;
 * what is too far uses the island with `island_entries`. */
static bool make(struct litifut_relays *relays, size_t index, uint32_t target, bool numbered,
		 const uint32_t *island_entries, bool *full)
{
	const struct litifut_session *session = relays->session;
	const struct litifut_arch *arch = session->arch;
	const uint32_t bytes = (uint32_t)arch->borrow->relay_trampoline_bytes;
	struct litifut_relay relay = {
		.address = relays->runs[index], .target = target, .numbered = numbered};
	const struct litifut_section *section = litifut_image_section_at(
		&session->image, relay.address, (uint32_t)arch->borrow->relay_bytes);
	struct litifut_frame_code frames[2];

	struct litifut_relay_code *item = next_item(relays);
	uint8_t *moved = item ? litifut_rooms_take(relays->rooms, bytes, &relay.trampoline) : NULL;
	struct litifut_room *room = moved ? &relays->rooms->items[relays->rooms->own] : NULL;
	struct litifut_gate gate = {0};

	*full = !moved;
	if (!moved)
		return false;
	gate.address = room->address;
	gate.entries = room->entries;
	item->address = relay.address;
	memcpy(item->code, section->bytes + (relay.address - section->address),
	       arch->borrow->relay_bytes);
	if (!arch->borrow->write_relay(&session->context, &relay, &gate, island_entries, item->code,
				       moved, frames)) {
		room->used -= bytes;
		return false;
	}
	litifut_frames_add(relays->frames, &frames[0]);
	litifut_frames_add(relays->frames, &frames[1]);
	relays->is_used[index] = true;
	relays->count++;
	return true;
}

/* The places that the entries of a landing lead to, without repetition. */
struct places {
	uint32_t items[LITIFUT_ENTRIES_MAX];
	size_t count;
	uint32_t low;
	uint32_t high;
};

static struct places places_of(const struct litifut_landing *landing)
{
	struct places places = {.low = UINT32_MAX};

	for (size_t i = 0; i < LITIFUT_ENTRIES_MAX; i++) {
		uint32_t entry = landing->entries[i];
		bool known = !entry;

		for (size_t j = 0; j < places.count; j++)
			known |= places.items[j] == entry;
		if (known)
			continue;
		places.items[places.count++] = entry;
		if (entry < places.low)
			places.low = entry;
		if (entry > places.high)
			places.high = entry;
	}
	return places;
}

static uint32_t above(uint32_t address, uint32_t reach)
{
	return reach < UINT32_MAX - address ? address + reach - MARGIN : UINT32_MAX;
}

static uint32_t below(uint32_t address, uint32_t reach)
{
	return address > reach ? address - reach + MARGIN : 0;
}

/* The free runs that lie farthest from a landing towards the site, and in reach of
 * both as far as that can be. Returns how many. */
static size_t pick(struct litifut_relays *relays, const struct places *places,
		   const struct litifut_found_site *site, size_t *picked)
{
	const struct litifut_session *session = relays->session;
	const uint32_t entry = (uint32_t)session->arch->borrow->relay_entry;
	const uint32_t reach = relay_reach(session);
	const uint32_t site_reach =
		session->arch->cpu->reach(&session->context.cpu, &site->instruction);
	const uint32_t address = site->site.address;
	size_t count = 0;

	if (address > places->high) {
		uint32_t limit = above(places->low, reach);

		if (above(address, site_reach) < limit)
			limit = above(address, site_reach);
		search(relays, places->high, limit);
		for (size_t i = runs_above(relays, limit - entry); i-- > 0;) {
			if (count == places->count || relays->runs[i] <= places->high)
				break;
			if (!relays->is_used[i])
				picked[count++] = i;
		}
	} else {
		uint32_t limit = below(places->high, reach);

		if (below(address, site_reach) > limit)
			limit = below(address, site_reach);
		search(relays, limit, places->low);
		for (size_t i = runs_above(relays, limit); i < relays->run_count; i++) {
			if (count == places->count || relays->runs[i] + entry >= places->low)
				break;
			if (!relays->is_used[i])
				picked[count++] = i;
		}
	}
	return count;
}

/* A landing between `base` and the site, with a relay for each place of that. */
static bool hop(struct litifut_relays *relays, const struct litifut_landing *base,
		const struct litifut_found_site *site, bool *full, struct litifut_error *error)
{
	const struct litifut_session *session = relays->session;
	const struct places places = places_of(base);
	const struct litifut_landing from = *base; /* adding others moves it */
	uint32_t reach = session->arch->cpu->reach(&session->context.cpu, &site->instruction);
	uint32_t entries[LITIFUT_ENTRIES_MAX] = {0};
	size_t picked[LITIFUT_ENTRIES_MAX];

	/* It is in reach, so that another would be of no use either. */
	if (distance(site->site.address, places.low) < reach - MARGIN &&
	    distance(site->site.address, places.high) < reach - MARGIN)
		return false;
	if (!places.count || pick(relays, &places, site, picked) < places.count)
		return false;
	for (size_t i = 0; i < places.count; i++) {
		if (!make(relays, picked[i], places.items[i], false, from.entries, full))
			return false;
		for (size_t j = 0; j < LITIFUT_ENTRIES_MAX; j++)
			if (from.entries[j] == places.items[i])
				entries[j] = relays->runs[picked[i]] +
					     (uint32_t)session->arch->borrow->relay_entry;
	}
	*full = litifut_landings_add_hosted(&relays->session->landings, entries, false, error) !=
		LITIFUT_OK;
	return !*full;
}

/* The landing nearest to the site on one side, or NULL. Neither the tracer, whose entries
 * are others, nor one that is not whole. */
static const struct litifut_landing *neighbour(const struct litifut_landings *landings,
					       uint32_t address, bool upwards)
{
	const struct litifut_landing *best = NULL;

	for (size_t i = 0; i < landings->count; i++) {
		const struct litifut_landing *landing = &landings->items[i];

		if (i == landings->own || landing->spare ||
		    (landing->entries[0] > address) != upwards)
			continue;
		if (!best ||
		    distance(address, landing->entries[0]) < distance(address, best->entries[0]))
			best = landing;
	}
	return best;
}

/* Brings landings nearer to the site until it is in reach of one. */
static void approach(struct litifut_relays *relays, const struct litifut_found_site *site,
		     bool *full, struct litifut_error *error)
{
	const uint32_t address = site->site.address;
	bool nearer = true;

	while (nearer && !*full && litifut_hosts_is_far(relays->session, site)) {
		nearer = false;
		for (unsigned try = 0; try < 2 && !nearer && !*full; try++) {
			const struct litifut_landing *up =
				neighbour(&relays->session->landings, address, true);
			const struct litifut_landing *down =
				neighbour(&relays->session->landings, address, false);
			bool upwards = up && (!down || up->entries[0] - address <
							       address - down->entries[0]);
			const struct litifut_landing *base = upwards != (try == 1) ? up : down;

			nearer = base && hop(relays, base, site, full, error);
		}
	}
}

/* An island among the trampolines beside the tracer, for relays to lead to. */
static enum litifut_status add_island(struct litifut_relays *relays, struct litifut_error *error)
{
	struct litifut_session *session = relays->session;
	const struct litifut_arch *arch = session->arch;
	/* what stands behind it has a number */
	const size_t unit = arch->borrow->relay_trampoline_bytes;
	const size_t bytes = (arch->island_bytes + unit - 1) / unit * unit;
	uint32_t entries[LITIFUT_ENTRIES_MAX];
	uint32_t address;
	uint8_t *code = litifut_rooms_take(relays->rooms, (uint32_t)bytes, &address);

	if (!code)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, session->image.path, ".text",
					 LITIFUT_NO_ADDRESS, "room for trampolines is not enough");
	arch->write_island(&session->context, address,
			   session->landings.items[session->landings.own].entries, code, entries);
	return litifut_landings_add_hosted(&session->landings, entries, false, error);
}

/* A tail call is served by litifut_relays_step() where a branch gets everywhere. */
static bool wants_landing(const struct litifut_relays *relays,
			  const struct litifut_found_site *site)
{
	return !(site->detour && relay_reach(relays->session) == UINT32_MAX) &&
	       litifut_hosts_is_far(relays->session, site);
}

enum litifut_status litifut_relays_serve(struct litifut_relays *relays, struct litifut_error *error)
{
	const struct litifut_session *session = relays->session;
	bool has_island = false;
	bool full = false;
	enum litifut_status status = LITIFUT_OK;

	if (!LITIFUT_ARCH_GET(session->arch, borrow, find_runs) || !session->landings.gate ||
	    !session->room)
		return LITIFUT_OK;
	for (size_t i = 0; i < session->sites.count && !status; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];

		if (!wants_landing(relays, site))
			continue;
		status = prepare(relays, error);
		if (!status && !has_island)
			status = add_island(relays, error);
		has_island = true;
		if (!status)
			approach(relays, site, &full, error);
		if (full)
			status = litifut_error_set(error, LITIFUT_ERROR_SPACE, session->image.path,
						   ".text", LITIFUT_NO_ADDRESS,
						   "room for trampolines is not enough");
	}
	return status;
}

/* Makes the run lead to the trampoline, over any landing that it reaches. */
static bool lead(struct litifut_relays *relays, size_t index, uint32_t trampoline, bool *full)
{
	static const uint32_t none[LITIFUT_ENTRIES_MAX];
	const struct litifut_landings *landings = &relays->session->landings;
	bool done = make(relays, index, trampoline, true, none, full);

	for (size_t i = 0; i < landings->count && !done && !*full; i++)
		done = i != landings->own &&
		       distance(landings->items[i].entries[0], relays->runs[index]) <
			       relay_reach(relays->session) &&
		       make(relays, index, trampoline, true, landings->items[i].entries, full);
	return done;
}

/* The nearest run at a distance of `from` or more, and less than `to`, that can be made to
 * lead to the trampoline; as litifut_relays_step(). */
static uint32_t step_within(struct litifut_relays *relays, uint32_t address, uint32_t from,
			    uint32_t to, uint32_t trampoline, bool *full)
{
	/* Away from the site on both sides. */
	size_t up = runs_above(relays, address);

	for (size_t down = up; up < relays->run_count || down > 0;) {
		bool go_up =
			up < relays->run_count &&
			(!down || relays->runs[up] - address < address - relays->runs[down - 1]);
		size_t index = go_up ? up++ : --down;
		uint32_t away = distance(relays->runs[index], address);

		if (away >= to)
			break;
		if (away >= from && !relays->is_used[index] &&
		    lead(relays, index, trampoline, full))
			return relays->runs[index] +
			       (uint32_t)relays->session->arch->borrow->relay_entry;
		if (*full)
			break;
	}
	return 0;
}

uint32_t litifut_relays_step(struct litifut_relays *relays, const struct litifut_found_site *site,
			     uint32_t trampoline, bool *full)
{
	const struct litifut_session *session = relays->session;
	const uint32_t address = site->site.address;
	const uint32_t reach = session->arch->cpu->reach(&session->context.cpu, &site->instruction);
	struct litifut_error ignored;
	uint32_t tried = 0; /* all runs nearer than that have been */

	if (prepare(relays, &ignored))
		return 0;
	for (uint32_t near = FIRST_STEPS; tried < reach - MARGIN; near *= 2) {
		uint32_t step = 0;

		if (near > reach - MARGIN || near < tried)
			near = reach - MARGIN;
		search(relays, address > near ? address - near : 0,
		       address < UINT32_MAX - near ? address + near : UINT32_MAX);
		step = step_within(relays, address, tried, near, trampoline, full);
		if (step || *full)
			return step;
		tried = near;
	}
	return 0;
}

bool litifut_relays_may_step(const struct litifut_session *session,
			     const struct litifut_found_site *site)
{
	const struct litifut_arch *arch = session->arch;
	const struct litifut_cramped_call call = litifut_site_cramped(&session->image, site);
	uint32_t entries[LITIFUT_ENTRIES_MAX];
	struct litifut_gate gate = {site->site.address & ~3u, entries, 0};
	struct litifut_detour detour;
	uint8_t scratch[256];

	if (!LITIFUT_ARCH_GET(arch, borrow, write_step))
		return false;
	/* As if all were here: then it is only the code around it that says no. */
	for (uint32_t entry = 0; entry < LITIFUT_ENTRIES_MAX; entry++)
		entries[entry] = gate.address + 4 * entry;
	return !arch->detour->encode_numbered(&session->context, &call,
					      gate.address + (uint32_t)arch->detour->gate_bytes,
					      &gate, entries, scratch, &detour);
}
