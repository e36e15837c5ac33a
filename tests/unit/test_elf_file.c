/* The reader of ELF files: what it refuses, and where it finds a build-id and a soname. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/bytes.h"
#include "elf/file.h"

/* A library with one note, as a segment and, unless `sections` is 0, as a section. */
enum {
	NOTE_AT = 0x100,
	STRINGS_AT = 0x140,
	DYNAMIC_AT = 0x180,
	SECTIONS_AT = 0x200,
	BYTES = 0x300
};

static void put_section(uint8_t *bytes, bool big, unsigned number, const uint32_t *fields)
{
	for (unsigned i = 0; i < 10; i++)
		litifut_put32(big, bytes + SECTIONS_AT + number * sizeof(Elf32_Shdr) + 4 * i,
			      fields[i]);
}

static void make(uint8_t *bytes, bool big, unsigned sections)
{
	static const char strings[] = "\0libshape.so\0libc.so.6\0libm.so.6";
	static const uint32_t dynamic[] = {DT_NEEDED, 13, DT_SONAME, 1, DT_NEEDED, 23, DT_NULL, 0};
	const uint32_t header[] = {1, 0x1000, sizeof(Elf32_Ehdr), sections ? SECTIONS_AT : 0,
				   0x5000200};
	const uint32_t segment[] = {PT_NOTE, NOTE_AT, NOTE_AT, NOTE_AT, 20, 20, PF_R, 4};

	memset(bytes, 0, BYTES);
	memcpy(bytes, ELFMAG, SELFMAG);
	bytes[EI_CLASS] = ELFCLASS32;
	bytes[EI_DATA] = big ? ELFDATA2MSB : ELFDATA2LSB;
	bytes[EI_VERSION] = EV_CURRENT;
	litifut_put16(big, bytes + 16, ET_DYN);
	litifut_put16(big, bytes + 18, EM_ARM);
	for (unsigned i = 0; i < 5; i++)
		litifut_put32(big, bytes + 20 + 4 * i, header[i]);
	litifut_put16(big, bytes + 40, sizeof(Elf32_Ehdr));
	litifut_put16(big, bytes + 42, sizeof(Elf32_Phdr));
	litifut_put16(big, bytes + 44, 1);
	litifut_put16(big, bytes + 46, sizeof(Elf32_Shdr));
	litifut_put16(big, bytes + 48, (uint16_t)sections);
	for (unsigned i = 0; i < 8; i++)
		litifut_put32(big, bytes + sizeof(Elf32_Ehdr) + 4 * i, segment[i]);
	litifut_put32(big, bytes + NOTE_AT, 4);
	litifut_put32(big, bytes + NOTE_AT + 4, 4);
	litifut_put32(big, bytes + NOTE_AT + 8, NT_GNU_BUILD_ID);
	memcpy(bytes + NOTE_AT + 12, "GNU\0\1\2\3\4", 8);
	memcpy(bytes + STRINGS_AT, strings, sizeof(strings));
	for (unsigned i = 0; i < 8; i++)
		litifut_put32(big, bytes + DYNAMIC_AT + 4 * i, dynamic[i]);
	if (!sections)
		return;
	put_section(bytes, big, 1,
		    (uint32_t[]){1, SHT_STRTAB, 0, 0, STRINGS_AT, sizeof(strings), 0, 0, 1, 0});
	put_section(bytes, big, 2,
		    (uint32_t[]){1, SHT_DYNAMIC, SHF_ALLOC, DYNAMIC_AT, DYNAMIC_AT, sizeof(dynamic),
				 1, 0, 4, sizeof(Elf32_Dyn)});
	put_section(bytes, big, 3,
		    (uint32_t[]){13, SHT_NOTE, SHF_ALLOC, NOTE_AT, NOTE_AT, 24, 0, 0, 4, 0});
	litifut_put16(big, bytes + 50, 1); /* names of sections are among the same strings */
}

