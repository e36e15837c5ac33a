/* Functions that run from RAM: an interrupt handler, and callees and callers of code in the flash,
 * which the linker reaches by veneers. In place of main.c of examples/firmware, with startup.c of
 * this folder. */
#include <stdint.h>
#include <stdio.h>

#include "board.h"
#ifdef SENDS
#include <litifut/firmware.h>
#endif

#define IN_RAM __attribute__((section(".ramfunc"), noinline))

static volatile uint32_t ticks;
static volatile uint32_t shared;

static void __attribute__((noinline)) in_flash(uint32_t by)
{
	shared += by;
}

static void IN_RAM beside(uint32_t by)
{
	shared += by;
}

static void (*volatile const pointers[])(uint32_t) = {in_flash, beside};

static void IN_RAM through(uint32_t i)
{
	pointers[i & 1](i);
	shared++;
}

static void IN_RAM leave(uint32_t i)
{
	shared += i;
	in_flash(i + 1);
}

static uint32_t IN_RAM in_ram(uint32_t i)
{
	in_flash(i);
	beside(i);
	through(i);
	leave(i);
	return shared + i / 7;
}

static void __attribute__((noinline)) leave_to_ram(uint32_t i)
{
	shared += i;
	beside(i);
}

void IN_RAM SysTick_Handler(void)
{
	ticks++;
	in_flash(ticks);
	through(ticks);
	beside(ticks);
}

int main(void)
{
	uint32_t sum = 0;

	board_start_ticks(4000);
	for (uint32_t i = 0; i < 500; i++) {
		sum += in_ram(i);
		through(i);
		leave_to_ram(i);
#ifdef SENDS
		if (i % 16 == 15 && litifut_send)
			litifut_send();
#endif
	}
	board_stop_ticks();
	printf("%s, %lu\n", ticks > 3 ? "many" : "few", (unsigned long)(sum != 0));
	return 0;
}
