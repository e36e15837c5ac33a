/* The equal of LITIFUT's recorder for -finstrument-functions: what GCC's calls
 * at each entry tell, the call site and the function, goes into a buffer of the
 * thread, which is written out when it is full. No check of what LITIFUT checks
 * (forks, reused threads, bounds), and nothing at a function's exit: as cheap as
 * such a recorder can be. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER_WORDS (1u << 18) /* 1 MiB, as of LITIFUT */
#define UNTRACED __attribute__((no_instrument_function))

static _Thread_local uint32_t *position, *end;
static _Thread_local uint32_t *buffer;
static int file = -1;

void __cyg_profile_func_enter(void *function, void *site) UNTRACED;
void __cyg_profile_func_exit(void *function, void *site) UNTRACED;

UNTRACED static void flush(void)
{
	const char *path = getenv("BENCH_TRACE");

	if (!buffer) {
		if (file < 0 && path)
			file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		buffer = malloc(BUFFER_WORDS * sizeof(*buffer));
		if (!buffer)
			abort();
	} else if (file >= 0 && write(file, buffer, (size_t)(position - buffer) * 4) < 0) {
		abort();
	}
	position = buffer;
	end = buffer + BUFFER_WORDS;
}

UNTRACED __attribute__((destructor)) static void finish(void)
{
	if (buffer)
		flush();
}

void __cyg_profile_func_enter(void *function, void *site)
{
	if (position == end)
		flush();
	*position++ = (uint32_t)(uintptr_t)site;
	*position++ = (uint32_t)(uintptr_t)function;
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)function;
	(void)site;
}
