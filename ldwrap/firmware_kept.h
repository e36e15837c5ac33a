/* LITIFUT_RAM: memory of a firmware that outlasts a reset, for its ring of events. */
#ifndef LITIFUT_LDWRAP_FIRMWARE_KEPT_H
#define LITIFUT_LDWRAP_FIRMWARE_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct firmware_kept {
	bool used;
	bool top;           /* the end of the region that .bss is in, which gets shorter */
	uint32_t address;   /* of the memory; of `top` from firmware_kept_place() on */
	const char *script; /* a piece of linker script, owned by the scratch module; NULL: none */
};

/* `text` is top or an address; NULL: not used. */
enum litifut_status firmware_kept_read(const char *text, struct firmware_kept *kept,
				       struct litifut_error *error);

/* Finds room for so many bytes, with the map file of a link and an address in its .bss. */
enum litifut_status firmware_kept_place(struct firmware_kept *kept, const char *map, uint32_t bss,
					size_t bytes, struct litifut_error *error);

#endif
