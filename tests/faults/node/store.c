/* The flash memory, and a log in it. Bits of a page can only be cleared until the page is erased,
 * which takes long, so the log goes round: the page with the oldest records is erased before the
 * last one is full. What is written is found again after a restart by its numbers and checksums. */
#include "system.h"

#include <string.h>

#define PAGES 4
#define RECORDS 6 /* of a page */
#define WAITING 4
#define WRITE_TICKS 2
#define ERASE_TICKS 9
#define EMPTY 0xff /* the kind of a record that is not written */

static struct record pages[PAGES][RECORDS];
static uint16_t wear[PAGES];
static unsigned page, place; /* of the next record */
static uint16_t next_number = 1;

static struct record waiting[WAITING];
static unsigned waiting_first, waiting_count;
static enum { STORE_IDLE, STORE_WRITES, STORE_ERASES } state;
static unsigned erased, lost;

static uint16_t crc_of_record(const struct record *record)
{
	const uint8_t head[] = {record->kind, record->length, (uint8_t)(record->number >> 8),
				(uint8_t)record->number};

	return crc_of(record->bytes, record->length, crc_of(head, sizeof(head), 0x1d0f));
}

static bool is_whole(const struct record *record)
{
	return record->kind != EMPTY && record->length <= RECORD_BYTES &&
	       crc_of_record(record) == record->crc;
}

static void begin(unsigned what, unsigned ticks)
{
	state = what;
	interrupts.store = node_time() + ticks;
	energy_set(PART_FLASH, what == STORE_ERASES ? 4 : 2);
}

static void erase(unsigned number)
{
	memset(pages[number], EMPTY, sizeof(pages[number]));
	wear[number]++;
	erased++;
	begin(STORE_ERASES, ERASE_TICKS);
}

/* Writes clear bits only: what is there already stays. */
static void program(struct record *to, const struct record *from)
{
	uint8_t *old = (uint8_t *)to;
	const uint8_t *new = (const uint8_t *)from;

	for (unsigned i = 0; i < sizeof(*to); i++)
		old[i] &= new[i];
}

static void write_next(void)
{
	if (state != STORE_IDLE || !waiting_count)
		return;
	if (place == RECORDS) {
		place = 0;
		page = (page + 1) % PAGES;
		if (pages[page][0].kind != EMPTY) {
			erase(page);
			return;
		}
	}
	program(&pages[page][place], &waiting[waiting_first]);
	begin(STORE_WRITES, WRITE_TICKS);
}

/* What has been written can be read again, or is written once more at the next place. */
static void verify(void)
{
	if (is_whole(&pages[page][place])) {
		waiting_first = (waiting_first + 1) % WAITING;
		waiting_count--;
	}
	place++;
}

static void store_task(void)
{
	write_next();
}

void store_interrupt(void)
{
	if (state == STORE_WRITES)
		verify();
	state = STORE_IDLE;
	energy_set(PART_FLASH, 0);
	if (waiting_count)
		post_later(store_task);
}

enum result store_add(enum record_kind kind, const uint8_t *bytes, unsigned count)
{
	struct record *record;

	if (waiting_count == WAITING || count > RECORD_BYTES) {
		lost++;
		return FAIL;
	}
	record = &waiting[(waiting_first + waiting_count++) % WAITING];
	*record = (struct record){
		.kind = (uint8_t)kind, .length = (uint8_t)count, .number = next_number++};
	memcpy(record->bytes, bytes, count);
	record->crc = crc_of_record(record);
	post_later(store_task);
	return SUCCESS;
}

bool store_read(unsigned back, struct record *record)
{
	const uint16_t wanted = (uint16_t)(next_number - 1 - back);

	for (unsigned i = 0; i < PAGES; i++)
		for (unsigned j = 0; j < RECORDS; j++) {
			if (pages[i][j].number != wanted || !is_whole(&pages[i][j]))
				continue;
			*record = pages[i][j];
			return true;
		}
	return false;
}

unsigned store_count(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < PAGES; i++)
		for (unsigned j = 0; j < RECORDS; j++)
			count += is_whole(&pages[i][j]);
	return count;
}

unsigned store_erased(void)
{
	return erased;
}

unsigned store_lost(void)
{
	return lost;
}

/* Looks for the place behind the newest record. */
static void mount(void)
{
	uint16_t newest = 0;

	page = place = 0;
	for (unsigned i = 0; i < PAGES; i++)
		for (unsigned j = 0; j < RECORDS; j++) {
			const struct record *record = &pages[i][j];

			if (!is_whole(record) || record->number <= newest)
				continue;
			newest = record->number;
			page = i;
			place = j + 1;
		}
	next_number = (uint16_t)(newest + 1);
}

/* A memory that has been used: its first pages have records of the time before the restart. */
void store_init(void)
{
	const unsigned old = RECORDS + node_random(RECORDS);

	memset(pages, EMPTY, sizeof(pages));
	for (unsigned i = 0; i < old; i++) {
		struct record *record = &pages[i / RECORDS][i % RECORDS];

		*record = (struct record){
			.kind = RECORD_SAMPLE, .length = 2, .number = (uint16_t)(i + 1)};
		record->bytes[0] = (uint8_t)node_random(256);
		record->crc = crc_of_record(record);
	}
	mount();
	store_add(RECORD_START, (const uint8_t[]){node_address()}, 1);
}
