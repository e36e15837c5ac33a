/* The files of a link in progress, and how they become the user's. */
#ifndef LITIFUT_LDWRAP_DELIVER_H
#define LITIFUT_LDWRAP_DELIVER_H

#include <stdbool.h>

#include "common/error.h"
#include "ldwrap/arguments.h"
#include "ldwrap/linker.h"

/* All owned by the scratch module. */
struct link_files {
	const char *linker; /* argv[0] of it */
	const struct linker_kind *kind;
	const char *target;   /* what the user asked for */
	const char *image;    /* beside it, or in the scratch folder */
	bool in_place;        /* nothing can be put beside it, so it is written into */
	const char *stripped; /* beside it */
	const char *sites;    /* beside it; NULL: the list of call sites is in the image */
	bool names_kept;      /* the image as it was before -s is beside it */
	const char *map;
	const char *dependencies;
	const char *messages_out;   /* what the linker said, on standard output */
	const char *messages_error; /* and on standard error; may be the same file */
	const char *kept_out;       /* of the link whose words are shown */
	const char *kept_error;
};

/* Chooses the names. `linker` is the one that makes the image. */
void deliver_prepare(struct link_files *files, const struct arguments *arguments,
		     const struct linker *linker);

/* Sets the last link's messages aside, to be shown by deliver(). */
void deliver_keep_messages(const struct link_files *files);

/* The line of the last link's messages that says why it failed, for a message of the wrapper: ""
 * if there is none. To be freed by the caller. */
char *deliver_reason(const struct link_files *files);

/* Takes the temporary name of the image out of an error about it. */
void deliver_hide_names(const struct link_files *files, struct litifut_error *error);

/* What the linker said in the last link of an object of the tracer, which it
 * would not have said without. To be freed by the caller; NULL: nothing. */
char *deliver_complaint(const struct link_files *files);

/* What the linker has made beside the image, by names that begin with the image's (such as
 * --time-trace), gets the target's name in front; or is removed, if it is not to be kept.
 * deliver() does the first. */
void deliver_others(const struct link_files *files, bool keep);

/* Moves the image to its place in one step; then writes the map and dependency
 * files that were asked for and shows the messages that were kept, all of them
 * as if the linker had been run by the user. */
enum litifut_status deliver(const struct link_files *files, const struct arguments *arguments,
			    struct litifut_error *error);

#endif
