/* Where a switch or a computed goto leads is recorded by the label there. Its address takes two
 * words, and its number among the labels of the function a few bits. A reader who comes to a jump
 * must know that such bits follow. So labels have numbers only where no jump of the function can
 * leave it, and where nothing else leads to them unseen:
 *
 * - A jump of a compiler that leaves its function for another one, a tail call, leaves the stack as
 *   the function has found it. So one behind which something is on the stack stays in the function,
 * and so does one whose form says that it reads a table of the code.
 * - Code of another function that branches into the middle of this one is a part of it, as GCC's
 *   `.cold' parts are. If it has jumps as well, they may lead to the same labels.
 * - Where no way to a block is known, a jump or other code leads there unseen, as a goto out of a
 *   nested function or __builtin_longjmp() does.
 * - To a label whose address code forms, other functions may lead.
 * - Behind a call of code that is not followed, a bit means that the call has not returned.
 * - Exceptions lead to landing pads from any call. */

#include "rewriter/edges_labels.h"

#include <stdlib.h>

#include "paths/frames.h"
#include "rewriter/edges.h"
#include "rewriter/paths.h"

#define LABELS_MOST (1u << LITIFUT_ENTERED_BITS_MOST)

struct labels {
	const struct litifut_session *session;
	struct litifut_graph *graph;
	const struct litifut_paths *paths;
	struct path_frame *frames;
	bool *reached;
	uint8_t *refused; /* for each block: it can't have a number */
	uint8_t *shared;  /* for each symbol: jumps of other code may lead to its labels */
	uint8_t *jumps;   /* for each symbol: it has a jump */
};

static const struct litifut_block *block_at(const void *context, size_t number)
{
	const struct labels *labels = context;

	return &labels->graph->items[number].block;
}

static const uint8_t *code_at(const void *context, uint32_t start, uint32_t end)
{
	const struct labels *labels = context;
	const struct litifut_section *section =
		litifut_image_section_at(&labels->session->image, start, end - start);

	return section && section->bytes ? section->bytes + (start - section->address) : NULL;
}

static bool is_jump(const struct litifut_graph_block *block)
{
	return block->block.ends == LITIFUT_ENDS_JUMP && !block->jump_register;
}

static bool by_table(const struct labels *labels, size_t number)
{
	static const struct litifut_targets none = {0};
	const struct litifut_edge_place place =
		litifut_edge_place_of(labels->session, number, &none);

	return labels->session->arch->edges->reads_table &&
	       labels->session->arch->edges->reads_table(&place);
}

/* Does each jump of the blocks stay by its form, or leave something of the function on the stack?
 */
static bool all_stay(const struct labels *labels, size_t first, size_t end)
{
	const struct path_frames_source source = {.cpu = labels->session->arch->cpu,
						  .context = labels->session->context.cpu,
						  .block = block_at,
						  .code = code_at,
						  .with = labels};

	if (!source.cpu->track || !source.cpu->step)
		return false;
	path_frames_find(&source, first, end, labels->frames, labels->reached);
	for (size_t i = first; i < end; i++) {
		const struct litifut_block *block = &labels->graph->items[i].block;
		struct cpu_frame frame = labels->frames[i].branch;

		if (!is_jump(&labels->graph->items[i]) || by_table(labels, i))
			continue;
		path_frames_track(&source, block->branch, block->end,
				  block->flags & LITIFUT_BLOCK_THUMB, &frame);
		if (!labels->reached[i] || !frame.known || !frame.depth)
			return false;
	}
	return true;
}

/* May the block have a number? It has a record now. */
static bool may_have_number(const struct labels *labels, size_t number)
{
	const struct litifut_graph_block *items = labels->graph->items;
	const struct litifut_graph_block *block = &items[number];

	return block->block.entered == LITIFUT_ENTERED_RECORD && !labels->refused[number] &&
	       !(block->block.flags & LITIFUT_BLOCK_FUNCTION) &&
	       !litifut_targets_has(&labels->paths->reached, block->block.start) &&
	       !litifut_targets_has(&labels->graph->formed, block->block.start) &&
	       !(number && items[number - 1].block.ends == LITIFUT_ENDS_CALL &&
		 items[number - 1].block.end == block->block.start);
}

