/* The thunks of an image, in its rooms for trampolines: each room has those that
 * the calls around it need. */
#ifndef LITIFUT_REWRITER_THUNKS_H
#define LITIFUT_REWRITER_THUNKS_H

#include "rewriter/rooms.h"
#include "rewriter/session.h"

struct litifut_thunks;

/* NULL without memory. `rooms` and `frames`, to which each thunk is added, must live
 * as long. */
struct litifut_thunks *litifut_thunks_create(const struct litifut_session *session,
					     struct litifut_rooms *rooms,
					     struct litifut_frames *frames);
void litifut_thunks_release(struct litifut_thunks *thunks);

/* The thunk in `room` that is `wanted`, made if it is not there yet: its address,
 * bit 0 set for T32 code. 0: there is no more space, then *full is set, or what
 * it leads to is out of its reach. */
uint32_t litifut_thunks_in_room(struct litifut_thunks *thunks, struct litifut_room *room,
				const struct litifut_thunk *wanted, bool *full);

/* Encodes the call of `site` to the thunk that serves it into `code` (4 bytes) and
 * returns the address it goes to, without bit 0. 0: there is none in reach, or
 * *full is set. */
uint32_t litifut_thunks_encode(struct litifut_thunks *thunks, const struct litifut_found_site *site,
			       uint8_t *code, bool *full);

#endif
