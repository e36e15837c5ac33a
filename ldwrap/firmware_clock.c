#include "ldwrap/firmware_clock.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

/* The clocks that the tracer brings; any other name is that of a function. */
static const char *const drivers[] = {"dwt", "systick", "timer1"};

/* No CPU is so slow that is traced: a smaller number is in MHz, or that of the program's own ticks.
 */
#define LEAST_HERTZ 10000

static bool is_function_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return !*name;
}

enum litifut_status firmware_clock_read(const char *text, const char *usual, const char *runtime,
					struct firmware_clock *clock, struct litifut_error *error)
{
	size_t length = text ? strcspn(text, ":") : 0;

	memset(clock, 0, sizeof(*clock));
	if (!text) { /* v6-M has no counter of cycles */
		clock->driver = usual ? usual : strcmp(runtime, "v6m") ? "dwt" : "systick";
		return LITIFUT_OK;
	}
	if (text[length]) {
		const char *digits = text + length + 1;
		char *end;

		errno = 0;
		unsigned long hertz = strtoul(digits, &end, 10);

		if (errno || !isdigit((unsigned char)*digits) || *end || hertz > UINT32_MAX)
			return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
						 LITIFUT_NO_ADDRESS,
						 "LITIFUT_CLOCK: not a number of ticks a second: "
						 "%s",
						 text);
		clock->hertz = (uint32_t)hertz;
	}
	for (size_t i = 0; i < sizeof(drivers) / sizeof(*drivers); i++)
		if (strlen(drivers[i]) == length && !strncmp(drivers[i], text, length))
			clock->driver = drivers[i];
	if (usual && (!clock->driver || strcmp(clock->driver, usual)))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_CLOCK: this CPU has %s only: %s", usual, text);
	if (clock->driver && text[length] && clock->hertz < LEAST_HERTZ)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
			"LITIFUT_CLOCK: %s counts as fast as the CPU, so give its frequency "
			"(16000000 for 16 MHz), or leave it out for times in ticks: %s",
			clock->driver, text);
	if (clock->driver)
		return LITIFUT_OK;
	clock->driver = "function";
	clock->function = xstrndup(text, length);
	if (!is_function_name(clock->function))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_CLOCK: neither dwt, systick, timer1 nor the name "
					 "of a function: %s",
					 text);
	return LITIFUT_OK;
}
