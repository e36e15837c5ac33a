#include "postproc/energy/tree.h"

#include <stdlib.h>

#include "common/memory.h"

#define MOST_NODES (8u << 20)

static uint32_t hash_of(uint32_t parent, uint32_t function)
{
	uint64_t mixed = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(mixed >> 32);
}

static void grow_slots(struct energy_tree *tree)
{
	size_t wanted = tree->slot_count ? 2 * tree->slot_count : 1024;
	uint32_t *slots = calloc(wanted, sizeof(*slots));

	if (!slots) {
		tree->failed = true;
		return;
	}
	for (size_t i = 1; i < tree->count; i++) {
		size_t at = hash_of(tree->nodes[i].parent, tree->nodes[i].function) & (wanted - 1);
		while (slots[at])
			at = (at + 1) & (wanted - 1);
		slots[at] = (uint32_t)i;
	}
	free(tree->slots);
	tree->slots = slots;
	tree->slot_count = wanted;
}

static bool grow_nodes(struct energy_tree *tree)
{
	size_t wanted = tree->capacity ? 2 * tree->capacity : 256;
	struct energy_node *more = litifut_memory_resized(tree->nodes, wanted, sizeof(*more));

	if (!more) {
		tree->failed = true;
		return false;
	}
	tree->nodes = more;
	tree->capacity = wanted;
	return true;
}

void energy_tree_start(struct energy_tree *tree)
{
	*tree = (struct energy_tree){0};
	grow_slots(tree);
	if (!grow_nodes(tree))
		return;
	tree->nodes[0] = (struct energy_node){.function = ENERGY_NO_FUNCTION};
	tree->count = 1;
}

uint32_t energy_tree_child(struct energy_tree *tree, uint32_t parent, uint32_t function)
{
	if (tree->failed)
		return ENERGY_ROOT;
	size_t at = hash_of(parent, function) & (tree->slot_count - 1);
	for (; tree->slots[at]; at = (at + 1) & (tree->slot_count - 1)) {
		const struct energy_node *node = &tree->nodes[tree->slots[at]];
		if (node->parent == parent && node->function == function)
			return tree->slots[at];
	}
	if (tree->count >= MOST_NODES && parent != ENERGY_ROOT) {
		tree->folded = true;
		return energy_tree_child(tree, ENERGY_ROOT, function);
	}
	if (tree->count == tree->capacity && !grow_nodes(tree))
		return ENERGY_ROOT;
	tree->slots[at] = (uint32_t)tree->count;
	tree->nodes[tree->count] = (struct energy_node){.function = function, .parent = parent};
	uint32_t number = (uint32_t)tree->count++;
	if (2 * tree->count > tree->slot_count)
		grow_slots(tree);
	return number;
}

void energy_tree_release(struct energy_tree *tree)
{
	free(tree->nodes);
	free(tree->slots);
	*tree = (struct energy_tree){0};
}
