/* Which calls of an image must the recorder see before they are made? Those that make a child
 * without libc's fork handlers, that give up system calls, or that end the program. */
#ifndef LITIFUT_REWRITER_SPAWNERS_H
#define LITIFUT_REWRITER_SPAWNERS_H

#include <litifut/module_format.h>
#include <stdbool.h>
#include <stdint.h>

#include "cpu/cpu.h"

struct litifut_image;

#define LITIFUT_SPAWNER_SLOTS 16

struct litifut_spawners {
	bool used; /* the image has or imports functions of the first two kinds */
	bool ends; /* the same of the third */
	/* Where in the image they are called: their code, PLT entries, lazy stubs;
	 * link-time addresses without the Thumb bit, 0: no more. */
	uint32_t places[LITIFUT_MODULE_SPAWNERS];
	uint32_t enders; /* a bit for each place that is of the third kind */
	/* Words that the dynamic linker fills with their addresses; 0: no more. */
	uint32_t slots[LITIFUT_SPAWNER_SLOTS];
};

/* Finds them by the names of functions and the dynamic relocations. */
void litifut_spawners_find(const struct litifut_image *image, const struct cpu_linkage *linkage,
			   struct litifut_spawners *spawners);

/* The same of functions with other names, a list that ends with NULL; with `local`, of local
 * functions too, as those of a static libc may be. */
void litifut_spawners_named(const struct litifut_image *image, const struct cpu_linkage *linkage,
			    const char *const *list, bool local, struct litifut_spawners *places);

/* Is `address` (bit 0 is ignored) one of the places? */
bool litifut_spawners_has(const struct litifut_spawners *spawners, uint32_t address);

/* Is it one of them, and is the function there one that ends the program? */
bool litifut_spawners_ends(const struct litifut_spawners *spawners, uint32_t address);

/* Is symbol `index` of .dynsym one of these functions? */
bool litifut_spawners_is_symbol(const struct litifut_image *image, uint32_t index);

/* Is it one of those that end the program? */
bool litifut_spawners_is_ender(const struct litifut_image *image, uint32_t index);

/* The same of functions with the names of a list that ends with NULL. */
bool litifut_spawners_is_named(const struct litifut_image *image, uint32_t index,
			       const char *const *list);

#endif
