/* What a firmware that records spans sends (LITIFUT_MODE=spans): calls and returns in the order
 * of time, marks, transfers and losses. The frames are those of <litifut/frames_format.h>; there
 * is no table. The same for all CPUs, so that a host needs nothing but the ELF file.
 *
 * An event has a number, a time and a value:
 *
 *   number                      value
 *   LITIFUT_SPAN_RETURN         the stack pointer: a call has returned
 *   LITIFUT_SPAN_CALLEE         the address of a function, bit 0 set: Thumb. It has no time. Where
 *                               the next event, a call through a pointer, leads
 *   LITIFUT_SPAN_LOST           events that found no room in the ring, just before this one
 *   LITIFUT_SPAN_MARK           enum litifut_span_mark, or a number of the program's own
 *   LITIFUT_SPAN_CLOCK          the part of the clock above its `bits', for a clock with few of
 *                               them: the time of this event is value << bits | its ticks
 *   LITIFUT_SPAN_RESET          the device has restarted, so many times so far (modulo 2^16): no
 *                               call before it will return, and it has no time; those behind it
 *                               are of another run. Only where the ring outlasts a reset
 *   LITIFUT_SPAN_SITE + n       the stack pointer: the call of patched site number n, counted in
 *                               the order of .litifut.sites
 *
 * The stack pointer is that before the call, which is that behind its return: the low 16 bits of
 * sp in units of 4 bytes on Cortex-M, of 1 byte on AVR. No two stacks have the same at one time, so
 * that it says which call returns, and in which task a call is made. An interrupt is the call of
 * an entry of the vector table; it has interrupted what was recorded before it. A tail call
 * has the stack pointer of the call that its caller was entered by, and returns just before it.
 *
 * The device keeps events in a ring, in a form of its CPU. Each has a position, from 0 on, modulo
 * 2^32. An event that a full ring has no room for is counted, and has no position; when there is
 * room again a LITIFUT_SPAN_LOST takes the next one. Nothing ever waits for room. What is sent
 * leaves the ring, so each round of frames goes on where the one before it has ended.
 *
 * Frames between 'H' and 'E', of numbers as in other frames:
 *
 *   'R'  ticks a second (0: unknown), bits of the clock (1 to 32), position of the first event of
 *        this round, of the event behind its last one, events that were lost so far
 *   'S'  position of the first event, then events up to the end of the frame: the number, ticks
 *        since the event before it in the frame (modulo 2^bits; of the first one: the low bits
 *        of the clock), and the value. A stack pointer is sent as the difference to the one before
 *        it in the frame (of the first one: to 0), as a signed number of 16 bits in zigzag form.
 *
 * So a frame can be read without the ones before it, and positions say what is missing.
 *
 * With LITIFUT_MODE=stream (LITIFUT_FRAMES_STREAM) there are no returns, all times are 0, and on
 * AVR the stack pointer is that behind the call. */
#ifndef LITIFUT_SPANS_FORMAT_H
#define LITIFUT_SPANS_FORMAT_H

#define LITIFUT_SPAN_RETURN 0
#define LITIFUT_SPAN_CALLEE 1
#define LITIFUT_SPAN_LOST 2
#define LITIFUT_SPAN_MARK 3
#define LITIFUT_SPAN_CLOCK 4
#define LITIFUT_SPAN_RESET 5
#define LITIFUT_SPAN_SITE 8
#define LITIFUT_SPAN_SITES (65536 - LITIFUT_SPAN_SITE) /* as many a program can have */

#ifndef __ASSEMBLER__
#include <stdint.h>

/* Of a mark: as in the events of a Linux program, see postproc/energy/events.h. */
enum litifut_span_mark {
	LITIFUT_SPAN_MARK_PIN = 0,      /* the pin is set */
	LITIFUT_SPAN_MARK_TRANSFER = 1, /* sending begins, */
	LITIFUT_SPAN_MARK_TRANSFERRED = 2,
	LITIFUT_SPAN_MARK_PROGRAM = 3 /* and above: litifut_mark() */
};

/* The difference of two stack pointers as a small number, and back. */
static inline uint16_t litifut_span_zigzag(uint16_t difference)
{
	return (uint16_t)(difference << 1 ^ (difference & 0x8000 ? 0xffff : 0));
}

static inline uint16_t litifut_span_difference(uint32_t zigzag)
{
	return (uint16_t)(zigzag >> 1 ^ (zigzag & 1 ? 0xffff : 0));
}
#endif

#endif
