/* The cleaner notices the end of its parent by a socket that closes then. What is to be done
 * comes through it, as a letter, a text and a NUL each. */
#include "ldwrap/cleaner.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

/* How long a linker that is asked to end may take to remove what is its own. */
#define GRACE_MILLISECONDS 1000

enum letter {
	LETTER_FOLDER = 'W',
	LETTER_FILE = 'F',
	LETTER_CHILD = 'C', /* one at a time */
	LETTER_CHILD_ENDED = 'E',
	LETTER_DONE = 'D'
};

static volatile pid_t cleaner;
static volatile int line = -1;

static void send_all(const char *bytes, size_t size)
{
	while (size) {
		ssize_t sent = send(line, bytes, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return;
		bytes += sent;
		size -= (size_t)sent;
	}
}

static void send_letter(enum letter letter, const char *text)
{
	const char first = (char)letter;

	if (line < 0)
		return;
	send_all(&first, 1);
	send_all(text, strlen(text) + 1);
}

static void close_others(int kept)
{
	int end = (int)sysconf(_SC_OPEN_MAX);

#ifdef SYS_close_range
	if ((!kept || !syscall(SYS_close_range, 0u, (unsigned)kept - 1, 0u)) &&
	    !syscall(SYS_close_range, (unsigned)kept + 1, ~0u, 0u))
		return;
#endif
	for (int i = 0; i < end; i++)
		if (i != kept)
			close(i);
}

/* Everything that was sent; `done`: by a parent that needs no help. */
static char *listen_to_parent(int from, size_t *size, bool *done)
{
	char *text = NULL;

	*size = 0;
	for (;;) {
		ssize_t got;

		text = xrealloc(text, *size + 8192);
		got = recv(from, text + *size, 8191, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		*size += (size_t)got;
		/* It is the last of all, and in no text, as that ends in a NUL. */
		if (*size >= 2 && text[*size - 2] == LETTER_DONE && !text[*size - 1] &&
		    (*size == 2 || !text[*size - 3])) {
			*done = true;
			break;
		}
	}
	text[*size] = '\0';
	return text;
}

/* It was asked to end by the kernel (process_run). */
static void end_child(pid_t child)
{
	int handle = (int)syscall(SYS_pidfd_open, child, 0);
	struct pollfd poll_for = {.fd = handle, .events = POLLIN};

	if (handle < 0) {
		if (errno == ESRCH)
			return;
		usleep(GRACE_MILLISECONDS * 1000);
		kill(child, SIGKILL);
		usleep(GRACE_MILLISECONDS * 100);
		return;
	}
	if (!poll(&poll_for, 1, GRACE_MILLISECONDS)) {
		syscall(SYS_pidfd_send_signal, handle, SIGKILL, NULL, 0);
		poll(&poll_for, 1, GRACE_MILLISECONDS);
	}
	close(handle);
}

/* Those in `folder` ("" is the present one) whose names begin with `start`. */
static void remove_files(const char *folder, const char *start)
{
	DIR *directory = opendir(*folder ? folder : ".");
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (!strncmp(entry->d_name, start, strlen(start)))
			unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
}

static void end_last_child(const char *text, const char *end)
{
	const char *last = NULL;

	for (; text < end; text += strlen(text) + 1)
		if (*text == LETTER_CHILD || *text == LETTER_CHILD_ENDED)
			last = text;
	if (last && *last == LETTER_CHILD)
		end_child((pid_t)atol(last + 1));
}

static void clean_up(const char *text, const char *end)
{
	end_last_child(text, end);
	for (; text < end; text += strlen(text) + 1) {
		const char *path = text + 1;
		const char *name = lbasename(path);
		char *beside = xstrndup(path, (size_t)(name - path));

		if (*text == LETTER_FILE)
			remove_files(beside, name);
		if (*text == LETTER_FOLDER) {
			remove_files(path, "");
			rmdir(path);
		}
		free(beside);
	}
}

static _Noreturn void be_cleaner(int from)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGXFSZ};
	sigset_t none;
	size_t size;
	bool done = false;
	char *text;

	prctl(PR_SET_NAME, "litifut-cleaner");
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	close_others(from);
	text = listen_to_parent(from, &size, &done);
	if (!done)
		clean_up(text, text + size);
	_exit(0);
}

void cleaner_start(void)
{
	int ends[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return;
	child = fork();
	if (!child) {
		close(ends[0]);
		be_cleaner(ends[1]);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return;
	}
	/* What is sent to all processes of a build is not for it; nor, by its name, to linkers. */
	setpgid(child, child);
	cleaner = child;
	line = ends[0];
}

void cleaner_note_folder(const char *path)
{
	send_letter(LETTER_FOLDER, path);
}

void cleaner_note_file(const char *path)
{
	send_letter(LETTER_FILE, path);
}

void cleaner_note_self(void)
{
	char text[24];
	char *digit = text + sizeof(text) - 1;

	*digit = '\0';
	for (pid_t rest = getpid(); rest; rest /= 10)
		*--digit = (char)('0' + rest % 10);
	send_letter(LETTER_CHILD, digit);
}

void cleaner_note_end(void)
{
	send_letter(LETTER_CHILD_ENDED, "");
}

static void await_cleaner(void)
{
	close(line);
	line = -1;
	while (waitpid(cleaner, NULL, 0) < 0 && errno == EINTR)
		continue;
}

void cleaner_finish(void)
{
	if (line >= 0)
		await_cleaner();
}

void cleaner_dismiss(void)
{
	if (line < 0)
		return;
	send_letter(LETTER_DONE, "");
	await_cleaner();
}
