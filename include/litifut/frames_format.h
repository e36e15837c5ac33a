/* What a firmware sends over a serial line, and what it keeps in its memory for a
 * debugger to read. docs/firmware.md describes the same in prose. The trace words of
 * <litifut/trace_format.h> are not used: the code of a firmware can lie below 64 KB.
 *
 * The table. Each patched call site has an entry in an array of 32-bit words, the symbol
 * `litifut_table`. Entries stand in the order of the sites' addresses, as
 * .litifut.sites lists them, so that nothing but the ELF file says which is which. An entry has
 * a record: the number of calls, or with LITIFUT_FRAMES_TIMES (LITIFUT_MODE=table) a struct
 * litifut_record.
 *
 *   a site whose callee is known    its record
 *   a call through a pointer        the record of the first callee that was seen, that callee
 *                                   (bit 0 set: Thumb; AVR: in words, of as many bytes as the
 *                                   absolute symbol litifut_callee_bytes says), and the number of
 *                                   calls that found no place in the overflow table
 *
 * With LITIFUT_FRAMES_COVERAGE (LITIFUT_MODE=coverage) the table has a byte for each flag of struct
 * litifut_block instead, not 0: it was set. The first byte is that of flag LITIFUT_FLAGS_HEAD.
 * Numbers go up to less than LITIFUT_FLAGS_PIECE; none is that of a byte whose address is a
 * multiple of 256.
 *
 * The overflow table, symbol `litifut_overflow`, holds the calls through pointers to
 * other callees than the first: {site, callee, record}, where site is the number
 * of the first word of the site's entry, plus 1. All zero: not in use.
 *
 * Numbers with carries. Where memory is short, some numbers are narrower than what they count, and
 * how often each of them has been carried is in a hash table of struct litifut_carry, the symbol
 * `litifut_carries`. With LITIFUT_STUBS=byte the counts of sites whose callee is known have a byte
 * each, and stand before the entries of calls through pointers. The absolute symbol litifut_bytes
 * says how many bytes that are, a multiple of 4. Each is a number as the words behind them are.
 * Otherwise, where there is such a table, records with times lack sum_high, and the last
 * word of litifut_table is the number of carries that found no place.
 *
 * All numbers only grow, modulo 2^32, so that a table can be sent at any time, in pieces, and
 * more than once: the last one counts. Zeroed memory is a table without calls.
 *
 * Calls that have not returned are in a pool, the symbol `litifut_open`; the absolute symbols
 * litifut_open_bytes and litifut_open_record say how many bytes an entry of it has, and where in
 * it the address of the call's record stands (below 256: not in use). The address has as many bytes
 * as litifut_open_record_bytes says, or 4 where there is no such symbol. Where it has 2, the symbol
 * litifut_open_newest has the address of an entry: those before it are not in use. The word
 * litifut_open_untimed counts the calls that have found the pool full.
 *
 * Tasks. Where the program has a word that says which task runs (LITIFUT_TASK), `litifut_tasks` is
 * an array of struct litifut_task, whose first `litifut_task_count` are in use. What the task that
 * runs has done since it began to is added to its entry when another one runs, and before each
 * sending.
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
 *   'C'  number of the first word, then words up to the end of the frame (a number that has been
 *        carried is sent whole, with up to 64 bits): those of the table, behind them those of the
 *        overflow table, behind them the bins of the histogram of interrupted addresses, 16 bits
 *        each, the symbol `litifut_profile`; bin i counts those from
 *        litifut_sample_low + (i << litifut_sample_shift) on
 *   'T'  of a table with times: ticks a second of its clock (0: unknown), the three numbers of
 *        struct litifut_calibration, number of calls without a time as the pool was full,
 *        entries of the pool; where tasks are timed also the number of struct litifut_task
 *   'K'  of a task: twice its number in litifut_tasks, its `task', calls, low and high word of its
 *        ticks; or twice its number plus 1, and the characters of its name
 *   'O'  number of the first entry, then for each entry of the pool which record it has: the number
 *        of its first word, plus 1, where the overflow table follows the table; 0: not in use;
 *        if it is in use then the ticks since the call began, modulo 2^32
 *   'R', 'S'  of a program that records spans, see <litifut/spans_format.h>
 *   'B'  of a program that records branches, see <litifut/paths_format.h>: position of the first
 *        word of its ring in this round, of the one behind the last, bits and records that found
 *        no room so far. Positions are counted from 0, without the first word of the ring, modulo
 *        2^32; what is sent leaves the ring
 *   'W'  position of the first word, then words of the ring, of 4 bytes each, the low byte first
 *   'P', 'Q'  in place of 'W', see <litifut/packed_format.h>
 *   'E'  ends a round: its number, and how many frames it had besides 'H' and 'E', modulo 256
 */
