/* The trampolines of calls that can't be patched in place. */
#ifndef LITIFUT_REWRITER_TRAMPOLINES_H
#define LITIFUT_REWRITER_TRAMPOLINES_H

#include <stdbool.h>
#include <stdint.h>

#include "rewriter/relays.h"
#include "rewriter/rooms.h"
#include "rewriter/session.h"
#include "rewriter/thunks.h"

/* Where code for a call can go. */
struct litifut_places {
	struct litifut_rooms *rooms;
	struct litifut_thunks *thunks; /* NULL: calls do not go through thunks */
	struct litifut_relays *relays; /* for calls that can't name their trampoline; or NULL */
};

/* Writes a trampoline for `site` into the best room and fills `detour`; returns
 * its address, or 0: then *full says whether a room is in reach that has no
 * space left; without, there is none in reach. The trampoline goes through a thunk of
 * its room if the site has one. */
uint32_t litifut_trampoline_add(const struct litifut_places *places,
				const struct litifut_session *session,
				const struct litifut_found_site *site,
				struct litifut_detour *detour, bool *full);

#endif
