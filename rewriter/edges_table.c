/* The table of blocks, once the code of their edges is written: what is recorded of each, and the
 * bytes that patches have taken the place of. */
#include "rewriter/edges.h"

#include <stdlib.h>
#include <string.h>

#include "elf/sections.h"
#include "rewriter/callees.h"

/* Is it code of the program, and not new code of the rewriter? */
static bool is_original(const struct litifut_session *session, const struct litifut_change *change)
{
	return !change->in_place &&
	       litifut_image_section_at(&session->image, change->address, change->length);
}

uint8_t *litifut_edges_table(const struct litifut_session *session,
			     const struct litifut_changes *changes, size_t *bytes)
{
	const struct litifut_graph *graph = &session->edges->graph;
	const struct litifut_symbol *flags =
		litifut_image_symbol(&session->image, LITIFUT_FLAGS_SYMBOL);
	struct litifut_blocks_header header = {
		.count = (uint32_t)graph->count,
		.flags_address = flags ? flags->address : 0,
		.flags_bytes = session->edges->flags_bytes,
	};
	const bool big = session->image.file.big_endian;
	const bool names = session->context.bits && !session->context.units;
	uint8_t *table;
	uint8_t *at;

	for (size_t i = 0; i < changes->count; i++)
		header.originals += is_original(session, &changes->items[i]);
	*bytes = sizeof(header) + graph->count * sizeof(struct litifut_block) +
		 (size_t)header.originals * sizeof(struct litifut_original);
	table = malloc(*bytes);
	if (!table)
		return NULL;
	elf_write_blocks_header(big, table, &header);
	at = table + sizeof(header);
	for (size_t i = 0; i < graph->count; i++, at += sizeof(struct litifut_block)) {
		struct litifut_block block = graph->items[i].block;
		const struct litifut_graph_block *callee =
			litifut_callee_of(graph, &graph->items[i]);

		if (callee && !block.target)
			block.target = callee->block.start;
		if (names && LITIFUT_CALLEE_IS_SYMBOL(graph->items[i].callee) &&
		    !(block.flags & LITIFUT_BLOCK_CONDITIONAL))
			block.taken = LITIFUT_CALLEE_SYMBOL_OF(graph->items[i].callee);
		elf_write_block(big, at, &block);
	}
	for (size_t i = 0; i < changes->count; i++) {
		const struct litifut_change *change = &changes->items[i];
		struct litifut_original original = {change->address, change->length, {0}};
		const struct litifut_section *section =
			litifut_image_section_at(&session->image, change->address, change->length);

		if (!is_original(session, change))
			continue;
		memcpy(original.bytes, section->bytes + (change->address - section->address),
		       change->length);
		elf_write_original(big, at, &original);
		at += sizeof(original);
	}
	return table;
}
