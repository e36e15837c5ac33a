/* Makes room in the ring of LITIFUT_MODE=paths (and balllarus: numbers.c), and says where the CPU
 * is from time to time, so that a reader can begin there when what came before has been
 * overwritten. */
#include "tracer/sink/paths/ring.h"

#include <litifut/packed_format.h>

/* There is a SYNC at the begin of the ring, and then about every so many words. */
#define SYNC_WORDS(ring_words) ((ring_words) > 1024 ? 256u : (ring_words) > 192 ? 128u : 64u)

/* What is put at once, at most: with a SYNC of so many calls, and without one. */
#define ROOM_WORDS(calls) (4 + 2 * (calls) + 6)
#define PLAIN_WORDS 6

/* Where words are packed when they leave the ring, there is a SYNC at the begin of each so many
 * laps of it: a power of two. */
#define SYNC_LAPS 8u

/* Numbers of words are `unsigned', which has 16 bits on AVR. */
HIDDEN void litifut_paths_slow(litifut_paths_kind kind, uint32_t address,
			       const litifut_paths_slot *stack);

/* Not an address but a number: 1 where the ring is sent, 2 where it is sent packed. */
extern HIDDEN char litifut_paths_sends[];

/* Likewise: 1 where a reader needs the calls that are open, 0 where only units are recorded. */
extern HIDDEN char litifut_paths_searches[];

static bool litifut_paths_are_packed(void)
{
	return (uintptr_t)litifut_paths_sends == 2;
}

#ifndef LITIFUT_NUMBERS
/* Calls of a SYNC, at most. */
static unsigned litifut_paths_most_calls(void)
{
	if (litifut_paths_are_packed())
		return LITIFUT_PATHS_CALLS > LITIFUT_PACKED_CALLS ? LITIFUT_PACKED_CALLS
								  : LITIFUT_PATHS_CALLS;
	return (uintptr_t)litifut_paths_searches == 1 ? LITIFUT_PATHS_CALLS : 0;
}
#endif

/* The first bit finds this word full. */
uint32_t litifut_paths_nowhere[1] = {LITIFUT_PATHS_FULL};

struct paths_ring litifut_paths = {
	.state = {LITIFUT_PATHS_UPPER.cursor = (uintptr_t)litifut_paths_nowhere,
		  .stop = (uintptr_t)litifut_paths_nowhere},
	.owes = true,
};

void litifut_paths_move(uint32_t *at)
{
	litifut_paths.state.cursor = (uintptr_t)at;
	if (LITIFUT_PATHS_KEPT)
		litifut_kept.head = (uintptr_t)at;
}

static uint32_t *litifut_paths_put(uint32_t *at, uint32_t kind, uint32_t value)
{
	at[0] = LITIFUT_PATHS_RECORD | kind;
	at[1] = value;
	return at + 2;
}

/* What has happened since the last word, for a reader; `closed': that recording was off. */
static uint32_t *litifut_paths_note(uint32_t *at, bool closed)
{
	const uint32_t lost = litifut_paths.state.lost;

	if (closed)
		return litifut_paths_put(at, LITIFUT_PATHS_STOPPED, 0);
	if (lost != litifut_paths.reported)
		at = litifut_paths_put(at, LITIFUT_PATHS_LOST, lost - litifut_paths.reported);
	litifut_paths.reported = lost;
	return at;
}

static bool litifut_paths_is_good(void)
{
	const uint32_t *hash = (const uint32_t *)(const void *)litifut_identity.hash;
	const unsigned words = litifut_paths_words();

	return LITIFUT_PATHS_KEPT && litifut_kept.magic == LITIFUT_KEPT_MAGIC &&
	       litifut_kept.events == words + 1 && litifut_kept.hash[0] == hash[0] &&
	       litifut_kept.hash[1] == hash[1] &&
	       litifut_kept.check == litifut_kept_check(&litifut_kept) &&
	       litifut_kept.head - (uintptr_t)litifut_paths_first() < 4 * words;
}

/* Goes to the begin of the ring; the words up to its end stay empty. */
static uint32_t *litifut_paths_wrap(uint32_t *at)
{
	while (at < litifut_table_end)
		*at++ = 0;
	litifut_table[0]++;
	return litifut_paths_first();
}

