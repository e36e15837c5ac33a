/* A session of sigrok (.sr): a zip archive with `metadata`, logic-1-N (bits of the pins) and
 * analog-1-C-N (floats of channel C). Units are not stored, so --columns says what a channel
 * with another name than "current" or "voltage" holds. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/memory.h"
#include "postproc/energy/bytes.h"
#include "postproc/energy/members.h"

#define PIECE 65536
#define MOST_ANALOG 64

struct analog {
	unsigned number;
	struct energy_column column;
	float *values;
	size_t count, capacity;
};

struct session {
	double rate;
	unsigned unit_size, probes;
	size_t logic_samples;
	unsigned analogs;
	struct analog analog[MOST_ANALOG];
};

static bool probe(const struct energy_input *input)
{
	return input->size > 30 && !memcmp(input->bytes, "PK\3\4", 4) &&
	       (memmem(input->bytes, input->size, "analog-1-", 9) ||
		memmem(input->bytes, input->size, "logic-1", 7));
}

/* "1 MHz", "200 kHz", "1000000" */
static double parse_rate(const char *text)
{
	char *end;
	double rate = strtod(text, &end);

	end += strspn(end, " ");
	if (*end == 'k')
		rate *= 1e3;
	else if (*end == 'M')
		rate *= 1e6;
	else if (*end == 'G')
		rate *= 1e9;
	return rate;
}

static void read_metadata(struct session *session, struct energy_builder *builder, char *text,
			  const struct energy_power_options *options)
{
	struct energy_power *power = builder->power;
	char *rest = text, *line;
	unsigned number;

	while ((line = strsep(&rest, "\n"))) {
		char *value = strchr(line, '=');
		if (!value)
			continue;
		*value++ = '\0';
		value[strcspn(value, "\r")] = '\0';
		if (!strcmp(line, "samplerate")) {
			session->rate = parse_rate(value);
		} else if (!strcmp(line, "unitsize")) {
			session->unit_size = (unsigned)strtoul(value, NULL, 10);
		} else if (sscanf(line, "probe%u", &number) == 1 && number >= 1 &&
			   number <= ENERGY_PINS) {
			if (number > power->pins)
				power->pins = number;
			snprintf(power->pin_names[number - 1], sizeof(power->pin_names[0]), "%.31s",
				 value);
		} else if (sscanf(line, "analog%u", &number) == 1 &&
			   session->analogs < MOST_ANALOG) {
			struct analog *analog = &session->analog[session->analogs++];
			analog->number = number;
			energy_column_by_name(&analog->column, value, strlen(value));
			if (analog->column.role == ENERGY_ROLE_PIN)
				analog->column.role = ENERGY_ROLE_NONE;
			snprintf(analog->column.name, sizeof(analog->column.name), "%.31s", value);
			energy_column_by_option(&analog->column, options->columns, number, value);
		}
	}
}

static void read_analog(struct session *session, struct energy_members *members,
			struct energy_builder *builder, unsigned number, uint8_t *piece)
{
	struct analog *analog = NULL;
	size_t got;

	for (unsigned i = 0; i < session->analogs; i++) {
		if (session->analog[i].number == number)
			analog = &session->analog[i];
	}
	if (!analog || analog->column.role == ENERGY_ROLE_NONE)
		return;
	while ((got = energy_members_read(members, piece, PIECE, builder)) >= 4) {
		if (analog->count + got / 4 > analog->capacity) {
			size_t wanted = 2 * analog->capacity + PIECE;
			float *more = litifut_memory_resized(analog->values, wanted, sizeof(*more));
			if (!more) {
				energy_builder_fail(builder, LITIFUT_ERROR_IO, "not enough memory");
				return;
			}
			analog->values = more;
			analog->capacity = wanted;
		}
		for (size_t at = 0; at + 4 <= got; at += 4)
			analog->values[analog->count++] = energy_bytes_float(piece + at, false);
	}
}

static void read_logic(struct session *session, struct energy_members *members,
		       struct energy_builder *builder, uint8_t *piece)
{
	const unsigned size = session->unit_size;
	const size_t whole = PIECE / size * size;
	size_t got;

	while (builder->status == LITIFUT_OK &&
	       (got = energy_members_read(members, piece, whole, builder)) >= size) {
		for (size_t at = 0; at + size <= got; at += size) {
			uint16_t levels = (uint16_t)energy_bytes_integer(
				piece + at, size > 2 ? 2 : size, false);
			if (!builder->levels_known || levels != builder->levels) {
				double time = (double)session->logic_samples / session->rate;
				double half = builder->levels_known ? 0.5 / session->rate : 0;
				energy_builder_pins(builder, time - half, half, levels);
			}
			session->logic_samples++;
		}
	}
}

