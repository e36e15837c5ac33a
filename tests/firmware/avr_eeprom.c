/* Writes to the EEPROM: the second of two writes to its register must follow the first one within 4
 * cycles, and a branch follows at once. Prints y for each byte that is in it afterwards. */
#include <avr/io.h>
#include <stdint.h>
#include <stdlib.h>

#define BYTES 8

static void print(char c)
{
	while (!(UCSR0A & 1 << UDRE0))
		;
	UDR0 = (uint8_t)c;
}

static void wait(void)
{
	while (EECR & 1 << EEPE)
		;
}

int main(void)
{
	UBRR0 = 0;
	UCSR0B = 1 << TXEN0;
	for (uint8_t i = 0; i < BYTES; i++) {
		wait();
		EEAR = i;
		EEDR = (uint8_t)(0x50 + i);
		__asm__ volatile("	clt\n"
				 "	sbi	%0, %1\n"
				 "	sbi	%0, %2\n"
				 "	brts	1f\n"
				 "	nop\n"
				 "1:\n"
				 :
				 : "I"(_SFR_IO_ADDR(EECR)), "I"(EEMPE), "I"(EEPE));
	}
	for (uint8_t i = 0; i < BYTES; i++) {
		wait();
		EEAR = i;
		EECR |= 1 << EERE;
		print(EEDR == 0x50 + i ? 'y' : 'n');
	}
	print('\n');
	if (UBRR0 == 77) /* never */
		while (!(PINB & 1))
			PORTB ^= 1;
	exit(0);
}
