/* How much room does an image need? All passes that take room are run over it, on rooms that have
 * as much as is asked for; what they have taken is the plan of the next link. So there is no
 * formula for the size of anything besides the code that writes it.
 *
 * Two things depend on that link, which has not been made yet. Islands that are to be are taken to
 * stand where they are asked for. And where branches don't reach everywhere, what the code beside
 * the tracer looks like depends on how much of it there is: it is measured again with what was
 * measured, until that is about the same. */
#include "rewriter/apply.h"
#include "rewriter/counts.h"
#include "rewriter/edges.h"
#include "rewriter/site_arguments.h"

#include <stdlib.h>
#include <string.h>

/* So often it is measured at most. */
#define ROUNDS 4

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

/* The code of edges takes more room than a branch may reach. */
static bool has_near_landing(const struct litifut_session *session,
			     const struct litifut_found_site *site)
{
	const struct litifut_symbol *room = session->room;

	for (size_t i = 0; i < session->landings.count; i++)
		if (session->edges && i == session->landings.own && room) {
			if (is_near(session, site, room->address, 7) &&
			    is_near(session, site, room->address + room->size, 7))
				return true;
		} else if (is_near(session, site, session->landings.items[i].entries[0], 7))
			return true;
	return false;
}

/* Walks up through the sites without a landing and puts islands so that each
 * serves as many as it can on both sides. */
static enum litifut_status plan_islands(const struct litifut_session *session,
					struct litifut_rewrite_plan *plan,
					struct litifut_error *error)
{
	size_t capacity = 0;

	for (size_t i = 0; i < session->sites.count; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];

		if (site->site.reason != LITIFUT_SITE_PATCHED ||
		    (site->detour &&
		     !LITIFUT_ARCH_GET(session->arch, detour, trampolines_in_islands) &&
		     !(LITIFUT_ARCH_GET(session->arch, detour, encode_numbered) &&
		       site->instruction.conditional)) ||
		    has_near_landing(session, site))
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

/* A branch of a site may not reach all code, with `room` bytes of new code. */
static bool is_large(const struct litifut_session *session, uint32_t room)
{
	const uint64_t span = (uint64_t)session->image.text_end - session->image.text_start + room;

	for (size_t i = 0; i < session->sites.count; i++)
		if (session->arch->cpu->reach(&session->context.cpu,
					      &session->sites.items[i].instruction) <= span)
			return true;
	return false;
}

/* How much more code than now the image may have after the next link, about. */
static size_t code_growth(const struct litifut_session *session,
			  const struct litifut_rewrite_plan *plan)
{
	const struct litifut_symbol *room =
		litifut_image_symbol(&session->image, LITIFUT_TRAMPOLINES);
	const size_t has = room ? room->size : 0;

	return (plan->trampoline_bytes > has ? plan->trampoline_bytes - has : 0) +
	       plan->trampoline_bytes / 16 + plan->island_count * plan->island_bytes + 4096;
}

static void at_least(size_t *most, size_t value)
{
	if (*most < value)
		*most = value;
}

/* What the passes have taken: the plan gets no less than it has. */
static void take(const struct litifut_apply *apply, struct litifut_rewrite_plan *plan)
{
	const struct litifut_session *session = &apply->session;
	const size_t gate = LITIFUT_ARCH_GET(session->arch, detour, gate_bytes);
	const struct litifut_unwind_table *unwind = LITIFUT_ARCH_GET(session->arch, frames, unwind);

	at_least(&plan->sites, session->sites.count);
	at_least(&plan->db_entries, apply->db_count + litifut_site_arguments_entries(session));
	for (size_t i = 0; i < apply->rooms.count; i++) {
		const struct litifut_room *room = &apply->rooms.items[i];

		if (i == apply->rooms.own)
			at_least(&plan->trampoline_bytes, room->used > gate ? room->used : 0);
		else if (room->used > gate)
			at_least(&plan->island_bytes, session->arch->island_bytes + room->used);
	}
	at_least(&plan->island_bytes, session->arch->island_bytes + session->way_bytes);
	if (unwind)
		/* and one for what follows the calls, one for what follows the returns */
		at_least(&plan->unwind_entries, apply->unwind.count * unwind->call_entries + 2);
}

/* Puts an island at each place of the plan. */
static enum litifut_status add_islands(struct litifut_session *session,
				       const struct litifut_rewrite_plan *plan,
				       struct litifut_symbol *islands, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 0; i < plan->island_count && !status; i++) {
		islands[i].address = plan->island_places[i] & ~7u;
		islands[i].size = (uint32_t)session->arch->island_bytes;
		status = litifut_landings_add_island(&session->landings, session->arch,
						     &session->context, &islands[i], error);
	}
	return status;
}

