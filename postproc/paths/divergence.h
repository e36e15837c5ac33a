/* A bad run beside good ones, thread by thread: where it begins to differ from the good one that is
 * the same for longest. */
#ifndef LITIFUT_POSTPROC_PATHS_DIVERGENCE_H
#define LITIFUT_POSTPROC_PATHS_DIVERGENCE_H

#include "postproc/paths/activations.h"
#include "postproc/paths/keys.h"

enum post_path_side { POST_PATH_GOOD, POST_PATH_BAD };

/* Both sides of a comparison. */
struct post_path_sides {
	struct post_session *sessions[2];
	struct post_path_codes codes[2];
	struct post_path_key_table keys[2];
};

/* A place in the source: the line of an address. */
struct post_path_spot {
	const struct post_path_code *code; /* NULL: none */
	uint32_t address;                  /* link-time */
};

/* "FILE:LINE", or the address in its module. Returns true if the line is known. */
bool post_path_spot_text(const struct post_session *session, const struct post_path_spot *spot,
			 char *text, size_t size);

/* The end of a block, such as a call. */
struct post_path_spot post_path_spot_of_end(const struct post_path_code *code, uint32_t block);

/* Where a thread of the first bad run differs from that of the good run that is the same for
 * longest. */
struct post_path_divergence {
	bool differs;
	uint64_t same; /* items */
	/* The last one that both have, and what follows in each; without code: the thread ends. */
	struct post_path_spot last, bad;
	char good[256];      /* "FILE:LINE", as its run is closed when this is shown */
	uint64_t activation; /* of the function of `last`, from 1 on, and where it was called */
	struct post_path_spot caller;
	uint32_t thread; /* id in the bad run */
};

struct post_path_lane;
struct post_path_follower;

/* All zero but for `sides` to start with. */
struct post_path_parting {
	struct post_path_sides *sides;
	struct post_path_divergence *divergences; /* by thread */
	size_t count;
	uint32_t good_pid, bad_pid; /* of the runs that they are of */
	/* Private. */
	struct post_path_lane *lanes; /* threads of the bad run */
	size_t lane_count, lane_capacity;
	uint64_t kept;
	struct post_path_follower *followers; /* threads of a good run */
	size_t follower_count, follower_capacity;
};

/* First all steps of the bad run, */
void post_path_parting_keep(struct post_path_parting *parting, const struct post_path_step *step);

/* then those of each good run, */
void post_path_parting_follow(struct post_path_parting *parting, const struct post_path_step *step);

/* and after each. */
void post_path_parting_end(struct post_path_parting *parting, uint32_t good_pid);

void post_path_parting_release(struct post_path_parting *parting);

#endif
