/* The modules of this process. */

#include "tracer/recorder/module_list.h"

#include <stddef.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"

bool litifut_modules_change(struct litifut_module *from, struct litifut_module *to)
{
	struct litifut_modules *list = &litifut_recorder.modules;

	for (;;) {
		long more;

		for (uint32_t i = 0; i < LITIFUT_MODULE_SLOTS; i++)
			if (litifut_exchange((uint32_t *)&list->slots[i], (uint32_t)from,
					     (uint32_t)to))
				return true;
		if (!list->next) {
			if (from)
				return false;
			more = litifut_map_memory(sizeof(*list));
			if (litifut_failed(more))
				return false;
			if (!litifut_exchange((uint32_t *)&list->next, 0, (uint32_t)more))
				litifut_unmap((uint32_t)more, sizeof(*list));
		}
		list = list->next;
	}
}

struct litifut_module *litifut_modules_next(uint32_t *place)
{
	const struct litifut_modules *list = &litifut_recorder.modules;
	uint32_t index = *place;

	for (; list && index >= LITIFUT_MODULE_SLOTS; index -= LITIFUT_MODULE_SLOTS)
		list = list->next;
	for (; list; list = list->next, index = 0) {
		for (; index < LITIFUT_MODULE_SLOTS; index++) {
			++*place;
			if (list->slots[index])
				return list->slots[index];
		}
	}
	return NULL;
}
