/* The options and commands of litifut-post: which there are, and what is said about them. */
#ifndef LITIFUT_POSTPROC_OPTION_LIST_H
#define LITIFUT_POSTPROC_OPTION_LIST_H

#include <stdbool.h>

#include "common/options.h"

enum long_option {
	OPTION_SORT = LITIFUT_FIRST_LONG,
	OPTION_TOP,
	OPTION_LAST,
	OPTION_MIN,
	OPTION_FUNCTION,
	OPTION_BY_MODULE,
	OPTION_NO_DEMANGLE,
	OPTION_RAW,
	OPTION_VENEERS,
	OPTION_PLT,
	OPTION_DEBUG_DIR,
	OPTION_SYSROOT,
	OPTION_NO_MAPS_PATHS,
	OPTION_INCLUDE,
	OPTION_EXCLUDE,
	OPTION_MODULE,
	OPTION_PID,
	OPTION_TID,
	OPTION_COLOR,
	OPTION_FROM,
	OPTION_TO,
	OPTION_ADDRESS_BYTES,
	OPTION_SAMPLE_HERTZ,
	OPTION_LINES,
	OPTION_SOURCE,
	OPTION_NO_PAGER,
	OPTION_PER,
	OPTION_PDF,
	OPTION_PHASE,
	OPTION_FLOW,
	OPTION_ORDER,
	OPTION_MERGE_RECURSION,
	OPTION_MAX_THREADS,
	OPTION_MAX_CALLS,
	OPTION_MAX_UNPACKED,
	OPTION_COMPLETION
};

/* Ends with an empty one. The last member says which outputs use an option; 0: all do. */
extern const struct litifut_option post_option_list[];

void post_options_help(void);

/* Of a command or a format: what it is, and the options that only some others have as well. False:
 * there is none of that name. */
bool post_options_help_of(const char *word);

/* Prints the completion for a shell; false: it is not known. */
bool post_options_completion(const char *shell);

/* The format, or with `command` also the command, that may have been meant; NULL: none. */
const char *post_options_nearest(const char *word, bool command);

#endif
