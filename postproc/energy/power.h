/* A recording of a power analyser: samples of power on up to four channels, at one rate,
 * with the places where samples are missing and with the levels of digital pins.
 *
 * Everything is in SI units: seconds of the analyser's clock, watts. A sample stands for
 * the time from its start to the start of the next one. */
#ifndef LITIFUT_POSTPROC_ENERGY_POWER_H
#define LITIFUT_POSTPROC_ENERGY_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define ENERGY_CHANNELS 4
#define ENERGY_PINS 16

/* Samples without a hole between them. */
struct energy_run {
	double time;  /* start of its first sample, seconds */
	size_t first; /* number of its first sample in the arrays */
	size_t count;
};

/* The pins have these levels from a time on. */
struct energy_pins_change {
	double time;       /* the middle of the time in which it happened, seconds */
	float uncertainty; /* half of that time, seconds */
	uint16_t levels;
};

struct energy_power {
	size_t count;    /* samples of each channel */
	double interval; /* seconds a sample */
	double kept;     /* of a sample in the next one, which was taken out; 0: nothing was */
	unsigned channels;
	float *watts[ENERGY_CHANNELS];
	char channel_names[ENERGY_CHANNELS][32];
	struct energy_run *runs; /* by time, at least one when there are samples */
	size_t run_count;
	struct energy_pins_change *changes; /* by time; the first one is the state at the start */
	size_t change_count;
	unsigned pins;
	char pin_names[ENERGY_PINS][32];
	uint64_t missing;   /* samples that the holes would have held */
	uint64_t bad;       /* values that are not numbers; they are holes */
	uint64_t bad_line;  /* the first of them; 0: none, or a file without lines */
	bool rebinned;      /* the times were not equidistant; energy is kept */
	bool resampled;     /* an export that its program has thinned out */
	bool assumed_volts; /* the voltage was given, not measured */
	double volts[ENERGY_CHANNELS];
	char format[48]; /* what the file was read as */
	char units[96];  /* what was understood of its columns */
};

struct energy_power_options {
	/* Of the supply of each channel of which the file has only a current; 0: not given. The
	 * first one alone is that of all. */
	double volts[ENERGY_CHANNELS];
	double rate;         /* samples a second where the file does not say; 0: not given */
	double ohms;         /* a shunt: voltages of Saleae and sigrok files are divided by it; 0 */
	double tau;          /* seconds, of the capacitors behind the analyser; 0: none */
	double gain;         /* of the amplifier on that shunt; 0: 1 */
	const char *columns; /* ROLE=COLUMN[:UNIT],...; NULL: by their names */
	const char *raw; /* u16le, i16le, f32le, f64le, f32be...: a file without a header; NULL */
	bool negate;     /* the current was measured the other way round */
};

/* `path` is for messages and for what is known by its name. A file with no sample at all
 * is an error. To be released in every case. */
enum litifut_status energy_power_read(struct energy_power *power, const char *path,
				      const uint8_t *bytes, size_t size,
				      const struct energy_power_options *options,
				      struct litifut_error *error);

/* Maps the file and reads it. */
enum litifut_status energy_power_open(struct energy_power *power, const char *path,
				      const struct energy_power_options *options,
				      struct litifut_error *error);

void energy_power_release(struct energy_power *power);

/* One line without its end: what was understood. Returns `text`. */
const char *energy_power_describe(const struct energy_power *power, const char *path, char *text,
				  size_t size);

/* The end of the last sample and the start of the first one. */
double energy_power_start(const struct energy_power *power);
double energy_power_end(const struct energy_power *power);

/* Of one channel, or, with ENERGY_CHANNELS, of all together. */
static inline double energy_power_at(const struct energy_power *power, unsigned channel,
				     size_t sample)
{
	if (channel < power->channels)
		return power->watts[channel][sample];
	double sum = 0;
	for (unsigned i = 0; i < power->channels; i++)
		sum += power->watts[i][sample];
	return sum;
}

/* The number of a pin by its name ("D0") or by its number; -1: there is none. */
int energy_power_pin(const struct energy_power *power, const char *name);

/* Takes the pins of another recording by the same clock (a logic analyser's file). */
enum litifut_status energy_power_take_pins(struct energy_power *power, struct energy_power *from,
					   struct litifut_error *error);

#endif