uint32_t *litifut_paths_begin(void)
{
	const uint32_t *hash = (const uint32_t *)(const void *)litifut_identity.hash;
	uint32_t *at = litifut_paths_first();

	litifut_paths.limited = (uintptr_t)litifut_paths_sends == 1 || litifut_paths_are_packed();
	litifut_paths.sent = at;
	if (litifut_paths_is_good()) {
		at = (uint32_t *)(uintptr_t)litifut_kept.head;
		if (!litifut_paths_is_closed(at))
			at++;
		if (litifut_table_end - at < 4)
			at = litifut_paths_wrap(at);
		at = litifut_paths_put(at, LITIFUT_PATHS_RESET, ++litifut_kept.resets);
		litifut_paths.next = at;
		return at;
	}
	litifut_table[0] = 0;
	if (LITIFUT_PATHS_KEPT) {
		litifut_kept.magic = LITIFUT_KEPT_MAGIC;
		litifut_kept.hash[0] = hash[0];
		litifut_kept.hash[1] = hash[1];
		litifut_kept.events = litifut_paths_words() + 1;
		litifut_kept.resets = 0;
		litifut_kept.check = litifut_kept_check(&litifut_kept);
	}
	litifut_paths.next = at;
	return at;
}

#ifndef LITIFUT_NUMBERS
/* The address that the code of a branch was called from, and what may be return addresses of open
 * calls. */
static uint32_t *litifut_paths_sync(uint32_t *at, uint32_t address, const litifut_paths_slot *stack)
{
	uint32_t *head = at;

	at = litifut_paths_calls(at + 4, stack, litifut_paths_most_calls());
	head[1] = address;
	head[2] = (uintptr_t)stack;
	head[3] = (unsigned)(at - head - 4) / 2;
	head[0] = LITIFUT_PATHS_RECORD | LITIFUT_PATHS_SYNC;
	return at;
}
#endif

void litifut_paths_set_stop(uint32_t *at)
{
	const unsigned period = SYNC_WORDS(litifut_paths_words());
	uint32_t *stop = litifut_table + (((unsigned)(at - litifut_table) | (period - 1)) + 1);
	const unsigned room = litifut_paths_free(at);

	if (stop > litifut_table_end || litifut_paths_are_packed())
		stop = litifut_table_end;
	if (stop > at + room)
		stop = at + room;
	if (litifut_paths_is_closed(at))
		stop = at;
	litifut_paths.state.stop = (uintptr_t)stop;
}

/* Nothing is recorded until there is room. */
static void litifut_paths_lose(uint32_t *at)
{
	litifut_paths.next = at;
	litifut_paths.state.cursor = litifut_paths.state.stop = (uintptr_t)litifut_paths_nowhere;
	litifut_paths_forget();
	litifut_paths.owes = true;
	litifut_paths.state.lost++;
}

#ifndef LITIFUT_NUMBERS
/* `kind': 0 or 1, a bit; 2: a block is entered; more: of a record, of which `address' is the second
 * word, and of an interrupt `stack' the third. Else `address' is the place in the code of a branch,
 * and `stack' the stack pointer of the program. With interrupts off. */
void litifut_paths_slow(litifut_paths_kind kind, uint32_t address, const litifut_paths_slot *stack)
{
	const struct paths_ring *ring = &litifut_paths;
	const uint32_t *newest = litifut_paths_newest();
	const bool closed = litifut_paths_is_closed(newest);

	if (ring->off)
		return;
	if (litifut_paths_is_shut()) {
		litifut_paths.state.lost++;
		return;
	}
	uint32_t *at = newest ? (uint32_t *)newest + !closed : ring->next;

	if (!at)
		at = litifut_paths_begin();
	const unsigned left = (unsigned)(litifut_table_end - at);
	if (left < PLAIN_WORDS && !((litifut_table[0] + 1) % SYNC_LAPS))
		litifut_paths.owes = true;
	const bool syncs = !litifut_paths_are_packed() || ring->owes;
	const unsigned room = syncs ? ROOM_WORDS(litifut_paths_most_calls()) : PLAIN_WORDS;
	const bool wraps = left < room;

	if (litifut_paths_free(at) < room + (wraps ? left : 0)) {
		litifut_paths_lose(at);
		return;
	}
	if (wraps)
		at = litifut_paths_wrap(at);
	if (newest && !closed)
		at = litifut_paths_pending(at);
	at = litifut_paths_note(at, closed);
	if (kind <= 2 && syncs) {
		at = litifut_paths_sync(at, address, stack);
		litifut_paths.owes = false;
	} else if (kind == 2) {
		*at++ = LITIFUT_PATHS_RECORD | address >> 1;
	} else if (kind > 2) {
		at = litifut_paths_put(at, kind, address);
		if (kind == LITIFUT_PATHS_INTERRUPT)
			*at++ = (uintptr_t)stack;
	}
	litifut_paths_open(at, kind);
	litifut_paths_move(at);
	litifut_paths_set_stop(at);
	if (kind > 2 && syncs) /* the next one says where that is */
		litifut_paths.state.stop = (uintptr_t)at;
}
#endif
