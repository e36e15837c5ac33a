/* What is made of the columns of a text of samples: times, watts and pins. */
#include <stdio.h>
#include <string.h>

#include "postproc/energy/csv_table.h"

static unsigned columns_of_row(const struct energy_table *table)
{
	const char *at = table->at, *field;
	struct energy_line line;
	size_t length;
	unsigned count = 0;

	if (energy_line_next(&at, table->end, &line)) {
		at = line.start;
		while (energy_field_next(&at, line.end, table->delimiter, &field, &length))
			count++;
	}
	return count;
}

static void add_pin(struct energy_table *table, struct energy_power *power, int column,
		    const char *name)
{
	if (table->pins == ENERGY_PINS)
		return;
	if (column >= 0)
		table->pin_of[column] = (int)table->pins;
	snprintf(power->pin_names[table->pins], sizeof(power->pin_names[0]), "%s", name);
	table->pins++;
}

static void describe(const struct energy_table *table, struct energy_power *power)
{
	static const struct {
		enum energy_role role;
		const char *word;
		const char *unit;
	} words[] = {{ENERGY_ROLE_CURRENT, "current", "A"},
		     {ENERGY_ROLE_VOLTAGE, "voltage", "V"},
		     {ENERGY_ROLE_POWER, "power", "W"},
		     {ENERGY_ROLE_ENERGY, "energy", "J"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (unsigned column = 0; column < table->columns; column++) {
			const struct energy_column *it = &table->column[column];
			size_t length = strlen(power->units);
			if (it->role != words[i].role || !table->needed[column])
				continue;
			snprintf(power->units + length, sizeof(power->units) - length, "%s%s in %s",
				 length ? ", " : "", words[i].word,
				 it->unit[0] ? it->unit : words[i].unit);
			break;
		}
	}
	if (table->decimal == ',') {
		size_t length = strlen(power->units);
		snprintf(power->units + length, sizeof(power->units) - length, "%sdecimal commas",
			 length ? ", " : "");
	}
	if (table->time >= 0 && !table->column[table->time].unit[0]) {
		size_t length = strlen(power->units);
		snprintf(power->units + length, sizeof(power->units) - length,
			 "%stime taken as seconds", length ? ", " : "");
	}
}

/* A voltage over a shunt is a current. */
static void take_shunt(struct energy_table *table, const struct energy_power_options *options)
{
	for (unsigned i = 0; i < table->columns; i++) {
		struct energy_column *column = &table->column[i];
		if (column->role == ENERGY_ROLE_CURRENT || column->role == ENERGY_ROLE_POWER)
			return;
	}
	for (unsigned i = 0; i < table->columns; i++) {
		struct energy_column *column = &table->column[i];
		if (column->role != ENERGY_ROLE_VOLTAGE)
			continue;
		column->role = ENERGY_ROLE_CURRENT;
		column->scale /= options->ohms * (options->gain > 0 ? options->gain : 1);
		snprintf(column->unit, sizeof(column->unit), "V/Ohm");
	}
}

/* What is looked up for each row. */
static void prepare_rows(struct energy_table *table, double sign)
{
	for (unsigned i = 0; i < table->columns; i++) {
		table->use[i] = !table->needed[i]              ? ENERGY_USE_NONE
				: (int)i == table->pins_column ? ENERGY_USE_LEVELS
				: table->pin_of[i] >= 0        ? ENERGY_USE_LEVEL
							       : ENERGY_USE_NUMBER;
		if (table->needed[i] && !table->quoted && table->delimiter != ' ')
			table->simple = i + 1;
	}
	for (unsigned i = 0; i < table->channels; i++) {
		struct energy_product *watts = &table->watts[i];
		const int current = table->current[i], voltage = table->voltage[i];
		watts->one = current >= 0 ? current : table->power[i];
		watts->other = current >= 0 ? voltage : -1;
		watts->factor = sign;
		if (watts->one >= 0)
			watts->factor *= table->column[watts->one].scale;
		if (watts->other >= 0)
			watts->factor *= table->column[watts->other].scale;
		else if (current >= 0)
			watts->factor *= table->volts[i];
	}
}

/* The columns that a row has, whose names and options say what they are. */
static void start_columns(struct energy_table *table, const struct energy_power_options *options)
{
	unsigned in_rows = columns_of_row(table);

	if (in_rows > ENERGY_MOST_COLUMNS)
		in_rows = ENERGY_MOST_COLUMNS;
	for (; table->columns < in_rows; table->columns++)
		table->column[table->columns] = (struct energy_column){.scale = 1};
	table->time = table->energy = table->pins_column = -1;
	for (unsigned i = 0; i < ENERGY_MOST_COLUMNS; i++)
		table->pin_of[i] = -1;
	for (unsigned i = 0; i < ENERGY_CHANNELS; i++)
		table->current[i] = table->voltage[i] = table->power[i] = -1;
	for (unsigned i = 0; i < table->columns; i++) {
		struct energy_column *column = &table->column[i];
		char name[32];
		memcpy(name, column->name, sizeof(name));
		const bool by_option =
			energy_column_by_option(column, options->columns, i + 1, name);
		if (column->role == ENERGY_ROLE_PINS && !by_option)
			table->padded = true;
	}
	if (options->ohms > 0)
		take_shunt(table, options);
}

/* How many columns have a role that each channel has. */
struct role_counts {
	unsigned currents, voltages, powers;
};

static void add_channel(int *columns, unsigned *count, unsigned column)
{
	if (*count < ENERGY_CHANNELS)
		columns[(*count)++] = (int)column;
}

static void take_first(int *column, unsigned number)
{
	if (*column < 0)
		*column = (int)number;
}

static struct role_counts give_roles(struct energy_table *table, struct energy_power *power)
{
	struct role_counts counts = {0};

	for (unsigned i = 0; i < table->columns; i++) {
		const struct energy_column *column = &table->column[i];
		switch (column->role) {
		case ENERGY_ROLE_TIME:
			take_first(&table->time, i);
			break;
		case ENERGY_ROLE_CURRENT:
			add_channel(table->current, &counts.currents, i);
			break;
		case ENERGY_ROLE_VOLTAGE:
			add_channel(table->voltage, &counts.voltages, i);
			break;
		case ENERGY_ROLE_POWER:
			add_channel(table->power, &counts.powers, i);
			break;
		case ENERGY_ROLE_ENERGY:
			take_first(&table->energy, i);
			break;
		case ENERGY_ROLE_PIN:
			add_pin(table, power, (int)i, column->name[0] ? column->name : "pin");
			break;
		case ENERGY_ROLE_PINS:
			take_first(&table->pins_column, i);
			break;
		case ENERGY_ROLE_NONE:
			break;
		}
	}
	return counts;
}

/* Pins that no column of their own names. */
static void find_pins(struct energy_table *table, struct energy_power *power,
		      const struct role_counts *counts)
{
	/* A file of changes of pins names them as it likes: "Channel 0". */
	if (!counts->currents && !counts->powers && table->energy < 0 && !counts->voltages &&
	    !table->pins && table->pins_column < 0 && table->time == 0) {
		for (unsigned i = 1; i < table->columns; i++)
			add_pin(table, power, (int)i, table->column[i].name);
	}
	if (table->pins_column >= 0 && !table->pins) {
		for (int i = 0; i < 8; i++) {
			char name[16];
			snprintf(name, sizeof(name), "D%d", i);
			add_pin(table, power, -1, name);
		}
	}
	power->pins = table->pins;
}

/* Currents, with a voltage for each or for all, come before powers, and these before an energy. */
static void choose_channels(struct energy_table *table, const struct role_counts *counts)
{
	if (counts->currents) {
		table->channels = counts->currents;
		for (unsigned i = 0; i < counts->currents; i++) {
			table->power[i] = -1;
			if (counts->voltages == 1 && i)
				table->voltage[i] = table->voltage[0];
			else if (counts->voltages != counts->currents && counts->voltages != 1)
				table->voltage[i] = -1;
		}
		table->energy = -1;
	} else if (counts->powers) {
		table->channels = counts->powers;
		table->energy = -1;
	} else if (table->energy >= 0) {
		table->channels = 1;
	}
}

/* What the rows can't be read without. */
static enum litifut_status check(struct energy_table *table,
				 const struct energy_power_options *options,
				 struct energy_builder *builder, unsigned currents)
{
	if (!table->channels && !table->pins)
		return energy_builder_fail(
			builder, LITIFUT_ERROR_FORMAT,
			"none of its %u columns is a current, a power or a pin by its name; say "
			"what they are, e.g. --columns time=1:ms,current=2:uA",
			table->columns);
	for (unsigned i = 0; i < currents && table->voltage[0] < 0; i++) {
		table->volts[i] = energy_builder_volts(builder, options, i);
		if (!(table->volts[i] > 0))
			return builder->status;
	}
	if (table->time < 0 && !(options->rate > 0))
		return energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
					   "it has no column of times: give the samples a second "
					   "with --rate");
	if (table->energy >= 0 && table->time < 0)
		return energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
					   "a column of energy needs one of times");
	return LITIFUT_OK;
}

