/* Power files of every kind: values, rates, holes, pins, and what is said about them. Longer than
 * 500 lines, because each kind has habits and each habit has a case. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "postproc/energy/power.h"
#include "tests/unit/power_files.h"

static struct energy_power power;
static struct litifut_error error;
static const struct energy_power_options three_volts = {.volts = {3}};

#define assert_near(value, wanted) assert_true(fabs((value) - (wanted)) <= 1e-6 * fabs(wanted))

static enum litifut_status read_text(const char *text, const struct energy_power_options *options)
{
	memset(&error, 0, sizeof(error));
	return energy_power_read(&power, "test.csv", (const uint8_t *)text, strlen(text), options,
				 &error);
}

/* Reads three samples in one run. */
static void read_three(const char *text, const struct energy_power_options *options,
		       double interval)
{
	assert_int_equal(read_text(text, options), LITIFUT_OK);
	assert_int_equal(power.count, 3);
	assert_near(power.interval, interval);
}

static enum litifut_status read_bytes(struct file_bytes *file,
				      const struct energy_power_options *options)
{
	memset(&error, 0, sizeof(error));
	enum litifut_status status =
		energy_power_read(&power, "test", file->bytes, file->size, options, &error);
	bytes_release(file);
	return status;
}

static int release(void **state)
{
	(void)state;
	energy_power_release(&power);
	return 0;
}

static const char *described(void)
{
	static char text[512];

	return energy_power_describe(&power, "test.csv", text, sizeof(text));
}

static void ppk2_csv(void **state)
{
	(void)state;
	assert_int_equal(read_text("Timestamp(ms),Current(uA),D0-D7\n"
				   "0,1000.0,00000000\n"
				   "0.01,2000.0,00000000\n"
				   "0.02,3000.5,10000000\n"
				   "0.03,4000,X0000000\n"
				   "0.06,5000,00000000\n"
				   "0.07,6000,01000000\n",
				   &three_volts),
			 LITIFUT_OK);
	assert_int_equal(power.count, 6);
	assert_near(power.interval, 1e-5);
	assert_near(power.watts[0][0], 3e-3);
	assert_near(power.watts[0][2], 9.0015e-3);
	assert_int_equal(power.run_count, 2);
	assert_int_equal(power.missing, 2);
	assert_near(power.runs[1].time, 6e-5);
	assert_int_equal(power.runs[1].count, 2);
	/* D0 rises, falls for a moment within a sample, and is low; then D1 rises */
	assert_int_equal(power.change_count, 4);
	assert_int_equal(power.changes[0].levels, 0);
	assert_int_equal(power.changes[1].levels, 1);
	assert_near(power.changes[1].time, 1.5e-5);
	assert_int_equal(power.changes[2].levels, 0);
	assert_int_equal(power.changes[3].levels, 2);
	assert_int_equal(energy_power_pin(&power, "D1"), 1);
	assert_int_equal(energy_power_pin(&power, "D8"), -1);
	assert_string_equal(described(),
			    "test.csv: PPK2 CSV, 6 samples at 100 kS/s, 8e-05 s, current in uA, "
			    "pins D0..D7, 1 hole, 2 samples missing; voltage 3 V (--volts)");
}

static void needs_volts(void **state)
{
	(void)state;
	assert_int_equal(read_text("Timestamp(ms),Current(uA)\n0,1\n0.01,2\n", NULL),
			 LITIFUT_ERROR_MISSING);
	assert_non_null(strstr(error.message, "--volts"));
}

/* Rows of 0.25 ms each from 998.5 ms on, with `separator` between thousands. */
static void write_thousands(char *text, const char *head, const char *row, int rows, char separator,
			    char decimal)
{
	text += sprintf(text, "%s", head);
	for (int i = 0; i < rows; i++) {
		const double time = 998.5 + 0.25 * i;
		char number[32];
		if (time < 1000)
			sprintf(number, "%d%c%02d", (int)time, decimal, 25 * ((i + 2) % 4));
		else
			sprintf(number, "1%c%03d%c%02d", separator, (int)time - 1000, decimal,
				25 * ((i + 2) % 4));
		text += sprintf(text, row, number);
	}
}

