/* The record of a module. */
#ifndef LITIFUT_TRACER_MODULE_RECORD_H
#define LITIFUT_TRACER_MODULE_RECORD_H

#include <stdint.h>

#include <litifut/module_format.h>
#include <litifut/trace_format.h>

/* What the metadata of a trace says of a module. */
struct litifut_module_words {
	uint32_t control;
	struct litifut_module_record record;
};

/* What there is to tell of `module` under this serial number. */
void litifut_module_describe(const struct litifut_module *module, uint32_t serial,
			     struct litifut_module_words *words)
	__attribute__((visibility("hidden")));

#endif
