/* Where output goes: a pager, a program, a file or a folder that has its name only when it is
 * complete. Part of the main program: it prints. */
#include "postproc/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "postproc/progress.h"
#include "postproc/sources/archive.h"
#include "postproc/sources/inputs.h"
#include "postproc/table.h"
#include "postproc/tui/tui.h"

/* The file through a program that changes what is written; the file is closed here. */
FILE *post_file_through(const char *program, const char *argument, FILE *file, pid_t *child)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	*child = fork();
	if (!*child) {
		dup2(ends[0], STDIN_FILENO);
		dup2(fileno(file), STDOUT_FILENO);
		signal(SIGPIPE, SIG_DFL);
		execlp(program, program, argument, (char *)NULL);
		fprintf(stderr, "litifut-post: %s: %s\n", program, strerror(errno));
		_exit(127);
	}
	close(ends[0]);
	fclose(file);
	return *child < 0 ? NULL : fdopen(ends[1], "w");
}

static bool on_path(const char *program)
{
	char *copy = post_copy_text(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	char *rest = copy, *folder;
	char path[4096];
	bool found = false;

	while (!found && (folder = strsep(&rest, ":"))) {
		int length = snprintf(path, sizeof(path), "%s/%s", folder, program);
		found = length > 0 && (size_t)length < sizeof(path) && access(path, X_OK) == 0;
	}
	free(copy);
	return found;
}

/* As git does: only on a terminal, and a short text is printed without stopping. */
FILE *post_file_pager(void)
{
	const char *pager = getenv("PAGER");
	const char *terminal = getenv("TERM");

	if (!isatty(STDOUT_FILENO) || !terminal || !strcmp(terminal, "dumb"))
		return NULL;
	if (!pager && on_path("less"))
		pager = "less";
	if (!pager || !*pager || !strcmp(pager, "cat"))
		return NULL;
	setenv("LESS", "FRX", 0);
	return popen(pager, "we");
}

static ssize_t write_at_last(void *file, const char *bytes, size_t size)
{
	size_t done = 0;

	post_progress_end();
	while (done < size) {
		ssize_t written = write(fileno(file), bytes + done, size - done);
		if (written < 0 && errno != EINTR)
			return 0;
		done += written < 0 ? 0 : (size_t)written;
	}
	return (ssize_t)size;
}

FILE *post_file_behind_progress(FILE *file)
{
	return fopencookie(file, "w", (cookie_io_functions_t){.write = write_at_last});
}

/* Where -o writes until all is there; "" when nothing is to be renamed. */
static char unfinished[4096 + 16];
static char complete_path[4096]; /* and what its name is then */

static void end_by_signal(int number)
{
	post_archives_remove();
	post_tui_leave();
	post_progress_erase();
	if (*unfinished && unlink(unfinished)) { /* it is a folder */
		pid_t child = fork();
		if (!child) {
			execl("/bin/rm", "rm", "-rf", "--", unfinished, (char *)NULL);
			_exit(127);
		}
		waitpid(child, NULL, 0);
	}
	signal(number, SIG_DFL);
	raise(number);
}

void post_file_catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		if (signal(signals[i], end_by_signal) == SIG_IGN)
			signal(signals[i], SIG_IGN);
	}
}

/* The file to which symbolic links lead, also if it is not there yet, into complete_path. False:
 * there is no such name, as behind /dev/stdout. */
static bool follow_links(const char *path)
{
	const size_t size = sizeof(complete_path);

	if (snprintf(complete_path, size, "%s", path) >= (int)size)
		return false;
	for (int links = 0; links < 40; links++) {
		char target[sizeof(complete_path)];
		ssize_t length = readlink(complete_path, target, size - 1);
		if (length < 0)
			return true;
		target[length] = '\0';
		char *slash = *target == '/' ? NULL : strrchr(complete_path, '/');
		char *name = slash ? slash + 1 : complete_path;
		if (!strncmp(complete_path, "/proc/", 6) ||
		    (size_t)(name - complete_path) + (size_t)length >= size)
			return false;
		memcpy(name, target, (size_t)length + 1);
	}
	return false;
}

