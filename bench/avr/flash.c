/* Linked with the node of examples/node by avr_components.sh: what is recorded goes to an AT45DB161
 * as it waits, and at its end, if it RECORDS. RAW: the words of the ring as they are, and not what
 * the tracer sends. OFTEN: its second is an eighth of one. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define PAGE_BYTES 528
#define SELECT (1 << PB4)

void litifut_send(void) __attribute__((weak));
int litifut_send_some(void) __attribute__((weak));
void lis_send(void) __attribute__((weak));

void __real_board_start(void);
void __real_board_end(void);
void __real_sleep_a_second(void);
void __real_line_wait(void);

#ifdef RECORDS
uint32_t flash_bytes, flash_before; /* all, and those up to the first wait */
uint32_t flash_most;                /* in one wait, at most */
static uint16_t used, page;
static uint8_t buffer; /* the one that is being filled */

static uint8_t exchange(uint8_t byte)
{
	SPDR = byte;
	while (!(SPSR & (1 << SPIF)))
		;
	return SPDR;
}

static void start(void)
{
	PORTB |= SELECT;
	DDRB |= SELECT | 1 << PB5 | 1 << PB7;
	SPCR = 1 << SPE | 1 << MSTR;
	SPSR = 1 << SPI2X; /* 4 MHz */
}

static void begin(uint8_t command, uint16_t to_page)
{
	PORTB &= (uint8_t)~SELECT;
	exchange(command);
	exchange((uint8_t)(to_page >> 6));
	exchange((uint8_t)(to_page << 2));
	exchange(0);
}

static void end(void)
{
	PORTB |= SELECT;
}

static void write_page(void)
{
	end();
	do {
		PORTB |= SELECT;
		PORTB &= (uint8_t)~SELECT;
		exchange(0xd7);
	} while (!(exchange(0) & 0x80));
	end();
	begin(buffer ? 0x89 : 0x88, page++);
	end();
	buffer ^= 1;
	used = 0;
}

/* The chip stays selected until the page is full. */
int litifut_putc(uint8_t byte)
{
	if (!used)
		begin(buffer ? 0x87 : 0x84, 0);
	exchange(byte);
	flash_bytes++;
	if (++used == PAGE_BYTES)
		write_page();
	return 1;
}

#ifdef RAW
/* The ring of the tracer: its words as they are, but for the newest one, which may change. */
extern uint32_t litifut_table[] __attribute__((weak)), litifut_table_end[] __attribute__((weak));
extern uint32_t *volatile litifut_paths __attribute__((weak)); /* where that is */

static void save(void)
{
	static const uint32_t *from;
	const uint32_t *newest;

	cli();
	newest = litifut_paths;
	sei();
	if (newest < litifut_table || newest >= litifut_table_end)
		return;
	if (!from)
		from = litifut_table + 1;
	while (from != newest) {
		for (uint8_t i = 0; i < 4; i++)
			litifut_putc(((const uint8_t *)from)[i]);
		if (++from == litifut_table_end)
			from = litifut_table + 1;
	}
}
#else
static void save(void)
{
	while (litifut_send_some && litifut_send_some())
		;
	if (lis_send)
		lis_send();
}
#endif
#else
static void start(void)
{
}

static void save(void)
{
}
#endif

void __wrap_board_start(void)
{
	start();
	__real_board_start();
#ifdef OFTEN
	OCR3A = 3905; /* 8 Hz */
#endif
}

void __wrap_board_end(void)
{
	save();
#ifdef RECORDS
#ifndef RAW
	if (litifut_send)
		litifut_send();
#endif
	if (used)
		write_page();
#endif
	__real_board_end();
}

static void wait(void)
{
#ifdef RECORDS
	const uint32_t before = flash_bytes;
#endif

	save();
#ifdef RECORDS
	if (flash_bytes - before > flash_most)
		flash_most = flash_bytes - before;
	if (!flash_before)
		flash_before = flash_bytes;
#endif
}

void __wrap_sleep_a_second(void)
{
	wait();
	__real_sleep_a_second();
}

void __wrap_line_wait(void)
{
	wait();
	__real_line_wait();
}
