/* Compilers form the address of a label as that of data, and add an entry of a table to it:
 *
 *	static const int table[] = {&&a - &&a, &&b - &&a};
 *	goto *(&&a + table[i]);
 *
 * So a function with such a goto forms the address of a label in itself, which hardly any other
 * does, and that of the table. How long that is is not known, nor how wide its entries are: it is
 * read with each width as long as its entries lead to instructions of the function, and must have
 * the more of them the less each of them says. */
#include "rewriter/formed.h"

#include <elf.h>
#include <stdlib.h>

#include "cpu/step.h"
#include "rewriter/program_code.h"

#define ENTRIES_MOST 1024u
#define ANCHOR_REACH 4096u
#define ENTRIES_LEAST(width) ((width) == 4 ? 2u : (width) == 2 ? 3u : 4u)

struct formed_address {
	uint32_t at; /* where its last part is formed */
	uint32_t address;
};

struct formed {
	const struct litifut_image *image;
	const struct litifut_arch *arch;
	const struct litifut_arch_context *context;
	const struct litifut_section *section;
	const struct litifut_code_range *ranges;
	size_t range_count;
	struct litifut_targets *targets;
	struct litifut_targets *alone; /* of these, what is in no table; or NULL */
	struct litifut_targets labels; /* places of the function at hand where one may be */
	struct formed_address *items;  /* of the section, by `at` */
	size_t count;
	size_t capacity;
	bool failed; /* there is not enough memory */
};

static void take(void *context, uint32_t at, uint32_t address)
{
	struct formed *formed = context;

	if (formed->count == formed->capacity) {
		const size_t capacity = 2 * formed->capacity + 256;
		void *items = realloc(formed->items, capacity * sizeof(*formed->items));

		if (!items) {
			formed->failed = true;
			return;
		}
		formed->items = items;
		formed->capacity = capacity;
	}
	formed->items[formed->count++] = (struct formed_address){at, address};
}

