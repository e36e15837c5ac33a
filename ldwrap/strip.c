/* objcopy and not strip, whose -x takes the debug information away as well. */
#include "ldwrap/strip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

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

/* True if `program` (freed here) exists and does it. */
static bool strip_with(char *program, const struct stripping *stripping,
		       const struct link_files *files)
{
	char *words[] = {program,
			 (char *)stripping->option,
			 (char *)stripping->but,
			 (char *)files->image,
			 (char *)files->stripped,
			 NULL};
	bool done = program &&
		    !process_run(program, words, scratch_file("strip-messages"),
				 scratch_file("strip-messages")) &&
		    !rename(files->stripped, files->image);

	free(program);
	return done;
}

enum litifut_status strip_as_asked(const struct arguments *arguments, const struct linker *linker,
				   const struct link_files *files, struct litifut_error *error)
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
