/* Times in which a peripheral was in a state that draws power, and the call that caused it. */
#ifndef LITIFUT_POSTPROC_ENERGY_OCCUPATION_H
#define LITIFUT_POSTPROC_ENERGY_OCCUPATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postproc/energy/power.h"

struct energy_occupation {
	double from, to;               /* analyser's seconds */
	uint32_t state;                /* number over all machines */
	uint32_t cause;                /* node of the call */
	double watts;                  /* beside what the processor draws */
	double share[ENERGY_CHANNELS]; /* of that in each channel */
	double observed;               /* watts that the curve shows there beyond the functions' */
	bool unseen;                   /* the curve does not show it: it is charged to no one */
};

struct energy_occupations {
	struct energy_occupation *items; /* by `from` */
	size_t count, capacity;
	double shift; /* the clock's, with which they were found */
};

/* Those that are going on, for times that do not decrease. */
struct energy_active {
	const struct energy_occupations *all;
	double later;       /* seconds to be added to their times */
	size_t next;        /* that has not begun */
	uint32_t items[32]; /* going on */
	unsigned count;
};

/* Up to when what is going on at `time` stays the same. */
static inline double energy_active_until(struct energy_active *active, double time)
{
	const struct energy_occupations *all = active->all;
	const double later = active->later;
	double until = 1e300;
	unsigned kept = 0;

	if (!all)
		return until;
	for (unsigned i = 0; i < active->count; i++) {
		if (all->items[active->items[i]].to + later > time)
			active->items[kept++] = active->items[i];
	}
	active->count = kept;
	while (active->next < all->count && all->items[active->next].from + later <= time) {
		const struct energy_occupation *item = &all->items[active->next];
		if (item->to + later > time && !item->unseen && active->count < 32)
			active->items[active->count++] = (uint32_t)active->next;
		active->next++;
	}
	for (unsigned i = 0; i < active->count; i++) {
		double end = all->items[active->items[i]].to + later;
		until = end < until ? end : until;
	}
	if (active->next < all->count && all->items[active->next].from + later < until)
		until = all->items[active->next].from + later;
	return until;
}

#endif
