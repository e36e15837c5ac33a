/* LITIFUT_MARK_SET, _CLEAR and _EVERY: a pin that a firmware sets for power analysers. */
#ifndef LITIFUT_LDWRAP_FIRMWARE_PIN_H
#define LITIFUT_LDWRAP_FIRMWARE_PIN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "ldwrap/settings.h"

/* What is written where. */
struct firmware_pin_write {
	uint32_t address;
	uint32_t value;
};

struct firmware_pin {
	bool used;
	struct firmware_pin_write set;
	struct firmware_pin_write clear;
	uint32_t every; /* interrupts of SysTick, or overflows of timer 1 */
};

/* `register_bytes` has a register of the device. */
enum litifut_status firmware_pin_read(const struct settings *settings, unsigned register_bytes,
				      struct firmware_pin *pin, struct litifut_error *error);

#endif
