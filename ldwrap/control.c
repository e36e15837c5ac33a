/* Requests to running programs. A traced program maps the header of its trace, so a write
 * to the file is seen by it, when it next needs a chunk. */
#include "ldwrap/control.h"

#include <byteswap.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include <litifut/trace_format.h>

#include "common/nearest.h"

#define AT(member) offsetof(struct litifut_trace_header, member)

static const struct {
	const char *name;
	int request;
} requests[] = {{"status", LITIFUT_REQUEST_NONE},
		{"start", LITIFUT_REQUEST_START},
		{"stop", LITIFUT_REQUEST_STOP},
		{"snapshot", LITIFUT_REQUEST_SNAPSHOT},
		{"reset", LITIFUT_REQUEST_RESET}};

enum { REQUESTS = sizeof(requests) / sizeof(requests[0]) };

int control_request(const char *name)
{
	for (size_t i = 0; i < REQUESTS; i++)
		if (!strcmp(name, requests[i].name))
			return requests[i].request;
	return -1;
}

const char *control_nearest(const char *word)
{
	const char *names[REQUESTS + 1] = {NULL};

	for (size_t i = 0; i < REQUESTS; i++)
		names[i] = requests[i].name;
	return litifut_name_nearest(word, names);
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

/* Is the file mapped by a process, which these are the mappings of? Its path may be another one
 * there, and on an overlay its inode as well. */
static bool maps_file(FILE *maps, uint64_t inode, const char *name)
{
	size_t room = 0, length = strlen(name);
	char *line = NULL;
	bool found = false;

	while (!found && getline(&line, &room, maps) > 0) {
		uint64_t mapped = 0;
		size_t end = strcspn(line, "\n");

		line[end] = '\0';
		sscanf(line, "%*s %*s %*s %*s %" SCNu64, &mapped);
		found = mapped &&
			(mapped == inode || (end > length && line[end - length - 1] == '/' &&
					     !strcmp(line + end - length, name)));
	}
	free(line);
	return found;
}

/* May a process still map the trace, which process `pid` began? Also true where that can't be
 * seen. A process in another PID namespace has another number here, so all of them are asked. */
static bool may_run(const char *path, uint64_t inode, uint32_t pid)
{
	const char *name = lbasename(path);
	DIR *processes = opendir("/proc");
	bool found = !processes, any = false;

	for (struct dirent *entry; !found && (entry = readdir(processes));) {
		char of_process[300];
		FILE *maps;

		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		snprintf(of_process, sizeof(of_process), "/proc/%s/maps", entry->d_name);
		maps = fopen(of_process, "r");
		if (!maps) {
			found = (errno == EACCES || errno == EPERM) &&
				strtoul(entry->d_name, NULL, 10) == pid;
			continue;
		}
		any = true;
		found = maps_file(maps, inode, name);
		fclose(maps);
	}
	if (processes)
		closedir(processes);
	return found || !any;
}

static void describe(FILE *to, const char *path, const struct litifut_trace_header *header,
		     bool swap, bool runs, uint32_t request, uint32_t done)
{
	uint32_t state = swap ? bswap_32(header->state) : header->state;
	uint32_t lost = swap ? bswap_32(header->lost_events) : header->lost_events;
	uint32_t flags = swap ? bswap_32(header->flags) : header->flags;
	bool is_written = flags & LITIFUT_TRACE_WRITE;

	fprintf(to, "%s: %s, %" PRIu32 " lost", path,
		state != LITIFUT_TRACE_RUNNING ? runs ? "stopped" : "the process has ended"
		: !runs                        ? "the process was killed, or runs another program"
		: is_written                   ? "running, or killed"
					       : "running",
		lost);
	if (request)
		fprintf(to, ", asked for %s: %s", name_of(request),
			request != done ? runs ? "not seen yet" : "never seen"
			: (request & 0xff) == LITIFUT_REQUEST_RESET
				? "seen; each thread follows with its next 16 KiB of events"
				: "done");
	if (runs && (request & 0xff) == LITIFUT_REQUEST_SNAPSHOT && !(flags & LITIFUT_TRACE_COPIED))
		fputs("; it is not copied, as the program runs without LITIFUT_COPY_TO: copy the "
		      "trace and its maps when this is done",
		      to);
	putc('\n', to);
}

/* Makes the request of the process that writes the trace at `path`, unless that has ended, and
 * writes a line about that process to `to`. The file must be the one that the process has mapped.
 * Counts the requests that are made in *asked. */
static enum litifut_status control_trace(FILE *to, const char *path, uint32_t request,
					 size_t *asked, struct litifut_error *error)
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
		uint32_t mode = swap ? bswap_32(header.mode) : header.mode;
		uint32_t pid = swap ? bswap_32(header.pid) : header.pid;
		bool runs =
			flags & LITIFUT_TRACE_WRITE || may_run(path, (uint64_t)stat.st_ino, pid);
		uint32_t next = ((last >> 8) + 1) << 8 | request;
		uint32_t word = swap ? bswap_32(next) : next;

		if (!request || !runs)
			describe(to, path, &header, swap, runs, last, done);
		else if (flags & LITIFUT_TRACE_WRITE)
			status = litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
						   LITIFUT_NO_ADDRESS,
						   "the program writes its trace and does not map "
						   "it, so it sees no requests (LITIFUT_FILE)");
		else if (request == LITIFUT_REQUEST_RESET && mode != LITIFUT_MODE_TABLE)
			fprintf(to,
				"%s: nothing to reset, only tables begin anew "
				"(LITIFUT_MODE=table)\n",
				path);
		else if (pwrite(file, &word, 4, AT(control.request)) != 4)
			status = failed(path, error);
		else {
			++*asked;
			describe(to, path, &header, swap, runs, next, done);
		}
	}
	close(file);
	return status;
}

