/* Any bytes as a power file of text. */
#include "tests/fuzz/power_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct energy_power_options options[] = {
		{.volts = {3.3}},
		{.volts = {3.3}, .rate = 1000, .columns = "current=1:mA,sync=2"},
		{.columns = "energy=2:nJ,time=1:us", .negate = true}};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		check_power(data, size, "fuzz.csv", &options[i]);
	return 0;
}
