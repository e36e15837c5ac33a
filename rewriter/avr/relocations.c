/* The relocations of an AVR image distinguish code from data: there are no mapping symbols, and
 * tables stand among the code. Each call and jmp has one of type R_AVR_CALL, whatever the
 * assembler or the linker did before. Types: binutils' include/elf/avr.h. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/avr/avr.h"

enum {
	R_AVR_7_PCREL = 2,
	R_AVR_13_PCREL = 3,
	R_AVR_16 = 4,
	R_AVR_16_PM = 5,
	R_AVR_LO8_LDI = 6,
	R_AVR_LO8_LDI_PM = 12,
	R_AVR_LO8_LDI_PM_NEG = 15,
	R_AVR_CALL = 18,
	R_AVR_LO8_LDI_GS = 24,
	R_AVR_8_LO8 = 27
};

#define RELOCATION_BYTES 12u
#define SYMBOL_BYTES 16u

struct relocation {
	uint32_t address; /* of what it changed */
	unsigned type;
	uint32_t symbol; /* its number */
	uint32_t value;  /* of symbol and addend */
	bool absolute;   /* the symbol is a number, as the end of the stack */
};

struct reader {
	const struct litifut_image *image;
	const struct litifut_section *symbols;
	size_t section; /* the next one */
	uint32_t at;    /* in the one before, as long as it has more */
};

static struct reader start(const struct litifut_image *image)
{
	struct reader reader = {.image = image};

	for (size_t i = 1; i < image->section_count && !reader.symbols; i++)
		if (image->sections[i].type == SHT_SYMTAB)
			reader.symbols = &image->sections[i];
	return reader;
}

static const uint8_t *symbol_at(const struct reader *reader, uint32_t number)
{
	return reader->symbols && reader->symbols->bytes &&
			       number < reader->symbols->size / SYMBOL_BYTES
		       ? reader->symbols->bytes + number * SYMBOL_BYTES
		       : NULL;
}

/* Relocations of loaded sections, one after another. */
static bool next(struct reader *reader, struct relocation *relocation)
{
	const struct litifut_image *image = reader->image;

	for (; reader->section < image->section_count; reader->section++, reader->at = 0) {
		const struct litifut_section *section = &image->sections[reader->section];
		const uint8_t *entry;
		const uint8_t *symbol;
		uint32_t info;

		if (section->type != SHT_RELA || !section->bytes ||
		    section->info >= image->section_count ||
		    !(image->sections[section->info].flags & SHF_ALLOC) ||
		    reader->at + RELOCATION_BYTES > section->size)
			continue;
		entry = section->bytes + reader->at;
		reader->at += RELOCATION_BYTES;
		info = litifut_get32(false, entry + 4);
		symbol = symbol_at(reader, info >> 8);
		*relocation = (struct relocation){
			.address = litifut_get32(false, entry),
			.type = info & 0xff,
			.symbol = info >> 8,
			.value = litifut_get32(false, entry + 8) +
				 (symbol ? litifut_get32(false, symbol + 4) : 0),
			.absolute = !symbol || litifut_get16(false, symbol + 14) == SHN_ABS,
		};
		return true;
	}
	return false;
}

static bool makes_pointer(unsigned type)
{
	return type == R_AVR_16_PM ||
	       (type >= R_AVR_LO8_LDI_PM && type < R_AVR_CALL) || /* also the negative ones */
	       (type >= R_AVR_LO8_LDI_GS && type < R_AVR_8_LO8);
}

/* Is the address of data in the flash, of the table of a program? */
static bool names_bytes(unsigned type)
{
	return type == R_AVR_16 || (type >= R_AVR_LO8_LDI && type < R_AVR_LO8_LDI_PM);
}

