/* What Keysight's N6705 and N6781 families save as .dlog: a text like XML up to </dlog>, eight
 * bytes, then floats, big-endian and interleaved: for each channel that is on its voltage,
 * then its current. Tags such as <1ua> are not XML, so the text is searched, not parsed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/energy/bytes.h"
#include "postproc/energy/reader.h"

#define MOST_HEADER 65536
#define GAP 8
#define OUT_OF_RANGE 1e6f

struct trace {
	unsigned channel; /* of the recording */
	bool is_current;
};

struct dlog {
	char *text;
	unsigned values; /* floats a sample */
	struct trace trace[2 * 64];
	unsigned channels;
	bool has_volts[ENERGY_CHANNELS], has_current[ENERGY_CHANNELS];
	double interval;
};

static const char *after_header(const struct energy_input *input)
{
	size_t look = input->size < MOST_HEADER ? input->size : MOST_HEADER;

	return memmem(input->bytes, look, "</dlog>\n", 8);
}

static bool probe(const struct energy_input *input)
{
	return input->size > 16 &&
	       memmem(input->bytes, input->size < 256 ? input->size : 256, "<dlog>", 6);
}

/* The text between <tag> and the next <, within [from, to); NULL: there is none. */
static const char *value_of(const char *from, const char *to, const char *tag)
{
	char open[32];

	snprintf(open, sizeof(open), "<%s>", tag);
	const char *at = strstr(from, open);
	return at && at < to ? at + strlen(open) : NULL;
}

static bool is_on(const char *from, const char *to, const char *tag)
{
	const char *value = value_of(from, to, tag);

	return value && atoi(value) == 1;
}

static void read_channel(struct dlog *dlog, const char *from, const char *to,
			 struct energy_power *power)
{
	bool volts = is_on(from, to, "sense_volt"), current = is_on(from, to, "sense_curr");
	unsigned here = dlog->channels;

	if ((!volts && !current) || dlog->values + 2 > 2 * 64)
		return;
	if (here < ENERGY_CHANNELS) {
		dlog->has_volts[here] = volts;
		dlog->has_current[here] = current;
		snprintf(power->channel_names[here], sizeof(power->channel_names[0]), "channel %d",
			 atoi(from));
	}
	if (volts)
		dlog->trace[dlog->values++] = (struct trace){here, false};
	if (current)
		dlog->trace[dlog->values++] = (struct trace){here, true};
	dlog->channels++;
}

static enum litifut_status read_header(struct dlog *dlog, struct energy_builder *builder)
{
	const char *end = dlog->text + strlen(dlog->text), *at = dlog->text;

	while ((at = strstr(at, "<channel id=\""))) {
		at += strlen("<channel id=\"");
		const char *to = strstr(at, "</channel>");
		read_channel(dlog, at, to ? to : end, builder->power);
		if (!to)
			break;
		at = to;
	}
	const char *frame = strstr(dlog->text, "<frame>");
	const char *interval = frame ? value_of(frame, end, "tint") : NULL;
	dlog->interval = interval ? strtod(interval, NULL) : 0;
	if (!(dlog->interval > 0))
		return energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					   "its header has no interval (<frame><tint>)");
	if (is_on(frame, end, "sense_minmax"))
		return energy_builder_fail(builder, LITIFUT_ERROR_UNSUPPORTED,
					   "it was logged with Min/Max, three values for each one; "
					   "switch Log Min/Max off and measure again");
	if (!dlog->values)
		return energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
					   "no channel senses a current");
	return LITIFUT_OK;
}

static enum litifut_status read_values(const struct dlog *dlog, const struct energy_input *input,
				       const uint8_t *at, struct energy_builder *builder)
{
	const struct energy_power_options *options = input->options;
	const uint8_t *end = input->bytes + input->size;
	struct energy_power *power = builder->power;
	unsigned kept[ENERGY_CHANNELS], count = 0;
	double given[ENERGY_CHANNELS] = {0};

	for (unsigned i = 0; i < dlog->channels && i < ENERGY_CHANNELS; i++) {
		if (!dlog->has_current[i])
			continue;
		if (!dlog->has_volts[i]) {
			given[count] = energy_builder_volts(builder, options, count);
			if (!(given[count] > 0))
				return builder->status;
		}
		if (count != i)
			memcpy(power->channel_names[count], power->channel_names[i],
			       sizeof(power->channel_names[0]));
		kept[count++] = i;
	}
	if (!count)
		return energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
					   "no channel senses a current");
	energy_builder_uniform(builder, count, 0, dlog->interval);
	energy_builder_reserve(builder, (size_t)(end - at) / (4 * dlog->values));
	for (; builder->status == LITIFUT_OK && (size_t)(end - at) >= 4 * dlog->values;
	     at += 4 * dlog->values) {
		float volts[ENERGY_CHANNELS] = {0}, current[ENERGY_CHANNELS] = {0};
		float watts[ENERGY_CHANNELS];
		bool good = true;
		for (unsigned i = 0; i < dlog->values; i++) {
			const struct trace *trace = &dlog->trace[i];
			if (trace->channel >= ENERGY_CHANNELS)
				continue;
			float value = energy_bytes_float(at + 4 * i, true);
			good &= isfinite(value) && fabsf(value) <= OUT_OF_RANGE;
			*(trace->is_current ? &current[trace->channel] : &volts[trace->channel]) =
				value;
		}
		for (unsigned i = 0; i < count; i++) {
			unsigned channel = kept[i];
			double by = dlog->has_volts[channel] ? (double)volts[channel] : given[i];
			watts[i] = (float)((options->negate ? -1 : 1) * by * current[channel]);
		}
		if (!good) {
			power->bad++;
			energy_builder_hole(builder, 1);
		} else {
			energy_builder_sample(builder, 0, watts);
		}
	}
	return builder->status;
}

static enum litifut_status read_dlog(const struct energy_input *input,
				     struct energy_builder *builder)
{
	const char *end = after_header(input);
	struct dlog *dlog = calloc(1, sizeof(*dlog));

	if (!dlog)
		return energy_builder_fail(builder, LITIFUT_ERROR_IO, "not enough memory");
	const uint8_t *data = end ? (const uint8_t *)end + 8 : NULL;
	if (!end || (size_t)(input->bytes + input->size - data) < GAP) {
		energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
				    "its header does not end (</dlog>)");
	} else {
		dlog->text = strndup((const char *)input->bytes,
				     (size_t)(end - (const char *)input->bytes));
		snprintf(builder->power->units, sizeof(builder->power->units),
			 "current in A, voltage in V");
		if (!dlog->text)
			energy_builder_fail(builder, LITIFUT_ERROR_IO, "not enough memory");
		else if (read_header(dlog, builder) == LITIFUT_OK)
			read_values(dlog, input, data + GAP, builder);
		free(dlog->text);
	}
	free(dlog);
	return builder->status;
}

const struct energy_reader energy_reader_dlog = {"Keysight dlog", probe, read_dlog};
