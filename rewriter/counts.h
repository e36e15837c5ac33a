/* LITIFUT_MODE=counts: a counter for each call site, in the room for flags
 * (<litifut/module_format.h> says what is in it), which becomes a part of the trace.
 *
 * First come the counters of the instruction DB, for the calls that no thunk serves. Where each
 * site has a separate thunk, those of all sites follow, in the order of the list. Where thunks
 * serve many sites, the rest of the room is an image of the code: the counter of a site is as far
 * from that of another as their return addresses are from each other. These are at least as far
 * apart as a counter is long, since a call and its delay slot are 8 bytes. */
#ifndef LITIFUT_REWRITER_COUNTS_H
#define LITIFUT_REWRITER_COUNTS_H

#include "rewriter/session.h"

/* Finds the room; one that does not exist yet is taken to stand at 0. */
void litifut_counts_find(struct litifut_session *session);

/* How many bytes the room of an image like this must have, with so many entries in its DB, so many
 * sites and `growth` more bytes of code. Whole pieces. */
uint32_t litifut_counts_bytes(const struct litifut_session *session, size_t db_entries,
			      size_t sites, size_t growth);

/* Is the room of the image large enough, at the start of a page, and not too large? */
enum litifut_status litifut_counts_check(const struct litifut_session *session,
					 struct litifut_error *error);

/* litifut_session_thunk() with the counter, where each site has a separate thunk. */
struct litifut_thunk litifut_counts_thunk(const struct litifut_session *session,
					  const struct litifut_cramped_call *call);

/* The site goes through a thunk: notes where its counter is. */
void litifut_counts_note(const struct litifut_session *session, struct litifut_found_site *site);

/* The same of all sites that go through the instruction DB, when that is complete: `count`
 * entries at `entries`. */
void litifut_counts_note_db(struct litifut_session *session, const uint8_t *entries, size_t count);

#endif
