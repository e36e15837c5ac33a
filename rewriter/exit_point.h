/* The return point of a call, and what becomes of it: see exits.h. */
#ifndef LITIFUT_REWRITER_EXIT_POINT_H
#define LITIFUT_REWRITER_EXIT_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/arch.h"
#include "rewriter/image.h"

/* The return point of one call site. */
struct litifut_exit {
	size_t site;      /* index in the list of sites */
	uint32_t address; /* link-time, without the Thumb bit */
	uint8_t reason;   /* enum litifut_exit_reason; LITIFUT_EXIT_PATCHED: it is patched */
	uint8_t bytes;    /* of code that moves to the trampoline */
	/* Branches lead there or into that code, at this offset, and are led to `led`, past the
	 * record of the return; 0: into the trampoline, to `inner_now`. */
	bool has_branches;
	uint8_t inner;
	uint32_t led;
	uint32_t inner_now; /* 0: not written yet */
	/* `led` is in the code that moves from another return point, which lends it: the index of
	 * that, and one more. */
	size_t lender;
	bool lends;
	/* What was changed for it: so many from this index on. */
	size_t first_change;
	size_t change_count;
	/* A 16-bit branch fits, and other code near by makes room for the rest. With
	 * `has_branches`: these are such branches. */
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
	/* Those of `targets` to which not only direct branches lead. NULL: they all are. */
	const struct litifut_targets *labels;
	bool borrows; /* another return point will have room for what branches are led to */
	/* Of the section of the call. */
	const struct litifut_code_range *ranges;
	size_t range_count;
};

struct litifut_landings;
struct litifut_exits;

/* How its trampoline is reached, and what it reaches. */
struct litifut_exit_ways {
	uint32_t thunk; /* records the return; with the bit of its encoding */
	uint32_t gate;  /* of the room that the trampoline stands in */
	const struct litifut_landings *landings;
	const struct litifut_exits *exits; /* see litifut_exits_led() */
	bool result;                       /* what the call returns is recorded */
};

/* The trampoline of one. */
struct litifut_exit_code {
	uint8_t code[256];
	unsigned bytes; /* of it, a multiple of 4 */
	uint32_t word;  /* what its call of the thunk leaves in the link register */
	uint32_t inner; /* in the trampoline: where branches are led to; 0: none are */
	/* What leads them there from exit->led, if that is elsewhere. */
	struct litifut_exit_piece {
		uint32_t address;
		uint32_t entry;
		unsigned length;
		uint8_t code[8];
	} pieces[2];
	unsigned piece_count;
	/* What stands at the return point then, and at the stone. */
	struct litifut_detour detour;
};

/* So many bytes from a return point on may move to its trampoline. */
#define LITIFUT_EXIT_BYTES_MAX 16u

/* A direct branch that leads to a return point, or right behind it. */
struct litifut_exit_branch {
	uint32_t target;  /* bit 0 clear */
	uint32_t address; /* of the branch */
	uint16_t section; /* number */
	uint8_t state;    /* enum litifut_code_state */
	uint8_t length;
	bool is_call; /* not a branch: it can't be led elsewhere */
};

struct litifut_exit_branches {
	/* Where control can arrive in another way: labels in data, tables, landing pads. */
	struct litifut_targets labels;
	struct litifut_exit_branch *items; /* sorted by target, then by address */
	size_t count;
	size_t capacity;
};

struct litifut_exits {
	struct litifut_exit *items; /* in the order of the sites */
	size_t count;
	size_t patched; /* of them */
	struct litifut_exit_branches branches;
	/* Of litifut_exits_write(), link-time: the trampolines stand in [start, end). */
	uint32_t start;
	uint32_t end;
	uint32_t trampolines_start; /* as in struct litifut_module */
};

/* Where a branch to `target` that moves with other code has to lead: if that is patched, to
 * where the code of `target` is now, past the record. */
uint32_t litifut_exits_led(const struct litifut_exits *exits, uint32_t target);

#endif
