/* Any bytes as a file of machines: what was read can be written and read again. */
#include <stdlib.h>

#include "postproc/energy/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct energy_machines machines = {0}, again = {0};
	struct litifut_error error = {0};
	char *text = NULL;
	size_t length = 0;

	if (energy_machines_read(&machines, "fuzz", (const char *)data, size, &error) ==
	    LITIFUT_OK) {
		FILE *file = open_memstream(&text, &length);
		if (!file)
			abort();
		energy_machines_write(&machines, file);
		fclose(file);
		if (energy_machines_read(&again, "again", text, length, &error) != LITIFUT_OK ||
		    again.state_count != machines.state_count)
			abort();
		free(text);
	} else if (!error.message[0]) {
		abort();
	}
	energy_machines_release(&machines);
	energy_machines_release(&again);
	return 0;
}
