#include "rewriter/tokens.h"

#define TOKEN_BITS 16

/* The tokens of a unit: it has started, it has ended, and two for each branch. */
#define STARTS 0u
#define ENDS 1u
#define WAYS 2u

static bool is_unit(const struct litifut_graph *graph, size_t first)
{
	return !(graph->items[first].block.flags & LITIFUT_BLOCK_LEFT);
}

/* The first block behind the function of `first`. */
static size_t end_of(const struct litifut_graph *graph, size_t first)
{
	size_t end = first + 1;

	while (end < graph->count && graph->items[end].function == graph->items[first].function)
		end++;
	return end;
}

static uint32_t branches_of(const struct litifut_graph *graph, size_t first, size_t end)
{
	uint32_t count = 0;

	for (size_t i = first; i < end; i++)
		count += (graph->items[i].block.flags & LITIFUT_BLOCK_CONDITIONAL) != 0;
	return count;
}

/* What tokens are numbered by. */
struct scope {
	uint32_t units, unit;    /* so many, and the one of the block */
	uint32_t tokens, before; /* of all units, and of those before it */
	uint32_t own;            /* its own, but for the one that starts it */
	uint32_t way;            /* the first one of the branch */
};

static struct scope scope_of(const struct litifut_graph *graph, size_t block)
{
	struct scope scope = {0};

	for (size_t first = 0, end; first < graph->count; first = end) {
		end = end_of(graph, first);
		if (!is_unit(graph, first))
			continue;
		if (block >= first && block < end) {
			scope.unit = scope.units;
			scope.before = scope.tokens;
			scope.own = ENDS + 2 * branches_of(graph, first, end);
			scope.way = WAYS + 2 * branches_of(graph, first, block);
		}
		scope.units++;
		scope.tokens += WAYS + 2 * branches_of(graph, first, end);
	}
	return scope;
}

static void add(struct litifut_number_calls *calls, const struct scope *scope, bool global,
		uint32_t token)
{
	const uint32_t value = global            ? scope->before + token
			       : token == STARTS ? scope->unit
						 : token - ENDS;
	const unsigned bits = path_bits(global            ? scope->tokens
					: token == STARTS ? scope->units
							  : scope->own);

	if (!bits || bits > TOKEN_BITS)
		return;
	calls->items[calls->count++] = (struct litifut_number_call){
		.words = {value << (TOKEN_BITS - bits) | (uint32_t)bits << 16}, .word_count = 1};
}

struct litifut_number_calls litifut_tokens_of(const struct litifut_graph *graph, bool global,
					      size_t block, bool entry, enum litifut_edge_way way)
{
	const struct litifut_block *about = &graph->items[block].block;
	const struct scope scope = scope_of(graph, block);
	struct litifut_number_calls calls = {0};

	if (way == LITIFUT_WAY_ENTERED) {
		add(&calls, &scope, global, STARTS);
		return calls;
	}
	if (!entry)
		add(&calls, &scope, global, scope.way + (way == LITIFUT_WAY_TAKEN));
	if (way == LITIFUT_WAY_TAKEN ? about->taken : about->passed)
		add(&calls, &scope, global, ENDS);
	return calls;
}
