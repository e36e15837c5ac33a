/* The node that has custody of a bundle keeps it until another one has it. */
#include "node.h"

#define FAILURES 8

void custody_accept(struct bundle *bundle)
{
	if (!bundle_asks_custody(bundle))
		return;
	bundle->fields[FIELD_custodian_node] = OWN_NODE;
	bundle->fields[FIELD_custodian_service] = 0;
}

static bool custody_is_ours(const struct slot *slot)
{
	return slot->flags & BUNDLE_CUSTODY;
}

/* Seconds until the next try. */
uint16_t custody_wait(const struct slot *slot)
{
	return custody_is_ours(slot) ? slot->failures / 2 : 0;
}

bool custody_ends(const struct slot *slot)
{
	return slot->failures >= (custody_is_ours(slot) ? FAILURES : 1);
}
