/* The modules of this process. */
#ifndef LITIFUT_TRACER_MODULE_LIST_H
#define LITIFUT_TRACER_MODULE_LIST_H

#include <litifut/module_format.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Changes the first slot that holds `from` to `to`. NULL is in a new one at the latest;
 * false without memory for it, or when no slot holds the module `from`. */
bool litifut_modules_change(struct litifut_module *from, struct litifut_module *to);
/* The known module after `*place`, an index that begins with 0 and is advanced; NULL
 * after the last. */
struct litifut_module *litifut_modules_next(uint32_t *place);

#pragma GCC visibility pop

/* Is this run-time address in the code of the module? */
static inline bool litifut_module_holds(const struct litifut_module *module, uint32_t address)
{
	return address - (uint32_t)module + module->link_address - module->text_start <
	       module->text_end - module->text_start;
}

#endif
