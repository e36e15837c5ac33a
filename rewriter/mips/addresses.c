/* Which addresses code makes, for LITIFUT_MODE=paths: a function may be entered by these from code
 * that can't be followed.
 *
 *	lui   rX, %hi(f)	or, position-independent, lw rX, %got(page)(gp)
 *	addiu rY, rX, %lo(f)
 *
 * The two may stand far from each other, with others between, so each of a function's low halves is
 * added to each of its high halves. What the GOT holds itself is data, and looked at as such. */
#include "rewriter/mips/mips.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/mips/called.h"
#include "rewriter/program_code.h"
#include "rewriter/spawners.h"

enum { ADDIU = 0x09, ORI = 0x0d, LUI = 0x0f, LW = 0x23, GP = 28, SP = 29 };

#define HALF 0x10000u

#define ALL_PAGES 0x10000u

/* The multiples of 64 KB, by number and ascending, from which a low half can lead to code, and
 * which of them are among the high halves. */
struct pages {
	const uint32_t *numbers;
	uint32_t count;
	bool *have;
};

static uint32_t *pages_of_code(const struct litifut_image *image, uint32_t *count)
{
	bool *found = calloc(ALL_PAGES, sizeof(*found));
	uint32_t *numbers = calloc(ALL_PAGES, sizeof(*numbers));

	*count = 0;
	for (size_t i = 1; i < image->section_count && found && numbers; i++) {
		const struct litifut_section *section = &image->sections[i];
		const uint64_t end = (uint64_t)section->address + section->size + HALF / 2;

		if (litifut_sites_in(section))
			for (uint64_t page = section->address / HALF; page * HALF < end; page++)
				found[page % ALL_PAGES] = true;
	}
	for (uint32_t page = 0; page < ALL_PAGES && found && numbers; page++)
		if (found[page])
			numbers[(*count)++] = page;
	if (!found) {
		free(numbers);
		numbers = NULL;
	}
	free(found);
	return numbers;
}

static uint32_t word_at(const struct litifut_arch_context *context,
			const struct litifut_section *section, uint32_t address)
{
	return litifut_get32(context->cpu.big_endian,
			     section->bytes + (address - section->address));
}

