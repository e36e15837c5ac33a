/* An AT45DB161 at the SPI of a simulated AVR: a serial flash with pages of 528 bytes and two
 * buffers, one of which can be filled while the other one is written. What firmware writes can be
 * read again. */
#ifndef LITIFUT_TESTS_ORACLE_AVR_DATAFLASH_H
#define LITIFUT_TESTS_ORACLE_AVR_DATAFLASH_H

#include <simavr/sim_avr.h>
#include <stdio.h>

/* Selected by a low level at this pin; the pages that are written go to a file. */
void dataflash_connect(avr_t *avr, char port, int pin, FILE *pages);

#endif
