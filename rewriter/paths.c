/* What is recorded besides branches. In code that can be followed, a call leads to its callee and a
 * return back; for all else a record follows, which the reader finds next:
 *
 * - A block to which a table, a pointer or an exception may lead is recorded by its address, and so
 *   is a function that is called by code that can't be followed.
 * - Behind a call of such code a bit says that it has returned, so that whatever it calls has its
 *   place, and nothing is taken for executed that stands behind exit(). Where the block behind the
 *   call has no room for that, a later one has it, or it is done without.
 * - Before a call that ends the program a bit says that the thread has come there. */
#include "rewriter/paths.h"

#include <string.h>

#include "rewriter/callees.h"
#include "rewriter/twice.h"

void litifut_paths_leave(struct litifut_paths *paths, size_t block)
{
	const struct litifut_graph_block *items = paths->graph->items;
	size_t first = block;

	while (first && items[first - 1].function == items[block].function)
		first--;
	for (; first < paths->graph->count && items[first].function == items[block].function;
	     first++)
		paths->left[first] = 1;
}

/* The block at `address` if control can be followed there, or NULL. */
static const struct litifut_graph_block *followed(const struct litifut_paths *paths,
						  uint32_t address)
{
	const struct litifut_graph_block *block = litifut_graph_at(paths->graph, address & ~1u);

	return block && !paths->left[block - paths->graph->items] ? block : NULL;
}

static bool goes_on(const struct litifut_graph_block *block)
{
	return block->block.ends == LITIFUT_ENDS_ON || block->block.ends == LITIFUT_ENDS_CALL ||
	       block->block.flags & LITIFUT_BLOCK_CONDITIONAL;
}

/* May the way from a block of `function` to `address` end in code that is not known? */
static bool leads_out(const struct litifut_paths *paths, uint32_t function, uint32_t address)
{
	const struct litifut_graph_block *to = followed(paths, address);

	return !to || (to->function != function && paths->ends[to->function]);
}

static void find_ends(struct litifut_paths *paths)
{
	const struct litifut_graph *graph = paths->graph;
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < graph->count; i++) {
			const struct litifut_graph_block *block = &graph->items[i];
			const struct litifut_block *at = &block->block;

			if (paths->left[i] || paths->ends[block->function])
				continue;
			if ((at->ends == LITIFUT_ENDS_JUMP && !block->jump_register) ||
			    (at->ends == LITIFUT_ENDS_BRANCH &&
			     leads_out(paths, block->function, at->target)) ||
			    (goes_on(block) && leads_out(paths, block->function, at->end))) {
				paths->ends[block->function] = 1;
				changed = true;
			}
		}
	}
}

/* Where the code of functions that are left leads to. */
static void add_left(struct litifut_paths *paths)
{
	const struct litifut_graph *graph = paths->graph;

	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];
		const struct litifut_graph_block *callee;

		if (!paths->left[i])
			continue;
		callee = litifut_callee_of(graph, block);
		if (callee)
			litifut_targets_add(&paths->reached, callee->block.start);
		if (block->block.target)
			litifut_targets_add(&paths->reached, block->block.target);
		if (goes_on(block))
			litifut_targets_add(&paths->reached, block->block.end);
	}
}

static bool returns_twice(const struct litifut_paths *paths,
			  const struct litifut_graph_block *block)
{
	const struct litifut_session *session = paths->session;
	const struct litifut_graph_block *items = paths->graph->items;
	size_t first = (size_t)(block - items);
	size_t end = first + 1;

	if (block->block.target)
		return litifut_spawners_has(&paths->twice, block->block.target);
	if (LITIFUT_CALLEE_IS_SYMBOL(block->callee))
		return litifut_spawners_is_named(&session->image,
						 LITIFUT_CALLEE_SYMBOL_OF(block->callee),
						 litifut_returns_twice);
	if (block->callee)
		return litifut_spawners_has(&paths->twice, block->callee);
	if (!paths->calls_twice[block->function])
		return false;
	while (first && items[first - 1].function == block->function)
		first--;
	while (end < paths->graph->count && items[end].function == block->function)
		end++;
	return paths->may_call(&session->image, &session->context,
			       &session->image.sections[block->section], items[first].block.start,
			       items[end - 1].block.end, block->block.branch, litifut_returns_twice,
			       &paths->twice);
}

#define BEHIND_MOST 16 /* blocks */

/* The block behind a call has no room to record that the call has returned. The next one on the
 * way does that, unless the way comes to a decision of its own first. */