static void need(struct energy_table *table, int column)
{
	if (column >= 0)
		table->needed[column] = true;
}

/* Only these columns of a row are read. */
static void mark_needed(struct energy_table *table, unsigned currents)
{
	need(table, table->time);
	need(table, table->energy);
	need(table, table->pins_column);
	for (unsigned i = 0; i < table->channels; i++) {
		need(table, table->current[i]);
		need(table, table->power[i]);
		need(table, currents ? table->voltage[i] : -1);
	}
	for (unsigned i = 0; i < table->columns; i++)
		table->needed[i] |= table->pin_of[i] >= 0;
}

static void name_channels(const struct energy_table *table, struct energy_power *power)
{
	for (unsigned i = 0; i < table->channels; i++) {
		const int named = table->current[i] >= 0 ? table->current[i] : table->power[i];
		if (named >= 0)
			snprintf(power->channel_names[i], sizeof(power->channel_names[0]), "%s",
				 table->column[named].name);
	}
}

enum litifut_status energy_csv_understand(struct energy_table *table,
					  const struct energy_input *input,
					  struct energy_builder *builder)
{
	struct energy_power *power = builder->power;

	start_columns(table, input->options);
	const struct role_counts counts = give_roles(table, power);
	find_pins(table, power, &counts);
	choose_channels(table, &counts);
	const enum litifut_status status = check(table, input->options, builder, counts.currents);
	if (status)
		return status;
	mark_needed(table, counts.currents);
	name_channels(table, power);
	prepare_rows(table, input->options->negate ? -1 : 1);
	describe(table, power);
	return LITIFUT_OK;
}
