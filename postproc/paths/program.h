/* The control-flow graph of a module, from the blocks that the rewriter has left in it. */
#ifndef LITIFUT_POSTPROC_PATHS_PROGRAM_H
#define LITIFUT_POSTPROC_PATHS_PROGRAM_H

#include "paths/graph.h"
#include "postproc/sources/image.h"

struct path_program {
	const struct post_image *image; /* must stay */
	struct path_graph graph;
	char **names; /* of functions; in a file without symbols the address */
};

/* `only`: traced are the functions with a name that a glob matches, NULL: all. What data or code
 * name as a number may be entered from anywhere. */
enum litifut_status path_program_make(const struct post_image *image, const char *const *only,
				      struct path_program *program, struct litifut_error *error);
/* The same, but of an image of LITIFUT_MODE=balllarus the graph that it records numbers of. */
enum litifut_status path_program_recorded(const struct post_image *image, const char *const *only,
					  struct path_program *program,
					  struct litifut_error *error);
/* Does one of the globs, of which the last one is NULL, match the name? */
bool path_is_named(const char *const *globs, const char *name);
void path_program_release(struct path_program *program);

/* The file as it was before its branches were patched, with all code at the same addresses: what
 * can be logged and compared with the graph. malloc'ed, image->size bytes. */
uint8_t *path_program_plain(const struct post_image *image);

/* Of a block: control is at its end in the next one. */
bool path_program_goes_on(const struct path_program *program, uint32_t block);

#endif
