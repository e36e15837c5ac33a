/* The codec of .litifut.module, .litifut.sites and .litifut.db: both byte orders, records of
 * older and newer writers, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/bytes.h"
#include "elf/sections.h"

static const struct litifut_module filled = {
	.magic = LITIFUT_MODULE_MAGIC,
	.version = LITIFUT_MODULE_VERSION_WORD,
	.flags = LITIFUT_MODULE_ACTIVE,
	.engine = LITIFUT_ENGINE_THUNK,
	.build_id_bytes = 3,
	.build_id = {1, 2, 3},
	.name = "name",
	.defaults = "A=1",
	.entry = 0x10203,
	.runtime = 4,
	.enders = 5,
	.mode = 1,
	.exits_start = 0x8000,
	.trampolines_start = 24,
	.fast_ok = 7,
};

static struct elf_contents contents(const uint8_t *bytes, size_t size, bool big_endian)
{
	return (struct elf_contents){"file", bytes, size, big_endian};
}

static void modules(void **state)
{
	(void)state;
	for (unsigned big = 0; big < 2; big++) {
		uint8_t bytes[sizeof(struct litifut_module) + 8] = {0};
		struct litifut_module module;
		struct elf_contents section = contents(bytes, sizeof(module), big);

		elf_write_module(big, bytes, &filled);
		assert_int_equal(litifut_get32(big, bytes), LITIFUT_MODULE_MAGIC);
		assert_int_equal(litifut_get32(big, bytes + 644), 0x10203);
		assert_string_equal(bytes + offsetof(struct litifut_module, defaults), "A=1");
		assert_int_equal(elf_read_module(&section, &module, NULL), LITIFUT_OK);
		assert_memory_equal(&module, &filled, sizeof(module));
		assert_true(LITIFUT_MODULE_HAS(&module, fast_ok));

		/* version 1 had no size, and ended before `mode` */
		litifut_put32(big, bytes + 4, 1);
		section.size = LITIFUT_MODULE_BYTES_1;
		assert_int_equal(elf_read_module(&section, &module, NULL), LITIFUT_OK);
		assert_int_equal(module.enders, 5);
		assert_int_equal(module.mode, 0);
		assert_int_equal(module.fast_ok, 0);
		assert_false(LITIFUT_MODULE_HAS(&module, mode));
		section.size--;
		assert_int_equal(elf_read_module(&section, &module, NULL), LITIFUT_ERROR_FORMAT);

		/* a writer that has more members */
		section.size = sizeof(bytes);
		litifut_put32(big, bytes + 4, 2 | (uint32_t)sizeof(bytes) << 16);
		assert_int_equal(elf_read_module(&section, &module, NULL), LITIFUT_OK);
		assert_int_equal(module.fast_ok, 7);
		section.size -= 4;
		assert_int_equal(elf_read_module(&section, &module, NULL), LITIFUT_ERROR_FORMAT);
		litifut_put32(big, bytes + 4, 2 | 724u << 16);
		assert_int_equal(elf_read_module(&section, &module, NULL), LITIFUT_ERROR_FORMAT);
		litifut_put32(big, bytes + 4, 3 | 760u << 16);
		assert_int_equal(elf_read_module(&section, &module, NULL),
				 LITIFUT_ERROR_UNSUPPORTED);
		bytes[0] ^= 1;
		assert_int_equal(elf_read_module(&section, &module, NULL), LITIFUT_ERROR_FORMAT);
	}
}

static void sites(void **state)
{
	const struct litifut_site site = {.address = 0x10000,
					  .return_address = 0x10005,
					  .instruction = 0xf000e800,
					  .callee = 0x20000,
					  .kind = LITIFUT_SITE_DIRECT,
					  .reason = LITIFUT_SITE_TOO_SHORT,
					  .thumb = 1,
					  .length = 4,
					  .exit = 0x30000,
					  .exit_reason = 2,
					  .site_class = 3,
					  .flags = 0x405};

	(void)state;
	for (unsigned big = 0; big < 2; big++) {
		uint8_t bytes[16 + 2 * 32] = {0};
		struct elf_contents section = contents(bytes, sizeof(bytes), big);
		struct elf_records records;
		struct litifut_site read;

		elf_write_sites_header(big, bytes, 2);
		elf_write_site(big, bytes + 16 + 28, &site);
		assert_int_equal(elf_read_sites(&section, &records, NULL), LITIFUT_OK);
		assert_int_equal(records.count, 2);
		read = elf_read_site(&records, 1);
		assert_memory_equal(&read, &site, sizeof(site));

		/* records that are longer than those of this program */
		litifut_put32(big, bytes + 12, 32);
		memmove(bytes + 16 + 32, bytes + 16 + 28, 28);
		assert_int_equal(elf_read_sites(&section, &records, NULL), LITIFUT_OK);
		read = elf_read_site(&records, 1);
		assert_memory_equal(&read, &site, sizeof(site));

		/* records of 20 bytes, without exits */
		litifut_put32(big, bytes + 12, 20);
		memmove(bytes + 16 + 20, bytes + 16 + 32, 20);
		section.size = 16 + 2 * 20;
		assert_int_equal(elf_read_sites(&section, &records, NULL), LITIFUT_OK);
		read = elf_read_site(&records, 1);
		assert_memory_equal(&read, &site, 20);
		assert_int_equal(read.exit | read.exit_reason | read.site_class | read.flags, 0);

		section.size--;
		assert_int_equal(elf_read_sites(&section, &records, NULL), LITIFUT_ERROR_FORMAT);
		section.size++;
		litifut_put32(big, bytes + 12, 19);
		assert_int_equal(elf_read_sites(&section, &records, NULL), LITIFUT_ERROR_FORMAT);
		litifut_put32(big, bytes + 12, 20);
		litifut_put32(big, bytes + 8, UINT32_MAX);
		assert_int_equal(elf_read_sites(&section, &records, NULL), LITIFUT_ERROR_FORMAT);
		litifut_put32(big, bytes + 4, 2);
		assert_int_equal(elf_read_sites(&section, &records, NULL),
				 LITIFUT_ERROR_UNSUPPORTED);
		section.size = 15;
		assert_int_equal(elf_read_sites(&section, &records, NULL), LITIFUT_ERROR_FORMAT);
	}
}

static void databases(void **state)
{
	(void)state;
	for (unsigned big = 0; big < 2; big++) {
		uint8_t bytes[16 + 3 * 8] = {0};
		struct elf_contents section = contents(bytes, sizeof(bytes), big);
		struct elf_records records;

		elf_write_db_header(big, bytes, 2, 3);
		elf_write_db_entry(big, bytes + 24, (struct litifut_db_entry){0x10005, 0x4788});
		assert_int_equal(elf_read_db(&section, &records, NULL), LITIFUT_OK);
		assert_int_equal(records.count, 2);
		assert_int_equal(elf_read_db_entry(&records, 1).return_address, 0x10005);
		assert_int_equal(elf_read_db_entry(&records, 1).instruction, 0x4788);
		section.size = 16 + 15;
		assert_int_equal(elf_read_db(&section, &records, NULL), LITIFUT_ERROR_FORMAT);
		section.size = 8;
		assert_int_equal(elf_read_db(&section, &records, NULL), LITIFUT_ERROR_FORMAT);
		section.size = sizeof(bytes);
		litifut_put32(big, bytes + 4, 2);
		assert_int_equal(elf_read_db(&section, &records, NULL), LITIFUT_ERROR_FORMAT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(modules), cmocka_unit_test(sites),
					   cmocka_unit_test(databases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
