/* Arrows in a timeline: from what one thread or process sends to what another one receives. The
 * user names the functions; calls are paired by the order of their times. */
#ifndef LITIFUT_POSTPROC_FORMATS_FLOWS_H
#define LITIFUT_POSTPROC_FORMATS_FLOWS_H

#include "postproc/formats/format.h"
#include "postproc/sources/arguments.h"

struct post_flow_end {
	uint64_t time; /* ns */
	uint32_t lane;
};

struct post_flow_ends {
	struct post_flow_end *items;
	size_t count, capacity;
};

/* A call that has not returned. */
struct post_flow_call {
	uint64_t time;
	uint32_t lane, depth;
	bool sends;
};

struct post_flows {
	char *send, *receive;     /* globs; owned */
	bool by_send, by_receive; /* only calls with this argument 0 */
	uint32_t send_value, receive_value;
	struct post_flow_call *open;
	size_t open_count, open_capacity;
	struct post_flow_ends sent, received; /* by time after post_flows_pair() */
};

/* Reads "SEND=RECEIVE", each a glob and perhaps an argument 0: "write(4)=read(3)". False: it is not
 * understood. */
bool post_flows_read(struct post_flows *flows, const char *text);

/* Takes an event of the timeline, at `time` in ns. A call of the sender counts when it begins, one
 * of the receiver when it returns; one whose recorded return value is 0 or less does not count. */
void post_flows_event(struct post_flows *flows, const struct post_output *output,
		      const struct post_timeline_event *event, uint64_t time);

/* Puts both lists in the order of time, and gives how many pairs there are. */
size_t post_flows_pair(struct post_flows *flows);

void post_flows_release(struct post_flows *flows);

#endif
