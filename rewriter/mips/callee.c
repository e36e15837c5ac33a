/* What does $t9 hold at a call?
 *
 * Position-independent code loads a callee's address from the GOT:
 *
 *	lw    t9, %got(page)(gp)	or the whole of it: %call16(f), %got(f)
 *	addiu t9, t9, %lo(f)		not with those
 *	jalr  t9
 *
 * Clang takes another register than $t9 before the last step, and another one than $gp.
 * held.c follows what $t9 holds back to the load. Where the entry of the
 * GOT is one that the dynamic linker fills with an address in this very image, the
 * callee is known. Such are the local entries, and in an executable those of symbols
 * that it defines itself: it comes first in the order in which they are looked up. */
#include <elf.h>

#include "rewriter/mips/held.h"
#include "rewriter/mips/mips.h"
#include "rewriter/program_code.h"

enum { SP = 29, LW = 0x23, SW = 0x2b, RESERVED = 2, SYMBOL_BYTES = 16 };

static uint32_t tag_value(const struct litifut_image *image, const struct litifut_section *dynamic,
			  uint32_t wanted)
{
	for (uint32_t at = 0; at + 8 <= dynamic->size; at += 8) {
		uint32_t tag = litifut_get32(image->file.big_endian, dynamic->bytes + at);

		if (tag == DT_NULL)
			break;
		if (tag == wanted)
			return litifut_get32(image->file.big_endian, dynamic->bytes + at + 4);
	}
	return 0;
}

static uint32_t word_at(const struct litifut_arch_context *context,
			const struct litifut_section *section, uint32_t address)
{
	return litifut_get32(context->cpu.big_endian,
			     section->bytes + (address - section->address));
}

/* A large image has several GOTs, each with its own pointer. */
static bool has_one_pointer(const struct litifut_image *image,
			    const struct litifut_arch_context *context)
{
	for (size_t i = 0; i < image->function_count; i++) {
		struct litifut_mips_pointer pointer;

		if (litifut_mips_has_pointer(image, context, image->function_addresses[i],
					     &pointer) &&
		    pointer.value != litifut_mips_facts(context)->global_pointer)
			return false;
	}
	return true;
}

void litifut_mips_find_got(const struct litifut_image *image,
			   const struct litifut_arch_context *context,
			   struct litifut_mips_facts *facts)
{
	const struct litifut_section *dynamic = litifut_image_section(image, ".dynamic");
	const struct litifut_section *tables = litifut_image_section(image, ".got");
	struct litifut_mips_got *got = &facts->got;

	if (!tables || !tables->bytes || !litifut_mips_facts(context)->global_pointer)
		return;
	got->address = tables->address;
	got->end = tables->address + tables->size;
	if (dynamic && dynamic->bytes) {
		uint32_t symbols = tag_value(image, dynamic, DT_MIPS_SYMTABNO);

		got->address = tag_value(image, dynamic, DT_PLTGOT);
		got->local = tag_value(image, dynamic, DT_MIPS_LOCAL_GOTNO);
		got->first_symbol = tag_value(image, dynamic, DT_MIPS_GOTSYM);
		got->global = symbols > got->first_symbol ? symbols - got->first_symbol : 0;
	} else if (image->file.type == ET_EXEC) {
		got->local = tables->size / 4; /* it is not filled at run time */
	}
	got->alone = has_one_pointer(image, context);
}

/* The address that the symbol of a global entry will have in any process. */
static uint32_t own_symbol(const struct litifut_image *image,
			   const struct litifut_arch_context *context, uint32_t index)
{
	const struct litifut_section *symbols = litifut_image_section(image, ".dynsym");

	if (image->file.type == ET_DYN && !image->has_interpreter)
		return 0;
	if (!symbols || !symbols->bytes || index >= symbols->size / SYMBOL_BYTES)
		return 0;
	const uint8_t *symbol = symbols->bytes + index * SYMBOL_BYTES;

	return (symbol[12] & 15) == STT_FUNC &&
			       litifut_get16(context->cpu.big_endian, symbol + 14) != SHN_UNDEF
		       ? litifut_get32(context->cpu.big_endian, symbol + 4)
		       : 0;
}

/* The lazy stub of a function in another module whose entry is at `address`, which names it; 0:
 * there is none. */
static uint32_t stub_of(const struct litifut_image *image,
			const struct litifut_arch_context *context, uint32_t address)
{
	const struct litifut_mips_got *got = &litifut_mips_facts(context)->got;
	const struct litifut_section *symbols = litifut_image_section(image, ".dynsym");
	const uint32_t index = (address - got->address) / 4;
	const uint32_t number = got->first_symbol + (index - got->local);
	const uint8_t *symbol;

	if (!got->address || address < got->address || index < got->local ||
	    index - got->local >= got->global || !symbols || !symbols->bytes ||
	    number >= symbols->size / SYMBOL_BYTES)
		return 0;
	symbol = symbols->bytes + number * SYMBOL_BYTES;
	return litifut_get16(context->cpu.big_endian, symbol + 14) == SHN_UNDEF
		       ? litifut_get32(context->cpu.big_endian, symbol + 4)
		       : 0;
}

/* What the dynamic linker leaves in the entry at `address`, as far as that is an
 * address in this image, at link time; 0: not known. */
