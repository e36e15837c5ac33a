#include "tests/oracle/shadow.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* The addresses that calls return to, and the last site of each. */
enum { SLOTS = 1 << 18 };

static struct {
	uint32_t address;
	const struct oracle_place *site;
} known[SLOTS];
static size_t known_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t slot_of(uint32_t address)
{
	size_t slot = (address >> 1) * 2654435761u % SLOTS;

	while (known[slot].address && known[slot].address != address)
		slot = (slot + 1) % SLOTS;
	return slot;
}

static void learn(uint32_t address, const struct oracle_place *site)
{
	size_t slot = slot_of(address);

	if (known[slot].site == site)
		return;
	pthread_mutex_lock(&lock);
	slot = slot_of(address);
	if (!known[slot].address && ++known_count > SLOTS / 2) {
		fprintf(stderr, "oracle: too many return addresses\n");
		abort();
	}
	known[slot].site = site;
	__atomic_store_n(&known[slot].address, address, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}

static void push(struct oracle_shadow *shadow, struct oracle_frame frame)
{
	if (shadow->count == shadow->capacity) {
		shadow->capacity = shadow->capacity ? 2 * shadow->capacity : 256;
		shadow->frames =
			realloc(shadow->frames, shadow->capacity * sizeof(*shadow->frames));
		if (!shadow->frames)
			abort();
	}
	shadow->frames[shadow->count++] = frame;
}

bool oracle_shadow_call(struct oracle_shadow *shadow, const struct oracle_place *site,
			uint32_t return_address, uint32_t sp, bool may_begin, uint32_t *cut)
{
	*cut = 0;
	/* A lazy stub of MIPS calls the resolver, which goes on to the function and does not return
	 * to the stub: that call lies between, with the same sp. */
	for (size_t i = shadow->count; i-- > 0;) {
		const struct oracle_frame *frame = &shadow->frames[i];
		const uint32_t above = (uint32_t)(shadow->count - i - 1);

		if (!frame->site || frame->sp > sp)
			break;
		/* Left by an exception, or by longjmp, which has led to an address that no call
		 * returns to. */
		if (frame->sp < sp)
			continue;
		if (frame->return_address == return_address && (!above || frame->site != site)) {
			*cut = above;
			shadow->count -= above;
			return false;
		}
	}
	if (!may_begin)
		return false;
	learn(return_address, site);
	push(shadow, (struct oracle_frame){site, return_address, sp});
	return true;
}

enum oracle_arrival oracle_shadow_arrive(struct oracle_shadow *shadow, uint32_t address,
					 uint32_t sp, uint32_t *cut,
					 const struct oracle_place **site)
{
	size_t slot = slot_of(address);
	size_t keep = shadow->count;

	if (!known[slot].address)
		return ORACLE_ELSEWHERE;
	*cut = 0;
	*site = known[slot].site;
	/* By siglongjmp a handler may be left: then the frame lies below where it began. */
	for (size_t i = shadow->count; i-- > 0;) {
		const struct oracle_frame *frame = &shadow->frames[i];

		if (!frame->site)
			continue;
		if (frame->sp == sp && frame->return_address == address) {
			for (size_t above = i + 1; above < shadow->count; above++)
				*cut += shadow->frames[above].site != NULL;
			*site = frame->site;
			shadow->count = i;
			return ORACLE_RETURNED;
		}
		if (frame->sp > sp)
			break;
	}
	/* Within what the handler has called, if there is one. */
	while (keep && shadow->frames[keep - 1].site && shadow->frames[keep - 1].sp <= sp)
		keep--;
	*cut = (uint32_t)(shadow->count - keep);
	shadow->count = keep;
	return ORACLE_AGAIN;
}

void oracle_shadow_signal(struct oracle_shadow *shadow)
{
	push(shadow, (struct oracle_frame){NULL, 0, 0});
}

uint32_t oracle_shadow_signal_ends(struct oracle_shadow *shadow)
{
	size_t at = shadow->count;
	uint32_t cut = 0;

	while (at && shadow->frames[at - 1].site)
		at--;
	if (!at)
		return 0;
	cut = (uint32_t)(shadow->count - at);
	shadow->count = at - 1;
	return cut;
}
