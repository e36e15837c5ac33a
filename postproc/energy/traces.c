#include "postproc/energy/traces.h"

#include "postproc/model/clock.h"
#include "postproc/timeline/timeline.h"

struct bridge {
	struct post_session *session;
	struct post_timeline_sink sink;
};

static void push(void *context, const struct post_timeline_event *event)
{
	struct bridge *bridge = context;
	const struct post_session *session = bridge->session;
	struct post_timeline_event copy = *event;
	uint32_t process = session->lanes[event->lane]->process;

	/* One clock for all processes, with what the tracer took: the curve has it as well. */
	copy.time = post_clock_ns(session->processes[process], post_event_clock(event));
	bridge->sink.push(bridge->sink.context, &copy);
}

/* When the clock overflows, as its interrupts took time from what they interrupted. */
static void take_overflows(struct energy_events *events, const struct post_trace *trace)
{
	const double hertz = (double)trace->header.clock_hertz;
	const uint64_t ticks = trace->chunk_count ? trace->chunks[0].start_time : 0;

	events->overflow_period = trace->clock_period / hertz;
	events->overflow_off = trace->hook_before / hertz;
	events->overflow_begin =
		(double)ticks / hertz +
		(double)(int64_t)(events->first - trace->header.start_monotonic_ns) / events->hertz;
}

/* Of one process, which a firmware is. */
static void take_hook(const struct post_session *session, struct energy_events *events,
		      struct energy_hook *hook)
{
	const struct post_trace *trace =
		session->process_count == 1 ? session->processes[0]->trace : NULL;
	double hertz = trace ? (double)trace->header.clock_hertz : 0;

	if (hertz > 0 && trace->hook_inside > 0) {
		*hook = energy_hook_of(trace->hook_inside / hertz, trace->hook_outside / hertz);
		energy_hook_split(hook, trace->hook_before / hertz);
		hook->interrupt = trace->clock_interrupt / hertz;
		take_overflows(events, trace);
	} else if (hertz > 0 && trace->header.event_cost) {
		*hook = energy_hook_of(trace->header.event_cost / (256 * hertz),
				       trace->header.event_cost / (256 * hertz));
	}
}

void energy_traces_read(struct post_session *session, struct energy_events *events,
			struct energy_hook *hook, struct post_run *page, struct post_totals *totals)
{
	struct bridge bridge = {session, energy_events_sink(events)};
	struct post_timeline_sink sink = {.push = push, .context = &bridge, .nested = true};
	struct post_timeline_options options = {0};

	events->hertz = 1e9;
	if (page) {
		page->also = &sink;
		post_run_read(page, session, &options, totals);
		page->also = NULL;
	} else {
		post_timeline_read(session, &sink, &options);
		post_timeline_total(session, totals);
	}
	take_hook(session, events, hook);
}
