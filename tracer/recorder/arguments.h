/* The arguments of chosen calls, LITIFUT_ARGS; in recorder-args-ARCH.o and
 * recorder-marks-ARCH.o only. */
#ifndef LITIFUT_TRACER_ARGUMENTS_H
#define LITIFUT_TRACER_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <litifut/arguments.h>
#include <litifut/litifut.h>

/* True in recorder_arguments.c and recorder_marks.c, which are this recorder with arguments. */
#ifndef LITIFUT_WITH_ARGUMENTS
#define LITIFUT_WITH_ARGUMENTS false
#endif

/* The control word, the head, the fields, and a word for each of them. */
#define LITIFUT_ARGUMENT_WORDS_BARE                                                                \
	(2 + (LITIFUT_ARGUMENT_FIELDS + 3) / 4 + LITIFUT_ARGUMENT_FIELDS)

#pragma GCC visibility push(hidden)

/* Behind the DB of a module; only with LITIFUT_MODULE_ARGUMENTS it can be read. */
const struct litifut_argument_header *litifut_argument_header(const struct litifut_module *module);

/* What is recorded of this call or return; NULL: nothing. */
const struct litifut_argument_site *litifut_arguments_of(const struct litifut_call *call);
/* Of what litifut_triggers_of() returns: litifut_long_call_begin() is due, when all else is done.
 */
#define LITIFUT_TRIGGER_TIMED (1u << LITIFUT_TRIGGER_NONE)
/* Counts a call, or a return from one that took too long, for the triggers of its function. A bit
 * for each enum litifut_trigger_kind that is due. */
uint32_t litifut_triggers_of(const struct litifut_call *call);
/* Writes the words for it, LITIFUT_ARGUMENT_WORDS at the most, or LITIFUT_ARGUMENT_WORDS_BARE where
 * system calls are forbidden, so that no string is read; returns how many there are. The program's
 * stack and its strings are read so that nothing can fault. */
uint32_t litifut_argument_words(const struct litifut_call *call,
				const struct litifut_argument_site *site, uint32_t *words);

#pragma GCC visibility pop

#endif
