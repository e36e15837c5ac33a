/* The interrupt of the transmitter of stm32.c, which comes as long as the transmitter is empty. */
#include "tracer/port/bare/transmit.h"

void litifut_transmit_enable(void)
{
	PORT_REGISTER(0x0c) |= 0x80; /* CR1: TXEIE */
}

void litifut_transmit_disable(void)
{
	PORT_REGISTER(0x0c) &= ~0x80u;
}

void litifut_transmit_answer(void)
{
}
