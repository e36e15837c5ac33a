/* The call sites of a firmware that run before its start-up code has cleared .bss. */
#ifndef LITIFUT_REWRITER_BEFORE_RAM_H
#define LITIFUT_REWRITER_BEFORE_RAM_H

#include "rewriter/firmware_cpu.h"
#include "rewriter/sites.h"

/* Gives them LITIFUT_SITE_BEFORE_RAM: those of the reset handler up to the call that leads
 * to constructors or main(), and those of the functions that it calls until then. Where no such
 * call is found, those of the reset handler alone, and *found is false. If `main_at` is not 0,
 * that is a call of the function at this address instead. `functions`, by number of
 * the symbol, gets 1 for all of these functions; it may be NULL. */
enum litifut_status litifut_before_ram_mark(const struct litifut_image *image,
					    const struct litifut_firmware_cpu *cpu,
					    const struct litifut_arch_context *context,
					    struct litifut_site_list *sites, uint32_t main_at,
					    uint8_t *functions, bool *found,
					    struct litifut_error *error);

#endif
