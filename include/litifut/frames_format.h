/* What a firmware sends over a serial line, and what it keeps in its memory for a
 * debugger to read. docs/firmware.md describes the same in prose. The trace words of
 * <litifut/trace_format.h> are not used: the code of a firmware can lie below 64 KB.
 *
 * The table. Each patched call site has an entry in an array of 32-bit words, the symbol
 * `litifut_table`. Entries stand in the order of the sites' addresses, as
 * .litifut.sites lists them, so that nothing but the ELF file says which is which:
 *
 *   a site whose callee is known    1 word: the number of calls
 *   a call through a pointer        3 words: the number of calls of the first callee that
 *                                   was seen, that callee (bit 0 set: Thumb), and the
 *                                   number of calls that found no place in the
 *                                   overflow table
 *
 * The overflow table, symbol `litifut_overflow`, holds the calls through pointers to
 * other callees than the first. All numbers only grow, modulo 2^32, so that a table can
 * be sent at any time, in pieces, and more than once: the last one counts.
 *
 * The frames. Each is
 *
 *   COBS(type, sequence, payload, CRC low byte, CRC high byte), 0
 *
 * with at most LITIFUT_FRAME_BYTES on the line, the final 0 included. COBS (Cheshire and
 * Baker, 1999) takes the zero bytes out. The CRC is CRC-16/CCITT-FALSE (polynomial
 * 0x1021, first value 0xffff) over type, sequence and payload. `sequence` is one more
 * than that of the frame before it, modulo 256. A frame begins with a 0 as well when
 * other text may have been on the line before it (LITIFUT_FRAME_HEADER). Numbers are
 * LEB128 unless said otherwise.
 *
 *   'H'  begins a round: LITIFUT_FRAMES_VERSION, flags (enum litifut_frames_flags), the
 *        8 bytes of litifut_identity.hash as they are, words of the table, words of the
 *        overflow table, bins of the histogram (0: none), number of this round
 *   'C'  number of the first word, then words of the table, up to the end of the frame
 *   'I'  number of the first word, then words of the overflow table; see struct
 *        litifut_overflow_entry
 *   'P'  number of the first bin, then bins of the histogram of interrupted addresses: 16 bits
 *        each, the symbol `litifut_profile`; bin i counts those from litifut_sample_low + (i <<
 *        litifut_sample_shift) on
 *   'E'  ends a round: its number, and how many 'C', 'I' and 'P' frames it had, modulo 256
 */
#ifndef LITIFUT_FRAMES_FORMAT_H
#define LITIFUT_FRAMES_FORMAT_H

#ifndef __ASSEMBLER__
#include <stdint.h>
#endif

#define LITIFUT_FRAMES_VERSION 1
#define LITIFUT_FRAME_BYTES 32
/* Most sites that call through a pointer see few callees. */
#define LITIFUT_OVERFLOW_ENTRIES 16
#define LITIFUT_POINTER_WORDS 3
#define LITIFUT_OVERFLOW_WORDS 3

#ifndef __ASSEMBLER__
enum litifut_frame_type {
	LITIFUT_FRAME_HEADER = 'H',
	LITIFUT_FRAME_COUNTS = 'C',
	LITIFUT_FRAME_OVERFLOW = 'I',
	LITIFUT_FRAME_PROFILE = 'P',
	LITIFUT_FRAME_END = 'E'
};

enum litifut_frames_flags {
	LITIFUT_FRAMES_SMALL = 1 /* stubs for size (LITIFUT_STUBS=small) */
};

#define LITIFUT_IDENTITY_MAGIC 0x5746544cu /* "LTFW" in memory, little endian */

/* The symbol `litifut_identity`, in the program's .data: tells by every transport, also
 * in a plain dump of the memory, of which build it is. */
struct litifut_identity {
	uint32_t magic;
	uint8_t hash[8]; /* FNV-1a, 64 bits, of the bytes that are loaded, with zeros here */
	uint16_t version;
	uint16_t flags; /* enum litifut_frames_flags */
};

/* Three words; all zero: not in use. */
struct litifut_overflow_entry {
	uint32_t site; /* number of the first word of the site's entry in the table, plus 1 */
	uint32_t callee;
	uint32_t count;
};

_Static_assert(sizeof(struct litifut_identity) == 16, "identity layout");
_Static_assert(sizeof(struct litifut_overflow_entry) == 12, "overflow layout");

#endif

#endif
