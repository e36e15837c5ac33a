/* A packet of the protocol (gdb's manual, "Remote Protocol", "Overview") is
 *
 *   $ data # two hex digits: the sum of the data's bytes, modulo 256
 *
 * and each side answers it by a +. Used are ? (why the target stands), c (go on), the byte 3
 * (stop), m ADDRESS,BYTES (read memory; the answer is hex digits, fewer bytes than asked for where
 * the memory ends, or E and a number) and D (go on without a debugger). */
#include "ldwrap/capture_gdb.h"

#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/hex.h"
#include "ldwrap/capture_memory.h"

#define ANSWER_MS 10000
#define SECOND_ANSWER_MS 100
#define RUN_MAX 1000000 /* seconds */
#define STOP_BYTE 3
#define READ_BYTES 256u
#define PACKET_BYTES 4096u

struct remote {
	const char *source;
	int line;
	uint8_t bytes[512]; /* read, and not yet taken */
	size_t at;
	size_t count;
	char packet[PACKET_BYTES]; /* the last one that has come, a string */
};

static enum litifut_status failed(const char *path, const char *what, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS, "%s: %s",
				 what, strerror(errno));
}

static enum litifut_status silent(const struct remote *remote, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, remote->source, NULL, LITIFUT_NO_ADDRESS,
				 "does not answer as gdb's remote protocol says, or the program "
				 "has ended");
}

/* The next byte; -1: none has come in time, or the line is closed. */
static int next_byte(struct remote *remote, int milliseconds)
{
	struct pollfd poller = {.fd = remote->line, .events = POLLIN};
	ssize_t got;

	if (remote->at < remote->count)
		return remote->bytes[remote->at++];
	if (poll(&poller, 1, milliseconds) <= 0)
		return -1;
	got = read(remote->line, remote->bytes, sizeof(remote->bytes));
	if (got <= 0)
		return -1;
	remote->count = (size_t)got;
	remote->at = 1;
	return remote->bytes[0];
}

static bool put(const struct remote *remote, const void *bytes, size_t count)
{
	return send(remote->line, bytes, count, MSG_NOSIGNAL) == (ssize_t)count;
}

/* Takes a packet, of which `*` and a character c repeat the byte before it c - 29 times. */
static bool take_packet(struct remote *remote, int milliseconds)
{
	size_t size = 0;
	int byte;

	do
		byte = next_byte(remote, milliseconds);
	while (byte >= 0 && byte != '$');
	while (byte >= 0 && (byte = next_byte(remote, ANSWER_MS)) >= 0 && byte != '#') {
		int times = 1;

		if (byte == '*' && size) {
			times = next_byte(remote, ANSWER_MS) - 29;
			byte = remote->packet[size - 1];
		}
		for (; times > 0; times--) {
			if (size + 1 == sizeof(remote->packet))
				return false;
			remote->packet[size++] = (char)byte;
		}
	}
	remote->packet[size] = '\0';
	if (byte != '#' || next_byte(remote, ANSWER_MS) < 0 || next_byte(remote, ANSWER_MS) < 0)
		return false;
	return put(remote, "+", 1);
}

static bool send_packet(const struct remote *remote, const char *data)
{
	char packet[64];
	unsigned sum = 0;
	int size;

	for (const char *at = data; *at; at++)
		sum += (uint8_t)*at;
	size = snprintf(packet, sizeof(packet), "$%s#%02x", data, sum & 0xff);
	return put(remote, packet, (size_t)size);
}

static bool ask(struct remote *remote, const char *data)
{
	return send_packet(remote, data) && take_packet(remote, ANSWER_MS);
}

/* What says that the target stands: S or T and a signal. Text that it prints (O) comes before. */
static bool take_stop(struct remote *remote, int milliseconds)
{
	do
		if (!take_packet(remote, milliseconds))
			return false;
	while (remote->packet[0] == 'O');
	return remote->packet[0] == 'S' || remote->packet[0] == 'T';
}

/* Asks whether the target stands. QEMU says so by itself as well when a running program is stopped
 * because a debugger comes. */
static bool find_standing(struct remote *remote)
{
	if (!put(remote, "+", 1) || !send_packet(remote, "?") || !take_stop(remote, ANSWER_MS))
		return false;
	while (take_packet(remote, SECOND_ANSWER_MS))
		continue;
	return true;
}

/* Until it stops by itself, at a breakpoint in its code, or is stopped. */
static enum litifut_status run_for(struct remote *remote, double seconds,
				   struct litifut_error *error)
{
	const uint8_t stop = STOP_BYTE;

	remote->packet[0] = '\0';
	if (!send_packet(remote, "c"))
		return silent(remote, error);
	if (take_stop(remote, (int)ceil(1000 * (seconds < RUN_MAX ? seconds : RUN_MAX))))
		return LITIFUT_OK;
	if (remote->packet[0] == 'W' || remote->packet[0] == 'X')
		return litifut_error_set(error, LITIFUT_ERROR_IO, remote->source, NULL,
					 LITIFUT_NO_ADDRESS,
					 "the program has ended before its memory could be read; "
					 "let it end in an endless loop, or give fewer --seconds");
	return put(remote, &stop, 1) && take_stop(remote, ANSWER_MS) ? LITIFUT_OK
								     : silent(remote, error);
}

static int digit(char character)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = character ? strchr(digits, character | 0x20) : NULL;

	return found ? (int)(found - digits) : -1;
}

