/* Which way events may take. */
#ifndef LITIFUT_TRACER_FAST_H
#define LITIFUT_TRACER_FAST_H

/* Decides what `fast` may be, after any change. */
void litifut_update_fast(void) __attribute__((visibility("hidden")));

#endif
