/* The one place where the recorder makes system calls. */

#define LITIFUT_UNGATED
#include "tracer/port/linux/system.h"
#undef LITIFUT_UNGATED

#pragma GCC visibility push(hidden)
uint32_t litifut_system_calls_forbidden;
long litifut_gated_call3(long number, long a, long b, long c);
long litifut_gated_call(long number, long a, long b, long c, long d, long e, long f);
#pragma GCC visibility pop

long litifut_gated_call3(long number, long a, long b, long c)
{
	if (litifut_system_calls_forbidden)
		return -ENOSYS;
	return litifut_system_call3(number, a, b, c);
}

long litifut_gated_call(long number, long a, long b, long c, long d, long e, long f)
{
	if (litifut_system_calls_forbidden)
		return -ENOSYS;
	return litifut_system_call(number, a, b, c, d, e, f);
}
