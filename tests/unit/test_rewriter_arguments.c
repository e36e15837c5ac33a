/* The text of LITIFUT_ARGS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rewriter/argument_spec.h"

#define FIELD(type, number) LITIFUT_ARGUMENT_FIELD(LITIFUT_ARGUMENT_##type, number)

static char lines[2000];

static void keep(const char *line)
{
	assert_null(strchr(line, '\n'));
	strcat(lines, line);
	strcat(lines, "\n");
}

static void read_text(const char *text, struct litifut_argument_specs *specs)
{
	lines[0] = 0;
	*specs = (struct litifut_argument_specs){0};
	litifut_argument_specs_read(text, specs, keep);
}

static void fields_are_read(void **state)
{
	static const uint8_t open_fields[LITIFUT_ARGUMENT_FIELDS] = {FIELD(STRING, 0),
								     FIELD(SIGNED, 1)};
	static const uint8_t all_fields[LITIFUT_ARGUMENT_FIELDS] = {
		FIELD(UNSIGNED, 0), FIELD(HEX, 12), FIELD(POINTER, 29),
		FIELD(PLAIN, LITIFUT_ARGUMENT_RETURN), FIELD(STRING, LITIFUT_ARGUMENT_RETURN)};
	struct litifut_argument_specs specs;

	(void)state;
	read_text("a::r b::i0 (x):i0;operator a::b*:i0", &specs);
	assert_string_equal(lines, "");
	assert_int_equal(specs.count, 2);
	litifut_argument_specs_release(&specs);
	read_text(" open:s0,i1 ;; a::b<c, d>(int):u0,x12,p29,r,rs;", &specs);
	assert_string_equal(lines, "");
	assert_int_equal(specs.count, 2);
	assert_string_equal(specs.items[0].glob, "open");
	assert_memory_equal(specs.items[0].fields, open_fields, sizeof(open_fields));
	assert_string_equal(specs.items[1].glob, "a::b<c, d>(int)");
	assert_memory_equal(specs.items[1].fields, all_fields, sizeof(all_fields));
	litifut_argument_specs_release(&specs);
	read_text("f:*;g:x1,*", &specs);
	assert_string_equal(lines, "");
	assert_int_equal(specs.count, 2);
	assert_true(specs.items[0].all && specs.items[1].all);
	assert_int_equal(specs.items[0].fields[0], 0);
	assert_int_equal(specs.items[1].fields[0], FIELD(HEX, 1));
	litifut_argument_specs_release(&specs);
}

static void wrong_ones_are_left_out_with_a_line_each(void **state)
{
	static const char *const wrong[] = {
		"f",        ":i0",   "f:",          "f:i",
		"f:0",      "f:i30", "f:i100",      "f:ii0",
		"f:rq",     "f:rii", "f:i0x",       "f:**",
		"f:i0,",    "f:,i0", "f:i-1",       "a::b",
		"f: i0",    "f:q0",  "f:i0,s1 g:*", "f:r g:i0 h:i0",
		"f:* g:i0", "::",    ":",           "f:i0,i1,i2,i3,i4,i5,i6,i7,i8,i9,i10,i11,i12",
	};
	struct litifut_argument_specs specs;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[200];
		/* a comma at the end is neither a field nor a mistake */
		const size_t expected = strcmp(wrong[i], "f:i0,") == 0 ? 2 : 1;

		snprintf(text, sizeof(text), "%s;good:i0", wrong[i]);
		read_text(text, &specs);
		assert_int_equal(specs.count, expected);
		assert_string_equal(specs.items[expected - 1].glob, "good");
		assert_int_equal(lines[0] != 0, expected == 1);
		litifut_argument_specs_release(&specs);
	}
	read_text("", &specs);
	assert_int_equal(specs.count, 0);
	litifut_argument_specs_release(&specs);
}

