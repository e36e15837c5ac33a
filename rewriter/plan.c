/* The first half of the rewriter: how much room does this image need? */
#include "rewriter/counts.h"
#include "rewriter/edges.h"
#include "rewriter/exits.h"
#include "rewriter/hosts.h"
#include "rewriter/relays.h"
#include "rewriter/session.h"
#include "rewriter/site_arguments.h"
#include "rewriter/thunks.h"

#include <stdlib.h>
#include <string.h>

/* The site lies `margin` out of 8 parts of its reach or less from a landing.
 * The plan asks for some margin, because the second link will move the code by
 * the size of what is added. */
static bool is_near(const struct litifut_session *session, const struct litifut_found_site *site,
		    uint32_t landing, unsigned margin)
{
	uint64_t reach = session->arch->cpu->reach(&session->context.cpu, &site->instruction);
	uint32_t address = site->site.address;
	uint32_t distance = address > landing ? address - landing : landing - address;

	return reach == UINT32_MAX || distance <= reach * margin / 8;
}

/* The code of edges takes more room than a branch may reach; `bytes` of it. */
static bool has_near_landing(const struct litifut_session *session,
			     const struct litifut_found_site *site, size_t bytes)
{
	for (size_t i = 0; i < session->landings.count; i++)
		if (bytes && i == session->landings.own && session->room) {
			if (is_near(session, site, session->room->address, 7) &&
			    is_near(session, site, session->room->address + (uint32_t)bytes, 7))
				return true;
		} else if (is_near(session, site, session->landings.items[i].entries[0], 7))
			return true;
	return false;
}

/* Near enough to the tracer itself for its trampoline to stand there. */
static bool is_near_own(const struct litifut_session *session,
			const struct litifut_found_site *site)
{
	return is_near(session, site, session->landings.items[session->landings.own].entries[0], 7);
}

/* Walks up through the sites without a landing and puts islands so that each
 * serves as many as it can on both sides. */
static enum litifut_status plan_islands(const struct litifut_session *session,
					struct litifut_rewrite_plan *plan,
					struct litifut_error *error)
{
	const size_t bytes = session->edges ? litifut_edges_bytes(session) : 0;
	size_t capacity = 0;

	for (size_t i = 0; i < session->sites.count; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];

		if (site->site.reason != LITIFUT_SITE_PATCHED ||
		    (site->detour &&
		     !LITIFUT_ARCH_GET(session->arch, detour, trampolines_in_islands) &&
		     !(LITIFUT_ARCH_GET(session->arch, detour, encode_numbered) &&
		       site->instruction.conditional)) ||
		    has_near_landing(session, site, bytes))
			continue;
		if (plan->island_count &&
		    is_near(session, site, plan->island_places[plan->island_count - 1], 6))
			continue;
		if (plan->island_count == capacity) {
			capacity = capacity ? capacity * 2 : 16;
			void *grown = realloc(plan->island_places,
					      capacity * sizeof(*plan->island_places));
			if (!grown)
				return litifut_error_memory(error, session->image.path);
			plan->island_places = grown;
		}
		uint64_t reach =
			session->arch->cpu->reach(&session->context.cpu, &site->instruction);
		uint64_t place = site->site.address + reach * 6 / 8;

		if (place >= session->image.text_end)
			place = session->image.text_end - 1;
		plan->island_places[plan->island_count++] = (uint32_t)place;
	}
	return LITIFUT_OK;
}

/* Bytes of the trampoline of a site, whatever is in reach. */
static unsigned trampoline_bytes(const struct litifut_session *session,
				 const struct litifut_found_site *site)
{
	const struct litifut_cramped_call call = litifut_site_cramped(&session->image, site);
	/* As if it were all here: nothing is out of reach, and the size is known. */
	const uint32_t here = site->site.address & ~3u;
	uint32_t entries[LITIFUT_ENTRIES_MAX];
	struct litifut_gate gate = {here, entries, 0};
	struct litifut_detour detour = {0};
	uint8_t scratch[256];

	for (uint32_t i = 0; i < LITIFUT_ENTRIES_MAX; i++)
		entries[i] = here + 4 * i;
	if (session->context.thunks) {
		struct litifut_thunk thunk = litifut_session_thunk(session, &call);

		gate.thunk = thunk.kind == LITIFUT_THUNK_ENTRY ? entries[thunk.number] : here;
	}
	session->arch->detour->write_detour(&session->context, &call, gate.address, &gate, scratch,
					    &detour);
	return detour.trampoline_bytes;
}

/* The room that the neediest of the islands has to have for the trampolines of the
 * sites around it; all are made alike. A site may end up with the island on
 * either side, so that both count it. */