/* A pointer that stands in a table. */
static void mark_entry(const struct litifut_image *image, struct litifut_avr_image *code,
		       const struct relocation *relocation)
{
	const uint16_t mark = litifut_image_function_start(image, relocation->value & ~1u)
				      ? LITIFUT_AVR_TO_FUNCTION
				      : LITIFUT_AVR_TO_LABEL;

	if (relocation->address < code->end)
		code->marks[relocation->address / 2] |=
			(uint16_t)(mark << (relocation->address & 1 ? LITIFUT_AVR_ODD : 0));
	else if (relocation->address - LITIFUT_AVR_DATA < 0x10000)
		code->data[relocation->address - LITIFUT_AVR_DATA] |= mark;
}

/* Does the entry of a table in the flash belong to a switch? The compiler names that table by its
 * address in words alone. */
static bool is_of_switch(const struct litifut_avr_image *code, uint32_t address)
{
	const unsigned entry = LITIFUT_AVR_TO_FUNCTION | LITIFUT_AVR_TO_LABEL;
	const unsigned named = LITIFUT_AVR_NAMED | LITIFUT_AVR_BYTES;
	uint32_t word = address / 2;

	while (word && !(code->marks[word] & named) && code->marks[word - 1] & entry)
		word--;
	return (code->marks[word] & named) == LITIFUT_AVR_NAMED;
}

/* Once all other marks are there. */
static void mark_labels(const struct litifut_image *image, struct litifut_avr_image *code)
{
	struct reader reader = start(image);
	struct relocation relocation;

	while (next(&reader, &relocation)) {
		if (!makes_pointer(relocation.type) || relocation.value >= code->end ||
		    !(code->marks[relocation.value / 2] & LITIFUT_AVR_TABLE) ||
		    !litifut_image_function_at(image, relocation.value) ||
		    (relocation.type == R_AVR_16_PM && relocation.address < code->end &&
		     is_of_switch(code, relocation.address)))
			continue;
		code->marks[relocation.value / 2] |= LITIFUT_AVR_LABEL;
		code->has_labels |=
			relocation.type == R_AVR_16_PM && relocation.address < code->end;
	}
}

/* The length of a jump that names where it leads, or 0. */
static unsigned jump_length(const struct litifut_section *section, uint32_t address)
{
	const uint16_t word = litifut_get16(false, section->bytes + (address - section->address));

	return (word & 0xf000) == 0xc000 ? 2 : (word & 0xfe0e) == 0x940c ? 4 : 0;
}

/* A pointer to a row of jumps may be calculated from the address of the first one. */
static void mark_rows(const struct litifut_image *image, struct litifut_avr_image *code)
{
	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];
		const uint32_t end = section->address + (section->size & ~1u);

		if (!(section->flags & SHF_EXECINSTR) || !section->bytes || end > code->end)
			continue;
		for (uint32_t at = section->address; at < end; at += 2) {
			const unsigned length = code->marks[at / 2] & LITIFUT_AVR_NAMED
							? jump_length(section, at)
							: 0;

			if (length && at + length < end && jump_length(section, at + length))
				code->marks[(at + length) / 2] |= LITIFUT_AVR_NAMED;
		}
	}
}

static void read_relocations(const struct litifut_image *image, struct litifut_avr_image *code)
{
	struct reader reader = start(image);
	struct relocation relocation;

	while (next(&reader, &relocation)) {
		code->has_relocations = true;
		if (relocation.type == R_AVR_CALL && relocation.address < code->end)
			code->marks[relocation.address / 2] |= LITIFUT_AVR_ABSOLUTE;
		if (relocation.type == R_AVR_13_PCREL && relocation.address < code->end)
			code->marks[relocation.address / 2] |= LITIFUT_AVR_RELATIVE;
		if (relocation.type == R_AVR_7_PCREL && relocation.address < code->end) {
			code->marks[relocation.address / 2] |= LITIFUT_AVR_BRANCH;
			code->has_branches = true;
		}
		if (makes_pointer(relocation.type) && relocation.value < code->end) {
			code->marks[relocation.value / 2] |= LITIFUT_AVR_NAMED;
			if (!litifut_image_function_start(image, relocation.value & ~1u))
				code->marks[relocation.value / 2] |= LITIFUT_AVR_TABLE;
			if (relocation.type == R_AVR_16_PM)
				mark_entry(image, code, &relocation);
		}
		if (names_bytes(relocation.type) && !relocation.absolute &&
		    relocation.value < code->end)
			code->marks[relocation.value / 2] |= LITIFUT_AVR_BYTES;
	}
	mark_rows(image, code);
	mark_labels(image, code);
}

