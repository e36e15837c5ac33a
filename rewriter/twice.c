#include "rewriter/twice.h"

#include <stddef.h>

const char *const litifut_returns_twice[] = {"setjmp",      "_setjmp",  "__setjmp", "sigsetjmp",
					     "__sigsetjmp", "vfork",    "__vfork",  "getcontext",
					     "swapcontext", "nlr_push", /* MicroPython's */
					     NULL};

const char *const litifut_returns_elsewhere[] = {
	"longjmp",     "_longjmp",        "siglongjmp",          "__longjmp",
	"____longjmp", "____longjmp_chk", "__restore_core_regs", "restore_core_regs",
	NULL};

const char *const litifut_unwinds[] = {"_Unwind_RaiseException", "_Unwind_Resume",
				       "_Unwind_Resume_or_Rethrow", "_Unwind_ForcedUnwind", NULL};
