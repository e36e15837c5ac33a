/* The patterns of LITIFUT_PATTERNS in the flash of a firmware. */
#include <litifut/packed_format.h>
#include <litifut/paths_format.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "cpu/step.h"
#include "elf/sections.h"
#include "rewriter/edges.h"
#include "rewriter/firmware.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/firmware_pass.h"

#define INSTRUCTIONS_MOST 32 /* of the code of an edge that are looked at */
#define NEVER 0xffffffffu    /* no word of a ring */

/* The words that these branches take, as the device makes them: words that are full, and of the
 * rest on AVR those of whole bytes and the others. */
static uint32_t put_bits(const struct litifut_firmware_cpu *cpu, const char *bits, uint32_t *words)
{
	size_t left = strlen(bits);
	uint32_t count = 0;

	while (left) {
		size_t taken = left < cpu->word_bits ? left : cpu->word_bits;
		uint32_t word = LITIFUT_PATHS_NONE;

		if (taken < cpu->word_bits && taken > cpu->word_step)
			taken -= taken % cpu->word_step;
		for (size_t i = 0; i < taken; i++)
			word = word << 1 | (*bits++ == '1');
		left -= taken;
		if (words)
			words[count] = word;
		count++;
	}
	return count;
}

uint32_t litifut_firmware_patterns_words(const struct litifut_firmware_cpu *cpu,
					 const struct litifut_firmware_options *options)
{
	uint32_t count = options->pattern_unit_count ? 1 : 0;

	for (size_t i = 0; i < options->pattern_unit_count; i++)
		count += 1 + options->pattern_units[i].begins +
			 put_bits(cpu, options->pattern_units[i].bits, NULL);
	return count;
}

/* What the code of the edge records: half of the address behind its call. 0: it has none. */
static uint32_t recorded_by(const struct litifut_firmware_pass *pass, uint32_t at)
{
	const struct litifut_symbol *enter =
		litifut_image_symbol(&pass->image, "litifut_bits_enter");
	const struct litifut_section *section = litifut_image_section_at(&pass->image, at, 4);
	unsigned conditional = 0;

	for (unsigned i = 0; i < INSTRUCTIONS_MOST && enter && section && section->bytes; i++) {
		struct cpu_step step = {0};
		const uint32_t left = section->address + section->size - at;
		const unsigned length = pass->arch.cpu->step(
			&pass->context.cpu, section->bytes + (at - section->address), left, at,
			pass->cpu->state, &conditional, &step);

		at += length;
		if (step.way == LITIFUT_ENDS_CALL && (step.target & ~1u) == enter->address)
			return at >> 1;
		if (!length || left <= length)
			break;
	}
	return 0;
}

/* The word that the device records when control comes to the block. */
static uint32_t record_of(const struct litifut_firmware_pass *pass,
			  const struct litifut_pattern_unit *unit)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, unit->function);
	const struct litifut_graph_block *block =
		symbol ? litifut_graph_at(&pass->session.edges->graph,
					  symbol->address + unit->offset)
		       : NULL;
	uint32_t value = 0;

	/* a branch at the start of its block may record that as well */
	for (size_t i = 0; i < pass->sites.count && block && !value; i++) {
		const struct litifut_site *site = &pass->sites.items[i].site;

		if (site->reason == LITIFUT_SITE_PATCHED && site->exit &&
		    site->address - block->block.start < block->block.end - block->block.start)
			value = recorded_by(pass, site->exit & ~1u);
	}
	return value ? LITIFUT_PATHS_RECORD | value : NEVER;
}

enum litifut_status litifut_firmware_patterns_write(struct litifut_firmware_pass *pass,
						    struct litifut_error *error)
{
	const struct litifut_firmware_options *options = pass->options;
	const struct litifut_symbol *symbol =
		litifut_image_symbol(&pass->image, LITIFUT_FIRMWARE_PATTERNS);
	const uint32_t count = litifut_firmware_patterns_words(pass->cpu, options);
	uint32_t *words, at = 0, begin = 0, longest = 0;
	uint8_t *bytes;

	if (!count)
		return LITIFUT_OK;
	if (!symbol || symbol->size < 4 * count)
		return litifut_firmware_missing(pass, LITIFUT_FIRMWARE_PATTERNS, error);
	words = calloc(count, sizeof(*words));
	bytes = calloc(count, sizeof(*words));
	if (!words || !bytes) {
		free(words);
		free(bytes);
		return litifut_error_memory(error, pass->image.path);
	}
	for (size_t i = 0; i < options->pattern_unit_count; i++) {
		const struct litifut_pattern_unit *unit = &options->pattern_units[i];

		if (unit->begins)
			begin = at++;
		words[at++] = record_of(pass, unit);
		at += put_bits(pass->cpu, unit->bits, words + at);
		words[begin] = at - begin - 1;
		longest = words[begin] > longest ? words[begin] : longest;
	}
	for (uint32_t i = 0; i < count; i++)
		litifut_put32(pass->image.file.big_endian, bytes + 4 * (size_t)i, words[i]);
	const bool changed = litifut_firmware_change(pass, symbol->address, bytes, 4 * count);

	free(words);
	free(bytes);
	/* the device counts the words of a buffer in a byte */
	if (longest > LITIFUT_PACKED_PATTERN_WORDS)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_PATTERNS: a pattern has %u words, and may have "
					 "%u: mine it anew",
					 longest, LITIFUT_PACKED_PATTERN_WORDS);
	return changed ? LITIFUT_OK
		       : litifut_firmware_missing(pass, LITIFUT_FIRMWARE_PATTERNS, error);
}
