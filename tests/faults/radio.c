/* A radio whose interrupt handler waits before it posts the task that ends a transmission: when the
 * queue is full once, the handler comes again each byte, tasks starve, and the radio is never idle
 * again. After the CC1000 stack of TinyOS 1.x (5.1.2 of the paper). */
#include "node.h"

enum { TX_IDLE, TX_DATA, TX_DONE };

static unsigned tx_state = TX_IDLE, bytes_left;
static bool tx_pending, sending;
static unsigned sent, last_sent, delays, refused;

static void short_delay_task(void)
{
	delays++;
}

static void post_delay(void)
{
	for (unsigned i = 0; i < 7; i++)
		post(short_delay_task);
}

static void spi_rx_mode(void)
{
	node_wait(1);
}

static void control_rx_mode(void)
{
	node_wait(1);
}

static void packet_sent_task(void)
{
	sending = false;
	sent++;
	last_sent = node_time();
}

static void spi_ready(void)
{
	switch (tx_state) {
	case TX_DATA:
		if (--bytes_left == 0)
			tx_state = TX_DONE;
		break;
	case TX_DONE:
		if (tx_pending)
			post_delay();
		spi_rx_mode();     // repair: delete
		control_rx_mode(); // repair: delete
		tx_pending = false;
		if (post(packet_sent_task) == SUCCESS) {
			spi_rx_mode();     // repair: insert
			control_rx_mode(); // repair: insert
			tx_state = TX_IDLE;
		}
		break;
	default:
		break;
	}
}

static void processing_task(void)
{
	if (sending) {
		refused++;
		return;
	}
	sending = tx_pending = true;
	bytes_left = 8 + node_random(16);
	tx_state = TX_DATA;
}

static unsigned light, samples;

static void light_ready(unsigned value)
{
	light = light / 2 + value / 2;
}

static void sample_task(void)
{
	if (adc_get(2, light_ready) == SUCCESS)
		samples++;
}

/* A watchdog ends the run of a node that has sent nothing for so long. */
static void processing_timer(void)
{
	if (node_time() - last_sent > 400)
		node_stop();
	post(processing_task);
}

static void sample_timer(void)
{
	post(sample_task);
}

void app_start(void)
{
	spi_listen(spi_ready);
	timer_start(node_stop, 1000, 0);
	timer_start(processing_timer, 3 + node_random(20), 47);
	timer_start(sample_timer, 1 + node_random(20), 29);
}

bool app_worked(void)
{
	return sent && node_time() - last_sent < 150;
}