static void thousands(void **state)
{
	char text[65536];

	(void)state;
	write_thousands(text, "Zeit (ms);Strom (mA)\n", "%s;1.000,5\n", 1000, '.', ',');
	assert_int_equal(read_text(text, &three_volts), LITIFUT_OK);
	assert_int_equal(power.count, 1000);
	assert_int_equal(power.bad, 0);
	assert_near(power.watts[0][0], 3.0015);
	assert_near(power.watts[0][999], 3.0015);
	write_thousands(text, "time (ms);current (mA)\n", "%s;1,000.5\n", 1000, ',', '.');
	assert_int_equal(read_text(text, &three_volts), LITIFUT_OK);
	assert_int_equal(power.count, 1000);
	assert_near(power.watts[0][999], 3.0015);
	write_thousands(text, "time (ms),current (mA)\n", "\"%s\",\"1,000.5\"\n", 1000, ',', '.');
	assert_int_equal(read_text(text, &three_volts), LITIFUT_OK);
	assert_int_equal(power.count, 1000);
	assert_near(power.watts[0][999], 3.0015);
	/* the first 50 lines need not have one */
	write_thousands(text, "time (ms);current (mA)\n", "%s;0.5\n", 1000, ',', '.');
	assert_int_equal(read_text(text, &three_volts), LITIFUT_OK);
	assert_int_equal(power.count, 1000);
	assert_near(power.watts[0][999], 0.0015);
}

static void thousands_not_clear(void **state)
{
	char text[65536];

	(void)state;
	/* whole numbers, and then something that may be 1 or 1000 */
	char *at = text + sprintf(text, "time (ms);current (mA)\n");
	for (int i = 900; i < 1000; i++)
		at += sprintf(at, "%d;5\n", i);
	sprintf(at, "1,000;5\n1,001;5\n");
	assert_int_equal(read_text(text, &three_volts), LITIFUT_ERROR_FORMAT);
	assert_non_null(strstr(error.message, "line 102: the comma of 1,000 can be a decimal one"));
	/* the delimiter between thousands */
	write_thousands(text, "time (ms),current (mA)\n", "%s,0.5\n", 100, ',', '.');
	assert_int_equal(read_text(text, &three_volts), LITIFUT_ERROR_FORMAT);
	assert_non_null(strstr(error.message, "line 8: time goes back"));
	assert_int_equal(read_text(text, &three_volts), LITIFUT_ERROR_FORMAT);
	assert_non_null(strstr(error.message, "it has 3 columns, the first one 2"));
}

static void decimal_commas(void **state)
{
	(void)state;
	read_three("\xef\xbb\xbfZeit;Strom [mA];Spannung [V]\r\n"
		   "0,000;1,5;3,3\r\n"
		   "0,001;2,5;3,0\r\n"
		   "0,002;2,5;3,0\r\n",
		   &(struct energy_power_options){.columns = "time=1:s"}, 1e-3);
	assert_near(power.watts[0][0], 1.5e-3 * 3.3);
	assert_false(power.assumed_volts);
	assert_non_null(strstr(described(), "decimal commas"));
}

static void unit_line_and_channels(void **state)
{
	(void)state;
	assert_int_equal(read_text("# a comment, and another\n"
				   "Time\tCurrent 1\tCurrent 2\tVolt 1\tVolt 2\tGPI0\n"
				   "(ms)\t(mA)\t(uA)\t(V)\t(mV)\t\n"
				   "0\t1\t10\t3\t1800\t0\n"
				   "1\t2\t20\t3\t1800\t1\n"
				   "2\t2\t20\t3\t1800\t1\n",
				   NULL),
			 LITIFUT_OK);
	assert_int_equal(power.channels, 2);
	assert_near(power.watts[0][1], 6e-3);
	assert_near(power.watts[1][1], 36e-6);
	assert_string_equal(power.channel_names[1], "Current 2");
	assert_int_equal(power.pins, 1);
	assert_int_equal(power.changes[1].levels, 1);
}

