/* The fuzz targets over their seeds, and over some thousands of damaged copies
 * of good files, always the same ones. `make fuzz` goes on from there. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/post_fixture.h"

int fuzz_trace(const uint8_t *data, size_t size);
int fuzz_maps(const uint8_t *data, size_t size);
int fuzz_elf(const uint8_t *data, size_t size);

#define SEEDS "tests/fuzz/seeds"

static uint8_t *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*size = (size_t)ftell(file);
	rewind(file);
	uint8_t *bytes = malloc(*size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

/* Numbers that sizes, counts and offsets break at. */
static const uint32_t odd_numbers[] = {0,          1,          4,          0x7fffffff, 0x80000000,
				       0xffffffff, 0xfffffffc, 0x10000000, 0xffff,     0x8000};

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void damage(const uint8_t *good, size_t size, int (*target)(const uint8_t *, size_t),
		   unsigned rounds)
{
	uint32_t random = 1;
	uint8_t *bad = malloc(size);

	assert_non_null(bad);
	for (unsigned round = 0; round < rounds; round++) {
		memcpy(bad, good, size);
		unsigned changes = 1 + next_random(&random) % 4;
		for (unsigned i = 0; i < changes && size > 4; i++) {
			size_t at = next_random(&random) % (size - 4);
			uint32_t odd = odd_numbers[next_random(&random) % 10];
			if (next_random(&random) % 2)
				bad[at] = (uint8_t)next_random(&random);
			else
				memcpy(bad + (at & ~(size_t)3), &odd, 4);
		}
		size_t cut = next_random(&random) % 4 ? size : next_random(&random) % (size + 1);
		target(bad, cut);
	}
	free(bad);
}

/* Headers are the most delicate part: every word from `start` on becomes every
 * odd number in turn. */
static void damage_words(const uint8_t *good, size_t size, size_t start, size_t bytes,
			 int (*target)(const uint8_t *, size_t))
{
	uint8_t *bad = malloc(size);

	assert_non_null(bad);
	memcpy(bad, good, size);
	for (size_t at = start; at + 4 <= start + bytes && at + 4 <= size; at += 4) {
		for (size_t i = 0; i < sizeof(odd_numbers) / sizeof(*odd_numbers); i++) {
			memcpy(bad + at, &odd_numbers[i], 4);
			target(bad, size);
		}
		memcpy(bad + at, good + at, 4);
	}
	free(bad);
}

/* `make fuzz` needs the good files to start from. */
static void save_seed(const char *kind, size_t number, const uint8_t *bytes, size_t size)
{
	const char *folder = getenv("LITIFUT_SAVE_SEEDS");
	char path[512];

	if (!folder)
		return;
	snprintf(path, sizeof(path), "mkdir -p %s/corpus-%s", folder, kind);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/corpus-%s/good-%zu", folder, kind, number);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	fwrite(bytes, 1, size, file);
	assert_int_equal(fclose(file), 0);
}

static void seeds(const char *kind, int (*target)(const uint8_t *, size_t))
{
	char path[512];
	snprintf(path, sizeof(path), SEEDS "/%s", kind);
	DIR *folder = opendir(path);
	unsigned count = 0;

	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		size_t size;
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), SEEDS "/%s/%s", kind, entry->d_name);
		uint8_t *bytes = read_all(path, &size);
		target(bytes, size);
		damage(bytes, size, target, 500);
		free(bytes);
		count++;
	}
	closedir(folder);
	assert_int_not_equal(count, 0);
}

static void maps_seeds(void **state)
{
	(void)state;
	seeds("maps", fuzz_maps);
}

/* Files without a list of call sites, whose DB is read instead. */
static void elf_seeds(void **state)
{
	(void)state;
	seeds("elf", fuzz_elf);
}

/* Each fixture's file, as it is and with every word of some of its headers
 * damaged in turn, `last` bytes at the end among them. */
static void damaged_file(const char *kind, const char *name, size_t first, size_t last,
			 int (*target)(const uint8_t *, size_t),
			 void (*more)(const uint8_t *, size_t))
{
	size_t number = 0;

	for (struct fixture *fixture = NULL; (fixture = fixture_next(fixture)); number++) {
		char path[128];
		size_t size;
		fixture_write_packed_traces(fixture, number % 2, number % 3);
		snprintf(path, sizeof(path), "%s/%s", fixture->folder, name);
		uint8_t *bytes = read_all(path, &size);
		target(bytes, size);
		save_seed(kind, number, bytes, size);
		damage_words(bytes, size, 0, first, target);
		if (size > last)
			damage_words(bytes, size, (size - last) & ~(size_t)3, last, target);
		damage(bytes, size, target, 500);
		if (more)
			more(bytes, size);
		free(bytes);
	}
}

/* What comes after the header is where the events are. */
static void cut_everywhere(const uint8_t *bytes, size_t size)
{
	for (size_t cut = 4096; cut < size; cut += 4)
		fuzz_trace(bytes, cut);
}

static void damaged_traces(void **state)
{
	(void)state;
	damaged_file("trace", "trace/app.100.trace", 192, 0, fuzz_trace, cut_everywhere);
}

static void damaged_elf_files(void **state)
{
	(void)state;
	/* GNU ld puts the section headers last. */
	damaged_file("elf", "app", 0x200, 1000, fuzz_elf, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_seeds),
		cmocka_unit_test(elf_seeds),
		cmocka_unit_test(damaged_traces),
		cmocka_unit_test(damaged_elf_files),
	};
	return cmocka_run_group_tests_name("post: hostile input", tests, fixtures_build,
					   fixtures_remove);
}
