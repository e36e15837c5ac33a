/* Tables of call sites: struct litifut_table_header, entries, and entries that overflowed. */
#include "postproc/sources/table_chunk.h"

#include <byteswap.h>
#include <string.h>

static uint32_t number32(const struct post_trace *trace, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return trace->swap ? bswap_32(value) : value;
}

static uint64_t number64(const struct post_trace *trace, const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return trace->swap ? bswap_64(value) : value;
}

#define ENTRY(member) offsetof(struct litifut_table_entry, member)
#define OVERFLOW(member) offsetof(struct litifut_table_overflow, member)
#define HEADER(member) offsetof(struct litifut_table_header, member)

/* Fills in what the entry at `at` has. */
static void read_entry(const struct post_trace *trace, const uint8_t *at,
		       struct post_table_item *item)
{
	item->count = number32(trace, at + ENTRY(count));
	item->minimum = ~number32(trace, at + ENTRY(minimum_inverted));
	item->minimum &= UINT32_MAX;
	item->maximum = number32(trace, at + ENTRY(maximum));
	item->callee = number32(trace, at + ENTRY(callee));
	item->sum = number64(trace, at + ENTRY(sum));
	item->self = number64(trace, at + ENTRY(self));
}

static void read_chunk(const struct post_trace *trace, const struct post_chunk *chunk,
		       void (*take)(void *context, const struct post_table_item *item),
		       void *context, struct post_problems *problems)
{
	const uint8_t *at = trace->data + chunk->offset, *end = at + (size_t)chunk->word_count * 4;

	if ((size_t)(end - at) < sizeof(struct litifut_table_header)) {
		post_problem_at(problems, trace->path, chunk->offset,
				"a table of call sites is cut, left out");
		return;
	}
	struct post_table_item head = {
		.module = number32(trace, at + HEADER(module)),
		.thread = number32(trace, at + HEADER(thread)),
		.hertz = number64(trace, at + HEADER(hertz)),
	};
	uint32_t first = number32(trace, at + HEADER(first_site));
	uint32_t count = number32(trace, at + HEADER(count));
	uint32_t bytes = number32(trace, at + HEADER(entry_bytes));
	at += sizeof(struct litifut_table_header);
	/* the program was killed when the chunk had just been made */
	if (!bytes && !count && trace->header.state == LITIFUT_TRACE_RUNNING)
		return;
	if (bytes < sizeof(struct litifut_table_entry) || bytes % 4) {
		post_problem_at(problems, trace->path, chunk->offset,
				"a table of call sites has entries of %u bytes, left out", bytes);
		return;
	}
	if (count > (size_t)(end - at) / bytes) {
		post_problem_at(problems, trace->path, chunk->offset,
				"a table of call sites claims more entries than it has; what is "
				"there is read");
		count = (uint32_t)((size_t)(end - at) / bytes);
	}
	for (uint32_t i = 0; i < count; i++, at += bytes) {
		struct post_table_item item = head;
		read_entry(trace, at, &item);
		item.site = first + i;
		if (item.count)
			take(context, &item);
	}
	for (; (size_t)(end - at) >= sizeof(struct litifut_table_overflow);
	     at += sizeof(struct litifut_table_overflow)) {
		struct post_table_item item = head;
		read_entry(trace, at + OVERFLOW(entry), &item);
		item.site = number32(trace, at + OVERFLOW(site));
		item.callee = number32(trace, at + OVERFLOW(callee));
		item.count += (uint64_t)number32(trace, at + OVERFLOW(count_high)) << 32;
		if (item.site != UINT32_MAX && item.count)
			take(context, &item);
	}
}

bool post_table_is_by_address(const struct post_trace *trace, const struct post_chunk *chunk)
{
	return trace->header.mode == LITIFUT_MODE_TABLE &&
	       (size_t)chunk->word_count * 4 >= sizeof(struct litifut_table_header) &&
	       number32(trace, trace->data + chunk->offset + HEADER(module)) == 0 &&
	       number32(trace, trace->data + chunk->offset + HEADER(entry_bytes)) ==
		       sizeof(struct litifut_table_call);
}

void post_table_chunks_read(const struct post_trace *trace,
			    void (*take)(void *context, const struct post_table_item *item),
			    void *context, struct post_problems *problems)
{
	for (size_t i = 0; i < trace->table_count; i++)
		if (!post_table_is_by_address(trace, &trace->tables[i]))
			read_chunk(trace, &trace->tables[i], take, context, problems);
	for (size_t i = 0; i < trace->item_count; i++)
		take(context, &trace->items[i]);
}
