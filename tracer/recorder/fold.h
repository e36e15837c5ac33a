/* <litifut/fold_words.h> with what a CPU does in fewer instructions than the compiler's. */
#ifndef LITIFUT_TRACER_FOLD_H
#define LITIFUT_TRACER_FOLD_H

#include "cpu.h"

#include <litifut/fold_words.h>

#endif
