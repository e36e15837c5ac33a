/* A task that looks up a block of a file step by step, the longer the more is stored: other tasks
 * wait so long that the queue overruns, which resets the node. What is stored survives that, so the
 * node is reset again and again; this is what it does from one reset to the next. After
 * PermaSense (5.1.1 of the paper). */
#include "node.h"

#define BLOCKS 256

static uint8_t next_block[BLOCKS]; /* on the card */
static unsigned stored;

static unsigned wanted, position, block;
static bool looking;
static unsigned written, samples, sum, resets;

static void format_card(void)
{
	unsigned at = 0;

	for (unsigned i = 0; i < BLOCKS; i++) {
		const unsigned next = (at + 77) % BLOCKS;

		next_block[at] = (uint8_t)next;
		at = next;
	}
}

static unsigned card_read(unsigned number)
{
	node_wait(1);
	return next_block[number];
}

static void step(void)
{
	block = card_read(block);
	position++;
}

static void lookup_task(void)
{
	while (position < wanted)  // repair: delete
		step();            // repair: delete
	if (position < wanted) {   // repair: insert
		step();            // repair: insert
		post(lookup_task); // repair: insert
		return;            // repair: insert
	}                          // repair: insert
	written += block != 0;
	stored++;
	looking = false;
}

static void store_timer(void)
{
	if (looking || stored >= BLOCKS - 1)
		return;
	looking = true;
	wanted = stored;
	position = block = 0;
	post(lookup_task);
}

static void value_ready(unsigned value)
{
	sum += value;
}

static void sample_task(void)
{
	samples++;
	adc_get(1, value_ready);
}

static void sample_timer(void)
{
	if (post(sample_task) == SUCCESS)
		return;
	resets++;
	node_stop();
}

static void heard(const struct message *message)
{
	if (message->type == 2 && message->data[1] > 200)
		sum = 0;
}

void app_start(void)
{
	format_card();
	stored = 5 + node_random(110);
	radio_listen(heard);
	timer_start(node_stop, 800, 0);
	timer_start(store_timer, 20 + node_random(30), 160);
	timer_start(sample_timer, 3, 7);
}

bool app_worked(void)
{
	return !resets && samples;
}
