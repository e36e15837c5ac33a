/* The fuzz targets of links over inputs that once failed, and over damaged copies of these, always
 * the same ones. `make fuzz-link` goes on from there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>

#include <cmocka.h>

#define SEEDS "tests/fuzz/seeds"

typedef int fuzz_target(const uint8_t *data, size_t size);

fuzz_target fuzz_rewrite, fuzz_firmware, fuzz_link_input, fuzz_link_text;

static const struct target {
	const char *name;
	fuzz_target *run;
} targets[] = {
	{"rewrite", fuzz_rewrite},
	{"firmware", fuzz_firmware},
	{"link_input", fuzz_link_input},
	{"link_text", fuzz_link_text},
};

static void damage(const uint8_t *good, size_t size, fuzz_target *run)
{
	uint8_t *bad = malloc(size + 1);
	uint32_t random = 12345;

	assert_non_null(bad);
	for (int i = 0; i < 100 && size; i++) {
		memcpy(bad, good, size);
		for (int k = 0; k <= i % 4; k++) {
			random = random * 1664525u + 1013904223u;
			bad[random % size] = (uint8_t)(random >> 24);
		}
		run(bad, i % 3 ? size : random % (size + 1));
	}
	free(bad);
}

/* Returns how many files there are in the target's folder, which may be missing. */
static size_t run_folder(const struct target *target)
{
	static uint8_t bytes[1 << 18];
	char path[512];
	DIR *folder;
	size_t count = 0;

	snprintf(path, sizeof(path), SEEDS "/%s", target->name);
	folder = opendir(path);
	for (const struct dirent *entry; folder && (entry = readdir(folder));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), SEEDS "/%s/%s", target->name, entry->d_name);
		FILE *file = fopen(path, "rb");
		assert_non_null(file);
		const size_t size = fread(bytes, 1, sizeof(bytes), file);
		assert_int_equal(fclose(file), 0);
		target->run(bytes, size);
		damage(bytes, size, target->run);
		count++;
	}
	if (folder)
		closedir(folder);
	return count;
}

static void inputs_that_failed(void **state)
{
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		count += run_folder(&targets[i]);
	assert_int_not_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inputs_that_failed),
	};

	return cmocka_run_group_tests_name("links: hostile input", tests, NULL, NULL);
}
