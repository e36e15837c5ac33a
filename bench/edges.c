/* The two recorders of the least cost for clang's -fsanitize-coverage=trace-pc-guard, which calls
 * __sanitizer_cov_trace_pc_guard() on each edge: guard_flags sets a flag for each, as
 * LITIFUT_MODE=coverage does, and guard_trace appends its number to a buffer of the thread, as
 * LITIFUT_MODE=paths records each branch. Neither looks after forks or signals. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define EDGES (1u << 16)        /* as many flags as LITIFUT has room for in these programs */
#define BUFFER_WORDS (1u << 18) /* 1 MiB */

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard);

static uint32_t edges;
static int file = -1;

/* Everything that is recorded, at once or in pieces. */
static void write_out(const void *bytes, size_t size)
{
	const char *path = getenv("BENCH_TRACE");

	if (file < 0 && path)
		file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (file < 0 || write(file, bytes, size) != (ssize_t)size)
		abort();
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop)
{
	for (uint32_t *guard = start; guard < stop && !*guard; guard++)
		*guard = ++edges;
	if (edges >= EDGES)
		abort();
}

#ifdef guard_trace

static _Thread_local uint32_t *position, *end;
static _Thread_local uint32_t buffer[BUFFER_WORDS];

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
	if (position == end) {
		if (position)
			write_out(buffer, sizeof(buffer));
		position = buffer;
		end = buffer + BUFFER_WORDS;
	}
	*position++ = *guard;
}

__attribute__((destructor)) static void finish(void)
{
	if (position)
		write_out(buffer, (size_t)(position - buffer) * sizeof(*buffer));
}

#else

static uint8_t flags[EDGES];

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
	flags[*guard] = 1;
}

__attribute__((destructor)) static void finish(void)
{
	write_out(flags, edges + 1);
}

#endif
