/* LITIFUT_EXCLUDE_OBJECTS, LITIFUT_INCLUDE_OBJECTS and those of libraries: which code of an image
 * is left, by the map of the link that has made it. */
#ifndef LITIFUT_LDWRAP_CHOSEN_FILES_H
#define LITIFUT_LDWRAP_CHOSEN_FILES_H

#include <stdbool.h>

#include "ldwrap/map.h"
#include "ldwrap/request.h"

/* A zeroed struct chooses nothing. */
struct chosen_files {
	struct text_list excluded;
	struct text_list asked; /* of these, what the user has asked for */
	struct text_list included;
	struct map map; /* of the last link that was read */
	struct litifut_range *ranges;
	bool excluded_unused; /* files were to be left, but none has such a name */
	bool included_unused; /* likewise of those that alone are traced */
};

/* Has the user chosen files? */
bool chosen_files_asked(const struct settings *settings);

/* `always` are globs of objects that are left in any case. */
void chosen_files_prepare(struct chosen_files *chosen, const struct link_request *request,
			  const char *const *always, size_t always_count);

/* Reads the map at `path` and sets the ranges in `options`, which are those of `chosen`. */
enum litifut_status chosen_files_read(struct chosen_files *chosen,
				      const struct link_request *request, const char *path,
				      struct litifut_rewrite_options *options,
				      struct litifut_error *error);

void chosen_files_release(struct chosen_files *chosen);

#endif
