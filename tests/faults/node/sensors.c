/* The analogue input, which applications share with the sensors of the system: light and warmth,
 * sampled each so many ticks, without outliers, in units, with alarms. */
#include "system.h"

#include <stddef.h>

#define WINDOW 5
#define ADC_QUEUE 3
#define FIRST_CHANNEL 8 /* below are those of applications */

static struct {
	void (*ready)(unsigned value);
	unsigned channel;
} adc;

/* The application has only one conversion at a time; those of the system wait behind it. */
static unsigned own_waiting[ADC_QUEUE], own_count;
static void own_ready(unsigned value);

static struct sensor {
	unsigned window[WINDOW];
	unsigned next, count;
	unsigned value, lowest, highest;
	bool alarm;
} sensors[SENSOR_COUNT];
static unsigned alarms, samples, period;

static void begin(unsigned channel, void (*ready)(unsigned value))
{
	adc.ready = ready;
	adc.channel = channel;
	interrupts.adc = node_time() + 1 + node_random(3);
	energy_set(PART_ADC, 1);
}

enum result adc_get(unsigned channel, void (*ready)(unsigned value))
{
	if (adc.ready)
		return FAIL;
	begin(channel, ready);
	return SUCCESS;
}

static unsigned convert(unsigned channel)
{
	unsigned value = 300 + channel * 50;

	if (node_random(5) == 0)
		return value + node_random(200);
	return value - node_random(30);
}

void adc_interrupt(void)
{
	void (*ready)(unsigned value) = adc.ready;

	if (!ready) {
		begin(own_waiting[0], own_ready);
		return;
	}
	adc.ready = NULL;
	energy_set(PART_ADC, 0);
	ready(convert(adc.channel));
	/* a free tick is left to the application */
	if (!adc.ready && own_count)
		interrupts.adc = node_time() + 1;
}

/* The middle one of the last values. */
static unsigned median_of(const struct sensor *sensor)
{
	unsigned sorted[WINDOW];

	for (unsigned i = 0; i < sensor->count; i++) {
		unsigned at = i;

		for (; at && sorted[at - 1] > sensor->window[i]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = sensor->window[i];
	}
	return sorted[sensor->count / 2];
}

/* Light by a divider, warmth by a thermistor that is linear enough. */
static unsigned in_units(unsigned number, unsigned raw)
{
	return number == SENSOR_LIGHT ? raw * raw / 1024u : raw > 200 ? (raw - 200u) * 5u / 8u : 0;
}

static void judge(struct sensor *sensor)
{
	const bool outside = sensor->value < sensor->lowest || sensor->value > sensor->highest;

	if (outside && !sensor->alarm)
		alarms++;
	sensor->alarm = outside;
}

static void take(unsigned number, unsigned raw)
{
	struct sensor *sensor = &sensors[number];

	sensor->window[sensor->next] = raw;
	sensor->next = (sensor->next + 1) % WINDOW;
	if (sensor->count < WINDOW)
		sensor->count++;
	sensor->value = in_units(number, median_of(sensor));
	judge(sensor);
	samples++;
}

static void own_ready(unsigned value)
{
	const unsigned channel = own_waiting[0];

	own_count--;
	for (unsigned i = 0; i < own_count; i++)
		own_waiting[i] = own_waiting[i + 1];
	take(channel - FIRST_CHANNEL, value);
}

/* Each fourth sample of all sensors is kept. */
static void keep_task(void)
{
	uint8_t bytes[2 * SENSOR_COUNT];

	for (unsigned i = 0; i < SENSOR_COUNT; i++) {
		bytes[2 * i] = (uint8_t)(sensors[i].value >> 8);
		bytes[2 * i + 1] = (uint8_t)sensors[i].value;
	}
	store_add(RECORD_SAMPLE, bytes, sizeof(bytes));
}

static void sample_due(void)
{
	for (unsigned i = 0; i < SENSOR_COUNT && own_count < ADC_QUEUE; i++)
		own_waiting[own_count++] = FIRST_CHANNEL + i;
	if (!adc.ready)
		interrupts.adc = node_time();
	if (samples % (4 * SENSOR_COUNT) == 0)
		post_later(keep_task);
	timer_start(sample_due, period, 0);
}

void sensors_period(unsigned ticks)
{
	period = ticks;
}

unsigned sensor_value(unsigned sensor)
{
	return sensors[sensor % SENSOR_COUNT].value;
}

unsigned sensor_alarms(void)
{
	return alarms;
}

void sensors_init(void)
{
	for (unsigned i = 0; i < SENSOR_COUNT; i++) {
		sensors[i].lowest = 50;
		sensors[i].highest = 460;
	}
	period = 25;
	timer_start(sample_due, 6 + node_random(12), 0);
}
