/* In place of table.c, flags.c and bits.c in the recorder of programs that are linked for a stream
 * of events (LITIFUT_MODE=calls, spans). Most are, and would carry 5 to 9 KB that they never run.
 * What a library of another mode asks of this recorder is refused. */
#include "tracer/recorder/bits.h"
#include "tracer/recorder/flags.h"
#include "tracer/recorder/table.h"

bool litifut_mode_settings(void)
{
	return false;
}

/* Nothing is to be done, whatever the arguments. */
uint32_t litifut_tables_save(bool settles)
{
	(void)settles;
	return 0;
}

#define LITIFUT_NOTHING __attribute__((alias("litifut_tables_save")))
#pragma GCC diagnostic ignored "-Wattribute-alias"

LITIFUT_NOTHING void litifut_tables_prepare(struct litifut_thread *thread);
LITIFUT_NOTHING void litifut_tables_unload(const struct litifut_module *module);
LITIFUT_NOTHING void litifut_tables_forget(void);
LITIFUT_NOTHING void litifut_flags_save_module(const struct litifut_module *module);
LITIFUT_NOTHING void litifut_flags_close(const struct litifut_module *module);
LITIFUT_NOTHING void litifut_flags_part(void);
LITIFUT_NOTHING void litifut_flags_save(void);
LITIFUT_NOTHING void litifut_bits_record(struct litifut_thread *thread,
					 const struct litifut_call *call);

void litifut_flags_open(const struct litifut_module *module, bool anew)
{
	(void)anew;
	if (LITIFUT_MODULE_HAS(module, flags_bytes) && module->flags_bytes)
		litifut_flags_refuse(module);
}

bool litifut_bits_put(struct litifut_thread *thread, const uint32_t *words, uint32_t count)
{
	(void)thread;
	(void)words;
	(void)count;
	return false;
}
