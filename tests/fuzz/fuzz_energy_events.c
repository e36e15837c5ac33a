/* Any bytes as a text of events: what was read must be walked through. */
#include <stdlib.h>
#include <string.h>

#include "postproc/energy/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "litifut-events 1\nhz 1000\n";
	struct energy_events events = {0};
	struct litifut_error error = {0};
	char *text = malloc(size + sizeof(head));

	if (!text)
		return 0;
	memcpy(text, head, sizeof(head) - 1);
	memcpy(text + sizeof(head) - 1, data, size);
	if (energy_events_read(&events, "fuzz", text, size + sizeof(head) - 1, &error) ==
	    LITIFUT_OK) {
		struct energy_tree tree;
		struct energy_clock clock;
		struct energy_walk_counts counts;
		struct energy_visitor visitor = {0};
		struct energy_knot pair = {0, 0};
		energy_events_finish(&events, &error);
		for (size_t i = 1; i < events.count; i++) {
			if (events.items[i].time < events.items[i - 1].time)
				abort();
		}
		energy_tree_start(&tree);
		if (energy_clock_line(&clock, &pair, 1, &error) != LITIFUT_OK ||
		    energy_walk(&events, &clock, &tree, 0, 1, &visitor, &counts, &error) !=
			    LITIFUT_OK)
			abort();
		for (size_t i = 1; i < tree.count; i++) {
			if (tree.nodes[i].parent >= i)
				abort();
		}
		energy_clock_release(&clock);
		energy_tree_release(&tree);
	} else if (!error.message[0]) {
		abort();
	}
	energy_events_release(&events);
	free(text);
	return 0;
}
