/* An unwinder has no entry for code that was moved, so an exception that a handler throws out of a
 * fault in such code ends the program. The runtimes of Go and Ada throw so, and are known by their
 * names. In C++ it needs the option -fnon-call-exceptions: what such code leaves in exception
 * tables and in debugging information shows it. */
#include "rewriter/fault_throws.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/dynamic_symbols.h"

/* Has the image a symbol with this name, or does it import one? */
static bool names(const struct litifut_image *image, const char *name)
{
	const struct litifut_section *symbols = litifut_image_section(image, ".dynsym");

	for (uint32_t i = 1; symbols && i < symbols->size / sizeof(Elf32_Sym); i++)
		if (!strcmp(litifut_dynamic_name(image, symbols, i), name))
			return true;
	return litifut_image_symbol(image, name) != NULL;
}

/* What is asked of each record. */
struct search {
	const struct litifut_image *image;
	const struct litifut_arch *arch;
	const struct litifut_arch_context *context;
	const struct litifut_section *section; /* of the last record */
	struct litifut_code_range *ranges;     /* of this section */
	size_t range_count;
	/* By encoding: an instruction that is alone in a record, and whether there has been one. */
	uint8_t alone[2][8];
	unsigned alone_bytes[2];
	bool found;
};

/* What a part of a record, in code of one kind, holds. */
struct part {
	uint32_t start;
	uint32_t end;
	enum litifut_code_state state;
	unsigned instructions;
	bool may_call;
};

/* Linkers make an instruction that does nothing of the call of a weak function that is nowhere,
 * always the same one: only if two differ there is another one. */
static bool is_another(struct search *search, const struct part *part)
{
	const unsigned state = part->state == LITIFUT_CODE_THUMB;
	const uint8_t *code = search->section->bytes + (part->start - search->section->address);
	const unsigned bytes = part->end - part->start;

	if (bytes > sizeof(search->alone[state]))
		return true;
	if (!search->alone_bytes[state]) {
		memcpy(search->alone[state], code, bytes);
		search->alone_bytes[state] = bytes;
	}
	return search->alone_bytes[state] != bytes || memcmp(search->alone[state], code, bytes);
}

/* Calls, and the jumps that may be tail calls, throw in all C++ code. What can't be decoded is
 * taken for a call. */
static void read_part(const struct search *search, struct part *part)
{
	const struct cpu *cpu = search->arch->cpu;
	unsigned length;

	for (uint32_t at = part->start; at < part->end && !part->may_call; at += length) {
		const uint8_t *code = search->section->bytes + (at - search->section->address);
		struct litifut_instruction instruction = {0};

		length = cpu->decode(&search->context->cpu, code, part->end - at, at, part->state,
				     &instruction);
		part->may_call = !length || instruction.class != LITIFUT_CLASS_OTHER;
		part->instructions++;
	}
}

static bool enter_section(struct search *search, uint32_t start, uint32_t end)
{
	const struct litifut_section *section =
		end >= start ? litifut_image_section_at(search->image, start, end - start) : NULL;

	if (!section || !(section->flags & SHF_EXECINSTR))
		return false;
	if (section != search->section) {
		free(search->ranges);
		search->ranges = NULL;
		search->range_count = 0;
		search->section = section;
		if (search->arch->code_ranges(search->image, section, &search->ranges,
					      &search->range_count, NULL))
			search->range_count = 0;
	}
	return true;
}

/* The first range that ends behind `address`. */
static size_t range_at(const struct search *search, uint32_t address)
{
	size_t low = 0;

	for (size_t high = search->range_count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (search->ranges[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* A record with no call in it is what -fnon-call-exceptions leaves: of a load or a store, or of the
 * instructions that make a function's frame, some of which have no bytes. */
static void look_for_calls(void *context, uint32_t start, uint32_t end, uint32_t pad)
{
	struct search *search = context;

	(void)pad;
	if (search->found || !enter_section(search, start, end))
		return;
	for (size_t i = range_at(search, start);
	     i < search->range_count && search->ranges[i].start < end; i++) {
		const struct litifut_code_range *range = &search->ranges[i];
		struct part part = {
			.start = range->start > start ? range->start : start,
			.end = range->end < end ? range->end : end,
			.state = range->state,
		};

		if (part.state == LITIFUT_CODE_DATA)
			continue;
		read_part(search, &part);
		if (part.may_call || (part.instructions == 1 && !is_another(search, &part)))
			return;
	}
	search->found = true;
}

/* GCC's debugging information has the options of each file: a string that begins with the
 * language. C is not asked for, as parts of libgcc are compiled with this option. */
static bool option_is_recorded(const struct litifut_image *image)
{
	static const char option[] = " -fnon-call-exceptions";
	static const char *const languages[] = {"GNU C++", "GNU GIMPLE"};
	const struct litifut_section *strings = litifut_image_section(image, ".debug_str");
	const uint8_t *at = strings ? strings->bytes : NULL;
	const uint8_t *end = at ? at + strings->size : NULL;

	while (at && (at = memmem(at, (size_t)(end - at), option, sizeof(option) - 1))) {
		const uint8_t *text = at;

		while (text > strings->bytes && text[-1])
			text--;
		for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++)
			if (!strncmp((const char *)text, languages[i], strlen(languages[i])))
				return true;
		at += sizeof(option) - 1;
	}
	return false;
}

const char *litifut_throws_from_handlers(const struct litifut_image *image,
					 const struct litifut_arch *arch,
					 const struct litifut_arch_context *context)
{
	struct search search = {.image = image, .arch = arch, .context = context};

	if (names(image, "__gccgo_personality_v0") || names(image, "__gnat_personality_v0"))
		return "its code in Go or Ada throws exceptions out of handlers of faults, "
		       "which can't be done from code that was moved";
	search.found = option_is_recorded(image);
	if (!search.found && LITIFUT_ARCH_GET(arch, flow, landing_pads))
		arch->flow->landing_pads(image, look_for_calls, &search);
	free(search.ranges);
	return search.found ? "it has code that was compiled with -fnon-call-exceptions, which "
			      "can't catch exceptions from code that was moved"
			    : NULL;
}
