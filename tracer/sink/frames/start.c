/* Recording is switched off and on by what a call adds to its counter. */
#include "tracer/sink/frames/frames.h"

/* The rewriter puts 0 here where recording begins later (LITIFUT_START_AT). In .data, so that a
 * reset, a warm one too, begins as the first one did. */
volatile frame_byte litifut_step HIDDEN = 1;

void litifut_start(void);
void litifut_stop(void);

void litifut_start(void)
{
	litifut_step = 1;
}

void litifut_stop(void)
{
	litifut_step = 0;
}
