/* The signal handler does the whole clean-up itself, with calls that are
 * async-signal-safe, because the main program may be anywhere, also in malloc.
 * So the list of files is an array that is only ever appended to. */
#include "ldwrap/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/cleaner.h"

#define SCRATCH_LIMIT 4096

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

#define ENDING_SIGNAL_COUNT (sizeof(ending_signals) / sizeof(ending_signals[0]))

static const char *volatile scratch_paths[SCRATCH_LIMIT];
static volatile sig_atomic_t scratch_count;
static char *volatile folder;
static volatile pid_t running_child;
static struct sigaction old_actions[ENDING_SIGNAL_COUNT];
static struct sigaction old_size_action;
static const char *crash_words;
static const char *crash_path;
static char *const *crash_argv;

static void remove_all(void)
{
	for (int i = 0; i < scratch_count; i++)
		unlink(scratch_paths[i]);
	if (folder)
		rmdir(folder);
}

static void end_by_signal(int number)
{
	pid_t child = running_child;

	if (child > 0) {
		kill(child, number);
		waitpid(child, NULL, 0);
		cleaner_note_end();
	}
	remove_all();
	cleaner_finish(); /* what a linker left that could not finish */
	signal(number, SIG_DFL);
	raise(number);
}

/* Here nothing may be called that is not async-signal-safe. */
static _Noreturn void give_up(const char *reason)
{
	pid_t child = running_child;
	sigset_t none;

	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		cleaner_note_end();
	}
	remove_all();
	cleaner_finish(); /* what a linker left that could not finish */
	if (write(STDERR_FILENO, crash_words, strlen(crash_words)) < 0 ||
	    write(STDERR_FILENO, reason, strlen(reason)) < 0 || !crash_path)
		_exit(1);
	for (size_t i = 0; i < ENDING_SIGNAL_COUNT; i++)
		sigaction(ending_signals[i], &old_actions[i], NULL);
	sigaction(SIGXFSZ, &old_size_action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(crash_path, crash_argv);
	_exit(126);
}

static void crash(int number)
{
	(void)number;
	give_up("internal error\n");
}

static void lack_memory(void)
{
	give_up("out of memory\n");
}

void process_prepare_for_crash(const char *words, const char *path, char *const argv[])
{
	static char stack[64 << 10]; /* a stack that is full is a reason, too */
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = crash, .sa_flags = SA_ONSTACK | SA_RESETHAND};

	crash_words = words;
	crash_path = path;
	crash_argv = argv;
	sigfillset(&action.sa_mask);
	sigaltstack(&other, NULL);
	for (size_t i = 0; i < sizeof(crash_signals) / sizeof(crash_signals[0]); i++)
		sigaction(crash_signals[i], &action, NULL);
	xatexit(lack_memory); /* which xmalloc() runs when there is no memory */
}

static void block_ending_signals(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ENDING_SIGNAL_COUNT; i++)
		sigaddset(&set, ending_signals[i]);
	sigprocmask(SIG_BLOCK, &set, old);
}

void process_keep_standard_files(void)
{
	for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
		if (fcntl(file, F_GETFD) < 0)
			open("/dev/null", O_RDWR | O_CLOEXEC); /* the lowest that is free */
}

bool process_has_output(void)
{
	return !(fcntl(STDOUT_FILENO, F_GETFD) & FD_CLOEXEC);
}

void process_replace(const char *path, char *const argv[])
{
	execv(path, argv);
}

static int open_for_writing(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
}

