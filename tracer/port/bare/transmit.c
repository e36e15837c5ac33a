/* The interrupt of the transmitter (LITIFUT_PORT=NAME:ADDRESS:INTERRUPT) sends a byte each time it
 * comes. Its entry of the vector table leads here. NVIC: DDI 0403E B3.4. */
#include "tracer/port/bare/transmit.h"

#define NVIC_ENABLE ((volatile uint32_t *)0xe000e100u)
#define NVIC_PENDING ((volatile uint32_t *)0xe000e200u)
#define NVIC_PRIORITY ((volatile uint32_t *)0xe000e400u) /* four to a word */

/* Not an address but a number. */
extern HIDDEN char litifut_port_interrupt[];

void litifut_transmit(void)
{
	litifut_transmit_answer();
	if (!litifut_background_go_on())
		litifut_transmit_disable();
}

/* At the lowest priority, as making a frame takes a while. The interrupt is made to come, because
 * some transmitters ask for the next byte when they get empty, not as long as they are. */
void litifut_transmit_begin(void)
{
	const unsigned number = (uintptr_t)litifut_port_interrupt;

	NVIC_PRIORITY[number / 4] |= 0xffu << number % 4 * 8;
	NVIC_ENABLE[number / 32] = 1u << number % 32;
	litifut_transmit_enable();
	NVIC_PENDING[number / 32] = 1u << number % 32;
}
