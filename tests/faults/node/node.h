/* A sensor node for the case studies of path-diff, as an application sees it, in simulated time:
 * tasks, timers, messages by radio and an analogue input. Below are a radio stack with
 * acknowledgements, a tree of routes, a log in flash memory, sensors, and commands by radio
 * (system.h). Everything that comes from outside depends on the seed, unless the node shares the
 * air with others. */
#ifndef NODE_H
#define NODE_H

#include <stdbool.h>
#include <stdint.h>

enum result { FAIL, SUCCESS, EALREADY };

struct message {
	uint8_t type;
	uint8_t length;
	uint8_t data[16];
};

/* The task runs later; FAIL: the queue is full. */
enum result post(void (*task)(void));

/* The function is called after so many ticks, `every` ticks apart if that is not 0. */
void timer_start(void (*fired)(void), unsigned after, unsigned every);

unsigned node_random(unsigned below);
extern unsigned node_ticks;

static inline unsigned node_time(void)
{
	return node_ticks;
}

uint8_t node_address(void);
bool node_is_shared(void); /* the air, with other nodes */

/* The radio: split-phase. FAIL: it is still sending. */
enum result radio_send(struct message *message, void (*done)(struct message *message));
void radio_listen(void (*received)(const struct message *message));
extern unsigned radio_sent[8]; /* by type */

/* The analogue input: split-phase. */
enum result adc_get(unsigned channel, void (*ready)(unsigned value));

/* A byte of the radio's serial interface comes each tick. */
void spi_listen(void (*ready)(void));

/* The code takes so many ticks: interrupts come in a task, and tasks wait for an interrupt handler.
 */
void node_wait(unsigned ticks);

/* Runs for so many ticks, or until the node stops. */
void node_run(unsigned ticks);
void node_stop(void);
void node_init(unsigned seed);

/* The application. */
void app_start(void);
bool app_worked(void); /* after the run */

#endif
