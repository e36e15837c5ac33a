/* GCC's switches of Thumb-1 code with -Os:
 *
 *		cmp	r0, #4
 *		bhi	...
 *		bl	__gnu_thumb1_case_uqi
 *	table:	.byte	(case0 - table) / 2, ...
 *
 * libgcc has five such functions, for distances of 8, 16 and 32 bits, with and without a sign (si
 * is of 32 bits, and counts bytes; its table begins at a multiple of 4). The number is in r0. Each
 * function adds the entry to its return address and goes on there, with all registers as they
 * were.
 *
 * Where the numbers are compared before the call the table has as many entries. Else it ends where
 * the first of its places is, or where the data ends, as what leads nowhere shows that something is
 * not as it seems. */
#include "rewriter/arm/table_call.h"

#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "cpu/arm/arm.h"
#include "rewriter/arm/arm.h"
#include "rewriter/arm/scaled_jump.h"
#include "rewriter/dynamic_symbols.h"

#define HALVES_MOST 11
#define CALL_BYTES 4u
#define VENEERS_MOST 3
#define HINT_BYTES 16 /* between a comparison and the call */

struct helper {
	uint8_t bytes, unit;
	bool is_signed;
	uint16_t halves[HALVES_MOST]; /* of its code; 0: no more */
};

static const struct helper helpers[] = {
	{1, 2, false, {0xb402, 0x4671, 0x0849, 0x0049, 0x5c09, 0x0049, 0x448e, 0xbc02, 0x4770}},
	{1, 2, true, {0xb402, 0x4671, 0x0849, 0x0049, 0x5609, 0x0049, 0x448e, 0xbc02, 0x4770}},
	{2,
	 2,
	 false,
	 {0xb403, 0x4671, 0x0849, 0x0040, 0x0049, 0x5a09, 0x0049, 0x448e, 0xbc03, 0x4770}},
	{2,
	 2,
	 true,
	 {0xb403, 0x4671, 0x0849, 0x0040, 0x0049, 0x5e09, 0x0049, 0x448e, 0xbc03, 0x4770}},
	{4,
	 1,
	 true,
	 {0xb403, 0x4671, 0x3102, 0x0889, 0x0080, 0x0089, 0x5808, 0x1840, 0x4686, 0xbc03, 0x46f7}},
	{4, /* the same, add of three registers in place of one of two */
	 1,
	 true,
	 {0xb403, 0x4671, 0x1c89, 0x0889, 0x0080, 0x0089, 0x5808, 0x1840, 0x4686, 0xbc03, 0x46f7}},
};

static bool is_helper(const struct litifut_image *image, uint32_t address,
		      const struct helper *helper)
{
	unsigned count = 0;
	const struct litifut_section *section;

	while (count < HALVES_MOST && helper->halves[count])
		count++;
	section = litifut_image_section_at(image, address, 2 * count);
	for (unsigned i = 0; section && i < count; i++)
		if (litifut_get16(false, section->bytes + (address - section->address) + 2 * i) !=
		    helper->halves[i])
			return false;
	return section != NULL;
}

static const struct helper *helper_at(const struct litifut_image *image, uint32_t address)
{
	for (size_t i = 0; i < sizeof(helpers) / sizeof(*helpers); i++)
		if (is_helper(image, address & ~1u, &helpers[i]))
			return &helpers[i];
	return NULL;
}

bool litifut_arm_is_table_helper(const struct litifut_image *image, uint32_t address)
{
	return helper_at(image, address) != NULL;
}

/* Also behind veneers of the linker, which keep lr. */
static const struct helper *helper_from(const struct litifut_image *image, uint32_t address)
{
	const struct litifut_code_reader code = litifut_image_reader(image);

	for (unsigned i = 0; i < VENEERS_MOST && address & 1; i++) {
		const struct helper *helper = helper_at(image, address);
		struct litifut_lead lead;

		if (helper)
			return helper;
		lead = litifut_arm_follow(&code, address);
		if (lead.kind != LITIFUT_LEADS_TO_CODE)
			break;
		address = lead.address;
	}
	return NULL;
}

bool litifut_arm_table_call(const struct litifut_image *image,
			    const struct litifut_section *section, uint32_t address,
			    struct litifut_arm_table_call *call)
{
	static const struct cpu_context context;
	const uint32_t offset = address - section->address;
	struct litifut_instruction instruction;
	const struct helper *helper;

