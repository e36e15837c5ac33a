/* Counting what looks like a call in the code of one object file. */
#ifndef LITIFUT_LDWRAP_CENSUS_H
#define LITIFUT_LDWRAP_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct census {
	size_t direct;   /* calls with the callee in the instruction */
	size_t indirect; /* calls through a register */
	size_t cramped;  /* those of them that are 2 bytes long */
	size_t tails;    /* jumps through a register other than the link register */
};

enum census_code {
	CENSUS_A32 = 1,
	CENSUS_T32 = 2, /* may be or-ed with CENSUS_A32 where both occur */
	CENSUS_MIPS = 4
};

/* Adds what is found in `bytes` (section contents as they are in the file).
 * Data among the code may be counted too. */
void census_count(const uint8_t *bytes, size_t size, unsigned code, bool big_endian,
		  struct census *census);

#endif
