/* Numbers that have been carried (<litifut/frames_format.h>), for the sender: each is sent whole,
 * also while the program goes on counting. */
#ifndef LITIFUT_TRACER_AVR_CARRIES_H
#define LITIFUT_TRACER_AVR_CARRIES_H

#include "tracer/avr/interrupts.h"
#include "tracer/sink/frames/frames.h"

extern HIDDEN struct litifut_carry litifut_carries[];
/* Not an address but a number, whose bits are those of an entry's offset. */
extern HIDDEN char litifut_carries_mask[];

#if LITIFUT_CARRIES == 8
typedef uint32_t carry_count;

extern HIDDEN char litifut_bytes[]; /* the same: of the table */

#define NUMBERS_OF_ONE 1
#else
/* Further entries of a number would be needed after 2^48 ticks only. */
typedef uint16_t carry_count;

/* A number of 48 bits has room where two have. */
#define NUMBERS_OF_ONE 2
#endif

/* With interrupts off. */
static carry_count litifut_carries_of(unsigned name)
{
	const uint8_t last =
		(uint8_t)(uintptr_t)litifut_carries_mask / sizeof(struct litifut_carry);
	uint8_t at = (uint8_t)name;
	carry_count carries = 0;

	for (uint8_t left = LITIFUT_CARRIES_TRIED; left; left--) {
		const struct litifut_carry *entry = &litifut_carries[at++ & last];

		if (entry->name == name) {
			carries += entry->carries;
			if (sizeof(carries) == sizeof(entry->carries))
				break;
		}
		if (!entry->name)
			break;
	}
	return carries;
}

static inline void litifut_frame_add_number(unsigned number)
{
	const litifut_interrupts status = litifut_interrupts_off();
	carry_count carries = 0;
	uint32_t low;

#if LITIFUT_CARRIES == 8
	/* The place that litifut_number_at() reads for such a number is below the table, perhaps a
	 * register of the device: reading one may take a received byte from the program. */
	if (number < (uintptr_t)litifut_bytes)
		low = litifut_carries_of(number + 1) << 8 | ((uint8_t *)litifut_table)[number];
	else
		low = litifut_number_at(number);
#else
	low = litifut_number_at(number);
	carries = litifut_carries_of(number + 1);
#endif
	litifut_interrupts_restore(status);
	while (carries) {
		litifut_frame_byte((uint8_t)low | 0x80);
		low = low >> 7 | (uint32_t)(uint8_t)(carries << 1) << 24;
		carries >>= 7;
	}
	litifut_frame_add(low);
}

#endif
