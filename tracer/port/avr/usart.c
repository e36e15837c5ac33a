/* USART of the ATmega. The program has switched it on. Registers: ATmega1284P data sheet,
 * chapter 20.11; those of USART0 begin at 0xc0, of USART1 at 0xc8. */
#include "tracer/port/avr/usart.h"

int litifut_putc(uint8_t byte)
{
	if (!(PORT_REGISTER(0) & 0x20)) /* UCSRnA: UDREn */
		return 0;
	PORT_REGISTER(6) = byte; /* UDRn */
	return 1;
}
