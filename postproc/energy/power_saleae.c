/* Binary exports of Saleae's Logic 2, versions 0 and 1: a channel each, either the times at
 * which a pin changes (for --sync-file) or the voltage over a shunt. Little-endian. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "postproc/energy/bytes.h"
#include "postproc/energy/reader.h"

#define HEADER 16

struct cursor {
	const uint8_t *at, *end;
	bool short_file;
};

static const uint8_t *take(struct cursor *cursor, size_t size)
{
	static const uint8_t zeros[8];

	if ((size_t)(cursor->end - cursor->at) < size) {
		cursor->short_file = true;
		return zeros;
	}
	cursor->at += size;
	return cursor->at - size;
}

static uint64_t take_integer(struct cursor *cursor, unsigned size)
{
	return energy_bytes_integer(take(cursor, size), size, false);
}

static double take_double(struct cursor *cursor)
{
	return energy_bytes_double(take(cursor, 8));
}

static bool probe(const struct energy_input *input)
{
	return input->size >= HEADER && !memcmp(input->bytes, "<SALEAE>", 8);
}

static enum litifut_status cut(struct energy_builder *builder, const char *what)
{
	return energy_builder_fail(builder, LITIFUT_ERROR_FORMAT, "the file ends inside %s", what);
}

static enum litifut_status read_digital(struct cursor *cursor, uint32_t version,
					struct energy_builder *builder)
{
	uint64_t chunks = version ? take_integer(cursor, 8) : 1;
	double last = -INFINITY;

	builder->power->pins = 1;
	snprintf(builder->power->pin_names[0], sizeof(builder->power->pin_names[0]), "D0");
	for (uint64_t i = 0; i < chunks && builder->status == LITIFUT_OK; i++) {
		uint16_t level = take_integer(cursor, 4) & 1;
		if (version)
			take_double(cursor);
		double begin = take_double(cursor);
		take_double(cursor);
		uint64_t count = take_integer(cursor, 8);
		if (cursor->short_file || count > (uint64_t)(cursor->end - cursor->at) / 8)
			return cut(builder, "the times of a pin's changes");
		if (!(begin >= last) || !isfinite(begin))
			return energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
						   "its chunks are not in the order of time");
		energy_builder_pins(builder, begin, 0, level);
		last = begin;
		for (uint64_t k = 0; k < count; k++) {
			double time = take_double(cursor);
			if (!(time >= last) || !isfinite(time))
				return energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
							   "change %llu of the pin is before the "
							   "one in front of it",
							   (unsigned long long)k);
			last = time;
			level ^= 1;
			if (!energy_builder_pins(builder, time, 0, level))
				break;
		}
	}
	return builder->status;
}

static enum litifut_status read_analog(struct cursor *cursor, uint32_t version,
				       struct energy_builder *builder,
				       const struct energy_power_options *options)
{
	uint64_t waveforms = version ? take_integer(cursor, 8) : 1;
	struct energy_power *power = builder->power;

	if (!(options->ohms > 0) || !(options->volts[0] > 0))
		return energy_builder_fail(
			builder, LITIFUT_ERROR_MISSING,
			"it has the voltage over a shunt: give the shunt's value "
			"with --ohms and the supply with --volts");
	const double scale = (options->negate ? -1 : 1) *
			     energy_builder_volts(builder, options, 0) /
			     (options->ohms * (options->gain > 0 ? options->gain : 1));
	snprintf(power->units, sizeof(power->units), "voltage over %.4g Ohm", options->ohms);
	for (uint64_t i = 0; i < waveforms && builder->status == LITIFUT_OK; i++) {
		double begin = take_double(cursor);
		if (version)
			take_double(cursor);
		double rate = version ? take_double(cursor) : (double)take_integer(cursor, 8);
		uint64_t down = take_integer(cursor, 8);
		uint64_t count = take_integer(cursor, 8);
		if (cursor->short_file || count > (uint64_t)(cursor->end - cursor->at) / 4)
			return cut(builder, "a waveform's samples");
		double interval = (double)(down ? down : 1) / rate;
		if (!i) {
			energy_builder_uniform(builder, 1, begin, interval);
		} else if (fabs(interval - power->interval) > 1e-6 * power->interval) {
			return energy_builder_fail(builder, LITIFUT_ERROR_UNSUPPORTED,
						   "its waveforms have more than one rate");
		} else {
			energy_builder_jump(builder, begin);
		}
		energy_builder_reserve(builder, count);
		for (uint64_t k = 0; k < count && builder->status == LITIFUT_OK; k++) {
			float watts = (float)(energy_bytes_float(take(cursor, 4), false) * scale);
			if (!isfinite(watts)) {
				power->bad++;
				energy_builder_hole(builder, 1);
			} else {
				energy_builder_sample(builder, 0, &watts);
			}
		}
	}
	return builder->status;
}

static enum litifut_status read_saleae(const struct energy_input *input,
				       struct energy_builder *builder)
{
	struct cursor cursor = {input->bytes + 8, input->bytes + input->size, false};
	uint32_t version = (uint32_t)take_integer(&cursor, 4);
	uint32_t type = (uint32_t)take_integer(&cursor, 4);

	if (version > 1 || type > 1)
		return energy_builder_fail(builder, LITIFUT_ERROR_UNSUPPORTED,
					   "version %u, type %u of the Saleae format is not known",
					   version, type);
	if (type == 0)
		return read_digital(&cursor, version, builder);
	return read_analog(&cursor, version, builder, input->options);
}

const struct energy_reader energy_reader_saleae = {"Saleae binary", probe, read_saleae};
