/* UART of Arm's Cortex-M System Design Kit (the MPS2 boards). The program has switched it
 * on. Registers: DDI 0479 table 4-4. */
#include "tracer/port/bare/port.h"

int litifut_putc(uint8_t byte)
{
	PORT_REGISTER(0x08) |= 1;    /* CTRL: transmitter on */
	if (PORT_REGISTER(0x04) & 1) /* STATE: transmitter full */
		return 0;
	PORT_REGISTER(0x00) = byte; /* DATA */
	return 1;
}
