/* What differs between the devices of a family, by the names that avr-libc has for them.
 * tests/e2e/firmware-avr_devices.sh compares it with avr-libc's headers. */
#include <fnmatch.h>

#include "cpu/avr/avr.h"

#define NAMES_MOST 32

static const uint32_t usart_addresses[LITIFUT_AVR_USARTS] = {0xc0, 0xc8, 0xd0, 0x130};

/* Bit N: the device has a USART at address N of these whose registers have the order that they
 * have in an ATmega48: UCSRnA, UCSRnB and, at +6, UDRn. The first name that fits counts. */
static const struct {
	uint8_t usarts;
	const char *devices[NAMES_MOST];
} groups[] = {
	{0xf, {"atmega640", "atmega1280", "atmega2560"}},
	{0x7, {"atmega324pb"}},
	{0x3,
	 {"atmega328pb", "atmega164*", "atmega324*", "atmega644?*", "atmega128[14]*",
	  "atmega256[14]*", "atmega*rf[ar][12]", "at90can*"}},
	{0x2, {"at90usb*", "atmega*u[246]"}},
	{0x1,
	 {"atmega48*", "atmega88*", "atmega168*", "atmega16[59]*", "atmega32[589]*",
	  "atmega64[459]*", "at90pwm[23]*", "at90scr100*", "ata661[234]*", "attiny828"}},
	{0,
	 {"attiny*",   "atmega8",    "atmega8a",  "atmega8hva", "atmega85[13]5", "atmega103",
	  "atmega128", "atmega128a", "atmega16",  "atmega16a",  "atmega16[123]", "atmega32",
	  "atmega32a", "atmega323",  "atmega64",  "atmega64a",  "atmega*[cm]1",  "atmega*hv[abe]*",
	  "atmega406", "at90pwm*",   "at90[cs]*", "at43*",      "at76*",         "at86*",
	  "at94*",     "ata*"}},
};

static bool is_of(const char *const names[NAMES_MOST], const char *device)
{
	for (size_t i = 0; i < NAMES_MOST && names[i]; i++)
		if (!fnmatch(names[i], device, 0))
			return true;
	return false;
}

bool litifut_avr_usarts(const char *device, uint32_t addresses[LITIFUT_AVR_USARTS], unsigned *count)
{
	*count = 0;
	for (size_t row = 0; row < sizeof(groups) / sizeof(*groups); row++) {
		if (!is_of(groups[row].devices, device))
			continue;
		for (unsigned n = 0; n < LITIFUT_AVR_USARTS; n++)
			if (groups[row].usarts >> n & 1)
				addresses[(*count)++] = usart_addresses[n];
		return true;
	}
	return false;
}

/* Numbers of the interrupts of timer 1, for devices that have its registers where an ATmega48 has
 * them. The first name that fits counts. */
static const struct {
	uint8_t first, overflow;
	const char *devices[NAMES_MOST];
} timers[] = {
	{16,
	 20,
	 {"atmega*rf[ar][12]", "atmega640", "atmega128[01]", "atmega256[01]", "atmega16u4",
	  "atmega32u[46]", "at90usb64[67]", "at90usb128[67]"}},
	{14, 18, {"atmega*u2", "at90usb82", "at90usb162"}},
	{12, 15, {"atmega164*", "atmega324*", "atmega644*", "atmega1284*", "at90scr100*"}},
	{11, 14, {"atmega*[cm]1"}},
	{11, 15, {"at90can*", "at90pwm[123]", "at90pwm[23]b", "at90pwm[23]16"}},
	{10, 13, {"atmega48*", "atmega88*", "atmega168*", "atmega328*", "ata661[234]*"}},
	{8, 11, {"attiny[48]8", "attiny828"}},
	{6,
	 9,
	 {"atmega16[59]*", "atmega32[59]*", "atmega64[59]*", "attiny87", "attiny167", "ata5272",
	  "ata5505", "ata661[67]c", "ata664251"}},
};

bool litifut_avr_timer1(const char *device, uint32_t *first, uint32_t *overflow)
{
	for (size_t i = 0; i < sizeof(timers) / sizeof(*timers); i++) {
		if (!is_of(timers[i].devices, device))
			continue;
		*first = timers[i].first;
		*overflow = timers[i].overflow;
		return true;
	}
	return false;
}
