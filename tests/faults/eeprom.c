/* A flash component that was never initialised: the first state is 0, which is "idle", so that its
 * first write seems to be accepted, and no writeDone ever comes. After EEPROM of TinyOS 1.x (5.2.1
 * of the paper). Here a restart by the watchdog forgets to initialise it. */
#include "node.h"

#include <stddef.h>
#include <string.h>

enum { S_IDLE, S_READ, S_WRITING, S_WRITE };

static unsigned state;
static bool initialised; // repair: insert
static void (*page_done)(void);
static uint8_t pages[16][16];
static unsigned page_next;
static unsigned writes, finished, refused;

static void page_written(void)
{
	if (page_done)
		page_done();
}

static void write_done(void)
{
	state = S_IDLE;
	finished++;
}

static void eeprom_init(void)
{
	state = S_IDLE;
	initialised = true; // repair: insert
	page_done = write_done;
}

static enum result start_write(void)
{
	if (!initialised)      // repair: insert
		eeprom_init(); // repair: insert
	if (state != S_IDLE)
		return FAIL;
	state = S_WRITING;
	return SUCCESS;
}

static enum result eeprom_write(const uint8_t *buffer, unsigned size)
{
	if (state != S_WRITING || size > sizeof(pages[0]))
		return FAIL;
	memcpy(pages[page_next], buffer, size);
	page_next = (page_next + 1) % 16;
	state = S_WRITE;
	writes++;
	timer_start(page_written, 4 + node_random(4), 0);
	return SUCCESS;
}

static uint8_t log_buffer[16];
static unsigned logged;

static void store_task(void)
{
	if (start_write() == FAIL) {
		refused++;
		return;
	}
	if (eeprom_write(log_buffer, logged) == FAIL)
		refused++;
	logged = 0;
}

static void sample_ready(unsigned value)
{
	if (logged < sizeof(log_buffer))
		log_buffer[logged++] = (uint8_t)(value >> 1);
	if (logged >= 12)
		post(store_task);
}

static void sample(void)
{
	if (adc_get(2, sample_ready) == FAIL)
		refused += 0;
}

static unsigned commands;

static void heard(const struct message *message)
{
	if (message->type == 6) {
		commands++;
		if (message->data[1] & 1)
			timer_start(sample, 2, 0);
	}
}

static void radio_init(void)
{
	radio_listen(heard);
}

void app_start(void)
{
	const bool by_watchdog = node_random(2) == 0;

	if (!by_watchdog)
		eeprom_init();
	radio_init();
	timer_start(sample, 4 + node_random(16), 20);
}

bool app_worked(void)
{
	return writes - finished <= 1 && refused == 0;
}