#ifndef LITIFUT_FRAMES_FORMAT_H
#define LITIFUT_FRAMES_FORMAT_H

#ifndef __ASSEMBLER__
#include <stdint.h>
#endif

#define LITIFUT_FRAMES_VERSION 1
#define LITIFUT_FRAME_BYTES 32
/* Of the payload of 'H', up to the number of the round: in the firmware, the symbol
 * `litifut_header`. The last three of its numbers have 6 bytes together: the last one has more
 * than it needs. In all they are an even number, as code may stand behind them on AVR. */
#define LITIFUT_HEADER_BYTES 16
#define LITIFUT_HEADER_SIZES_BYTES 6
/* With more words in a table, which need a number of 3 bytes, and a histogram, the overflow table
 * has the least size, whose number has 1. */
#define LITIFUT_HEADER_WORDS_MOST 0x3fff
/* Most sites that call through a pointer see few callees. The overflow table has a power of two of
 * places where a search begins, and one entry less than are tried behind the last of them: the
 * symbol `litifut_overflow_mask' is that power less 1, and the place of a site and a callee is the
 * sum of the address that stands for the site and the callee's (on Cortex-M a fourth of that), as
 * far as the mask has bits. One instruction of an AVR takes a mask of 8 bits. */
#define LITIFUT_OVERFLOW_TRIED 16
#define LITIFUT_OVERFLOW_PLACES_MOST 256
/* Words of a record. */
#define LITIFUT_RECORD_COUNT 1
#define LITIFUT_RECORD_TIMES 5
#define LITIFUT_RECORD_TIMES_CARRIED 4 /* without the upper half of the sum */
/* Sums are carried seldom: once in 2^32 ticks. */
#define LITIFUT_CARRIES_OF_TIMES 16
/* Counts of a byte are carried often, but few of them: there are entries for a quarter of them
 * (LITIFUT_CARRIES), a power of two, in these bounds. */
#define LITIFUT_CARRIES_OF_BYTES_LEAST 16
#define LITIFUT_CARRIES_OF_BYTES_MOST 64
/* How many entries are tried for a number, the first one being that of the lowest bits of its name.
 */
#define LITIFUT_CARRIES_TRIED 16
/* The last one is that of all tasks which have found no place. */
#define LITIFUT_TASKS_MOST 17
#define LITIFUT_TASK_OTHERS 0xffffffffu
#define LITIFUT_TASK_NAME_BYTES 16
/* The symbol litifut_task_name: where a task has its name, an offset from the address that it is
 * named by; with LITIFUT_TASK_NAME_POINTER there is a pointer to the name. LITIFUT_TASK_NAMELESS:
 * it has none. */
#define LITIFUT_TASK_NAME_POINTER 0x80000000u
#define LITIFUT_TASK_NAMELESS 0xffffffffu
/* What a call through a pointer has besides, and an entry of the overflow table: site, callee. */
#define LITIFUT_POINTER_EXTRA 2
#define LITIFUT_OVERFLOW_EXTRA 2

#ifndef __ASSEMBLER__
enum litifut_frame_type {
	LITIFUT_FRAME_HEADER = 'H',
	LITIFUT_FRAME_COUNTS = 'C',
	LITIFUT_FRAME_TIMES = 'T',
	LITIFUT_FRAME_OPEN = 'O',
	LITIFUT_FRAME_TASK = 'K',
	LITIFUT_FRAME_RING = 'R',
	LITIFUT_FRAME_SPANS = 'S',
	LITIFUT_FRAME_BRANCHES = 'B',
	LITIFUT_FRAME_WORDS = 'W',
	LITIFUT_FRAME_PACKED = 'P',
	LITIFUT_FRAME_PACKED_MORE = 'Q',
	LITIFUT_FRAME_END = 'E'
};

