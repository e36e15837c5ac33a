#include "postproc/sources/bits_chunk.h"

#include <litifut/trace_format.h>

#include "postproc/table.h"

struct threads {
	struct post_table known;
	uint32_t *ids; /* the first ones */
	size_t most;
};

static void add_thread(struct threads *threads, uint32_t id)
{
	const struct post_key key = {{id}};

	if (post_table_find(&threads->known, key) != POST_NONE)
		return;
	if (threads->known.count < threads->most)
		threads->ids[threads->known.count] = id;
	post_table_put(&threads->known, key, 0);
}

size_t post_bits_threads(const struct post_trace *trace, uint32_t *ids, size_t most)
{
	struct threads threads = {.ids = ids, .most = most};
	size_t count;

	for (size_t i = 0; i < trace->bits_count; i++) {
		const struct post_chunk *chunk = &trace->bits[i];

		add_thread(&threads, chunk->thread);
		for (uint32_t at = 0; at < chunk->word_count; at++) {
			const uint32_t word = post_trace_word(trace, chunk, at);
			const uint32_t control = word & ~LITIFUT_BITS_RECORD;

			if (control == word || control >= LITIFUT_WORD_FIRST_ADDRESS / 2)
				continue;
			if (LITIFUT_CONTROL_KIND(control) == LITIFUT_WORD_THREAD &&
			    at + 1 < chunk->word_count)
				add_thread(&threads, post_trace_word(trace, chunk, at + 1));
			at += LITIFUT_CONTROL_FOLLOWING(control) & 127;
		}
	}
	count = threads.known.count;
	post_table_release(&threads.known);
	return count;
}
