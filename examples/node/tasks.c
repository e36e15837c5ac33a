/* What "Call Graphs on Sensor Nodes" measures: computing, moving data, waiting. */
#include "node.h"

#define CRC_BITS 1000000ul
#define NUMBERS 27

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

static bool send_bundle(const struct bundle *bundle, uint8_t sequence)
{
	struct buffer buffer = {0, 0, 0};
	bool sent = bundle_encode(bundle, &buffer) && link_send(&buffer, sequence & 0x7f);

	buffer_free(&buffer);
	return sent;
}

static bool receive_bundle(struct bundle *bundle)
{
	struct buffer buffer = {0, 0, 0};
	uint8_t sequence;
	bool received = link_receive(&buffer, &sequence) && bundle_decode(&buffer, bundle);

	buffer_free(&buffer);
	return received;
}

uint16_t task_send(uint16_t count, bool answered)
{
	static struct bundle bundle;
	uint16_t done = 0;

	for (uint16_t i = 0; i < count; i++) {
		bundle_make(&bundle, i);
		done += send_bundle(&bundle, (uint8_t)i) &&
			(!answered || (receive_bundle(&bundle) && bundle.fields[12] == i + 14400u));
	}
	return done;
}

uint16_t task_receive(uint16_t count, bool answers)
{
	static struct bundle bundle;
	uint16_t done = 0;

	for (uint16_t i = 0; i < count; i++)
		done += receive_bundle(&bundle) && (!answers || send_bundle(&bundle, (uint8_t)i));
	return done;
}

uint16_t task_sample(uint16_t count)
{
	static struct bundle bundle;
	uint16_t average = 0, done = 0;

	for (uint16_t i = 0; i < count; i++) {
		average = sample(average);
		bundle_make(&bundle, i);
		bundle.payload[0] = (uint8_t)(average >> 8);
		bundle.payload[1] = (uint8_t)average;
		done += send_bundle(&bundle, (uint8_t)i);
		sleep_a_second();
	}
	return done;
}
