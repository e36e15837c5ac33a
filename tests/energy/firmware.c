/* A sensor node: senses, filters, compresses, sends by radio, writes to a flash, waits. Ports
 * switch the peripherals that the rig models (rig.c): bit 0 of port B starts the radio, bit 1
 * starts a write to the flash, bit 2 feeds the converter while it is set. Bit 3 is a pin that an
 * analyser sees: it rises where a recorder gets a mark, in the interrupt of the recorder's clock if
 * that sets it (RECORDED). */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <litifut/firmware.h>
#include <stdint.h>

#define FUNCTION __attribute__((noinline, noclone))

#ifndef ROUNDS
#define ROUNDS 24
#endif

#define ROUND_BEGINS 3

static volatile uint16_t samples[32];
static volatile int32_t filtered;
static volatile uint8_t packet[32];
volatile uint8_t done;

FUNCTION uint16_t adc_read(uint8_t channel)
{
	uint16_t value = channel;

	PORTB |= 4;
	for (uint8_t i = 0; i < 24; i++)
		value = (uint16_t)(value * 5 + i);
	PORTB &= (uint8_t)~4;
	return value;
}

FUNCTION int32_t mac(int32_t sum, int16_t a, int16_t b)
{
	return sum + (int32_t)a * b;
}

FUNCTION uint8_t crc8(uint8_t crc, uint8_t byte)
{
	crc ^= byte;
	for (uint8_t i = 0; i < 8; i++)
		crc = crc & 0x80 ? (uint8_t)(crc << 1 ^ 0x07) : (uint8_t)(crc << 1);
	return crc;
}

FUNCTION void sense(void)
{
	for (uint8_t i = 0; i < 32; i++)
		samples[i] = adc_read(i);
}

FUNCTION void filter(void)
{
	int32_t sum = 0;

	for (uint8_t i = 0; i < 240; i++)
		sum = mac(sum, (int16_t)samples[i & 31], (int16_t)(i * 3));
	filtered = sum;
}

FUNCTION void compress(void)
{
	uint8_t crc = 0;

	for (uint8_t i = 0; i < 64; i++) {
		crc = crc8(crc, (uint8_t)samples[i & 31]);
		packet[i & 31] = crc;
	}
}

FUNCTION void radio_send(void)
{
	volatile uint8_t sum = 0;

	for (uint8_t k = 0; k < 16; k++) {
		for (uint8_t i = 0; i < 32; i++)
			sum = (uint8_t)(sum + packet[i]);
	}
	PORTB |= 1;
	PORTB &= (uint8_t)~1;
}

FUNCTION void flash_write(void)
{
	PORTB |= 2;
	PORTB &= (uint8_t)~2;
}

FUNCTION void wait_ms(uint8_t count)
{
	while (count--) {
		uint16_t start = TCNT3;
		while ((uint16_t)(TCNT3 - start) < 2000)
			;
	}
}

FUNCTION void nap(uint8_t count)
{
	wait_ms(count);
}

FUNCTION void work(uint8_t round)
{
	sense();
	filter();
	if (round & 1) {
		compress();
		radio_send();
	}
	if ((round & 7) == 4)
		flash_write();
}

static void raise_pin(void)
{
#ifndef RECORDED
	PORTB |= 8;
#else
	if (litifut_mark)
		litifut_mark(ROUND_BEGINS);
#endif
}

static void clear_pin(void)
{
#ifndef RECORDED
	PORTB &= (uint8_t)~8;
#endif
}

int main(void)
{
	DDRB = 15;
	TCCR3B = 2;         /* a tick is 8 cycles */
	UCSR0A = 1 << U2X0; /* 2 MBaud at 16 MHz */
	UBRR0 = 0;
	UCSR0B = 1 << TXEN0;
	sei();
	for (uint8_t round = 0; round < ROUNDS; round++) {
		raise_pin();
		work(round);
		clear_pin();
		nap(12);
	}
	if (litifut_send)
		litifut_send();
	done = 1;
	for (;;)
		;
}