struct litifut_avr_image *litifut_avr_image_create(const struct litifut_image *image,
						   struct litifut_error *error)
{
	uint32_t end = image->text_end < LITIFUT_AVR_DATA ? image->text_end & ~1u : 0;
	struct litifut_avr_image *code =
		calloc(1, sizeof(*code) + (end / 2 + 1) * sizeof(*code->marks));

	if (!code) {
		litifut_error_memory(error, image->path);
		return NULL;
	}
	code->end = end;
	read_relocations(image, code);
	return code;
}

static bool is_prefix(const char *prefix, const char *name)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* Parts of functions that have labels all the same, as jumps to them are not calls, the names
 * that handlers of interrupts have where there are none, and tables of constructors. */
static bool is_part(const char *name)
{
	return is_prefix("__vector", name) || is_prefix("__prologue_saves__", name) ||
	       is_prefix("__epilogue_restores__", name) || is_prefix("__tablejump", name) ||
	       is_prefix("__ctors_", name) || is_prefix("__dtors_", name);
}

/* Does the relocation belong to a call or jump that makes its target, the label `named`, a
 * function? Of four bytes each does; of two bytes only a call and the vector of the reset, and on
 * devices that have nothing else a jump to the label of another object file, as `rjmp exit` of the
 * start-up code. So does a pointer to a label that other object files may use.
 */
static bool enters(const struct litifut_image *image, const struct relocation *relocation,
		   const uint8_t *named, const struct cpu_context *context)
{
	const struct litifut_section *section =
		litifut_image_section_at(image, relocation->address, 4);
	struct litifut_instruction instruction;
	bool far = !relocation->address ||
		   (litifut_avr_is_small(context) && ELF32_ST_BIND(named[12]) != STB_LOCAL);

	if (makes_pointer(relocation->type))
		return ELF32_ST_BIND(named[12]) != STB_LOCAL;
	if ((relocation->type != R_AVR_CALL && relocation->type != R_AVR_13_PCREL) || !section ||
	    !relocation->value)
		return false;
	litifut_avr_decode(context, section->bytes + (relocation->address - section->address), 4,
			   relocation->address, LITIFUT_CODE_PLAIN, &instruction);
	if (instruction.class != LITIFUT_CLASS_CALL_DIRECT &&
	    (instruction.class != LITIFUT_CLASS_BRANCH_DIRECT || (instruction.length != 4 && !far)))
		return false;
	/* A short call within a function of the large devices: shared code of it. */
	return instruction.length == 4 || litifut_avr_is_small(context);
}

/* Makes this symbol one of a function, if it is a label of code. Its size is set later. */
static void make_function(const struct litifut_image *image, uint8_t *symbol)
{
	const struct litifut_section *names = NULL;
	unsigned number = litifut_get16(false, symbol + 14);
	uint32_t name = litifut_get32(false, symbol);

	/* The first one, whose names litifut_image_read_symbols() has checked. */
	for (size_t i = 1; i < image->section_count && !names; i++)
		if (image->sections[i].type == SHT_SYMTAB)
			names = &image->sections[image->sections[i].link];
	if (ELF32_ST_TYPE(symbol[12]) != STT_NOTYPE || number >= image->section_count ||
	    !(image->sections[number].flags & SHF_EXECINSTR) || !names || name >= names->size ||
	    is_part((const char *)names->bytes + name))
		return;
	symbol[12] = (uint8_t)ELF32_ST_INFO(ELF32_ST_BIND(symbol[12]), STT_FUNC);
}

