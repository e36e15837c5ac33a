/* The arguments that a trace has of a call (LITIFUT_ARGS). Nothing in it is trusted. */
#ifndef LITIFUT_POSTPROC_SOURCES_ARGUMENTS_H
#define LITIFUT_POSTPROC_SOURCES_ARGUMENTS_H

#include <litifut/arguments.h>
#include <stdbool.h>
#include <stdint.h>

/* What follows LITIFUT_WORD_ARGUMENTS, in the host's byte order. */
struct post_call_arguments {
	uint32_t count; /* of words; 0: there are none */
	uint32_t words[LITIFUT_ARGUMENT_WORDS];
};

/* One of them. */
struct post_argument {
	unsigned type;       /* enum litifut_argument_type */
	unsigned number;     /* LITIFUT_ARGUMENT_RETURN: what the function has returned */
	uint32_t value;      /* not of a string */
	bool cut;            /* a string: there was more of it */
	uint32_t text_bytes; /* a string: so many, none of which is 0; a 0 stands behind them */
	char text[LITIFUT_ARGUMENT_WORDS * 4 + 1];
};

/* Where the next one is; all zero to start with. */
struct post_argument_place {
	uint32_t field, word;
};

/* Gives false behind the last one, or where the words make no sense. */
bool post_argument_next(const struct post_call_arguments *arguments,
			struct post_argument_place *place, struct post_argument *argument);

#endif
