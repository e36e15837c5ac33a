/* Between the files of a firmware's link: firmware.c, which reads the settings and says what has
 * come of it, firmware_fit.c, which makes it smaller until it fits, firmware_once.c, which does it
 * once, and firmware_keep.c, which chooses the code of the tracer. */
#ifndef LITIFUT_LDWRAP_FIRMWARE_LINK_H
#define LITIFUT_LDWRAP_FIRMWARE_LINK_H

#include "cpu/cpu.h"
#include "ldwrap/chosen_files.h"
#include "ldwrap/command.h"
#include "ldwrap/deliver.h"
#include "ldwrap/firmware_asks.h"
#include "ldwrap/firmware_bounds.h"
#include "ldwrap/firmware_clock.h"
#include "ldwrap/firmware_kept.h"
#include "ldwrap/firmware_pin.h"
#include "ldwrap/firmware_port.h"
#include "ldwrap/firmware_send.h"
#include "ldwrap/map.h"
#include "ldwrap/patterns.h"
#include "ldwrap/request.h"
#include "rewriter/firmware.h"

/* Calls that can be open at the same time, unless LITIFUT_DEPTH says otherwise. */
#define FIRMWARE_USUAL_DEPTH 32

/* KB of the ring of events, and most of them, likewise. */
#define FIRMWARE_USUAL_RING_KB 2
#define FIRMWARE_MOST_RING_KB 1024

struct firmware_link {
	const struct link_request *request;
	const char *runtime;
	const struct cpu_objects *objects; /* of its CPU */
	struct firmware_port port;
	struct firmware_send send;
	struct firmware_pin pin;
	struct firmware_clock clock;
	struct firmware_kept kept;
	struct firmware_asks asks;
	struct patterns patterns;
	struct litifut_firmware_options options;
	struct text_list excluded;
	struct chosen_files chosen;
	struct litifut_firmware_plan plan;
	struct link_files files;
	struct map map; /* of the last link */
	struct firmware_bounds bounds;
	bool bytes;                /* counters of a byte, where calls are counted */
	const char *object;        /* that reserves the room; owned by the scratch module */
	bool overflows;            /* the last link failed because something did not fit */
	bool depth_helps;          /* the pool of open calls is where room is missing */
	const char *times_refused; /* see struct link_outcome */
};

static inline bool firmware_sends(const struct firmware_link *link)
{
	return (link->plan.sends || link->asks.sends || link->send.every) && link->port.sends;
}

/* Has the tracer a timer to itself, in whose interrupt it sets the pin? */
static inline bool firmware_has_own_clock(const struct firmware_link *link)
{
	return link->objects->firmware_clock != NULL;
}

static inline bool firmware_is_table(const struct firmware_link *link)
{
	return link->options.times && !link->options.spans;
}

/* KB of the ring where the usual one has no room; else 0. */
unsigned firmware_small_ring(const struct firmware_link *link);

/* Open calls that have entries where the usual number has no room; else 0. */
unsigned firmware_small_depth(const struct firmware_link *link);

/* The path of a file of the tracer for this CPU, to be released with free(). */
char *firmware_object_path(const struct firmware_link *link, const char *suffix);

#define FIRMWARE_INSERTIONS_MOST 12

/* Adds the tracer's files, and the symbols that are taken from them, to the second link. Returns
 * how many `insertions` that are. */
size_t firmware_add_ours(const struct firmware_link *link, struct insertion *insertions,
			 struct text_list *words);

/* Runs the linker: as it is, or with what the tracer adds. */
enum litifut_status firmware_run(struct firmware_link *link, bool ours,
				 struct litifut_error *error);

/* After the first link: measures it, and links once more with the room that is needed. */
enum litifut_status firmware_link_planned(struct firmware_link *link,
					  struct litifut_rewrite_summary *summary,
					  struct litifut_error *error);

/* Both links again, with other options: `how`, for the user. */
enum litifut_status firmware_link_again(struct firmware_link *link, const char *how,
					struct litifut_rewrite_summary *summary,
					struct litifut_error *error);

/* The same with less and less where something does not fit; `error` says then what to do. */
enum litifut_status firmware_link_until_it_fits(struct firmware_link *link,
						struct litifut_rewrite_summary *summary,
						struct litifut_error *error);

#endif
