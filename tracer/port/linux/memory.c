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

uint32_t litifut_map_before(long descriptor, uint64_t offset, uint32_t size, uint32_t multiple)
{
	uint32_t room = size + multiple;
	long start = litifut_map(0, room, PROT_NONE, -1, 0);
	uint32_t first = (uint32_t)start;
	uint32_t end = (first + room) & ~(multiple - 1);

	if (litifut_failed(start))
		return 0;
	litifut_unmap(first, end - size - first);
	litifut_unmap(end, first + room - end);
	if (!litifut_failed(
		    litifut_map(end - size, size, PROT_READ | PROT_WRITE, descriptor, offset)))
		return end - size;
	litifut_unmap(end - size, size);
	return 0;
}
