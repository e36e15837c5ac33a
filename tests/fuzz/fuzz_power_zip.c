/* Any bytes as an archive of the PPK2's program or of sigrok. */
#include "tests/fuzz/power_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct energy_power_options options = {.volts = {3.3},
							    .columns = "current=3:mA"};

	check_power(data, size, "fuzz.ppk2", &options);
	return 0;
}
