/* From reset to main(): copies .data, clears .bss, runs constructors. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

extern uint32_t __data_start, __data_end, __data_load, __bss_start, __bss_end, __stack;
extern void __libc_init_array(void);
extern int main(void);

void Default_Handler(void);

void SystemInit(void)
{
	board_init();
}

void Reset_Handler(void)
{
	memcpy(&__data_start, &__data_load, (uintptr_t)&__data_end - (uintptr_t)&__data_start);
	memset(&__bss_start, 0, (uintptr_t)&__bss_end - (uintptr_t)&__bss_start);
	SystemInit();
	__libc_init_array();
	exit(main());
}

void Default_Handler(void)
{
	for (;;)
		;
}

/* tasks.c has this one. */
void PendSV_Handler(void) __attribute__((weak, alias("Default_Handler")));

/* Interrupts of the board's devices: none is used. */
#define UNUSED_8                                                                                   \
	Default_Handler, Default_Handler, Default_Handler, Default_Handler, Default_Handler,       \
		Default_Handler, Default_Handler, Default_Handler

__attribute__((section(".vectors"), used)) static void (*const vectors[16 + 40])(void) = {
	(void (*)(void))(uintptr_t)&__stack,
	Reset_Handler,
	Default_Handler, /* NMI */
	Default_Handler, /* HardFault */
	Default_Handler,
	Default_Handler,
	Default_Handler,
	0,
	0,
	0,
	0,
	Default_Handler, /* SVCall */
	Default_Handler,
	0,
	PendSV_Handler,
	SysTick_Handler,
	UNUSED_8,
	UNUSED_8,
	UNUSED_8,
	UNUSED_8,
	UNUSED_8,
};

void _init(void)
{
}

void _fini(void)
{
}
