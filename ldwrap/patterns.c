#include "ldwrap/patterns.h"

#include <errno.h>
#include <litifut/packed_format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

/* FUNCTION+OFFSET:BITS. False: it is not one. */
static bool read_unit(char *word, bool begins, struct patterns *patterns)
{
	char *bits = strrchr(word, ':');
	char *offset = bits ? memchr(word, '+', (size_t)(bits - word)) : NULL;
	char *end;

	if (!offset || offset == word || strspn(bits + 1, "01") != strlen(bits + 1))
		return false;
	*bits = *offset = '\0';
	errno = 0;
	const unsigned long at = strtoul(offset + 1, &end, 16);

	if (errno || *end || end == offset + 1 || at > UINT32_MAX)
		return false;
	if (patterns->count == patterns->capacity) {
		patterns->capacity = 2 * patterns->capacity + 16;
		patterns->units =
			xrealloc(patterns->units, patterns->capacity * sizeof(*patterns->units));
	}
	patterns->units[patterns->count++] = (struct litifut_pattern_unit){
		xstrdup(word), (uint32_t)at, xstrdup(bits + 1), begins};
	return true;
}

enum litifut_status patterns_read(const char *path, struct patterns *patterns,
				  struct litifut_error *error)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0, found = 0;
	bool good = true;

	if (!file)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS, "LITIFUT_PATTERNS: %s: %s", path,
					 strerror(errno));
	while (good && getline(&line, &room, file) >= 0) {
		bool begins = true;

		number++;
		line[strcspn(line, "#")] = '\0';
		for (char *word = strtok(line, " \t\r\n"); word && good;
		     word = strtok(NULL, " \t\r\n")) {
			good = read_unit(word, begins, patterns);
			found += begins;
			begins = false;
		}
		good = good && found <= LITIFUT_PACKED_PATTERNS;
	}
	free(line);
	if (good && ferror(file)) {
		litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
				  "LITIFUT_PATTERNS: %s: %s", path, strerror(errno));
		fclose(file);
		return LITIFUT_ERROR_UNSUPPORTED;
	}
	fclose(file);
	return good ? LITIFUT_OK
		    : litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					LITIFUT_NO_ADDRESS,
					"LITIFUT_PATTERNS: %s:%u: not a pattern of litifut-post "
					"mine, or more than %u of them",
					path, number, LITIFUT_PACKED_PATTERNS);
}

void patterns_release(struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++) {
		free(patterns->units[i].function);
		free(patterns->units[i].bits);
	}
	free(patterns->units);
	memset(patterns, 0, sizeof(*patterns));
}
