#include "postproc/sources/span_calls.h"

#include "postproc/table.h"

/* No event has more words: a control word, a return address, a callee. */
#define EVENT_WORDS 3

/* Writes the words of a call and gives their number. `callee` is that of a pointer, 0: the site
 * names it. Addresses can be below LITIFUT_WORD_FIRST_ADDRESS, so that no call is one word. */
static size_t write_call(const struct litifut_site *site, uint32_t callee, uint32_t *words)
{
	const enum litifut_word_kind kind = litifut_site_is_tail(site) ? LITIFUT_WORD_TAIL
					    : callee                   ? LITIFUT_WORD_INDIRECT
								       : LITIFUT_WORD_CALL;

	words[0] = LITIFUT_CONTROL_WORD(kind, 2);
	words[1] = site->return_address;
	words[2] = callee ? callee : site->callee;
	return 3;
}

static size_t write_number(enum litifut_word_kind kind, uint32_t value, uint32_t *words)
{
	words[0] = LITIFUT_CONTROL_WORD(kind, 1);
	words[1] = value;
	return 2;
}

static struct post_chunk *add_chunk(struct post_trace *trace, size_t words)
{
	POST_GROW(trace->chunks, trace->chunk_count, trace->chunk_capacity);

	const uint32_t number = (uint32_t)trace->chunk_count + 1;
	struct post_chunk *chunk = &trace->chunks[trace->chunk_count++];

	*chunk = (struct post_chunk){
		.offset = words * sizeof(uint32_t), .thread = number, .number = number};
	return chunk;
}

uint64_t post_span_calls_make(const struct post_span_events *events, const struct post_image *image,
			      struct post_trace *trace)
{
	uint32_t *data = post_allocate(EVENT_WORDS * events->count + 1, sizeof(*data));
	struct post_chunk *chunk = add_chunk(trace, 0);
	uint64_t unknown = 0;
	size_t words = 0;

	for (size_t i = 0; i < events->count; i++) {
		const struct post_span_event *event = &events->items[i];
		const struct post_span_event *before = i ? event - 1 : NULL;
		const uint32_t site = event->number - LITIFUT_SPAN_SITE;
		size_t added = 0;

		if (event->number == LITIFUT_SPAN_LOST)
			added = write_number(LITIFUT_WORD_LOST, event->value, data + words);
		else if (event->number == LITIFUT_SPAN_MARK)
			added = write_number(LITIFUT_WORD_MARK, event->value, data + words);
		else if (event->number == LITIFUT_SPAN_RESET && chunk->word_count)
			chunk = add_chunk(trace, words);
		else if (event->number >= LITIFUT_SPAN_SITE && site >= image->patched_count)
			unknown++;
		else if (event->number >= LITIFUT_SPAN_SITE)
			added = write_call(
				image->patched[site],
				before && before->number == LITIFUT_SPAN_CALLEE ? before->value : 0,
				data + words);
		words += added;
		chunk->word_count += (uint32_t)added;
	}
	trace->owned = (uint8_t *)data;
	trace->data = trace->owned;
	trace->size = words * sizeof(*data);
	return unknown;
}