static size_t island_trampolines(const struct litifut_session *session, const uint32_t *places,
				 size_t count)
{
	size_t most = 0;

	for (size_t island = 0; island < count; island++) {
		uint32_t low = island ? places[island - 1] : 0;
		uint32_t high = island + 1 < count ? places[island + 1] : UINT32_MAX;
		size_t bytes = 0;

		for (size_t i = 0; i < session->sites.count; i++) {
			const struct litifut_found_site *site = &session->sites.items[i];

			if (site->detour && site->site.address >= low &&
			    site->site.address < high && !is_near_own(session, site))
				bytes += trampoline_bytes(session, site);
		}
		if (session->context.thunks)
			bytes += litifut_thunks_bytes(session, low, high);
		if (bytes > most)
			most = bytes;
	}
	return most ? most + most / 64 + LITIFUT_ARCH_GET(session->arch, detour, gate_bytes) +
			       4 * LITIFUT_ARCH_GET(session->arch, detour, trampoline_bytes_max)
		    : 0;
}

static int by_address(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left;
	uint32_t b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* For the islands that there are and those of the plan. */
static enum litifut_status plan_island_bytes(const struct litifut_session *session,
					     struct litifut_rewrite_plan *plan,
					     struct litifut_error *error)
{
	uint32_t *places =
		calloc(plan->island_count + session->landings.count + 1, sizeof(*places));
	size_t count = 0;

	if (!places)
		return litifut_error_memory(error, session->image.path);
	for (size_t i = 0; i < plan->island_count; i++)
		places[count++] = plan->island_places[i];
	for (size_t i = 0; i < session->landings.count; i++)
		if (session->landings.items[i].island)
			places[count++] = session->landings.items[i].island->address;
	qsort(places, count, sizeof(*places), by_address);
	plan->island_bytes += island_trampolines(session, places, count);
	free(places);
	return LITIFUT_OK;
}

/* As if the first pieces of the hosts were islands: the relays between them, and those of
 * single calls. */
static enum litifut_status plan_relays(struct litifut_session *session,
				       const struct litifut_rewrite_options *options,
				       const struct litifut_hosts *hosts, size_t *bytes,
				       struct litifut_error *error)
{
	const uint32_t places =
		session->arch->borrow->other_places + litifut_relays_tables(session->arch, *bytes);
	struct litifut_relays relays;
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 0; i < hosts->count && !status; i++) {
		uint32_t entries[LITIFUT_ENTRIES_MAX] = {0};

		for (uint32_t entry = 0; entry < LITIFUT_ENTRIES_MAX; entry++)
			entries[entry] = hosts->items[i].pieces[0] + 4 * (entry % places);
		status = litifut_landings_add_hosted(&session->landings, entries, false, error);
	}
	if (!status)
		status = litifut_relays_create(session, options, hosts, NULL, NULL, &relays, error);
	if (status)
		return status;
	status = litifut_relays_serve(&relays, error);
	*bytes += relays.bytes + relays.bytes / 4 +
		  litifut_relays_steps(session) *
			  (LITIFUT_ARCH_GET(session->arch, borrow, relay_trampoline_bytes) +
			   LITIFUT_ARCH_GET(session->arch, detour, trampoline_bytes_max));
	litifut_relays_release(&relays);
	return status;
}

/* Exact for this image; the second link moves no code against its neighbours,
 * so that every trampoline keeps its size. */
static enum litifut_status plan_trampolines(struct litifut_session *session,
					    const struct litifut_rewrite_options *options,
					    struct litifut_rewrite_plan *plan,
					    struct litifut_error *error)
{
	struct litifut_hosts hosts;
	enum litifut_status status;
	size_t bytes = 0;

	for (size_t i = 0; i < session->sites.count; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];

		if (site->detour)
			bytes += trampoline_bytes(session, site);
	}
	if (session->context.thunks)
		bytes += litifut_thunks_bytes(session, 0, UINT32_MAX);
	if (session->context.clock || session->context.counts)
		bytes += LITIFUT_ARCH_GET(session->arch, thunks, shared_bytes);
	bytes += litifut_exits_bytes(session);
	if (session->edges) {
		bytes = litifut_edges_bytes(session);
		plan->flags_bytes = session->edges->flags_bytes;
		plan->blocks = true;
		plan->trampoline_bytes = bytes + bytes / 64 +
					 LITIFUT_ARCH_GET(session->arch, detour, gate_bytes) +
					 16 * session->arch->edges->bytes_max;
		return LITIFUT_OK;
	}
	/* Hosts: more when the second link spreads the code, fewer with islands. */
	status = litifut_hosts_choose(session, options, &hosts, error);
	if (hosts.count)
		bytes += (hosts.count + hosts.count / 4 + 4) *
			 litifut_hosts_trampoline_bytes(session->arch);
	if (!status && LITIFUT_ARCH_GET(session->arch, borrow, find_runs))
		status = plan_relays(session, options, &hosts, &bytes, error);
	litifut_hosts_release(&hosts);
	for (size_t i = 0;
	     i < session->sites.count && LITIFUT_ARCH_GET(session->arch, frames, unwind); i++) {
		const struct litifut_found_site *site = &session->sites.items[i];
		size_t pieces = (site->detour && !litifut_site_is_tail(&site->site)) +
				(site->stone_bytes != 0);

		plan->unwind_entries += pieces * session->arch->frames->unwind->call_entries;
	}
	plan->unwind_entries += litifut_exits_unwind_entries(session);
	/* What is added serves for ways onward, of which there are few, as well. */
	if (bytes || plan->island_count)
		plan->trampoline_bytes =
			bytes + bytes / 64 + LITIFUT_ARCH_GET(session->arch, detour, gate_bytes) +
			16 * LITIFUT_ARCH_GET(session->arch, detour, trampoline_bytes_max);
	return status;
}

