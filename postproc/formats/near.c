#include "postproc/formats/near.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/nearest.h"
#include "postproc/formats/text.h"

#define NAMES 3
#define FARTHEST LITIFUT_NAME_FARTHEST

/* Has some function of the modules, called or not, a name that the glob matches? */
static bool exists_in(const struct post_session *session, const char *glob)
{
	const char *const globs[] = {glob, NULL};

	for (size_t i = 0; i < session->function_count; i++) {
		if (post_function_matches(session, globs, (uint32_t)i))
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

/* How far `word' is from the name, or from the last part of that of a C++ function, without
 * parameters. */
static unsigned distance(const char *word, const char *name)
{
	const size_t whole = strcspn(name, "(");
	size_t start = whole;
	char part[64];
	unsigned far = litifut_name_distance(word, name);
	unsigned part_far;

	while (start && name[start - 1] != ':')
		start--;
	if ((!start && !name[whole]) || whole - start >= sizeof(part))
		return far;
	memcpy(part, name + start, whole - start);
	part[whole - start] = 0;
	part_far = litifut_name_distance(word, part);
	return part_far < far ? part_far : far;
}

/* Up to three names of functions in the traces that look like `name`, the likeliest
 * first: "a, b, c". NULL: there are none. The caller frees it. */
static char *names_near(const struct post_session *session, const char *name)
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

/* A program or library with calls whose ELF file is not here, so that its functions have no names.
 */
static const char *nameless(const struct post_session *session)
{
	for (size_t i = 1; i < session->module_count; i++)
		if (session->modules[i].traced && !session->modules[i].image)
			return session->modules[i].name;
	return NULL;
}

char *post_near_none(const struct post_session *session, const char *glob)
{
	const char *module = nameless(session);
	struct post_text text = {0};
	char *near;

	if (exists_in(session, glob))
		return post_copy_text("");
	near = names_near(session, glob);
	if (module)
		post_text_format(
			&text,
			": the functions of %s have no names, as its ELF file is not here, "
			"or is of another build",
			module);
	else
		post_text_format(&text, ", and no function of that name");
	if (near)
		post_text_format(&text, "; there is %s", near);
	if (strchr(glob, ',') && !strchr(glob, '('))
		post_text_format(&text, "; one name or pattern is expected, not a list");
	free(near);
	return post_text_take(&text);
}

/* Does one of the programs record a part of its run alone? */
static bool is_switched(const struct post_session *session)
{
	for (size_t i = 0; i < session->process_count; i++)
		if (session->processes[i]->trace->switched)
			return true;
	return false;
}

void post_near_report(const struct post_session *session, const char *relation, const char *glob)
{
	char *none = post_near_none(session, glob);

	post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
			"no call %s %s in these traces%s", relation, glob,
			*none                         ? none
			: strcmp(relation, "of") != 0 ? ""
			: is_switched(session)
				? ": not executed, or inlined by the compiler, or recording was off"
				: ": not executed, or inlined by the compiler");
	free(none);
}
