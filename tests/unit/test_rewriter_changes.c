/* Changes of code on their way into a file, and what keeps the rest of the code as it was. */
#include "rewriter/changes.h"
#include "rewriter/targets.h"

#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Three of the pieces that are written at once, and a bit. */
#define SIZE (3u * 128 * 1024 + 100)
#define START 0x10000u
#define BEFORE 24 /* bytes of the file in front of the section */

struct code {
	FILE *file;
	uint8_t *old;
	struct litifut_section sections[2];
	struct litifut_image image;
};

static int make_code(void **state)
{
	struct code *code = calloc(1, sizeof(*code));
	const size_t bytes = BEFORE + SIZE;

	code->file = tmpfile();
	code->old = malloc(bytes);
	for (size_t i = 0; i < bytes; i++)
		code->old[i] = (uint8_t)(i * 2654435761u >> 13);
	assert_int_equal(fwrite(code->old, 1, bytes, code->file), bytes);
	fflush(code->file);
	code->image.file.size = bytes;
	code->image.file.bytes =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(code->file), 0);
	assert_ptr_not_equal(code->image.file.bytes, MAP_FAILED);
	code->image.file.mapped = true;
	code->sections[1] = (struct litifut_section){
		.name = ".text",
		.address = START,
		.size = SIZE,
		.type = SHT_PROGBITS,
		.flags = SHF_ALLOC | SHF_EXECINSTR,
		.bytes = code->image.file.bytes + BEFORE,
	};
	code->image.sections = code->sections;
	code->image.section_count = 2;
	*state = code;
	return 0;
}

static int drop_code(void **state)
{
	struct code *code = *state;

	munmap(code->image.file.bytes, code->image.file.size);
	fclose(code->file);
	free(code->old);
	free(code);
	return 0;
}

static void only_the_listed_bytes_change(void **state)
{
	static const uint8_t call[4] = {0xaa, 0xbb, 0xcc, 0xdd};
	static const uint32_t places[] = {0,    60,       128 * 1024 - 2, 128 * 1024 + 2,
					  4000, SIZE - 4, 256 * 1024 - 4, 256 * 1024};
	struct code *code = *state;
	struct litifut_changes changes = {0};
	struct litifut_error error;
	uint8_t *expected = malloc(code->image.file.size);
	uint8_t *found = malloc(code->image.file.size);
	uint8_t longer[30];

	memcpy(expected, code->old, code->image.file.size);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		litifut_changes_add(&changes, START + places[i], call, 4, START,
				    LITIFUT_CODE_PLAIN);
		memcpy(expected + BEFORE + places[i], call, 4);
	}
	for (size_t i = 0; i < sizeof(longer); i++)
		longer[i] = (uint8_t)i;
	/* over the end of a piece, and in pieces itself */
	litifut_changes_add(&changes, START + 3 * 128 * 1024 - 13, longer, sizeof(longer), 0,
			    LITIFUT_CODE_PLAIN);
	memcpy(expected + BEFORE + 3 * 128 * 1024 - 13, longer, sizeof(longer));
	litifut_image_lock_code(&code->image);
	assert_int_equal(
		litifut_changes_add_place(&changes, &code->image, START + 9000, 500, &error),
		LITIFUT_OK);
	memset(code->sections[1].bytes + 9000, 0x11, 500);
	memset(expected + BEFORE + 9000, 0x11, 500);

	assert_int_equal(litifut_changes_sort(&changes, &code->image, &error), LITIFUT_OK);
	for (size_t i = 1; i < changes.count; i++)
		assert_true(changes.items[i - 1].address < changes.items[i].address);
	assert_int_equal(litifut_changes_save(&changes, &code->image, &code->sections[1],
					      fileno(code->file), &error),
			 LITIFUT_OK);
	assert_int_equal(pread(fileno(code->file), found, code->image.file.size, 0),
			 code->image.file.size);
	assert_memory_equal(found, expected, code->image.file.size);
	litifut_changes_release(&changes);
	free(expected);
	free(found);
}

