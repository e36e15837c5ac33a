/* The parts of the sender of <litifut/frames_format.h>. It links nothing but the port, and
 * keeps its state on the stack and in one struct. */
#ifndef LITIFUT_TRACER_FRAMES_H
#define LITIFUT_TRACER_FRAMES_H

#include <litifut/frames_format.h>
#include <stdbool.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Made by the rewriter. */
extern HIDDEN uint32_t litifut_table[];
extern HIDDEN uint32_t litifut_table_end[];
extern HIDDEN struct litifut_identity litifut_identity;

/* Only in programs that call through pointers. */
extern HIDDEN uint32_t litifut_overflow[] __attribute__((weak));

/* Only in programs that are sampled. */
extern HIDDEN uint16_t litifut_profile[] __attribute__((weak));
extern HIDDEN const uint32_t litifut_sample_bins __attribute__((weak));

/* The port: sends one byte, or returns 0 when the line is busy. The program can bring one
 * of its own. */
int litifut_putc(uint8_t byte);

/* Sends everything once. May be called at any time, by the program as well, but not by two
 * at once. */
void litifut_send(void);

#endif
