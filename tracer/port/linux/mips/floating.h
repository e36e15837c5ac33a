/* Which floating-point registers a function may change: asked of the kernel, which
 * also emulates them where the CPU has none. */
#ifndef LITIFUT_TRACER_FLOATING_H
#define LITIFUT_TRACER_FLOATING_H

#include <asm/unistd.h>
#include <linux/prctl.h>

#include "tracer/entry/guard.h"

/* With FR=1 each register holds a double of its own. A kernel that doesn't know the
 * question has no FR=1 for o32. (The system call is written out: the recorder's code
 * for it is not there when the recorder is the user's own, which is when this is
 * asked.) */
static inline uint32_t litifut_port_floating(void)
{
	register long mode __asm__("$2") = __NR_prctl;
	register long option __asm__("$4") = PR_GET_FP_MODE;
	register long failed __asm__("$7");

	__asm__ volatile("syscall"
			 : "+r"(mode), "=r"(failed)
			 : "r"(option)
			 : "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24",
			   "$25", "hi", "lo", "memory");
	return !failed && mode & PR_FP_MODE_FR ? LITIFUT_FLOATING_32 : LITIFUT_FLOATING_16;
}

#endif
