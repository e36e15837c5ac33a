/* Numbers that have been carried (<litifut/frames_format.h>), for the sender: each is sent whole,
 * also while the program goes on counting. */
#ifndef LITIFUT_TRACER_AVR_CARRIES_H
#define LITIFUT_TRACER_AVR_CARRIES_H

#include "tracer/avr/interrupts.h"
#include "tracer/sink/frames/frames.h"

extern HIDDEN struct litifut_carry litifut_carries[];
/* Not an address but a number, a power of two: of its entries. */
extern HIDDEN char litifut_carries_count[];

/* With interrupts off. Further entries of the number would be needed after 2^16 carries only. */
static uint16_t litifut_carries_of(unsigned name)
{
	const uint8_t last = (uint8_t)((uintptr_t)litifut_carries_count - 1);
	uint8_t at = (uint8_t)name;

	for (uint8_t left = LITIFUT_CARRIES_TRIED; left; left--) {
		const struct litifut_carry *entry = &litifut_carries[at++ & last];

		if (!entry->name)
			break;
		if (entry->name == name)
			return entry->carries;
	}
	return 0;
}

/* So that what there is room for is what has arrived. */
#define NUMBERS_OF_ONE 2

/* Of 48 bits. */
static inline void litifut_frame_add_number(unsigned number)
{
	const litifut_interrupts status = litifut_interrupts_off();
	uint32_t low = litifut_number_at(number);
	uint16_t carries = litifut_carries_of(number + 1);

	litifut_interrupts_restore(status);
	while (carries) {
		litifut_frame_byte((uint8_t)low | 0x80);
		low = low >> 7 | (uint32_t)(uint8_t)(carries << 1) << 24;
		carries >>= 7;
	}
	litifut_frame_add(low);
}

#endif
