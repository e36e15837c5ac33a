/* A binary tree of words and how often each was seen. */
#ifndef TREE_H
#define TREE_H

struct node {
	struct node *left, *right;
	unsigned count;
	char word[];
};

/* Adds one occurrence of `word` below `*root`. */
void tree_add(struct node **root, const char *word);

/* Calls `visit` for each node in the order of the alphabet. */
void tree_walk(const struct node *root, void (*visit)(const struct node *node, void *user),
	       void *user);

void tree_free(struct node *root);

#endif
