/* The command line of litifut-post. Part of the main program: it prints. */
#ifndef LITIFUT_POSTPROC_OPTIONS_H
#define LITIFUT_POSTPROC_OPTIONS_H

#include "postproc/formats/format.h"
#include "postproc/formats/run.h"

#define POST_GO_ON (-1)

struct post_arguments {
	const struct post_format *format;
	const char *output_path; /* NULL: standard output */
	struct post_options session;
	struct post_output_options output;
	struct post_inputs inputs; /* what is known of them, no files */
	struct post_window window;
	struct post_filter_options filter;
	bool quiet;
	bool pdf;
	bool help;
	bool pager;
	bool diff;    /* paths[0] is the old run, paths[1] the new one, more belong to both */
	char **paths; /* into argv */
	size_t path_count;
	/* Private: owned lists behind session's pointers. */
	char **lists[8];
	uint32_t *numbers[2];
};

/* Returns POST_GO_ON, or the exit status with which the program ends. */
int post_arguments_parse(struct post_arguments *given, int count, char **arguments);

/* A folder with traces that --source has taken for one with source files; NULL: none. */
const char *post_arguments_swallowed(const struct post_arguments *given);

void post_arguments_release(struct post_arguments *given);

#endif
