/* The board: simulated time, its interrupts, chance, and main(). */
#include "system.h"

#include <stdio.h>
#include <stdlib.h>

#define TICKS 1500

unsigned node_ticks;
struct interrupts interrupts = {NEVER, NEVER, NEVER, NEVER};
static uint32_t seed_state;
static uint8_t address = OWN_ADDRESS;
static bool shared;
static void (*spi_ready)(void);
static unsigned owed; /* ticks that interrupt handlers have taken */
static bool in_interrupt, stopped;

unsigned node_random(unsigned below)
{
	seed_state = seed_state * 1664525u + 1013904223u;
	return (seed_state >> 8) % below;
}

uint8_t node_address(void)
{
	return address;
}

bool node_is_shared(void)
{
	return shared;
}

void spi_listen(void (*ready)(void))
{
	spi_ready = ready;
}

static void tick(void)
{
	node_ticks++;
	in_interrupt = true;
	if (interrupts.timers <= node_ticks)
		timers_interrupt();
	if (interrupts.channel <= node_ticks)
		channel_interrupt();
	if (interrupts.adc == node_ticks)
		adc_interrupt();
	if (interrupts.store == node_ticks)
		store_interrupt();
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
	while (node_ticks < ticks && !stopped) {
		tick();
		if (owed)
			owed--;
		if (owed || !tasks_are_there())
			continue;
		energy_set(PART_CPU, 1);
		while (!owed && !stopped && tasks_run_next())
			;
		energy_set(PART_CPU, 0);
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

/* node SEED [ADDRESS]: with an address, it shares the air with others. */
int main(int count, char **arguments)
{
	node_init(count > 1 ? (unsigned)atoi(arguments[1]) : 1);
	if (count > 2) {
		address = (uint8_t)atoi(arguments[2]);
		shared = true;
	}
	app_start();
	channel_init();
	store_init();
	route_init();
	sensors_init();
	shell_init();
	node_run(TICKS);
	printf("%s after %u ticks\n", app_worked() ? "worked" : "failed", node_time());
	return !app_worked();
}
