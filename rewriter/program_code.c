#include "rewriter/program_code.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/nearest.h"
#include "rewriter/libc.h"

bool litifut_section_is_linkage(const struct litifut_section *section)
{
	static const char *const names[] = {".plt", ".iplt", ".plt.sec", ".plt.got", ".MIPS.stubs"};

	/* Asked about nearly every call, mostly of .text. */
	if (section->name[0] != '.' || section->name[1] == 't')
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(section->name, names[i]) == 0)
			return true;
	return false;
}

/* PLT entries and lazy stubs hold no calls of the program's own. */
bool litifut_sites_in(const struct litifut_section *section)
{
	return section->type == SHT_PROGBITS && section->flags & SHF_EXECINSTR && section->bytes &&
	       !litifut_section_is_linkage(section);
}

const struct litifut_section *litifut_sites_section_of(const struct litifut_image *image,
						       const struct litifut_symbol *function)
{
	if (!function->section || function->section >= image->section_count)
		return NULL;
	const struct litifut_section *section = &image->sections[function->section];

	return litifut_sites_in(section) && function->address >= section->address &&
			       function->size <= section->size &&
			       function->address - section->address <=
				       section->size - function->size
		       ? section
		       : NULL;
}

/* Does the name begin as the glob does up to its first special character? Most do not,
 * and fnmatch() looks at all of a name first. */
static bool begins_alike(const char *glob, const char *name)
{
	for (; *glob && !strchr("*?[\\", *glob); glob++, name++)
		if (*glob != *name)
			return false;
	return true;
}

bool litifut_is_named(const char *const *globs, const char *name)
{
	for (; globs && *globs; globs++)
		if (begins_alike(*globs, name) && fnmatch(*globs, name, 0) == 0)
			return true;
	return false;
}

bool litifut_include_split(const char *word, size_t *length, unsigned *calls)
{
	const char *plus = strrchr(word, '+');
	unsigned number = 0;

	if (!plus || plus == word || !plus[1])
		return false;
	for (const char *at = plus + 1; *at; at++) {
		if (*at < '0' || *at > '9')
			return false;
		number = 10 * number + (unsigned)(*at - '0');
		if (number > LITIFUT_INCLUDE_CALLS_MAX)
			number = LITIFUT_INCLUDE_CALLS_MAX;
	}
	*length = (size_t)(plus - word);
	*calls = number;
	return true;
}

void litifut_nearest_function(const struct litifut_image *image, const char *const *words,
			      char name[LITIFUT_NEAREST_BYTES])
{
	const char **names = calloc(image->function_count + 1, sizeof(*names));
	const char *nearest = NULL;
	size_t count = 0;

	for (size_t i = 0; names && i < image->function_count; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];

		if (!litifut_is_tracer_code(function))
			names[count++] = function->name;
	}
	for (; names && *words && !nearest; words++) {
		if (!strpbrk(*words, "*?["))
			nearest = litifut_name_nearest(*words, names);
		/* there is such a function, but no call of it */
		if (nearest && !strcmp(nearest, *words))
			nearest = NULL;
	}
	free(names);
	name[0] = 0;
	if (nearest && strlen(nearest) < LITIFUT_NEAREST_BYTES)
		strcpy(name, nearest);
}

static void judge(const struct litifut_image *image, const char *const *globs,
		  struct litifut_asked_names *asked)
{
	*asked = (struct litifut_asked_names){.unused = globs && *globs};
	for (size_t i = 0; asked->unused && i < image->function_count; i++)
		if (litifut_is_named(globs, image->symbols[image->functions[i]].name))
			asked->unused = false;
	if (asked->unused)
		litifut_nearest_function(image, globs, asked->nearest);
}

/* The same, of words that may have a number of calls behind the name. */
static void judge_included(const struct litifut_image *image, const char *const *words,
			   struct litifut_asked_names *asked)
{
	size_t count = 0, bytes = 0;

	for (; words && words[count]; count++)
		bytes += strlen(words[count]) + 1;
	const char **globs = calloc(count + 1, sizeof(*globs));
	char *text = malloc(bytes + 1);
	char *at = text;

	for (size_t i = 0; i < count && globs && text; i++) {
		size_t length = strlen(words[i]);
		unsigned calls;

		litifut_include_split(words[i], &length, &calls);
		memcpy(at, words[i], length);
		at[length] = 0;
		globs[i] = at;
		at += length + 1;
	}
	judge(image, text ? globs : NULL, asked);
	free(globs);
	free(text);
}

void litifut_judge_names(const struct litifut_image *image,
			 const struct litifut_rewrite_options *options, struct litifut_asked *asked)
{
	judge(image, options->asked_excludes, &asked->excludes);
	judge_included(image, options->include_functions, &asked->includes);
	judge(image, options->units, &asked->units);
}

static int by_address(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* Is it included as another function calls it? */
static bool is_downward(const struct litifut_image *image, const struct litifut_symbol *function)
{
	return image->downward_count &&
	       bsearch(&function->address, image->downward, image->downward_count,
		       sizeof(*image->downward), by_address) != NULL;
}

bool litifut_is_excluded(const struct litifut_image *image,
			 const struct litifut_rewrite_options *options,
			 const struct litifut_symbol *function)
{
	const char *const *include = options->include_functions;
	const char *name = function ? function->name : "";

	if (litifut_is_named(options->exclude_functions, name) ||
	    (function && function->reserved && litifut_libc_must_keep(image, name)))
		return true;
	return include && *include && !litifut_is_named(include, name) &&
	       !(function && is_downward(image, function));
}

bool litifut_leaves_call(const struct litifut_rewrite_options *options, bool caller_refused,
			 const struct litifut_symbol *callee)
{
	if (!callee)
		return caller_refused;
	for (size_t i = 0; i < options->needed_count; i++)
		if (options->needed_callees[i] == callee->address)
			return false;
	return caller_refused || litifut_is_named(options->exclude_callees, callee->name);
}

bool litifut_is_tracer_code(const struct litifut_symbol *function)
{
	return function && function->own;
}

bool litifut_sites_may_change(const struct litifut_image *image,
			      const struct litifut_rewrite_options *options,
			      const struct litifut_symbol *function)
{
	for (size_t i = 0; i < options->excluded_count; i++)
		if (options->excluded[i].start < function->address + function->size &&
		    options->excluded[i].end > function->address)
			return false;
	return !litifut_is_tracer_code(function) && !litifut_is_excluded(image, options, function);
}
