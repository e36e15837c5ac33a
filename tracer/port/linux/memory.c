/* Memory of this process. */

#include "tracer/port/linux/memory.h"

#include "tracer/port/linux/system.h"

/* An unknown `how` makes the system call fail after it has read the set. */
bool litifut_readable(uint32_t address)
{
	return !litifut_system_calls_forbidden &&
	       litifut_system_call(__NR_rt_sigprocmask, 0x7f, (long)address, 0,
				   LITIFUT_SIGSET_BYTES, 0, 0) != -EFAULT;
}

/* Other threads may take the place in between; how often that is accepted. */
#define LITIFUT_MAP_TRIES 8

/* Not with MAP_FIXED in room that was reserved: such a call may fail after it has removed what was
 * there, and the program's next mapping would be in that place by the time it is given back. */
uint32_t litifut_map_before(long descriptor, uint64_t offset, uint32_t size, uint32_t multiple)
{
	uint32_t room = size + multiple;

	for (uint32_t tries = 0; tries < LITIFUT_MAP_TRIES; tries++) {
		long free = litifut_map(0, room, PROT_NONE, -1, 0);
		uint32_t start = (((uint32_t)free + room) & ~(multiple - 1)) - size;
		long got;

		if (litifut_failed(free))
			break;
		litifut_unmap((uint32_t)free, room);
		got = litifut_map_near(start, size, PROT_READ | PROT_WRITE, descriptor, offset);
		if (litifut_failed(got))
			break;
		if ((uint32_t)got == start)
			return start;
		litifut_unmap((uint32_t)got, size);
	}
	return 0;
}
