/* A list of texts that grows. */
#ifndef LITIFUT_LDWRAP_TEXT_LIST_H
#define LITIFUT_LDWRAP_TEXT_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct text_list {
	char **items; /* NULL-terminated once there is one; owned */
	size_t count;
};

/* Cuts `text` at commas, drops blanks around each piece and empty pieces, and
 * appends the pieces to `list`. */
void text_list_append_split(struct text_list *list, const char *text);

/* Appends a copy. */
void text_list_append(struct text_list *list, const char *text);

/* The same of each of `texts`, which ends with NULL; NULL: there are none. */
void text_list_append_all(struct text_list *list, const char *const *texts);

bool text_list_has(const struct text_list *list, const char *text);

/* Appends a copy of what the list does not have. False: it has it. */
bool text_list_add(struct text_list *list, const char *text);

void text_list_release(struct text_list *list);

#endif
