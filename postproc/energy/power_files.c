/* Finds the reader of a power file, and what is common to all of them. */
#include "postproc/energy/power.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "postproc/energy/smear.h"
#include "postproc/energy/reader.h"

/* csv takes every text, so it is asked last; raw only when the user says so, so first. */
const struct energy_reader *const energy_readers[] = {
	&energy_reader_raw,  &energy_reader_ppk2,   &energy_reader_sigrok,
	&energy_reader_dlog, &energy_reader_saleae, &energy_reader_energytrace,
	&energy_reader_jls,  &energy_reader_csv,    NULL};

void energy_builder_give_back(struct energy_builder *builder, const struct energy_input *input,
			      size_t at)
{
	at -= at % ENERGY_PIECE; /* a mapping begins at a page, so this is one as well */
	if (input->mapped)
		madvise((void *)(uintptr_t)(input->bytes + builder->passed), at - builder->passed,
			MADV_DONTNEED);
	builder->passed = at;
}

static enum litifut_status read_power(struct energy_power *power, const char *path,
				      const uint8_t *bytes, size_t size, bool mapped,
				      const struct energy_power_options *options,
				      struct litifut_error *error)
{
	static const struct energy_power_options none = {0};
	struct energy_input input = {path, bytes, size, options ? options : &none, mapped};
	struct energy_builder builder = {.power = power, .path = path, .error = error};

	*power = (struct energy_power){0};
	if (!size)
		return energy_builder_fail(&builder, LITIFUT_ERROR_MISSING, "it is empty");
	enum litifut_status status = energy_columns_check(input.options->columns, error);
	if (status != LITIFUT_OK)
		return status;
	for (size_t i = 0; energy_readers[i]; i++) {
		if (!energy_readers[i]->probe(&input))
			continue;
		snprintf(power->format, sizeof(power->format), "%s", energy_readers[i]->name);
		energy_readers[i]->read(&input, &builder);
		if (power->assumed_volts && power->channels < ENERGY_CHANNELS &&
		    input.options->volts[power->channels] > 0)
			energy_builder_fail(&builder, LITIFUT_ERROR_MISSING,
					    "--volts has more voltages than the file has channels, "
					    "%u: they are separated by commas, and have decimal "
					    "points, as in 3.3",
					    power->channels);
		enum litifut_status finished = energy_builder_finish(&builder);

		if (finished == LITIFUT_OK && input.options->tau > 0)
			energy_power_sharpen(power, input.options->tau);
		return finished;
	}
	return energy_builder_fail(&builder, LITIFUT_ERROR_UNSUPPORTED,
				   "it is not a power file of a known kind (--raw reads plain "
				   "numbers)");
}

enum litifut_status energy_power_read(struct energy_power *power, const char *path,
				      const uint8_t *bytes, size_t size,
				      const struct energy_power_options *options,
				      struct litifut_error *error)
{
	return read_power(power, path, bytes, size, false, options, error);
}

enum litifut_status energy_power_open(struct energy_power *power, const char *path,
				      const struct energy_power_options *options,
				      struct litifut_error *error)
{
	struct stat about;
	void *bytes = NULL;

	*power = (struct energy_power){0};
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || fstat(file, &about)) {
		enum litifut_status status =
			litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					  "%s", strerror(errno));
		if (file >= 0)
			close(file);
		return status;
	}
	size_t size = S_ISREG(about.st_mode) ? (size_t)about.st_size : 0;
	if (size)
		bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
	int cause = errno;
	close(file);
	if (bytes == MAP_FAILED)
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "%s", strerror(cause));
	if (size)
		madvise(bytes, size, MADV_SEQUENTIAL);
	enum litifut_status status = read_power(power, path, bytes, size, true, options, error);
	if (size)
		munmap(bytes, size);
	return status;
}

void energy_power_release(struct energy_power *power)
{
	for (unsigned channel = 0; channel < ENERGY_CHANNELS; channel++)
		free(power->watts[channel]);
	free(power->runs);
	free(power->changes);
	*power = (struct energy_power){0};
}

