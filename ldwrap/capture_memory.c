/* Variables of the program and of the tracer stand in a few pieces of memory: .data and .bss, a
 * table in another one, and with LITIFUT_RAM a ring that is in no section. */
#include "ldwrap/capture_memory.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <litifut/module_format.h>

#include "common/bytes.h"
#include "rewriter/image.h"

/* No microcontroller has so much memory: the ELF file is another kind of program then. */
#define MEMORY_MAX (64u << 20)
/* What lies further apart is not read in between, where there may be no memory (LITIFUT_RAM in
 * another one). The file has a hole there, as long as the distance. */
#define GAP_MAX (64u << 10)
#define DISTANCE_MAX (1u << 30)

static void reach_over(struct capture_memory *firmware, uint32_t address, uint32_t size)
{
	struct capture_piece piece = {address, address + size};
	size_t at = 0;

	/* joined with all that are near, until it stands alone */
	while (at < firmware->count) {
		const struct capture_piece *other = &firmware->pieces[at];

		if (piece.start > other->end + (uint64_t)GAP_MAX ||
		    other->start > piece.end + (uint64_t)GAP_MAX) {
			at++;
			continue;
		}
		if (other->start < piece.start)
			piece.start = other->start;
		if (other->end > piece.end)
			piece.end = other->end;
		firmware->pieces[at] = firmware->pieces[--firmware->count];
		at = 0;
	}
	if (firmware->count < CAPTURE_PIECES)
		firmware->pieces[firmware->count++] = piece;
	else
		firmware->too_many = true;
}

static int by_start(const void *left, const void *right)
{
	const struct capture_piece *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* How much memory is read. */
static uint64_t sort_pieces(struct capture_memory *firmware)
{
	uint64_t bytes = 0;

	qsort(firmware->pieces, firmware->count, sizeof(*firmware->pieces), by_start);
	for (size_t i = 0; i < firmware->count; i++)
		bytes += firmware->pieces[i].end - firmware->pieces[i].start;
	return bytes;
}

/* A ring that outlasts a reset is in no section: its symbols are absolute, which the image does not
 * list. */
static void reach_over_kept(struct capture_memory *firmware, const struct litifut_image *image)
{
	static const char *const names[] = {"litifut_table", "litifut_table_end", "litifut_kept"};
	const bool big = image->file.big_endian;
	uint32_t start = UINT32_MAX, end = 0;
	const struct litifut_section *table = litifut_image_section(image, ".symtab");
	const struct litifut_section *strings =
		table && table->link < image->section_count ? &image->sections[table->link] : NULL;

	for (uint32_t at = 0; strings && at + sizeof(Elf32_Sym) <= table->size;
	     at += sizeof(Elf32_Sym)) {
		const uint8_t *symbol = table->bytes + at;
		const uint32_t name = litifut_get32(big, symbol);

		if (litifut_get16(big, symbol + offsetof(Elf32_Sym, st_shndx)) != SHN_ABS ||
		    name >= strings->size)
			continue;
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (!strcmp((const char *)strings->bytes + name, names[i])) {
				const uint32_t value =
					litifut_get32(big, symbol + offsetof(Elf32_Sym, st_value));

				start = value < start ? value : start;
				end = value > end ? value : end;
			}
	}
	if (start <= end)
		reach_over(firmware, start, end - start);
}

/* A link with -s leaves the file with the symbols beside the other one. */
static enum litifut_status open_with_symbols(const char *elf, struct litifut_image *image,
					     struct litifut_error *error)
{
	enum litifut_status status = litifut_image_open(elf, image, error);
	char beside[4096];

	if (status || litifut_image_symbol(image, "litifut_identity"))
		return status;
	snprintf(beside, sizeof(beside), "%s%s", elf, LITIFUT_NAMES_SUFFIX);
	if (access(beside, R_OK))
		return status;
	litifut_image_close(image);
	return litifut_image_open(beside, image, error);
}

enum litifut_status capture_memory_find(const char *elf, struct capture_memory *firmware,
					struct litifut_error *error)
{
	struct litifut_image image;
	enum litifut_status status = open_with_symbols(elf, &image, error);
	const struct litifut_symbol *identity;
	const struct litifut_section *section = NULL;

	if (status)
		return status;
	*firmware = (struct capture_memory){0};
	for (size_t i = 0; i < image.own_count; i++) {
		const struct litifut_symbol *symbol = &image.symbols[image.own[i]];
		const bool object =
			symbol->type == STT_OBJECT && symbol->section < image.section_count &&
			(image.sections[symbol->section].flags & (SHF_ALLOC | SHF_WRITE)) ==
				(SHF_ALLOC | SHF_WRITE);

		if (object || !strcmp(symbol->name, "litifut_table"))
			reach_over(firmware, symbol->address, symbol->size);
	}
	reach_over_kept(firmware, &image);
	identity = litifut_image_symbol(&image, "litifut_identity");
	if (identity) {
		firmware->identity = identity->address;
		section = litifut_image_section_at(&image, identity->address,
						   sizeof(firmware->bytes));
	}
	if (section)
		memcpy(firmware->bytes, section->bytes + (identity->address - section->address),
		       sizeof(firmware->bytes));
	litifut_image_close(&image);
	const uint64_t bytes = sort_pieces(firmware);

	if (!section || !bytes || bytes > MEMORY_MAX)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, elf, NULL,
					 LITIFUT_NO_ADDRESS, "is not a traced firmware");
	if (firmware->too_many)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, elf, NULL, LITIFUT_NO_ADDRESS,
			"the results are in more than %d places of the memory", CAPTURE_PIECES);
	if (firmware->pieces[firmware->count - 1].end - firmware->pieces[0].start > DISTANCE_MAX)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, elf, NULL,
					 firmware->pieces[firmware->count - 1].start,
					 "the memory with the results is more than 1 GB apart: "
					 "give LITIFUT_RAM an address near .data");
	return LITIFUT_OK;
}