/* How much of an entry in the DB this site needs, of DB_PARTS: nothing if a thunk will serve
 * it for certain. Of the sites that a thunk of an island serves, some are in reach of the
 * island's first piece but not of that thunk (12 in 1,000 of a library of 13 MB). */
#define DB_PARTS 16

static size_t wants_db(const struct litifut_session *session, const struct litifut_found_site *site)
{
	const bool is_large =
		session->arch->cpu->reach(&session->context.cpu, &site->instruction) <=
		session->image.text_end - session->image.text_start;
	const struct litifut_arch *arch = session->arch;
	struct litifut_cramped_call call = litifut_site_cramped(&session->image, site);
	struct litifut_thunk thunk;

	if (site->site.reason != LITIFUT_SITE_PATCHED)
		return 0;
	if (!session->context.thunks)
		return site->detour || litifut_arch_needs_db(arch, &session->context,
							     &site->instruction)
			       ? DB_PARTS
			       : 0;
	if (site->detour && LITIFUT_ARCH_GET(arch, thunks, thunks_need_db))
		return DB_PARTS;
	thunk = litifut_session_thunk(session, &call);
	if (thunk.kind == LITIFUT_THUNK_NONE)
		return DB_PARTS;
	if (!is_large)
		return 0;
	return thunk.kind == LITIFUT_THUNK_ENTRY ? 1 : DB_PARTS;
}

/* How much more code than now the image may have after the next link, about. */
static size_t code_growth(const struct litifut_session *session,
			  const struct litifut_rewrite_plan *plan)
{
	const size_t room = session->room ? session->room->size : 0;

	return (plan->trampoline_bytes > room ? plan->trampoline_bytes - room : 0) +
	       plan->trampoline_bytes / 16 + plan->island_count * plan->island_bytes + 4096;
}

enum litifut_status litifut_rewrite_plan(const char *path,
					 const struct litifut_rewrite_options *options,
					 struct litifut_rewrite_plan *plan,
					 struct litifut_error *error)
{
	struct litifut_session session;
	enum litifut_status status = litifut_session_open(path, options, &session, error);
	size_t db_parts = 0;

	memset(plan, 0, sizeof(*plan));
	if (status)
		return status;
	plan->machine = session.image.file.machine;
	plan->elf_flags = session.image.file.flags;
	plan->elf_data = session.image.file.data;
	plan->elf_osabi = session.image.file.osabi;
	plan->thunks = session.context.thunks;
	plan->sites = session.sites.count;
	plan->text_bytes = session.sites.text_bytes;
	plan->island_bytes = session.arch->island_bytes;
	for (size_t i = 0; i < session.sites.count && !session.edges; i++)
		db_parts += wants_db(&session, &session.sites.items[i]);
	plan->db_entries = db_parts / DB_PARTS;
	/* The linker may turn a few calls into others on the second run (veneers,
	 * jalr and bal), so leave some room. */
	plan->sites += plan->sites / 64 + 16;
	plan->db_entries += plan->db_entries / 64 + 16;
	plan->db_entries += litifut_site_arguments_entries(&session);
	status = plan_islands(&session, plan, error);
	if (!status && LITIFUT_ARCH_GET(session.arch, detour, trampolines_in_islands) &&
	    !session.edges)
		status = plan_island_bytes(&session, plan, error);
	if (!status)
		status = plan_trampolines(&session, options, plan, error);
	if (!status && session.context.counts)
		plan->flags_bytes = litifut_counts_bytes(&session, plan->db_entries, plan->sites,
							 code_growth(&session, plan));
	litifut_session_close(&session);
	if (status)
		litifut_rewrite_plan_release(plan);
	return status;
}

void litifut_rewrite_plan_release(struct litifut_rewrite_plan *plan)
{
	free(plan->island_places);
	free(plan->island_sizes);
	memset(plan, 0, sizeof(*plan));
}
