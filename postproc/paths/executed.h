/* Which blocks of a program were executed, in order: from the log of any QEMU (-d exec,nochain), or
 * from a list of addresses. */
#ifndef LITIFUT_POSTPROC_PATHS_EXECUTED_H
#define LITIFUT_POSTPROC_PATHS_EXECUTED_H

#include "postproc/paths/program.h"

struct path_lane {
	unsigned number;  /* as the log has it: a thread, or a processor */
	uint32_t *blocks; /* their numbers; PATH_NO_BLOCK: what came next is not known; owned */
	size_t count, capacity;
	uint32_t from;    /* the last place that was logged */
	uint32_t pending; /* what was logged last, and may not have been executed; PATH_NO_BLOCK */
};

struct path_executed {
	struct path_lane *lanes; /* owned */
	size_t lane_count, lane_capacity;
	uint32_t bias; /* run-time addresses less those of the file */
};

/* Lines "Trace N: ... [.../PC/...] SYMBOL", or of one address in hexadecimal, each of a place that
 * control has jumped to; all others are passed over. Where the program was loaded follows from the
 * symbols in the log. */
enum litifut_status path_executed_read(const char *path, const struct path_program *program,
				       struct path_executed *executed, struct litifut_error *error);
/* For other sources: the lane with that number, and one more block of it. */
struct path_lane *path_executed_lane(struct path_executed *executed, unsigned number);
void path_executed_add(struct path_lane *lane, uint32_t block);
void path_executed_release(struct path_executed *executed);

#endif
