/* What of a firmware can't be recorded because of when it runs. */
#include <stdlib.h>

#include "rewriter/before_ram.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/firmware_pass.h"
#include "rewriter/reachable.h"

static void give_reason(uint8_t *functions, const uint8_t *marked, size_t count, unsigned reason)
{
	for (size_t i = 0; i < count; i++)
		if (marked[i])
			functions[i] = (uint8_t)reason;
}

enum litifut_status litifut_firmware_leave_functions(struct litifut_firmware_pass *pass,
						     struct litifut_error *error)
{
	const size_t count = pass->image.symbol_count;
	uint8_t *before = calloc(count + 1, 1);
	uint8_t *port = calloc(count + 1, 1);
	enum litifut_status status = LITIFUT_OK;

	pass->unrecorded = calloc(count + 1, 1);
	if (!pass->unrecorded || !before || !port)
		status = litifut_error_memory(error, pass->image.path);
	if (!status && pass->cpu->calls_before_ram)
		status = litifut_before_ram_mark(&pass->image,
						 pass->cpu->reset ? pass->cpu->reset(&pass->image)
								  : pass->image.entry,
						 &pass->sites, before, &pass->ram_is_known, error);
	if (!status)
		status = litifut_reachable_mark(&pass->image, &pass->arch, &pass->context,
						"litifut_putc", &pass->sites, port, error);
	if (!status) {
		give_reason(pass->unrecorded, port, count, LITIFUT_SITE_PORT);
		give_reason(pass->unrecorded, before, count, LITIFUT_SITE_BEFORE_RAM);
	}
	free(before);
	free(port);
	return status;
}
