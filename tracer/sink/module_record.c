/* The record of a module. */

#include "tracer/sink/module_record.h"

#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"

void litifut_module_describe(const struct litifut_module *module, uint32_t serial,
			     struct litifut_module_words *words)
{
	struct litifut_module_record *record = &words->record;

	words->control = LITIFUT_CONTROL_WORD(LITIFUT_WORD_MODULE, sizeof(*record) / 4);
	record->serial = serial;
	record->epoch = litifut_recorder.epoch;
	record->load_bias = (uint32_t)module - module->link_address;
	record->text_start = module->text_start + record->load_bias;
	record->text_end = module->text_end + record->load_bias;
	record->flags = module->flags;
	record->build_id_bytes = module->build_id_bytes;
	litifut_copy(record->build_id, module->build_id, sizeof(record->build_id));
	litifut_copy(record->name, module->name, sizeof(record->name));
}
