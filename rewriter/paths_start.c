/* What is known of the paths of a program before anything is left: where its code can be entered
 * from outside, and what returns more than once. */
#include <elf.h>
#include <stdlib.h>

#include "cpu/step.h"
#include "platform/platform.h"
#include "rewriter/paths.h"
#include "rewriter/program_code.h"
#include "rewriter/twice.h"

static void add_range(struct litifut_paths *paths, const struct litifut_section *section,
		      const struct litifut_code_range *range)
{
	const struct litifut_session *session = paths->session;
	struct cpu_step step;
	unsigned conditional = 0;
	unsigned length = 1;

	for (uint32_t at = range->start; at < range->end && length; at += length) {
		length = session->arch->cpu->step(
			&session->context.cpu, section->bytes + (at - section->address),
			range->end - at, at, range->state, &conditional, &step);
		if (length && step.target && !litifut_graph_with(paths->graph, at))
			litifut_targets_add(&paths->reached, step.target);
	}
}

/* Where what the tracer has at `address` ends: the program's data may follow in the same range. */
static uint32_t end_of_tracer(const struct litifut_image *image, uint32_t address)
{
	const struct litifut_symbol *function;
	uint32_t end;

	while ((function = litifut_image_function_at(image, address)) && function->own) {
		end = litifut_image_function_end(image, function);
		for (size_t i = 0; i < image->symbol_count && !function->size; i++) {
			const struct litifut_symbol *symbol = &image->symbols[i];

			if (!symbol->own && !symbol->mapping && symbol->address > address &&
			    symbol->address < end)
				end = symbol->address;
		}
		if (end <= address)
			break;
		address = end;
	}
	return address;
}

/* Removes what is the tracer's from the ranges, as it forms no address of the program's code:
 * literals of it that happen to be near would make functions look as if a pointer led to them.
 * Returns how many stay. */
static size_t leave_tracer(const struct litifut_image *image, struct litifut_code_range *ranges,
			   size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		const uint32_t start = end_of_tracer(image, ranges[i].start);

		if (start >= ranges[i].end)
			continue;
		ranges[left] = ranges[i];
		ranges[left++].start = start;
	}
	return left;
}

/* Where code that is not in the graph leads, and the addresses that all code forms. */
static enum litifut_status add_code(struct litifut_paths *paths,
				    const struct litifut_called *called,
				    struct litifut_error *error)
{
	const struct litifut_session *session = paths->session;
	const struct litifut_image *image = &session->image;
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 1; i < image->section_count && !status; i++) {
		const struct litifut_section *section = &image->sections[i];
		struct litifut_code_range *ranges = NULL;
		size_t count = 0;

		if (!(section->flags & SHF_EXECINSTR) || !section->bytes)
			continue;
		status = session->arch->code_ranges(image, section, &ranges, &count, error);
		for (size_t j = 0; j < count && !status; j++)
			if (ranges[j].state == LITIFUT_CODE_PLAIN ||
			    ranges[j].state == LITIFUT_CODE_THUMB)
				add_range(paths, section, &ranges[j]);
		if (!status && paths->add_addresses)
			paths->add_addresses(image, &session->context, section, ranges,
					     leave_tracer(image, ranges, count), called,
					     &paths->outer);
		free(ranges);
	}
	return status;
}

/* What the dynamic linker calls when the module is loaded and when it goes. */
static void add_first_and_last(struct litifut_paths *paths)
{
	const struct litifut_image *image = &paths->session->image;
	const struct litifut_section *dynamic = litifut_image_section(image, ".dynamic");

	for (uint32_t at = 0; dynamic && dynamic->bytes && at + 8 <= dynamic->size; at += 8) {
		const uint32_t tag = litifut_get32(image->file.big_endian, dynamic->bytes + at);

		if (tag == DT_INIT || tag == DT_FINI)
			litifut_targets_add(&paths->outer, litifut_get32(image->file.big_endian,
									 dynamic->bytes + at + 4));
	}
}

