/* Calls what is in avr_tables.S through pointers, which nothing else leads to, or, with DIRECT, by
 * its name. */
#include <avr/io.h>
#include <stdint.h>

uint8_t by_row(uint8_t which, uint8_t more);
uint8_t by_called_row(uint8_t which, uint8_t more);
uint8_t from_table(uint8_t unused, uint8_t which);
uint8_t behind_table(uint8_t value, uint8_t unused);
uint8_t with_room(uint8_t value, uint8_t unused);

#ifdef DIRECT
static uint8_t call(uint8_t which, uint8_t value, uint8_t more)
{
	switch (which) {
	case 0:
		return by_row(value, more);
	case 1:
		return by_called_row(value, more);
	case 2:
		return from_table(value, more);
	case 3:
		return behind_table(value, more);
	default:
		return with_room(value, more);
	}
}
#else
static uint8_t (*const functions[])(uint8_t, uint8_t) = {by_row, by_called_row, from_table,
							 behind_table, with_room};

static uint8_t call(uint8_t which, uint8_t value, uint8_t more)
{
	return functions[which](value, more);
}
#endif

static void send(uint8_t byte)
{
	UDR0 = (uint8_t)('0' + (byte >> 4));
	UDR0 = (uint8_t)('0' + (byte & 15));
}

volatile uint8_t asked;

/* Is not called. */
static __attribute__((noinline)) void send_all(void)
{
	for (uint8_t i = 0; i < asked; i++)
		send(i);
}

int main(void)
{
	UCSR0B = 1 << TXEN0;
	for (uint8_t round = 0; round < 16; round++)
		for (uint8_t each = 0; each < 5; each++)
			send(call(each, round & (each == 1 ? 1 : 3), round));
	if (asked)
		send_all();
	return 0;
}
