/* Sorts the chunks of a trace in time, and finds their epochs of modules, and where some are
 * missing. */
#include "postproc/sources/trace.h"

#include <stdlib.h>

static int by_number(const void *left, const void *right)
{
	const struct post_chunk *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (!a->packed_bytes != !b->packed_bytes) /* a block before what it was made from */
		return a->packed_bytes ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* In the order of time, and without the chunks that are there as blocks too:
 * the program was killed before it could empty them. */
static void order_chunks(struct post_trace *trace)
{
	size_t kept = 0;

	if (trace->bits_count)
		qsort(trace->bits, trace->bits_count, sizeof(*trace->bits), by_number);
	if (!trace->chunk_count)
		return;
	qsort(trace->chunks, trace->chunk_count, sizeof(*trace->chunks), by_number);
	for (size_t i = 0; i < trace->chunk_count; i++) {
		struct post_chunk *chunk = &trace->chunks[i];
		const struct post_chunk *last = kept ? &trace->chunks[kept - 1] : NULL;

		if (last && last->packed_bytes && !chunk->packed_bytes &&
		    last->number == chunk->number && last->thread == chunk->thread)
			continue;
		trace->chunks[kept++] = *chunk;
	}
	trace->chunk_count = kept;
}

/* A chunk has the lower 16 bits of its epoch. From one to the next there are fewer than 2^15
 * unloadings, and so from the last one to the last unloading in the trace. */
static void find_epochs(const struct post_trace *trace, struct post_chunk *chunks, size_t count)
{
	uint32_t epoch = 0;

	if (trace->header.version_major <= 1)
		return;
	for (size_t i = 0; i < trace->module_count; i++)
		if (trace->modules[i].end_epoch != UINT32_MAX &&
		    trace->modules[i].end_epoch > epoch)
			epoch = trace->modules[i].end_epoch;
	while (count--) {
		uint32_t low = chunks[count].flags >> LITIFUT_CHUNK_EPOCH_SHIFT;
		uint32_t back = (epoch - low) & 0xffff;

		if (back < 0x8000)
			epoch = back <= epoch ? epoch - back : low;
		else
			epoch += 0x10000 - back;
		chunks[count].epoch = epoch;
	}
}

static int by_value(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Between two chunks of events a number is missing that no chunk of another kind has. */
static void find_gaps(struct post_trace *trace)
{
	uint32_t gaps = 0;
	size_t at = 0;

	qsort(trace->numbers, trace->number_count, sizeof(*trace->numbers), by_value);
	for (size_t i = 0; i < trace->chunk_count; i++) {
		for (; at < trace->number_count && trace->numbers[at] < trace->chunks[i].number;
		     at++)
			gaps += trace->numbers[at + 1] - trace->numbers[at] > 1;
		trace->chunks[i].gaps = gaps;
	}
}

void post_chunks_order(struct post_trace *trace)
{
	order_chunks(trace);
	find_epochs(trace, trace->chunks, trace->chunk_count);
	find_epochs(trace, trace->bits, trace->bits_count);
	if (trace->damaged && trace->number_count)
		find_gaps(trace);
	free(trace->numbers);
	trace->numbers = NULL;
	trace->number_count = trace->number_capacity = 0;
}
