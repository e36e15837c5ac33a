/* LITIFUT_DIR_MB: a limit for all traces in a folder. The file `usage` beside them has a byte for
 * each LITIFUT_USAGE_UNIT of them that was ever made; any byte. Whoever has made room appends to
 * it. So processes need no lock, one that is killed leaves nothing half done, and it works where
 * files can't be mapped. It does not shrink; without it, the count begins anew. */

#include "tracer/port/linux/usage.h"

#include <linux/fs.h>
#include <stddef.h>

#include "tracer/port/linux/files.h"
#include "tracer/port/linux/room.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/state.h"

#define LITIFUT_USAGE_UNIT_BITS 14

bool litifut_usage_add(uint32_t bytes)
{
	const struct litifut_settings *settings = &litifut_recorder.settings;
	uint32_t limit = settings->dir_mb << (20 - LITIFUT_USAGE_UNIT_BITS);
	uint64_t used = 0;
	long descriptor;
	bool good;

	if (!limit)
		return true;
	bytes >>= LITIFUT_USAGE_UNIT_BITS;
	descriptor = litifut_open_to_write(litifut_traces_folder(), "usage",
					   O_WRONLY | O_CREAT | O_APPEND);
	/* another user's, say */
	if (litifut_failed(descriptor))
		return true;
	/* a FIFO has no size; and no signal is to come of it */
	LITIFUT_CALL5(_llseek, descriptor, 0, 0, &used, SEEK_END);
	used += bytes;
	good = used <= limit && litifut_within_file_limit(used) &&
	       litifut_write_at(descriptor, settings->directory, bytes, 0) == (long)bytes;
	litifut_close(descriptor);
	return good;
}
