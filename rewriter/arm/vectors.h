/* The vector table of a firmware for Cortex-M: data that holds the addresses of the code that
 * the CPU calls by itself. */
#ifndef LITIFUT_REWRITER_ARM_VECTORS_H
#define LITIFUT_REWRITER_ARM_VECTORS_H

#include "rewriter/sites.h"

/* Adds to `sites`, which stay sorted, one of kind LITIFUT_SITE_VECTOR for each entry from
 * SysTick on whose handler no other entry has: what many share is the handler of none. No
 * table, nothing is added. */
enum litifut_status litifut_arm_vectors_add(const struct litifut_image *image,
					    struct litifut_site_list *sites,
					    struct litifut_error *error);

/* The functions at entries from SVCall on, at most `most`; some may be there twice. Returns how
 * many.
 */
size_t litifut_arm_vectors_handlers(const struct litifut_image *image, uint32_t *handlers,
				    size_t most);

/* The stack pointer that the table begins with; 0: there is no table. */
uint32_t litifut_arm_vectors_stack(const struct litifut_image *image);

/* Where the CPU begins: what the table says, or, where there is none, the ELF header. */
uint32_t litifut_arm_vectors_reset(const struct litifut_image *image);

/* Finds the entry for the interrupt with this number, as the device's manual counts. False: there
 * is none, or the program has its own handler for it. */
bool litifut_arm_vectors_free(const struct litifut_image *image, uint32_t number, uint32_t *entry);

#endif
