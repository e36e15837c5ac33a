/* Room in a file, made before anything is written to its mapping. */

#include "tracer/port/linux/room.h"

#include <linux/resource.h>

#include "tracer/port/linux/system.h"
#include "tracer/recorder/state.h"

bool litifut_file_grow(long descriptor, uint64_t offset, uint32_t size)
{
	uint32_t zeros[64]; /* not a constant, which would be in all programs */
	long result;

#ifdef LITIFUT_PORT_FALLOCATE
	result = LITIFUT_PORT_FALLOCATE(descriptor, offset, size);
	if (!litifut_failed(result))
		return true;
	if (result != -EOPNOTSUPP && result != -ENOSYS)
		return false;
#endif
	for (uint32_t i = 0; i < sizeof(zeros) / 4; i++)
		zeros[i] = 0;
	for (uint32_t done = 0; done < size; done += sizeof(zeros)) {
		result = litifut_write_at(descriptor, zeros, sizeof(zeros), offset + done);
		if (result != (long)sizeof(zeros))
			return false;
	}
	return true;
}

bool litifut_within_file_limit(uint64_t end)
{
	uint64_t exact[2];
	uint32_t limit[2];

	if (!litifut_failed(LITIFUT_CALL4(prlimit64, 0, RLIMIT_FSIZE, 0, exact)))
		return end <= exact[0];
	/* Linux before 2.6.36 */
	if (litifut_failed(
		    litifut_system_call3(LITIFUT_PORT_GETRLIMIT, RLIMIT_FSIZE, (long)limit, 0)))
		return true;
	return limit[0] == LITIFUT_PORT_NO_LIMIT || end <= limit[0];
}

bool litifut_within_limits(uint64_t end)
{
	uint32_t max_mb = litifut_recorder.settings.max_mb;

	return (!max_mb || max_mb == LITIFUT_MAX_MB_UNSET || end <= (uint64_t)max_mb << 20) &&
	       litifut_within_file_limit(end);
}
