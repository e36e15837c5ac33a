/* Recording on and off while the program runs. */
#ifndef LITIFUT_TRACER_SWITCH_H
#define LITIFUT_TRACER_SWITCH_H

/* Installs the handler of LITIFUT_SIGNAL where the program has none. */
void litifut_signal_start(void) __attribute__((visibility("hidden")));

#endif