static void finds(void **state)
{
	uint8_t bytes[BYTES];

	(void)state;
	for (unsigned kind = 0; kind < 4; kind++) {
		const bool big = kind & 1;
		const unsigned sections = kind & 2 ? 4 : 0;
		struct litifut_error error;
		struct elf_file file;
		GElf_Shdr header;
		size_t size = 0;

		make(bytes, big, sections);
		assert_int_equal(elf_file_open_memory(&file, bytes, BYTES, "file", &error),
				 LITIFUT_OK);
		assert_int_equal(file.machine, EM_ARM);
		assert_int_equal(file.type, ET_DYN);
		assert_int_equal(file.entry, 0x1000);
		assert_int_equal(file.flags, 0x5000200);
		assert_int_equal(file.big_endian, big);
		assert_ptr_equal(elf_file_build_id(&file, &size), bytes + NOTE_AT + 16);
		assert_int_equal(size, 4);
		assert_string_equal(elf_file_soname(&file), sections ? "libshape.so" : "");
		if (sections) {
			assert_string_equal(elf_file_dynamic_text(&file, DT_NEEDED, 0),
					    "libc.so.6");
			assert_string_equal(elf_file_dynamic_text(&file, DT_NEEDED, 1),
					    "libm.so.6");
			assert_non_null(elf_file_section(&file, "libc.so.6", &header));
			assert_int_equal(header.sh_type, SHT_NOTE);
		}
		assert_null(elf_file_dynamic_text(&file, DT_NEEDED, 2));
		assert_null(elf_file_section(&file, "none", &header));
		elf_file_close(&file);
	}
}

/* A note that claims more than the file has, and a name without an end. */
static void damaged(void **state)
{
	uint8_t bytes[BYTES];
	struct elf_file file;
	size_t size;

	(void)state;
	make(bytes, false, 4);
	litifut_put32(false, bytes + NOTE_AT + 4, 0x7ffffff0);
	litifut_put32(false, bytes + DYNAMIC_AT + 12, 0x7ffffff0);
	assert_int_equal(elf_file_open_memory(&file, bytes, BYTES, "file", NULL), LITIFUT_OK);
	assert_null(elf_file_build_id(&file, &size));
	assert_string_equal(elf_file_soname(&file), "");
	elf_file_close(&file);
	elf_file_close(&file);
}

static void refuses(void **state)
{
	static const struct {
		unsigned at;
		uint8_t value;
		enum litifut_status status;
		const char *says;
	} cases[] = {
		{0, 0, LITIFUT_ERROR_FORMAT, "not an ELF file"},
		{EI_CLASS, ELFCLASS64, LITIFUT_ERROR_UNSUPPORTED, "not a 32-bit ELF file"},
		{16, ET_REL, LITIFUT_ERROR_UNSUPPORTED,
		 "neither an executable nor a shared library"},
	};
	uint8_t bytes[BYTES];
	struct litifut_error error;
	struct elf_file file;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make(bytes, false, 4);
		bytes[cases[i].at] = cases[i].value;
		assert_int_equal(elf_file_open_memory(&file, bytes, BYTES, "file", &error),
				 cases[i].status);
		assert_string_equal(error.message, cases[i].says);
		assert_null(file.elf);
	}
	make(bytes, false, 4);
	assert_int_equal(elf_file_open_memory(&file, bytes, 51, "file", &error),
			 LITIFUT_ERROR_FORMAT);
}

static void refuses_files(void **state)
{
	char folder[] = "/tmp/litifut-elf-XXXXXX";
	char path[64];
	struct litifut_error error;
	struct elf_file file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(elf_file_open(&file, path, &error), LITIFUT_ERROR_IO);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(elf_file_open(&file, path, &error), LITIFUT_ERROR_FORMAT);
	assert_string_equal(error.message, "not a regular file");
	unlink(path);
	assert_int_equal(elf_file_open(&file, folder, &error), LITIFUT_ERROR_FORMAT);
	assert_string_equal(error.message, "not a regular file");
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds),
		cmocka_unit_test(damaged),
		cmocka_unit_test(refuses),
		cmocka_unit_test(refuses_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
