#include "ldwrap/run_mcu.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/linker.h"

static enum litifut_status failed(const char *what, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, what, NULL, LITIFUT_NO_ADDRESS,
				 "can't be run: %s", strerror(errno));
}

/* Starts the command; what it prints goes to the standard error. */
static enum litifut_status start_flash(const struct run_mcu_options *options, pid_t *child,
				       struct litifut_error *error)
{
	*child = 0;
	if (!options->flash)
		return LITIFUT_OK;
	*child = fork();
	if (*child < 0)
		return failed(options->flash, error);
	if (!*child) {
		setpgid(0, 0);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", options->flash, "litifut", options->elf, (char *)NULL);
		_exit(127);
	}
	setpgid(*child, *child); /* whoever comes first */
	return LITIFUT_OK;
}

/* How long the command may go on when the results have come: an emulator whose firmware has no end,
 * or waits for a line that is not read any more, does so for ever. */
#define GRACE_MS 3000
#define STEP_MS 20

/* Waits for the command; after that time it is ended, with all that it has started. Returns false
 * where that was necessary. */
static bool wait_for(pid_t child, int *status)
{
	const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};

	for (unsigned i = 0; i < GRACE_MS / STEP_MS; i++) {
		pid_t ended = waitpid(child, status, WNOHANG);

		if (ended == child || (ended < 0 && errno != EINTR))
			return true;
		nanosleep(&step, NULL);
	}
	kill(-child, SIGTERM);
	while (waitpid(child, status, 0) < 0 && errno == EINTR)
		;
	return false;
}

static enum litifut_status end_flash(const struct run_mcu_options *options, pid_t child,
				     struct litifut_error *error)
{
	int status = 0;

	if (!child || !wait_for(child, &status))
		return LITIFUT_OK;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return LITIFUT_OK;
	return litifut_error_set(
		error, LITIFUT_ERROR_UNSUPPORTED, options->flash, NULL, LITIFUT_NO_ADDRESS,
		WIFSIGNALED(status) ? "was ended by signal %d" : "has failed with exit status %d",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static enum litifut_status show(const struct run_mcu_options *options, int *result,
				struct litifut_error *error)
{
	const char *self = linker_self_path();
	char *program = xasprintf("%.*slitifut-post", (int)(lbasename(self) - self), self);
	bool pdf = !strcmp(options->format, "pdf");
	const char *words[10];
	size_t count = 0;
	int status;
	pid_t child;

	words[count++] = program;
	words[count++] = "-f";
	words[count++] = pdf ? "dot" : options->format;
	if (pdf)
		words[count++] = "--pdf";
	if (options->output) {
		words[count++] = "-o";
		words[count++] = options->output;
	}
	words[count++] = options->capture.output;
	words[count++] = options->elf;
	words[count] = NULL;
	child = fork();
	if (child < 0)
		return failed(program, error);
	if (!child) {
		execv(program, (char *const *)(const void *)words);
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return failed(program, error);
	free(program);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		errno = ENOENT;
		return failed("litifut-post", error);
	}
	*result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	return LITIFUT_OK;
}

enum litifut_status run_mcu(const struct run_mcu_options *options, int *result,
			    struct litifut_error *error)
{
	struct litifut_error flash_error;
	unsigned rounds;
	pid_t child;
	enum litifut_status status = start_flash(options, &child, error);

	*result = 0;
	if (status)
		return status;
	status = capture_run(&options->capture, &rounds, error);
	if (end_flash(options, child, &flash_error) &&
	    (status || rounds < capture_needs(&options->capture))) {
		*error = flash_error;
		return flash_error.status;
	}
	if (status)
		return status;
	if (rounds < capture_needs(&options->capture))
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, options->capture.source,
					 NULL, LITIFUT_NO_ADDRESS,
					 "no whole sending has come; what came is in %s",
					 options->capture.output);
	return show(options, result, error);
}