double energy_power_start(const struct energy_power *power)
{
	return power->run_count ? power->runs[0].time : 0;
}

double energy_power_end(const struct energy_power *power)
{
	if (!power->run_count)
		return 0;
	const struct energy_run *last = &power->runs[power->run_count - 1];
	return last->time + (double)last->count * power->interval;
}

static const char *with_commas(uint64_t number, char *text, size_t size)
{
	char plain[32];
	int length = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)number);
	size_t at = 0;

	for (int i = 0; i < length && at + 2 < size; i++) {
		if (i && (length - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = plain[i];
	}
	text[at] = '\0';
	return text;
}

/* Adds to a text that may be full. */
static void add(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add(char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, size - length, format, arguments);
	va_end(arguments);
}

const char *energy_power_describe(const struct energy_power *power, const char *path, char *text,
				  size_t size)
{
	const bool slow = power->interval > 1.001e-3;
	char number[40];

	text[0] = '\0';
	add(text, size, "%s: %s", path, power->format);
	if (power->count)
		add(text, size, ", %s samples at %.4g %sS/s, %.4g s",
		    with_commas(power->count, number, sizeof(number)),
		    (slow ? 1 : 1e-3) / power->interval, slow ? "" : "k",
		    energy_power_end(power) - energy_power_start(power));
	if (power->units[0])
		add(text, size, ", %s", power->units);
	if (power->channels > 1)
		add(text, size, ", %u channels", power->channels);
	if (power->pins == 1)
		add(text, size, ", pin %s", power->pin_names[0]);
	else if (power->pins)
		add(text, size, ", pins %s..%s", power->pin_names[0],
		    power->pin_names[power->pins - 1]);
	if (power->count && power->run_count > 1)
		add(text, size, ", %zu hole%s, %llu sample%s missing", power->run_count - 1,
		    power->run_count > 2 ? "s" : "", (unsigned long long)power->missing,
		    power->missing == 1 ? "" : "s");
	else if (power->count)
		add(text, size, ", no holes");
	if (power->bad)
		add(text, size, ", %llu %s", (unsigned long long)power->bad,
		    power->bad == 1 ? "value is not a number" : "values are not numbers");
	if (power->bad && power->bad_line)
		add(text, size, " (%sin line %llu)", power->bad == 1 ? "" : "the first one ",
		    (unsigned long long)power->bad_line);
	if (power->rebinned)
		add(text, size, "; its times are not equidistant: put into equal intervals");
	if (power->resampled)
		add(text, size,
		    "; this export was thinned out by its program: short functions are lost");
	if (power->assumed_volts) {
		bool alike = true;
		add(text, size, "; voltage");
		for (unsigned i = 1; i < power->channels; i++)
			alike &= power->volts[i] == power->volts[0];
		for (unsigned i = 0; i < (alike ? 1 : power->channels); i++)
			add(text, size, "%s%.4g", i ? ", " : " ", power->volts[i]);
		add(text, size, " V (--volts)");
	}
	return text;
}

int energy_power_pin(const struct energy_power *power, const char *name)
{
	char *end;

	for (unsigned i = 0; i < power->pins; i++) {
		if (!strcmp(power->pin_names[i], name))
			return (int)i;
	}
	unsigned long number = strtoul(name, &end, 10);
	if (*name && !*end && number < power->pins)
		return (int)number;
	return -1;
}

enum litifut_status energy_power_take_pins(struct energy_power *power, struct energy_power *from,
					   struct litifut_error *error)
{
	if (!from->change_count)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, NULL, NULL,
					 LITIFUT_NO_ADDRESS, "the file has no digital pins");
	free(power->changes);
	power->changes = from->changes;
	power->change_count = from->change_count;
	power->pins = from->pins;
	memcpy(power->pin_names, from->pin_names, sizeof(power->pin_names));
	from->changes = NULL;
	from->change_count = 0;
	from->pins = 0;
	return LITIFUT_OK;
}
