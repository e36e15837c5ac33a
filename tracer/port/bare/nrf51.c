/* UART of Nordic's nRF51 and nRF52. The program has switched it on. Waits until the byte
 * is sent, as the hardware has no flag for an empty transmitter that never sent one.
 * Registers: nRF51 Series Reference Manual, chapter 29. */
#include "tracer/port/bare/port.h"

int litifut_putc(uint8_t byte)
{
	volatile uint32_t *ready = &PORT_REGISTER(0x11c); /* TXDRDY */

	/* else v6-M gets sums of three addresses for two */
	__asm__("" : "+r"(ready));
	*ready = 0;
	PORT_REGISTER(0x51c) = byte; /* TXD */
	while (!*ready)
		;
	return 1;
}
