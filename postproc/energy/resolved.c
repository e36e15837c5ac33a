#include "postproc/energy/resolved.h"

#include <stdlib.h>

double energy_hook_power(const struct energy_resolved *resolved)
{
	double joules = 0, seconds = 0;

	for (unsigned i = 0; i < 2 * ENERGY_CLOCK_PARTS; i++) {
		const struct energy_level *part = &resolved->columns[ENERGY_COLUMN_HOOKS + i];
		joules += part->watts * part->seconds;
		seconds += part->seconds;
	}
	return seconds > 0 ? joules / seconds : 0;
}

void energy_resolved_release(struct energy_resolved *resolved)
{
	free(resolved->rows.xx);
	free(resolved->rows.xy);
	free(resolved->columns);
	free(resolved->column_of);
	free(resolved->ends_of);
	free(resolved->functions);
	*resolved = (struct energy_resolved){0};
}
