/* In place of table.c and flags.c in the recorder of programs that are linked for a stream of
 * events (LITIFUT_MODE=calls, spans). Most are, and would carry 5 to 9 KB that they never run.
 * What a library of another mode asks of this recorder is refused. */
#include "tracer/recorder/flags.h"
#include "tracer/recorder/table.h"

bool litifut_table_settings(void)
{
	return false;
}

uint32_t litifut_table_finish(uint32_t chunk, uint32_t end)
{
	(void)chunk;
	(void)end;
	return 0;
}

/* Nothing is to be done, whatever the arguments. */
void litifut_tables_save(void)
{
}

#define LITIFUT_NOTHING __attribute__((alias("litifut_tables_save")))
#pragma GCC diagnostic ignored "-Wattribute-alias"

LITIFUT_NOTHING void litifut_tables_prepare(struct litifut_thread *thread);
LITIFUT_NOTHING void litifut_tables_unload(const struct litifut_module *module);
LITIFUT_NOTHING void litifut_tables_forget(void);
LITIFUT_NOTHING void litifut_flags_save_module(const struct litifut_module *module);
LITIFUT_NOTHING void litifut_flags_part(void);
LITIFUT_NOTHING void litifut_flags_save(void);

void litifut_flags_open(const struct litifut_module *module, bool anew)
{
	(void)anew;
	if (LITIFUT_MODULE_HAS(module, flags_bytes) && module->flags_bytes)
		litifut_flags_refuse(module);
}
