/* Memory of this process. */

#include "tracer/port/linux/memory.h"

#include "tracer/port/linux/system.h"

/* An unknown `how` makes the
 * system call fail after it has read the set. */
bool litifut_readable(uint32_t address)
{
	return litifut_system_call(__NR_rt_sigprocmask, 0x7f, (long)address, 0,
				   LITIFUT_SIGSET_BYTES, 0, 0) != -EFAULT;
}

uint32_t litifut_map_aligned(long descriptor, uint64_t offset, uint32_t size)
{
	long room = litifut_map(0, 2 * size, PROT_NONE, -1, 0);
	uint32_t start = (uint32_t)room;
	uint32_t aligned = (start + size - 1) & ~(size - 1);
	long result;

	if (litifut_failed(room))
		return 0;
	litifut_unmap(start, aligned - start);
	litifut_unmap(aligned + size, start + size - aligned);
	result = litifut_map(aligned, size, PROT_READ | PROT_WRITE, descriptor, offset);
	if (!litifut_failed(result))
		return aligned;
	litifut_unmap(aligned, size);
	return 0;
}
