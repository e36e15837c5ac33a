/* Requests to running programs. A traced program maps the header of its trace, so a write
 * to the file is seen by it, when it next needs a chunk. */
#include "ldwrap/control.h"

#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include <litifut/trace_format.h>

#define AT(member) offsetof(struct litifut_trace_header, member)

int control_request(const char *name)
{
	static const struct {
		const char *name;
		int request;
	} requests[] = {{"status", LITIFUT_REQUEST_NONE},
			{"start", LITIFUT_REQUEST_START},
			{"stop", LITIFUT_REQUEST_STOP},
			{"snapshot", LITIFUT_REQUEST_SNAPSHOT},
			{"reset", LITIFUT_REQUEST_RESET}};

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (!strcmp(name, requests[i].name))
			return requests[i].request;
	return -1;
}

static const char *name_of(uint32_t request)
{
	switch (request & 0xff) {
	case LITIFUT_REQUEST_START:
		return "start";
	case LITIFUT_REQUEST_STOP:
		return "stop";
	case LITIFUT_REQUEST_SNAPSHOT:
		return "a snapshot";
	case LITIFUT_REQUEST_RESET:
		return "a reset";
	default:
		return "something unknown";
	}
}

static enum litifut_status failed(const char *path, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS, "%s",
				 strerror(errno));
}

/* A header of a trace that takes requests, in the byte order of its CPU; `swap`: that is
 * not this machine's. */
static enum litifut_status check(const char *path, const struct litifut_trace_header *header,
				 bool *swap, struct litifut_error *error)
{
	if (memcmp(header->magic, LITIFUT_TRACE_MAGIC, sizeof(header->magic)))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
					 LITIFUT_NO_ADDRESS, "not a LITIFUT trace");
	*swap = header->byte_order == bswap_32(LITIFUT_BYTE_ORDER_MARK);
	if (!*swap && header->byte_order != LITIFUT_BYTE_ORDER_MARK)
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL, AT(byte_order),
					 "the mark of the byte order is damaged");
	if ((*swap ? bswap_16(header->version_major) : header->version_major) != 2)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
					 AT(version_major),
					 "the trace has another version than 2.x");
	return LITIFUT_OK;
}

static void describe(FILE *to, const char *path, const struct litifut_trace_header *header,
		     bool swap, uint32_t request, uint32_t done)
{
	uint32_t state = swap ? bswap_32(header->state) : header->state;
	uint32_t lost = swap ? bswap_32(header->lost_events) : header->lost_events;

	fprintf(to, "%s: %s, %" PRIu32 " lost", path,
		state == LITIFUT_TRACE_RUNNING ? "recording, or killed" : "stopped", lost);
	if (request)
		fprintf(to, ", asked for %s: %s", name_of(request),
			request != done ? "not seen yet"
			: (request & 0xff) == LITIFUT_REQUEST_RESET
				? "seen; each thread follows with its next 16 KiB of events"
				: "done");
	putc('\n', to);
}

/* Makes the request of the process that writes the trace at `path`, and writes a line about
 * that process to `to`. The file must be the one that the process has mapped. */
static enum litifut_status control_trace(FILE *to, const char *path, uint32_t request,
					 struct litifut_error *error)
{
	struct litifut_trace_header header;
	enum litifut_status status;
	struct stat stat;
	bool swap = false;
	int file = open(path, (request ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (file < 0)
		return failed(path, error);
	if (fstat(file, &stat) || !S_ISREG(stat.st_mode) ||
	    pread(file, &header, sizeof(header), 0) != (ssize_t)sizeof(header)) {
		close(file);
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
					 LITIFUT_NO_ADDRESS, "not a trace, or cut short");
	}
	status = check(path, &header, &swap, error);
	if (status == LITIFUT_OK) {
		uint32_t last = swap ? bswap_32(header.control.request) : header.control.request;
		uint32_t done = swap ? bswap_32(header.control.done) : header.control.done;
		uint32_t flags = swap ? bswap_32(header.flags) : header.flags;
		uint32_t next = ((last >> 8) + 1) << 8 | request;
		uint32_t word = swap ? bswap_32(next) : next;

		if (!request)
			describe(to, path, &header, swap, last, done);
		else if (flags & LITIFUT_TRACE_WRITE)
			status = litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
						   LITIFUT_NO_ADDRESS,
						   "the program writes its trace and does not map "
						   "it, so it sees no requests (LITIFUT_FILE)");
		else if (pwrite(file, &word, 4, AT(control.request)) != 4)
			status = failed(path, error);
		else
			describe(to, path, &header, swap, next, done);
	}
	close(file);
	return status;
}

enum litifut_status control(FILE *to, const char *path, uint32_t request,
			    struct litifut_error *error)
{
	static const char *const patterns[] = {"%s/trace/*.trace", "%s/*.trace"};
	enum litifut_status status = LITIFUT_OK;
	struct stat stat_of;
	glob_t found = {0};

	if (stat(path, &stat_of))
		return failed(path, error);
	if (!S_ISDIR(stat_of.st_mode))
		return control_trace(to, path, request, error);
	for (size_t i = 0; i < 2 && !found.gl_pathc; i++) {
		char *pattern = xasprintf(patterns[i], path);

		globfree(&found);
		glob(pattern, 0, NULL, &found);
		free(pattern);
	}
	if (!found.gl_pathc)
		status = litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL,
					   LITIFUT_NO_ADDRESS, "there are no traces in it");
	for (size_t i = 0; i < found.gl_pathc && status == LITIFUT_OK; i++)
		status = control_trace(to, found.gl_pathv[i], request, error);
	globfree(&found);
	return status;
}
