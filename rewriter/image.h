/* An ELF image in memory, every offset checked once when it is opened. */
#ifndef LITIFUT_REWRITER_IMAGE_H
#define LITIFUT_REWRITER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/bytes.h"
#include "common/error.h"
#include "elf/file.h"

struct litifut_section {
	const char *name;
	uint32_t address;
	uint32_t size;
	uint32_t type;  /* sh_type */
	uint32_t flags; /* sh_flags */
	uint32_t link;
	uint32_t info;
	uint8_t *bytes; /* into the image; NULL for SHT_NOBITS */
};

struct litifut_symbol {
	const char *name;
	uint32_t address; /* Thumb bit removed, see `thumb` */
	uint32_t size;
	uint16_t section;
	uint8_t type;    /* STT_* */
	uint8_t binding; /* STB_* */
	uint8_t other;
	bool thumb : 1;   /* bit 0 of the value was set (ARM functions) */
	bool mapping : 1; /* "$...": says how code is encoded */
	bool own : 1;     /* of the tracer: "litifut_..." */
	/* None, "." or "_..." that is not a C++ name: of the C library, compiler or linker. */
	bool reserved : 1;
};

#define LITIFUT_FUNCTION_PAGE 1024u

struct litifut_image {
	char path[4096];
	struct elf_file file;
	bool has_interpreter;
	bool has_dynamic;
	uint32_t text_start; /* span of the executable segments */
	uint32_t text_end;
	struct litifut_section *sections; /* [0] is the null section */
	size_t section_count;
	/* Numbers of the allocated sections with bytes, by address, if none overlaps another:
	 * a million addresses are looked up. */
	uint16_t *spans;
	size_t span_count;
	const struct litifut_section *largest; /* of these: where most addresses lie; or NULL */
	/* All of .symtab, sorted by section, address, then functions first. */
	struct litifut_symbol *symbols;
	size_t symbol_count;
	/* Indices into `symbols` of the functions (STT_FUNC), sorted by address. */
	uint32_t *functions;
	uint32_t *function_addresses; /* of each; close together, for searching */
	size_t function_count;
	/* For each LITIFUT_FUNCTION_PAGE bytes from the first function on: how many
	 * functions start before them. */
	uint32_t *function_pages;
	size_t function_page_count;
	/* Indices of the tracer's own symbols, in the order of `symbols`. */
	uint32_t *own;
	size_t own_count;
	const char *const *glibc_users; /* see struct litifut_rewrite_options */
	bool links_glibc;               /* the same */
	bool is_newer;                  /* the link says so, see struct litifut_rewrite_options */
	/* Addresses of functions that are included as another one calls them (downward.h),
	 * ascending. Owned. */
	uint32_t *downward;
	size_t downward_count;
};

/* Reads the 32-bit ELF executable or shared library at `path`. The bytes are a
 * private copy: nothing reaches the file until litifut_image_save_section(). */
enum litifut_status litifut_image_open(const char *path, struct litifut_image *image,
				       struct litifut_error *error);

/* The part of it that reads the symbols; the image has its sections. */
enum litifut_status litifut_image_read_symbols(struct litifut_image *image,
					       struct litifut_error *error);

/* Before the symbols, which have changed in image->file.bytes, are read again. */
void litifut_image_forget_symbols(struct litifut_image *image);

/* From here on, writing to code in memory ends the process: see changes.h. Where the
 * system does not do that, nothing happens. */
void litifut_image_lock_code(struct litifut_image *image);

/* Lets the `size` bytes of a section at `address` be written to in memory again. */
enum litifut_status litifut_image_unlock(struct litifut_image *image, uint32_t address,
					 uint32_t size, struct litifut_error *error);

void litifut_image_close(struct litifut_image *image);

/* By name; NULL when there is none. */
const struct litifut_section *litifut_image_section(const struct litifut_image *image,
						    const char *name);

/* The allocated section with bytes that contains `size` bytes at `address`, or NULL. */
const struct litifut_section *litifut_image_section_at(const struct litifut_image *image,
						       uint32_t address, uint32_t size);

/* First symbol with this name, or NULL. */
const struct litifut_symbol *litifut_image_symbol(const struct litifut_image *image,
						  const char *name);

/* The function that contains `address`: one with a size that reaches over it
 * (functions of size 0 reach to the next function). NULL when there is none. */
const struct litifut_symbol *litifut_image_function_at(const struct litifut_image *image,
						       uint32_t address);

/* The function that starts exactly at `address`, or NULL. */
const struct litifut_symbol *litifut_image_function_start(const struct litifut_image *image,
							  uint32_t address);

/* How many functions start below `address`: the index in `functions` and `function_addresses` of
 * the first other one. */
size_t litifut_image_functions_below(const struct litifut_image *image, uint32_t address);

/* The first function that starts at `address` or above it, the largest where there are
 * some; NULL when there is none. */
const struct litifut_symbol *litifut_image_function_from(const struct litifut_image *image,
							 uint32_t address);

/* The first address behind the code of `function`. One without a size (assemblers often give none)
 * reaches to the next function, or to the end of its section. */
uint32_t litifut_image_function_end(const struct litifut_image *image,
				    const struct litifut_symbol *function);

/* Writes the bytes of `section` back to the file at its place. */
enum litifut_status litifut_image_save_section(const struct litifut_image *image,
					       const struct litifut_section *section,
					       int descriptor, struct litifut_error *error);

/* Makes `entry` the address at which the program begins, in the file as well. */
enum litifut_status litifut_image_save_entry(const struct litifut_image *image, uint32_t entry,
					     int descriptor, struct litifut_error *error);

/* Writes `id`, as long as the build-id of the image, to the place of that in the file. */
enum litifut_status litifut_image_save_build_id(const struct litifut_image *image,
						const uint8_t *id, size_t size, int descriptor,
						struct litifut_error *error);

#endif