static int is_trace(const struct dirent *entry)
{
	static const char ending[] = ".trace";
	const size_t length = strlen(entry->d_name);

	return length > strlen(ending) && !strcmp(entry->d_name + length - strlen(ending), ending);
}

/* Asks the programs of all traces in the folder, in the order of their names. False: it has none.
 */
static bool control_folder(FILE *to, const char *folder, uint32_t request, size_t *asked,
			   enum litifut_status *status, struct litifut_error *error)
{
	struct dirent **entries;
	const int count = scandir(folder, &entries, is_trace, alphasort);

	for (int i = 0; i < count; i++) {
		char *trace = xasprintf("%s/%s", folder, entries[i]->d_name);

		if (*status == LITIFUT_OK)
			*status = control_trace(to, trace, request, asked, error);
		free(trace);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return count > 0;
}

/* A recorder makes its folder with the first call that it records. */
static enum litifut_status nothing_recorded(const char *path, struct litifut_error *error)
{
	return litifut_error_set(
		error, LITIFUT_ERROR_MISSING, path, NULL, LITIFUT_NO_ADDRESS,
		"there are no traces in it: no traced program has recorded a call there (litifut "
		"info PROGRAM says if it is traced; LITIFUT_START, LITIFUT_DIR)");
}

enum litifut_status control(FILE *to, const char *path, uint32_t request,
			    struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;
	struct stat stat_of;
	size_t asked = 0;

	const bool there = !stat(path, &stat_of);

	if (!there && errno != ENOENT)
		return failed(path, error);
	if (!there) {
		status = litifut_error_set(
			error, LITIFUT_ERROR_MISSING, path, NULL, LITIFUT_NO_ADDRESS,
			"there is no such folder: a traced program makes it with "
			"the first call that it records (litifut info PROGRAM "
			"says if it is traced; LITIFUT_START, LITIFUT_DIR)");
	} else if (S_ISDIR(stat_of.st_mode)) {
		char *inside = xasprintf("%s/trace", path);

		if (!control_folder(to, inside, request, &asked, &status, error) &&
		    !control_folder(to, path, request, &asked, &status, error))
			status = nothing_recorded(path, error);
		free(inside);
	} else {
		status = control_trace(to, path, request, &asked, error);
	}
	if (status == LITIFUT_OK && request && !asked)
		status = litifut_error_set(
			error, LITIFUT_ERROR_MISSING, path, NULL, LITIFUT_NO_ADDRESS,
			"no running program could be asked for %s", name_of(request));
	return status;
}
