#include "tree.h"

#include <stdlib.h>
#include <string.h>

static struct node *new_node(const char *word)
{
	struct node *node = calloc(1, sizeof(*node) + strlen(word) + 1);

	if (!node)
		abort();
	strcpy(node->word, word);
	return node;
}

void tree_add(struct node **root, const char *word)
{
	int order;

	if (!*root)
		*root = new_node(word);
	order = strcmp(word, (*root)->word);
	if (order < 0)
		tree_add(&(*root)->left, word);
	else if (order > 0)
		tree_add(&(*root)->right, word);
	else
		(*root)->count++;
}

void tree_walk(const struct node *root, void (*visit)(const struct node *node, void *user),
	       void *user)
{
	if (!root)
		return;
	tree_walk(root->left, visit, user);
	visit(root, user);
	tree_walk(root->right, visit, user);
}

void tree_free(struct node *root)
{
	if (!root)
		return;
	tree_free(root->left);
	tree_free(root->right);
	free(root);
}
