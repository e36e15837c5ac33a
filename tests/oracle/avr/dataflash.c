/* Of the commands of the data sheet (Adesto DS-45DB161D): 0x84 and 0x87 fill buffer 1 and 2, 0x88
 * and 0x89 write it to a page that is erased, 0xd7 reads the status. */
#include "tests/oracle/avr/dataflash.h"

#include <simavr/avr_ioport.h>
#include <simavr/avr_spi.h>
#include <stdbool.h>
#include <stdint.h>

#define PAGES 4096
#define PAGE_BYTES 528
#define READY 0x80
#define DENSITY 0x2c

/* The times of the data sheet are 3 ms at most for a page, 17 ms typically when it is erased first;
 * "Call Graphs on Sensor Nodes" has 3 to 6. */
#define PROGRAM_US 3000
#define ERASE_US 14000
#define TRANSFER_US 200

/* Of the ATmega1284P. */
#define SPSR 0x4d
#define SPDR 0x4e
#define SPIF 0x80
#define BYTE_CYCLES 16 /* at half the frequency of the CPU */

static struct dataflash {
	avr_t *avr;
	avr_irq_t *answer;
	FILE *pages;
	bool selected;
	unsigned count; /* bytes since it was selected */
	uint8_t command, buffers[2][PAGE_BYTES];
	unsigned at; /* the address: 12 bits of the page, 10 of the byte in it */
	avr_cycle_count_t ready;
} chip;

/* At the end of a command. */
static void execute(void)
{
	if (chip.count < 4 || (chip.command != 0x88 && chip.command != 0x89))
		return;
	fseek(chip.pages, (long)(chip.at >> 10 & (PAGES - 1)) * PAGE_BYTES, SEEK_SET);
	fwrite(chip.buffers[chip.command == 0x89], 1, PAGE_BYTES, chip.pages);
	chip.ready =
		chip.avr->cycle + (avr_cycle_count_t)PROGRAM_US * (chip.avr->frequency / 1000000);
}

static void change_selection(struct avr_irq_t *irq, uint32_t value, void *parameter)
{
	(void)irq;
	(void)parameter;
	if (chip.selected && value)
		execute();
	chip.selected = !value;
	chip.count = 0;
}

/* Returns what the chip sends meanwhile. */
static uint8_t exchange(uint8_t value)
{
	uint8_t answer = 0xff;
	unsigned number = chip.count;

	if (!chip.selected)
		return answer;
	chip.count++;
	if (!number) {
		chip.command = value;
		chip.at = 0;
	} else if (chip.command == 0xd7) {
		answer = DENSITY | (chip.avr->cycle >= chip.ready ? READY : 0);
	} else if (number < 4) {
		chip.at = chip.at << 8 | value;
	} else if (chip.command == 0x84 || chip.command == 0x87) {
		unsigned at = ((chip.at & 0x3ff) + number - 4) % PAGE_BYTES;

		chip.buffers[chip.command == 0x87][at] = value;
	}
	return answer;
}

static avr_cycle_count_t finish_byte(avr_t *avr, avr_cycle_count_t when, void *parameter)
{
	(void)when;
	(void)parameter;
	avr->data[SPSR] |= SPIF;
	return 0;
}

/* simavr's SPI takes 100 us for any byte, so that it is not waited for. */
static void begin_byte(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter)
{
	(void)address;
	(void)parameter;
	avr_raise_irq(chip.answer, exchange(value));
	avr_cycle_timer_register(avr, BYTE_CYCLES, finish_byte, NULL);
}

void dataflash_connect(avr_t *avr, char port, int pin, FILE *pages)
{
	chip.avr = avr;
	chip.pages = pages;
	chip.answer = avr_io_getirq(avr, AVR_IOCTL_SPI_GETIRQ(0), SPI_IRQ_INPUT);
	avr_register_io_write(avr, SPDR, begin_byte, NULL);
	avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), pin),
				change_selection, NULL);
}
