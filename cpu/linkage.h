/* Where the little pieces of code lead that a linker makes: PLT entries, veneers,
 * lazy stubs. */
#ifndef LITIFUT_CPU_LINKAGE_H
#define LITIFUT_CPU_LINKAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the code of an image. Gives false outside of it. Literals are data, and
 * ARM BE8 has big-endian data among little-endian code. */
struct litifut_code_reader {
	bool (*literal)(const void *context, uint32_t address, uint32_t *value);
	bool (*word)(const void *context, uint32_t address, uint32_t *value);
	bool (*halfword)(const void *context, uint32_t address, uint16_t *value);
	const void *context;
};

enum litifut_lead_kind {
	LITIFUT_LEADS_NOWHERE, /* not code of a kind that the linker makes */
	LITIFUT_LEADS_TO_CODE, /* `address` is the function */
	LITIFUT_LEADS_TO_SLOT  /* `address` is the word that holds the function's address */
};

struct litifut_lead {
	enum litifut_lead_kind kind;
	uint32_t address; /* code: with bit 0 set for a compressed instruction set */
	uint32_t length;  /* bytes of the piece of code, literals included */
};

#endif
