/* USART of STM32 F1, F2 and F4. The program has switched it on. Registers: RM0033,
 * chapter 24.6. */
#include "tracer/port/bare/port.h"

int litifut_putc(uint8_t byte)
{
	if (!(PORT_REGISTER(0x00) & 0x80)) /* SR: TXE */
		return 0;
	PORT_REGISTER(0x04) = byte; /* DR */
	return 1;
}
