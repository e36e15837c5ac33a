/* Flags: struct litifut_flags_header, then a byte for each, at the offset that it has in the
 * module's room for them. Counters of calls stand there in the same way. */
#include "postproc/sources/flags_chunk.h"

#include <litifut/module_format.h>

void post_flags_chunks_read(const struct post_trace *trace,
			    void (*take)(void *context, const struct post_flags_piece *piece),
			    void *context, struct post_problems *problems)
{
	for (size_t i = 0; i < trace->flags_count; i++) {
		const struct post_chunk *chunk = &trace->flags[i];
		const size_t bytes = (size_t)chunk->word_count * 4;
		const bool counts =
			bytes > 16 && post_trace_word(trace, chunk, 3) == LITIFUT_MODE_COUNTS;
		const size_t head = (counts ? LITIFUT_COUNTS_PAGE : LITIFUT_FLAGS_HEAD) -
				    sizeof(struct litifut_chunk_header);
		struct post_flags_piece piece = {.counts = counts};

		if (bytes < head) {
			post_problem_at(problems, trace->path, chunk->offset,
					"flags are cut, left out");
			continue;
		}
		piece.module = post_trace_word(trace, chunk, 0);
		piece.first = post_trace_word(trace, chunk, 1);
		if ((counts ? piece.first % LITIFUT_COUNTS_PIECE != LITIFUT_COUNTS_PAGE
			    : piece.first % LITIFUT_FLAGS_PIECE) ||
		    piece.first > UINT32_MAX - LITIFUT_FLAGS_PIECE) {
			post_problem_at(problems, trace->path, chunk->offset,
					"flags with an impossible place, left out");
			continue;
		}
		piece.first += counts ? 0 : LITIFUT_FLAGS_HEAD;
		piece.bytes = trace->data + chunk->offset + head;
		piece.count = bytes - head;
		take(context, &piece);
	}
}
