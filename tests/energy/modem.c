#include "modem.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <litifut/firmware.h>

#define HOLD 0x40

volatile uint8_t done;

void energy_exercise(void);

static void start(uint8_t bit)
{
	PORTB |= bit;
	PORTB &= (uint8_t)~bit;
}

void modem_on(void)
{
	if (PORTB & HOLD)
		return;
	PORTB |= HOLD;
	start(1);
}

void modem_off(void)
{
	if (!(PORTB & HOLD))
		return;
	PORTB &= (uint8_t)~HOLD;
	start(2);
}

void modem_send(uint8_t bytes)
{
	if (PORTB & HOLD)
		start(bytes > 8 ? 0x20 : 0x10);
}

void modem_wait(uint8_t milliseconds)
{
	while (milliseconds--) {
		uint16_t start = TCNT3;
		while ((uint16_t)(TCNT3 - start) < 2000)
			;
	}
}

int main(void)
{
	DDRB = 0x7f;
	TCCR3B = 2;         /* a tick is 8 cycles */
	UCSR0A = 1 << U2X0; /* 2 MBaud at 16 MHz */
	UBRR0 = 0;
	UCSR0B = 1 << TXEN0;
	sei();
	energy_exercise();
	if (litifut_send)
		litifut_send();
	done = 1;
	for (;;)
		;
}