static void add_page(struct pages *pages, uint32_t value)
{
	const uint32_t number = value / HALF;
	uint32_t low = 0, high = pages->count;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (pages->numbers[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < pages->count && pages->numbers[low] == number)
		pages->have[low] = true;
}

/* By the pointer of the whole image: of several, each entry is taken for a page. */
static void add_loaded(const struct litifut_image *image,
		       const struct litifut_arch_context *context, uint32_t word,
		       struct pages *pages)
{
	const struct litifut_mips_facts *facts = litifut_mips_facts(context);
	const uint32_t slot = facts->global_pointer + (uint32_t)(int16_t)(word & 0xffff);
	const struct litifut_section *section;

	if (!facts->global_pointer)
		return;
	if (!facts->got.alone) {
		memset(pages->have, true, pages->count);
		return;
	}
	if (slot & 3 || slot - facts->got.address >= facts->got.end - facts->got.address)
		return;
	section = litifut_image_section_at(image, slot, 4);
	if (section && section->bytes)
		add_page(pages, litifut_get32(context->cpu.big_endian,
					      section->bytes + (slot - section->address)));
}

static void add_pages(const struct litifut_image *image, const struct litifut_arch_context *context,
		      const struct litifut_section *section, uint32_t start, uint32_t end,
		      struct pages *pages)
{
	for (uint32_t at = start; at < end; at += 4) {
		const uint32_t word = word_at(context, section, at);

		if (word >> 26 == LUI)
			add_page(pages, word << 16);
		else if (word >> 26 == LW && (word >> 21 & 31) != SP)
			add_loaded(image, context, word, pages);
	}
}

/* The page that the sum at `at` is formed with, if code before it shows that with no branch and no
 * label between; false: it may be any. The delay slot of a branch may not have been executed. */
static bool find_page(const struct litifut_image *image, const struct litifut_arch_context *context,
		      const struct litifut_graph *graph, const struct litifut_section *section,
		      uint32_t start, uint32_t at, uint32_t *page)
{
	const struct litifut_mips_facts *facts = litifut_mips_facts(context);
	const unsigned base = word_at(context, section, at) >> 21 & 31;

	while (at > start && !litifut_targets_has(&graph->targets, at)) {
		const uint32_t word = word_at(context, section, at -= 4);
		const uint32_t slot = facts->global_pointer + (uint32_t)(int16_t)(word & 0xffff);
		const struct litifut_section *table;

		if (litifut_mips_may_jump(word) ||
		    (at > start && litifut_mips_is_likely(word_at(context, section, at - 4))))
			return false;
		*page = word << 16;
		if (word >> 16 == (LUI << 10 | base))
			return true;
		if (word >> 16 == (LW << 10 | GP << 5 | base)) {
			table = facts->got.alone && !(slot & 3)
					? litifut_image_section_at(image, slot, 4)
					: NULL;
			*page = table && table->bytes ? word_at(context, table, slot) : 0;
			return table && table->bytes &&
			       slot - facts->got.address < 4 * facts->got.local;
		}
		if ((word >> 16 & 31) == base || (word >> 11 & 31) == base)
			return false;
	}
	return false;
}

/* Without `called` all sums, else those that are starts of functions. */
static void add_sums(const struct litifut_image *image, const struct litifut_arch_context *context,
		     const struct litifut_section *section, uint32_t start, uint32_t end,
		     const struct pages *pages, const struct litifut_called *called,
		     struct litifut_targets *targets)
{
	for (uint32_t at = start; at < end; at += 4) {
		const uint32_t word = word_at(context, section, at);
		const uint32_t low =
			word >> 26 == ORI ? word & 0xffff : (uint32_t)(int16_t)(word & 0xffff);
		uint32_t only = 0;
		bool known;

		if ((word >> 26 != ADDIU && word >> 26 != ORI) || !(word >> 21 & 31) ||
		    (word >> 21 & 31) == SP || low & 3)
			continue;
		known = called && called->words &&
			find_page(image, context, called->graph, section, start, at, &only);
		for (uint32_t i = 0; i < pages->count; i++) {
			const uint32_t sum = (known ? only : pages->numbers[i] * HALF) + low;

			if (!pages->have[i])
				continue;
			if (!called || !called->words)
				litifut_targets_add(targets, sum);
			else if (litifut_image_function_start(image, sum) &&
				 !litifut_targets_has(targets, sum)) {
				const uint32_t callee = litifut_mips_called_by_sum(
					context, called->graph, section, at);

				if (callee && (callee - sum) % HALF == 0 &&
				    (!known || callee == sum))
					break;
				litifut_targets_add(targets, sum);
			}
		}
	}
}

/* Behind the code of the function that `start` is in, or the end of the range. */
static uint32_t function_end(const struct litifut_image *image, uint32_t start, uint32_t end)
{
	const size_t next = litifut_image_functions_below(image, start + 1);

	return next < image->function_count && image->function_addresses[next] < end
		       ? image->function_addresses[next] & ~3u
		       : end;
}

/* The compiler may have put it far from the rest of its function, which has set registers. */
static bool is_part(const struct litifut_image *image, uint32_t start)
{
	const struct litifut_symbol *function = litifut_image_function_start(image, start);

	return !function || strstr(function->name, ".cold");
}

/* Of the functions in the range: `parts` false: those that are whole, whose pages are added to
 * `all`; true: the parts, once the pages of all code are known. */
static void add_range(const struct litifut_image *image, const struct litifut_arch_context *context,
		      const struct litifut_section *section, const struct litifut_code_range *range,
		      bool parts, struct pages *own, struct pages *all,
		      const struct litifut_called *called, struct litifut_targets *targets)
{
	const uint32_t last = range->end & ~3u;

	for (uint32_t at = range->start & ~3u, end; at < last; at = end) {
		const bool part = is_part(image, at);

		end = function_end(image, at, last);
		if (end <= at)
			end = at + 4;
		if (part && parts)
			add_sums(image, context, section, at, end, all, called, targets);
		if (parts)
			continue;
		memset(own->have, false, own->count);
		add_pages(image, context, section, at, end, own);
		for (uint32_t i = 0; i < own->count; i++)
			all->have[i] |= own->have[i];
		if (!part)
			add_sums(image, context, section, at, end, own, called, targets);
	}
}

void litifut_mips_add_addresses(const struct litifut_image *image,
				const struct litifut_arch_context *context,
				const struct litifut_section *section,
				const struct litifut_code_range *ranges, size_t count,
				const struct litifut_called *called,
				struct litifut_targets *targets)
{
	uint32_t page_count;
	uint32_t *numbers = pages_of_code(image, &page_count);
	struct pages all = {numbers, page_count, calloc(page_count + 1, sizeof(bool))};
	struct pages own = {numbers, page_count, calloc(page_count + 1, sizeof(bool))};
	const bool has_memory = numbers && all.have && own.have;

	for (unsigned parts = 0; parts < 2 && has_memory; parts++)
		for (size_t i = 0; i < count; i++)
			if (ranges[i].state == LITIFUT_CODE_PLAIN)
				add_range(image, context, section, &ranges[i], parts, &own, &all,
					  called, targets);
	if (!has_memory) /* without memory: every place may be one */
		for (uint32_t at = image->text_start; at < image->text_end; at += 4)
			litifut_targets_add(targets, at);
	free(numbers);
	free(all.have);
	free(own.have);
}

#define JR_AT 0x00200008u

enum { AT = 1, WORDS_BACK = 8 };

/* The last word before `*at` that is not `nop`, and where it stands; 0: `start` comes first. */
static uint32_t word_before(const struct litifut_arch_context *context,
			    const struct litifut_section *section, uint32_t start, uint32_t *at)
{
	for (unsigned i = 0; i < WORDS_BACK && *at - start >= 4; i++) {
		uint32_t word;

		*at -= 4;
		word = word_at(context, section, *at);
		if (word)
			return word;
	}
	return 0;
}

/* What an assembler makes of a branch that is too far:
 *
 *	lw    at, N(sp)		where a function keeps its global pointer; else from gp
 *	lw    at, %got(target)(at)	or lui at, %hi(target)
 *	addiu at, at, %lo(target)
 *	jr    at
 */
static uint32_t formed_target(const struct litifut_image *image,
			      const struct litifut_arch_context *context,
			      const struct litifut_section *section,
			      const struct litifut_symbol *function, uint32_t address)
{
	struct litifut_function_facts facts = {0};
	const struct litifut_section *table;
	uint32_t low = word_before(context, section, function->address, &address);
	uint32_t word, slot;

	if (low >> 16 != (ADDIU << 10 | AT << 5 | AT))
		return 0;
	low = (uint32_t)(int16_t)(low & 0xffff);
	word = word_before(context, section, function->address, &address);
	if (word >> 16 == (LUI << 10 | AT))
		return (word << 16) + low;
	if (word >> 26 != LW || (word >> 16 & 31) != AT)
		return 0;
	slot = (uint32_t)(int16_t)(word & 0xffff);
	if ((word >> 21 & 31) == AT) {
		word = word_before(context, section, function->address, &address);
		if (word >> 26 != LW || (word >> 16 & 31) != AT)
			return 0;
	} else if ((word >> 21 & 31) != GP) {
		return 0;
	}
	litifut_mips_function_pointer(image, context, section, function->address,
				      litifut_image_function_end(image, function), &facts);
	slot += facts.pointer;
	table = facts.pointer && !(slot & 3) ? litifut_image_section_at(image, slot, 4) : NULL;
	return table && table->bytes ? word_at(context, table, slot) + low : 0;
}

uint32_t litifut_mips_far_target(const struct litifut_image *image,
				 const struct litifut_arch_context *context,
				 const struct litifut_section *section, uint32_t address)
{
	const struct litifut_symbol *function;
	uint32_t target;

	if (word_at(context, section, address) != JR_AT)
		return 0;
	function = litifut_image_function_at(image, address);
	if (!function || function->address < section->address)
		return 0;
	target = formed_target(image, context, section, function, address);
	/* a branch stays in its function */
	return !(target & 3) && target - function->address < function->size ? target : 0;
}

void litifut_mips_add_targets(const struct litifut_image *image,
			      const struct litifut_arch_context *context,
			      const struct litifut_section *section,
			      const struct litifut_code_range *ranges, size_t count,
			      struct litifut_targets *targets)
{
	for (size_t i = 0; i < count; i++)
		for (uint32_t at = ranges[i].start;
		     ranges[i].state == LITIFUT_CODE_PLAIN && at + 4 <= ranges[i].end; at += 4) {
			const uint32_t target =
				litifut_mips_far_target(image, context, section, at);

			if (target)
				litifut_targets_add(targets, target);
		}
}

/* Of the GOT's words, the linker fills the local ones with multiples of 64 KB, and with addresses
 * of symbols. Of several GOTs only the first shows which these are. */
void litifut_mips_find_pages(const struct litifut_image *image,
			     struct litifut_arch_context *context, struct litifut_mips_facts *facts)
{
	struct litifut_targets formed = {0};
	enum litifut_status status = LITIFUT_OK;

	if (!facts->got.alone || facts->got.local <= 2)
		return;
	status = litifut_targets_create(image->text_start, image->text_end, &formed, NULL);
	for (size_t i = 1; i < image->section_count && !status; i++) {
		const struct litifut_section *section = &image->sections[i];
		struct litifut_code_range *ranges = NULL;
		size_t count = 0;

		if (!(section->flags & SHF_EXECINSTR) || !section->bytes)
			continue;
		status = litifut_arch_mips.code_ranges(image, section, &ranges, &count, NULL);
		if (!status)
			litifut_mips_add_addresses(image, context, section, ranges, count, NULL,
						   &formed);
		free(ranges);
	}
	for (uint32_t page = 0; page < ALL_PAGES && !status; page++)
		if (litifut_targets_has(&formed, page * HALF))
			facts->pages.formed[page / 8] |= (uint8_t)(1u << page % 8);
	litifut_targets_release(&formed);
	if (status)
		return;
	facts->pages.start = facts->got.address;
	facts->pages.end = facts->got.address + 4 * facts->got.local;
	context->pointers.pages = &facts->pages;
}

/* May the instruction read the register? By its fields, so rather too often. */
static bool may_read(uint32_t word, unsigned number)
{
	return (word >> 21 & 31) == number || (word >> 16 & 31) == number;
}

/* The address is loaded at `at`: the call that it is for, if it is for one alone; else 0. */
static uint32_t call_of(const struct litifut_arch_context *context,
			const struct litifut_section *section, uint32_t at, uint32_t end)
{
	const uint32_t load = word_at(context, section, at);

	if ((load >> 16 & 31) != LITIFUT_MIPS_T9)
		return 0;
	for (at += 4; at + 8 <= end; at += 4) {
		const uint32_t word = word_at(context, section, at);

		if (word == 0x0320f809) /* jalr t9 */
			return may_read(word_at(context, section, at + 4), LITIFUT_MIPS_T9) ? 0
											    : at;
		if (litifut_mips_may_jump(word) || may_read(word, LITIFUT_MIPS_T9))
			return 0;
	}
	return 0;
}

/* Does the GOT lead there? Its global entries are for functions of other modules, by name; the
 * others have addresses of this image, and a static program has no others. */
static bool leads_to(const struct litifut_image *image, const struct litifut_arch_context *context,
		     uint32_t slot, const char *const *names, const struct litifut_spawners *places)
{
	const struct litifut_mips_got *got = &litifut_mips_facts(context)->got;
	const uint32_t index = (slot - got->address) / 4;
	const struct litifut_section *section;

	if (slot < got->address || slot & 3)
		return false;
	if (index >= got->local)
		return index - got->local < got->global &&
		       litifut_spawners_is_named(image, got->first_symbol + (index - got->local),
						 names);
	section = litifut_image_section_at(image, slot, 4);
	return section && section->bytes &&
	       litifut_spawners_has(places, word_at(context, section, slot));
}

bool litifut_mips_may_call(const struct litifut_image *image,
			   const struct litifut_arch_context *context,
			   const struct litifut_section *section, uint32_t start, uint32_t end,
			   uint32_t call, const char *const *names,
			   const struct litifut_spawners *places)
{
	const struct litifut_mips_facts *facts = litifut_mips_facts(context);
	const struct litifut_mips_got *got = &facts->got;

	for (uint32_t at = start; at + 4 <= end && got->address; at += 4) {
		const uint32_t word = word_at(context, section, at);
		const uint32_t slot = facts->global_pointer + (uint32_t)(int16_t)(word & 0xffff);
		uint32_t only;

		if (word >> 26 != LW || (word >> 21 & 31) == SP)
			continue;
		if (!got->alone)
			return true;
		if (!leads_to(image, context, slot, names, places))
			continue;
		only = call_of(context, section, at, end);
		if (!call || !only || only == call)
			return true;
	}
	return false;
}
