/* UART of TI's Stellaris, an Arm PL011. The program has switched it on. Registers: DDI 0183
 * chapter 3. */
#include "tracer/port/bare/port.h"

int litifut_putc(uint8_t byte)
{
	if (PORT_REGISTER(0x18) & 0x20) /* FR: TXFF */
		return 0;
	PORT_REGISTER(0x00) = byte; /* DR */
	return 1;
}
