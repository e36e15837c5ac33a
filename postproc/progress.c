/* How far the work is, in one line that is drawn again and again. */
#include "postproc/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static bool may_show;
static volatile sig_atomic_t is_shown;
static double last;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void post_progress_begin(void)
{
	may_show = isatty(STDERR_FILENO);
	last = now();
}

/* Only when the work takes a while. */
static bool is_due(void)
{
	double time = may_show ? now() : 0;

	if (!may_show || time - last < 0.5)
		return false;
	last = time;
	is_shown = true;
	return true;
}

void post_progress_files(void *context, size_t done, size_t all)
{
	(void)context;
	if (!is_due())
		return;
	if (all)
		fprintf(stderr, "\r\033[Ktrace %zu of %zu", done, all);
	else
		fprintf(stderr, "\r\033[K%zu file%s looked at", done, done == 1 ? "" : "s");
}

void post_progress_bytes(void *context, uint64_t done, uint64_t all)
{
	(void)context;
	if (!is_due())
		return;
	unsigned percent = all ? (unsigned)(100.0 * (double)done / (double)all) : 100;
	fprintf(stderr, "\r\033[K%3u%% of %" PRIu64 " MiB [%-40.*s]", percent, all >> 20,
		(int)(percent * 40 / 100), "########################################");
}

void post_progress_erase(void)
{
	static const char erase[] = "\r\033[K";

	if (is_shown && write(STDERR_FILENO, erase, sizeof(erase) - 1) > 0)
		is_shown = false;
}

void post_progress_end(void)
{
	may_show = false;
	post_progress_erase();
}
