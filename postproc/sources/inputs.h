/* The files that the user named, or that lie in the folders that the user
 * named, sorted by what they are. */
#ifndef LITIFUT_POSTPROC_SOURCES_INPUTS_H
#define LITIFUT_POSTPROC_SOURCES_INPUTS_H

#include <stddef.h>

#include "postproc/sources/image.h"
#include "postproc/problems.h"

/* An ELF file that might be wanted. It is opened again when it is. */
struct post_candidate {
	char *path;
	char *name; /* base name */
	char soname[64];
	uint8_t build_id[POST_BUILD_ID_BYTES];
	unsigned build_id_bytes;
	unsigned machine;
	bool rewritten;
	bool firmware; /* and it is one */
	bool debug_only;
	bool named; /* by the user, not found in a folder */
	bool used;  /* for a module, for its symbols, or for its debug information */
};

/* Has the file, or the library in it, this name? */
bool post_candidate_is_named(const struct post_candidate *file, const char *name);

/* A file of no known kind. */
struct post_unknown {
	char *path;
	const char *why; /* static; NULL: nothing more is known */
};

/* Is called with what has been looked at; `all` is 0 while that is not known. */
struct post_progress {
	void (*report)(void *context, size_t done, size_t all); /* may be NULL */
	void *context;
};

struct post_inputs {
	char **traces;
	size_t trace_count, trace_capacity;
	char **firmware; /* captures, and dumps of a memory */
	size_t firmware_count, firmware_capacity;
	char **maps;
	size_t maps_count, maps_capacity;
	struct post_unknown *unknown;
	size_t unknown_count, unknown_capacity;
	/* Files of no other kind are of this one, see gprof_serial.h. */
	bool gprof_serial;
	unsigned address_bytes; /* 0: as usual */
	unsigned sample_hertz;  /* 0: unknown */
	struct post_candidate *images;
	size_t image_count, image_capacity;
	size_t looked_at; /* files */
	struct post_progress progress;
};

/* Adds a file, or everything below a folder or in an archive (archive.h). A file that is named
 * itself and is not of a known kind is a problem, once all are known; in a folder it is passed
 * over. */
void post_inputs_add(struct post_inputs *inputs, const char *path, struct post_problems *problems);

/* What stands behind the two sides of a comparison. */
enum post_behind {
	POST_BEHIND_FILES,
	POST_BEHIND_TRACES, /* and no ELF files, so these are of neither side */
	POST_BEHIND_BOTH    /* of such a folder only the ELF files are taken */
};

#define POST_BEHIND_BOTH_TEXT                                                                      \
	"it stands behind the two sides: its programs and libraries are taken, and not its traces"

/* Adds what is at `path`, which stands behind the two sides. */
enum post_behind post_inputs_add_files(struct post_inputs *inputs, const char *path,
				       struct post_problems *problems);

/* Sorts the traces and maps by name, so that the order of arguments and of the
 * file system does not matter, and reports the files of no known kind. */
void post_inputs_finish(struct post_inputs *inputs, struct post_problems *problems);

/* Would this file be read with these paths: is it one of them, or does it lie in one of these
 * folders and is of a known kind? By device and inode, whatever the names. */
bool post_inputs_read(char *const *paths, size_t count, const char *file);

void post_inputs_release(struct post_inputs *inputs);

/* The part of a path after its last '/'. */
const char *post_base_name(const char *path);

#endif