/* The range of the section with the address, or NULL. */
static const struct litifut_code_range *range_at(const struct formed *formed, uint32_t address)
{
	size_t low = 0, high = formed->range_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (formed->ranges[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < formed->range_count && formed->ranges[low].start <= address
		       ? &formed->ranges[low]
		       : NULL;
}

static unsigned step_at(const struct formed *formed, const struct litifut_code_range *range,
			uint32_t address, unsigned *block, struct cpu_step *step)
{
	return formed->arch->cpu->step(&formed->context->cpu,
				       formed->section->bytes +
					       (address - formed->section->address),
				       range->end - address, address, range->state, block, step);
}

/* Does an instruction of the function, in this range of the section, start there, outside of those
 * that another makes conditional? */
static bool is_start(const struct formed *formed, const struct litifut_symbol *function,
		     const struct litifut_code_range *range, uint32_t address)
{
	uint32_t at = function->address > range->start ? function->address : range->start;
	unsigned length = 1, block = 0;
	struct cpu_step step;

	for (; at < address && length; at += length)
		length = step_at(formed, range, at, &block, &step);
	return at == address && !block;
}

/* Is it a place in the midst of a function, where an instruction starts? That is not known of
 * another section. */
static bool is_label(const struct formed *formed, uint32_t address)
{
	const struct litifut_section *section;
	const struct litifut_code_range *range;
	const struct litifut_symbol *function;
	const uint32_t place = address & ~1u;

	if (address < formed->targets->start || address >= formed->targets->end)
		return false;
	section = litifut_image_section_at(formed->image, place, 2);
	function = litifut_image_function_at(formed->image, place);
	if (!section || !litifut_sites_in(section) || !function || function->address == place ||
	    litifut_is_tracer_code(function))
		return false;
	range = section == formed->section ? range_at(formed, place) : NULL;
	return section != formed->section ||
	       (range && range->state != LITIFUT_CODE_DATA &&
		(range->state == LITIFUT_CODE_THUMB || !(address & 1)) &&
		is_start(formed, function, range, place));
}

/* An entry of `width` bytes; those of one byte have a sign or none. */
static uint32_t entry(const struct litifut_image *image, const uint8_t *bytes, unsigned width,
		      bool is_signed)
{
	if (width == 4)
		return litifut_get32(image->file.big_endian, bytes);
	if (width == 2)
		return (uint32_t)(int16_t)litifut_get16(image->file.big_endian, bytes);
	return is_signed ? (uint32_t)(int8_t)*bytes : *bytes;
}

/* The table at `table` of `section`, of `bytes` at most. */
static void add_table(const struct formed *formed, const struct litifut_section *section,
		      uint32_t base, uint32_t table, uint32_t bytes, unsigned width, bool is_signed)
{
	const uint32_t last = section->size - (table - section->address);
	uint32_t count = (bytes < last ? bytes : last) / width;

	if (table % width)
		return;
	count = count < ENTRIES_MOST ? count : ENTRIES_MOST;
	for (unsigned pass = 0; pass < 2; pass++) {
		const uint8_t *at = section->bytes + (table - section->address);
		const uint32_t end = count;

		for (count = 0; count < end; count++, at += width) {
			const uint32_t label = base + entry(formed->image, at, width, is_signed);

			if (label & 1 || !litifut_targets_has(&formed->labels, label))
				break;
			if (pass)
				litifut_targets_add(formed->targets, label);
		}
		if (count < ENTRIES_LEAST(width))
			return;
	}
}

static void add_widths(const struct formed *formed, const struct litifut_section *section,
		       uint32_t base, uint32_t table, uint32_t bytes)
{
	for (unsigned width = 1; width <= 4; width *= 2)
		add_table(formed, section, base, table, bytes, width, true);
	add_table(formed, section, base, table, bytes, 1, false);
}

/* The first symbol of the section behind `address`. */
static size_t first_behind(const struct litifut_image *image, size_t section, uint32_t address)
{
	size_t low = 0, high = image->symbol_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct litifut_symbol *symbol = &image->symbols[middle];

		if (symbol->section < section ||
		    (symbol->section == section && symbol->address <= address))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What stands at `table`, and the data near behind it: compilers may form the address of the first
 * of several objects alone, and have the distance to the others in the instructions that load. */
static void add_near(const struct formed *formed, uint32_t base, uint32_t table)
{
	const struct litifut_image *image = formed->image;
	const struct litifut_section *section = litifut_image_section_at(image, table, 1);
	const struct litifut_code_range *range = range_at(formed, table);
	size_t number;

	if (!section || !section->bytes ||
	    (section->flags & SHF_EXECINSTR && (!range || range->state != LITIFUT_CODE_DATA)))
		return;
	add_widths(formed, section, base, table, UINT32_MAX);
	number = (size_t)(section - image->sections);
	for (size_t i = first_behind(image, number, table);
	     i < image->symbol_count && image->symbols[i].section == number &&
	     image->symbols[i].address - table < ANCHOR_REACH;
	     i++)
		if (image->symbols[i].type == STT_OBJECT)
			add_widths(formed, section, base, image->symbols[i].address,
				   image->symbols[i].size);
}

/* Fills `labels` with the places in the midst of the function where an instruction starts. */
static bool find_labels(struct formed *formed, const struct litifut_symbol *function)
{
	const uint32_t start = function->address;
	const uint32_t end = litifut_image_function_end(formed->image, function);

	if (litifut_targets_create(start, end, &formed->labels, NULL) != LITIFUT_OK)
		return false;
	for (size_t i = 0; i < formed->range_count; i++) {
		const struct litifut_code_range *range = &formed->ranges[i];
		unsigned length = 1, block = 0;
		struct cpu_step step;

		if (range->state == LITIFUT_CODE_DATA)
			continue;
		for (uint32_t at = start > range->start ? start : range->start;
		     at < range->end && at < end && length; at += length) {
			if (at != start && !block)
				litifut_targets_add(&formed->labels, at);
			length = step_at(formed, range, at, &block, &step);
		}
	}
	return true;
}

/* [first, end) are the addresses that one function forms. Each of its labels among them may be the
 * base of each table among them. */
static void add_tables(struct formed *formed, const struct litifut_symbol *function, size_t first,
		       size_t end)
{
	for (size_t i = first; i < end && !formed->failed; i++) {
		const uint32_t base = formed->items[i].address & ~1u;
		size_t before = first;

		if (litifut_image_function_at(formed->image, base) != function ||
		    !is_label(formed, base))
			continue;
		while (before < i && (formed->items[before].address & ~1u) != base)
			before++;
		if (before < i) /* it was the base already */
			continue;
		if (!formed->labels.bits && !find_labels(formed, function)) {
			formed->failed = true;
			break;
		}
		for (size_t j = first; j < end; j++)
			add_near(formed, base, formed->items[j].address);
	}
	litifut_targets_release(&formed->labels);
}

static void add_all(struct formed *formed)
{
	for (size_t first = 0, end; first < formed->count; first = end) {
		const struct litifut_symbol *function =
			litifut_image_function_at(formed->image, formed->items[first].at);

		for (end = first;
		     end < formed->count &&
		     (end == first ||
		      litifut_image_function_at(formed->image, formed->items[end].at) == function);
		     end++) {
			const uint32_t address = formed->items[end].address;

			if (!is_label(formed, address))
				continue;
			litifut_targets_add(formed->targets, address);
			if (formed->alone)
				litifut_targets_add(formed->alone, address);
		}
		if (function)
			add_tables(formed, function, first, end);
	}
}

static enum litifut_status add_formed(const struct litifut_image *image,
				      const struct litifut_arch *arch,
				      const struct litifut_arch_context *context,
				      struct litifut_targets *targets,
				      struct litifut_targets *alone, struct litifut_error *error)
{
	struct formed formed = {.image = image,
				.arch = arch,
				.context = context,
				.targets = targets,
				.alone = alone};
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 1; i < image->section_count && !status; i++) {
		struct litifut_code_range *ranges = NULL;

		if (!litifut_sites_in(&image->sections[i]) ||
		    !LITIFUT_ARCH_GET(arch, flow, form_addresses))
			continue;
		formed.section = &image->sections[i];
		formed.count = 0;
		status = arch->code_ranges(image, formed.section, &ranges, &formed.range_count,
					   error);
		if (!status) {
			formed.ranges = ranges;
			arch->flow->form_addresses(image, context, formed.section, ranges,
						   formed.range_count, take, &formed);
			add_all(&formed);
		}
		free(ranges);
		if (!status && formed.failed)
			status = litifut_error_memory(error, image->path);
	}
	free(formed.items);
	return status;
}

enum litifut_status litifut_formed_add(const struct litifut_image *image,
				       const struct litifut_arch *arch,
				       const struct litifut_arch_context *context,
				       struct litifut_targets *targets, struct litifut_error *error)
{
	return add_formed(image, arch, context, targets, NULL, error);
}

static enum litifut_status add_computed(const struct litifut_image *image,
					const struct litifut_arch *arch,
					struct litifut_targets *targets,
					struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 1; i < image->section_count && !status; i++) {
		const struct litifut_section *section = &image->sections[i];
		struct litifut_code_range *ranges = NULL;
		size_t count = 0;

		if (!litifut_sites_in(section))
			continue;
		status = arch->code_ranges(image, section, &ranges, &count, error);
		for (size_t j = 0; j < count && !status; j++)
			arch->flow->add_computed(image, section, &ranges[j], targets);
		free(ranges);
	}
	return status;
}

enum litifut_status
litifut_formed_labels(const struct litifut_image *image, const struct litifut_arch *arch,
		      const struct litifut_arch_context *context, struct litifut_targets *labels,
		      struct litifut_targets *alone, struct litifut_error *error)
{
	struct litifut_targets formed = {0}, computed = {0};
	enum litifut_status status =
		litifut_targets_create(labels->start, labels->end, &formed, error);

	if (!status)
		status = add_formed(image, arch, context, &formed, alone, error);
	if (!status && LITIFUT_ARCH_GET(arch, flow, add_computed)) {
		status = litifut_targets_create(labels->start, labels->end, &computed, error);
		if (!status)
			status = add_computed(image, arch, &computed, error);
		if (!status)
			litifut_targets_remove(&formed, &computed);
	}
	if (!status)
		litifut_targets_merge(labels, &formed);
	litifut_targets_release(&formed);
	litifut_targets_release(&computed);
	return status;
}
