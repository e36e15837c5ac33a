/* The rooms for trampolines: one beside the tracer, one behind each island. */
#ifndef LITIFUT_REWRITER_ROOMS_H
#define LITIFUT_REWRITER_ROOMS_H

#include <stddef.h>
#include <stdint.h>

#include "rewriter/session.h"

/* A gate (see write_gate in struct litifut_arch), then trampolines. */
struct litifut_room {
	uint32_t address;
	uint32_t used; /* bytes from `address` on */
	uint32_t size;
	uint8_t *bytes;    /* in the image; of a room that is measured separate ones, owned */
	bool is_measured;  /* it has as many bytes as are asked for, whatever its size */
	uint32_t capacity; /* then: bytes that are there now */
	/* of the tracer, or of the island that it belongs to; or of the last ways onward
	 * (see write_onward in struct litifut_arch), for what comes behind them */
	uint32_t entries[LITIFUT_ENTRIES_MAX];
};

struct litifut_rooms {
	struct litifut_room *items; /* by address */
	size_t count;
	size_t own; /* index of the one beside the tracer; `count`: there is none */
	/* From where trampolines out of a site's own reach can be reached by number. */
	const struct litifut_landings *landings;
	const struct litifut_arch *arch;
	const struct litifut_arch_context *context;
	struct litifut_frames *frames; /* get the ways onward; NULL: nothing does */
};

/* Finds the rooms of the session's image and writes their gates. The session must live as long as
 * the rooms. To have none at all is not an error. `measures`: nothing in the image is written to,
 * and each room has as many bytes as are asked for, whatever its size. */
enum litifut_status litifut_rooms_find(const struct litifut_session *session, bool measures,
				       struct litifut_rooms *rooms, struct litifut_error *error);

void litifut_rooms_release(struct litifut_rooms *rooms);

/* Are so many bytes left? The bytes of a room that is measured may move. */
bool litifut_room_has(struct litifut_room *room, size_t bytes);

/* To be called before something is added to `room`: writes ways onward if the tracer is about
 * to get out of reach, and there is room for them. */
void litifut_rooms_lead_on(const struct litifut_rooms *rooms, struct litifut_room *room);

/* Room for `size` bytes beside the tracer; *address gets where they stand. NULL:
 * there is not enough. */
uint8_t *litifut_rooms_take(struct litifut_rooms *rooms, uint32_t size, uint32_t *address);

/* Index of the first room at or behind `address`, or the number of rooms. That
 * one and the one before are the nearest. */
size_t litifut_rooms_nearest(const struct litifut_rooms *rooms, uint32_t address);

#endif
