/* What simulated nodes share: the time, and the air that their radios send into. It runs on this
 * machine: air TICKS SEED LOSS COMMAND...; each command is a node, which finds a socket in its file
 * descriptor 3. In each tick a node gets a packet, and answers with one: air.h. Frames that overlap
 * collide, and one of LOSS others does not come to a node. What was sent and received is printed in
 * its true order: "TICK send NODE N" and "TICK receive NODE N of NODE N", where N counts the frames
 * of the node, and nodes are numbered from 1. */
#include "air.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES 16

static struct node {
	int socket; /* below 0: it has ended */
	pid_t pid;
	unsigned sent, received;
	/* what it sends */
	struct air_packet frame;
	unsigned begins, ends;
	bool collides;
	/* what it hears in the next tick */
	struct air_packet next;
	unsigned from, number;
} nodes[NODES];
static unsigned count, loss;
static uint32_t state;

static unsigned chance(unsigned below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

static void start(struct node *node, const char *command)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
		exit(1);
	node->pid = fork();
	if (!node->pid) {
		dup2(ends[1], AIR_SOCKET);
		for (int i = AIR_SOCKET + 1; i < 64; i++)
			close(i);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	node->socket = ends[0];
}

static bool is_sending(const struct node *node, unsigned now)
{
	return node->ends > now;
}

/* The frame has been sent: who hears it? */
static void deliver(struct node *from)
{
	if (from->collides)
		return;
	for (struct node *node = nodes; node < nodes + count; node++) {
		/* a node that sends does not hear */
		if (node == from || node->socket < 0 || node->ends > from->begins ||
		    (loss && !chance(loss)))
			continue;
		node->next = from->frame;
		node->from = (unsigned)(from - nodes) + 1;
		node->number = from->sent;
	}
}

static void take_frame(struct node *node, const struct air_packet *packet, unsigned now)
{
	node->frame = *packet;
	node->begins = now;
	node->ends = now + 1 + packet->length / 8;
	node->collides = false;
	node->sent++;
	printf("%u send %u %u\n", now, (unsigned)(node - nodes) + 1, node->sent);
	for (struct node *other = nodes; other < nodes + count; other++)
		if (other != node && is_sending(other, now))
			other->collides = node->collides = true;
}

/* The tick of a node. */
static void run(struct node *node, unsigned now, bool busy)
{
	struct air_packet packet = node->next;

	packet.busy = busy;
	if (packet.length)
		printf("%u receive %u %u of %u %u\n", now, (unsigned)(node - nodes) + 1,
		       ++node->received, node->from, node->number);
	memset(&node->next, 0, sizeof(node->next));
	if (write(node->socket, &packet, sizeof(packet)) != sizeof(packet) ||
	    read(node->socket, &packet, sizeof(packet)) != sizeof(packet)) {
		close(node->socket);
		node->socket = -1;
		return;
	}
	if (packet.length && !is_sending(node, now))
		take_frame(node, &packet, now);
}

int main(int arguments, char **values)
{
	unsigned ticks;

	if (arguments < 5 || arguments > 4 + NODES)
		return 2;
	signal(SIGPIPE, SIG_IGN); /* a node may end before the others */
	ticks = (unsigned)atoi(values[1]);
	state = (uint32_t)atoi(values[2]) * 2654435761u + 777;
	loss = (unsigned)atoi(values[3]);
	for (int i = 4; i < arguments; i++)
		start(&nodes[count++], values[i]);
	for (unsigned now = 1; now <= ticks; now++) {
		bool busy = false;

		for (unsigned i = 0; i < count; i++) {
			if (nodes[i].sent && nodes[i].ends == now)
				deliver(&nodes[i]);
			busy |= is_sending(&nodes[i], now);
		}
		for (unsigned i = 0; i < count; i++)
			if (nodes[i].socket >= 0)
				run(&nodes[i], now, busy);
	}
	for (unsigned i = 0; i < count; i++)
		if (nodes[i].socket >= 0)
			close(nodes[i].socket);
	while (wait(NULL) > 0)
		;
	return 0;
}