static void give_function(struct labels *labels, size_t first, size_t end)
{
	struct litifut_graph_block *items = labels->graph->items;
	unsigned count = 0, bits = 1, number = 0;
	bool jumps = false;

	for (size_t i = first; i < end; i++) {
		count += may_have_number(labels, i);
		jumps |= is_jump(&items[i]);
	}
	if (!jumps || !count || count > LABELS_MOST || labels->shared[items[first].function] ||
	    litifut_graph_has_unreached(labels->graph, first, end) || !all_stay(labels, first, end))
		return;
	while (count > 1u << bits)
		bits++;
	for (size_t i = first; i < end; i++) {
		if (may_have_number(labels, i))
			items[i].block.entered = LITIFUT_ENTERED_AS_NUMBER(bits, number++);
		if (is_jump(&items[i]))
			items[i].block.flags |= LITIFUT_BLOCK_JUMPS_WITHIN;
	}
}

/* Functions between which a branch leads into the middle of one of them. */
static void find_shared(struct labels *labels)
{
	const struct litifut_graph *graph = labels->graph;

	for (size_t i = 0; i < graph->count; i++)
		labels->jumps[graph->items[i].function] |= is_jump(&graph->items[i]);
	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];
		const struct litifut_graph_block *to =
			block->block.ends == LITIFUT_ENDS_BRANCH
				? litifut_graph_at(graph, block->block.target & ~1u)
				: NULL;

		if (to && to->function != block->function &&
		    !(to->block.flags & LITIFUT_BLOCK_FUNCTION) && labels->jumps[block->function])
			labels->shared[to->function] = labels->shared[block->function] = 1;
	}
}

/* See litifut_arch_flow: calls of the region lead to the pad. */
static void refuse_pad(void *context, uint32_t start, uint32_t end, uint32_t pad)
{
	struct labels *labels = context;
	const struct litifut_graph_block *block =
		pad ? litifut_graph_at(labels->graph, pad & ~1u) : NULL;

	(void)start;
	(void)end;
	if (block)
		labels->refused[block - labels->graph->items] = 1;
}

/* A block that makes the record of a label before it. */
static void refuse_later(struct labels *labels)
{
	const struct litifut_graph *graph = labels->graph;

	for (size_t i = 0; i < graph->count; i++) {
		const bool behind_call = i && graph->items[i - 1].block.ends == LITIFUT_ENDS_CALL;

		if (labels->paths->later[i] && (labels->refused[i] || behind_call))
			labels->refused[i + labels->paths->later[i]] = 1;
	}
}

static void give_all(struct labels *labels)
{
	const struct litifut_graph *graph = labels->graph;
	const struct litifut_image *image = &labels->session->image;

	find_shared(labels);
	if (LITIFUT_ARCH_GET(labels->session->arch, flow, landing_pads))
		labels->session->arch->flow->landing_pads(image, refuse_pad, labels);
	refuse_later(labels);
	for (size_t first = 0, end; first < graph->count; first = end) {
		const struct litifut_graph_block *start = &graph->items[first];

		for (end = first + 1;
		     end < graph->count && graph->items[end].function == start->function;)
			end++;
		/* a reader finds the blocks of a function by where the next one starts */
		if (!(start->block.flags & LITIFUT_BLOCK_LEFT) &&
		    start->block.flags & LITIFUT_BLOCK_FUNCTION &&
		    (end == graph->count || graph->items[end].block.flags & LITIFUT_BLOCK_FUNCTION))
			give_function(labels, first, end);
	}
}

enum litifut_status litifut_edges_number_labels(const struct litifut_session *session,
						const struct litifut_paths *paths,
						struct litifut_error *error)
{
	struct litifut_graph *graph = &session->edges->graph;
	struct labels labels = {.session = session, .graph = graph, .paths = paths};
	enum litifut_status status = LITIFUT_OK;

	if (!session->context.bits || session->context.units || session->context.numbers ||
	    !litifut_image_symbol(&session->image, LITIFUT_BITS_NUMBER))
		return LITIFUT_OK;
	labels.frames = calloc(graph->count + 1, sizeof(*labels.frames));
	labels.reached = calloc(graph->count + 1, sizeof(*labels.reached));
	labels.refused = calloc(graph->count + 1, 1);
	labels.shared = calloc(session->image.symbol_count + 2, 1);
	labels.jumps = calloc(session->image.symbol_count + 2, 1);
	if (labels.frames && labels.reached && labels.refused && labels.shared && labels.jumps)
		give_all(&labels);
	else
		status = litifut_error_memory(error, session->image.path);
	free(labels.frames);
	free(labels.reached);
	free(labels.refused);
	free(labels.shared);
	free(labels.jumps);
	return status;
}
