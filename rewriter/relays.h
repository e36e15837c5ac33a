/* Branches in the middle of the image's own functions, which lead on to an island.
 *
 * A single function can be larger than the reach of a branch on both sides: nothing of
 * the linker stands inside it, and only its start can be a host (hosts.h). There a few
 * instructions are moved into a trampoline, and in their place stands the way to that,
 * and room for one branch, a relay. One relay for each entry of an island near by
 * makes an island of its own, from which the next one is in reach. */
#ifndef LITIFUT_REWRITER_RELAYS_H
#define LITIFUT_REWRITER_RELAYS_H

#include <stddef.h>
#include <stdint.h>

#include "rewriter/frames.h"
#include "rewriter/hosts.h"
#include "rewriter/rooms.h"
#include "rewriter/session.h"

#define LITIFUT_RELAY_BYTES_MAX 32

/* What a run of instructions becomes. */
struct litifut_relay_code {
	uint32_t address;
	uint8_t code[LITIFUT_RELAY_BYTES_MAX];
};

struct litifut_relays {
	struct litifut_session *session;
	const struct litifut_rewrite_options *options;
	struct litifut_rooms *rooms;
	struct litifut_frames *frames;
	struct litifut_targets taken; /* what hosts take of the code */
	/* What is known when the first run is looked for: */
	const struct litifut_targets *targets;
	struct litifut_targets own; /* for that, if the session has none */
	uint32_t largest;           /* bytes of the largest function */
	bool *is_searched;          /* by number of the function in the order of addresses */
	uint32_t *runs;             /* of the functions that have been searched, ascending */
	bool *is_used;
	size_t run_count;
	size_t run_room;
	struct litifut_relay_code *items;
	size_t count;
	size_t capacity;
};

/* May the site, one that uses a trampoline, have litifut_relays_step()? The others come by an
 * island, or not at all. */
bool litifut_relays_may_step(const struct litifut_session *session,
			     const struct litifut_found_site *site);

/* How many tables number the trampolines of a room of so many bytes? `grain`: of the context; where
 * it is not 0, the code of edges is numbered. */
unsigned litifut_relays_tables(const struct litifut_arch *arch, unsigned grain, size_t room_bytes);

/* `hosts` are those of the session's image. Release with litifut_relays_release(), on
 * failure as well. */
enum litifut_status litifut_relays_create(
	struct litifut_session *session, const struct litifut_rewrite_options *options,
	const struct litifut_hosts *hosts, struct litifut_rooms *rooms,
	struct litifut_frames *frames, struct litifut_relays *relays, struct litifut_error *error);

/* Adds landings to the session until each site is in reach of one, as far as there are
 * instructions that can be moved. The code of the relays is only noted. */
enum litifut_status litifut_relays_serve(struct litifut_relays *relays,
					 struct litifut_error *error);

/* A relay for `site` alone, which leads to `trampoline`, a multiple of trampolines from
 * the start of those beside the tracer: returns the address of its branch; 0: there is
 * no way, or (*full) no room. */
uint32_t litifut_relays_step(struct litifut_relays *relays, const struct litifut_found_site *site,
			     uint32_t trampoline, bool *full);

void litifut_relays_release(struct litifut_relays *relays);

#endif
