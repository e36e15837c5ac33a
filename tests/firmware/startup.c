/* From reset to main(), with handlers that a program may have. In place of startup.c of
 * examples/firmware. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

extern uint32_t __data_start, __data_end, __data_load, __bss_start, __bss_end, __stack;
extern void __libc_init_array(void);
extern int main(void);

void Default_Handler(void);

void Default_Handler(void)
{
	for (;;)
		;
}

void HardFault_Handler(void) __attribute__((weak, alias("Default_Handler")));
void PendSV_Handler(void) __attribute__((weak, alias("Default_Handler")));
void Inner_Handler(void) __attribute__((weak, alias("Default_Handler"))); /* of interrupt 0 */

void Reset_Handler(void)
{
	memcpy(&__data_start, &__data_load, (uintptr_t)&__data_end - (uintptr_t)&__data_start);
	memset(&__bss_start, 0, (uintptr_t)&__bss_end - (uintptr_t)&__bss_start);
	board_init();
	__libc_init_array();
	exit(main());
}

__attribute__((section(".vectors"), used)) static void (*const vectors[17])(void) = {
	(void (*)(void))(uintptr_t)&__stack,
	Reset_Handler,
	Default_Handler,
	HardFault_Handler,
	[14] = PendSV_Handler,
	[15] = SysTick_Handler,
	[16] = Inner_Handler,
};

void _init(void)
{
}

void _fini(void)
{
}
