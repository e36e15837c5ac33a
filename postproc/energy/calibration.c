#include "postproc/energy/calibration.h"

#include <math.h>
#include <string.h>

enum function { OTHER, EMPTY, TRACED, PLAIN, PART_OF_PLAIN };

/* What one size of loop takes, in seconds. The least is what nothing has interrupted. */
struct loop {
	size_t calls;
	double period; /* from one traced call to the next */
	double inside; /* from such a call to its return */
	double plain;  /* the same number of calls that are not traced, and what is around them */
};

struct finder {
	uint16_t lane;
	struct loop loops[2]; /* a short and a long one */
	/* the traced loop that was begun last */
	size_t calls;
	double first, last, inside;
	bool open;       /* the last call has not returned */
	bool disturbed;  /* another function was called in between */
	double plain;    /* when the plain loop behind it was begun, */
	size_t of_plain; /* and how many calls it makes; 0: none is running */
	bool found;
};

static enum function function_of(const char *name)
{
	if (!strcmp(name, "energy_calibrate_empty"))
		return EMPTY;
	if (!strcmp(name, "energy_calibrate_traced"))
		return TRACED;
	if (!strcmp(name, "energy_calibrate_plain"))
		return PLAIN;
	return strcmp(name, "litifut_calibrate_loop") ? OTHER : PART_OF_PLAIN;
}

static struct loop *loop_of(struct finder *finder, size_t calls)
{
	for (unsigned i = 0; i < 2; i++) {
		struct loop *loop = &finder->loops[i];
		if (!loop->calls)
			*loop = (struct loop){calls, INFINITY, INFINITY, INFINITY};
		if (loop->calls == calls)
			return loop;
	}
	return NULL;
}

static void end_of_plain(struct finder *finder, double time)
{
	struct loop *loop = finder->of_plain ? loop_of(finder, finder->of_plain) : NULL;

	if (loop)
		loop->plain = fmin(loop->plain, time - finder->plain);
	finder->of_plain = 0;
}

static void end_of_traced(struct finder *finder)
{
	const double calls = (double)finder->calls;
	struct loop *loop = finder->calls > 1 && !finder->open && !finder->disturbed
				    ? loop_of(finder, finder->calls)
				    : NULL;

	if (!loop)
		return;
	loop->period = fmin(loop->period, (finder->last - finder->first) / (calls - 1));
	loop->inside = fmin(loop->inside, finder->inside / calls);
}

static void enter(struct finder *finder, enum function function, double time)
{
	switch (function) {
	case EMPTY:
		if (!finder->calls++)
			finder->first = time;
		finder->last = time;
		finder->open = true;
		break;
	case TRACED:
		end_of_plain(finder, time);
		finder->calls = 0;
		finder->inside = 0;
		finder->open = finder->disturbed = false;
		break;
	case PLAIN:
		end_of_traced(finder);
		finder->plain = time;
		finder->of_plain = finder->disturbed ? 0 : finder->calls;
		break;
	case PART_OF_PLAIN:
		break;
	case OTHER:
		finder->disturbed = true; /* an interrupt */
		finder->of_plain = 0;
		break;
	}
}

static void take(struct finder *finder, const struct energy_event *event, const char *name,
		 double time)
{
	const bool entered = event->kind == ENERGY_EVENT_ENTER || event->kind == ENERGY_EVENT_TAIL;
	const enum function function = entered ? function_of(name) : OTHER;

	if (!finder->found && function == TRACED) {
		finder->found = true;
		finder->lane = event->lane;
	}
	if (!finder->found || event->lane != finder->lane)
		return;
	if (entered) {
		enter(finder, function, time);
	} else if (event->kind == ENERGY_EVENT_LEAVE && finder->open) {
		finder->inside += time - finder->last;
		finder->open = false;
	}
}

bool energy_calibration_find(const struct energy_events *events, const char *const *names,
			     size_t name_count, struct energy_hook *hook)
{
	struct finder finder = {0};

	for (size_t i = 0; i < events->count; i++) {
		const struct energy_event *event = &events->items[i];
		take(&finder, event, event->function < name_count ? names[event->function] : "",
		     energy_events_seconds(events, event->time));
	}
	const bool swapped = finder.loops[0].calls > finder.loops[1].calls;
	const struct loop *few = &finder.loops[swapped], *many = &finder.loops[!swapped];
	if (!few->calls || !isfinite(few->plain) || !isfinite(many->plain))
		return false;
	const double plain = (many->plain - few->plain) / (double)(many->calls - few->calls);
	const double outside = many->period - plain - many->inside;
	if (!(plain >= 0) || !(outside > 0) || !(many->inside > 0))
		return false;
	*hook = energy_hook_of(many->inside, outside);
	hook->uncertainty = fmax(hook->uncertainty, 1 / (events->hertz * (double)many->calls));
	return true;
}
