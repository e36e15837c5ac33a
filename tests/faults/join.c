/* Nodes that join a cluster in slots that are too few: the messages of two of them collide, and
 * both stay without a schedule for the round. After an implementation of LEACH (5.5.1 of the
 * paper). The other members of the cluster do what this node does, as far as their messages go. */
#include "node.h"

enum { IDLE, JOINED, TDMA_STATE, NO_TDMA_STATE };

#define SLOT_TICKS 2
#define MEMBERS 12

static unsigned state, members;
static unsigned my_slot, slots[MEMBERS], waiting;
static unsigned rounds, scheduled, lost, collisions, data_sent;
static unsigned tries; // repair: insert
static struct message data;
static bool data_busy;

static unsigned pick_slot(void)
{
	return node_random(8);            // repair: delete
	return node_random(32u << tries); // repair: insert
}

static void join(void)
{
	my_slot = pick_slot();
	for (unsigned i = 0; i < waiting; i++)
		slots[i] = pick_slot();
	state = JOINED;
}

/* Has the head of the cluster heard the message? */
static bool is_heard(unsigned slot)
{
	for (unsigned i = 0; i < waiting; i++)
		if (slots[i] == slot)
			return false;
	return true;
}

static void schedule_task(void)
{
	if (is_heard(my_slot)) {
		state = TDMA_STATE;
		scheduled++;
		return;
	}
	collisions++;
	if (tries < 5) {             // repair: insert
		tries++;             // repair: insert
		join();              // repair: insert
		post(schedule_task); // repair: insert
		return;              // repair: insert
	}                            // repair: insert
	state = NO_TDMA_STATE;
	lost++;
}

static void schedule_timer(void)
{
	post(schedule_task);
}

static void data_done(struct message *message)
{
	data_sent += message->length;
	data_busy = false;
}

static void value_ready(unsigned value)
{
	if (data_busy)
		return;
	data_busy = true;
	data.type = 3;
	data.length = 4;
	data.data[0] = (uint8_t)(value >> 2);
	if (radio_send(&data, data_done) != SUCCESS)
		data_busy = false;
}

static void data_timer(void)
{
	if (state == TDMA_STATE)
		adc_get(3, value_ready);
}

static void round_timer(void)
{
	rounds++;
	waiting = members;
	tries = 0; // repair: insert
	join();
	timer_start(schedule_timer, 8 * SLOT_TICKS + node_random(4), 0);
}

void app_start(void)
{
	members = node_random(5) ? node_random(2) : MEMBERS;
	timer_start(round_timer, 5 + node_random(20), 210);
	timer_start(data_timer, 30, 35);
}

bool app_worked(void)
{
	return rounds && !lost;
}
