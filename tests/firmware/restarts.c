/* A program that restarts: by the handler of a HardFault, by an interrupt in the midst of calls,
 * by a watchdog where the board has one. The last run ends. In place of main.c of
 * examples/firmware, with startup.c of this folder. With ENDS the first HardFault is the end, for a
 * debugger to look at. */
#include <stdint.h>

#include <litifut/firmware.h>

#include "board.h"

#ifndef RESET_IN_LEAF
#define RESET_IN_LEAF 0
#endif
#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define AIRCR REGISTER(0xe000ed0c)

extern char end;

/* Memory that the start-up code leaves as it is: how often the program was started. */
#define RUNS REGISTER((uintptr_t)&end + 1024)

static volatile uint32_t sum;
static volatile uint32_t ticks;
static volatile uint32_t in_leaf = !RESET_IN_LEAF;

static void __attribute__((noinline)) leaf(uint32_t by)
{
	sum += by;
#if RESET_IN_LEAF
	/* for so long that an interrupt comes here before the ring is full */
	in_leaf = 1;
	for (uint32_t i = 0; i < 16; i++)
		sum += by;
	in_leaf = 0;
#endif
}

static void __attribute__((noinline)) work(uint32_t count)
{
	while (count--)
		leaf(count);
}

static void __attribute__((noinline)) fail(void)
{
	leaf(1);
	__asm__ volatile("udf #0");
}

static void __attribute__((noinline)) hang(void)
{
	leaf(2);
	for (;;)
		;
}

static void __attribute__((noinline)) reset(void)
{
	__asm__ volatile("dsb" ::: "memory");
	AIRCR = 0x05fa0004; /* SYSRESETREQ */
	for (;;)
		;
}

/* An interrupt that comes between a call and its recording is recorded before that call, and a
 * reset in it would leave the call out. With RESET_IN_LEAF it resets where the call that it
 * interrupts has been recorded. */
void SysTick_Handler(void)
{
	const uint32_t is_recorded = in_leaf;

	leaf(3);
	if (RUNS == 2 && ++ticks >= 3 && is_recorded)
		reset();
}

#ifdef ENDS
void HardFault_Handler(void)
{
	for (;;)
		;
}
#else
void HardFault_Handler(void)
{
	AIRCR = 0x05fa0004;
	for (;;)
		;
}
#endif

int main(void)
{
	const uint32_t run = RUNS++;

#ifdef SENDS
	/* what the runs before have left */
	if (run == RESETS && litifut_send)
		litifut_send();
#endif
#ifndef ENDS
	board_start_ticks(1000);
#endif
	work(10 + run);
	if (run == 0)
		fail();
	while (run == 1)
		work(1 + ticks);
#ifdef WATCHDOG
	if (run == 2) {
		REGISTER(WATCHDOG) = 1000;  /* LOAD */
		REGISTER(WATCHDOG + 8) = 3; /* CTL: interrupt, then reset */
		hang();
	}
#else
	if (run > 1000)
		hang();
#endif
	board_stop_ticks();
	return 0;
}
