/* A 32-bit ELF file of any CPU in memory: opened, its header read, its build-id and soname found.
 * Nothing in the file is trusted. The rewriter and the post-processor build their own views of
 * sections, segments and symbols on it. */
#ifndef LITIFUT_ELF_FILE_H
#define LITIFUT_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gelf.h>

#include "common/error.h"

struct elf_file {
	uint8_t *bytes; /* a private copy: what is written to it does not reach the file */
	size_t size;
	Elf *elf;
	bool mapped; /* `bytes` is a mapping, which elf_file_close() removes */
	unsigned machine;
	unsigned type;  /* ET_EXEC or ET_DYN */
	unsigned flags; /* e_flags */
	uint8_t data;   /* ELFDATA2LSB or MSB */
	uint8_t osabi;
	bool big_endian;
	uint32_t entry; /* e_entry */
};

/* Reads the executable or shared library at `path`. On success the caller owns *file. A FIFO or a
 * device is refused, and is not waited for. LITIFUT_ERROR_UNSUPPORTED: an ELF file that is of
 * another class or type. */
enum litifut_status elf_file_open(struct elf_file *file, const char *path,
				  struct litifut_error *error);

/* The same for `size` bytes in memory, which stay the caller's and must outlive *file. `path` is
 * for messages. */
enum litifut_status elf_file_open_memory(struct elf_file *file, uint8_t *bytes, size_t size,
					 const char *path, struct litifut_error *error);

/* Also of one that is all zeros. */
void elf_file_close(struct elf_file *file);

/* The contents of the first section with this name that has some, and its header; NULL where there
 * is none. */
Elf_Data *elf_file_section(const struct elf_file *file, const char *name, GElf_Shdr *header);

/* The GNU build-id, inside `file->bytes`, and its length in bytes; NULL where there is none. */
const uint8_t *elf_file_build_id(const struct elf_file *file, size_t *bytes);

/* The text of entry number `index` of those of the dynamic section with this tag, such as DT_SONAME
 * or DT_NEEDED; it stays valid until the file is closed. NULL where there is none. */
const char *elf_file_dynamic_text(const struct elf_file *file, int64_t tag, size_t index);

/* DT_SONAME; "" where there is none. */
const char *elf_file_soname(const struct elf_file *file);

#endif
