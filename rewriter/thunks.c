#include "rewriter/thunks.h"

#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include <libiberty/hashtab.h>
#include <libiberty/objalloc.h>

#include "rewriter/counts.h"

/* A thunk that was made. */
struct made {
	struct litifut_thunk thunk;
	const struct litifut_room *room;
	uint32_t address; /* 0: it can't be made there */
};

struct litifut_thunks {
	const struct litifut_session *session;
	struct litifut_rooms *rooms;
	struct litifut_frames *frames;
	htab_t made;
	struct objalloc *memory; /* of what is in it */
};

static hashval_t hash(const void *item)
{
	const struct made *made = item;
	uint64_t key = (uint64_t)made->thunk.callee << 16 | (uint64_t)made->thunk.kind << 8 |
		       (uint64_t)made->thunk.number << 1 | made->thunk.thumb;

	key ^= (uint64_t)made->thunk.counter << 29;
	key = (key ^ (uintptr_t)made->room) * 0x9e3779b97f4a7c15ull;
	return (hashval_t)(key >> 32);
}

static int same(const void *left, const void *right)
{
	const struct made *a = left;
	const struct made *b = right;

	return a->room == b->room && a->thunk.kind == b->thunk.kind &&
	       a->thunk.thumb == b->thunk.thumb && a->thunk.number == b->thunk.number &&
	       a->thunk.callee == b->thunk.callee && a->thunk.counter == b->thunk.counter;
}

struct litifut_thunks *litifut_thunks_create(const struct litifut_session *session,
					     struct litifut_rooms *rooms,
					     struct litifut_frames *frames)
{
	struct litifut_thunks *thunks = calloc(1, sizeof(*thunks));

	if (!thunks)
		return NULL;
	thunks->session = session;
	thunks->rooms = rooms;
	thunks->frames = frames;
	thunks->made = htab_create_alloc(256, hash, same, NULL, calloc, free);
	thunks->memory = objalloc_create();
	if (!thunks->made || !thunks->memory) {
		litifut_thunks_release(thunks);
		return NULL;
	}
	return thunks;
}

void litifut_thunks_release(struct litifut_thunks *thunks)
{
	if (!thunks)
		return;
	if (thunks->made)
		htab_delete(thunks->made);
	if (thunks->memory)
		objalloc_free(thunks->memory);
	free(thunks);
}

/* Makes the thunk; its address is 0 when what it leads to is out of reach. False:
 * there is no room. */
static bool make(const struct litifut_thunks *thunks, struct litifut_room *room, struct made *made)
{
	const struct litifut_arch *arch = thunks->session->arch;
	uint32_t address;
	uint8_t code[256];
	unsigned bytes;

	litifut_rooms_lead_on(thunks->rooms, room);
	address = room->address + room->used;
	bytes = arch->thunks->write_thunk(&thunks->session->context, &made->thunk, address,
					  room->entries, code);
	made->address = bytes ? address | made->thunk.thumb : 0;
	if (!litifut_room_has(room, bytes))
		return false;
	if (bytes) {
		struct litifut_frame_code frame = {.start = address, .bytes = bytes};

		if (LITIFUT_ARCH_GET(arch, thunks, thunk_frame))
			arch->thunks->thunk_frame(&thunks->session->context, &made->thunk, &frame);
		litifut_frames_add(thunks->frames, &frame);
	}
	memcpy(room->bytes + room->used, code, bytes);
	room->used += bytes;
	return true;
}

uint32_t litifut_thunks_in_room(struct litifut_thunks *thunks, struct litifut_room *room,
				const struct litifut_thunk *wanted, bool *full)
{
	struct made key = {*wanted, room, 0};
	struct made *made = htab_find(thunks->made, &key);
	void **slot;

	if (made)
		return made->address;
	made = objalloc_alloc(thunks->memory, sizeof(*made));
	*full = !made || !make(thunks, room, &key);
	slot = *full ? NULL : htab_find_slot(thunks->made, &key, INSERT);
	if (!slot) {
		*full = true;
		return 0;
	}
	*made = key;
	*slot = made;
	return made->address;
}

static uint32_t encode_to(const struct litifut_session *session,
			  const struct litifut_found_site *site, uint32_t target, uint8_t *code)
{
	return session->arch->cpu->encode_call(&session->context.cpu, &site->instruction,
					       site->site.address, target, code)
		       ? target & ~1u
		       : 0;
}

uint32_t litifut_thunks_encode(struct litifut_thunks *thunks, const struct litifut_found_site *site,
			       uint8_t *code, bool *full)
{
	const struct litifut_session *session = thunks->session;
	const struct litifut_cramped_call call = litifut_site_cramped(&session->image, site);
	struct litifut_thunk wanted = litifut_counts_thunk(session, &call);
	struct litifut_rooms *rooms = thunks->rooms;
	size_t near = litifut_rooms_nearest(rooms, site->site.address);
	uint32_t reached = 0;

	*full = false;
	if (wanted.kind == LITIFUT_THUNK_NONE)
		return 0;
	if (wanted.kind == LITIFUT_THUNK_ENTRY)
		return litifut_landings_encode(&session->landings, session->arch, &session->context,
					       site, wanted.number, code) &
		       ~1u;
	/* The room beside the tracer serves all that reach it; then the neighbours. */
	for (size_t i = 0; i < 3 && !reached && !*full; i++) {
		size_t index = i ? near + i - 2 : rooms->own;
		struct litifut_room *room = index < rooms->count ? &rooms->items[index] : NULL;

		if (room && encode_to(session, site, room->address, code)) {
			uint32_t thunk = litifut_thunks_in_room(thunks, room, &wanted, full);

			reached = thunk ? encode_to(session, site, thunk, code) : 0;
		}
	}
	return reached;
}