/* Does a call or a jump with a relocation stand from `start` to before `end`? */
static bool holds_code(const struct litifut_avr_image *code, uint32_t start, uint32_t end)
{
	for (uint32_t at = start; at < end && at < code->end; at += 2)
		if (code->marks[at / 2] & (LITIFUT_AVR_ABSOLUTE | LITIFUT_AVR_RELATIVE))
			return true;
	return false;
}

/* Functions without a size get one, up to the next function or object, and those with parts
 * that have no label include them. */
static void set_sizes(const struct litifut_image *image, const struct litifut_section *table,
		      const struct litifut_avr_image *code)
{
	for (uint32_t at = 0; at + SYMBOL_BYTES <= table->size; at += SYMBOL_BYTES) {
		uint8_t *symbol = table->bytes + at;
		uint32_t address = litifut_get32(false, symbol + 4);
		uint32_t size = litifut_get32(false, symbol + 8);
		unsigned number = litifut_get16(false, symbol + 14);
		uint32_t end;

		if (ELF32_ST_TYPE(symbol[12]) != STT_FUNC || number >= image->section_count)
			continue;
		end = image->sections[number].address + image->sections[number].size;
		for (uint32_t other = 0; other + SYMBOL_BYTES <= table->size;
		     other += SYMBOL_BYTES) {
			const uint8_t *each = table->bytes + other;
			unsigned type = ELF32_ST_TYPE(each[12]);
			uint32_t start_of = litifut_get32(false, each + 4);

			if ((type == STT_FUNC || type == STT_OBJECT) &&
			    litifut_get16(false, each + 14) == number && start_of > address &&
			    start_of < end)
				end = start_of;
		}
		if (end > address && size < end - address &&
		    (!size || holds_code(code, address + size, end)))
			litifut_put32(false, symbol + 8, end - address);
	}
}

/* The start-up code is one function, whose parts have labels: those of libgcc for .data and .bss.
 * gprof takes each label in a section for a function, and so the last of them for what calls
 * main(). */
static void hide_parts(const struct litifut_image *image, const struct litifut_section *table)
{
	uint32_t first, end;

	if (!litifut_avr_start_up(image, &first, &end))
		return;
	for (uint32_t at = 0; at + SYMBOL_BYTES <= table->size; at += SYMBOL_BYTES) {
		uint8_t *symbol = table->bytes + at;
		const unsigned number = litifut_get16(false, symbol + 14);
		const uint32_t address = litifut_get32(false, symbol + 4);

		if (ELF32_ST_TYPE(symbol[12]) == STT_NOTYPE && number && number < SHN_LORESERVE &&
		    address > first && address < end)
			litifut_put16(false, symbol + 14, SHN_ABS);
	}
}

enum litifut_status litifut_avr_name_functions(struct litifut_image *image,
					       struct litifut_error *error)
{
	struct reader reader = start(image);
	struct litifut_avr_facts facts = {0};
	const struct cpu_context context = {.facts = &facts};
	struct litifut_avr_image *code = litifut_avr_image_create(image, error);
	struct relocation relocation;

	if (!code)
		return LITIFUT_ERROR_IO;
	litifut_avr_family(image->file.flags, &facts, NULL);
	while (reader.symbols && reader.symbols->bytes && next(&reader, &relocation)) {
		const uint8_t *named = symbol_at(&reader, relocation.symbol);

		if (named && litifut_get32(false, named + 4) == relocation.value &&
		    enters(image, &relocation, named, &context))
			make_function(image, (uint8_t *)named);
	}
	if (reader.symbols && reader.symbols->bytes) {
		set_sizes(image, reader.symbols, code);
		hide_parts(image, reader.symbols);
	}
	free(code);
	litifut_image_forget_symbols(image);
	return litifut_image_read_symbols(image, error);
}
