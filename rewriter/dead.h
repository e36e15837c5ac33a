/* Which registers and flags hold nothing that is still to be read: for the CPUs that have an answer
 * for one instruction (rewriter/NAME/dead.c). All ways on are followed, each with what is not
 * decided yet: what is read first is alive, what is written first is decided for that way. */
#ifndef LITIFUT_REWRITER_DEAD_H
#define LITIFUT_REWRITER_DEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "rewriter/image.h"

/* So many ways. */
#define LITIFUT_DEAD_WAYS 64

/* Where a way has come to. Of `open` and the other sets, each bit is a register or a flag, as the
 * CPU counts them. */
struct litifut_dead_place {
	uint32_t address;
	uint32_t open;  /* what is not decided before it */
	unsigned state; /* the CPU's, 0 where a way begins */
};

struct litifut_dead {
	const struct litifut_section *section;
	uint32_t start; /* of the function, which ends before `end` */
	uint32_t end;
	const void *cpu; /* what the CPU's code needs besides */
	/* Follows one instruction. False: it is not known. */
	bool (*step)(struct litifut_dead *dead, struct litifut_dead_place *place);

	uint32_t alive;
	uint32_t written; /* on some way */
	unsigned steps;
	struct litifut_dead_place ways[LITIFUT_DEAD_WAYS]; /* those that have been followed stay */
	bool todo[LITIFUT_DEAD_WAYS];
	unsigned count;
};

/* For a step. What an instruction reads, and what it writes after that; returns what of `open` is
 * not decided behind it. */
uint32_t litifut_dead_use(struct litifut_dead *dead, uint32_t open, uint32_t reads,
			  uint32_t writes);
/* A way on. */
void litifut_dead_add(struct litifut_dead *dead, uint32_t address, uint32_t open);
/* Something that is not known reads what is open. Returns 0, what is not decided behind that. */
uint32_t litifut_dead_lose(struct litifut_dead *dead, uint32_t open);

/* Which of `most` are written before they are read on every way on from `address`. The first five
 * members of `dead` are filled, and the others 0. `link` is the register with the return address,
 * which a backtrace needs: where no way writes it, as in a leaf that does not end, it counts as
 * alive. */
uint32_t litifut_dead_find(struct litifut_dead *dead, uint32_t address, uint32_t most,
			   uint32_t link);

#endif
