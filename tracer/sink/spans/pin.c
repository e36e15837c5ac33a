/* A pin that a power analyser sees, and a mark among the events at each of its rising edges. Every
 * so many interrupts of a timer it is set, and at the next one it is cleared. */
#include <ring.h>

/* The registers of LITIFUT_MARK_SET and _CLEAR. */
extern HIDDEN volatile ring_register litifut_pin_set_register[];
extern HIDDEN volatile ring_register litifut_pin_clear_register[];
/* Not addresses but numbers of these and of _EVERY. */
extern HIDDEN char litifut_pin_set_value[];
extern HIDDEN char litifut_pin_clear_value[];
extern HIDDEN char litifut_pin_every[];

/* Interrupts until the pin is set or cleared; the first one sets it. */
HIDDEN ring_count litifut_pin_left;
static volatile bool litifut_pin_is_set;
/* The intervals are alike but for one interrupt, in an order that fits to itself at one place
 * only: else the marks would fit to the edges of the curve at several. */
static uint8_t litifut_pin_order;

static void litifut_pin_set(void)
{
	const litifut_interrupts masked = litifut_interrupts_off();

	litifut_ring_mark(LITIFUT_SPAN_MARK_PIN);
	litifut_pin_set_register[0] = (ring_register)(uintptr_t)litifut_pin_set_value;
	litifut_interrupts_restore(masked);
}

HIDDEN void litifut_pin_tick(void);

void litifut_pin_tick(void)
{
	if (litifut_pin_left) {
		litifut_pin_left--;
		return;
	}
	litifut_pin_is_set = !litifut_pin_is_set;
	if (litifut_pin_is_set) {
		litifut_pin_set();
		return;
	}
	litifut_pin_clear_register[0] = (ring_register)(uintptr_t)litifut_pin_clear_value;
	litifut_pin_order = (uint8_t)(5 * litifut_pin_order + 77);
	litifut_pin_left =
		(ring_count)((uintptr_t)litifut_pin_every - 2 + (litifut_pin_order >> 7));
}
