/* One ELF file, read only: who it is, its functions, its call sites. Every
 * number in the file is taken as possibly wrong. */
#ifndef LITIFUT_POSTPROC_SOURCES_IMAGE_H
#define LITIFUT_POSTPROC_SOURCES_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <litifut/module_format.h>

#include "common/error.h"
#include "cpu/cpu.h"
#include "elf/file.h"
#include "postproc/sources/symbols.h"
#include "postproc/table.h"

#define POST_BUILD_ID_BYTES 20                           /* longer ones are cut, as in the trace */
#define POST_BUILD_ID_TEXT (POST_BUILD_ID_BYTES * 2 + 1) /* room for it in hexadecimal digits */

/* Are both build-ids known, and the same? */
bool post_build_id_is(const uint8_t *a, unsigned a_bytes, const uint8_t *b, unsigned b_bytes);

struct post_segment {
	uint32_t address; /* link-time */
	uint32_t offset;  /* in the file */
	uint32_t file_bytes;
	uint32_t memory_bytes;
	bool executable;
};

struct post_image {
	char *path;
	struct elf_file file;
	const struct cpu *cpu;
	bool big_endian_code; /* differs from file.big_endian on ARM BE8 */
	bool rewritten;       /* has a filled .litifut.module */
	unsigned engine;      /* then: enum litifut_engine */
	unsigned mode;        /* and enum litifut_mode */
	bool debug_only;      /* a file made by objcopy --only-keep-debug */
	uint8_t build_id[POST_BUILD_ID_BYTES];
	unsigned build_id_bytes; /* 0: none */
	const char *soname;      /* "": none */
	struct post_segment *segments;
	size_t segment_count;

	/* After post_image_load(). */
	struct post_symbols symbols;
	bool has_symbol_table;      /* in the file, or from a debug file */
	struct litifut_site *sites; /* sorted by return address */
	size_t site_count;
	const struct litifut_site *
		*patched; /* by address: the number of a site is its place here */
	size_t patched_count;
	const struct litifut_site **exits; /* sites with a recorded return, by `exit` */
	size_t exit_count;
	struct litifut_block *blocks; /* of a module that records edges; sorted by address */
	size_t block_count;
	struct litifut_original *originals; /* code of it that was replaced, as it was */
	size_t original_count;
	bool has_site_list; /* they are those of .litifut.sites, not only what the DB has */

	/* Private. */
	void *dwarf; /* Dwarf *, see lines.c */
	bool dwarf_missing;
	bool lines_known, lines_unknown;   /* some line was asked for, and found, or not */
	struct dwarf_functions *functions; /* see parameters.c */
	bool functions_read;
	uint8_t *copy; /* of the bytes of a file that was in memory; NULL: file.bytes is mapped */
	struct post_image *further[4]; /* other files of this build, used in post_image_load() */
	char **texts;                  /* names that are in no file */
	size_t text_count, text_capacity;
	struct post_table source_names; /* of `texts`, see lines.c */
};

struct post_debug_places {
	const char *const *directories; /* each with a .build-id/ in it, NULL-terminated */
};

/* Opens and identifies. LITIFUT_ERROR_UNSUPPORTED: a good ELF file, but not an
 * executable or library of one of our CPUs. On success the caller owns *image. */
enum litifut_status post_image_open(const char *path, struct post_image **image,
				    struct litifut_error *error);

/* The same for a file that is in memory already. `name` is for messages. */
enum litifut_status post_image_open_memory(const uint8_t *data, size_t size, const char *name,
					   struct post_image **image, struct litifut_error *error);

/* Reads symbols, PLT entries and the site list. Damage is described in `error`, but
 * what could be read stays usable. `places` may be NULL. */
enum litifut_status post_image_load(struct post_image *image,
				    const struct post_debug_places *places,
				    struct litifut_error *error);

/* The site whose call leaves `return_address` behind (as in the trace, with
 * bit 0 for Thumb), NULL when it is not listed. */
const struct litifut_site *post_image_site(const struct post_image *image, uint32_t return_address,
					   bool tail);

/* The site whose return a word of a trace with this link-time value stands for, NULL: it is
 * not a return. */
const struct litifut_site *post_image_exit(const struct post_image *image, uint32_t exit);

/* The number of the block whose code is at a link-time address, or POST_NONE (table.h). */
uint32_t post_image_block(const struct post_image *image, uint32_t address);

/* The same of the block that begins there. */
uint32_t post_image_block_start(const struct post_image *image, uint32_t address);

/* The name of a symbol of .dynsym, by its number; NULL: there is none. */
const char *post_image_dynamic_name(const struct post_image *image, uint32_t number);

/* Copies at most `size` bytes of contents at a link-time address. */
bool post_image_bytes(const struct post_image *image, uint32_t address, void *bytes, size_t size);

/* For cpu->linkage.follow(). */
struct litifut_code_reader post_image_code(const struct post_image *image);

void post_image_close(struct post_image *image);

#endif
