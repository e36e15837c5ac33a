/* The fuzz targets over good files, over these cut at every place, and over some thousands of
 * damaged copies, always the same ones. `make fuzz-energy` goes on from there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/unit/power_files.h"

int fuzz_power_csv(const uint8_t *data, size_t size);
int fuzz_power_zip(const uint8_t *data, size_t size);
int fuzz_power_binary(const uint8_t *data, size_t size);
int fuzz_energy_events(const uint8_t *data, size_t size);
int fuzz_energy_machine(const uint8_t *data, size_t size);

typedef int target(const uint8_t *data, size_t size);

/* `make fuzz-energy` takes the good files to start from. */
static void save(const char *name, unsigned number, const struct file_bytes *file)
{
	const char *folder = getenv("LITIFUT_SAVE_SEEDS");
	char path[512];

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/corpus-%s", folder, name);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/corpus-%s/good-%u", folder, name, number);
	FILE *out = fopen(path, "we");
	assert_non_null(out);
	assert_int_equal(fwrite(file->bytes, 1, file->size, out), file->size);
	fclose(out);
}

static void damage(struct file_bytes *file, target *run, const char *name, unsigned number)
{
	uint32_t random = 12345 + number;

	save(name, number, file);
	run(file->bytes, file->size);
	for (size_t size = 0; size < file->size; size += 1 + file->size / 300)
		run(file->bytes, size);
	uint8_t *copy = malloc(file->size);
	assert_non_null(copy);
	for (int i = 0; i < 300; i++) {
		memcpy(copy, file->bytes, file->size);
		for (int k = 0; k <= i % 4; k++) {
			random = random * 1664525u + 1013904223u;
			copy[random % file->size] = (uint8_t)(random >> 24);
		}
		run(copy, file->size);
	}
	free(copy);
	bytes_release(file);
}

static void archives(void **state)
{
	struct file_bytes files[] = {make_ppk2(50, 20), make_sigrok(50)};

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		damage(&files[i], fuzz_power_zip, "power_zip", i);
}

static void binaries(void **state)
{
	struct file_bytes files[] = {make_dlog(20, false),       make_saleae_digital(0, 10),
				     make_saleae_digital(1, 10), make_saleae_analog(0, 30),
				     make_saleae_analog(1, 30),  make_energytrace(20, 0, true)};

	(void)state;
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		damage(&files[i], fuzz_power_binary, "power_binary", i);
}

static void texts(void **state)
{
	static const char *const good[] = {
		"Timestamp(ms),Current(uA),D0-D7\n0,1.5,00000000\n0.01,1e3,1X000000\n0.03,3,-\n",
		"\xef\xbb\xbfTime;I [mA];V\n0,0;1,5;3\n0,1;1,6;3\n0,2;1,7;3\n",
		"Time [s],Channel 0\n0,0\n1,1\n2,0\n",
		"Time Current Voltage\n(ms) (mA) (V)\n0 1 2\n1 2 2\n2 3 2\n3 nan 2\n",
		"time (us),energy (uJ)\n0,0\n10,1\n25,3\n31,4\n45,6\n"};

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct file_bytes file = {0};
		bytes_text(&file, "%s", good[i]);
		damage(&file, fuzz_power_csv, "power_csv", i);
	}
}

static void events(void **state)
{
	static const char good[] =
		"bits 16\n# a comment\nenter 10 0 main\nenter 20 0 f(int, char)\n"
		"pin 21\nenter 22 7 irq\nleave 25 7\ntail 30 0 g\nleave 40 0\n"
		"transfer 41\ntransferred 42\nlost 43 0\ncut 50 0\nleave 5 0\n";
	struct file_bytes file = {0};

	(void)state;
	bytes_text(&file, "%s", good);
	damage(&file, fuzz_energy_events, "energy_events", 0);
}

static void machine(void **state)
{
	static const char good[] = "machine radio\n state off\n state tx power ? duration 1ms\n"
				   " state rx power 3.5mW # louder\n on exit send: off -> tx\n"
				   " on enter irq*: * -> off\n after tx -> rx\n";
	struct file_bytes file = {0};

	(void)state;
	bytes_text(&file, "%s", good);
	damage(&file, fuzz_energy_machine, "energy_machine", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(archives), cmocka_unit_test(binaries),
					   cmocka_unit_test(texts), cmocka_unit_test(events),
					   cmocka_unit_test(machine)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
