/* Calling a recorder that the user supplies, which may use any floating-point register. */
#ifndef LITIFUT_TRACER_GUARD_H
#define LITIFUT_TRACER_GUARD_H

#include <stdint.h>

#include <litifut/litifut.h>

/* The floating-point registers that a recorder that the user supplies may change. */
enum litifut_floating {
	LITIFUT_FLOATING_UNKNOWN = 0,
	LITIFUT_FLOATING_NONE = 1,
	LITIFUT_FLOATING_16 = 2, /* double registers; on MIPS: those of o32 */
	LITIFUT_FLOATING_32 = 3
};

/* Calls `record` with the floating-point registers kept (guard.S). */
void litifut_record_guarded(void (*record)(const struct litifut_call *call),
			    const struct litifut_call *call, uint32_t floating)
	__attribute__((visibility("hidden")));

#endif
