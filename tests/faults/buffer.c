/* A shared message whose type is overwritten before the busy flag is looked at: what is being sent
 * gets another type. After an implementation of LEACH (5.3.1 of the paper). */
#include "node.h"

enum { TYPE_SCHEDULE = 1, TYPE_DEBUG = 2, TYPE_DATA = 3 };

static struct message shared;
static bool busy;
static unsigned schedules_sent, schedules_asked, debug_lost;

static void send_done(struct message *message)
{
	(void)message;
	busy = false;
}

static void send_schedule_task(void)
{
	if (busy)
		return;
	busy = true;
	schedules_asked++;
	shared.type = TYPE_SCHEDULE;
	shared.length = 12;
	for (unsigned i = 0; i < shared.length; i++)
		shared.data[i] = (uint8_t)(i * 3);
	if (radio_send(&shared, send_done) == SUCCESS)
		return;
	busy = false;
	schedules_asked--;
}

static void send_debug_task(void)
{
	bool is_busy = busy;

	shared.type = TYPE_DEBUG; // repair: delete
	if (is_busy) {
		debug_lost++;
		return;
	}
	busy = true;
	shared.type = TYPE_DEBUG; // repair: insert
	shared.length = 8;
	shared.data[0] = (uint8_t)node_time();
	if (radio_send(&shared, send_done) != SUCCESS)
		busy = false;
}

enum { IDLE, SEND_SCHEDULE, INFORM_BASE, COLLECT };

static unsigned state = IDLE, collected, rounds;

static void value_ready(unsigned value)
{
	if (value > 360)
		collected++;
}

static void state_timer(void)
{
	switch (state) {
	case IDLE:
		rounds++;
		state = SEND_SCHEDULE;
		break;
	case SEND_SCHEDULE:
		post(send_schedule_task);
		state = COLLECT;
		break;
	case COLLECT:
		adc_get(4, value_ready);
		state = node_random(4) ? INFORM_BASE : IDLE;
		break;
	case INFORM_BASE:
		post(send_debug_task);
		state = IDLE;
		break;
	}
}

static void heard(const struct message *message)
{
	if (message->type == 4 && message->data[2] < 128)
		collected = 0;
}

void app_start(void)
{
	radio_listen(heard);
	timer_start(state_timer, 5 + node_random(20), 18);
}

bool app_worked(void)
{
	schedules_sent = radio_sent[TYPE_SCHEDULE];
	return schedules_sent + (busy && shared.type == TYPE_SCHEDULE) >= schedules_asked;
}
