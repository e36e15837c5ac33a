/* What the dynamic linker reads of an image: the names of its symbols, and the code that leads to
 * them. */
#ifndef LITIFUT_REWRITER_DYNAMIC_SYMBOLS_H
#define LITIFUT_REWRITER_DYNAMIC_SYMBOLS_H

#include <stdint.h>

#include "cpu/cpu.h"
#include "rewriter/image.h"

/* The word at `offset` in a section, which must have it. */
uint32_t litifut_image_word(const struct litifut_image *image,
			    const struct litifut_section *section, uint32_t offset);

/* Section number `index`; NULL: there is none with contents. */
const struct litifut_section *litifut_image_linked(const struct litifut_image *image,
						   uint32_t index);

/* The name of symbol `index` in a section of them, if all of it is in the file; else "". Owned by
 * the image. */
const char *litifut_dynamic_name(const struct litifut_image *image,
				 const struct litifut_section *symbols, uint32_t index);

/* Words that the dynamic linker fills with the address of a function. */
struct litifut_slots {
	const struct litifut_section *symbols; /* .dynsym; NULL: there are no slots */
	struct litifut_slot *items;            /* sorted by address */
	size_t count;
};

/* `symbols` may be NULL. Release with litifut_slots_release(), on failure as well. */
enum litifut_status litifut_slots_find(const struct litifut_image *image,
				       const struct cpu_linkage *linkage,
				       const struct litifut_section *symbols,
				       struct litifut_slots *slots, struct litifut_error *error);

/* The name of the function that the slot at `address` gets; "": there is no such slot. */
const char *litifut_slots_name(const struct litifut_image *image, const struct litifut_slots *slots,
			       uint32_t address);

void litifut_slots_release(struct litifut_slots *slots);

/* Reads code for `follow` of struct cpu_linkage. */
struct litifut_code_reader litifut_image_reader(const struct litifut_image *image);

/* Where code leads through PLT entries and veneers. */
struct litifut_way_end {
	const struct litifut_symbol *function; /* of the image; NULL: it leads to none */
	const char *slot; /* or the name of a slot, "" if it has none; or NULL */
	uint32_t address; /* the last code that was looked at */
};

/* From the code at `address`, which may be the function itself. */
struct litifut_way_end litifut_way_from(const struct litifut_image *image, const struct cpu *cpu,
					const struct litifut_slots *slots, uint32_t address);

#endif
