/* What a program runs on, as far as the host's programs must know it: a kernel and a C library,
 * or neither. One const table for each; nothing of a CPU is in it. What only the device must
 * know of a platform is in tracer/port. */
#ifndef LITIFUT_PLATFORM_PLATFORM_H
#define LITIFUT_PLATFORM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>

/* Lists end with NULL. A member that a platform has no use for is NULL or false. */
struct platform {
	const char *name;
	/* How the base names of its dynamic linker and its C library begin, as PT_INTERP and
	 * DT_NEEDED have them; a version follows. */
	const char *const *files;
	/* Every static program of it defines this function, and others do not. */
	const char *static_function;
	/* Globs of the outputs of links that make its dynamic linker, or code of its kernel: they
	 * run before they are relocated, or other programs are loaded by them. */
	const char *const *loaders;

	/* The vector of thread-local blocks has a word to spare for thunks, and the C library
	 * calls fork handlers at a fork; so it can run thunks. */
	bool has_spare_word;
	/* In a static program: the function that registers fork handlers, and one that forks,
	 * also where the former is missing. */
	const char *registers_fork_handlers;
	const char *forks;
	/* Functions that make a child without telling fork handlers. */
	const char *const *process_makers;
	/* Functions by which a process gives up system calls, depending on their arguments. */
	const char *const *confiners;
	/* Functions that end the program without its destructors, or put another one in its
	 * place; the most important ones first. */
	const char *const *enders;
	/* Functions that print a message and then end the program in such a way. The recorder does
	 * not need them before, as it sees what they call: only the bits of `paths` do. */
	const char *const *complainers;
	/* The one of the makers whose child makes calls before its id is written down, and a
	 * function that those C libraries define in which it does not. */
	const char *early_child;
	const char *no_early_child;

	/* Programs bring scripts and addresses of their own to the link (-T, -Ttext, -N). */
	bool own_layout;
};

extern const struct platform platform_linux_glibc;
extern const struct platform platform_linux; /* with another C library */
extern const struct platform platform_none;  /* firmware */

/* Is `path` (ends within `length`, or with NUL) the name of a file of the platform? */
bool platform_has_file(const struct platform *platform, const char *path, size_t length);

/* Is `name` in the list (may be NULL)? */
bool platform_lists(const char *const *list, const char *name);

/* Is `name`, the base name of an output, one of a dynamic linker or of a kernel? */
bool platform_is_loader(const char *name);

#endif