/* In the child, after fork. */
static _Noreturn void become(const char *path, char *const argv[], const char *output,
			     const char *error, const sigset_t *mask, int report, pid_t parent)
{
	int reason;

	/* It must not outlive a wrapper that is killed. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	cleaner_note_self();
	for (size_t i = 0; folder && i < ENDING_SIGNAL_COUNT; i++)
		sigaction(ending_signals[i], &old_actions[i], NULL);
	if (folder)
		sigaction(SIGXFSZ, &old_size_action, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (output && dup2(open_for_writing(output), STDOUT_FILENO) < 0)
		goto failed;
	if (error && output && !strcmp(output, error)) {
		if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
			goto failed;
	} else if (error && dup2(open_for_writing(error), STDERR_FILENO) < 0) {
		goto failed;
	}
	execv(path, argv);
failed:
	reason = errno;
	if (write(report, &reason, sizeof(reason)) < 0)
		_exit(126);
	_exit(127);
}

int process_run(const char *path, char *const argv[], const char *output, const char *error)
{
	int report[2];
	int reason = 0;
	int status = 0;
	const pid_t self = getpid();
	sigset_t old;
	pid_t child;

	if (pipe2(report, O_CLOEXEC))
		return -1;
	block_ending_signals(&old);
	child = fork();
	if (!child)
		become(path, argv, output, error, &old, report[1], self);
	running_child = child;
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(report[1]);
	if (child < 0) {
		close(report[0]);
		return -1;
	}
	/* Nothing to read: execv closed the other end, so the program runs. */
	if (read(report[0], &reason, sizeof(reason)) != (ssize_t)sizeof(reason))
		reason = 0;
	close(report[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	running_child = 0;
	cleaner_note_end();
	if (reason) {
		errno = reason;
		return -1;
	}
	return status;
}

_Noreturn void process_end_like(int status)
{
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
		exit(128 + WTERMSIG(status));
	}
	exit(WEXITSTATUS(status));
}

/* As the compiler does, not only where TMPDIR says. The cleaner must know of a folder before
 * there is one; no other process has that name. */
static char *make_scratch_folder(void)
{
	const char *const bases[] = {getenv("TMPDIR"), "/tmp"};
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number)) {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		number = (uint64_t)getpid() << 32 | (uint32_t)now.tv_nsec;
	}

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		char *path = bases[i] && *bases[i]
				     ? xasprintf("%s/litifut-ld-%" PRIx64, bases[i], number + i)
				     : NULL;
		int reason;

		if (path)
			cleaner_note_folder(path);
		if (path && !mkdir(path, 0700))
			return path;
		reason = errno;
		free(path);
		errno = reason;
	}
	return NULL;
}

int scratch_open(void)
{
	struct sigaction action;
	sigset_t old;
	int reason;

	block_ending_signals(&old);
	cleaner_start();
	folder = make_scratch_folder();
	if (!folder) {
		reason = errno;
		cleaner_dismiss();
		sigprocmask(SIG_SETMASK, &old, NULL);
		errno = reason;
		return -1;
	}
	memset(&action, 0, sizeof(action));
	action.sa_handler = end_by_signal;
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < ENDING_SIGNAL_COUNT; i++) {
		sigaction(ending_signals[i], NULL, &old_actions[i]);
		if (old_actions[i].sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &action, NULL);
	}
	action.sa_handler = SIG_IGN;
	sigaction(SIGXFSZ, &action, &old_size_action);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return 0;
}

static const char *remember(char *path)
{
	if (scratch_count >= SCRATCH_LIMIT) {
		fprintf(stderr, "litifut-ld: too many temporary files\n");
		abort();
	}
	scratch_paths[scratch_count] = path;
	scratch_count = scratch_count + 1;
	return path;
}

const char *scratch_file(const char *name)
{
	return remember(concat(folder, "/", name, NULL));
}

/* A name beside `target`, or in the folder `instead` if that is not NULL. */
static const char *scratch_named(const char *target, const char *instead)
{
	const char *place = instead ? instead : target;
	size_t head = instead ? strlen(instead) : (size_t)(lbasename(target) - target);
	const char *slash = instead ? "/" : "";
	struct timespec now;
	char *path;

	/* The process id alone is not unique on a shared file system. The file
	 * itself is not made: a linker gives a new file the right mode. Always of the same
	 * length, as the linker may store it in the file. */
	clock_gettime(CLOCK_REALTIME, &now);
	path = xasprintf("%.*s%s.litifut-%08lx-%08lx-%s", (int)head, place, slash,
			 (unsigned long)getpid(), (unsigned long)now.tv_nsec, lbasename(target));
	head += strlen(slash);
	if (strlen(path) - head > NAME_MAX)
		path[head + NAME_MAX] = '\0';
	cleaner_note_file(path);
	return remember(path);
}

const char *scratch_beside(const char *target)
{
	return scratch_named(target, NULL);
}

const char *scratch_instead_of(const char *target)
{
	return scratch_named(target, folder);
}

const char *scratch_folder(void)
{
	return folder ? folder : "";
}

void scratch_close(void)
{
	sigset_t old;

	block_ending_signals(&old);
	remove_all();
	cleaner_dismiss();
	scratch_count = 0;
	sigprocmask(SIG_SETMASK, &old, NULL);
}
