#include "postproc/energy/triggers.h"

#include <math.h>

#include "common/memory.h"

static void segment(void *context, struct energy_lane *lane, uint32_t node, double from, double to)
{
	struct energy_triggers *t = context;

	(void)lane, (void)to;
	if (node == ENERGY_TRANSFER && t->count)
		t->items[t->count - 1].end = fmin(t->items[t->count - 1].end, from);
}

static void leave(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind, double time)
{
	struct energy_triggers *t = context;
	uint32_t function = t->tree->nodes[frame->node].function;

	(void)lane, (void)under;
	if (kind == ENERGY_EVENT_LOST || function == ENERGY_NO_FUNCTION || !t->wanted[function])
		return;
	if (t->count == t->capacity) {
		size_t wanted = t->capacity ? 2 * t->capacity : 256;
		struct energy_trigger *more =
			litifut_memory_resized(t->items, wanted, sizeof(*more));
		if (!more) {
			t->failed = true;
			return;
		}
		t->items = more;
		t->capacity = wanted;
	}
	if (t->count)
		t->items[t->count - 1].end = fmin(t->items[t->count - 1].end, frame->entered);
	t->items[t->count++] =
		(struct energy_trigger){time, time + ENERGY_TRIGGER_LONGEST, function, NAN, -1};
}

struct energy_stretch energy_trigger_samples(const struct energy_power *power, const float *rest,
					     const struct energy_trigger *trigger)
{
	size_t low = 0, high = power->run_count;

	/* the last run that begins before */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (power->runs[middle].time <= trigger->time)
			low = middle;
		else
			high = middle;
	}
	const struct energy_run *r = &power->runs[low];
	double place = (trigger->time - r->time) / power->interval;
	double end = (trigger->end - r->time) / power->interval;
	if (!power->run_count || !(place >= 0) || place + 2 >= (double)r->count || end < place + 2)
		return (struct energy_stretch){NULL, 0, 0};
	size_t first = (size_t)place;
	size_t last = (size_t)fmin(end, (double)r->count);
	return (struct energy_stretch){rest + r->first + first, last - first - 1,
				       place - (double)first};
}

enum litifut_status energy_triggers_find(struct energy_triggers *triggers,
					 const struct energy_analysis *analysis,
					 struct litifut_error *error)
{
	struct energy_tree tree;
	struct energy_visitor visitor = {.context = triggers, .segment = segment, .leave = leave};
	struct energy_walk_counts counts;

	energy_tree_start(&tree);
	triggers->tree = &tree;
	enum litifut_status status =
		energy_walk(&analysis->events, &analysis->clock, &tree, analysis->result.begin,
			    analysis->result.end, &visitor, &counts, error);
	if (status == LITIFUT_OK && triggers->failed)
		status = litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					   "not enough memory for the calls");
	triggers->tree = NULL;
	energy_tree_release(&tree);
	return status;
}
