/* Plain numbers without a header; the user says of which type and how many a second. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "postproc/energy/bytes.h"
#include "postproc/energy/reader.h"

static const struct raw_type {
	const char *name;
	unsigned size;
	bool is_signed, is_float, big;
} types[] = {
	{"u8", 1, false, false, false},    {"i8", 1, true, false, false},
	{"u16le", 2, false, false, false}, {"u16be", 2, false, false, true},
	{"i16le", 2, true, false, false},  {"i16be", 2, true, false, true},
	{"u32le", 4, false, false, false}, {"u32be", 4, false, false, true},
	{"i32le", 4, true, false, false},  {"i32be", 4, true, false, true},
	{"f32le", 4, false, true, false},  {"f32be", 4, false, true, true},
	{"f64le", 8, false, true, false},  {"f64be", 8, false, true, true},
};

static const struct raw_type *type_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(types[i].name, name))
			return &types[i];
	}
	return NULL;
}

static double value_at(const struct raw_type *type, const uint8_t *bytes)
{
	uint64_t bits = energy_bytes_integer(bytes, type->size, type->big);

	if (type->is_float) {
		if (type->size == 8) {
			double value;
			memcpy(&value, &bits, sizeof(value));
			return value;
		}
		uint32_t low = (uint32_t)bits;
		float value;
		memcpy(&value, &low, sizeof(value));
		return value;
	}
	if (type->is_signed && bits >> (8 * type->size - 1))
		return (double)(int64_t)(bits | ~0ull << (8 * type->size - 1) << 1);
	return (double)bits;
}

static bool probe(const struct energy_input *input)
{
	return input->options->raw;
}

static enum litifut_status read_raw(const struct energy_input *input,
				    struct energy_builder *builder)
{
	const struct energy_power_options *options = input->options;
	const struct raw_type *type = type_by_name(options->raw);
	struct energy_power *power = builder->power;
	struct energy_column column = {ENERGY_ROLE_CURRENT, 1, "", "A"};

	if (!type)
		return energy_builder_fail(builder, LITIFUT_ERROR_UNSUPPORTED,
					   "--raw %.20s is not one of u8, i8, u16le, i16le, u32le, "
					   "i32le, f32le, f64le and the same with be",
					   options->raw);
	if (!(options->rate > 0))
		return energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
					   "plain numbers have no time: give the samples a second "
					   "with --rate");
	energy_column_by_option(&column, options->columns, 1, "1");
	double scale = column.scale;
	if (column.role == ENERGY_ROLE_CURRENT || column.role == ENERGY_ROLE_VOLTAGE) {
		const double volts = energy_builder_volts(builder, options, 0);
		if (!(volts > 0))
			return builder->status;
		scale *= volts;
	}
	if (column.role == ENERGY_ROLE_VOLTAGE) {
		if (!(options->ohms > 0))
			return energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
						   "a voltage over a shunt needs --ohms");
		scale /= options->ohms * (options->gain > 0 ? options->gain : 1);
	}
	if (options->negate)
		scale = -scale;
	snprintf(power->units, sizeof(power->units), "%s, %s in %s", type->name,
		 column.role == ENERGY_ROLE_POWER ? "power" : "current",
		 column.unit[0]                     ? column.unit
		 : column.role == ENERGY_ROLE_POWER ? "W"
						    : "A");
	energy_builder_uniform(builder, 1, 0, 1 / options->rate);
	energy_builder_reserve(builder, input->size / type->size);
	for (size_t at = 0; at + type->size <= input->size; at += type->size) {
		energy_builder_passed(builder, input, at);
		float watts = (float)(value_at(type, input->bytes + at) * scale);
		if (!isfinite(watts)) {
			power->bad++;
			energy_builder_hole(builder, 1);
		} else if (!energy_builder_sample(builder, 0, &watts)) {
			break;
		}
	}
	return builder->status;
}

const struct energy_reader energy_reader_raw = {"raw", probe, read_raw};
