/* The interrupt of the transmitter of cmsdk.c, which comes when the transmitter gets empty. */
#include "tracer/port/bare/transmit.h"

void litifut_transmit_enable(void)
{
	PORT_REGISTER(0x08) |= 4; /* CTRL */
}

void litifut_transmit_disable(void)
{
	PORT_REGISTER(0x08) &= ~4u;
}

void litifut_transmit_answer(void)
{
	PORT_REGISTER(0x0c) = 1; /* INTCLEAR */
}
