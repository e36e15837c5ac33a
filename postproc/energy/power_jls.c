/* Joulescope .jls, version 2, by its maker's library (github.com/jetperch/jls): a build without it
 * says so. A file has signals of one rate each: current, voltage and power as floats, inputs as
 * bits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/energy/reader.h"

static const uint8_t magic[] = {'j', 'l',  's', 'f',  'm', 't', '\r', '\n',
				' ', '\n', ' ', 0x1a, ' ', ' ', 0xb2, 0x1c};

static bool probe(const struct energy_input *input)
{
	return input->size > sizeof(magic) && !memcmp(input->bytes, magic, sizeof(magic));
}

#ifndef LITIFUT_JLS

static enum litifut_status read_jls(const struct energy_input *input,
				    struct energy_builder *builder)
{
	(void)input;
	return energy_builder_fail(
		builder, LITIFUT_ERROR_UNSUPPORTED,
		"a .jls file is read by the maker's library, and this litifut-post "
		"was built without it: make JLS=FOLDER (docs/energy.md), or "
		"export it as CSV, which leaves samples out");
}

#else

#include <jls.h>

#define BLOCK 65536

enum quantity { CURRENT, VOLTAGE, POWER, QUANTITIES };

/* A source's signals, 0: it has none. Signal 0 is the library's own. */
struct channel {
	uint16_t source, signals[QUANTITIES];
};

struct jls {
	struct jls_rd_s *reader;
	struct channel channels[ENERGY_CHANNELS];
	unsigned channel_count;
	uint16_t pins[ENERGY_PINS];
	unsigned pin_count;
	double rate;     /* of the floats */
	double pin_rate; /* of the bits */
	double start;    /* seconds of the first float */
	double pin_start;
	int64_t count, pin_samples;
	float *values[QUANTITIES][ENERGY_CHANNELS]; /* a block each */
	uint8_t *bits[ENERGY_PINS];
};

/* -1: it is not one of them. */
static int quantity_of(const struct jls_signal_def_s *signal)
{
	static const char *const units[QUANTITIES] = {"A", "V", "W"};

	if (signal->signal_type != JLS_SIGNAL_TYPE_FSR ||
	    (signal->data_type & 0xffff) != (JLS_DATATYPE_F32 & 0xffff) || !signal->units)
		return -1;
	for (int i = 0; i < QUANTITIES; i++) {
		if (!strcmp(signal->units, units[i]))
			return i;
	}
	return -1;
}

static void take_float(struct jls *jls, const struct jls_signal_def_s *signal, int quantity,
		       int64_t length)
{
	struct channel *channel = jls->channels;
	double start = (double)signal->sample_id_offset / signal->sample_rate;

	while (channel < jls->channels + jls->channel_count && channel->source != signal->source_id)
		channel++;
	if (channel == jls->channels + ENERGY_CHANNELS)
		return;
	jls->channel_count += channel == jls->channels + jls->channel_count;
	channel->source = signal->source_id;
	channel->signals[quantity] = signal->signal_id;
	if (!(jls->rate > 0)) {
		jls->rate = signal->sample_rate;
		jls->start = start;
		jls->count = length;
	}
	jls->count = length < jls->count ? length : jls->count;
}

static enum litifut_status find_signals(struct jls *jls, struct energy_builder *builder)
{
	struct energy_power *power = builder->power;
	struct jls_signal_def_s *signals;
	uint16_t count;

	if (jls_rd_signals(jls->reader, &signals, &count))
		return energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					   "its signals can't be read");
	for (uint16_t i = 0; i < count; i++) {
		const struct jls_signal_def_s *signal = &signals[i];
		int quantity = quantity_of(signal);
		bool bit = (signal->data_type & 0xffff) == (JLS_DATATYPE_U1 & 0xffff) &&
			   signal->signal_type == JLS_SIGNAL_TYPE_FSR;
		int64_t length = 0;
		if (!signal->signal_id || !signal->sample_rate || (quantity < 0 && !bit) ||
		    jls_rd_fsr_length(jls->reader, signal->signal_id, &length) || length <= 0)
			continue;
		double start = (double)signal->sample_id_offset / signal->sample_rate;
		bool first = !(jls->rate > 0);
		if (quantity >= 0 && !first &&
		    (jls->rate != signal->sample_rate ||
		     fabs(jls->start - start) * jls->rate > 0.5))
			return energy_builder_fail(builder, LITIFUT_ERROR_UNSUPPORTED,
						   "signal %s has another rate or begin than the "
						   "one before it",
						   signal->name);
		if (quantity >= 0) {
			take_float(jls, signal, quantity, length);
			continue;
		}
		if (jls->pin_count == ENERGY_PINS ||
		    (jls->pin_count && (jls->pin_rate != signal->sample_rate)))
			continue;
		jls->pin_samples =
			!jls->pin_count || length < jls->pin_samples ? length : jls->pin_samples;
		jls->pin_rate = signal->sample_rate;
		jls->pin_start = start;
		snprintf(power->pin_names[jls->pin_count], sizeof(power->pin_names[0]), "%s",
			 signal->name);
		jls->pins[jls->pin_count++] = signal->signal_id;
	}
	power->pins = jls->pin_count;
	return LITIFUT_OK;
}

/* Which signals make up the power of each source. */
static enum litifut_status check_channels(struct jls *jls, const struct energy_input *input,
					  struct energy_builder *builder)
{
	struct energy_power *power = builder->power;

