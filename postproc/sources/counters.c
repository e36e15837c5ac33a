#include "postproc/sources/counters.h"

#include <byteswap.h>
#include <string.h>

#include "postproc/sources/flags_chunk.h"

struct reading {
	const struct post_trace *trace;
	uint32_t serial;
	const struct post_image *image; /* NULL: it is only asked whether there are some */
	void (*take)(void *context, const struct litifut_site *site, uint64_t count);
	void *context;
	bool found;
};

/* 0 for a word of another piece. */
static uint64_t word_at(const struct post_trace *trace, const struct post_flags_piece *piece,
			uint32_t offset)
{
	uint32_t word;

	if (offset < piece->first || piece->count < sizeof(word) ||
	    offset - piece->first > piece->count - sizeof(word))
		return 0;
	memcpy(&word, piece->bytes + (offset - piece->first), sizeof(word));
	return trace->swap ? bswap_32(word) : word;
}

/* What of the counter is in the piece: it may begin in one and end in the next. */
static uint64_t counter_at(const struct post_trace *trace, const struct post_flags_piece *piece,
			   uint32_t offset)
{
	return word_at(trace, piece, offset) | word_at(trace, piece, offset + 4) << 32;
}

static void read_piece(void *context, const struct post_flags_piece *piece)
{
	struct reading *reading = context;
	const struct post_image *image = reading->image;

	if (!piece->counts || piece->module != reading->serial)
		return;
	reading->found = true;
	for (size_t i = 0; image && i < image->site_count; i++) {
		const struct litifut_site *site = &image->sites[i];
		const uint64_t count = site->exit_reason == LITIFUT_EXIT_COUNTER
					       ? counter_at(reading->trace, piece, site->exit)
					       : 0;

		if (count)
			reading->take(reading->context, site, count);
	}
}

bool post_counters_has(const struct post_trace *trace, uint32_t serial)
{
	struct reading reading = {.trace = trace, .serial = serial};
	struct post_problems later = {0}; /* they are reported when the counters are read */

	post_flags_chunks_read(trace, read_piece, &reading, &later);
	return reading.found;
}

void post_counters_read(const struct post_trace *trace, uint32_t serial,
			const struct post_image *image,
			void (*take)(void *context, const struct litifut_site *site,
				     uint64_t count),
			void *context, struct post_problems *problems)
{
	struct reading reading = {trace, serial, image, take, context, false};

	post_flags_chunks_read(trace, read_piece, &reading, problems);
}
