/* Handed out apart from where they are mapped (confine.c), as chunks need no more of it. */
#include "tracer/sink/spare.h"

#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"

uint32_t litifut_spare_chunk(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t chunk = *(volatile uint32_t *)&r->spare_again;

	if (chunk && litifut_exchange(&r->spare_again, chunk, 0))
		return chunk;
	do {
		chunk = *(volatile uint32_t *)&r->spare;
		if (chunk == r->spare_end)
			return 0;
	} while (!litifut_exchange(&r->spare, chunk, chunk + r->chunk_mask + 1));
	return chunk;
}
