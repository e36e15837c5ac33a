/* Sends in interrupts, a byte at a time, while the program runs (LITIFUT_SEND=tick:N). Bytes go out
 * as the line takes them: one at each interrupt of the timer that is counted, or one at each
 * interrupt of the transmitter, where the port can have that (transmit.c). Nothing waits. */
#include "tracer/sink/frames/background.h"

/* Not an address but a number: interrupts of the timer from one round to the next. */
extern HIDDEN char litifut_send_every[];

static uint32_t litifut_background_ticks;
static volatile bool litifut_background_asked;

bool litifut_background_go_on(void)
{
	if (!litifut_background_asked || litifut_send_busy)
		return false;
	/* a round of litifut_send() or an interrupt of higher priority leaves it as it was */
	litifut_send_busy = true;
	litifut_background_asked = litifut_send_step();
	litifut_send_busy = false;
	return true;
}

void litifut_background_begin(void)
{
	litifut_background_asked = true;
	if (litifut_transmit_begin)
		litifut_transmit_begin();
}

void litifut_background_tick(void)
{
	if (++litifut_background_ticks >= (uintptr_t)litifut_send_every) {
		litifut_background_ticks = 0;
		litifut_background_begin();
	}
	if (!litifut_transmit_begin)
		litifut_background_go_on();
}
