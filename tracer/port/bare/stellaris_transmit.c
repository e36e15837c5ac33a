/* The interrupt of the transmitter of stellaris.c, which comes when the transmitter gets empty. */
#include "tracer/port/bare/transmit.h"

void litifut_transmit_enable(void)
{
	PORT_REGISTER(0x38) |= 0x20; /* IM: TXIM */
}

void litifut_transmit_disable(void)
{
	PORT_REGISTER(0x38) &= ~0x20u;
}

void litifut_transmit_answer(void)
{
	PORT_REGISTER(0x44) = 0x20; /* ICR: TXIC */
}
