#include "node.h"

static uint16_t statistics[STATISTICS];

void statistics_count(enum statistic which)
{
	if (statistics[which] != UINT16_MAX)
		statistics[which]++;
}

uint16_t statistics_value(enum statistic which)
{
	return statistics[which];
}