/* Each channel has its supply; the first one alone is that of all. */
static void supplies(void **state)
{
	static const char text[] = "time (ms),cpu (mA),radio (mA)\n0,1,10\n1,1,20\n2,1,30\n";

	(void)state;
	assert_int_equal(read_text(text, &(struct energy_power_options){.volts = {3, 1.5}}),
			 LITIFUT_OK);
	assert_near(power.watts[0][1], 3e-3);
	assert_near(power.watts[1][1], 30e-3);
	assert_non_null(strstr(described(), "voltage 3, 1.5 V (--volts)"));
	energy_power_release(&power);
	/* a decimal comma, in a file with less channels */
	assert_int_equal(read_text("time (ms),cpu (mA)\n0,1\n1,1\n2,1\n",
				   &(struct energy_power_options){.volts = {3, 3}}),
			 LITIFUT_ERROR_MISSING);
	assert_non_null(strstr(error.message, "more voltages than the file has channels, 1"));
	energy_power_release(&power);
	assert_int_equal(read_text(text, &three_volts), LITIFUT_OK);
	assert_near(power.watts[1][1], 60e-3);
	assert_non_null(strstr(described(), "voltage 3 V (--volts)"));
	energy_power_release(&power);
	assert_int_equal(read_text("time (ms),a (mA),b (mA),c (mA)\n0,1,1,1\n1,1,1,1\n",
				   &(struct energy_power_options){.volts = {3, 1.5}}),
			 LITIFUT_ERROR_MISSING);
	assert_non_null(strstr(error.message, "in 3 channels"));
}

/* What spreadsheets make of a file: quotes, decimal commas in quotes, levels of pins as a number.
 */
static void by_spreadsheets(void **state)
{
	(void)state;
	read_three("\"Timestamp(ms)\",\"Current(uA)\",\"D0-D7\"\r\n"
		   "\"0,00\",\"1000,5\",\"00000000\"\r\n"
		   "\"0,01\",\"2000,5\",\"01000000\"\r\n"
		   "\"0,02\", 3000,\"01000000\"\r\n",
		   &three_volts, 1e-5);
	assert_near(power.watts[0][1], 6.0015e-3);
	assert_near(power.watts[0][2], 9e-3);
	assert_int_equal(power.changes[1].levels, 2);
	energy_power_release(&power);
	/* 00000000, 01000000, 00010001 */
	assert_int_equal(read_text("Timestamp(ms),Current(uA),D0-D7\n"
				   "0,1000,0\n0.01,1000,1000000\n0.02,1000,10001\n",
				   &three_volts),
			 LITIFUT_OK);
	assert_int_equal(power.change_count, 3);
	assert_int_equal(power.changes[0].levels, 0);
	assert_int_equal(power.changes[1].levels, 1 << 1);
	assert_int_equal(power.changes[2].levels, 1 << 3 | 1 << 7);
}

/* 10 us are only 42 steps of a number since 1970. */
static void times_since_1970(void **state)
{
	struct file_bytes file = {0};

	(void)state;
	bytes_text(&file, "time (s),current (A),D0\n");
	for (int i = 0; i < 20000; i++)
		bytes_text(&file, "%d.%06d,0.001,%d\n", 1700000000 + i / 100000, i * 10 % 1000000,
			   i >= 15000);
	assert_int_equal(read_bytes(&file, &three_volts), LITIFUT_OK);
	assert_int_equal(power.count, 20000);
	assert_int_equal(power.run_count, 1);
	assert_true(fabs(power.interval - 1e-5) < 1e-10);
	assert_true(fabs(power.runs[0].time - 1700000000.0) < 1e-6);
	assert_int_equal(power.change_count, 2);
	assert_true(fabs(power.changes[1].time - 1700000000.15) < 1e-5);
}

/* An oscilloscope measures the voltage over a shunt, and gives units in words. */
static void oscilloscopes(void **state)
{
	const struct energy_power_options shunt = {.volts = {3}, .ohms = 10, .gain = 2};

	(void)state;
	assert_int_equal(read_text("\"in s\",\"C1 in V\"\n-0.001,0.2\n0,0.4\n0.001,0.4\n", &shunt),
			 LITIFUT_OK);
	assert_near(power.interval, 1e-3);
	assert_near(power.watts[0][0], 3 * 0.2 / 20);
	assert_string_equal(power.channel_names[0], "C1");
	energy_power_release(&power);
	/* a voltage beside a current is the supply's */
	assert_int_equal(read_text("time (s),a (A),b (V)\n0,1,5\n1,1,5\n", &shunt), LITIFUT_OK);
	assert_near(power.watts[0][0], 5.0);
}

static void quantised_time(void **state)
{
	struct file_bytes file = {0};

	(void)state;
	/* 7812.5 samples a second, times of one decimal of a millisecond */
	bytes_text(&file, "time (ms),power (mW)\n");
	for (int i = 0; i < 20000; i++)
		bytes_text(&file, "%.1f,%d\n", floor(i * 1.28) / 10, i % 7);
	assert_int_equal(read_bytes(&file, NULL), LITIFUT_OK);
	assert_int_equal(power.count, 20000);
	assert_int_equal(power.run_count, 1);
	assert_true(fabs(power.interval - 128e-6) < 1e-9);
}

