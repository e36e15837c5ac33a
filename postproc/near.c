/* Names are near to each other if one holds the other, or if few letters must change. */
#include "postproc/near.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/text.h"

#define NAMES 3
#define LONGEST 64
#define FARTHEST 1000

bool post_near_exists(const struct post_session *session, const char *glob)
{
	for (size_t i = 0; i < session->function_count; i++) {
		const struct post_function *function = &session->functions[i];
		if (!fnmatch(glob, function->name, 0) ||
		    (function->symbol && !fnmatch(glob, function->symbol, 0)))
			return true;
	}
	for (size_t m = 0; m < session->module_count; m++) {
		const struct post_image *image = session->modules[m].image;
		for (size_t i = 0; image && i < image->symbols.count; i++) {
			if (!fnmatch(glob, image->symbols.items[i].name, 0))
				return true;
		}
	}
	return false;
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned lesser = a < b ? a : b;

	return lesser < c ? lesser : c;
}

/* Letters to be inserted, removed or changed. V. I. Levenshtein, 1966. */
static unsigned edits(const char *from, const char *to)
{
	size_t rows = strlen(from), columns = strlen(to);
	unsigned row[LONGEST + 1];

	if (rows > LONGEST || columns > LONGEST)
		return FARTHEST;
	for (size_t j = 0; j <= columns; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= rows; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= columns; j++) {
			unsigned above = row[j];
			row[j] = least(above + 1, row[j - 1] + 1,
				       diagonal + (from[i - 1] != to[j - 1]));
			diagonal = above;
		}
	}
	return row[columns];
}

/* 0: the same; FARTHEST: nothing like it. */
static unsigned distance(const char *wanted, const char *name)
{
	size_t length = strlen(wanted);
	unsigned changed = edits(wanted, name);

	if (changed <= 1 + length / 4)
		return changed;
	return length >= 3 && strcasestr(name, wanted) ? 100 : FARTHEST;
}

char *post_near_names(const struct post_session *session, const char *name)
{
	const char *best[NAMES] = {NULL};
	unsigned far[NAMES] = {FARTHEST, FARTHEST, FARTHEST};
	struct post_text text = {0};

	for (size_t i = 0; i < session->function_count; i++) {
		const char *other = session->functions[i].name;
		unsigned here = distance(name, other);
		size_t place = NAMES;
		while (place > 0 && here < far[place - 1])
			place--;
		for (size_t j = 0; j < NAMES; j++) { /* in two modules */
			if (best[j] && !strcmp(best[j], other))
				place = NAMES;
		}
		if (place == NAMES)
			continue;
		for (size_t j = NAMES - 1; j > place; j--) {
			best[j] = best[j - 1];
			far[j] = far[j - 1];
		}
		best[place] = other;
		far[place] = here;
	}
	if (!best[0])
		return NULL;
	for (size_t i = 0; i < NAMES && best[i]; i++)
		post_text_format(&text, "%s%s", i ? ", " : "", best[i]);
	return post_text_take(&text);
}
