/* Modules that come and go. The recorder's second interface: tracer/entry/enter.c calls
 * it when a module of the thunk engine starts and when any module ends. */
#ifndef LITIFUT_TRACER_LOADING_H
#define LITIFUT_TRACER_LOADING_H

struct litifut_module;

void litifut_module_enter(struct litifut_module *module);
void litifut_module_leave(struct litifut_module *module);

#endif
