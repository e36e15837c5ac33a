/* Any bytes as a power file of Keysight's, Saleae's or TI's, or as plain numbers. */
#include "tests/fuzz/power_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct energy_power_options options[] = {
		{.volts = {3.3}, .ohms = 10, .negate = true},
		{.volts = {3.3}, .rate = 1e6, .raw = "f64be"},
		{.volts = {3.3}, .rate = 1e6, .raw = "i16le"}};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		check_power(data, size, "fuzz.bin", &options[i]);
	return 0;
}
