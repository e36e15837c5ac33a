#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS 8
#define TIMERS 16

static void (*tasks[TASKS])(void);
static unsigned task_first, task_count;
static unsigned now;
static uint32_t seed_state;

static struct timer {
	void (*fired)(void);
	unsigned at, every;
} timers[TIMERS];

static struct {
	struct message *message;
	void (*done)(struct message *message);
	void (*received)(const struct message *message);
	unsigned ends, backoffs;
} radio;
unsigned radio_sent[8];

static struct {
	void (*ready)(unsigned value);
	unsigned channel, ends;
} adc;

unsigned node_random(unsigned below)
{
	seed_state = seed_state * 1664525u + 1013904223u;
	return (seed_state >> 8) % below;
}

unsigned node_time(void)
{
	return now;
}

enum result post(void (*task)(void))
{
	if (task_count == TASKS)
		return FAIL;
	tasks[(task_first + task_count++) % TASKS] = task;
	return SUCCESS;
}

static bool run_next_task(void)
{
	void (*task)(void);

	if (!task_count)
		return false;
	task = tasks[task_first];
	task_first = (task_first + 1) % TASKS;
	task_count--;
	task();
	return true;
}

void timer_start(void (*fired)(void), unsigned after, unsigned every)
{
	for (unsigned i = 0; i < TIMERS; i++) {
		if (timers[i].fired)
			continue;
		timers[i] = (struct timer){fired, now + after, every};
		return;
	}
	abort();
}

static void clock_interrupt(void)
{
	for (unsigned i = 0; i < TIMERS; i++) {
		void (*fired)(void) = timers[i].fired;

		if (!fired || timers[i].at != now)
			continue;
		if (timers[i].every)
			timers[i].at = now + timers[i].every;
		else
			timers[i].fired = NULL;
		fired();
	}
}

enum result radio_send(struct message *message, void (*done)(struct message *message))
{
	if (radio.message)
		return FAIL;
	radio.message = message;
	radio.done = done;
	radio.backoffs = 0;
	radio.ends = now + 2 + message->length / 4 + node_random(6);
	return SUCCESS;
}

void radio_listen(void (*received)(const struct message *message))
{
	radio.received = received;
}

static bool channel_is_free(void)
{
	return node_random(10) > 2 || radio.backoffs > 6;
}

static void radio_interrupt(void)
{
	struct message *message = radio.message;

	if (message && radio.ends == now) {
		if (!channel_is_free()) {
			radio.backoffs++;
			radio.ends = now + 1 + node_random(4u << radio.backoffs / 2);
			return;
		}
		radio.message = NULL;
		radio_sent[message->type & 7]++;
		radio.done(message);
	} else if (radio.received && node_random(60) == 0) {
		struct message heard = {.type = (uint8_t)node_random(8), .length = 4};

		for (unsigned i = 0; i < heard.length; i++)
			heard.data[i] = (uint8_t)node_random(256);
		if ((heard.data[0] ^ heard.data[3]) & 3)
			radio.received(&heard);
	}
}

enum result adc_get(unsigned channel, void (*ready)(unsigned value))
{
	if (adc.ready)
		return FAIL;
	adc.ready = ready;
	adc.channel = channel;
	adc.ends = now + 1 + node_random(3);
	return SUCCESS;
}

static void adc_interrupt(void)
{
	void (*ready)(unsigned value) = adc.ready;
	unsigned value = 300 + adc.channel * 50;

	if (!ready || adc.ends != now)
		return;
	adc.ready = NULL;
	if (node_random(5) == 0)
		value += node_random(200);
	else
		value -= node_random(30);
	ready(value);
}

static void (*spi_ready)(void);
static unsigned owed; /* ticks that interrupt handlers have taken */
static bool in_interrupt, stopped;

void spi_listen(void (*ready)(void))
{
	spi_ready = ready;
}

static void tick(void)
{
	now++;
	in_interrupt = true;
	clock_interrupt();
	radio_interrupt();
	adc_interrupt();
	if (spi_ready)
		spi_ready();
	in_interrupt = false;
}

void node_wait(unsigned ticks)
{
	if (in_interrupt) {
		owed += ticks;
		return;
	}
	while (ticks-- && !stopped)
		tick();
}

void node_run(unsigned ticks)
{
	while (now < ticks && !stopped) {
		tick();
		if (owed)
			owed--;
		while (!owed && !stopped && run_next_task())
			;
	}
}

void node_stop(void)
{
	stopped = true;
}

void node_init(unsigned seed)
{
	seed_state = seed * 2654435761u + 12345;
	for (unsigned i = 0; i < 5; i++)
		node_random(2);
}

int main(int count, char **arguments)
{
	node_init(count > 1 ? (unsigned)atoi(arguments[1]) : 1);
	app_start();
	node_run(1500);
	printf("%s after %u ticks\n", app_worked() ? "worked" : "failed", node_time());
	return !app_worked();
}