static uint32_t got_entry(const struct litifut_image *image,
			  const struct litifut_arch_context *context, uint32_t address)
{
	const struct litifut_mips_got *got = &litifut_mips_facts(context)->got;
	const struct litifut_section *section = litifut_image_section_at(image, address, 4);
	uint32_t index = (address - got->address) / 4;

	if (!got->address || !section || address < got->address || address & 3 || index < RESERVED)
		return 0;
	if (index < got->local)
		return word_at(context, section, address);
	if (index - got->local < got->global)
		return own_symbol(image, context, got->first_symbol + (index - got->local));
	return 0;
}

/* The symbol to which the entry at `address` leads, if it is in another module and of use; else
 * 0. */
static uint32_t foreign_symbol(const struct litifut_image *image,
			       const struct litifut_arch_context *context, uint32_t address)
{
	const struct litifut_mips_got *got = &litifut_mips_facts(context)->got;
	uint32_t index = (address - got->address) / 4;
	uint32_t symbol;

	if (!got->address || address < got->address || index < got->local ||
	    index - got->local >= got->global)
		return 0;
	symbol = got->first_symbol + (index - got->local);
	return ((context->spawners.used || context->spawners.ends) &&
		litifut_spawners_is_symbol(image, symbol)) ||
			       (context->symbols && !own_symbol(image, context, symbol))
		       ? symbol
		       : 0;
}

/* Is it code that a call can lead to, and not the linker's way to other modules? */
static bool is_own_code(const struct litifut_image *image, uint32_t address)
{
	const struct litifut_section *section = litifut_image_section_at(image, address, 8);

	return section && section->flags & SHF_EXECINSTR && !(address & 3) &&
	       !litifut_section_is_linkage(section);
}

/* Does the register into which the start of this function puts its global pointer hold
 * that in all of it? Clang takes registers that calls keep. */
static bool is_kept(const struct litifut_arch_context *context,
		    const struct litifut_section *section, uint32_t start, uint32_t end,
		    const struct litifut_mips_pointer *pointer)
{
	uint32_t from = start + 4 * pointer->words;
	uint32_t restore = 0;

	if (pointer->number < 16 || pointer->number > 23 || end <= from)
		return false;
	for (uint32_t at = start; at < from; at += 4) {
		uint32_t word = word_at(context, section, at);

		if (word >> 16 == (SW << 10 | SP << 5 | pointer->number)) /* the caller's value */
			restore = word ^ (SW ^ LW) << 26;
	}
	for (uint32_t at = from; at + 4 <= end; at += 4) {
		uint32_t word = word_at(context, section, at);

		if (litifut_mips_writes(word, pointer->number) && word != restore)
			return false;
	}
	return true;
}

void litifut_mips_function_pointer(const struct litifut_image *image,
				   const struct litifut_arch_context *context,
				   const struct litifut_section *section, uint32_t start,
				   uint32_t end, struct litifut_function_facts *facts)
{
	struct litifut_mips_pointer pointer;

	if (litifut_mips_has_pointer(image, context, start, &pointer)) {
		facts->pointer = pointer.value;
		if (is_kept(context, section, start, end, &pointer))
			facts->pointer_register = pointer.number;
	} else if (litifut_mips_facts(context)->got.alone) {
		facts->pointer = litifut_mips_facts(context)->global_pointer;
	}
}

void litifut_mips_function_facts(const struct litifut_image *image,
				 const struct litifut_arch_context *context,
				 const struct litifut_section *section, uint32_t start,
				 uint32_t end, struct litifut_function_facts *facts)
{
	*facts = (struct litifut_function_facts){0};
	if (start < section->address || end < start || end - section->address > section->size)
		return;
	facts->argument_room = litifut_mips_argument_room(context, section, start, end);
	litifut_mips_function_pointer(image, context, section, start, end, facts);
	if (facts->pointer)
		litifut_mips_find_branches(image, context, section, start, end, facts);
}

uint32_t litifut_mips_callee(const struct litifut_image *image,
			     const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call,
			     const struct litifut_function_facts *facts,
			     const struct litifut_arrivals *arrivals)
{
	struct litifut_mips_held held;
	uint32_t symbol;
	uint32_t entry;

	if (call->instruction.thumb || !facts->pointer ||
	    call->function_start < call->section->address)
		return 0;
	held = litifut_mips_held(context, call, facts, arrivals, LITIFUT_MIPS_T9);
	if (!held.found)
		return 0;
	symbol = foreign_symbol(image, context, held.entry);
	/* what is sent through the DB need not be certain */
	if (symbol && (held.certain || litifut_spawners_is_symbol(image, symbol)))
		return LITIFUT_CALLEE_SYMBOL(symbol);
	if (!held.certain)
		return 0;
	entry = got_entry(image, context, held.entry);
	/* If the linker has made a branch to just there of the call, that did not happen by chance,
	 * whatever register the pointer was kept in. */
	if (entry && (held.by_pointer || entry + held.offset == call->instruction.target) &&
	    is_own_code(image, entry + held.offset))
		return entry + held.offset;
	return context->names && held.by_pointer && !held.offset
		       ? stub_of(image, context, held.entry)
		       : 0;
}
