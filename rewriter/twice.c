#include "rewriter/twice.h"

#include <stddef.h>

const char *const litifut_returns_twice[] = {"setjmp",      "_setjmp",  "__setjmp", "sigsetjmp",
					     "__sigsetjmp", "vfork",    "__vfork",  "getcontext",
					     "swapcontext", "nlr_push", /* MicroPython's */
					     NULL};