static void fields_are_added_and_parted(void **state)
{
	uint8_t fields[LITIFUT_ARGUMENT_FIELDS] = {FIELD(SIGNED, 0), FIELD(PLAIN, 31)};
	static const uint8_t more[LITIFUT_ARGUMENT_FIELDS] = {FIELD(SIGNED, 0), FIELD(SIGNED, 1)};
	static const uint8_t of_call[LITIFUT_ARGUMENT_FIELDS] = {FIELD(SIGNED, 0),
								 FIELD(SIGNED, 1)};
	static const uint8_t of_return[LITIFUT_ARGUMENT_FIELDS] = {FIELD(PLAIN, 31)};
	static const uint8_t two_triggers[LITIFUT_ARGUMENT_FIELDS] = {
		LITIFUT_ARGUMENT_FIELD(1, LITIFUT_ARGUMENT_TRIGGER),
		LITIFUT_ARGUMENT_FIELD(2, LITIFUT_ARGUMENT_TRIGGER)};
	static const struct litifut_trigger triggers[LITIFUT_TRIGGERS] = {
		{.kind = LITIFUT_TRIGGER_START},
		{.kind = LITIFUT_TRIGGER_STOP, .longer = {1}},
	};
	uint8_t copy[LITIFUT_ARGUMENT_FIELDS];

	(void)state;
	assert_int_equal(litifut_argument_fields_add(fields, more), 0);
	memcpy(copy, fields, sizeof(copy));
	assert_int_equal(litifut_argument_fields_keep(fields, 0, triggers), 2);
	assert_memory_equal(fields, of_call, sizeof(fields));
	assert_int_equal(litifut_argument_fields_keep(copy, 1, triggers), 1);
	assert_memory_equal(copy, of_return, sizeof(copy));
	/* a trigger is of the call, and of its return as well if it is for calls that take a time
	 */
	memcpy(fields, two_triggers, sizeof(fields));
	memcpy(copy, two_triggers, sizeof(copy));
	assert_int_equal(litifut_argument_fields_keep(fields, 0, triggers), 2);
	assert_memory_equal(fields, two_triggers, sizeof(fields));
	assert_int_equal(litifut_argument_fields_keep(copy, 1, triggers), 1);
	assert_int_equal(copy[0], two_triggers[1]);
	assert_int_equal(copy[1], 0);
	/* what has no room is left out */
	memset(copy, FIELD(HEX, 1), sizeof(copy));
	assert_int_equal(litifut_argument_fields_add(copy, more), 2);
	assert_int_equal(copy[LITIFUT_ARGUMENT_FIELDS - 1], FIELD(HEX, 1));
	/* but a trigger, of which each has its place */
	for (unsigned i = 1; i <= LITIFUT_TRIGGERS; i++) {
		const uint8_t trigger[LITIFUT_ARGUMENT_FIELDS] = {
			LITIFUT_ARGUMENT_FIELD(i, LITIFUT_ARGUMENT_TRIGGER)};

		assert_int_equal(litifut_argument_fields_add(copy, trigger), 1);
		assert_int_equal(litifut_argument_fields_add(copy, trigger), 0);
		assert_int_equal(copy[LITIFUT_ARGUMENT_FIELDS - i], trigger[0]);
	}
	assert_int_equal(copy[LITIFUT_ARGUMENT_FIELDS - LITIFUT_TRIGGERS - 1], FIELD(HEX, 1));
}

/* `f:*,r`: the debug information has the type of the result. */
static void a_result_is_shown_once(void **state)
{
	static const uint8_t plain[LITIFUT_ARGUMENT_FIELDS] = {FIELD(PLAIN, 31)};
	static const uint8_t typed[LITIFUT_ARGUMENT_FIELDS] = {FIELD(STRING, 0), FIELD(SIGNED, 31)};
	static const uint8_t other[LITIFUT_ARGUMENT_FIELDS] = {FIELD(HEX, 31)};
	static const uint8_t all[LITIFUT_ARGUMENT_FIELDS] = {FIELD(SIGNED, 31), FIELD(STRING, 0),
							     FIELD(HEX, 31)};
	uint8_t fields[LITIFUT_ARGUMENT_FIELDS] = {0};

	(void)state;
	assert_int_equal(litifut_argument_fields_add(fields, plain), 0);
	assert_memory_equal(fields, plain, sizeof(fields));
	assert_int_equal(litifut_argument_fields_add(fields, other), 0);
	assert_memory_equal(fields, other, sizeof(fields));
	memcpy(fields, plain, sizeof(fields));
	assert_int_equal(litifut_argument_fields_add(fields, typed), 0);
	assert_int_equal(litifut_argument_fields_add(fields, plain), 0);
	assert_int_equal(litifut_argument_fields_add(fields, other), 0);
	assert_int_equal(fields[0], FIELD(SIGNED, 31));
	assert_memory_equal(fields, all, sizeof(fields));
}

