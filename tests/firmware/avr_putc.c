/* Sends a byte by the USART of an ATmega8, whose registers are not where LITIFUT's port expects
 * them. */
#include <avr/io.h>
#include <stdint.h>

int litifut_putc(uint8_t byte)
{
	UBRRL = 0;
	UCSRB |= 1 << TXEN;
	if (!(UCSRA & 1 << UDRE))
		return 0;
	UDR = byte;
	return 1;
}
