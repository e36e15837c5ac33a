/* Names are near to each other if one holds the other or shortens it, or if few letters must
 * change. */
#include "common/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define LONGEST 64

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned lesser = a < b ? a : b;

	return lesser < c ? lesser : c;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Letters to be inserted, removed, changed, or exchanged with the next. F. J. Damerau, 1964;
 * V. I. Levenshtein, 1966. */
static unsigned edits(const char *from, const char *to)
{
	size_t rows = strlen(from), columns = strlen(to);
	unsigned row[3][LONGEST + 1]; /* of this letter and of the two before */

	if (rows > LONGEST || columns > LONGEST)
		return LITIFUT_NAME_FARTHEST;
	for (size_t j = 0; j <= columns; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= rows; i++) {
		unsigned *here = row[i % 3];
		const unsigned *above = row[(i - 1) % 3];
		const unsigned *two_above = row[(i + 1) % 3];

		here[0] = (unsigned)i;
		for (size_t j = 1; j <= columns; j++) {
			bool same = same_letter(from[i - 1], to[j - 1]);

			here[j] = least(above[j] + 1, here[j - 1] + 1, above[j - 1] + !same);
			if (i > 1 && j > 1 && same_letter(from[i - 1], to[j - 2]) &&
			    same_letter(from[i - 2], to[j - 1]))
				here[j] = least(here[j], two_above[j - 2] + 1, here[j]);
		}
	}
	return row[rows % 3][columns];
}

/* Are the letters of the word all in the name, in that order, from its first one on, and at least
 * half of them, as those of "clk" are in "clock"? */
static bool shortens(const char *word, const char *name)
{
	const size_t length = strlen(word);

	if (length < 3 || strlen(name) > 2 * length || !same_letter(*word, *name))
		return false;
	for (; *name; name++)
		word += *word && same_letter(*word, *name);
	return !*word;
}

unsigned litifut_name_distance(const char *word, const char *name)
{
	size_t length = strlen(word);
	unsigned changed = edits(word, name);

	if (changed <= 1 + length / 4)
		return changed;
	if (shortens(word, name))
		return changed;
	return length >= 3 && strcasestr(name, word) ? 100 : LITIFUT_NAME_FARTHEST;
}

const char *litifut_name_nearest(const char *word, const char *const *names)
{
	const char *best = NULL;
	unsigned least_far = LITIFUT_NAME_FARTHEST;

	for (; *names; names++) {
		unsigned far = litifut_name_distance(word, *names);
		size_t length = strlen(word);

		if (far > 1 && length >= 3 && !strncasecmp(*names, word, length))
			far = 1; /* its end is missing */
		/* of two that are as far, the one with as many letters: two were exchanged */
		if (far < least_far || (far == least_far && far != LITIFUT_NAME_FARTHEST &&
					strlen(*names) == length && strlen(best) != length)) {
			least_far = far;
			best = *names;
		}
	}
	return best;
}