	if (offset >= section->size || section->size - offset < CALL_BYTES ||
	    litifut_arm_decode(&context, section->bytes + offset, CALL_BYTES, address,
			       LITIFUT_CODE_THUMB, &instruction) != CALL_BYTES ||
	    instruction.class != LITIFUT_CLASS_CALL_DIRECT)
		return false;
	helper = helper_from(image, instruction.target);
	if (!helper)
		return false;
	*call = (struct litifut_arm_table_call){
		.table = (address + CALL_BYTES + helper->bytes - 1) & ~(helper->bytes - 1u),
		.bytes = helper->bytes,
		.unit = helper->unit,
		.is_signed = helper->is_signed,
	};
	return true;
}

uint32_t litifut_arm_table_entry(const struct litifut_arm_table_call *call, const uint8_t *table,
				 uint32_t number)
{
	const uint8_t *entry = table + (size_t)number * call->bytes;
	uint32_t distance = call->bytes == 1   ? *entry
			    : call->bytes == 2 ? litifut_get16(false, entry)
					       : litifut_get32(false, entry);

	if (call->is_signed && call->bytes == 1)
		distance = (uint32_t)(int8_t)distance;
	if (call->is_signed && call->bytes == 2)
		distance = (uint32_t)(int16_t)distance;
	return (call->table + distance * call->unit) & ~1u;
}

/* A table that is read from its start on. */
struct reading {
	struct litifut_arm_table_call call;
	const uint8_t *bytes;
	uint32_t start, stop; /* of the function */
	uint32_t number;      /* of the next entry */
	uint32_t count;       /* of entries; UINT32_MAX: it is not known */
	uint32_t end;         /* of what may be entries: the data, or the first of the places */
	bool forward;         /* one of the places is behind the table */
};

static bool start_reading(const struct litifut_image *image, const struct litifut_section *section,
			  uint32_t address, uint32_t end, struct reading *reading)
{
	const struct litifut_symbol *function;

	*reading = (struct reading){.end = end, .count = UINT32_MAX};
	if (!litifut_arm_table_call(image, section, address, &reading->call) ||
	    reading->call.table >= end)
		return false;
	function = litifut_image_function_at(image, address);
	if (!function)
		return false;
	reading->bytes = section->bytes + (reading->call.table - section->address);
	reading->start = function->address;
	reading->stop = litifut_image_function_end(image, function);
	return true;
}

static bool is_in_function(const struct reading *reading, uint32_t address)
{
	return address >= reading->start && address < reading->stop;
}

/* Sets how many entries there are if the code before the call at `address` is what GCC mostly makes
 * of the comparison. */
static void set_count(struct reading *reading, const struct litifut_section *section,
		      uint32_t address)
{
	for (uint32_t at = address; at - section->address >= 4 && address - at < HINT_BYTES;
	     at -= 2) {
		const uint8_t *code = section->bytes + (at - section->address);

		/* cmp rN, #number; bhi */
		if (litifut_get16(false, code - 2) >> 8 == 0xd8 &&
		    litifut_get16(false, code - 4) >> 11 == 5) {
			reading->count = (litifut_get16(false, code - 4) & 0xffu) + 1;
			return;
		}
	}
}

/* Where the next entry leads; false: there is none. */
static bool read_entry(struct reading *reading, uint32_t *to)
{
	const struct litifut_arm_table_call *call = &reading->call;

	if (reading->number == reading->count ||
	    call->table + (reading->number + 1) * call->bytes > reading->end)
		return false;
	*to = litifut_arm_table_entry(call, reading->bytes, reading->number++);
	if (*to > call->table && *to < reading->end && is_in_function(reading, *to)) {
		reading->end = *to;
		reading->forward = true;
	}
	return true;
}

void litifut_arm_add_table_call(const struct litifut_image *image,
				const struct litifut_section *section,
				const struct litifut_code_range *code,
				const struct litifut_code_range *data,
				struct litifut_targets *targets)
{
	/* an instruction that does nothing may stand before a table of words */
	for (uint32_t before = CALL_BYTES; before <= CALL_BYTES + 2; before += 2) {
		struct reading reading;
		uint32_t to;

		if (code->state != LITIFUT_CODE_THUMB || data->start - code->start < before ||
		    !start_reading(image, section, data->start - before, data->end, &reading) ||
		    reading.call.table < data->start)
			continue;
		set_count(&reading, section, data->start - before);
		while (read_entry(&reading, &to))
			if (is_in_function(&reading, to))
				litifut_targets_add(targets, to);
		return;
	}
}

/* Where the data of a table ends that stands at the end of the call in what is marked as code up to
 * `end'; 0: it does not look like a table. */
