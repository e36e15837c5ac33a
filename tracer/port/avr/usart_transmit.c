/* The interrupt of the transmitter of usart.c, which comes as long as there is room for a byte. */
#include "tracer/avr/interrupts.h"
#include "tracer/port/avr/usart.h"
#include "tracer/sink/frames/background.h"

#define UDRIE 0x20 /* of UCSRnB */

HIDDEN void litifut_transmit_byte(void);

/* Making a frame takes a while: other interrupts may come meanwhile. */
void litifut_transmit_byte(void)
{
	bool more;

	PORT_REGISTER(1) &= (uint8_t)~UDRIE;
	__asm__ volatile("sei" ::: "memory");
	more = litifut_background_go_on();
	__asm__ volatile("cli" ::: "memory");
	if (more)
		litifut_transmit_begin();
}

/* From code that others may interrupt as well. */
void litifut_transmit_begin(void)
{
	const litifut_interrupts status = litifut_interrupts_off();

	PORT_REGISTER(1) |= UDRIE;
	litifut_interrupts_restore(status);
}
