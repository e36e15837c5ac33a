/* The environment of the program, asked of the kernel: libc may not be up yet. */

#include "tracer/port/linux/environment.h"

#include <stddef.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"

/* The name of the program in /proc/self/stat ends before: it follows upon a number. */
#define LITIFUT_STAT_NAME_END 64

/* The 28th field of /proc/self/stat: where the stack was when the program
 * started, which is where the kernel put argc. 0 when it can't be had. */
static uint32_t litifut_start_of_stack(char *buffer, uint32_t size)
{
	long descriptor = litifut_open("/proc/self/stat", O_RDONLY, 0);
	uint32_t field = 2;
	const char *at;
	long got;

	if (litifut_failed(descriptor))
		return 0;
	got = LITIFUT_CALL3(read, descriptor, buffer, size - 1);
	litifut_close(descriptor);
	if (got <= 0)
		return 0;
	buffer[got] = 0;
	/* The second field is the program's name in brackets, 15 bytes at the most, which may have
	 * spaces and brackets of its own. */
	at = buffer + (got < LITIFUT_STAT_NAME_END ? got : LITIFUT_STAT_NAME_END);
	while (at > buffer && *at != ')')
		at--;
	for (; field < 28 && *at; at++)
		if (*at == ' ')
			field++;
	return litifut_number(at);
}

const uint32_t *litifut_stack_environment(char *buffer, uint32_t size)
{
	uint32_t start = litifut_start_of_stack(buffer, size);
	const uint32_t *word = (const uint32_t *)start;

	litifut_recorder.stack_start = start;
	if (!start || start & 3 || !litifut_readable(start & ~7u))
		return NULL;
	/* argc itself may be gone: ARM start-up code uses its place again */
	do
		word++;
	while (*word);
	return word + 1;
}

/* The environment as it was passed to the program, from the stack: libc may not
 * have started yet, and emulators do not always show the program's own in
 * /proc/self/environ. Else from there, one window at a time. */
void litifut_environment_each(char *buffer, uint32_t size,
			      void (*take)(const char *setting, bool flag), bool flag)
{
	const uint32_t *strings = litifut_stack_environment(buffer, size);
	long descriptor;
	uint32_t kept = 0;

	for (; strings && *strings; strings++)
		take((const char *)*strings, flag);
	if (strings)
		return;
	descriptor = litifut_open("/proc/self/environ", O_RDONLY, 0);
	if (litifut_failed(descriptor))
		return;
	for (;;) {
		long got = LITIFUT_CALL3(read, descriptor, buffer + kept, size - 1 - kept);
		uint32_t start = 0;
		uint32_t end;

		if (got == -EINTR)
			continue;
		if (got <= 0)
			break;
		end = kept + (uint32_t)got;
		for (uint32_t at = start; at < end; at++) {
			if (buffer[at])
				continue;
			take(buffer + start, flag);
			start = at + 1;
		}
		kept = end - start;
		if (kept == size - 1) /* longer than the window: not a setting */
			kept = 0;
		litifut_copy(buffer, buffer + start, kept);
	}
	litifut_close(descriptor);
}