static void coarse_time(void **state)
{
	struct file_bytes file = {0};

	(void)state;
	/* ten samples with the same time, and 100 missing after 50,000 */
	bytes_text(&file, "time (ms),power (mW)\n");
	for (int i = 0; i < 100000; i++)
		bytes_text(&file, "%d,1\n", (i + (i < 50000 ? 0 : 100)) / 10);
	assert_int_equal(read_bytes(&file, NULL), LITIFUT_OK);
	assert_int_equal(power.count, 100000);
	assert_true(fabs(power.interval - 1e-4) < 1e-7);
	assert_int_equal(power.run_count, 2);
	assert_true(power.missing >= 90 && power.missing <= 110);
}

static void many_holes(void **state)
{
	struct file_bytes file = {0};
	size_t kept = 0;

	(void)state;
	bytes_text(&file, "time (us),power (mW)\n");
	for (int i = 0; i < 30000; i++) {
		if (i % 97 == 5 || i % 1013 < 3)
			continue;
		bytes_text(&file, "%d,%d\n", i * 10, i % 1000);
		kept++;
	}
	assert_int_equal(read_bytes(&file, NULL), LITIFUT_OK);
	assert_int_equal(power.count, kept);
	assert_near(power.interval, 1e-5);
	/* the first three are missing before there is a clock; the rest are holes */
	assert_int_equal(power.missing, 30000 - 3 - kept);
	for (size_t run = 0; run < power.run_count; run++) {
		double first = power.runs[run].time / 1e-5;
		assert_true(fabs(first - round(first)) < 0.01);
		assert_near(power.watts[0][power.runs[run].first], fmod(round(first), 1000) * 1e-3);
	}
}

static void uneven_times(void **state)
{
	struct file_bytes file = {0};
	double time = 0, energy = 0, sum = 0;
	unsigned seed = 1;

	(void)state;
	bytes_text(&file, "time (s),power (W)\n");
	for (int i = 0; i < 5000; i++) {
		double watts = 1 + i % 5;
		seed = seed * 1103515245u + 12345u;
		double length = 1e-3 * (0.2 + (seed >> 16) % 1000 / 500.0);
		bytes_text(&file, "%.9f,%g\n", time, watts);
		time += length;
		if (i < 4999)
			energy += watts * length;
	}
	assert_int_equal(read_bytes(&file, NULL), LITIFUT_OK);
	assert_true(power.rebinned);
	for (size_t i = 0; i < power.count; i++)
		sum += power.watts[0][i] * power.interval;
	assert_true(fabs(sum / energy - 1) < 1e-3); /* up to the last interval */
	assert_non_null(strstr(described(), "not equidistant"));
}

static void not_numbers(void **state)
{
	(void)state;
	assert_int_equal(read_text("time (s),current (A),voltage (V)\n0,1,2\n1,NaN,2\n2,1,2\n"
				   "3,overflow,2\n4,1e3,2\n5,1,2\n",
				   NULL),
			 LITIFUT_OK);
	assert_int_equal(power.count, 4);
	assert_int_equal(power.bad, 2);
	assert_int_equal(power.bad_line, 3);
	assert_int_equal(power.missing, 2);
	assert_near(power.watts[0][2], 2000.0);
}

/* Numbers, levels and ends of rows in all forms, each often enough that it stands inside a long
 * file, where most rows are read by a short way, and at its end, where none is. */
