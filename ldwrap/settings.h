/* What the user asked for: the environment and the file LITIFUT_CONFIG. */
#ifndef LITIFUT_LDWRAP_SETTINGS_H
#define LITIFUT_LDWRAP_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "ldwrap/text_list.h"
#include "rewriter/argument_spec.h"

enum settings_mode {
	SETTINGS_PLAIN,  /* LITIFUT unset, empty or 0 */
	SETTINGS_REWRITE /* LITIFUT=1 */
};

/* Where the host finds what it must know of call sites; and where the tracer's DB
 * is, if its engine can do without it in memory. */
enum settings_database { SETTINGS_DB_LOADED, SETTINGS_DB_SECTION, SETTINGS_DB_FILE };

struct settings {
	enum settings_mode mode;
	struct text_list exclude; /* globs of function names */
	struct text_list include;
	struct text_list exclude_callees;
	struct text_list exclude_objects;
	struct text_list exclude_libs;
	struct text_list include_objects; /* if any, or of include_libs: only these */
	struct text_list include_libs;
	struct text_list units; /* functions that are units, of the mode UNITS */
	char *config;
	char *recorder; /* path of an object, NULL: the default one */
	char *defaults; /* NULL: none */
	char *port;     /* these are for firmware; NULL: not set */
	char *send;
	char *stubs;
	char *sample;
	char *start_at;
	char *main_at;
	char *task; /* LITIFUT_TASK: SYMBOL, SYMBOL+OFFSET, or none */
	char *ram;
	char *patterns;
	char *mark_set, *mark_clear; /* of firmware: REGISTER:VALUE */
	unsigned mark_every;         /* 0: not set */
	unsigned engine;             /* enum litifut_engine */
	bool calls_asked;            /* LITIFUT_MODE=calls was set, it is not the default */
	char *clock_name;            /* LITIFUT_CLOCK as it is; NULL: not set */
	unsigned depth;              /* of firmware: calls that can be open at once; 0: not set */
	unsigned callees;            /* of firmware: as in its options; 0: not set */
	unsigned carries;            /* likewise */
	unsigned ring_kb;            /* of firmware: KB of the ring of events; 0: not set */
	unsigned compact;            /* of firmware: 1: branches are sent in a compact form */
	unsigned recorded;           /* enum litifut_mode */
	unsigned clock;          /* enum litifut_clock that thunks read; NONE: thunks read none */
	unsigned database;       /* enum settings_database */
	char *arguments;         /* LITIFUT_ARGS as it is; NULL: not set */
	char *trigger;           /* LITIFUT_TRIGGER as it is; NULL: not set */
	unsigned argument_bytes; /* of a string that are kept; 0: not set */
	struct litifut_argument_specs argument_specs; /* what is to be done of both */
	bool tail_calls;
	bool exact;
	bool strict;
	bool verbose;
	/* What a setting asks for and the link does in another way, by which the same is recorded.
	 */
	struct text_list remarks;
	bool link_twice; /* LITIFUT_LINK_TWICE=1: do not try to save the second link */
};

/* Called with one line, without a newline, for each thing that is wrong with
 * the settings; the setting then keeps its default. */
typedef void settings_warning(const char *message);

/* Reads the environment and the file that LITIFUT_CONFIG names; a variable in
 * the environment outweighs the file's key of the same name. When the mode is
 * SETTINGS_PLAIN nothing but LITIFUT itself is looked at. */
void settings_read(struct settings *settings, settings_warning *warn);

/* Settles what has another meaning for a firmware than for a program of Linux, and warns of what
 * it does not have. */
void settings_suit(struct settings *settings, bool firmware, settings_warning *warn);

/* The parts of it that ask for returns, and that a custom recorder can't do. Of a firmware, which
 * has none, counts are the default. */
void settings_suit_returns(struct settings *settings, settings_warning *warn);
void settings_suit_recorder(struct settings *settings, settings_warning *warn);

/* The part of that which is about LITIFUT_ARGS and LITIFUT_TRIGGER: fills `argument_specs`. */
void settings_suit_arguments(struct settings *settings, bool firmware, settings_warning *warn);

/* Warns of each LITIFUT_NAME in the environment that neither the wrapper nor the recorder
 * reads, and notes there that it has warned, for the other links of a build. Returns how often. */
size_t settings_check_names(settings_warning *warn);

void settings_release(struct settings *settings);

#endif