enum litifut_frames_flags {
	LITIFUT_FRAMES_SMALL = 1,    /* stubs for size (LITIFUT_STUBS=small) */
	LITIFUT_FRAMES_TIMES = 2,    /* records have times */
	LITIFUT_FRAMES_SPANS = 4,    /* there are events, and no table */
	LITIFUT_FRAMES_KEPT = 8,     /* whose ring outlasts a reset */
	LITIFUT_FRAMES_STREAM = 16,  /* and which are calls without returns and times */
	LITIFUT_FRAMES_PATHS = 32,   /* words of branches, see <litifut/paths_format.h>, no table */
	LITIFUT_FRAMES_COVERAGE = 64 /* the table has flags */
};

/* How often a number has been carried. One that has been carried more often has further entries.
 * They are found by open addressing, and never given up. */
struct litifut_carry {
	uint16_t name; /* number of the word, plus 1; 0: not in use */
	uint16_t carries;
};

/* The symbol `litifut_calibration`: what the tracer adds to a call whose time it takes, tried
 * with calls of a function that does nothing. Their record is the last one in the table. Where that
 * is the same for each call (AVR), the absolute symbols litifut_call_inside and litifut_call_whole
 * say how many ticks, and nothing is tried; litifut_pointer_inside takes the place of
 * litifut_call_inside where a call is through a pointer. To litifut_call_whole such a call adds
 * litifut_pointer_first if it leads to the callee that the table names, and else
 * litifut_pointer_overflow, with litifut_pointer_try for each entry of the overflow table between
 * the one where its search begins and its own. */
struct litifut_calibration {
	uint32_t calls;  /* that were tried */
	uint32_t inside; /* ticks of them all that are in the times of the calls */
	uint32_t whole;  /* ticks that the tracer has added to them; negative as two's complement */
};

/* What a link of a firmware has made smaller, as what is usual had no room: absolute symbols that
 * say how many KB of ring, or entries for open calls, that is. LITIFUT_FIRMWARE_DEPTH, where calls
 * are timed in a table, says how many of the latter there are. */
#define LITIFUT_FIRMWARE_RING_UNFIT "litifut_ring_unfit"
#define LITIFUT_FIRMWARE_DEPTH_UNFIT "litifut_depth_unfit"
#define LITIFUT_FIRMWARE_DEPTH "litifut_depth"

/* The calls of one site to one callee, with times in ticks. A call is counted when it begins; the
 * times are those of calls that have returned. Where sums are carried, the last member is not
 * there. */
struct litifut_record {
	uint32_t count;
	uint32_t minimum_inverted; /* ~ of the shortest call */
	uint32_t maximum;
	uint32_t sum_low;
	uint32_t sum_high;
};

/* A task of a kernel, as often as its word says that it runs. */
struct litifut_task {
	uint32_t task;  /* what the word has then, mostly an address; see LITIFUT_TASK_OTHERS */
	uint32_t calls; /* that were made while it ran, by interrupts too */
	uint32_t ticks_low, ticks_high;
	char name[LITIFUT_TASK_NAME_BYTES]; /* when it was seen first; ends with a 0 */
};

#define LITIFUT_IDENTITY_MAGIC 0x5746544cu /* "LTFW" in memory, little endian */

/* The symbol `litifut_identity`, in the program's .data: identifies the build in every
 * transport, also in a plain dump of the memory. */
struct litifut_identity {
	uint32_t magic;
	uint8_t hash[8]; /* FNV-1a, 64 bits, of the bytes that are loaded, with zeros here */
	uint16_t version;
	uint16_t flags; /* enum litifut_frames_flags */
};

_Static_assert(sizeof(struct litifut_identity) == 16, "identity layout");
_Static_assert(sizeof(struct litifut_task) == 32, "task layout");
_Static_assert(sizeof(struct litifut_carry) == 4, "carry layout");
_Static_assert(LITIFUT_CARRIES_TRIED <= LITIFUT_CARRIES_OF_TIMES &&
		       LITIFUT_CARRIES_TRIED <= LITIFUT_CARRIES_OF_BYTES_LEAST,
	       "no entry is tried twice");
_Static_assert(sizeof(struct litifut_record) == 4 * LITIFUT_RECORD_TIMES, "record layout");

#endif

#endif
