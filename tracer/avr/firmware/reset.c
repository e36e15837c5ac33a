/* All numbers begin anew, each with interrupts off, as one has several bytes. What an interrupt
 * counts meanwhile may still be in them afterwards. */
#include "tracer/avr/interrupts.h"
#include "tracer/sink/frames/frames.h"

/* Only where numbers have carries. The mask is not an address but a number. */
extern HIDDEN struct litifut_carry litifut_carries[] __attribute__((weak));
extern HIDDEN char litifut_carries_mask[] __attribute__((weak));

void litifut_reset(void);

static void litifut_clear(void *from, uint16_t bytes)
{
	volatile uint32_t *at = from;

	for (; bytes; bytes -= sizeof(*at)) {
		const litifut_interrupts status = litifut_interrupts_off();

		*at++ = 0;
		litifut_interrupts_restore(status);
	}
}

void litifut_reset(void)
{
	/* the table, the one for callees of pointers, and the bins of samples stand in a row */
	litifut_clear(litifut_table,
		      (uint16_t)((uintptr_t)(litifut_profile + (uintptr_t)litifut_profile_bins) -
				 (uintptr_t)litifut_table));
	/* Last of all: a number that carries while the others are cleared has its carry cleared,
	 * too, and does not carry again before this ends. */
	if (litifut_carries)
		litifut_clear(litifut_carries, (uint16_t)((uintptr_t)litifut_carries_mask +
							  sizeof(struct litifut_carry)));
}
