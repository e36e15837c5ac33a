/* The ring of LITIFUT_MODE=paths of a firmware, for paths.c, which makes room in it, and for what
 * sends it. What says that it needs interrupts off is called so. */
#ifndef LITIFUT_TRACER_PATHS_RING_H
#define LITIFUT_TRACER_PATHS_RING_H

#include <litifut/kept_format.h>
#include <litifut/paths_format.h>

#include <stddef.h>

#include "tracer/sink/frames/frames.h"

#include "paths_machine.h" /* of the CPU */

struct paths_ring {
	struct litifut_paths_state state;
	uint32_t *next;    /* where the next word goes while nothing is recorded; NULL: the first */
	uint32_t *sent;    /* the first word that has not been sent: */
	bool limited;      /* it and those behind it are not replaced */
	bool owes;         /* a SYNC is to come as soon as possible */
	bool off;          /* nothing is recorded (start.c) */
	uint32_t reported; /* of state.lost */
};

/* `state' is the symbol that <litifut/paths_format.h> has. */
extern HIDDEN struct paths_ring litifut_paths;

/* Only where the ring outlasts a reset. */
extern HIDDEN struct litifut_kept litifut_kept __attribute__((weak));

/* Where there is no word yet. */
extern HIDDEN uint32_t litifut_paths_nowhere[1];

static inline uint32_t *litifut_paths_first(void)
{
	return litifut_table + 1;
}

static inline unsigned litifut_paths_words(void)
{
	return (unsigned)(litifut_table_end - litifut_table) - 1;
}

/* The newest word; NULL: nothing is recorded now. With interrupts off. */
static inline uint32_t *litifut_paths_newest(void)
{
	return litifut_paths.state.cursor == (uintptr_t)litifut_paths_nowhere
		       ? NULL
		       : (uint32_t *)(uintptr_t)litifut_paths.state.cursor;
}

/* Where the first word of this run goes: in a ring that has outlasted a reset, behind the last one,
 * and a record that says so. With interrupts off, as the other two. */
HIDDEN uint32_t *litifut_paths_begin(void);

/* `at' is the newest word. */
HIDDEN void litifut_paths_move(uint32_t *at);

/* Lets the ring have its limits for a newest word at `at'. */
HIDDEN void litifut_paths_set_stop(uint32_t *at);

/* Was recording switched off at this word, the newest, and nothing recorded since then? */
static inline bool litifut_paths_is_closed(const uint32_t *newest)
{
	return newest && *newest == LITIFUT_PATHS_CLOSED;
}

/* How many words there are from `from' to before `to', at most one less than the ring has. */
static inline unsigned litifut_paths_distance(const uint32_t *from, const uint32_t *to)
{
	const int words = (int)(to - from);

	return (unsigned)(words < 0 ? words + (int)litifut_paths_words() : words);
}

/* How many words there can be behind `at' before one that has not been sent is replaced. */
static inline unsigned litifut_paths_free(const uint32_t *at)
{
	return litifut_paths.limited
		       ? litifut_paths_words() - 1 - litifut_paths_distance(litifut_paths.sent, at)
		       : litifut_paths_words();
}

#endif
