/* What Nordic's Power Profiler saves as .ppk2: a zip archive with session.raw, frames of six
 * bytes (a float of microamperes, two bits for each of eight pins), and metadata.json with
 * the rate. minimap.raw holds a thinned curve and is not read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/energy/bytes.h"
#include "postproc/energy/members.h"

#define FRAME 6
#define PIECE (FRAME * 16384)

static bool probe(const struct energy_input *input)
{
	return input->size > 30 && !memcmp(input->bytes, "PK\3\4", 4) &&
	       (memmem(input->bytes, input->size, "session.raw", 11) ||
		memmem(input->bytes, input->size < 4096 ? input->size : 4096, "minimap.raw", 11));
}

/* The number after "NAME": in a JSON text; 0: there is none. */
static double json_number(const char *text, const char *name)
{
	char key[64];

	snprintf(key, sizeof(key), "\"%s\"", name);
	const char *at = strstr(text, key);
	if (!at)
		return 0;
	at += strlen(key);
	at += strspn(at, " \t\r\n:");
	return strtod(at, NULL);
}

static void read_levels(struct energy_builder *builder, unsigned bits)
{
	uint16_t levels = 0, both = 0;

	for (unsigned pin = 0; pin < 8; pin++, bits >>= 2) {
		if ((bits & 3) == 2)
			levels |= (uint16_t)(1u << pin);
		if ((bits & 3) == 3)
			both |= (uint16_t)(1u << pin);
	}
	energy_builder_levels(builder, levels, both);
}

static void read_frames(struct energy_members *members, struct energy_builder *builder,
			double volts)
{
	uint8_t *piece = malloc(PIECE);
	size_t got;

	if (!piece) {
		energy_builder_fail(builder, LITIFUT_ERROR_IO, "not enough memory");
		return;
	}
	while (builder->status == LITIFUT_OK &&
	       (got = energy_members_read(members, piece, PIECE, builder)) >= FRAME) {
		for (size_t at = 0; at + FRAME <= got; at += FRAME) {
			float watts = (float)(energy_bytes_float(piece + at, false) * 1e-6 * volts);
			unsigned bits = (unsigned)energy_bytes_integer(piece + at + 4, 2, false);
			if (!isfinite(watts)) { /* the exporter leaves these out as well */
				builder->power->bad++;
				energy_builder_hole(builder, 1);
				continue;
			}
			if (bits)
				read_levels(builder, bits);
			if (!energy_builder_sample(builder, 0, &watts))
				break;
		}
	}
	free(piece);
}

static enum litifut_status read_ppk2(const struct energy_input *input,
				     struct energy_builder *builder)
{
	struct energy_power *power = builder->power;
	const double volts = energy_builder_volts(builder, input->options, 0);
	struct energy_members members;
	char text[8192];
	double rate = input->options->rate;
	bool found = false;

	if (!(volts > 0))
		return builder->status;
	snprintf(power->units, sizeof(power->units), "current in uA");
	/* The rate may stand behind the samples: once for it, once for them. */
	if (!energy_members_open(&members, input))
		return energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					   "the zip archive can't be read");
	while (energy_members_next(&members, builder)) {
		if (!strcmp(members.name, "metadata.json") && !(rate > 0))
			rate = json_number(
				energy_members_text(&members, text, sizeof(text), builder),
				"samplesPerSecond");
	}
	energy_members_close(&members);
	if (builder->status != LITIFUT_OK)
		return builder->status;
	if (!(rate > 0))
		return energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					   "metadata.json: samplesPerSecond is missing (--rate)");
	if (!energy_members_open(&members, input))
		return energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					   "the zip archive can't be read");
	power->pins = 8;
	for (unsigned i = 0; i < 8; i++)
		snprintf(power->pin_names[i], sizeof(power->pin_names[i]), "D%u", i);
	energy_builder_uniform(builder, 1, 0, 1 / rate);
	while (!found && energy_members_next(&members, builder)) {
		if (!strcmp(members.name, "session.raw")) {
			found = true;
			read_frames(&members, builder, volts);
		}
	}
	energy_members_close(&members);
	if (!found)
		return energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					   "session.raw is missing in the archive");
	return builder->status;
}

const struct energy_reader energy_reader_ppk2 = {"PPK2", probe, read_ppk2};
