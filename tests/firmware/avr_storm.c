/* A node that sends what it has recorded a little at a time, when it has nothing else to do
 * (LITIFUT_COMPACT=1). STORM: for a while a timer interrupts it so often that there is no time for
 * that. SWITCHES: recording is switched off and on.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>
#include <stdio.h>

#include <litifut/firmware.h>

#define FUNCTION __attribute__((noinline, noclone))

#ifndef ROUNDS
#define ROUNDS 24
#endif

#define PERIOD_SELDOM 250 /* of 256 cycles */
#define PERIOD_STORM 12

static volatile uint16_t ticks, checks;
static uint8_t message[24];

FUNCTION uint16_t checksum(const uint8_t *bytes, uint8_t count)
{
	uint16_t crc = 0xffff;

	for (; count; count--) {
		crc ^= (uint16_t)(*bytes++ << 8);
		for (uint8_t i = 0; i < 8; i++)
			crc = crc & 0x8000 ? (uint16_t)(crc << 1 ^ 0x1021) : (uint16_t)(crc << 1);
	}
	return crc;
}

ISR(TIMER0_COMPA_vect)
{
	ticks++;
	if (ticks % 4 == 0)
		checks += checksum((const uint8_t *)&ticks, 2) & 1;
}

FUNCTION void sample(uint8_t round)
{
	for (uint8_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i < 4 ? round : i * 3);
}

FUNCTION uint8_t largest(void)
{
	uint8_t found = 0;

	for (uint8_t i = 0; i < sizeof(message); i++)
		if (message[i] > found)
			found = message[i];
	return found;
}

/* Its branches are not recorded (LITIFUT_EXCLUDE): there would be more of them than it sends. */
FUNCTION void idle(uint16_t rounds)
{
	for (; rounds; rounds--)
		if (litifut_send_some && !litifut_send_some())
			break;
}

static int put(char character, FILE *file)
{
	(void)file;
	while (!(UCSR0A & 1 << UDRE0))
		;
	UDR0 = (uint8_t)character;
	return 0;
}

static FILE output = FDEV_SETUP_STREAM(put, NULL, _FDEV_SETUP_WRITE);

int main(void)
{
	uint16_t sum = 0;

	UBRR0 = 0;
	UCSR0B = 1 << TXEN0;
	stdout = &output;
	OCR0A = PERIOD_SELDOM;
	TCCR0A = 1 << WGM01;
	TCCR0B = 4;
	TIMSK0 = 1 << OCIE0A;
#ifndef QUIET
	sei();
#endif
	for (uint16_t round = 0; round < ROUNDS; round++) {
#ifdef STORM
		OCR0A = round >= 8 && round < 12 ? PERIOD_STORM : PERIOD_SELDOM;
#endif
		sample((uint8_t)round);
		sum += checksum(message, sizeof(message));
#ifdef SWITCHES
		if (litifut_stop && round % 5 == 2)
			litifut_stop();
		if (litifut_start && round % 5 == 4)
			litifut_start();
#endif
		sum += largest();
		idle(2000);
	}
	cli();
	printf("sum %u\n", sum);
	idle(20000);
	if (litifut_send)
		litifut_send();
	for (;;)
		;
}
