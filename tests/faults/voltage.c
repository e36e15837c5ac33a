/* A component that never goes back to idle: it can be used once. After VoltageM of TinyOS 1.1.13
 * (5.4.1 of the paper). Each battery report asks for the voltage; a node that reports only once in
 * its life works. */
#include "node.h"

enum { S_IDLE, S_GET_DATA };

static unsigned state;
static unsigned voltage;
static void (*ready)(unsigned millivolts);

static void signal_ready_task(void)
{
	unsigned millivolts = voltage ? 1223u * 1024 / voltage : 0;

	state = S_IDLE; // repair: insert
	ready(millivolts);
}

static void adc_ready(unsigned value)
{
	voltage = value;
	if (post(signal_ready_task) == FAIL)
		state = S_IDLE;
}

static enum result voltage_get(void (*done)(unsigned millivolts))
{
	if (state != S_IDLE)
		return FAIL;
	if (adc_get(7, adc_ready) == FAIL)
		return FAIL;
	ready = done;
	state = S_GET_DATA;
	return SUCCESS;
}

static struct message report;
static bool report_busy;
static unsigned reports, light, dark, asked, answered;

static void report_sent(struct message *message)
{
	report_busy = false;
	if (message->data[0] == 0)
		reports++;
}

static void voltage_ready(unsigned millivolts)
{
	answered++;
	if (report_busy)
		return;
	report_busy = true;
	report.type = 1;
	report.length = 4;
	report.data[0] = millivolts > 5000 ? 1 : 0;
	report.data[1] = (uint8_t)(millivolts >> 4);
	if (radio_send(&report, report_sent) == FAIL)
		report_busy = false;
}

static void light_ready(unsigned value)
{
	if (value > 400)
		light++;
	else
		dark++;
}

static void sample(void)
{
	if (adc_get(1, light_ready) == FAIL)
		dark += 2;
}

static void ask_battery(void)
{
	if (voltage_get(voltage_ready) == FAIL)
		timer_start(ask_battery, 5, 0);
}

static void battery_due(void)
{
	asked++;
	ask_battery();
}

static void heard(const struct message *message)
{
	switch (message->type) {
	case 2:
		timer_start(sample, 1 + message->data[1] % 7, 0);
		break;
	case 5:
		if (message->data[1] > 200)
			light = 0;
		break;
	default:
		break;
	}
}

void app_start(void)
{
	unsigned first = 150 + node_random(500);

	if (node_random(2))
		first += 700;
	radio_listen(heard);
	timer_start(sample, 10 + node_random(20), 40);
	/* at a time that hangs on when the node was switched on: before the end once, or again */
	timer_start(battery_due, first, 700);
}

bool app_worked(void)
{
	return asked == answered;
}
