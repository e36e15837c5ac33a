/* How many calls, and how much code, link-time optimisation will make of an object. */
#ifndef LITIFUT_LDWRAP_LTO_H
#define LITIFUT_LDWRAP_LTO_H

#include <stddef.h>
#include <stdint.h>

struct lto_guess {
	size_t calls;
	size_t text; /* bytes */
};

/* Adds what a section that GCC has left for the link lets expect. Only one section in each object
 * does: the others pass unnoticed. */
void lto_add_section(struct lto_guess *guess, const char *name, const uint8_t *bytes, size_t size);

/* The same of an object that is LLVM's bitcode. */
void lto_add_bitcode(struct lto_guess *guess, size_t size);

#endif
