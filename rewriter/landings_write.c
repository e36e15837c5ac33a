/* The ways from far code to the tracer: shared thunks, hosts (hosts.h), relays (relays.h) and
 * islands. */
#include <stdlib.h>
#include <string.h>

#include "rewriter/apply.h"
#include "rewriter/hosts.h"

/* Thunks that read a clock, or count, take the place of those that come with the tracer. */
enum litifut_status litifut_pass_write_shared(struct litifut_apply *apply,
					      struct litifut_error *error)
{
	struct litifut_landings *landings = &apply->session.landings;
	const struct litifut_arch *arch = apply->session.arch;
	uint32_t *entries = landings->items[landings->own].entries;
	struct litifut_room *room = &apply->rooms.items[apply->rooms.own];
	uint32_t address;
	uint8_t *code;

	if ((!apply->session.context.clock && !apply->session.context.counts) ||
	    !apply->session.context.thunks || !LITIFUT_ARCH_GET(arch, thunks, write_shared))
		return LITIFUT_OK;
	code = litifut_rooms_take(&apply->rooms,
				  (uint32_t)LITIFUT_ARCH_GET(arch, thunks, shared_bytes), &address);
	if (!code)
		return litifut_apply_no_room(apply, error);
	arch->thunks->write_shared(&apply->session.context, address, entries, code, &apply->frames);
	memcpy(room->entries, entries, sizeof(room->entries));
	/* islands lead to them by the gate */
	arch->detour->write_gate(&apply->session.context, room->address, entries, room->bytes);
	return LITIFUT_OK;
}

static enum litifut_status fill_host(struct litifut_apply *apply, const struct litifut_host *host,
				     struct litifut_error *error)
{
	const struct litifut_arch *arch = apply->session.arch;
	struct litifut_landings *landings = &apply->session.landings;
	uint32_t entries[LITIFUT_ENTRIES_MAX];
	enum litifut_status status = LITIFUT_OK;

	for (size_t piece = 0; piece < LITIFUT_ARCH_GET(arch, borrow, host_piece_count) &&
			       host->pieces[piece] && !status;
	     piece++) {
		const struct litifut_host_piece *sizes = &arch->borrow->host_pieces[piece];
		struct litifut_hosted *hosted = &apply->hosted[apply->hosted_count++];
		uint32_t trampoline;
		uint8_t *moved = litifut_rooms_take(&apply->rooms,
						    (uint32_t)sizes->trampoline_bytes, &trampoline);

		if (!moved)
			return litifut_apply_no_room(apply, error);
		hosted->address = host->pieces[piece];
		hosted->bytes = (uint32_t)sizes->bytes;
		memcpy(hosted->code, litifut_apply_bytes_at(apply, hosted->address, hosted->bytes),
		       hosted->bytes);
		arch->borrow->write_host(&apply->session.context, piece, hosted->address,
					 trampoline, landings->items[landings->own].entries,
					 hosted->code, moved, entries);
		/* the others may be out of reach of what reaches this one */
		if (!piece && host->pieces[1])
			status = litifut_landings_add_hosted(landings, entries, true, error);
	}
	if (!status)
		status = litifut_landings_add_hosted(landings, entries, false, error);
	return status;
}

/* Chooses functions whose start is moved away, where sites reach neither the tracer nor
 * an island. */
enum litifut_status litifut_pass_fill_hosts(struct litifut_apply *apply,
					    struct litifut_error *error)
{
	struct litifut_hosts hosts;
	enum litifut_status status;

	if (apply->session.edges)
		return LITIFUT_OK;
	status = litifut_hosts_choose(&apply->session, apply->options, &hosts, error);
	apply->hosted = calloc(LITIFUT_HOST_PIECES * hosts.count + 1, sizeof(*apply->hosted));
	if (!status && !apply->hosted)
		status = litifut_error_memory(error, apply->session.image.path);
	for (size_t i = 0; i < hosts.count && !status; i++)
		status = fill_host(apply, &hosts.items[i], error);
	if (!status)
		status =
			litifut_relays_create(&apply->session, apply->options, &hosts,
					      &apply->rooms, &apply->frames, &apply->relays, error);
	if (!status && LITIFUT_ARCH_GET(apply->session.arch, borrow, find_runs))
		status = litifut_relays_serve(&apply->relays, error);
	litifut_hosts_release(&hosts);
	return status;
}

enum litifut_status litifut_pass_write_hosts(struct litifut_apply *apply,
					     struct litifut_error *error)
{
	(void)error;
	for (size_t i = 0; i < apply->hosted_count; i++) {
		const struct litifut_hosted *hosted = &apply->hosted[i];

		litifut_changes_add(&apply->changes, hosted->address, hosted->code, hosted->bytes,
				    0, LITIFUT_CODE_PLAIN);
	}
	for (size_t i = 0; i < apply->relays.count; i++) {
		const struct litifut_relay_code *relay = &apply->relays.items[i];

		litifut_changes_add(
			&apply->changes, relay->address, relay->code,
			(uint32_t)LITIFUT_ARCH_GET(apply->session.arch, borrow, relay_bytes), 0,
			LITIFUT_CODE_PLAIN);
	}
	return LITIFUT_OK;
}

enum litifut_status litifut_pass_fill_islands(struct litifut_apply *apply,
					      struct litifut_error *error)
{
	const struct litifut_landings *landings = &apply->session.landings;
	const uint32_t *own = landings->items[landings->own].entries;

	for (size_t i = 0; i < landings->count; i++) {
		const struct litifut_symbol *island = landings->items[i].island;
		uint32_t entries[LITIFUT_ENTRIES_MAX];

		if (!island)
			continue;
		if (LITIFUT_ARCH_GET(apply->session.arch, borrow, host_piece_count) &&
		    apply->rooms.own == apply->rooms.count)
			return litifut_apply_no_room(apply, error); /* they lead to the gate */
		apply->session.arch->write_island(
			&apply->session.context, island->address, own,
			litifut_apply_bytes_at(apply, island->address, island->size), entries);
	}
	return LITIFUT_OK;
}