static void triggers_are_read(void **state)
{
	static const char wrong[] =
		"f;go:f;start:;stop:f#0;stop:f#;stop:f#1x;snapshot:#3;stop:f#-1";
	struct litifut_argument_specs specs;
	size_t count = 0;

	(void)state;
	read_text("open:s0", &specs);
	litifut_argument_triggers_read("start:main; stop:a::b(int)#300;snapshot:x#y#2", &specs,
				       keep);
	assert_string_equal(lines, "");
	assert_int_equal(specs.count, 4);
	assert_int_equal(specs.trigger_count, 3);
	assert_string_equal(specs.items[1].glob, "main");
	assert_int_equal(specs.items[1].fields[0], LITIFUT_ARGUMENT_FIELD(1, 30));
	assert_int_equal(specs.items[3].fields[0], LITIFUT_ARGUMENT_FIELD(3, 30));
	assert_string_equal(specs.items[2].glob, "a::b(int)");
	assert_string_equal(specs.items[3].glob, "x#y");
	assert_int_equal(specs.triggers[0].kind, LITIFUT_TRIGGER_START);
	assert_int_equal(specs.triggers[0].call, 0);
	assert_int_equal(specs.triggers[1].kind, LITIFUT_TRIGGER_STOP);
	assert_int_equal(specs.triggers[1].call, 300);
	assert_int_equal(specs.triggers[2].call, 2);
	litifut_argument_triggers_read("stop:1;stop:2;stop:3;stop:4;stop:5", &specs, keep);
	assert_int_equal(specs.trigger_count, LITIFUT_TRIGGERS);
	assert_string_equal(lines,
			    "LITIFUT_TRIGGER: stop:5: there are seven before it; left out\n");
	litifut_argument_specs_release(&specs);
	specs = (struct litifut_argument_specs){0};
	lines[0] = 0;
	litifut_argument_triggers_read(wrong, &specs, keep);
	assert_int_equal(specs.count, 0);
	for (const char *at = lines; *at; at++)
		count += *at == '\n';
	assert_int_equal(count, 8);
	litifut_argument_specs_release(&specs);
}

static void triggers_have_times(void **state)
{
	static const struct {
		const char *text;
		const char *name; /* NULL: the time is wrong */
		uint64_t time;
		uint32_t call;
	} cases[] = {
		{"stop:f>1ns", "f", 1, 0},
		{"stop:f>20us", "f", 20000, 0},
		{"snapshot:f>10ms#3", "f", 10000000, 3},
		{"stop:f>5s", "f", 5000000000, 0},
		{"stop:f>4294967295s", "f", 4294967295000000000, 0},
		{"stop:a<b>::operator>>1ms", "a<b>::operator>", 1000000, 0},
		{"stop:a<b>(int)", "a<b>(int)", 0, 0},
		{"stop:a<b>", "a<b>", 0, 0},
		{"stop:a<b>::c", "a<b>::c", 0, 0},
		{"stop:f>10", NULL, 0, 0},
		{"stop:f>ms", NULL, 0, 0},
		{"stop:f>0ms", NULL, 0, 0},
		{"stop:f>1.5ms", NULL, 0, 0},
		{"stop:f>-1ms", NULL, 0, 0},
		{"stop:f>10 ms", NULL, 0, 0},
		{"stop:f>10m", NULL, 0, 0},
		{"stop:f>10msec", NULL, 0, 0},
		{"stop:f>4294967296ns", NULL, 0, 0},
		{"stop:>10ms", NULL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct litifut_argument_specs specs = {0};
		const struct litifut_trigger *trigger = &specs.triggers[0];

		print_message("# %s\n", cases[i].text);
		lines[0] = 0;
		litifut_argument_triggers_read(cases[i].text, &specs, keep);
		assert_int_equal(specs.count, cases[i].name != NULL);
		assert_int_equal(!lines[0], cases[i].name != NULL);
		if (cases[i].name) {
			assert_string_equal(specs.items[0].glob, cases[i].name);
			assert_int_equal((uint64_t)trigger->longer[1] << 32 | trigger->longer[0],
					 cases[i].time);
			assert_int_equal(trigger->call, cases[i].call);
		}
		assert_int_equal(
			litifut_argument_is_longer(
				LITIFUT_ARGUMENT_FIELD(1, LITIFUT_ARGUMENT_TRIGGER), trigger),
			cases[i].time != 0);
		assert_false(litifut_argument_is_longer(FIELD(SIGNED, 0), trigger));
		litifut_argument_specs_release(&specs);
	}
	struct litifut_argument_specs specs = {.no_returns = true};

	lines[0] = 0;
	litifut_argument_triggers_read("stop:f>1ms;stop:f", &specs, keep);
	assert_int_equal(specs.count, 1);
	assert_string_equal(lines, "LITIFUT_TRIGGER: stop:f>1ms: how long calls take is known with "
				   "LITIFUT_MODE=spans only; left out\n");
	litifut_argument_specs_release(&specs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_read),
		cmocka_unit_test(wrong_ones_are_left_out_with_a_line_each),
		cmocka_unit_test(fields_are_added_and_parted),
		cmocka_unit_test(a_result_is_shown_once),
		cmocka_unit_test(triggers_are_read),
		cmocka_unit_test(triggers_have_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
