/* See run_linker.h. Links of programs and of firmware come here. */
#include "ldwrap/run_linker.h"
#include "ldwrap/script_assert.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/process.h"

void say_verbose(const struct link_request *request, const char *format, ...)
{
	va_list arguments;

	if (!request->settings->verbose)
		return;
	fputs("litifut-ld: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

static void say_command(const struct link_request *request, char *const words[])
{
	if (!request->settings->verbose)
		return;
	fputs("litifut-ld: run:", stderr);
	for (int i = 0; words[i]; i++)
		fprintf(stderr, " %s", words[i]);
	fputc('\n', stderr);
}

/* How many bytes are missing according to a message of the linker that gives no number of them:
 * .bss ends beyond its memory, or a section comes upon another one. 0: that can't be said. */
static uint64_t missing_of(const char *message, const char *map)
{
	char section[64], region[64];
	unsigned long long first, last, other_first, other_last;

	if (sscanf(message, "section `%63[^']' is not within region `%63[^']'", section, region) ==
	    2)
		return map ? script_region_missing(map, section, region) : 0;
	if (sscanf(message,
		   "section %*s loaded at [%llx,%llx] overlaps section %*s loaded at [%llx,%llx]",
		   &first, &last, &other_first, &other_last) != 4)
		return 0;
	return first > other_first ? other_last - first + 1 : last - other_first + 1;
}

/* The linker's words about a memory that is too small, with the number of bytes that are missing
 * where it is known. NULL: there are no such words. To be freed. */
static char *overflow_of(const struct link_files *files)
{
	FILE *file = fopen(files->messages_error, "r");
	char *line = NULL;
	char *found = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) >= 0) {
		char *at = strstr(line, "region `");

		if (at && !strstr(at, "overflowed by"))
			at = strstr(line, " is not within region") ? strstr(line, "section `")
								   : NULL;
		if (!at && strstr(line, " overlaps section "))
			at = strstr(line, "section ");
		/* said where the length of a region is a symbol of the program, of any lack */
		if (!at || strstr(at, "overflowed by 0 bytes"))
			continue;
		at[strcspn(at, "\n")] = '\0';
		if (found && strstr(found, at))
			continue;
		const uint64_t missing = missing_of(at, files->map);
		char *item = missing ? xasprintf("%s: overflowed by %llu bytes", at,
						 (unsigned long long)missing)
				     : xstrdup(at);

		found = found ? reconcat(found, found, ", ", item, NULL) : xstrdup(item);
		free(item);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static enum linker_result failed(const struct link_files *files, int status,
				 struct litifut_error *error)
{
	char *overflow = overflow_of(files);
	char *reason = overflow ? overflow : deliver_reason(files);
	bool has_no_room = overflow != NULL;

	if (WIFSIGNALED(status)) {
		free(reason);
		reason = xasprintf("ended by signal %d (%s)", WTERMSIG(status),
				   strsignal(WTERMSIG(status)));
	} else if (!*reason) {
		free(reason);
		reason = xasprintf("exit status %d", WEXITSTATUS(status));
	} else if (!overflow && files->map) {
		const uint64_t missing = script_assert_missing(files->map);
		char *said = reason;

		if (missing) {
			/* the words of the script stand behind the name of the linker */
			const char *linker = strstr(said, "ld: ");

			reason = xasprintf("%s: %llu bytes are missing",
					   linker ? linker + strlen("ld: ") : said,
					   (unsigned long long)missing);
			free(said);
			has_no_room = true;
		}
	}
	const bool undefined = !overflow && strstr(reason, "undefined reference to");

	litifut_error_set(
		error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS, "%s: %s",
		has_no_room ? "no room for the tracer" : "the linker fails with the tracer inside",
		reason);
	free(reason);
	return overflow ? LINKER_OVERFLOW : undefined ? LINKER_UNDEFINED : LINKER_FAILED;
}

enum linker_result run_linker(const struct link_request *request, const struct link_files *files,
			      struct command *command, struct litifut_error *error)
{
	char **words;
	int status;

	command->arguments = request->arguments;
	command->linker_name = request->linker->name;
	command->output = files->image;
	command->dependency_file = files->dependencies;
	words = command_build(command, scratch_file("response"));
	if (!words) {
		litifut_error_set(error, LITIFUT_ERROR_IO, scratch_folder(), NULL,
				  LITIFUT_NO_ADDRESS, "can't write the response file: %s",
				  strerror(errno));
		return LINKER_NOT_RUN;
	}
	say_command(request, words);
	unlink(files->messages_out);
	unlink(files->messages_error);
	status = process_run(request->linker->path, words, files->messages_out,
			     files->messages_error);
	freeargv(words);
	if (status < 0) {
		litifut_error_set(error, LITIFUT_ERROR_IO, request->linker->path, NULL,
				  LITIFUT_NO_ADDRESS, "can't be run: %s", strerror(errno));
		return LINKER_NOT_RUN;
	}
	return status ? failed(files, status, error) : LINKER_MADE_IMAGE;
}
