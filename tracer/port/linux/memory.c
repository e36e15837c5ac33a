/* Memory of this process. */

#include "tracer/port/linux/memory.h"

#include "tracer/port/linux/system.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"

/* An unknown `how` makes the system call fail after it has read the set. */
bool litifut_readable(uint32_t address)
{
	return !litifut_system_calls_forbidden &&
	       litifut_system_call(__NR_rt_sigprocmask, 0x7f, (long)address, 0,
				   LITIFUT_SIGSET_BYTES, 0, 0) != -EFAULT;
}

/* Other threads may take the place in between; how often that is accepted. */
#define LITIFUT_MAP_TRIES 8

/* How many places there are apart, of which few are in use at a time. */
#define LITIFUT_PLACES_APART 256u
#define LITIFUT_MEMORY_STEP (64u << 10)

/* Three quarters of the way to the stack: kernels give out addresses downwards from the stack, or
 * upwards from a third. A program may unmap memory and map the same place again later
 * (MAP_FIXED), as it has no thread that could take it meanwhile. So what the recorder maps while
 * the program runs must not be in the places that the program's own mappings are given. 0: all
 * places that were tried are in use. */
static uint32_t litifut_map_apart(long descriptor, uint64_t offset, uint32_t size, uint32_t room,
				  uint32_t multiple)
{
	static uint32_t litifut_next_place;
	const uint32_t from = litifut_recorder.stack_start / 4 * 3 & ~(multiple - 1);

	for (uint32_t tries = 0; from && tries < LITIFUT_MAP_TRIES; tries++) {
		const uint32_t place = litifut_add(&litifut_next_place, 1) % LITIFUT_PLACES_APART;
		const uint32_t start = from - place * multiple - room;
		long got =
			litifut_map_near(start, size, PROT_READ | PROT_WRITE, descriptor, offset);

		if (litifut_failed(got))
			break;
		if ((uint32_t)got == start)
			return start;
		litifut_unmap((uint32_t)got, size);
	}
	return 0;
}

/* Not with MAP_FIXED in room that was reserved: such a call may fail after it has removed what was
 * there, and the program's next mapping would be in that place by the time it is given back. */
uint32_t litifut_map_before(long descriptor, uint64_t offset, uint32_t size, uint32_t multiple)
{
	uint32_t room = size + multiple;
	uint32_t apart = litifut_map_apart(descriptor, offset, size, size, multiple);

	for (uint32_t tries = 0; !apart && tries < LITIFUT_MAP_TRIES; tries++) {
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
	return apart;
}

long litifut_map_memory(uint32_t size)
{
	/* of whole pages, however large these are */
	const uint32_t room = (size + LITIFUT_MEMORY_STEP - 1) & ~(LITIFUT_MEMORY_STEP - 1);
	const uint32_t apart = litifut_map_apart(-1, 0, size, room, LITIFUT_MEMORY_STEP);

	return apart ? (long)apart : litifut_map(0, size, PROT_READ | PROT_WRITE, -1, 0);
}