static void want_later(struct litifut_paths *paths, const struct litifut_graph_block *block)
{
	const struct litifut_graph_block *items = paths->graph->items;
	const struct litifut_graph_block *found = NULL;

	for (unsigned steps = 0; steps < BEHIND_MOST; steps++) {
		if (block->block.flags & LITIFUT_BLOCK_CONDITIONAL)
			return;
		block = block->block.ends == LITIFUT_ENDS_ON ? followed(paths, block->block.end)
			: block->block.ends == LITIFUT_ENDS_BRANCH
				? followed(paths, block->block.target)
				: NULL;
		if (!block || block->block.flags & LITIFUT_BLOCK_FUNCTION)
			break;
		if (paths->wanted[block - items] &&
		    block->block.entered_reason == LITIFUT_SITE_PATCHED)
			return;
		if (!found && block->block.entered_reason == LITIFUT_SITE_PATCHED)
			found = block;
	}
	if (found)
		paths->wanted[found - items] = LITIFUT_ENTERED_BIT;
}

/* Must the start of the block be recorded for other reasons than that it is a label? */
static bool wants_itself(const struct litifut_paths *paths, const struct litifut_graph_block *block)
{
	return litifut_targets_has(&paths->reached, block->block.start) ||
	       block->block.flags & LITIFUT_BLOCK_FUNCTION;
}

/* May the block that is `blocks` behind a label record it? Control must come by the label to all in
 * between, and by no other. */
static bool may_put_off(const struct litifut_paths *paths, size_t number, unsigned blocks)
{
	const struct litifut_graph *graph = paths->graph;
	const struct litifut_graph_block *label = &graph->items[number];

	if (number + blocks >= graph->count || !(label->block.flags & LITIFUT_BLOCK_LABEL) ||
	    wants_itself(paths, label))
		return false;
	for (const struct litifut_graph_block *block = label; block < label + blocks; block++) {
		const struct litifut_graph_block *next = block + 1;

		if (block->block.ends != LITIFUT_ENDS_ON || next->block.start != block->block.end ||
		    next->function != label->function || next->block.flags & LITIFUT_BLOCK_LABEL ||
		    wants_itself(paths, next))
			return false;
	}
	return true;
}

bool litifut_paths_put_off(struct litifut_paths *paths)
{
	const struct litifut_graph *graph = paths->graph;
	bool found = false;

	for (size_t i = 0; i < graph->count; i++) {
		const size_t last = i + paths->later[i];

		if (paths->left[i] || paths->wanted[last] != LITIFUT_ENTERED_RECORD ||
		    graph->items[last].block.entered_reason == LITIFUT_SITE_PATCHED ||
		    paths->later[i] == LITIFUT_LATER_MOST ||
		    !may_put_off(paths, i, paths->later[i] + 1u) ||
		    paths->wanted[last + 1] == LITIFUT_ENTERED_RECORD)
			continue;
		paths->later[i]++;
		found = true;
	}
	return found;
}

/* Does a function begin behind the one block and not behind the other? */
static bool is_apart(const struct litifut_graph *graph, size_t one, size_t other)
{
	const size_t last = one < other ? other : one;

	for (size_t i = (one < other ? one : other) + 1; i <= last; i++)
		if (graph->items[i].block.flags & LITIFUT_BLOCK_FUNCTION)
			return true;
	return false;
}

/* The block that follows in the function whatever happens, or NULL. */
static const struct litifut_graph_block *only_next(const struct litifut_paths *paths, size_t block)
{
	const struct litifut_graph *graph = paths->graph;
	const struct litifut_block *at = &graph->items[block].block;
	const struct litifut_graph_block *next = NULL;

	if (at->flags & LITIFUT_BLOCK_CONDITIONAL)
		return NULL;
	if (at->ends == LITIFUT_ENDS_BRANCH)
		next = followed(paths, at->target);
	else if (at->ends == LITIFUT_ENDS_ON || at->ends == LITIFUT_ENDS_CALL)
		next = followed(paths, at->end);
	return next && !is_apart(graph, block, (size_t)(next - graph->items)) ? next : NULL;
}

#define ROUND_MOST 256 /* blocks */

/* Is the block in a loop in which nothing is decided, but something called? Then its rounds have to
 * be recorded where one begins: that is the first of its blocks. */