static enum litifut_status read_memory(struct remote *remote, uint32_t address, uint32_t size,
				       uint8_t *bytes, struct litifut_error *error)
{
	while (size) {
		char request[32];
		const char *at = remote->packet;

		snprintf(request, sizeof(request), "m%x,%x", address, size);
		if (!ask(remote, request))
			return silent(remote, error);
		for (; size && digit(at[0]) >= 0 && digit(at[1]) >= 0; at += 2, size--, address++)
			*bytes++ = (uint8_t)(digit(at[0]) << 4 | digit(at[1]));
		if (*at || at == remote->packet)
			return litifut_error_set(error, LITIFUT_ERROR_IO, remote->source, NULL,
						 address, "the memory can't be read: %s",
						 *at ? at : "an empty answer");
	}
	return LITIFUT_OK;
}

static enum litifut_status copy_piece(struct remote *remote, const struct capture_piece *piece,
				      FILE *output, const char *path, struct litifut_error *error)
{
	uint8_t bytes[READ_BYTES];
	uint32_t size;

	for (uint32_t address = piece->start; address < piece->end; address += size) {
		enum litifut_status status;

		size = piece->end - address;
		if (size > READ_BYTES)
			size = READ_BYTES;
		status = read_memory(remote, address, size, bytes, error);
		if (status)
			return status;
		if (fwrite(bytes, 1, size, output) != size)
			return failed(path, "can't be written", error);
	}
	return LITIFUT_OK;
}

static enum litifut_status copy_memory(struct remote *remote, const struct capture_memory *firmware,
				       FILE *output, const char *path, struct litifut_error *error)
{
	for (size_t i = 0; i < firmware->count; i++) {
		const struct capture_piece *piece = &firmware->pieces[i];
		enum litifut_status status;

		if (fseek(output, (long)(piece->start - firmware->pieces[0].start), SEEK_SET))
			return failed(path, "can't be written", error);
		status = copy_piece(remote, piece, output, path, error);
		if (status)
			return status;
	}
	return LITIFUT_OK;
}

/* Is the program that runs the one in the ELF file? */
static enum litifut_status check_identity(struct remote *remote,
					  const struct capture_memory *firmware, const char *elf,
					  struct litifut_error *error)
{
	const size_t hash = offsetof(struct litifut_identity, hash);
	uint8_t bytes[sizeof(firmware->bytes)];
	char runs[17], asked[17];
	enum litifut_status status =
		read_memory(remote, firmware->identity, sizeof(bytes), bytes, error);

	if (status || !memcmp(bytes, firmware->bytes, sizeof(bytes)))
		return status;
	litifut_hex(firmware->bytes + hash, 8, asked);
	if (memcmp(bytes, firmware->bytes, hash) != 0)
		return litifut_error_set(
			error, LITIFUT_ERROR_MISSING, remote->source, NULL, firmware->identity,
			"the memory does not have the identity of %s (%s): another "
			"build runs (give its ELF file), or its start-up code has "
			"not run yet (--seconds N lets it run)",
			elf, asked);
	return litifut_error_set(error, LITIFUT_ERROR_MISSING, remote->source, NULL,
				 LITIFUT_NO_ADDRESS,
				 "the program that runs is another build (identity %s) than %s "
				 "(%s): give its ELF file",
				 litifut_hex(bytes + hash, 8, runs), elf, asked);
}

static int connect_path(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int line;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (line >= 0 && connect(line, (const struct sockaddr *)&address, sizeof(address))) {
		close(line);
		line = -1;
	}
	return line;
}

/* `host`:`port`; without a host this machine. */
static int connect_host(const char *source)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	const char *colon = strrchr(source, ':');
	char host[256];
	struct addrinfo *found = NULL;
	int line = -1;

	if (!colon || (size_t)(colon - source) >= sizeof(host)) {
		errno = ENOENT;
		return -1;
	}
	memcpy(host, source, (size_t)(colon - source));
	host[colon - source] = '\0';
	if (getaddrinfo(*host ? host : "localhost", colon + 1, &hints, &found)) {
		errno = EHOSTUNREACH;
		return -1;
	}
	for (const struct addrinfo *each = found; each && line < 0; each = each->ai_next) {
		line = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (line >= 0 && connect(line, each->ai_addr, each->ai_addrlen)) {
			close(line);
			line = -1;
		}
	}
	/* A command follows a +: else it waits until the other side has acknowledged that, 40 ms.
	 */
	if (line >= 0)
		setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	freeaddrinfo(found);
	return line;
}

enum litifut_status capture_gdb_run(const struct capture_gdb_options *options,
				    struct litifut_error *error)
{
	struct remote remote = {.source = options->source};
	struct stat about;
	struct capture_memory firmware;
	enum litifut_status status = capture_memory_find(options->elf, &firmware, error);
	FILE *output = NULL;

	if (status)
		return status;
	remote.line = !stat(options->source, &about) && S_ISSOCK(about.st_mode)
			      ? connect_path(options->source)
			      : connect_host(options->source);
	if (remote.line < 0)
		return failed(options->source, "no gdb remote is there (host:port or a socket)",
			      error);
	if (!find_standing(&remote))
		status = silent(&remote, error);
	if (!status && options->seconds)
		status = run_for(&remote, options->seconds, error);
	if (!status)
		status = check_identity(&remote, &firmware, options->elf, error);
	if (!status) {
		output = fopen(options->output, "we");
		status = output ? copy_memory(&remote, &firmware, output, options->output, error)
				: failed(options->output, "can't be written", error);
	}
	if (!status)
		ask(&remote, "D"); /* the memory has been read, whatever the answer */
	if (output && fclose(output) && !status)
		status = failed(options->output, "can't be written", error);
	if (output && status)
		remove(options->output); /* a part of the memory would be taken for all of it */
	close(remote.line);
	return status;
}
