#include "ldwrap/strip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/decision.h"
#include "ldwrap/process.h"

/* True if `program` (freed here) exists and does it. */
static bool strip_with(char *program, const char *option, const struct link_files *files)
{
	char *words[] = {
		program, (char *)option, "-o", (char *)files->stripped, (char *)files->image, NULL};
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
	const char *option;
	bool done;

	if (arguments_last(arguments, ARGUMENT_STRIP_ALL))
		option = "--strip-all";
	else if (arguments_last(arguments, ARGUMENT_STRIP_DEBUG))
		option = "--strip-debug";
	else if (arguments_last(arguments, ARGUMENT_DISCARD_ALL))
		option = "--discard-all";
	else
		return LITIFUT_OK;
	done = strip_with(linker_find_sibling(linker, "strip"), option, files);
	for (; !done && triplets && *triplets; triplets++) {
		char *name = concat(*triplets, "-strip", NULL);

		done = strip_with(linker_find_program(name), option, files);
		free(name);
	}
	if (!done)
		done = strip_with(linker_find_program("llvm-strip"), option, files);
	if (!done)
		return litifut_error_set(
			error, LITIFUT_ERROR_MISSING, NULL, NULL, LITIFUT_NO_ADDRESS,
			"no strip program of this toolchain, which %s needs", option);
	return LITIFUT_OK;
}
