/* The counters of call sites that LITIFUT_MODE=counts leaves in a trace. */
#ifndef LITIFUT_POSTPROC_SOURCES_COUNTERS_H
#define LITIFUT_POSTPROC_SOURCES_COUNTERS_H

#include "postproc/sources/image.h"
#include "postproc/sources/trace.h"

/* Has the trace counters of the module with this serial number? */
bool post_counters_has(const struct post_trace *trace, uint32_t serial);

/* Hands out the sites of `image`, that module, which have made calls. A site can come more than
 * once, with a part of its calls each time. Damage is reported to `problems`. */
void post_counters_read(const struct post_trace *trace, uint32_t serial,
			const struct post_image *image,
			void (*take)(void *context, const struct litifut_site *site,
				     uint64_t count),
			void *context, struct post_problems *problems);

#endif
