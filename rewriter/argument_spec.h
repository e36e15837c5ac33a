/* What LITIFUT_ARGS and LITIFUT_TRIGGER ask for: `GLOB:FIELD,FIELD;GLOB:* ...` and
 * `start:GLOB#N;stop:GLOB>T ...`. Pure text. */
#ifndef LITIFUT_REWRITER_ARGUMENT_SPEC_H
#define LITIFUT_REWRITER_ARGUMENT_SPEC_H

#include <litifut/arguments.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one glob of function names. */
struct litifut_argument_spec {
	char *glob;
	uint8_t fields[LITIFUT_ARGUMENT_FIELDS]; /* 0: no more */
	bool all; /* besides: what is known of the function's parameters and result */
};

/* Of so many, the first ones, it is known whether there are calls of such a name. */
#define LITIFUT_SPECS_JUDGED 32

struct litifut_argument_specs {
	struct litifut_argument_spec *items;
	size_t count;
	struct litifut_trigger triggers[LITIFUT_TRIGGERS];
	size_t trigger_count;
	bool no_returns; /* set before they are read: no trigger can be for calls that take a time
			  */
};

/* Takes the text apart, and puts what it says behind what is in `specs`. `wrong` is called with a
 * line for each piece that is not understood, which is left out; the text is cut at its first line
 * break. Without memory the list ends early. */
void litifut_argument_specs_read(const char *text, struct litifut_argument_specs *specs,
				 void (*wrong)(const char *line));
/* The same of LITIFUT_TRIGGER: a trigger, and a spec of its functions. */
void litifut_argument_triggers_read(const char *text, struct litifut_argument_specs *specs,
				    void (*wrong)(const char *line));
/* Is this field one of `triggers`, for calls that take a time? It is due when they return. */
bool litifut_argument_is_longer(uint8_t field,
				const struct litifut_trigger triggers[LITIFUT_TRIGGERS]);

/* Adds what `from` has and `fields` has not, as far as there is room. A result of a known type
 * takes the place of a plain one, and a trigger that of the last field that is not a trigger.
 * Returns how many fields are left out. */
unsigned litifut_argument_fields_add(uint8_t fields[LITIFUT_ARGUMENT_FIELDS],
				     const uint8_t from[LITIFUT_ARGUMENT_FIELDS]);

/* Leaves out what is not of a call, or (`of_return`) not of its return: the value that it returns,
 * and those of the `triggers` that are for calls that take a time, which are of both. Returns how
 * many are left. */
unsigned litifut_argument_fields_keep(uint8_t fields[LITIFUT_ARGUMENT_FIELDS], int of_return,
				      const struct litifut_trigger triggers[LITIFUT_TRIGGERS]);

void litifut_argument_specs_release(struct litifut_argument_specs *specs);

#endif
