/* Counts the words of its input and prints those seen most often. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

enum { MAX_WORD = 64, TOP = 10 };

struct top {
	const struct node *nodes[TOP];
	unsigned count;
};

static int read_word(FILE *input, char *word)
{
	int length = 0, c;

	while ((c = getc(input)) != EOF && !isalpha(c))
		continue;
	for (; c != EOF && isalpha(c); c = getc(input)) {
		if (length < MAX_WORD - 1)
			word[length++] = (char)tolower(c);
	}
	word[length] = 0;
	return length;
}

static void keep_most_seen(const struct node *node, void *user)
{
	struct top *top = user;
	unsigned place = top->count;

	while (place && top->nodes[place - 1]->count < node->count)
		place--;
	if (place == TOP)
		return;
	if (top->count < TOP)
		top->count++;
	memmove(&top->nodes[place + 1], &top->nodes[place],
		(top->count - 1 - place) * sizeof(top->nodes[0]));
	top->nodes[place] = node;
}

int main(void)
{
	struct node *root = NULL;
	struct top top = {.count = 0};
	char word[MAX_WORD];

	while (read_word(stdin, word))
		tree_add(&root, word);
	tree_walk(root, keep_most_seen, &top);
	for (unsigned i = 0; i < top.count; i++)
		printf("%4u %s\n", top.nodes[i]->count, top.nodes[i]->word);
	tree_free(root);
	return 0;
}
