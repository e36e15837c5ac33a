/* How command lines of linkers are cut into options, values and inputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ldwrap/arguments.h"

/* Each word of a command line, and what it must be read as. */
struct reading {
	const char *words[4]; /* after "ld" */
	size_t items;         /* how many they are read as */
	enum argument_kind kind;
	const char *value; /* of the first item */
};

static const struct reading readings[] = {
	{{"main.o"}, 1, ARGUMENT_INPUT, "main.o"},
	{{"-o", "out", "main.o"}, 2, ARGUMENT_OUTPUT, "out"},
	{{"-oout", "main.o"}, 2, ARGUMENT_OUTPUT, "out"},
	{{"--output=out"}, 1, ARGUMENT_OUTPUT, "out"},
	{{"--output", "out"}, 1, ARGUMENT_OUTPUT, "out"},
	/* One dash and an o: ld.bfd reads an output called "magic", "format=binary". */
	{{"-omagic"}, 1, ARGUMENT_OUTPUT, "magic"},
	{{"--omagic"}, 1, ARGUMENT_OMAGIC, NULL},
	{{"--oformat=binary"}, 1, ARGUMENT_OUTPUT_FORMAT, "binary"},
	{{"--oformat", "binary"}, 1, ARGUMENT_OUTPUT_FORMAT, "binary"},
	{{"-r", "a.o"}, 2, ARGUMENT_RELOCATABLE, NULL},
	{{"-i", "a.o"}, 2, ARGUMENT_RELOCATABLE, NULL},
	{{"--relocatable"}, 1, ARGUMENT_RELOCATABLE, NULL},
	{{"-rpath", "/lib", "a.o"}, 2, ARGUMENT_OTHER, "/lib"},
	{{"-rpath=/lib", "a.o"}, 2, ARGUMENT_OTHER, "/lib"},
	{{"--rpath-link", "/lib"}, 1, ARGUMENT_OTHER, "/lib"},
	{{"-soname", "libx.so.1", "a.o"}, 2, ARGUMENT_OTHER, "libx.so.1"},
	{{"-s"}, 1, ARGUMENT_STRIP_ALL, NULL},
	{{"-shared", "a.o"}, 2, ARGUMENT_SHARED, NULL},
	{{"-static", "a.o"}, 2, ARGUMENT_STATIC, NULL},
	{{"-S"}, 1, ARGUMENT_STRIP_DEBUG, NULL},
	{{"-x"}, 1, ARGUMENT_DISCARD_ALL, NULL},
	{{"-X", "a.o"}, 2, ARGUMENT_OTHER, NULL},
	{{"-T", "script"}, 1, ARGUMENT_SCRIPT, "script"},
	{{"-Tscript"}, 1, ARGUMENT_SCRIPT, "script"},
	{{"--script=script"}, 1, ARGUMENT_SCRIPT, "script"},
	{{"-Ttext", "0x8000", "a.o"}, 2, ARGUMENT_TEXT_ADDRESS, "0x8000"},
	{{"-Ttext=0x8000"}, 1, ARGUMENT_TEXT_ADDRESS, "0x8000"},
	{{"-Ttext-segment=0x8000"}, 1, ARGUMENT_OTHER, "0x8000"},
	{{"-Map", "m", "a.o"}, 2, ARGUMENT_MAP, "m"},
	{{"-Map=m", "a.o"}, 2, ARGUMENT_MAP, "m"},
	{{"--Map", "m"}, 1, ARGUMENT_MAP, "m"},
	{{"-M"}, 1, ARGUMENT_PRINT_MAP, NULL},
	{{"-m", "armelf_linux_eabi", "a.o"}, 2, ARGUMENT_EMULATION, "armelf_linux_eabi"},
	{{"-melf32ltsmip", "a.o"}, 2, ARGUMENT_EMULATION, "elf32ltsmip"},
	{{"-EB"}, 1, ARGUMENT_ENDIAN, "EB"},
	{{"-e", "start", "a.o"}, 2, ARGUMENT_ENTRY, "start"},
	{{"-estart"}, 1, ARGUMENT_ENTRY, "start"},
	{{"-export-dynamic", "a.o"}, 2, ARGUMENT_OTHER, NULL},
	{{"-lm"}, 1, ARGUMENT_LIBRARY, "m"},
	{{"-l", "m"}, 1, ARGUMENT_LIBRARY, "m"},
	{{"-l:libm.a"}, 1, ARGUMENT_LIBRARY, ":libm.a"},
	{{"-L", "dir", "a.o"}, 2, ARGUMENT_LIBRARY_PATH, "dir"},
	{{"--version"}, 1, ARGUMENT_PROBE, NULL},
	{{"--help"}, 1, ARGUMENT_PROBE, NULL},
	{{"--print-sysroot"}, 1, ARGUMENT_PROBE, NULL},
	{{"--print-gc-sections", "a.o"}, 2, ARGUMENT_OTHER, NULL},
	{{"--print-map"}, 1, ARGUMENT_PRINT_MAP, NULL},
	{{"-v"}, 1, ARGUMENT_VERSION, NULL},
	{{"-z", "relro", "a.o"}, 2, ARGUMENT_OTHER, "relro"},
	{{"-plugin", "lto.so", "a.o"}, 2, ARGUMENT_OTHER, "lto.so"},
	{{"-plugin-opt=-fresolution=x", "a.o"}, 2, ARGUMENT_OTHER, "-fresolution=x"},
	{{"--build-id", "a.o"}, 2, ARGUMENT_OTHER, NULL},
	{{"--hash-style=gnu", "a.o"}, 2, ARGUMENT_OTHER, "gnu"},
	{{"--wrap", "malloc", "a.o"}, 2, ARGUMENT_OTHER, "malloc"},
	{{"--gc-sections", "a.o"}, 2, ARGUMENT_GC_SECTIONS, NULL},
	{{"-", "a.o"}, 2, ARGUMENT_INPUT, "-"},
	{{"dir with space/a.o"}, 1, ARGUMENT_INPUT, "dir with space/a.o"},
	{{"-o"}, 1, ARGUMENT_OUTPUT, NULL},
};

