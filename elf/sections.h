/* The codec of the sections that the rewriter leaves in a module: bytes of the file, in its
 * byte order, to the structs of <litifut/module_format.h> in that of the host, and back. All
 * host programs use it; nothing in the bytes is trusted. */
#ifndef LITIFUT_ELF_SECTIONS_H
#define LITIFUT_ELF_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <litifut/module_format.h>

#include "common/error.h"

/* The contents of one section, as the file has them. */
struct elf_contents {
	const char *path; /* of the file, for messages */
	const uint8_t *bytes;
	size_t size;
	bool big_endian;
};

/* The records of a section, behind its header. */
struct elf_records {
	const uint8_t *bytes; /* of the first */
	uint32_t count;
	uint32_t stride; /* bytes from one to the next */
	bool big_endian;
};

/* .litifut.module. Members that an older writer did not have are 0. LITIFUT_ERROR_FORMAT: the
 * bytes are damaged; LITIFUT_ERROR_UNSUPPORTED: a newer version. */
enum litifut_status elf_read_module(const struct elf_contents *section,
				    struct litifut_module *module, struct litifut_error *error);

/* `bytes` has room for a struct litifut_module. */
void elf_write_module(bool big_endian, uint8_t *bytes, const struct litifut_module *module);

/* .litifut.sites, of any length of records. `records` stays valid as long as the bytes. Errors
 * as above. */
enum litifut_status elf_read_sites(const struct elf_contents *section, struct elf_records *records,
				   struct litifut_error *error);

/* Number `index`, which is less than the count. */
struct litifut_site elf_read_site(const struct elf_records *records, uint32_t index);

/* Writes sizeof(struct litifut_sites_header) and sizeof(struct litifut_site) bytes. */
void elf_write_sites_header(bool big_endian, uint8_t *bytes, uint32_t count);
void elf_write_site(bool big_endian, uint8_t *bytes, const struct litifut_site *site);

/* .litifut.blocks: both kinds of records. Errors as above. */
struct elf_blocks {
	struct litifut_blocks_header header;
	struct elf_records blocks;
	struct elf_records originals;
};

enum litifut_status elf_read_blocks(const struct elf_contents *section, struct elf_blocks *blocks,
				    struct litifut_error *error);
struct litifut_block elf_read_block(const struct elf_records *records, uint32_t index);
struct litifut_original elf_read_original(const struct elf_records *records, uint32_t index);
/* The writer fills in what is always the same of the header. */
void elf_write_blocks_header(bool big_endian, uint8_t *bytes,
			     const struct litifut_blocks_header *header);
void elf_write_block(bool big_endian, uint8_t *bytes, const struct litifut_block *block);
void elf_write_original(bool big_endian, uint8_t *bytes, const struct litifut_original *original);

/* The same for .litifut.db, the instruction DB. */
enum litifut_status elf_read_db(const struct elf_contents *section, struct elf_records *records,
				struct litifut_error *error);
struct litifut_db_entry elf_read_db_entry(const struct elf_records *records, uint32_t index);
void elf_write_db_header(bool big_endian, uint8_t *bytes, uint32_t count, uint32_t capacity);
void elf_write_db_entry(bool big_endian, uint8_t *bytes, struct litifut_db_entry entry);

#endif
