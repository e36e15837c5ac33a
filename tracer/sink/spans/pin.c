/* A pin that a power analyser sees, and a mark among the events at each of its rising edges. Every
 * so many interrupts of a timer it is set, and at the next one it is cleared. */
#include <ring.h>

/* Not addresses but numbers of LITIFUT_MARK_SET, _CLEAR and _EVERY. */
extern HIDDEN char litifut_pin_set_register[];
extern HIDDEN char litifut_pin_set_value[];
extern HIDDEN char litifut_pin_clear_register[];
extern HIDDEN char litifut_pin_clear_value[];
extern HIDDEN char litifut_pin_every[];

/* Interrupts until the pin is set; the first one sets it. */
static uint32_t litifut_pin_left;
static volatile bool litifut_pin_is_set;

static void litifut_pin_write(const char *address, const char *value)
{
	*(volatile uint32_t *)(uintptr_t)address = (uint32_t)(uintptr_t)value;
}

static void litifut_pin_set(void)
{
	const uint32_t masked = litifut_ring_lock();

	if (!litifut_ring_put(LITIFUT_SPAN_MARK, LITIFUT_SPAN_MARK_PIN))
		litifut_pool.lost++;
	litifut_pin_write(litifut_pin_set_register, litifut_pin_set_value);
	litifut_ring_unlock(masked);
	litifut_pin_is_set = true;
}

HIDDEN void litifut_pin_tick(void);

void litifut_pin_tick(void)
{
	if (litifut_pin_is_set) {
		litifut_pin_write(litifut_pin_clear_register, litifut_pin_clear_value);
		litifut_pin_is_set = false;
	}
	if (litifut_pin_left--)
		return;
	litifut_pin_left = (uint32_t)(uintptr_t)litifut_pin_every - 1;
	litifut_pin_set();
}
