/* The modules that were unloaded, one for each epoch that has ended. */

#include "tracer/recorder/epochs.h"

#include <stddef.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/module_list.h"
#include "tracer/recorder/state.h"

/* The executable code of a module that was unloaded, and the module's number. */
struct litifut_gone {
	uint32_t start;
	uint32_t bytes;
	uint32_t number;
};

/* Blocks of them, each twice as large as the one before, so that none ever moves. */
#define LITIFUT_GONE_FIRST_BITS 8
#define LITIFUT_GONE_BLOCKS 20

static struct litifut_gone *litifut_gone_blocks[LITIFUT_GONE_BLOCKS];

static uint32_t litifut_gone_block(uint32_t epoch)
{
	return 31 - LITIFUT_GONE_FIRST_BITS -
	       (uint32_t)__builtin_clz(epoch + (1u << LITIFUT_GONE_FIRST_BITS));
}

/* The module whose unloading began this epoch; NULL: there was no memory to note it. */
static struct litifut_gone *litifut_gone_at(uint32_t epoch)
{
	uint32_t block = litifut_gone_block(epoch);

	if (block >= LITIFUT_GONE_BLOCKS || !litifut_gone_blocks[block])
		return NULL;
	return &litifut_gone_blocks[block][epoch + (1u << LITIFUT_GONE_FIRST_BITS) -
					   (1u << (LITIFUT_GONE_FIRST_BITS + block))];
}

static uint32_t litifut_start_of(const struct litifut_module *module)
{
	return module->text_start + (uint32_t)module - module->link_address;
}

/* FNV-1a of all that two loadings of the same file at the same place share. */
static uint32_t litifut_module_number(const struct litifut_module *module)
{
	uint32_t place[2] = {litifut_start_of(module), module->text_end - module->text_start};
	uint32_t number = 0x811c9dc5u;

	for (uint32_t i = 0; i < sizeof(module->build_id); i++)
		number = (number ^ module->build_id[i]) * 0x01000193u;
	for (uint32_t i = 0; i < sizeof(place); i++)
		number = (number ^ ((const uint8_t *)place)[i]) * 0x01000193u;
	return number | 1;
}

void litifut_epoch_end(const struct litifut_module *module)
{
	uint32_t epoch = litifut_recorder.epoch + 1;
	uint32_t block = litifut_gone_block(epoch);
	struct litifut_gone *gone;

	if (block < LITIFUT_GONE_BLOCKS && !litifut_gone_blocks[block]) {
		long room = litifut_map_memory((uint32_t)sizeof(*gone)
					       << (LITIFUT_GONE_FIRST_BITS + block));

		if (!litifut_failed(room))
			litifut_gone_blocks[block] = (struct litifut_gone *)room;
	}
	gone = litifut_gone_at(epoch);
	if (!gone)
		return;
	gone->start = litifut_start_of(module);
	gone->bytes = module->text_end - module->text_start;
	gone->number = litifut_module_number(module);
	litifut_port_barrier(litifut_recorder.features);
}

static bool litifut_gone_has(const struct litifut_gone *gone, uint32_t address)
{
	return !gone || address - gone->start < gone->bytes;
}

bool litifut_code_stays(uint32_t address, uint32_t from, uint32_t to)
{
	while (from != to)
		if (litifut_gone_has(litifut_gone_at(++from), address))
			return false;
	return true;
}

uint32_t litifut_code_in(uint32_t address, uint32_t epoch)
{
	const struct litifut_module *module;

	while (epoch != litifut_recorder.epoch) {
		const struct litifut_gone *gone = litifut_gone_at(++epoch);

		if (litifut_gone_has(gone, address))
			return gone ? gone->number : epoch << 1; /* like no other */
	}
	for (uint32_t at = 0; (module = litifut_modules_next(&at));)
		if (address - litifut_start_of(module) < module->text_end - module->text_start)
			return litifut_module_number(module);
	return 0;
}
