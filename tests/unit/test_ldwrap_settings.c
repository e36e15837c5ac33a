/* The environment and the configuration file of the wrapper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <litifut/trace_format.h>

#include "ldwrap/settings.h"
#include "litifut/module_format.h"

static int warnings;

static void count_warning(const char *message)
{
	assert_null(strchr(message, '\n'));
	warnings++;
}

static int clean(void **state)
{
	(void)state;
	/* all but what the test runner tells cmocka */
	const char *output = getenv("CMOCKA_MESSAGE_OUTPUT");
	char kept[16] = "";

	if (output)
		snprintf(kept, sizeof(kept), "%s", output);
	clearenv();
	if (kept[0])
		setenv("CMOCKA_MESSAGE_OUTPUT", kept, 1);
	warnings = 0;
	return 0;
}

static void only_1_switches_it_on(void **state)
{
	static const struct {
		const char *value;
		enum settings_mode mode;
		int warnings;
	} cases[] = {{NULL, SETTINGS_PLAIN, 0},  {"", SETTINGS_PLAIN, 0},
		     {"0", SETTINGS_PLAIN, 0},   {"1", SETTINGS_REWRITE, 0},
		     {"yes", SETTINGS_PLAIN, 1}, {"11", SETTINGS_PLAIN, 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct settings settings;

		clean(state);
		if (cases[i].value)
			setenv("LITIFUT", cases[i].value, 1);
		settings_read(&settings, count_warning);
		assert_int_equal(settings.mode, cases[i].mode);
		assert_int_equal(warnings, cases[i].warnings);
		settings_release(&settings);
	}
}

static void defaults_are_those_of_the_manual(void **state)
{
	struct settings settings;

	(void)state;
	setenv("LITIFUT", "1", 1);
	settings_read(&settings, count_warning);
	assert_true(settings.tail_calls);
	assert_false(settings.strict);
	assert_false(settings.verbose);
	assert_null(settings.recorder);
	assert_null(settings.defaults);
	assert_null(settings.exclude.items);
	assert_int_equal(warnings, 0);
	settings_release(&settings);
}

static void write_config(char *path, const char *text)
{
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	setenv("LITIFUT_CONFIG", path, 1);
}

static void a_config_file_is_read_and_the_environment_outweighs_it(void **state)
{
	char path[] = "/tmp/litifut-test-XXXXXX";
	struct settings settings;

	(void)state;
	write_config(path, "# comment\n"
			   "\n"
			   "exclude = a*, b\n"
			   "  exclude= c  \n"
			   "LITIFUT_TAIL = 0\n"
			   "strict=1\n"
			   "defaults = LITIFUT_DIR=/data LITIFUT_CLOCK=mono\n"
			   "include = from_file\n"
			   "args = open:s0\n"
			   "args =\n"
			   "args = close:i0;dup:i0 # here as well\n"
			   "trigger = stop:f#1\n"
			   "trigger = start:g\n");
	setenv("LITIFUT", "1", 1);
	setenv("LITIFUT_TRIGGER", "stop:h", 1);
	setenv("LITIFUT_INCLUDE", "from_environment", 1);
	settings_read(&settings, count_warning);
	unlink(path);
	assert_int_equal(warnings, 0);
	assert_int_equal(settings.exclude.count, 3);
	assert_string_equal(settings.exclude.items[0], "a*");
	assert_string_equal(settings.exclude.items[2], "c");
	assert_null(settings.exclude.items[3]);
	assert_int_equal(settings.include.count, 1);
	assert_string_equal(settings.include.items[0], "from_environment");
	assert_false(settings.tail_calls);
	assert_true(settings.strict);
	assert_string_equal(settings.defaults, "LITIFUT_DIR=/data LITIFUT_CLOCK=mono");
	assert_string_equal(settings.arguments, "open:s0;close:i0;dup:i0");
	assert_string_equal(settings.trigger, "stop:h");
	settings_release(&settings);
}

static void what_is_wrong_is_said_and_passed_over(void **state)
{
	char path[] = "/tmp/litifut-test-XXXXXX";
	struct settings settings;

	(void)state;
	write_config(path, "no equals sign\nunknown = 1\nstrict = maybe\nverbose = 1\n");
	setenv("LITIFUT", "1", 1);
	setenv("LITIFUT_ENGINE", "steam", 1);
	settings_read(&settings, count_warning);
	unlink(path);
	assert_int_equal(warnings, 4);
	assert_false(settings.strict);
	assert_true(settings.verbose);
	settings_release(&settings);
}

static void there_are_two_engines(void **state)
{
	static const struct {
		const char *name;
		unsigned engine;
	} engines[] = {{"db", LITIFUT_ENGINE_DB}, {"thunk", LITIFUT_ENGINE_THUNK}};

	(void)state;
	setenv("LITIFUT", "1", 1);
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
		struct settings settings;

		setenv("LITIFUT_ENGINE", engines[i].name, 1);
		settings_read(&settings, count_warning);
		assert_int_equal(settings.engine, engines[i].engine);
		settings_release(&settings);
	}
	assert_int_equal(warnings, 0);
}

static void a_missing_config_file_is_said(void **state)
{
	struct settings settings;

	(void)state;
	setenv("LITIFUT", "1", 1);
	setenv("LITIFUT_CONFIG", "/nonexistent/config", 1);
	settings_read(&settings, count_warning);
	assert_int_equal(warnings, 1);
	settings_release(&settings);
}

