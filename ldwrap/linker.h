/* Which program is the real linker behind the name that we were called by. */
#ifndef LITIFUT_LDWRAP_LINKER_H
#define LITIFUT_LDWRAP_LINKER_H

#include <stdbool.h>

#include "ldwrap/linkers.h"

/* What `litifut install-ld` appends to the name of the linker that it moves
 * out of the way. */
#define LINKER_ORIGINAL_SUFFIX ".litifut-original"

/* GCC runs a program of this name, if there is one on COMPILER_PATH, before any that -B or
 * -fuse-ld names: it stands for the linker that those lead to. */
#define LINKER_COLLECT_NAME "real-ld"

struct linker {
	char *path;       /* to execute; owned */
	char *name;       /* to give it as argv[0], so that its messages and its search
			     for its own files are those of the unwrapped linker; owned */
	bool moved_aside; /* by install-ld */
	const struct linker_kind *kind; /* for a link that is rewritten; else NULL */
};

/* Finds the real linker for a wrapper called as `invoked` (argv[0]):
 * 1. a linker that install-ld moved aside, following `invoked`'s links;
 * 2. the next program of the same base name along COMPILER_PATH, then PATH,
 *    that is not a wrapper, by device and inode;
 * 3. for a plain `ld` (clang calls it so): the one that `triplets`, a
 *    NULL-terminated list of prefixes to try, leads to on PATH. It comes before
 *    step 2's PATH half, for there `ld` is the build machine's own.
 *    A gcc for another machine searches only COMPILER_PATH, and so does the wrapper for it.
 * Returns 0, or -1 when there is none. */
int linker_find(const char *invoked, const char *const *triplets, struct linker *linker);

/* Finds a tool of the same toolchain, such as "objcopy": beside the linker under
 * the same prefix, then on PATH. Returns its path (to be freed) or NULL. */
char *linker_find_sibling(const struct linker *linker, const char *tool);

/* The first program called `name` on PATH that is not a wrapper; to be freed. NULL:
 * there is none. */
char *linker_find_program(const char *name);

/* The same, wrappers included. */
char *linker_find_any(const char *name);

/* Is it the name of a TRIPLET-ld for 32-bit ARM or MIPS? */
bool linker_is_for_device(const char *name);

/* Marks this process's wrapper as passed, so that a wrapper of another
 * installation that is started later does not start this one again; and lets a linker
 * with a bare name find itself on PATH before any wrapper. */
void linker_guard_environment(const struct linker *linker);

/* Path of the running program, links resolved; "" when /proc is not there. */
const char *linker_self_path(void);

#endif
