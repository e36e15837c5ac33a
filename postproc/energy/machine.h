/* Peripherals as machines of states: what they draw goes on after the call that started it,
 * and belongs to that call. Described in a text file (docs/energy.md). */
#ifndef LITIFUT_POSTPROC_ENERGY_MACHINE_H
#define LITIFUT_POSTPROC_ENERGY_MACHINE_H

#include <stdio.h>

#include "postproc/energy/attribute.h"
#include "postproc/energy/occupation.h"

#define ENERGY_STATES 16      /* of a machine */
#define ENERGY_TRANSITIONS 32 /* of a machine */

struct energy_state {
	char name[32];
	double watts;   /* beside the processor; NAN: to be found; 0: off */
	double seconds; /* how long it lasts; 0: until an event */
};

struct energy_transition {
	enum { ENERGY_ON_ENTER, ENERGY_ON_EXIT, ENERGY_AFTER } when;
	char function[96]; /* of enter and exit */
	int from;          /* -1: any state */
	int to;
};

struct energy_machine {
	char name[32];
	struct energy_state states[ENERGY_STATES];
	unsigned state_count;
	struct energy_transition transitions[ENERGY_TRANSITIONS];
	unsigned transition_count;
	unsigned first_state; /* number of its state 0 over all machines */
};

struct energy_machines {
	struct energy_machine *items;
	size_t count;
	size_t state_count; /* over all */
};

/* Adds the machines of a text. */
enum litifut_status energy_machines_read(struct energy_machines *machines, const char *path,
					 const char *text, size_t size,
					 struct litifut_error *error);

void energy_machines_release(struct energy_machines *machines);

/* Writes them so that they can be read again. */
void energy_machines_write(const struct energy_machines *machines, FILE *file);

/* Walks through the events: which state was when, and by whose doing. The states' `watts` are
 * those of the machines, 0 where they are not known. A function ends before the hook of its
 * return and begins after that of its call. */
enum litifut_status
energy_machines_run(const struct energy_machines *machines, const struct energy_events *events,
		    const struct energy_clock *clock, const struct energy_hook *hook,
		    const char *const *names, size_t name_count, const struct energy_result *result,
		    struct energy_occupations *occupations, struct litifut_error *error);

/* Does a machine change its state when the function `name` begins or ends? */
bool energy_machines_concern(const struct energy_machines *machines, const char *name);

const struct energy_machine *energy_machine_of(const struct energy_machines *machines,
					       size_t state);

#endif
