/* litifut_reset() where events are recorded: those that have not been sent are forgotten. While a
 * sending is under way, in what this one has interrupted or in interrupts, it sends what it has
 * begun with. */
#include <ring.h>

/* Only where something sends. */
extern HIDDEN struct litifut_frame litifut_frame __attribute__((weak));

void litifut_reset(void);

void litifut_reset(void)
{
	const volatile struct litifut_frame *frame = &litifut_frame;
	litifut_interrupts status = litifut_interrupts_off();

	if (!frame || !frame->part) {
		litifut_ring_hold();
		litifut_ring_forget();
		litifut_ring_go_on();
	}
	litifut_interrupts_restore(status);
	for (uintptr_t i = 0; i < (uintptr_t)litifut_profile_bins; i++) {
		status = litifut_interrupts_off();
		((volatile uint16_t *)litifut_profile)[i] = 0;
		litifut_interrupts_restore(status);
	}
}
