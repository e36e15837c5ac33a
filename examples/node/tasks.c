/* What "Call Graphs on Sensor Nodes" measures: computing, moving data, waiting. */
#include "node.h"

#define CRC_BITS 1000000ul
#define NUMBERS 27
#define SERVICE 7

/* GCC would make a loop of one of the two calls. */
static uint32_t __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))
fibonacci(uint8_t n)
{
	return n < 2 ? n : fibonacci((uint8_t)(n - 1)) + fibonacci((uint8_t)(n - 2));
}

uint32_t task_fibonacci(void)
{
	uint32_t sum = 0;

	for (uint8_t i = 0; i < NUMBERS; i++)
		sum += fibonacci(i);
	return sum;
}

/* All in one function. */
uint16_t __attribute__((noinline)) task_crc(void)
{
	uint16_t crc = 0xffff;

	for (uint32_t i = 0; i < CRC_BITS / 8; i++) {
		crc ^= (uint16_t)(i << 8);
		for (uint8_t k = 0; k < 8; k++)
			crc = crc & 0x8000 ? (uint16_t)(crc << 1 ^ 0x1021) : (uint16_t)(crc << 1);
	}
	return crc;
}

static uint16_t smooth(uint16_t average, uint16_t sample)
{
	return (uint16_t)(average - average / 4 + sample / 4);
}

static uint16_t sample(uint16_t average)
{
	for (uint8_t i = 0; i < 16; i++)
		average = smooth(average, read_sensor());
	return average;
}

static void fill_payload(struct bundle *bundle, uint16_t number)
{
	for (uint8_t i = 0; i < PAYLOAD_BYTES; i++)
		bundle->payload[i] = (uint8_t)(number + i);
}

static uint16_t number_of(const struct bundle *bundle)
{
	return (uint16_t)(bundle->payload[0] << 8 | bundle->payload[1]);
}

static void set_number(struct bundle *bundle, uint16_t number)
{
	bundle->payload[0] = (uint8_t)(number >> 8);
	bundle->payload[1] = (uint8_t)number;
}

/* Until it has gone, or the node has given it up. */
static bool send_bundle(struct bundle *bundle)
{
	uint16_t sent = statistics_value(SENT);

	bundle_make(bundle, PEER_NODE, SERVICE, BUNDLE_CUSTODY);
	if (!agent_send(bundle))
		return false;
	do
		agent_work();
	while (store_count());
	return statistics_value(SENT) != sent;
}

static uint16_t answered_number;

static void take_answer(const struct bundle *bundle)
{
	answered_number = number_of(bundle);
}

static bool wait_for_answer(uint16_t number)
{
	while (answered_number != number)
		if (!agent_listen())
			return false;
	return true;
}

static bool start(endpoint_handler *handler)
{
	agent_start();
	return endpoint_register(SERVICE, handler);
}

uint16_t task_send(uint16_t count, bool answered)
{
	static struct bundle bundle;
	uint16_t done = 0;

	if (!start(take_answer) || !discover())
		return 0;
	for (uint16_t i = 1; i <= count; i++) {
		fill_payload(&bundle, i);
		set_number(&bundle, i);
		done += send_bundle(&bundle) && (!answered || wait_for_answer(i));
	}
	return done;
}

static void answer(const struct bundle *bundle)
{
	static struct bundle copy;

	copy = *bundle;
	bundle_make(&copy, (uint16_t)bundle->fields[FIELD_source_node], SERVICE, BUNDLE_CUSTODY);
	agent_send(&copy);
}

static void swallow(const struct bundle *bundle)
{
	(void)bundle;
}

uint16_t task_receive(uint16_t count, bool answers)
{
	if (!start(answers ? answer : swallow))
		return 0;
	/* The sender may repeat the last one. */
	while (agent_listen() || statistics_value(DELIVERED) < count)
		;
	return statistics_value(DELIVERED);
}

#ifdef LISTENS
/* Takes beacons and reports, and passes bundles on. */
static void wait_a_second(void)
{
	uint16_t before = board_seconds();

	while (board_seconds() == before) {
		line_wait();
		if (line_has_come())
			agent_listen();
	}
}
#else
#define wait_a_second sleep_a_second
#endif

uint16_t task_sample(uint16_t count)
{
	static struct bundle bundle;
	uint16_t average = 0, done = 0;

	if (!start(swallow) || !discover())
		return 0;
	for (uint16_t i = 0; i < count; i++) {
		average = sample(average);
		fill_payload(&bundle, i);
		set_number(&bundle, average);
		done += send_bundle(&bundle);
		wait_a_second();
	}
	return done;
}
