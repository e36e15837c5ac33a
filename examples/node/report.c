/* Reports that a bundle was deleted, to the node that has asked for them. */
#include <string.h>

#include "node.h"

#define REPORT_DELETED 0x10
#define REPORT_SERVICE 0

static bool report_is_wanted(const struct bundle *bundle)
{
	return bundle_asks_report(bundle) && bundle->fields[FIELD_report_node];
}

static void report_fill(struct bundle *report, const struct bundle *bundle)
{
	memset(report->payload, 0, sizeof(report->payload));
	report->payload[0] = REPORT_DELETED;
	number_write(report->payload + 1, bundle->fields[FIELD_creation_number]);
}

static void report_send(const struct bundle *bundle)
{
	static struct bundle report;

	report_fill(&report, bundle);
	bundle_make(&report, (uint16_t)bundle->fields[FIELD_report_node], REPORT_SERVICE,
		    BUNDLE_ADMINISTRATIVE);
	agent_send(&report);
}

void report_deletion(const struct slot *slot)
{
	static struct bundle deleted;

	if (slot->flags & BUNDLE_REPORT_DELETION &&
	    bundle_decode(slot->memory.bytes, slot->memory.size, &deleted) &&
	    report_is_wanted(&deleted))
		report_send(&deleted);
}

void report_take(const struct bundle *bundle)
{
	if (bundle->payload[0] & REPORT_DELETED)
		statistics_count(FAILED);
}
