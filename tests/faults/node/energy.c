/* What the parts of the node take, in units of charge, from their levels and how long they had
 * these. */
#include "system.h"

static struct {
	unsigned level, since, used;
} parts[PART_COUNT];

/* What a tick at each level takes. */
static const unsigned prices[PART_COUNT][6] = {
	[PART_CPU] = {1, 40},
	[PART_RADIO] = {0, 20, 20, 190, 190, 170},
	[PART_FLASH] = {0, 0, 150, 150, 200},
	[PART_ADC] = {0, 9},
};

static void settle(enum part part)
{
	const unsigned now = node_time();

	parts[part].used += (now - parts[part].since) * prices[part][parts[part].level];
	parts[part].since = now;
}

void energy_set(enum part part, unsigned level)
{
	if (parts[part].level == level)
		return;
	settle(part);
	parts[part].level = level;
}

unsigned energy_used(enum part part)
{
	settle(part);
	return parts[part].used;
}

unsigned energy_share(enum part part)
{
	unsigned all = 0;

	for (unsigned i = 0; i < PART_COUNT; i++)
		all += energy_used((enum part)i);
	return all ? energy_used(part) * 100u / (all / 10u + 1u) : 0;
}
