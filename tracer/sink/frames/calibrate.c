/* Measures what the tracer adds to a call whose time it takes. One call at a time, where the
 * clock is known to run. */
#include "tracer/sink/frames/frames.h"

struct litifut_calibration litifut_calibration HIDDEN;

HIDDEN uint32_t litifut_clock_read(void);
/* Call a function that does nothing, with and without its being timed. */
HIDDEN void litifut_calibration_timed(void);
HIDDEN void litifut_calibration_plain(void);
/* The rewriter has put the number of the record there. */
extern HIDDEN const volatile uint16_t litifut_calibration_number;

HIDDEN void litifut_calibrate(void);

void litifut_calibrate(void)
{
	const volatile struct litifut_record *record =
		(const void *)(litifut_table + litifut_calibration_number);
	uint32_t before = record->sum_low;
	uint32_t start = litifut_clock_read();

	litifut_calibration_plain();
	uint32_t middle = litifut_clock_read();
	litifut_calibration_timed();
	uint32_t end = litifut_clock_read();

	litifut_calibration.calls++;
	litifut_calibration.inside += record->sum_low - before;
	litifut_calibration.whole += end - middle - (middle - start);
}
