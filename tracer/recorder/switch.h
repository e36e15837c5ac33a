/* Recording on and off while the program runs. */
#ifndef LITIFUT_TRACER_SWITCH_H
#define LITIFUT_TRACER_SWITCH_H

struct litifut_module;

/* Recording off and on, as litifut_stop() and litifut_start(), on the stack of the caller. */
void litifut_stop_recording(void *nothing) __attribute__((visibility("hidden")));
void litifut_start_recording(void *nothing) __attribute__((visibility("hidden")));
/* Installs the handler of LITIFUT_SIGNAL where the program has none. */
void litifut_signal_start(void) __attribute__((visibility("hidden")));
/* Takes it away before the code of `module` goes, if it is in that. */
void litifut_signal_end(const struct litifut_module *module) __attribute__((visibility("hidden")));

#endif