static void options_are_told_from_values_and_inputs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		const struct reading *reading = &readings[i];
		char *words[6] = {(char *)"ld"};
		struct arguments arguments;
		int count = 1;

		for (; reading->words[count - 1]; count++)
			words[count] = (char *)reading->words[count - 1];
		arguments_parse(count, words, &arguments);
		if (arguments.count != reading->items || arguments.items[0].kind != reading->kind)
			fail_msg("%s: read as %zu items, kind %d", words[1], arguments.count,
				 (int)arguments.items[0].kind);
		if (reading->value)
			assert_string_equal(arguments.items[0].value, reading->value);
		else
			assert_null(arguments.items[0].value);
		arguments_release(&arguments);
	}
}

static void the_last_output_counts(void **state)
{
	char *none[] = {(char *)"ld", (char *)"a.o", NULL};
	char *two[] = {(char *)"ld", (char *)"-o", (char *)"x", (char *)"-oy", NULL};
	struct arguments arguments;

	(void)state;
	arguments_parse(2, none, &arguments);
	assert_string_equal(arguments_output(&arguments), "a.out");
	assert_true(arguments_has_inputs(&arguments));
	arguments_release(&arguments);
	arguments_parse(4, two, &arguments);
	assert_string_equal(arguments_output(&arguments), "y");
	assert_false(arguments_has_inputs(&arguments));
	arguments_release(&arguments);
}

static void which_build_ids_are_of_the_contents(void **state)
{
	static const struct {
		const char *words[3];
		bool of_contents;
	} cases[] = {
		{{"a.o"}, true},
		{{"--build-id"}, true},
		{{"--build-id=sha1"}, true},
		{{"--build-id=0x1234", "a.o"}, false},
		{{"-build-id=0x1234"}, false},
		{{"--build-id=uuid"}, false},
		{{"--build-id=0x1234", "--build-id=md5"}, true},
		{{"--build-id", "--build-id=0x1234"}, false},
		{{"--build-id-dir=0x1"}, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *words[4] = {(char *)"ld"};
		struct arguments arguments;
		int count = 1;

		for (; cases[i].words[count - 1]; count++)
			words[count] = (char *)cases[i].words[count - 1];
		arguments_parse(count, words, &arguments);
		if (arguments_id_is_of_contents(&arguments) != cases[i].of_contents)
			fail_msg("case %zu is read wrong", i);
		arguments_release(&arguments);
	}
}

static void a_response_file_is_expanded(void **state)
{
	char path[] = "/tmp/litifut-test-XXXXXX";
	int file = mkstemp(path);
	char at[64];
	char *words[] = {(char *)"ld", at, (char *)"last.o", NULL};
	static const char text[] = "-o 'out put'\n\"a b.o\" -Map=m c\\ d.o\n";
	struct arguments arguments;

	(void)state;
	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	snprintf(at, sizeof(at), "@%s", path);
	arguments_parse(3, words, &arguments);
	unlink(path);
	assert_int_equal(arguments.count, 5);
	assert_string_equal(arguments_output(&arguments), "out put");
	assert_string_equal(arguments.items[1].value, "a b.o");
	assert_string_equal(arguments.items[3].value, "c d.o");
	assert_string_equal(arguments.items[4].value, "last.o");
	arguments_release(&arguments);
}

static void inputs_of_another_format_are_marked(void **state)
{
	char *words[] = {(char *)"ld",
			 (char *)"a.o",
			 (char *)"-b",
			 (char *)"binary",
			 (char *)"picture",
			 (char *)"-b",
			 (char *)"elf32-littlearm",
			 (char *)"b.o",
			 NULL};
	struct arguments arguments;

	(void)state;
	arguments_parse(8, words, &arguments);
	assert_int_equal(arguments.count, 5);
	assert_false(arguments.items[0].foreign);
	assert_true(arguments.items[2].foreign);
	assert_false(arguments.items[4].foreign);
	arguments_release(&arguments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_told_from_values_and_inputs),
		cmocka_unit_test(the_last_output_counts),
		cmocka_unit_test(which_build_ids_are_of_the_contents),
		cmocka_unit_test(a_response_file_is_expanded),
		cmocka_unit_test(inputs_of_another_format_are_marked),
	};

	return cmocka_run_group_tests_name("linker arguments", tests, NULL, NULL);
}
