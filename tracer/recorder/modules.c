/* Modules announce themselves in the trace. */

#include "tracer/recorder/modules.h"

#include <litifut/module_format.h>
#include <stdbool.h>
#include <stddef.h>

#include "tracer/port/linux/spawn.h"
#include "tracer/port/linux/withdraw.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/fast.h"
#include "tracer/recorder/flags.h"
#include "tracer/recorder/module_list.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table_words.h"
#include "tracer/recorder/verbose.h"
#include "tracer/sink/metadata.h"
#include "tracer/sink/module_record.h"

/* A process has the family of its first module. */
static bool litifut_module_is_foreign(const struct litifut_module *module)
{
	uint32_t family =
		LITIFUT_MODULE_HAS(module, family) ? module->family : LITIFUT_FAMILY_STREAM;

	/* code that sets flags goes with any */
	return family != LITIFUT_FAMILY_NONE && family != litifut_family();
}

static void litifut_module_write(struct litifut_module *module, bool anew)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_module_words words;

	litifut_module_describe(module, litifut_add(&r->last_serial, 1) + 1, &words);
	module->load_bias = words.record.load_bias;
	litifut_metadata_put((const uint32_t *)&words, sizeof(words) / 4);
	module->serial = words.record.serial;
	litifut_flags_open(module, anew);
	if (LITIFUT_PORT_THUNKS_ASK && LITIFUT_MODULE_HAS(module, fast_ok) &&
	    r->thunks_differ < LITIFUT_THUNKS_GO)
		module->fast_ok = litifut_port_thunks(r->features);
	litifut_port_barrier(r->features);
	module->met = litifut_module_is_foreign(module)                   ? -2
		      : litifut_spawn_asks(module) || !r->features.modern ? -1
									  : 1;
}

/* All thunks of a process write to the same chunks, so events of one form. The first module
 * says which; where another has thunks of another form, none of the process stores anything
 * by itself any more. */
static void litifut_module_compare(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t clock = LITIFUT_MODULE_HAS(module, clock) ? module->clock : LITIFUT_CLOCK_NONE;

	if (module->engine != LITIFUT_ENGINE_THUNK)
		return;
	if (litifut_module_is_foreign(module)) {
		litifut_tell("calls are not recorded, as LITIFUT_MODE was another in the link of ",
			     module->name, 0);
		if (!litifut_exchange(&r->thunks_differ, 0, LITIFUT_THUNKS_DIFFER))
			return;
	} else {
		if (litifut_exchange(&r->thunk_clock, LITIFUT_CLOCK_UNSET, clock) ||
		    r->thunk_clock == clock ||
		    !litifut_exchange(&r->thunks_differ, 0, LITIFUT_THUNKS_DIFFER))
			return;
		litifut_tell(
			"calls take the long way, as LITIFUT_CLOCK was another in the link of ",
			module->name, 0);
	}
	litifut_update_fast();
	litifut_threads_disarm();
}

/* Also of one that a thread of the parent was about to announce at the time of a fork. */
static void litifut_module_meet(struct litifut_module *module, bool anew)
{
	litifut_add(&litifut_recorder.modules_live, 1);
	litifut_spawn_module(module);
	litifut_module_write(module, anew);
	module->registered = LITIFUT_REGISTERED;
	litifut_module_compare(module);
	if (!anew) /* the code of a child is that of its parent */
		litifut_thunks_withdraw_new(module);
}

void litifut_module_announce(struct litifut_module *module)
{
	/* while a thread of this process, or of its parent, does it */
	uint32_t under_way = litifut_recorder.file.process | 1u << 31;
	uint32_t before = *(volatile uint32_t *)&module->registered;

	/* One does it; events of others may come before the record, which does
	 * no harm, because readers read all records first. */
	if (before == LITIFUT_REGISTERED || before == under_way ||
	    !litifut_exchange(&module->registered, before, under_way))
		return;
	litifut_modules_change(NULL, module);
	litifut_module_meet(module, false);
}

void litifut_modules_announce_again(void)
{
	struct litifut_module *module;

	litifut_recorder.modules_live = 0;
	for (uint32_t at = 0; (module = litifut_modules_next(&at));)
		litifut_module_meet(module, true);
}