	for (unsigned i = 0; i < jls->channel_count; i++) {
		const uint16_t *signals = jls->channels[i].signals;
		if (signals[POWER] || (signals[CURRENT] && signals[VOLTAGE]))
			continue;
		if (!signals[CURRENT])
			return energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
						   "a source has no current and no power");
		if (!(energy_builder_volts(builder, input->options, i) > 0))
			return builder->status;
	}
	if (!jls->channel_count)
		return energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
					   "it has no current and no power");
	snprintf(power->units, sizeof(power->units), "%s",
		 jls->channels[0].signals[POWER]     ? "power in W"
		 : jls->channels[0].signals[VOLTAGE] ? "current in A, voltage in V"
						     : "current in A");
	return LITIFUT_OK;
}

/* The pins at the time of a sample. Blocks of bits begin at a multiple of BLOCK. */
static bool read_pins(struct jls *jls, double time, int64_t *block, struct energy_builder *builder)
{
	int64_t sample = (int64_t)floor((time - jls->pin_start) * jls->pin_rate + 0.5);
	unsigned levels = 0;

	if (!jls->pin_count || sample < 0 || sample >= jls->pin_samples)
		return true;
	if (sample / BLOCK != *block) {
		*block = sample / BLOCK;
		int64_t first = *block * BLOCK, left = jls->pin_samples - first;
		for (unsigned i = 0; i < jls->pin_count; i++) {
			if (jls_rd_fsr(jls->reader, jls->pins[i], first, jls->bits[i],
				       left < BLOCK ? left : BLOCK)) {
				energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
						    "the samples of %s can't be read",
						    builder->power->pin_names[i]);
				return false;
			}
		}
	}
	int64_t bit = sample % BLOCK;
	for (unsigned i = 0; i < jls->pin_count; i++)
		levels |= (jls->bits[i][bit / 8] >> bit % 8 & 1u) << i;
	return energy_builder_levels(builder, (uint16_t)levels, 0);
}

static bool read_block(struct jls *jls, int64_t first, int64_t count,
		       struct energy_builder *builder)
{
	for (unsigned i = 0; i < jls->channel_count; i++) {
		for (unsigned k = 0; k < QUANTITIES; k++) {
			uint16_t signal = jls->channels[i].signals[k];
			/* power outweighs the others */
			if (!signal || (k != POWER && jls->channels[i].signals[POWER]))
				continue;
			if (jls_rd_fsr_f32(jls->reader, signal, first, jls->values[k][i], count)) {
				energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
						    "the samples from %lld on can't be read",
						    (long long)first);
				return false;
			}
		}
	}
	return true;
}

static float watts_of(const struct jls *jls, unsigned channel, int64_t at, double volts)
{
	const uint16_t *signals = jls->channels[channel].signals;

	if (signals[POWER])
		return jls->values[POWER][channel][at];
	return jls->values[CURRENT][channel][at] *
	       (signals[VOLTAGE] ? jls->values[VOLTAGE][channel][at] : (float)volts);
}

static void read_samples(struct jls *jls, const struct energy_input *input,
			 struct energy_builder *builder)
{
	int64_t pin_block = -1;

	energy_builder_uniform(builder, jls->channel_count, jls->start, 1 / jls->rate);
	energy_builder_reserve(builder, (size_t)jls->count);
	for (int64_t first = 0; first < jls->count && builder->status == LITIFUT_OK;
	     first += BLOCK) {
		int64_t count = jls->count - first < BLOCK ? jls->count - first : BLOCK;
		if (!read_block(jls, first, count, builder))
			return;
		for (int64_t i = 0; i < count && builder->status == LITIFUT_OK; i++) {
			float watts[ENERGY_CHANNELS];
			bool good = true;
			for (unsigned k = 0; k < jls->channel_count; k++) {
				watts[k] = watts_of(jls, k, i, builder->power->volts[k]) *
					   (input->options->negate ? -1 : 1);
				good &= isfinite(watts[k]) != 0;
			}
			if (!read_pins(jls, jls->start + (double)(first + i) / jls->rate,
				       &pin_block, builder))
				return;
			if (good) {
				energy_builder_sample(builder, 0, watts);
			} else { /* the instrument had no value */
				builder->power->bad++;
				energy_builder_hole(builder, 1);
			}
		}
	}
}

static bool make_room(struct jls *jls)
{
	bool good = true;

	for (unsigned i = 0; i < jls->channel_count; i++) {
		for (unsigned k = 0; k < QUANTITIES; k++)
			good &= (jls->values[k][i] = calloc(BLOCK, sizeof(float))) != NULL;
	}
	/* the library needs a byte more where it shifts bits */
	for (unsigned i = 0; i < jls->pin_count; i++)
		good &= (jls->bits[i] = calloc(BLOCK / 8 + 8, 1)) != NULL;
	return good;
}

static enum litifut_status read_jls(const struct energy_input *input,
				    struct energy_builder *builder)
{
	struct jls *jls = calloc(1, sizeof(*jls));

	if (!jls)
		return energy_builder_fail(builder, LITIFUT_ERROR_IO, "not enough memory");
	/* the library reads files only, not bytes */
	if (jls_rd_open(&jls->reader, input->path))
		energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
				    "the Joulescope library can't open it");
	else if (find_signals(jls, builder) == LITIFUT_OK &&
		 check_channels(jls, input, builder) == LITIFUT_OK) {
		if (make_room(jls))
			read_samples(jls, input, builder);
		else
			energy_builder_fail(builder, LITIFUT_ERROR_IO, "not enough memory");
	}
	if (jls->reader)
		jls_rd_close(jls->reader);
	for (unsigned i = 0; i < ENERGY_CHANNELS; i++) {
		for (unsigned k = 0; k < QUANTITIES; k++)
			free(jls->values[k][i]);
	}
	for (unsigned i = 0; i < ENERGY_PINS; i++)
		free(jls->bits[i]);
	free(jls);
	return builder->status;
}

#endif

const struct energy_reader energy_reader_jls = {"Joulescope jls", probe, read_jls};
