#include "rewriter/counts.h"

#include <elf.h>
#include <stdlib.h>

#include "elf/sections.h"

/* The bytes of a room with so many bytes of counters. */
static uint32_t whole_pieces(size_t bytes)
{
	return LITIFUT_COUNTS_PAGE +
	       (uint32_t)(bytes / LITIFUT_COUNTS_PIECE + 1) * LITIFUT_COUNTS_PIECE;
}

static bool by_return(const struct litifut_session *session)
{
	return session->context.thunks && LITIFUT_ARCH_GET(session->arch, thunks, counts_by_return);
}

void litifut_counts_find(struct litifut_session *session)
{
	struct litifut_counters *counters = &session->context.counters;
	const struct litifut_symbol *room =
		litifut_image_symbol(&session->image, LITIFUT_FLAGS_SYMBOL);
	const struct litifut_section *db =
		litifut_image_section(&session->image, LITIFUT_SECTION_DB);

	counters->room = room ? room->address : 0;
	counters->db = db && db->size > sizeof(struct litifut_db_header)
			       ? (uint32_t)((db->size - sizeof(struct litifut_db_header)) /
					    sizeof(struct litifut_db_entry))
			       : 0;
	counters->of_return = counters->room + LITIFUT_COUNTER_OFFSET(counters->db) -
			      (session->image.text_start & ~3u);
}

uint32_t litifut_counts_bytes(const struct litifut_session *session, size_t db_entries,
			      size_t sites, size_t growth)
{
	const uint32_t code = session->image.text_end - session->image.text_start;

	if (by_return(session))
		return whole_pieces(db_entries * LITIFUT_COUNTER_BYTES + code + growth);
	return whole_pieces((db_entries + (session->context.thunks ? sites : 0)) *
			    LITIFUT_COUNTER_BYTES);
}

enum litifut_status litifut_counts_check(const struct litifut_session *session,
					 struct litifut_error *error)
{
	const struct litifut_symbol *room =
		litifut_image_symbol(&session->image, LITIFUT_FLAGS_SYMBOL);

	if (!room || room->size < litifut_counts_bytes(session, session->context.counters.db,
						       session->sites.count, 0))
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, session->image.path, NULL,
					 LITIFUT_NO_ADDRESS, "room for counters is not enough");
	if (room->size > LITIFUT_COUNTS_MAX)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, session->image.path,
					 NULL, room->address, "%u bytes of counters are too many",
					 room->size);
	if (room->address % LITIFUT_COUNTS_PAGE)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, session->image.path, NULL, room->address,
			"the linker has not put the counters at the start of a page");
	return LITIFUT_OK;
}

/* The number in the list of the site whose call is at `address`. */
static size_t number_of(const struct litifut_site_list *sites, uint32_t address)
{
	size_t low = 0;
	size_t high = sites->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sites->items[middle].site.address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The counter of the thunk of the site whose call is at `address`. */
static uint32_t of_thunk(const struct litifut_session *session, uint32_t address)
{
	const struct litifut_counters *counters = &session->context.counters;

	return counters->room +
	       LITIFUT_COUNTER_OFFSET(counters->db + (uint32_t)number_of(&session->sites, address));
}

struct litifut_thunk litifut_counts_thunk(const struct litifut_session *session,
					  const struct litifut_cramped_call *call)
{
	struct litifut_thunk thunk = litifut_session_thunk(session, call);

	if (session->context.counts && !by_return(session))
		thunk.counter = of_thunk(session, call->address);
	return thunk;
}

static void note(const struct litifut_session *session, struct litifut_found_site *site,
		 uint32_t counter)
{
	site->site.exit = counter - session->context.counters.room;
	site->site.exit_reason = LITIFUT_EXIT_COUNTER;
}

void litifut_counts_note(const struct litifut_session *session, struct litifut_found_site *site)
{
	if (session->context.counts)
		note(session, site,
		     by_return(session)
			     ? session->context.counters.of_return + site->site.return_address
			     : of_thunk(session, site->site.address));
}

void litifut_counts_note_db(struct litifut_session *session, const uint8_t *entries, size_t count)
{
	const struct elf_records records = {.bytes = entries,
					    .count = (uint32_t)count,
					    .stride = sizeof(struct litifut_db_entry),
					    .big_endian = session->image.file.big_endian};

	for (size_t i = 0; session->context.counts && i < session->sites.count; i++) {
		struct litifut_found_site *site = &session->sites.items[i];
		uint32_t low = 0;
		uint32_t high = (uint32_t)count;

		if (site->site.reason != LITIFUT_SITE_PATCHED ||
		    site->site.exit_reason == LITIFUT_EXIT_COUNTER)
			continue;
		while (low < high) {
			const uint32_t middle = low + (high - low) / 2;

			if (elf_read_db_entry(&records, middle).return_address <
			    site->site.return_address)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < count &&
		    elf_read_db_entry(&records, low).return_address == site->site.return_address)
			note(session, site,
			     session->context.counters.room + LITIFUT_COUNTER_OFFSET(low));
	}
}
