/* Where traced calls return to: the code there becomes a branch to a trampoline that records
 * the return, does what stood there, and goes back. The call and its link register stay as
 * they are, so nothing that unwinds sees it.
 *
 * What is not certain is left, with the reason (enum litifut_exit_reason) in the list of sites:
 * code that a branch leads into, code that can't be moved, a link register that holds something
 * at that point, a return point that is reached without a return. */
#ifndef LITIFUT_REWRITER_EXITS_H
#define LITIFUT_REWRITER_EXITS_H

#include <litifut/module_format.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "rewriter/arch.h"
#include "rewriter/image.h"
#include "rewriter/rewriter.h"

struct litifut_session;
struct litifut_rooms;
struct litifut_frames;
struct litifut_unwind;
struct litifut_changes;

/* The return point of one call site. */
struct litifut_exit {
	size_t site;      /* index in the list of sites */
	uint32_t address; /* link-time, without the Thumb bit */
	uint8_t reason;   /* enum litifut_exit_reason; LITIFUT_EXIT_PATCHED: it is patched */
	uint8_t bytes;    /* of code that moves to the trampoline */
	/* A 16-bit branch fits, and other code near by makes room for the rest. */
	bool wants_stone;
	uint8_t stone_bytes;
	uint32_t stone;
	bool own_room; /* see LITIFUT_MIPS_OWN_ROOM */
};

/* What is known when one is judged. */
struct litifut_exit_place {
	const struct litifut_image *image;
	const struct litifut_arch_context *context;
	const struct litifut_cramped_call *call;
	const struct litifut_targets *targets; /* where control can arrive */
	const struct litifut_targets *taken;   /* every halfword that is changed already */
	/* Of the section of the call. */
	const struct litifut_code_range *ranges;
	size_t range_count;
};

struct litifut_landings;

/* How its trampoline is reached, and what it reaches. */
struct litifut_exit_ways {
	uint32_t thunk; /* records the return; with the bit of its encoding */
	uint32_t gate;  /* of the room that the trampoline stands in */
	const struct litifut_landings *landings;
};

/* The trampoline of one. */
struct litifut_exit_code {
	uint8_t code[256];
	unsigned bytes; /* of it, a multiple of 4 */
	uint32_t word;  /* what its call of the thunk leaves in the link register */
	/* What stands at the return point then, and at the stone. */
	struct litifut_detour detour;
};

struct litifut_exits {
	struct litifut_exit *items; /* in the order of the sites */
	size_t count;
	size_t patched; /* of them */
	/* Of litifut_exits_write(), link-time: the trampolines stand in [start, end). */
	uint32_t start;
	uint32_t end;
};

/* Judges the return points of all patched calls of the session, which has its sites. Marks the
 * code that they take as targets, so that nothing else moves it. */
enum litifut_status litifut_exits_find(struct litifut_session *session,
				       struct litifut_error *error);

/* The room that their trampolines need. */
size_t litifut_exits_bytes(const struct litifut_session *session);
/* How many entries of an unwind table, see struct litifut_unwind_table. */
size_t litifut_exits_unwind_entries(const struct litifut_session *session);

/* Writes them, behind what there is in the rooms, once the sites have been patched. The list
 * of sites learns where they are, or why there is none. LITIFUT_ERROR_SPACE: no room. */
enum litifut_status litifut_exits_write(struct litifut_session *session,
					struct litifut_rooms *rooms, struct litifut_frames *frames,
					struct litifut_unwind *unwind,
					struct litifut_changes *changes,
					struct litifut_error *error);

/* Counts the return of a site in a summary. */
static inline void litifut_exits_count(struct litifut_rewrite_summary *summary,
				       const struct litifut_site *site)
{
	if (site->exit_reason == LITIFUT_EXIT_OFF)
		return;
	summary->returns++;
	summary->returns_by[site->exit_reason & 31]++;
}

void litifut_exits_release(struct litifut_exits *exits);

#endif