/* The settings that a link gives to the recorder: which users the device has is not known. */
static void defaults_are_checked(void **state)
{
	static const struct {
		const char *value;
		int warnings;
	} cases[] = {
		{"LITIFUT_DIR=/mnt/usb", 0},
		{" LITIFUT_CLOCK=mono\tLITIFUT_DEDUP=1  LITIFUT_BULK_KB=0 ", 0},
		{"LITIFUT_CLOCK=none LITIFUT_CLOCK=cycle LITIFUT_START=off LITIFUT_COPY_TO=", 0},
		{"LITIFUT_CLOCK=monotonic", 1},
		{"LITIFUT_BULK_KB=64k LITIFUT_MAX_MB=", 2},
		{"LITIFUT_VERBOSE=yes LITIFUT_START=0", 2},
		{"LITIFUT_DIRECTORY=/mnt", 1},
		{"DIR=/mnt", 1},
		{"LITIFUT_DI=/mnt LITIFUT_DIR", 2},
		{"LITIFUT_EXCLUDE=f", 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct settings settings;

		clean(state);
		setenv("LITIFUT", "1", 1);
		setenv("LITIFUT_DEFAULTS", cases[i].value, 1);
		settings_read(&settings, count_warning);
		if (warnings != cases[i].warnings)
			fail_msg("%s: %d warnings", cases[i].value, warnings);
		assert_string_equal(settings.defaults, cases[i].value);
		settings_release(&settings);
	}
}

static void unknown_names_are_told(void **state)
{
	static const struct {
		const char *name;
		int warnings;
	} cases[] = {
		{"LITIFUT_ENGINE", 0}, {"LITIFUT_CONFIG", 0}, {"LITIFUT_CLOCK", 0},
		{"LITIFUT", 0},        {"OTHER_ENGINE", 0},   {"LITIFUT_EXCLUDES", 1},
		{"LITIFUT_EXCLUD", 1}, {"LITIFUT_engine", 1}, {"LITIFUT_", 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		clean(state);
		setenv(cases[i].name, "1", 1);
		settings_check_names(count_warning);
		if (warnings != cases[i].warnings)
			fail_msg("%s: %d warnings", cases[i].name, warnings);
	}
}

static void calls_of_a_firmware_are_told(void **state)
{
	static const struct {
		const char *mode;
		bool firmware;
		int warnings;
	} cases[] = {{NULL, true, 0},      {"", true, 0},       {"calls", true, 1},
		     {"calls", false, 0},  {"counts", true, 0}, {"paths", true, 0},
		     {"spans", true, 0},   {"stream", true, 0}, {"stream", false, 1},
		     {"coverage", true, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct settings settings;

		clean(state);
		setenv("LITIFUT", "1", 1);
		if (cases[i].mode)
			setenv("LITIFUT_MODE", cases[i].mode, 1);
		settings_read(&settings, count_warning);
		settings_suit(&settings, cases[i].firmware, count_warning);
		assert_int_equal(warnings, cases[i].warnings);
		settings_release(&settings);
	}
}

static void balllarus_is_for_firmware(void **state)
{
	for (int firmware = 0; firmware < 2; firmware++) {
		struct settings settings;

		clean(state);
		setenv("LITIFUT", "1", 1);
		setenv("LITIFUT_MODE", "balllarus", 1);
		settings_read(&settings, count_warning);
		settings_suit(&settings, firmware, count_warning);
		assert_int_equal(warnings, !firmware);
		assert_int_equal(settings.recorded,
				 firmware ? LITIFUT_MODE_BALLLARUS : LITIFUT_MODE_PATHS);
		settings_release(&settings);
	}
}

static void patterns_are_for_paths_of_a_firmware(void **state)
{
	static const struct {
		const char *mode;
		bool firmware;
		int warnings;
	} cases[] = {{"paths", true, 0}, {"paths", false, 1}, {"counts", true, 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct settings settings;

		clean(state);
		setenv("LITIFUT", "1", 1);
		setenv("LITIFUT_MODE", cases[i].mode, 1);
		setenv("LITIFUT_PATTERNS", "mined", 1);
		settings_read(&settings, count_warning);
		settings_suit(&settings, cases[i].firmware, count_warning);
		assert_int_equal(warnings, cases[i].warnings);
		settings_release(&settings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(only_1_switches_it_on, clean),
		cmocka_unit_test_setup(defaults_are_those_of_the_manual, clean),
		cmocka_unit_test_setup(a_config_file_is_read_and_the_environment_outweighs_it,
				       clean),
		cmocka_unit_test_setup(what_is_wrong_is_said_and_passed_over, clean),
		cmocka_unit_test_setup(there_are_two_engines, clean),
		cmocka_unit_test_setup(balllarus_is_for_firmware, clean),
		cmocka_unit_test_setup(patterns_are_for_paths_of_a_firmware, clean),
		cmocka_unit_test_setup(a_missing_config_file_is_said, clean),
		cmocka_unit_test_setup(defaults_are_checked, clean),
		cmocka_unit_test_setup(unknown_names_are_told, clean),
		cmocka_unit_test_setup(calls_of_a_firmware_are_told, clean),
	};

	return cmocka_run_group_tests_name("wrapper settings", tests, NULL, NULL);
}