/* Fills the plan by one run over the image, whose room for trampolines is assumed to have so many
 * bytes. The islands of the plan are chosen anew, or, `with_islands`, assumed to be there. */
static enum litifut_status run(const char *path, const struct litifut_rewrite_options *options,
			       uint32_t assumed, bool with_islands, bool *large,
			       struct litifut_rewrite_plan *plan, struct litifut_error *error)
{
	struct litifut_rewrite_options measured = *options;
	struct litifut_rewrite_summary summary = {0};
	struct litifut_apply apply = {.options = &measured, .summary = &summary, .measures = true};
	struct litifut_symbol *islands = NULL;
	struct litifut_session *session = &apply.session;
	enum litifut_status status = litifut_session_open(path, options, &assumed, session, error);

	if (status)
		return status;
	measured.all_in_reach = false;
	plan->machine = session->image.file.machine;
	plan->elf_flags = session->image.file.flags;
	plan->elf_data = session->image.file.data;
	plan->elf_osabi = session->image.file.osabi;
	plan->thunks = session->context.thunks;
	plan->text_bytes = session->sites.text_bytes;
	plan->blocks = session->edges != NULL;
	at_least(&plan->island_bytes, session->arch->island_bytes);
	if (!with_islands) {
		plan->island_count = 0;
		status = plan_islands(session, plan, error);
	} else {
		islands = calloc(plan->island_count, sizeof(*islands));
		status = islands ? add_islands(session, plan, islands, error)
				 : litifut_error_memory(error, path);
	}
	if (!status)
		status = litifut_apply_run(&apply, error);
	if (!status) {
		take(&apply, plan);
		*large = is_large(session, (uint32_t)plan->trampoline_bytes);
		if (session->edges)
			plan->flags_bytes = session->edges->flags_bytes;
		if (session->context.counts)
			plan->flags_bytes = litifut_counts_bytes(
				session, plan->db_entries, plan->sites, code_growth(session, plan));
	}
	litifut_apply_release(&apply);
	free(islands);
	return status;
}

/* The next link moves code, and with it padding within trampolines; and it may turn a few calls
 * into others (veneers, jalr and bal). */
static void leave_margin(struct litifut_rewrite_plan *plan)
{
	plan->sites += plan->sites / 64 + 16;
	plan->db_entries += plan->db_entries / 64 + 16;
	if (plan->trampoline_bytes)
		plan->trampoline_bytes += plan->trampoline_bytes / 32 + 32;
}

enum litifut_status litifut_rewrite_plan(const char *path,
					 const struct litifut_rewrite_options *options,
					 struct litifut_rewrite_plan *plan,
					 struct litifut_error *error)
{
	uint32_t assumed = LITIFUT_ROOM_UNMEASURED;
	enum litifut_status status = LITIFUT_OK;
	bool large = true;

	memset(plan, 0, sizeof(*plan));
	for (unsigned round = 0; round < ROUNDS && large && !status; round++) {
		plan->trampoline_bytes = plan->island_bytes = 0;
		status = run(path, options, assumed, false, &large, plan, error);
		if (!status && plan->island_count)
			status = run(path, options, assumed, true, &large, plan, error);
		if (round && plan->trampoline_bytes <= assumed &&
		    plan->trampoline_bytes >= assumed / 8 * 7)
			break;
		assumed = (uint32_t)plan->trampoline_bytes;
	}
	if (status)
		litifut_rewrite_plan_release(plan);
	else
		leave_margin(plan);
	return status;
}

void litifut_rewrite_plan_release(struct litifut_rewrite_plan *plan)
{
	free(plan->island_places);
	free(plan->island_sizes);
	memset(plan, 0, sizeof(*plan));
}
