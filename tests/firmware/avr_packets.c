/* Sends its results SENDINGS times as packets by the USART, of which each seventh is lost; two of
 * three times the radio is busy. */
#include <avr/io.h>
#include <litifut/firmware.h>
#include <stdint.h>

#define FUNCTION __attribute__((noinline, noclone))

volatile uint16_t sum;

FUNCTION void add(uint8_t value)
{
	sum += value;
}

FUNCTION void twice(uint8_t value)
{
	add(value);
	add(value);
}

FUNCTION void three_times(uint8_t value)
{
	twice(value);
	add(value);
}

FUNCTION void work(void)
{
	for (uint8_t i = 0; i < 100; i++) {
		add(i);
		twice(i);
		three_times(i);
	}
}

int litifut_packet(const unsigned char *bytes, unsigned count)
{
	static uint8_t asked, packets;

	if (++asked % 3)
		return 0;
	if (++packets % 7 == 0)
		return 1;
	UCSR0B = 1 << TXEN0;
	for (unsigned i = 0; i < count; i++) {
		while (!(UCSR0A & 1 << UDRE0))
			;
		UDR0 = bytes[i];
	}
	return 1;
}

int main(void)
{
	for (uint8_t i = 0; i < 5; i++)
		work();
	for (uint8_t i = 0; litifut_send && i < SENDINGS; i++)
		litifut_send();
	return 0;
}
