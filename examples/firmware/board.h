/* What the example needs of a board: a serial line and a timer. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

void board_init(void);
void board_putc(int character);
/* Calls SysTick_Handler() every `cycles` cycles of the CPU. */
void board_start_ticks(uint32_t cycles);
void board_stop_ticks(void);

void Reset_Handler(void);
void SysTick_Handler(void);

#endif
