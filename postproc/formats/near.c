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

/* Up to three names of functions in the traces that look like `name`, the likeliest
 * first: "a, b, c". NULL: there are none. The caller frees it. */
static char *names_near(const struct post_session *session, const char *name)
{
	const char *best[NAMES] = {NULL};
	unsigned far[NAMES] = {FARTHEST, FARTHEST, FARTHEST};
	struct post_text text = {0};

	for (size_t i = 0; i < session->function_count; i++) {
		const char *other = session->functions[i].name;
		unsigned here = litifut_name_distance(name, other);
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

void post_near_report(const struct post_session *session, const char *relation, const char *glob)
{
	bool exists = exists_in(session, glob);
	char *near = exists ? NULL : names_near(session, glob);

	post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
			"no call %s %s in these traces%s%s%s%s", relation, glob,
			!exists                   ? ", and no function of that name"
			: !strcmp(relation, "of") ? ": not executed, or inlined by the compiler"
						  : "",
			near ? "; there is " : "", near ? near : "",
			!exists && strchr(glob, ',') && !strchr(glob, '(')
				? "; one name or pattern is expected, not a list"
				: "");
	free(near);
}