/* What other modules may call, and what the C library and the dynamic linker do. */
static void add_exports(struct litifut_paths *paths)
{
	const struct litifut_image *image = &paths->session->image;
	const struct litifut_section *symbols = litifut_image_section(image, ".dynsym");

	for (uint32_t at = 0; symbols && symbols->bytes && at + sizeof(Elf32_Sym) <= symbols->size;
	     at += sizeof(Elf32_Sym)) {
		const uint8_t *symbol = symbols->bytes + at;

		if (litifut_get16(image->file.big_endian, symbol + offsetof(Elf32_Sym, st_shndx)) !=
		    SHN_UNDEF)
			litifut_targets_add(&paths->outer,
					    litifut_get32(image->file.big_endian,
							  symbol + offsetof(Elf32_Sym, st_value)));
	}
	add_first_and_last(paths);
	litifut_targets_add(&paths->outer, image->file.entry);
	for (size_t i = 0; i < image->function_count; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];

		/* _init, _start and others that are reached by entries of .dynamic */
		if (function->name[0] == '_' && function->binding != STB_LOCAL)
			litifut_targets_add(&paths->outer, function->address);
	}
}

static void find_callers_of_twice(struct litifut_paths *paths)
{
	const struct litifut_session *session = paths->session;
	const struct litifut_graph_block *items = paths->graph->items;

	for (size_t first = 0, end; first < paths->graph->count; first = end) {
		for (end = first + 1;
		     end < paths->graph->count && items[end].function == items[first].function;)
			end++;
		paths->calls_twice[items[first].function] = paths->may_call(
			&session->image, &session->context,
			&session->image.sections[items[first].section], items[first].block.start,
			items[end - 1].block.end, 0, litifut_returns_twice, &paths->twice);
	}
}

/* Those whose returns lead elsewhere end in code that is not known. */
static void find_elsewhere(struct litifut_paths *paths)
{
	const struct litifut_image *image = &paths->session->image;

	for (size_t i = 0; i < image->function_count; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];
		const struct litifut_graph_block *block;

		if (!platform_lists(litifut_returns_elsewhere, function->name) &&
		    !(paths->session->context.system &&
		      platform_lists(litifut_unwinds, function->name)))
			continue;
		/* the same function may have several symbols */
		block = litifut_graph_at(paths->graph, function->address & ~1u);
		if (block)
			paths->ends[block->function] = 1;
	}
}

enum litifut_status litifut_paths_start(const struct litifut_session *session,
					struct litifut_graph *graph,
					litifut_add_addresses *add_addresses,
					litifut_may_call *may_call,
					const struct litifut_called *called,
					struct litifut_paths *paths, struct litifut_error *error)
{
	const struct litifut_image *image = &session->image;
	struct litifut_pointers pointers = session->context.pointers;
	enum litifut_status status;

	pointers.called = called->words;
	pointers.called_start = called->start;
	pointers.called_end = called->end;

	*paths = (struct litifut_paths){.session = session,
					.graph = graph,
					.add_addresses = add_addresses,
					.may_call = may_call};
	paths->left = calloc(graph->count + 1, 1);
	paths->later = calloc(graph->count + 1, 1);
	paths->wanted = calloc(graph->count + 1, 1);
	paths->ends = calloc(image->symbol_count + 2, 1);
	paths->calls_twice = calloc(image->symbol_count + 2, 1);
	if (!paths->left || !paths->later || !paths->wanted || !paths->ends || !paths->calls_twice)
		return litifut_error_memory(error, image->path);
	status = litifut_targets_create(image->text_start, image->text_end, &paths->outer, error);
	if (!status)
		status = litifut_targets_create(image->text_start, image->text_end, &paths->reached,
						error);
	if (status)
		return status;
	litifut_spawners_named(image, &session->arch->cpu->linkage, litifut_returns_twice, true,
			       &paths->twice);
	if (paths->twice.used && may_call)
		find_callers_of_twice(paths);
	find_elsewhere(paths);
	litifut_targets_add_pointers(&paths->outer, image, &pointers);
	if (session->context.offset_base)
		litifut_targets_add_offsets(&paths->outer, image, &pointers,
					    session->context.offset_base);
	add_exports(paths);
	if (LITIFUT_ARCH_GET(session->arch, flow, add_personalities))
		session->arch->flow->add_personalities(image, &paths->outer);
	return add_code(paths, called, error);
}

void litifut_paths_release(struct litifut_paths *paths)
{
	litifut_targets_release(&paths->outer);
	litifut_targets_release(&paths->reached);
	free(paths->left);
	free(paths->later);
	free(paths->wanted);
	free(paths->ends);
	free(paths->calls_twice);
}
