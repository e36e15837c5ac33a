/* The bytes of a serial line, out of text: hexadecimal digits, as a terminal shows them, or the
 * list of a logic analyser's UART decoder, which has one byte in a row. */
#ifndef LITIFUT_POSTPROC_SOURCES_SERIAL_TEXT_H
#define LITIFUT_POSTPROC_SOURCES_SERIAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Puts what the text stands for in its place, and its number into *size. false: it is not such
 * text, and nothing was changed.
 *
 * Of a list, rows are separated by line ends, and fields by commas, semicolons or tabs. A byte is
 * the last word of its field: 0x41, h41, 0b01000001, or a number without such a mark, which is
 * hexadecimal if all of these have two digits, else decimal. Its field is the one below "data" or
 * "value" in the first row, without these the last field. *left_out receives how many rows
 * after the first have no byte; a file in which these are the half or more is not a list. */
bool post_serial_text(uint8_t *text, size_t *size, size_t *left_out);

#endif
