#include "ldwrap/firmware_kept.h"

#include <errno.h>
#include <litifut/kept_format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ldwrap/firmware_memory.h"
#include "ldwrap/process.h"

enum litifut_status firmware_kept_read(const char *text, struct firmware_kept *kept,
				       struct litifut_error *error)
{
	char *end;

	memset(kept, 0, sizeof(*kept));
	if (!text)
		return LITIFUT_OK;
	kept->used = true;
	kept->top = !strcmp(text, "top");
	if (kept->top)
		return LITIFUT_OK;
	errno = 0;
	unsigned long address = strtoul(text, &end, 0);

	if (errno || end == text || *end || *text == '-' || !address || address > UINT32_MAX)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_RAM: neither top nor an address: %s", text);
	if (address % KEPT_ALIGNMENT)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
			"LITIFUT_RAM: not a multiple of %d: %s", KEPT_ALIGNMENT, text);
	kept->address = (uint32_t)address;
	return LITIFUT_OK;
}

/* What MEMORY says last of a region is what counts, as long as nothing was computed of it. */
static enum litifut_status write_script(struct firmware_kept *kept,
					const struct firmware_region *region,
					struct litifut_error *error)
{
	const char *path = scratch_file("litifut-memory.ld");
	FILE *file = fopen(path, "we");

	if (file)
		fprintf(file, "MEMORY { %s : ORIGIN = 0x%llx, LENGTH = 0x%llx }\n", region->name,
			region->origin, kept->address - region->origin);
	if (!file || fclose(file))
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "cannot be written: %s", strerror(errno));
	kept->script = path;
	return LITIFUT_OK;
}

enum litifut_status firmware_kept_place(struct firmware_kept *kept, const char *map, uint32_t bss,
					size_t bytes, struct litifut_error *error)
{
	struct firmware_region region;

	if (!kept->top || kept->script) /* the script has made the region shorter already */
		return LITIFUT_OK;
	if (!firmware_memory_region(map, bss, &region) ||
	    region.origin + region.length > UINT32_MAX)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_RAM=top: the linker script has no MEMORY for "
					 ".bss; give an address");
	if (bytes + KEPT_ALIGNMENT > region.length)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "LITIFUT_RAM=top: the memory %s has no room for %zu bytes",
					 region.name, bytes);
	kept->address = (uint32_t)((region.origin + region.length - bytes) &
				   ~(unsigned long long)(KEPT_ALIGNMENT - 1));
	return write_script(kept, &region, error);
}
