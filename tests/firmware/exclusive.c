/* Exclusive accesses with calls between the load and the store: by functions for these two, as old
 * libraries have them, by functions around these, in a loop that is entered in its midst, and
 * around a function of the program. An interrupt makes all of them fail at times.
 */
#include <stdint.h>
#include <stdio.h>

#include "board.h"

#define APART __attribute__((noinline))

static volatile uint32_t word;
static volatile uint32_t sink;

APART uint32_t load_exclusive(volatile uint32_t *address)
{
	uint32_t value;

	__asm__ volatile("ldrex %0, [%1]" : "=r"(value) : "r"(address) : "memory");
	return value;
}

APART uint32_t store_exclusive(uint32_t value, volatile uint32_t *address)
{
	uint32_t failed;

	__asm__ volatile("strex %0, %2, [%1]"
			 : "=&r"(failed)
			 : "r"(address), "r"(value)
			 : "memory");
	return failed;
}

/* As a class for them has. */
APART uint32_t load_linked(volatile uint32_t *address)
{
	uint32_t value = load_exclusive(address);

	sink++;
	return value;
}

APART uint32_t is_stored(uint32_t value, volatile uint32_t *address)
{
	return !store_exclusive(value, address);
}

APART void give_up(void)
{
	__asm__ volatile("clrex");
}

APART uint32_t leaf(uint32_t value)
{
	sink = value;
	return value + 1;
}

APART uint32_t next(uint32_t value)
{
	return value & 1 ? leaf(value) : leaf(value + 2) - 1;
}

/* Both of them are functions. */
APART void add_apart(uint32_t least)
{
	uint32_t value;

	do {
		value = load_exclusive(&word);
		value = value < least ? least : next(value);
	} while (store_exclusive(value, &word));
}

APART void add_wrapped(uint32_t least)
{
	uint32_t value;

	do {
		value = load_linked(&word);
		value = value < least ? least : value + 1;
	} while (!is_stored(value, &word));
}

/* The load stands behind the store. */
APART void add_turned(uint32_t least)
{
	uint32_t value;

	goto load;
	do {
		value = next(value + least);
		if (is_stored(value, &word))
			return;
	load:
		value = load_linked(&word);
	} while (value);
	give_up();
}

/* Neither is. */
APART void add_within(void)
{
	uint32_t value;
	uint32_t failed;

	do {
		__asm__ volatile("ldrex %0, [%1]" : "=r"(value) : "r"(&word) : "memory");
		value = next(value);
		__asm__ volatile("strex %0, %2, [%1]"
				 : "=&r"(failed)
				 : "r"(&word), "r"(value)
				 : "memory");
	} while (failed);
}

void SysTick_Handler(void)
{
	add_apart(0);
}

int main(void)
{
	board_start_ticks(3001);
	for (uint32_t i = 0; i < 500; i++) {
		add_apart(i);
		add_within();
		add_wrapped(i);
		add_turned(i + 1);
		give_up();
		leaf(i);
	}
	board_stop_ticks();
	printf("%s\n", word > 1000 ? "all were stored" : "some are missing");
	return 0;
}
