#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stdio.h>

#include "node.h"

#define QUEUE_BYTES 128

static volatile uint8_t queue[QUEUE_BYTES];
static volatile uint8_t written, taken;
static volatile uint16_t seconds;

ISR(USART1_RX_vect)
{
	queue[written] = UDR1;
	written = (uint8_t)((written + 1) % QUEUE_BYTES);
}

ISR(TIMER3_COMPA_vect)
{
	seconds++;
}

uint16_t board_seconds(void)
{
	uint8_t before = SREG;
	uint16_t now;

	cli();
	now = seconds;
	SREG = before;
	return now;
}

static int print_byte(char byte, FILE *file)
{
	(void)file;
	while (!(UCSR0A & (1 << UDRE0)))
		;
	UDR0 = (uint8_t)byte;
	return 0;
}

static FILE output = FDEV_SETUP_STREAM(print_byte, NULL, _FDEV_SETUP_WRITE);

static void start_console(void)
{
	UBRR0 = 3; /* 250 kBaud at 8 MHz, with U2X */
	UCSR0A = 1 << U2X0;
	UCSR0B = 1 << TXEN0;
	stdout = &output;
}

static void start_link(void)
{
	UBRR1 = 0; /* 500 kBaud */
	UCSR1B = 1 << TXEN1 | 1 << RXEN1 | 1 << RXCIE1;
}

static void start_timer(void)
{
	OCR3A = 31249; /* a second of 8 MHz / 256 */
	TCCR3B = 1 << WGM32 | 1 << CS32;
	TIMSK3 = 1 << OCIE3A;
}

void board_start(void)
{
	start_console();
	start_link();
	start_timer();
	sei();
}

void board_end(void)
{
	cli();
}

void line_put(uint8_t byte)
{
	while (!(UCSR1A & (1 << UDRE1)))
		;
	UDR1 = byte;
}

bool line_has_come(void)
{
	return taken != written;
}

bool line_get(uint8_t *byte)
{
	uint16_t patience = 20000;

	while (taken == written)
		if (!patience--)
			return false;
	*byte = queue[taken];
	taken = (uint8_t)((taken + 1) % QUEUE_BYTES);
	return true;
}

void line_wait(void)
{
	uint16_t before = board_seconds();

	set_sleep_mode(SLEEP_MODE_IDLE);
	for (;;) {
		cli();
		if (taken != written || seconds != before)
			break;
		sleep_enable();
		sei(); /* the next instruction is executed before an interrupt */
		sleep_cpu();
		sleep_disable();
	}
	sei();
}

void sleep_a_second(void)
{
	uint16_t before = board_seconds();

	set_sleep_mode(SLEEP_MODE_IDLE);
	while (board_seconds() == before)
		sleep_mode();
}

uint16_t read_sensor(void)
{
	static uint16_t state = 1;

	state = (uint16_t)(state * 25173u + 13849u);
	return state >> 6;
}
