/* A power manager that does not expect the device to be on already: EALREADY is not looked at, no
 * startDone comes, and the device is never released. After DeferredPowerManagerP of TinyOS 2.x
 * (5.3.2 of the paper). */
#include "node.h"

enum { OFF, STARTING, ON, STOPPING };

static unsigned device;
static bool held; /* by the power manager, until the device is on */
static unsigned held_since;
static unsigned served, starved, waiting;
static bool stop_planned;

static void start_done(void);
static void stop_done(void);

static void device_started(void)
{
	device = ON;
	start_done();
}

static void device_stopped(void)
{
	device = OFF;
	stop_done();
}

static enum result device_start(void)
{
	if (device == ON)
		return EALREADY;
	if (device != OFF)
		return FAIL;
	device = STARTING;
	timer_start(device_started, 2 + node_random(3), 0);
	return SUCCESS;
}

static enum result device_stop(void)
{
	if (device == OFF)
		return EALREADY;
	if (device != ON)
		return FAIL;
	device = STOPPING;
	timer_start(device_stopped, 1 + node_random(2), 0);
	return SUCCESS;
}

static void release(void)
{
	held = false;
	if (waiting) {
		waiting--;
		served++;
	}
}

static void start_done(void)
{
	release();
}

static void stop_done(void)
{
	if (waiting)
		waiting = 0;
}

static void start_task(void)
{
	if (device == STARTING || device == STOPPING)
		return;
	held = true;
	held_since = node_time();
	device_start();                 // repair: delete
	if (device_start() == EALREADY) // repair: insert
		release();              // repair: insert
}

static void power_off(void)
{
	stop_planned = false;
	if (!held)
		device_stop();
}

/* A client asks for the device; it is switched off a while after. */
static void request(void)
{
	if (held) {
		starved += node_time() - held_since > 10;
		return;
	}
	waiting++;
	if (post(start_task) == FAIL)
		waiting--;
	if (!stop_planned) {
		stop_planned = true;
		timer_start(power_off, 20, 0);
	}
}

static unsigned samples, peaks;

static void sample_ready(unsigned value)
{
	samples++;
	if (value > 420)
		peaks++;
}

static void sample(void)
{
	if (adc_get(3, sample_ready) == FAIL)
		peaks = peaks ? peaks - 1 : 0;
}

static void heard(const struct message *message)
{
	if (message->type == 3 && message->data[1] > 96)
		timer_start(sample, 3, 0);
}

/* Seldom so soon after the one before that the device is still on. */
static void next_request(void)
{
	request();
	timer_start(next_request, node_random(200) ? 60 + node_random(90) : 9, 0);
}

void app_start(void)
{
	radio_listen(heard);
	timer_start(sample, 5 + node_random(30), 50);
	timer_start(next_request, 20 + node_random(60), 0);
	/* another client, in some runs */
	if (node_random(3) == 0)
		timer_start(request, 310 + node_random(500), 0);
}

bool app_worked(void)
{
	return starved == 0 && !(held && device == ON);
}