static void forms_of_rows(void **state)
{
	static const char *const numbers[] = {"1.5",
					      "12345.678",
					      "0.0001",
					      "1234567",
					      "12345678",
					      "-3",
					      "-0.25",
					      "1234567890.5",
					      "0.1234567",
					      "0.12345678",
					      "1e3",
					      "2.5E-2",
					      "+7",
					      ".5",
					      "5.",
					      "0",
					      " 8",
					      "9 ",
					      "99999999.9999999",
					      "123456789012",
					      "1234567.1234567"};
	static const char *const levels[] = {"00000000", "10000001", "1000000X",
					     "11111111", "0000000-", "01010101"};
	static const char *const ends[] = {"\n", "\r\n", ",more\n", ",\n", "\n\n", "\n# no row\n"};
	enum { ROWS = 4001, NUMBERS = 21, LEVELS = 6, ENDS = 6 };
	static char text[ROWS * 80];
	size_t length = (size_t)sprintf(text, "Time(s),Current(A),D0-D7\n");
	uint16_t now = 0;
	size_t change = 0;

	(void)state;
	for (int i = 0; i < ROWS; i++)
		length += (size_t)sprintf(text + length, "%d.%03d,%s,%s%s", i / 1000, i % 1000,
					  numbers[i % NUMBERS], levels[i % 37 % LEVELS],
					  ends[i % 11 % ENDS]);
	assert_true(length < sizeof(text));
	assert_int_equal(read_text(text, &three_volts), LITIFUT_OK);
	assert_int_equal(power.count, ROWS);
	assert_int_equal(power.run_count, 1);
	assert_near(power.interval, 1e-3);
	for (int i = 0; i < ROWS; i++) {
		const double wanted = 3 * strtod(numbers[i % NUMBERS], NULL);
		assert_float_equal(power.watts[0][i], (float)wanted, 1e-6 * fabs(wanted));
		uint16_t next = now;
		for (int pin = 0; pin < 8; pin++) {
			const char level = levels[i % 37 % LEVELS][pin];
			const uint16_t bit = (uint16_t)(1 << pin);
			/* X: it was the other one for a moment */
			if (level == '1' || (level == 'X' && !(now & bit)))
				next |= bit;
			else if (level != '-')
				next &= (uint16_t)~bit;
		}
		if (!i || next != now)
			assert_int_equal(power.changes[change++].levels, next);
		now = next;
	}
	assert_int_equal(power.change_count, change);
}

/* One pin in each of two columns, and a column that is not used in front of them. */
static void pins_in_columns(void **state)
{
	static char text[200000];
	size_t length = (size_t)sprintf(text, "Time(ms),Note,Current(mA),D0,D1\n");

	(void)state;
	for (int i = 0; i < 4000; i++)
		length += (size_t)sprintf(text + length, "%d,%d,%d.5,%d,%s\n", i, 7 * i, i % 100,
					  i / 1000 % 2, i % 2000 < 500 ? "0" : "1.0");
	assert_true(length < sizeof(text));
	assert_int_equal(read_text(text, &three_volts), LITIFUT_OK);
	assert_int_equal(power.count, 4000);
	assert_int_equal(power.pins, 2);
	for (int i = 0; i < 4000; i++)
		assert_near(power.watts[0][i], 3e-3 * (i % 100 + 0.5));
	static const uint16_t wanted[] = {0, 2, 3, 0, 2, 3};
	assert_int_equal(power.change_count, 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(power.changes[i].levels, wanted[i]);
}

/* A row without a number in the middle of many: the message has its line. */
static void a_bad_row_of_many(void **state)
{
	static char text[200000];
	size_t length = (size_t)sprintf(text, "Time(ms),Current(mA)\n");

	(void)state;
	for (int i = 0; i < 6000; i++)
		length += (size_t)sprintf(text + length,
					  i == 3000 || i == 5000 ? "%d,no\n" : "%d,2\n", i);
	assert_true(length < sizeof(text));
	assert_int_equal(read_text(text, &three_volts), LITIFUT_OK);
	assert_int_equal(power.count, 5998);
	assert_int_equal(power.bad, 2);
	assert_int_equal(power.bad_line, 3002);
	assert_int_equal(power.run_count, 3);
}

/* A file of which pieces were given back while it was read. */
static void large_file(void **state)
{
	enum { ROWS = 200000, SIZE = 40 << 20 };
	char path[] = "/tmp/litifut-power-XXXXXX";
	char *text = malloc(SIZE);
	size_t length = 0;

	(void)state;
	assert_non_null(text);
	length += (size_t)sprintf(text, "Time(s),Note,Current(A)\n");
	for (int i = 0; i < ROWS; i++)
		length += (size_t)sprintf(text + length, "%d.%03d,%0150d,%d.5\n", i / 1000,
					  i % 1000, i, i % 1009);
	assert_true(length > 30 << 20 && length < SIZE);
	int file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, text, length), length);
	close(file);
	free(text);
	assert_int_equal(energy_power_open(&power, path, &three_volts, &error), LITIFUT_OK);
	unlink(path);
	assert_int_equal(power.count, ROWS);
	for (int i = 0; i < ROWS; i++)
		assert_true(power.watts[0][i] == (float)(3 * (i % 1009 + 0.5)));
}