static bool begins_round(const struct litifut_paths *paths, size_t block)
{
	const struct litifut_graph_block *start = &paths->graph->items[block];
	const struct litifut_graph_block *at = start;
	bool calls = false;

	/* the way may lead into another loop, and stay there */
	for (unsigned steps = 0; steps < ROUND_MOST; steps++) {
		calls |= at->block.ends == LITIFUT_ENDS_CALL;
		at = only_next(paths, (size_t)(at - paths->graph->items));
		if (!at || at <= start)
			return at == start && calls;
	}
	return false;
}

/* LITIFUT_MODE=balllarus: the start of each function is recorded, and each block to which control
 * comes but by the edges of its function. */
static void want_numbers(struct litifut_paths *paths)
{
	const struct litifut_graph *graph = paths->graph;

	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];
		const struct litifut_graph_block *to =
			paths->left[i] ? NULL : followed(paths, block->block.target);

		/* a call of a part of the same function, too, as in assembly */
		if (to && (block->block.ends == LITIFUT_ENDS_CALL ||
			   (block->block.ends == LITIFUT_ENDS_BRANCH &&
			    is_apart(graph, i, (size_t)(to - graph->items)))))
			litifut_targets_add(&paths->reached, block->block.target);
	}
	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];
		const struct litifut_graph_block *next;

		if (paths->left[i])
			continue;
		if (block->block.flags & (LITIFUT_BLOCK_LABEL | LITIFUT_BLOCK_FUNCTION) ||
		    litifut_targets_has(&paths->reached, block->block.start))
			paths->wanted[i] = LITIFUT_ENTERED_RECORD;
		else if (!paths->wanted[i] && begins_round(paths, i))
			paths->wanted[i] = LITIFUT_ENTERED_BIT;
		next = block->block.ends == LITIFUT_ENDS_CALL ? followed(paths, block->block.end)
							      : NULL;
		if (next && next->function == block->function && returns_twice(paths, block))
			paths->wanted[next - graph->items] = LITIFUT_ENTERED_RECORD;
	}
}

/* An entry that has been judged is written, so that the reader must expect its bit, even if another
 * block does now what it was wanted for. */
static void keep_wanted(struct litifut_paths *paths)
{
	for (size_t i = 0; i < paths->graph->count; i++)
		if (paths->left[i] ||
		    paths->graph->items[i].block.entered_reason != LITIFUT_SITE_PATCHED)
			paths->wanted[i] = 0;
		else if (paths->wanted[i])
			paths->wanted[i] = LITIFUT_ENTERED_BIT;
}

void litifut_paths_want(struct litifut_paths *paths)
{
	const struct litifut_graph *graph = paths->graph;
	const uint8_t *entered = paths->session->entered;

	add_left(paths);
	find_ends(paths);
	if (paths->session->context.numbers) {
		memset(paths->wanted, 0, graph->count);
		want_numbers(paths);
		return;
	}
	keep_wanted(paths);
	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];
		const struct litifut_graph_block *callee;
		const struct litifut_graph_block *next;

		if (paths->left[i])
			continue;
		if (block->block.flags & LITIFUT_BLOCK_LABEL ||
		    litifut_targets_has(&paths->reached, block->block.start) ||
		    (block->block.flags & LITIFUT_BLOCK_FUNCTION &&
		     (litifut_targets_has(&paths->outer, block->block.start) ||
		      (entered && entered[block->function]))))
			paths->wanted[may_put_off(paths, i, paths->later[i]) ? i + paths->later[i]
									     : i] =
				LITIFUT_ENTERED_RECORD;
		/* its code moves, for the label before it */
		if (block->shift && !paths->wanted[i])
			paths->wanted[i] = LITIFUT_ENTERED_BIT;
		/* nothing behind it would show that the thread has come there */
		if (block->is_last && !paths->wanted[i])
			paths->wanted[i] = LITIFUT_ENTERED_BIT;
		if (block->block.ends != LITIFUT_ENDS_CALL)
			continue;
		next = followed(paths, block->block.end);
		if (!next || next->function != block->function)
			continue;
		callee = litifut_callee_of(graph, block);
		if (callee && paths->left[callee - graph->items])
			callee = NULL;
		if (returns_twice(paths, block))
			paths->wanted[next - graph->items] = LITIFUT_ENTERED_RECORD;
		else if ((!callee || paths->ends[callee->function]) &&
			 !paths->wanted[next - graph->items])
			paths->wanted[next - graph->items] = LITIFUT_ENTERED_BIT;
	}
	for (size_t i = 0; i < graph->count; i++)
		if (paths->wanted[i] == LITIFUT_ENTERED_BIT &&
		    graph->items[i].block.entered_reason != LITIFUT_SITE_PATCHED)
			want_later(paths, &graph->items[i]);
}
