/* Between the code that is called for a branch (numbers.S) and tracer/sink/paths/numbers.c: the
 * words behind the call, from the flash. */
#include "tracer/sink/paths/numbers.h"

HIDDEN uint8_t litifut_numbers_call(uint8_t code, uint16_t stack, uint32_t place);

/* `place' is the return address of the call. Returns how many words of the flash there are. */
uint8_t litifut_numbers_call(uint8_t code, uint16_t stack, uint32_t place)
{
	const uint8_t count = code == LITIFUT_NUMBERS_NEXT ? 2 : 1;
	uint32_t words[2];

	for (uint8_t i = 0; i < count; i++, place += 2)
		words[i] = (uint32_t)litifut_paths_code((litifut_paths_number)(place + 1)) << 16 |
			   litifut_paths_code((litifut_paths_number)place);
	litifut_numbers_slow(code, words, stack);
	return (uint8_t)(2 * count);
}
