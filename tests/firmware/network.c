/* The TCP/IP stack lwIP, without a system: a client and a server of the echo protocol by TCP, and
 * datagrams by UDP, over its loopback interface. SEGMENTS: how often the client sends. Time is the
 * number of turns of the main loop, so that a run is the same each time. */
#include <stdio.h>
#include <string.h>

#include "board.h"
#include "lwip/init.h"
#include "lwip/netif.h"
#include "lwip/tcp.h"
#include "lwip/timeouts.h"
#include "lwip/udp.h"

#ifndef SEGMENTS
#define SEGMENTS 20
#endif
#define BYTES 400
#define ECHO 7
#define DISCARD 9

static u32_t now;
static unsigned sent, echoed, wrong, datagrams;
static int connected, closed;

u32_t sys_now(void)
{
	return now;
}

/* What stands at this place of the client's stream. */
static u8_t byte_at(unsigned place)
{
	return (u8_t)(place * 7 + place / 251);
}

void SysTick_Handler(void)
{
}

static err_t server_gets(void *argument, struct tcp_pcb *pcb, struct pbuf *data, err_t error)
{
	(void)argument;
	if (!data || error)
		return tcp_close(pcb);
	for (struct pbuf *part = data; part; part = part->next)
		tcp_write(pcb, part->payload, part->len, TCP_WRITE_FLAG_COPY);
	tcp_recved(pcb, data->tot_len);
	pbuf_free(data);
	return tcp_output(pcb);
}

static err_t server_accepts(void *argument, struct tcp_pcb *pcb, err_t error)
{
	(void)argument;
	tcp_recv(pcb, server_gets);
	return error;
}

static err_t client_sends(struct tcp_pcb *pcb)
{
	u8_t bytes[BYTES];

	if (sent == SEGMENTS * BYTES) {
		closed = 1;
		return tcp_close(pcb);
	}
	for (unsigned i = 0; i < BYTES; i++)
		bytes[i] = byte_at(sent + i);
	sent += BYTES;
	tcp_write(pcb, bytes, BYTES, TCP_WRITE_FLAG_COPY);
	return tcp_output(pcb);
}

static err_t client_gets(void *argument, struct tcp_pcb *pcb, struct pbuf *data, err_t error)
{
	(void)argument;
	if (!data || error)
		return ERR_OK;
	for (struct pbuf *part = data; part; part = part->next)
		for (unsigned i = 0; i < part->len; i++)
			wrong += ((u8_t *)part->payload)[i] != byte_at(echoed++);
	tcp_recved(pcb, data->tot_len);
	pbuf_free(data);
	return ERR_OK;
}

static err_t client_is_connected(void *argument, struct tcp_pcb *pcb, err_t error)
{
	(void)argument;
	(void)pcb;
	connected = !error;
	return error;
}

static void datagram(void *argument, struct udp_pcb *pcb, struct pbuf *data, const ip_addr_t *from,
		     u16_t port)
{
	(void)argument;
	(void)pcb;
	(void)from;
	(void)port;
	datagrams += data->tot_len == 100;
	pbuf_free(data);
}

int main(void)
{
	ip_addr_t local;
	struct tcp_pcb *listener, *client;
	struct udp_pcb *receiver, *sender;

	board_start_ticks(20000);
	lwip_init();
	IP_ADDR4(&local, 127, 0, 0, 1);
	listener = tcp_new();
	tcp_bind(listener, IP_ADDR_ANY, ECHO);
	listener = tcp_listen(listener);
	tcp_accept(listener, server_accepts);
	client = tcp_new();
	tcp_recv(client, client_gets);
	tcp_connect(client, &local, ECHO, client_is_connected);
	receiver = udp_new();
	udp_bind(receiver, IP_ADDR_ANY, DISCARD);
	udp_recv(receiver, datagram, NULL);
	sender = udp_new();
	while (!closed && now < 1000000) {
		now++;
		netif_poll_all();
		sys_check_timeouts();
		if (connected && echoed == sent)
			client_sends(client);

		struct pbuf *data = pbuf_alloc(PBUF_TRANSPORT, 100, PBUF_RAM);

		memset(data->payload, (int)now, 100);
		udp_sendto(sender, data, &local, DISCARD);
		pbuf_free(data);
	}
	board_stop_ticks();
	printf("%u bytes echoed, %u wrong, %u datagrams\n", echoed, wrong, datagrams);
	return 0;
}
