/* A program for the ways to record a call that "Call Graphs on Sensor Nodes" compares in its Table
 * II, and for its timing accuracy. WAY is what the compiler's hooks at the begin and end of
 * fibonacci() do with a record of 10 bytes:
 *
 *   0  there are no hooks
 *   1  nothing: they are called
 *   2  send it over the serial line, which has BAUD
 *   3  write it to an AT45DB161, page by page, by way of its two buffers
 *
 * The pin PB0 is high while `loop' runs. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>
#if WAY == 2
#include <util/setbaud.h>
#endif

#define NO_HOOKS __attribute__((no_instrument_function))

struct record {
	uint8_t type;
	uint16_t caller, callee;
	uint32_t time;
	uint8_t end;
} __attribute__((packed));

volatile uint16_t result;

#if WAY == 2
static NO_HOOKS void start(void)
{
	UCSR0A = USE_2X << U2X0;
	UCSR0C = 1 << UCSZ01; /* simavr always adds a parity bit: so that a byte takes 10 bits */
	UBRR0 = UBRR_VALUE;
	UCSR0B = 1 << TXEN0;
}

static NO_HOOKS void put(uint8_t byte)
{
	while (!(UCSR0A & (1 << UDRE0)))
		;
	UDR0 = byte;
}

static NO_HOOKS void save(const struct record *record)
{
	for (uint8_t i = 0; i < sizeof(*record); i++)
		put(((const uint8_t *)record)[i]);
}
#elif WAY == 3
#define PAGE_BYTES 528
#define SELECT (1 << PB4)

static uint16_t used, page;
static uint8_t buffer; /* the one that is being filled */

static NO_HOOKS uint8_t exchange(uint8_t byte)
{
	SPDR = byte;
	while (!(SPSR & (1 << SPIF)))
		;
	return SPDR;
}

static NO_HOOKS void start(void)
{
	PORTB |= SELECT;
	DDRB |= SELECT | 1 << PB5 | 1 << PB7;
	SPCR = 1 << SPE | 1 << MSTR;
	SPSR = 1 << SPI2X; /* 4 MHz */
}

static NO_HOOKS void begin(uint8_t command, uint16_t to_page, uint16_t at)
{
	PORTB &= (uint8_t)~SELECT;
	exchange(command);
	exchange((uint8_t)(to_page >> 6));
	exchange((uint8_t)(to_page << 2 | at >> 8));
	exchange((uint8_t)at);
}

static NO_HOOKS void end(void)
{
	PORTB |= SELECT;
}

static NO_HOOKS void wait_until_ready(void)
{
	PORTB &= (uint8_t)~SELECT;
	exchange(0xd7);
	while (!(exchange(0) & 0x80))
		;
	end();
}

static NO_HOOKS void write_page(void)
{
	wait_until_ready();
	begin(buffer ? 0x89 : 0x88, page++, 0);
	end();
	buffer ^= 1;
	used = 0;
}

static NO_HOOKS void save(const struct record *record)
{
	if (used + sizeof(*record) > PAGE_BYTES)
		write_page();
	begin(buffer ? 0x87 : 0x84, 0, used);
	for (uint8_t i = 0; i < sizeof(*record); i++)
		exchange(((const uint8_t *)record)[i]);
	end();
	used += sizeof(*record);
}
#else
static NO_HOOKS void start(void)
{
}
#endif

#if WAY >= 2
static volatile uint16_t overflows;

ISR(TIMER3_OVF_vect, NO_HOOKS)
{
	overflows++;
}

static NO_HOOKS void record(uint8_t type, const void *callee, const void *caller)
{
	const struct record record = {type, (uint16_t)caller, (uint16_t)callee,
				      (uint32_t)overflows << 16 | TCNT3, 0xff};

	save(&record);
}
#else
static NO_HOOKS void record(uint8_t type, const void *callee, const void *caller)
{
	(void)type;
	(void)callee;
	(void)caller;
	__asm__ volatile("");
}
#endif

NO_HOOKS __attribute__((noinline)) void __cyg_profile_func_enter(void *callee, void *caller)
{
	record(1, callee, caller);
}

NO_HOOKS __attribute__((noinline)) void __cyg_profile_func_exit(void *callee, void *caller)
{
	record(2, callee, caller);
}

static uint16_t __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))
fibonacci(uint8_t n)
{
	return n < 2 ? n : fibonacci((uint8_t)(n - 1)) + fibonacci((uint8_t)(n - 2));
}

static void __attribute__((noinline, noclone)) loop(void)
{
	PORTB |= 1;
	for (uint16_t i = 0; i < 2295; i++)
		__asm__ volatile("nop");
	PORTB &= (uint8_t)~1;
}

NO_HOOKS int main(void)
{
	DDRB |= 1;
	start();
	TCCR3B = 1 << CS30;
	TIMSK3 = 1 << TOIE3;
#if WAY >= 2
	sei();
#endif
	for (uint8_t i = LOOPS; i; i--)
		loop();
	if (NUMBER)
		result = fibonacci(NUMBER);
	cli();
	for (;;)
		;
}