static void without_times(void **state)
{
	(void)state;
	assert_int_equal(read_text("Current(uA)\n1\n2\nx\n4\n", &three_volts),
			 LITIFUT_ERROR_MISSING);
	energy_power_release(&power);
	assert_int_equal(read_text("Current(uA)\n1\n2\nx\n4\n",
				   &(struct energy_power_options){.volts = {3}, .rate = 1000}),
			 LITIFUT_OK);
	assert_int_equal(power.count, 3);
	assert_int_equal(power.run_count, 2);
	assert_near(power.runs[1].time, 3e-3);
}

static void vendors_headers(void **state)
{
	static const struct {
		const char *text;
		double watts;
		bool resampled;
	} cases[] = {
		{"Time (s),Main Avg Current (mA),Main Max Current (mA),Main Avg Voltage (V)\n"
		 "0.0,100,900,4\n0.0002,100,900,4\n0.0004,100,900,4\n",
		 0.4, false},
		{"# time,JS220-000415.i,JS220-000415.v,JS220-000415.p\n0.0,0.1,4,0.4\n"
		 "0.001,0.1,4,0.4\n0.002,0.1,4,0.4\n",
		 0.4, true},
		{"timestamp,observer_id,node_id,value_mA\n0.0,1,2,100\n0.001,1,2,100\n"
		 "0.002,1,2,100\n",
		 0.3, false},
		{"; Samplerate: 1 kHz\nTime,I,V\ns,A,V\n0,0.1,4\n0.001,0.1,4\n0.002,0.1,4\n", 0.4,
		 false},
		{"\"Time [s]\",\"Power [W]\"\n0,0.4\n0.001,0.4\n0.002,0.4\n", 0.4, false},
		{"Time (ms),Energy (mJ)\n0,0\n1,0.4\n2,0.8\n3,1.2\n", 0.4, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(read_text(cases[i].text, &three_volts), LITIFUT_OK);
		assert_int_equal(power.channels, 1);
		assert_int_equal(power.count, 3);
		assert_near(power.watts[0][1], cases[i].watts);
		assert_int_equal(power.resampled, cases[i].resampled);
		energy_power_release(&power);
	}
}

static void columns_by_option(void **state)
{
	(void)state;
	assert_int_equal(
		read_text("timestamp,measured\n0,7\n1,8\n2,9\n",
			  &(struct energy_power_options){
				  .volts = {2}, .columns = "time=1:10us,current=measured:uA"}),
		LITIFUT_OK);
	assert_near(power.interval, 1e-5);
	assert_near(power.watts[0][2], 18e-6);
	energy_power_release(&power);
	assert_int_equal(read_text("a,b\n0,7\n1,8\n", &three_volts), LITIFUT_ERROR_FORMAT);
	assert_non_null(strstr(error.message, "--columns"));
	energy_power_release(&power);
	assert_int_equal(
		read_text("a,b\n0,7\n", &(struct energy_power_options){.columns = "colour=1"}),
		LITIFUT_ERROR_FORMAT);
}

static void sync_file(void **state)
{
	struct energy_power pins;

	(void)state;
	assert_int_equal(read_text("Time [s],Channel 0,Channel 1\n0.0,0,1\n0.125,1,1\n"
				   "0.5,0,0\n1.0,X,X\n",
				   NULL),
			 LITIFUT_OK);
	assert_int_equal(power.count, 0);
	assert_int_equal(power.change_count, 3);
	assert_int_equal(power.changes[1].levels, 3);
	assert_near(power.changes[1].time, 0.125);
	pins = power;
	assert_int_equal(read_text("time (s),power (W)\n0,1\n1,1\n2,1\n", NULL), LITIFUT_OK);
	assert_int_equal(energy_power_take_pins(&power, &pins, &error), LITIFUT_OK);
	assert_int_equal(energy_power_pin(&power, "Channel 1"), 1);
	energy_power_release(&pins);
}

static void ppk2_archive(void **state)
{
	struct file_bytes file = make_ppk2(1000, 400);

	(void)state;
	assert_int_equal(read_bytes(&file, &three_volts), LITIFUT_OK);
	assert_string_equal(power.format, "PPK2");
	assert_int_equal(power.count, 1000);
	assert_near(power.interval, 1e-5);
	assert_near(power.watts[0][999], 1999e-6 * 3);
	assert_int_equal(power.change_count, 2);
	assert_int_equal(power.changes[1].levels, 1);
	assert_near(power.changes[1].time, 400e-5 - 0.5e-5);
}

static void sigrok_archive(void **state)
{
	struct file_bytes file = make_sigrok(1000);

	(void)state;
	assert_int_equal(
		read_bytes(&file,
			   &(struct energy_power_options){.volts = {3}, .columns = "current=3:mA"}),
		LITIFUT_OK);
	assert_string_equal(power.format, "sigrok");
	assert_int_equal(power.count, 1000);
	assert_near(power.watts[0][9], 30e-3);
	assert_int_equal(energy_power_pin(&power, "SYNC"), 1);
	assert_int_equal(power.change_count, 20);
	assert_true(fabs(power.changes[1].time - 49.5e-6) < 1e-9);
}

static void keysight(void **state)
{
	struct file_bytes file = make_dlog(500, false);

	(void)state;
	assert_int_equal(read_bytes(&file, NULL), LITIFUT_OK);
	assert_int_equal(power.channels, 2);
	assert_int_equal(power.count, 500);
	assert_near(power.interval, 2.048e-5);
	assert_near(power.watts[0][99], 0.3);
	assert_near(power.watts[1][99], 0.05);
	assert_string_equal(power.channel_names[1], "channel 3");
	energy_power_release(&power);
	file = make_dlog(5, true);
	assert_int_equal(read_bytes(&file, NULL), LITIFUT_ERROR_UNSUPPORTED);
}

static void saleae(void **state)
{
	const struct energy_power_options shunt = {.volts = {3}, .ohms = 10, .gain = 2};

	(void)state;
	for (unsigned version = 0; version < 2; version++) {
		struct file_bytes file = make_saleae_digital(version, 10);
		assert_int_equal(read_bytes(&file, NULL), LITIFUT_OK);
		assert_int_equal(power.change_count, 11);
		assert_near(power.changes[10].time, 0.01);
		energy_power_release(&power);
		file = make_saleae_analog(version, 100);
		assert_int_equal(read_bytes(&file, &shunt), LITIFUT_OK);
		assert_int_equal(power.count, version ? 200 : 100);
		assert_near(power.watts[0][9], 10e-3 / 20 * 3);
		assert_int_equal(power.run_count, version ? 2 : 1);
		assert_near(power.interval, 8e-6);
		energy_power_release(&power);
	}
	struct file_bytes file = make_saleae_analog(0, 100);
	assert_int_equal(read_bytes(&file, &three_volts), LITIFUT_ERROR_MISSING);
}

static void energytrace(void **state)
{
	(void)state;
	for (int with_state = 0; with_state < 2; with_state++) {
		/* the counter wraps on the way */
		struct file_bytes file = make_energytrace(1000, 4294967296.0 - 5e5, with_state);
		double sum = 0;
		assert_int_equal(read_bytes(&file, NULL), LITIFUT_OK);
		assert_string_equal(power.format, "TI EnergyTrace");
		for (size_t i = 0; i < power.count; i++) {
			assert_near(power.watts[0][i], 1e-3);
			sum += power.watts[0][i] * power.interval;
		}
		assert_true(fabs(sum / 1.249e-3 - 1) < 2e-3);
		energy_power_release(&power);
	}
}

/* What can't be a power is counted and left out. */
static void too_much(void **state)
{
	static const char text[] = "1000 300 3300 0\n2000 300 3300 1000\n3000 300 3300 1e99\n"
				   "4000 300 3300 1e99\n";

	(void)state;
	assert_int_equal(read_text(text, NULL), LITIFUT_OK);
	assert_string_equal(power.format, "TI EnergyTrace");
	assert_true(power.bad > 0);
	for (size_t i = 0; i < power.count; i++)
		assert_true(isfinite(power.watts[0][i]));
}

static void raw_numbers(void **state)
{
	struct file_bytes file = {0};

	(void)state;
	for (int i = 0; i < 10; i++)
		bytes_integer(&file, (uint64_t)(int64_t)-i, 2, true);
	assert_int_equal(read_bytes(&file, &(struct energy_power_options){.volts = {2},
									  .rate = 1e6,
									  .raw = "i16be",
									  .columns = "current=1:uA",
									  .negate = true}),
			 LITIFUT_OK);
	assert_near(power.watts[0][9], 18e-6);
	assert_near(power.interval, 1e-6);
}

static void refused(void **state)
{
	static const char *const texts[] = {"",
					    "\n\n\n",
					    "hello\nworld\n",
					    "time (s),power (W)\n0,1\n1,1\n0.2,1\n1,1\n2,2\n",
					    "time (s),power (W)\n0,1\n0,1\n0,1\n",
					    "time (s),power (W)\nx,1\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_not_equal(read_text(texts[i], &three_volts), LITIFUT_OK);
		assert_true(error.message[0]);
		energy_power_release(&power);
	}
}

/* A text of many rows. */
static char *many_rows(int rows, const char *head, const char *(*line)(int, char *))
{
	char *text = test_malloc((size_t)rows * 48 + 64), *at = text + sprintf(text, "%s", head);
	char room[128];

	for (int i = 0; i < rows; i++)
		at += sprintf(at, "%s", line(i, room));
	return text;
}

enum { MANY_ROWS = 200000 };

/* A comment or an empty line before each fifth row, blanks around the numbers of each 97th. */
static const char *odd_line(int row, char *room)
{
	const char *before = row % 5 ? "" : row % 2 ? "# as long as some rows\n" : "\r\n\n";

	sprintf(room, row % 97 ? "%s%d.%02d,%d,%d\n" : "%s %d.%02d, %d ,%d\r\n", before, row / 100,
		row % 100, row % 1000 + 1, row / 5000 % 2);
	return room;
}

static const char *short_line(int row, char *room)
{
	sprintf(room, "%d\n", row % 7);
	return room;
}

static void rows_of_large_texts(void **state)
{
	const struct energy_power_options rate = {.volts = {3}, .rate = 1000};
	char *text = many_rows(MANY_ROWS, "Timestamp(ms),Current(uA),D0\n", odd_line);

	(void)state;
	assert_int_equal(read_text(text, &three_volts), LITIFUT_OK);
	assert_int_equal(power.count, MANY_ROWS);
	assert_int_equal(power.run_count, 1);
	assert_int_equal(power.bad, 0);
	for (int i = 0; i < MANY_ROWS; i++)
		assert_near(power.watts[0][i], 3e-6 * (i % 1000 + 1));
	assert_int_equal(power.change_count, MANY_ROWS / 5000);
	for (size_t i = 1; i < power.change_count; i++)
		assert_near(power.changes[i].time, 5e-2 * (double)i - 5e-6);
	energy_power_release(&power);

	/* without a value there, at a line that is named */
	char *row = strstr(text, "\n1500.07,");
	assert_non_null(row);
	row[1] = 'x';
	const char *before = text;
	int line = 1;
	while ((before = strchr(before, '\n')) && before++ <= row)
		line++;
	assert_int_equal(read_text(text, &three_volts), LITIFUT_OK);
	assert_int_equal(power.bad, 1);
	assert_int_equal(power.bad_line, line);
	assert_int_equal(power.count, MANY_ROWS - 1);
	energy_power_release(&power);

	/* a time that goes back */
	memcpy(row + 1, "0000", 4);
	assert_int_equal(read_text(text, &three_volts), LITIFUT_ERROR_FORMAT);
	char wanted[32];
	sprintf(wanted, "line %d:", line);
	assert_non_null(strstr(error.message, wanted));
	energy_power_release(&power);
	test_free(text);

	text = many_rows(8 * MANY_ROWS, "Current(A)\n", short_line);
	assert_int_equal(read_text(text, &rate), LITIFUT_OK);
	assert_int_equal(power.count, 8 * MANY_ROWS);
	for (int i = 0; i < 8 * MANY_ROWS; i++)
		assert_near(power.watts[0][i], 3.0 * (i % 7));
	test_free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, release)
	const struct CMUnitTest tests[] = {TEST(ppk2_csv),        TEST(needs_volts),
					   TEST(thousands),       TEST(thousands_not_clear),
					   TEST(decimal_commas),  TEST(unit_line_and_channels),
					   TEST(quantised_time),  TEST(coarse_time),
					   TEST(many_holes),      TEST(uneven_times),
					   TEST(not_numbers),     TEST(without_times),
					   TEST(vendors_headers), TEST(columns_by_option),
					   TEST(sync_file),       TEST(ppk2_archive),
					   TEST(sigrok_archive),  TEST(keysight),
					   TEST(saleae),          TEST(energytrace),
					   TEST(raw_numbers),     TEST(too_much),
					   TEST(refused),         TEST(supplies),
					   TEST(by_spreadsheets), TEST(times_since_1970),
					   TEST(oscilloscopes),   TEST(forms_of_rows),
					   TEST(pins_in_columns), TEST(a_bad_row_of_many),
					   TEST(large_file),      TEST(rows_of_large_texts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
