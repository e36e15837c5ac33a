/* A modem that stays on until it is switched off, for tests of `energy exercise` and `energy
 * learn`: bits of port B start what the rig is told to draw (-s phases0 to phases3, hold). */
#ifndef MODEM_H
#define MODEM_H

#include <stdint.h>

void modem_on(void);
void modem_off(void);
void modem_send(uint8_t bytes); /* 8 or 64; does nothing while it is off */
void modem_wait(uint8_t milliseconds);

#endif