static void twice_is_an_error(void **state)
{
	static const uint8_t call[8] = {0};
	struct code *code = *state;

	for (uint32_t distance = 0; distance < 6; distance++) {
		struct litifut_changes changes = {0};
		struct litifut_error error;

		litifut_changes_add(&changes, START + 100 + distance, call, 4, 0,
				    LITIFUT_CODE_THUMB);
		litifut_changes_add(&changes, START + 100, call, 4, 0, LITIFUT_CODE_THUMB);
		assert_int_equal(litifut_changes_sort(&changes, &code->image, &error),
				 distance < 4 ? LITIFUT_ERROR_INTERNAL : LITIFUT_OK);
		if (distance < 4)
			assert_int_equal(error.address, START + 100 + distance);
		litifut_changes_release(&changes);
	}
}

static void full_disk(void **state)
{
	struct code *code = *state;
	struct litifut_changes changes = {0};
	struct litifut_error error;
	FILE *full = fopen("/dev/full", "r+");

	if (!full)
		skip();
	assert_int_equal(litifut_changes_save(&changes, &code->image, &code->sections[1],
					      fileno(full), &error),
			 LITIFUT_ERROR_IO);
	assert_string_equal(error.section, ".text");
	fclose(full);
}

/* How a process ends that writes to the section at `offset`: 0, or the signal. */
static int write_to(const struct code *code, uint32_t offset)
{
	int status;
	pid_t child = fork();

	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		code->sections[1].bytes[offset] = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void locked_code(void **state)
{
	struct code *code = *state;
	struct litifut_changes changes = {0};
	struct litifut_error error;

	assert_int_equal(write_to(code, 200000), 0);
	litifut_image_lock_code(&code->image);
	assert_int_equal(write_to(code, 200000), SIGSEGV);
	assert_int_equal(
		litifut_changes_add_place(&changes, &code->image, START + 199999, 10000, &error),
		LITIFUT_OK);
	assert_int_equal(write_to(code, 199999), 0);
	assert_int_equal(write_to(code, 209998), 0);
	assert_int_equal(write_to(code, 300000), SIGSEGV);
	/* not in the section */
	assert_int_equal(
		litifut_changes_add_place(&changes, &code->image, START + SIZE - 4, 5, &error),
		LITIFUT_ERROR_INTERNAL);
	litifut_changes_release(&changes);
}

static void words_as_targets(void **state)
{
	struct litifut_error error;

	(void)state;
	for (uint32_t first = 0xff0; first < 0x1030; first += 2)
		for (uint32_t count = 0; count < 80; count += 7) {
			struct litifut_targets one;
			struct litifut_targets all;

			assert_false(litifut_targets_create(0x1000, 0x1101, &one, &error));
			assert_false(litifut_targets_create(0x1000, 0x1101, &all, &error));
			for (uint32_t i = 0; i < count; i++)
				litifut_targets_add(&one, first + 4 * i);
			litifut_targets_add_words(&all, first, count);
			assert_memory_equal(one.bits, all.bits, 0x101 / 16 + 1);
			litifut_targets_release(&one);
			litifut_targets_release(&all);
		}
}

/* Sections at both ends of the address space: the set is as large, what is in it is not. */
static void far_targets(void **state)
{
	struct litifut_targets one;
	struct litifut_targets other;
	struct litifut_error error;

	(void)state;
	assert_false(litifut_targets_create(0, UINT32_MAX, &one, &error));
	assert_false(litifut_targets_create(0, UINT32_MAX, &other, &error));
	for (uint32_t i = 0; i < 200; i++) {
		litifut_targets_add(&one, 0x10000 + 4 * i);
		litifut_targets_add(&other, 0xf0000000 + 0x1000 * i);
		litifut_targets_merge(&one, &other);
		assert_true(litifut_targets_has(&one, 0x10000 + 4 * i));
		assert_true(litifut_targets_has(&one, 0xf0000000 + 0x1000 * i));
		assert_false(litifut_targets_has(&one, 0xf0000004 + 0x1000 * i));
	}
	litifut_targets_add_words(&other, 0xffff0000, 0x3ffe);
	litifut_targets_merge(&one, &other);
	assert_true(litifut_targets_has(&one, 0xfffffff0));
	litifut_targets_release(&one);
	litifut_targets_release(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_the_listed_bytes_change, make_code, drop_code),
		cmocka_unit_test_setup_teardown(twice_is_an_error, make_code, drop_code),
		cmocka_unit_test_setup_teardown(full_disk, make_code, drop_code),
		cmocka_unit_test_setup_teardown(locked_code, make_code, drop_code),
		cmocka_unit_test(words_as_targets),
		cmocka_unit_test(far_targets),
	};

	return cmocka_run_group_tests_name("rewriter: changes", tests, NULL, NULL);
}
