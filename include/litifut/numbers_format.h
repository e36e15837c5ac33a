/* What a firmware records with LITIFUT_MODE=balllarus: the numbers of the paths that it has
 * executed (Ball and Larus 1996, of each function by itself), in the ring of LITIFUT_MODE=paths
 * (<litifut/paths_format.h>). Word 0 of the ring is its lap. Each other word is one of
 *
 *   0 or 1        nothing
 *   bit 31 clear  the number of a path in the low half, and that of its function, plus 1, in the
 *                 high one. Functions have numbers in the order of .litifut.blocks
 *   bit 31 set    a record of kind LITIFUT_PATHS_LOST or LITIFUT_PATHS_RESET, and a word
 *
 * The newest word is 1. A number is recorded with the last branch of its path; of a path without
 * branches, where control comes to its start.
 *
 * What has been added up is kept beside the stack, for each activation that has not come to the
 * last branch of its path: an entry of struct litifut_numbers_entry. An activation that ends
 * otherwise (longjmp) is dropped when code with a higher stack pointer records something. Where
 * there is no room for another, all are dropped. A path that ends without an entry of its function
 * on top is counted as lost. */
#ifndef LITIFUT_NUMBERS_FORMAT_H
#define LITIFUT_NUMBERS_FORMAT_H

#define LITIFUT_NUMBERS_BITS 16
#define LITIFUT_NUMBERS_FUNCTIONS 0x7ffe
#define LITIFUT_NUMBERS_WORD(function, number) (((uint32_t)(function) + 1) << 16 | (number))
/* Activations; on AVR fewer, and the ring is shorter by their entries. */
#define LITIFUT_NUMBERS_DEPTH 64
#define LITIFUT_NUMBERS_SMALL_DEPTH 16

/* Offsets in struct litifut_numbers_entry, for assembly. */
#define NUMBERS_WORD 0
#define NUMBERS_LIMIT 4
#define NUMBERS_ENTRY_BYTES 8

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* The code that is called for a branch, or for the start of a block. Words as above stand behind
 * the call, in the code; control comes back behind them. */
enum litifut_numbers_code {
	LITIFUT_NUMBERS_ADD = 0,   /* one: its number is added */
	LITIFUT_NUMBERS_END = 1,   /* the same, and the path has ended */
	LITIFUT_NUMBERS_NEXT = 2,  /* the same, and another has begun: the second word */
	LITIFUT_NUMBERS_BEGIN = 3, /* a path has begun, with this number so far */
	LITIFUT_NUMBERS_WHOLE = 4, /* a path that has no branches */
	LITIFUT_NUMBERS_CODES = 5
};

struct litifut_numbers_entry {
	uint32_t word;
	uint32_t limit; /* above the stack pointer with which it was made */
};

_Static_assert(sizeof(struct litifut_numbers_entry) == NUMBERS_ENTRY_BYTES, "numbers layout");
#endif

#endif