/* A regular file gets its name when it is complete; what else is there is written to. */
FILE *post_file_open(const char *path)
{
	struct stat about;
	bool exists = !stat(path, &about);

	if ((exists && !S_ISREG(about.st_mode)) || !follow_links(path) ||
	    snprintf(unfinished, sizeof(unfinished), "%s.XXXXXX", complete_path) >=
		    (int)sizeof(unfinished)) {
		*unfinished = '\0';
		return fopen(path, "we");
	}
	int file = mkostemp(unfinished, O_CLOEXEC);
	if (file < 0) {
		*unfinished = '\0';
		return exists ? fopen(path, "we") : NULL; /* a folder that can't be written to */
	}
	mode_t mask = umask(0);
	umask(mask);
	fchmod(file, exists ? about.st_mode & 07777 : 0666 & ~mask);
	return fdopen(file, "w");
}

bool post_file_is_input(const char *output, char *const *inputs, size_t count)
{
	struct stat about;
	const bool lost = output && !stat(output, &about) && S_ISREG(about.st_mode) &&
			  post_inputs_read(inputs, count, output);

	if (lost)
		fprintf(stderr,
			"litifut-post: %s: it is an input, and would be lost: -o takes another "
			"name\n",
			output);
	return lost;
}

/* A folder gets its name when it is complete, too. One that is there already stays as it is. */
bool post_file_make_folder(const char *path)
{
	struct stat about;

	if (!lstat(path, &about)) {
		errno = EEXIST;
		return false;
	}
	if (snprintf(unfinished, sizeof(unfinished), "%s.XXXXXX", path) >=
		    (int)sizeof(unfinished) ||
	    !mkdtemp(unfinished)) {
		*unfinished = '\0';
		return false;
	}
	mode_t mask = umask(0);
	umask(mask);
	chmod(unfinished, 0777 & ~mask);
	return true;
}

static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(folder), entry->d_name, 0);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

/* Gives the output its name, if it is complete. */
int post_file_name(const char *path, bool folder, int failed)
{
	if (!*unfinished)
		return failed;
	if (!failed && rename(unfinished, folder ? path : complete_path)) {
		fprintf(stderr, "litifut-post: %s: %s\n", path, strerror(errno));
		failed = 1;
	}
	if (failed && folder)
		remove_folder(unfinished);
	else if (failed)
		unlink(unfinished);
	*unfinished = '\0';
	return failed;
}

static int flush_error; /* why an output that is not closed yet could not be written */

void post_file_flush(FILE *file)
{
	if (fflush(file) && !flush_error)
		flush_error = errno;
}

/* errno may be of something else by now. */
static bool has_no_reader(FILE *file)
{
	struct pollfd pipe = {.fd = fileno(file)};

	return poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR;
}

/* A reader that has seen enough (head, a pager) is not a failure. */
int post_file_close(FILE *file, const char *path)
{
	bool failed = fflush(file) || ferror(file);
	int cause = flush_error ? flush_error : errno;

	if (failed && has_no_reader(file))
		cause = EPIPE;

	if (file != stdout && fclose(file) && !failed) {
		failed = true;
		cause = errno;
	}
	if (!failed || cause == EPIPE)
		return 0;
	fprintf(stderr, "litifut-post: %s: %s\n", path ? path : "standard output", strerror(cause));
	return 1;
}

FILE *post_file_begin(const char *path)
{
	FILE *file = path ? post_file_open(path) : stdout;

	if (!file)
		fprintf(stderr, "litifut-post: %s: %s\n", path, strerror(errno));
	return file;
}

int post_file_end(FILE *file, const char *path, int status)
{
	const bool empty = status && ftello(file) <= 0;
	const int failed = post_file_close(file, path);

	const int named = post_file_name(path, false, failed || empty);

	return status ? status : failed | named;
}

const char *post_file_unfinished(void)
{
	return unfinished;
}

/* The arguments as a shell reads them. The caller frees them. */
char *post_file_command_line(int count, char **arguments)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return NULL;
	fputs("litifut-post", memory);
	for (int i = 1; i < count; i++) {
		const char *word = arguments[i];
		putc(' ', memory);
		if (*word &&
		    !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789_-+=./:,@%")]) {
			fputs(word, memory);
			continue;
		}
		putc('\'', memory);
		for (; *word; word++)
			*word == '\'' ? fputs("'\\''", memory) : putc(*word, memory);
		putc('\'', memory);
	}
	fclose(memory);
	return text;
}
