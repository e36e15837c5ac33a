/* The linkers that LITIFUT can run, one row each of a table: how to distinguish them from each
 * other, and what each does in a way of its own. */
#ifndef LITIFUT_LDWRAP_LINKERS_H
#define LITIFUT_LDWRAP_LINKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "ldwrap/map.h"

struct linker_kind {
	const char *name;     /* for people, such as "GNU ld" */
	const char *program;  /* must be "ld." and a word of its own, which -fuse-ld= takes */
	const char *banner;   /* stands in the first line of --version */
	map_reader *read_map; /* always there */

	/* All else may be left out. */
	/* A new file takes the place of the output; others write into one that is empty. */
	bool replaces_output;
	/* --verbose prints a script, into which islands can be written. */
	bool takes_script;
	/* -Map=FOLDER and -Map=%.txt name a file after the output, and a device is refused. */
	bool names_map;
	/* An output that was empty becomes executable for the users that may read it; otherwise
	 * for all that the umask allows it. */
	bool readers_run;

	/* Quirks, on those CPUs where they matter. */
	bool low_programs;         /* below LITIFUT_WORD_FIRST_ADDRESS */
	bool refuses_unwind_table; /* takes no absolute addresses in .eh_frame */
	/* A word to add where a table for unwinding is to keep its relocations, or NULL. */
	const char *relocations_word;
	bool drops_attributes; /* the output has no section with the CPU that the code is for */
};

/* Which one the program at `path` is, called `name`: by the name of the program, links
 * followed, or else by what it answers to --version. NULL: none of the table. */
const struct linker_kind *linkers_recognise(const char *path, const char *name);

/* Names by which linkers are called, with nothing before them: "ld", then those of the
 * table. NULL behind the last one. */
const char *linkers_plain_name(size_t index);

bool linkers_is_plain_name(const char *name);

/* All of them, with commas between. */
const char *linkers_plain_names(void);

#endif
