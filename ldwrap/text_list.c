#include "ldwrap/text_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

void text_list_append_all(struct text_list *list, const char *const *texts)
{
	for (; texts && *texts; texts++)
		text_list_append(list, *texts);
}

bool text_list_has(const struct text_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], text))
			return true;
	return false;
}

bool text_list_add(struct text_list *list, const char *text)
{
	if (text_list_has(list, text))
		return false;
	text_list_append(list, text);
	return true;
}

void text_list_append(struct text_list *list, const char *text)
{
	list->items = xrealloc(list->items, (list->count + 2) * sizeof(char *));
	list->items[list->count++] = xstrdup(text);
	list->items[list->count] = NULL;
}

void text_list_append_split(struct text_list *list, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, ",");
		const char *start = text;
		const char *end = text + length;

		while (start < end && isspace((unsigned char)*start))
			start++;
		while (end > start && isspace((unsigned char)end[-1]))
			end--;
		if (end > start) {
			char *piece = xstrndup(start, (size_t)(end - start));

			text_list_append(list, piece);
			free(piece);
		}
		text += length + (text[length] == ',');
	}
}

void text_list_release(struct text_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	memset(list, 0, sizeof(*list));
}
