/* The board of examples/node on Linux: the link is two pipes, and a second has passed when the
 * program sleeps for one. */
#include <poll.h>
#include <unistd.h>

#include "node.h"

#define PATIENCE_MS 5000
#define FROM_PEER 3
#define TO_PEER 4

static uint16_t seconds;

void board_start(void)
{
}

void board_end(void)
{
}

void line_put(uint8_t byte)
{
	while (write(TO_PEER, &byte, 1) == 0)
		;
}

static bool has_come(void)
{
	struct pollfd input = {.fd = FROM_PEER, .events = POLLIN};

	return poll(&input, 1, PATIENCE_MS) > 0;
}

bool line_get(uint8_t *byte)
{
	return has_come() && read(FROM_PEER, byte, 1) == 1;
}

void line_wait(void)
{
	has_come();
}

void sleep_a_second(void)
{
	seconds++;
}

uint16_t board_seconds(void)
{
	return seconds;
}

uint16_t read_sensor(void)
{
	static uint16_t state = 1;

	state = (uint16_t)(state * 25173u + 13849u);
	return state >> 6;
}
