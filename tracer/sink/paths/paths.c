/* Makes room in the ring of LITIFUT_MODE=paths, and says where the CPU is from time to time, so
 * that a reader can begin there when what came before has been overwritten. */
#include "tracer/sink/paths/ring.h"

/* There is a SYNC at the begin of the ring, and then about every so many words. */
#define SYNC_WORDS(ring_words) ((ring_words) > 1024 ? 256u : 128u)

#define STACK_WORDS 128 /* that are searched for return addresses */

/* What is put at once, at most. */
#define ROOM_WORDS (4 + 2 * LITIFUT_PATHS_SYNC_CALLS + 6)

HIDDEN void litifut_paths_slow(uint32_t kind, uint32_t address, const uint32_t *stack);

/* Of the program, from the rewriter: the memory that stacks are in, and the code. */
extern HIDDEN const uint32_t litifut_paths_stack_low, litifut_paths_stack_high;
extern HIDDEN const uint32_t litifut_paths_code_low, litifut_paths_code_high;

/* Not an address but a number: 1 where the ring is sent. */
extern HIDDEN char litifut_paths_sends[];

/* The first bit finds this word full. */
uint32_t litifut_paths_nowhere[1] = {LITIFUT_PATHS_FULL};

struct paths_ring litifut_paths = {
	.state = {.cursor = (uint32_t)litifut_paths_nowhere,
		  .stop = (uint32_t)litifut_paths_nowhere},
};

void litifut_paths_move(uint32_t *at)
{
	litifut_paths.state.cursor = (uint32_t)at;
	if (&litifut_kept)
		litifut_kept.head = (uint32_t)at;
}

static uint32_t *litifut_paths_put(uint32_t *at, uint32_t kind, uint32_t value)
{
	at[0] = LITIFUT_PATHS_RECORD | kind;
	at[1] = value;
	return at + 2;
}

static bool litifut_paths_is_good(void)
{
	const uint32_t *hash = (const uint32_t *)(const void *)litifut_identity.hash;
	const uint32_t words = litifut_paths_words();

	return &litifut_kept && litifut_kept.magic == LITIFUT_KEPT_MAGIC &&
	       litifut_kept.events == words + 1 && litifut_kept.hash[0] == hash[0] &&
	       litifut_kept.hash[1] == hash[1] &&
	       litifut_kept.check == litifut_kept_check(&litifut_kept) &&
	       litifut_kept.head - (uint32_t)litifut_paths_first() < 4 * words;
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

	litifut_paths.limited = (uintptr_t)litifut_paths_sends == 1;
	litifut_paths.sent = at;
	if (litifut_paths_is_good()) {
		at = (uint32_t *)litifut_kept.head + 1;
		if (litifut_table_end - at < 4)
			at = litifut_paths_wrap(at);
		at = litifut_paths_put(at, LITIFUT_PATHS_RESET, ++litifut_kept.resets);
		litifut_paths.next = at;
		return at;
	}
	litifut_table[0] = 0;
	if (&litifut_kept) {
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

/* May the word be a return address? bl, blx rN, or the code that has taken their place, stands
 * before it. */
static bool litifut_paths_is_return(uint32_t word)
{
	const uint32_t low = litifut_paths_code_low;
	const uint16_t *code = (const uint16_t *)(word - 1);

	return word & 1 && word - low < litifut_paths_code_high - low && word - low >= 4 &&
	       ((code[-2] & 0xf800) == 0xf000 || (code[-1] & 0xff87) == 0x4780 ||
		code[-1] == 0xbf00);
}

/* The address that the code of a branch was called from, and what may be return addresses of open
 * calls; the innermost may be in lr only, which that code has pushed. */
static uint32_t *litifut_paths_sync(uint32_t *at, uint32_t address, const uint32_t *stack)
{
	const uint32_t *end = stack - 1;
	uint32_t *head = at;

	if ((uint32_t)stack >= litifut_paths_stack_low &&
	    (uint32_t)stack < litifut_paths_stack_high) {
		end = stack + STACK_WORDS;
		if ((uint32_t)end > litifut_paths_stack_high)
			end = (const uint32_t *)litifut_paths_stack_high;
	}
	at += 4;
	for (const uint32_t *word = stack - 1;
	     word < end && at < head + 4 + 2 * LITIFUT_PATHS_SYNC_CALLS; word++) {
		if (!litifut_paths_is_return(*word))
			continue;
		*at++ = *word;
		*at++ = (uint32_t)word;
	}
	head[1] = address;
	head[2] = (uint32_t)stack;
	head[3] = (uint32_t)(at - head - 4) / 2;
	head[0] = LITIFUT_PATHS_RECORD | LITIFUT_PATHS_SYNC;
	return at;
}

void litifut_paths_set_stop(uint32_t *at)
{
	const uint32_t period = SYNC_WORDS(litifut_paths_words());
	uint32_t *stop = litifut_table + (((uint32_t)(at - litifut_table) | (period - 1)) + 1);
	const uint32_t room = litifut_paths_free(at);

	if (stop > litifut_table_end)
		stop = litifut_table_end;
	if (stop > at + room)
		stop = at + room;
	litifut_paths.state.stop = (uint32_t)stop;
}

/* Nothing is recorded until there is room. */
static void litifut_paths_lose(uint32_t *at)
{
	litifut_paths.next = at;
	litifut_paths.state.cursor = litifut_paths.state.stop = (uint32_t)litifut_paths_nowhere;
	litifut_paths.state.lost++;
}

/* `kind': 0 or 1, a bit; 2: a block is entered; more: of a record, of which `address' is the second
 * word, and of an interrupt `stack' the third. Else `address' is the place in the code of a branch,
 * and `stack' the stack pointer of the program. With interrupts off. */
void litifut_paths_slow(uint32_t kind, uint32_t address, const uint32_t *stack)
{
	const struct paths_ring *ring = &litifut_paths;
	const uint32_t *newest = litifut_paths_newest();
	uint32_t *at = newest ? (uint32_t *)newest + 1 : ring->next;

	if (!at)
		at = litifut_paths_begin();
	const uint32_t left = (uint32_t)(litifut_table_end - at);
	const bool wraps = left < ROOM_WORDS;

	if (litifut_paths_free(at) < ROOM_WORDS + (wraps ? left : 0)) {
		litifut_paths_lose(at);
		return;
	}
	if (wraps)
		at = litifut_paths_wrap(at);
	if (ring->state.lost != ring->told)
		at = litifut_paths_put(at, LITIFUT_PATHS_LOST, ring->state.lost - ring->told);
	litifut_paths.told = ring->state.lost;
	if (kind <= 2) {
		at = litifut_paths_sync(at, address, stack);
		*at = kind < 2 ? LITIFUT_PATHS_NONE << 1 | kind : LITIFUT_PATHS_NONE;
	} else {
		at = litifut_paths_put(at, kind, address);
		if (kind == LITIFUT_PATHS_INTERRUPT)
			*at++ = (uint32_t)stack;
		*at = LITIFUT_PATHS_NONE;
	}
	litifut_paths_move(at);
	litifut_paths_set_stop(at);
	if (kind > 2) /* the next one says where that is */
		litifut_paths.state.stop = (uint32_t)at;
}
