/* The command line of a link with the tracer, made from the user's. */
#ifndef LITIFUT_LDWRAP_COMMAND_H
#define LITIFUT_LDWRAP_COMMAND_H

#include <stddef.h>

#include "ldwrap/arguments.h"
#include "ldwrap/exports.h"
#include "ldwrap/map.h"

/* An object of the tracer and the item of the user's command line before which it
 * goes (the number of items: at the end). */
struct insertion {
	size_t before;
	const char *path;
};

struct command {
	const struct arguments *arguments;
	const char *linker_name;            /* argv[0] */
	const char *output;                 /* in place of the user's -o */
	const char *map;                    /* NULL: none */
	const char *dependency_file;        /* in place of the user's, used if there was one */
	const struct insertion *insertions; /* ascending */
	size_t insertion_count;
	const struct text_list *roots; /* symbols that --gc-sections must keep */
	const char *script;            /* -T, NULL: none */
	const struct exports *exports; /* words of its own, and may replace a version script */
	bool drops_relaxation;         /* leaves --relax out */
};

/* Returns a NULL-terminated vector for execv (to be freed with freeargv): the
 * user's words in their order, without those that strip symbols or name an
 * output, with those of the tracer added. A very long one is put into the response file
 * `response`. NULL with errno when that can't be written. */
char **command_build(const struct command *command, const char *response);

/* May an object of the tracer stand directly before this item? */
bool command_can_insert(const struct argument *item);

/* The item before which the tracer goes: after the start-up files, or after the
 * first input of a program without them, where no -b or --format is in force, and
 * so before crtend.o, whose .eh_frame must stay the last one. The number of items:
 * at the end. */
size_t command_tracer_place(const struct arguments *arguments);

/* The item before which the recorder goes: crtend.o in a static program, else the tracer's. The
 * unwinder of a static program may sort .eh_frame by address when the first exception is thrown,
 * and takes long for functions that have others of lower addresses behind them, as all at the
 * beginning have: the linker puts .text.unlikely of later objects before their .text. */
size_t command_recorder_place(const struct arguments *arguments);

/* The item before which an object must stand so that its code comes as near to
 * `address` as can be, judged by the map of a former link. */
size_t command_place_near(const struct arguments *arguments, const struct map *map,
			  uint32_t address);

#endif
