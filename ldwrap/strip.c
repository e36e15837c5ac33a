/* objcopy and not strip, whose -x takes the debug information away as well. */
#include "ldwrap/strip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libiberty/libiberty.h>
#include <litifut/module_format.h>

#include "ldwrap/decision.h"
#include "ldwrap/process.h"

/* How objcopy is asked to do what an option of the linker does. */
struct stripping {
	enum argument_kind kind;
	const char *option;
	const char *but; /* what objcopy would take away, and a linker does not */
};

static const struct stripping strippings[] = {
	{ARGUMENT_STRIP_ALL, "--strip-all", "--strip-all"},
	{ARGUMENT_STRIP_DEBUG, "--strip-debug", "--keep-file-symbols"},
	{ARGUMENT_DISCARD_ALL, "--discard-all", "--keep-section=.debug*"},
};

/* litifut-post needs the names of functions, and a build that links with -s has no other file with
 * them. So the image as it was stays beside the output. */
static void keep_names(struct link_files *files)
{
	char *path = concat(files->image, LITIFUT_NAMES_SUFFIX, NULL);
	struct stat status;

	if (!files->in_place && !decision_is_trial(files->target) && !stat(files->image, &status) &&
	    !rename(files->image, path)) {
		chmod(path, status.st_mode & 0666);
		files->names_kept = true;
	}
	free(path);
}

/* The stripped image could not take its place, so the plain linker makes the output, and no file
 * with other names may stay beside it. */
static void take_names_back(struct link_files *files)
{
	char *path = concat(files->image, LITIFUT_NAMES_SUFFIX, NULL);

	if (files->names_kept && !rename(path, files->image))
		files->names_kept = false;
	free(path);
}

/* True if `program` (freed here) exists and does it. */
static bool strip_with(char *program, const struct stripping *stripping, struct link_files *files)
{
	char *words[] = {program,
			 (char *)stripping->option,
			 (char *)stripping->but,
			 (char *)files->image,
			 (char *)files->stripped,
			 NULL};
	bool done = program && !process_run(program, words, scratch_file("strip-messages"),
					    scratch_file("strip-messages"));

	free(program);
	if (done && stripping->kind == ARGUMENT_STRIP_ALL)
		keep_names(files);
	if (done && rename(files->stripped, files->image)) {
		done = false;
		take_names_back(files);
	}
	return done;
}

enum litifut_status strip_as_asked(const struct arguments *arguments, const struct linker *linker,
				   struct link_files *files, struct litifut_error *error)
{
	const char *const *triplets = decision_triplets(arguments);
	const struct stripping *asked = NULL;
	bool done;

	for (size_t i = 0; !asked && i < sizeof(strippings) / sizeof(strippings[0]); i++)
		if (arguments_last(arguments, strippings[i].kind))
			asked = &strippings[i];
	if (!asked)
		return LITIFUT_OK;
	done = strip_with(linker_find_sibling(linker, "objcopy"), asked, files);
	for (; !done && triplets && *triplets; triplets++) {
		char *name = concat(*triplets, "-objcopy", NULL);

		done = strip_with(linker_find_program(name), asked, files);
		free(name);
	}
	if (!done)
		done = strip_with(linker_find_program("llvm-objcopy"), asked, files);
	if (!done)
		return litifut_error_set(
			error, LITIFUT_ERROR_MISSING, NULL, NULL, LITIFUT_NO_ADDRESS,
			"no objcopy program of this toolchain, which %s needs", asked->option);
	return LITIFUT_OK;
}