static uint32_t unmarked_end(const struct litifut_image *image,
			     const struct litifut_section *section, uint32_t address, uint32_t end)
{
	struct reading reading;
	uint32_t to;

	if (!start_reading(image, section, address, end, &reading))
		return 0;
	set_count(&reading, section, address);
	while (read_entry(&reading, &to))
		if (!is_in_function(&reading, to))
			return 0;
	end = (reading.call.table + reading.number * reading.call.bytes + 1) & ~1u;
	if (reading.count != UINT32_MAX)
		return reading.number == reading.count && end <= reading.end ? end : 0;
	return reading.forward ? reading.end : 0;
}

static bool has_helpers(const struct litifut_image *image, const struct litifut_code_range *ranges,
			size_t count)
{
	bool thumb = false;

	for (size_t i = 0; i < count; i++)
		thumb |= ranges[i].state == LITIFUT_CODE_THUMB;
	for (size_t i = 0; i < image->function_count && thumb; i++)
		if (!strncmp(image->symbols[image->functions[i]].name, LITIFUT_ARM_TABLE_HELPER,
			     sizeof(LITIFUT_ARM_TABLE_HELPER) - 1))
			return true;
	return false;
}

/* Cuts the data of [start, end) out of range `number`. */
static bool cut(struct litifut_code_range **ranges, size_t *count, size_t number, uint32_t start,
		uint32_t end)
{
	struct litifut_code_range *items = realloc(*ranges, (*count + 3) * sizeof(**ranges));

	if (!items)
		return false;
	*ranges = items;
	memmove(items + number + 3, items + number + 1, (*count - number - 1) * sizeof(*items));
	items[number + 1] = (struct litifut_code_range){start, end, LITIFUT_CODE_DATA};
	items[number + 2] = (struct litifut_code_range){end, items[number].end, LITIFUT_CODE_THUMB};
	items[number].end = start;
	*count += 2;
	return true;
}

enum litifut_status litifut_arm_cut_tables(const struct litifut_image *image,
					   const struct litifut_section *section,
					   struct litifut_code_range **ranges, size_t *count,
					   struct litifut_error *error)
{
	if (!has_helpers(image, *ranges, *count))
		return LITIFUT_OK;
	for (size_t i = 0; i < *count; i++) {
		const struct litifut_code_range *range = &(*ranges)[i];
		unsigned length;

		for (uint32_t at = range->start;
		     range->state == LITIFUT_CODE_THUMB && at + CALL_BYTES < range->end;
		     at += length) {
			const uint8_t *code = section->bytes + (at - section->address);
			uint32_t end;

			length = litifut_arm_thumb_is_wide(litifut_get16(false, code)) ? 4 : 2;
			end = length == CALL_BYTES ? unmarked_end(image, section, at, range->end)
						   : 0;
			if (!end || end >= range->end)
				continue;
			if (!cut(ranges, count, i, at + CALL_BYTES, end))
				return litifut_error_memory(error, image->path);
			break; /* the next round looks at the rest */
		}
	}
	return LITIFUT_OK;
}

/* Is it the byte that fills up a table of bytes? */
static bool is_filler(const struct reading *reading)
{
	const uint32_t at = reading->number - 1;

	return reading->call.bytes == 1 && reading->number % 2 == 0 && !reading->bytes[at] &&
	       reading->call.table + reading->number == reading->end;
}

bool litifut_arm_follows_table(const struct litifut_image *image, const struct litifut_graph *graph,
			       size_t number)
{
	const struct litifut_graph_block *block = &graph->items[number];
	const struct litifut_section *section = &image->sections[block->section];
	uint32_t most = 0, to = 0;
	struct reading reading;
	size_t next;
	bool known;

	if (block->block.flags & LITIFUT_BLOCK_CONDITIONAL ||
	    !start_reading(image, section, block->block.branch, section->address + section->size,
			   &reading))
		return false;
	next = litifut_graph_first_behind(graph, reading.call.table);
	if (next < graph->count && graph->items[next].block.start < reading.end)
		reading.end = graph->items[next].block.start;
	known = litifut_arm_is_at_most(image, graph, number, 0, &most);
	if (known && most < UINT32_MAX - 1)
		reading.count = most + 1;
	while (read_entry(&reading, &to)) {
		const struct litifut_graph_block *place = litifut_graph_at(graph, to);

		if (place && place->function == block->function &&
		    place->block.flags & LITIFUT_BLOCK_THUMB &&
		    place->block.flags & LITIFUT_BLOCK_LABEL)
			continue;
		if (!known && is_filler(&reading))
			break;
		return false;
	}
	return known ? reading.number == reading.count : reading.number > 0;
}