/* Channels of currents and powers with their voltages into the recording. */
static void join(struct session *session, struct energy_builder *builder,
		 const struct energy_power_options *options)
{
	struct energy_power *power = builder->power;
	const struct analog *used[ENERGY_CHANNELS], *voltage[ENERGY_CHANNELS];
	unsigned count = 0, voltages = 0;
	size_t samples = SIZE_MAX;
	const double shunt = options->ohms > 0
				     ? 1 / (options->ohms * (options->gain > 0 ? options->gain : 1))
				     : 0;

	for (unsigned i = 0; i < session->analogs; i++) {
		const struct analog *analog = &session->analog[i];
		bool takes = analog->column.role == ENERGY_ROLE_CURRENT ||
			     analog->column.role == ENERGY_ROLE_POWER ||
			     (analog->column.role == ENERGY_ROLE_VOLTAGE && shunt > 0);
		if (takes && count < ENERGY_CHANNELS) {
			used[count++] = analog;
			samples = analog->count < samples ? analog->count : samples;
		} else if (analog->column.role == ENERGY_ROLE_VOLTAGE &&
			   voltages < ENERGY_CHANNELS) {
			voltage[voltages++] = analog;
		}
	}
	if (!count) {
		if (session->analogs)
			energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					    "none of its analog channels is a current by its name; "
					    "say which one is, e.g. --columns current=%s:mA",
					    session->analog[0].column.name);
		return; /* only pins */
	}
	for (unsigned i = 0; i < voltages; i++)
		samples = voltage[i]->count < samples ? voltage[i]->count : samples;
	energy_builder_uniform(builder, count, 0, 1 / session->rate);
	for (unsigned i = 0; i < count; i++) {
		if (used[i]->column.role != ENERGY_ROLE_POWER && !voltages) {
			if (!(energy_builder_volts(builder, options, i) > 0))
				return;
		}
		snprintf(power->channel_names[i], sizeof(power->channel_names[i]), "%s",
			 used[i]->column.name);
	}
	if (!energy_builder_reserve(builder, samples))
		return;
	for (size_t at = 0; at < samples; at++) {
		float watts[ENERGY_CHANNELS];
		bool good = true;
		for (unsigned i = 0; i < count; i++) {
			double value = used[i]->values[at] * used[i]->column.scale;
			if (used[i]->column.role == ENERGY_ROLE_VOLTAGE)
				value *= shunt;
			if (used[i]->column.role != ENERGY_ROLE_POWER) {
				const struct analog *by =
					voltages ? voltage[i < voltages ? i : 0] : NULL;
				value *= by ? by->values[at] * by->column.scale : power->volts[i];
			}
			watts[i] = (float)(options->negate ? -value : value);
			good &= isfinite(watts[i]);
		}
		if (!good) {
			power->bad++;
			energy_builder_hole(builder, 1);
		} else if (!energy_builder_sample(builder, 0, watts)) {
			return;
		}
	}
}

static void read_members(struct session *session, struct energy_members *members,
			 struct energy_builder *builder, uint8_t *piece, bool data,
			 const struct energy_power_options *options)
{
	while (builder->status == LITIFUT_OK && energy_members_next(members, builder)) {
		unsigned device, number;
		if (!data && !strcmp(members->name, "metadata"))
			read_metadata(session, builder,
				      energy_members_text(members, (char *)piece, PIECE, builder),
				      options);
		else if (data && sscanf(members->name, "analog-%u-%u", &device, &number) == 2)
			read_analog(session, members, builder, number, piece);
		else if (data && !strncmp(members->name, "logic-1", 7) && session->unit_size)
			read_logic(session, members, builder, piece);
	}
}

static enum litifut_status read_sigrok(const struct energy_input *input,
				       struct energy_builder *builder)
{
	struct session *session = calloc(1, sizeof(*session));
	uint8_t *piece = malloc(PIECE);
	struct energy_members members;

	if (!session || !piece)
		energy_builder_fail(builder, LITIFUT_ERROR_IO, "not enough memory");
	for (int pass = 0; pass < 2 && builder->status == LITIFUT_OK; pass++) {
		if (!energy_members_open(&members, input)) {
			energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					    "the zip archive can't be read");
			break;
		}
		read_members(session, &members, builder, piece, pass == 1, input->options);
		energy_members_close(&members);
		if (input->options->rate > 0)
			session->rate = input->options->rate;
		if (!(session->rate > 0) || session->unit_size > 8) {
			energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					    "metadata: the samplerate is missing (--rate), or the "
					    "unitsize is above 8");
			break;
		}
	}
	if (builder->status == LITIFUT_OK)
		join(session, builder, input->options);
	for (unsigned i = 0; session && i < session->analogs; i++)
		free(session->analog[i].values);
	free(session);
	free(piece);
	return builder->status;
}

const struct energy_reader energy_reader_sigrok = {"sigrok", probe, read_sigrok};
