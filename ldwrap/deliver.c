/* Our temporary names must not be seen: in each text that came from the linker
 * the image's name becomes the target's and the scratch folder "litifut". */
#include "ldwrap/deliver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libiberty/libiberty.h>
#include <litifut/module_format.h>

#include "ldwrap/process.h"

static bool same_file(int one, int other)
{
	struct stat a;
	struct stat b;

	return !fstat(one, &a) && !fstat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* An output that is there, in a folder that can't be written to: GNU ld and gold write into
 * it. */
static bool takes_no_new_file(const char *target)
{
	size_t head = (size_t)(lbasename(target) - target);
	char *folder = head ? xstrndup(target, head) : xstrdup(".");
	bool none = access(folder, W_OK) && !access(target, W_OK);

	free(folder);
	return none;
}

void deliver_prepare(struct link_files *files, const struct arguments *arguments,
		     const struct linker *linker)
{
	/* One terminal or file for both: the order between them counts. */
	bool together = same_file(STDOUT_FILENO, STDERR_FILENO);

	files->linker = linker->name;
	files->kind = linker->kind;
	files->target = arguments_output(arguments);
	files->in_place = !files->kind->replaces_output && takes_no_new_file(files->target);
	files->image =
		files->in_place ? scratch_instead_of(files->target) : scratch_beside(files->target);
	files->stripped =
		files->in_place ? scratch_instead_of(files->target) : scratch_beside(files->target);
	files->map = scratch_file("map");
	files->dependencies = scratch_file("dependencies");
	files->messages_error = scratch_file("messages");
	files->messages_out = together ? files->messages_error : scratch_file("output");
	files->kept_error = scratch_file("kept-messages");
	files->kept_out = together ? files->kept_error : scratch_file("kept-output");
}

void deliver_keep_messages(const struct link_files *files)
{
	rename(files->messages_error, files->kept_error);
	if (files->messages_out != files->messages_error)
		rename(files->messages_out, files->kept_out);
}

static void write_replaced(FILE *to, const char *line, const struct link_files *files)
{
	const char *const from_names[] = {files->image, lbasename(files->image), scratch_folder()};
	const char *const to_names[] = {files->target, lbasename(files->target), "litifut"};

	while (*line) {
		const char *first = NULL;
		size_t which = 0;

		for (size_t i = 0; i < 3; i++) {
			const char *found = strstr(line, from_names[i]);

			if (found && (!first || found < first)) {
				first = found;
				which = i;
			}
		}
		if (!first)
			break;
		fwrite(line, 1, (size_t)(first - line), to);
		fputs(to_names[which], to);
		line = first + strlen(from_names[which]);
	}
	fputs(line, to);
}

/* Warnings, and lines that say where the next one's problem is, come before what made a
 * linker fail. */
static bool is_the_reason(const char *line)
{
	size_t length = strlen(line);

	return length && !strstr(line, "warning: ") && !strstr(line, "NOTE: ") &&
	       line[length - 1] != ':';
}

/* The line with the names that the user gave; to be freed. */
static char *shown(const char *line, const struct link_files *files)
{
	char *shown = NULL;
	size_t size = 0;
	FILE *text = open_memstream(&shown, &size);

	if (text) {
		write_replaced(text, line, files);
		fclose(text);
	}
	return shown;
}

char *deliver_reason(const struct link_files *files)
{
	FILE *file = fopen(files->messages_error, "r");
	char *reason = NULL;
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (file && !found && getline(&line, &room, file) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		found = is_the_reason(line);
		if (!found && reason)
			continue;
		free(reason);
		reason = shown(line, files);
	}
	free(line);
	if (file)
		fclose(file);
	return reason ? reason : xstrdup("");
}

static bool begins_with(const char *line, const char *start)
{
	return !strncmp(line, start, strlen(start));
}

/* Words of the linker about an object of the tracer. Those of lld begin with its name, not with its
 * path. */
static bool is_about_ours(const struct link_files *files, const char *line)
{
	return strstr(line, scratch_folder()) &&
	       (begins_with(line, files->linker) || begins_with(line, lbasename(files->linker)));
}

/* Those after which others can come that name the user's objects: about sections that no
 * script places none do. */
static bool is_complaint(const char *line)
{
	return strstr(line, "warning: ") && !strstr(line, "warning: orphan section ");
}

char *deliver_complaint(const struct link_files *files)
{
	FILE *file = fopen(files->messages_error, "r");
	char *complaint = NULL;
	char *line = NULL;
	size_t room = 0;

	while (file && !complaint && getline(&line, &room, file) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		if (is_about_ours(files, line) && is_complaint(line))
			complaint = shown(line + strcspn(line, " "), files);
	}
	free(line);
	if (file)
		fclose(file);
	return complaint;
}

void deliver_hide_names(const struct link_files *files, struct litifut_error *error)
{
	const char *const names[] = {files->image, files->stripped};

	/* the name of a file in an error may be cut short */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (error->file[0] && !strncmp(error->file, names[i], sizeof(error->file) - 1))
			error->file[0] = '\0';
}

/* A line that names nothing but a file of the wrapper, as -t, --verbose and dependency files
 * have them. */
static bool is_ours_alone(const char *line)
{
	/* of --verbose */
	static const char *const opened[] = {"opened script file ", "attempt to open "};
	static const char removing[] = "removing unused section "; /* lld's --print-gc-sections */

	line += strspn(line, " ");
	if (begins_with(line, removing) && begins_with(line + strlen(removing), scratch_folder()))
		return true;
	for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); i++)
		if (!strncmp(line, opened[i], strlen(opened[i])))
			line += strlen(opened[i]);
	return !strncmp(line, scratch_folder(), strlen(scratch_folder())) &&
	       line[strlen(scratch_folder())] == '/' && !strchr(line, '(') && !strstr(line, ": ");
}

/* Copies a text of the linker's to `to`; a missing one counts as empty. */
static void copy_text(const char *from, FILE *to, const struct link_files *files, bool drop_ours)
{
	FILE *file = fopen(from, "r");
	char *line = NULL;
	size_t room = 0;
	bool rule_dropped = false;

	if (!file)
		return;
	while (getline(&line, &room, file) >= 0) {
		bool blank = line[0] == '\n';

		/* A dependency file has a blank line after each `FILE:'. */
		if (drop_ours && (is_ours_alone(line) || is_about_ours(files, line) ||
				  (blank && rule_dropped))) {
			rule_dropped = !blank && strchr(line, ':');
			continue;
		}
		rule_dropped = false;
		write_replaced(to, line, files);
	}
	free(line);
	fclose(file);
}

static enum litifut_status copy_to_path(const char *from, const char *path,
					const struct link_files *files, bool drop_ours,
					struct litifut_error *error)
{
	FILE *to = fopen(path, "w");

	if (to) {
		copy_text(from, to, files, drop_ours);
		if (!ferror(to) && !fclose(to))
			return LITIFUT_OK;
	}
	return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
				 "can't be written: %s", strerror(errno));
}

/* ld.bfd puts the map of -Map=FOLDER into FOLDER/OUTPUT.map and replaces % by
 * the output's name. */
static char *map_path(const char *value, const char *target)
{
	const char *percent = strchr(value, '%');
	struct stat status;

	if (percent)
		return xasprintf("%.*s%s%s", (int)(percent - value), value, target, percent + 1);
	if (!stat(value, &status) && S_ISDIR(status.st_mode))
		return concat(value, "/", lbasename(target), ".map", NULL);
	return xstrdup(value);
}

static bool prints_map(const struct arguments *arguments)
{
	const struct argument *map = arguments_last(arguments, ARGUMENT_MAP);

	return map ? !map->value || !strcmp(map->value, "-")
		   : arguments_last(arguments, ARGUMENT_PRINT_MAP) != NULL;
}

/* GNU ld takes no devices, and says so. */
static enum litifut_status deliver_map(const struct link_files *files,
				       const struct arguments *arguments,
				       struct litifut_error *error)
{
	const struct argument *map = arguments_last(arguments, ARGUMENT_MAP);
	const bool named = files->kind->names_map;
	enum litifut_status status;
	struct stat before;
	char *path;

	if (prints_map(arguments))
		return process_has_output()
			       ? LITIFUT_OK
			       : litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL,
						   LITIFUT_NO_ADDRESS, "no standard output");
	if (!map)
		return LITIFUT_OK;
	path = named ? map_path(map->value, files->target) : xstrdup(map->value);
	if (named && !stat(path, &before) && !S_ISREG(before.st_mode))
		status = litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					   LITIFUT_NO_ADDRESS, "the map is not a regular file");
	else
		status = copy_to_path(files->map, path, files, false, error);
	free(path);
	return status;
}

static enum litifut_status deliver_sites(const struct link_files *files,
					 struct litifut_error *error)
{
	char *path = concat(files->target, LITIFUT_SITES_SUFFIX, NULL);
	enum litifut_status status = LITIFUT_OK;

	if (rename(files->sites, path))
		status = litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					   "can't be replaced: %s", strerror(errno));
	free(path);
	return status;
}

/* GNU ld writes into an output that is there and empty, as mktemp(1) leaves it, with its
 * mode and its other names, and through a symbolic link that leads nowhere else yet. */
static bool stays_in_place(const char *target)
{
	struct stat status;
	struct stat link;

	if (lstat(target, &link))
		return false;
	return stat(target, &status) ? S_ISLNK(link.st_mode) : status.st_size == 0;
}

static bool copy_bytes(int from, int to)
{
	char *bytes = xmalloc(1 << 20);
	ssize_t size = 1;

	while (size > 0) {
		size = read(from, bytes, 1 << 20);
		for (ssize_t done = 0; done < size;) {
			ssize_t written = write(to, bytes + done, (size_t)(size - done));

			if (written <= 0) {
				size = -1;
				break;
			}
			done += written;
		}
	}
	free(bytes);
	return size == 0;
}

/* Gives the right to execute to all users that the umask allows it, or only to those that may
 * read the file. */
static void make_executable(int file, bool readers)
{
	struct stat status;
	mode_t mask = umask(0);

	umask(mask);
	if (fstat(file, &status))
		return;
	if (readers)
		fchmod(file, 07777 & (status.st_mode | (status.st_mode & 0444) >> 2) & ~mask);
	else
		fchmod(file, 0777 & (status.st_mode | (0111 & ~mask)));
}

static enum litifut_status write_in_place(const struct link_files *files,
					  struct litifut_error *error)
{
	bool readers = files->kind->readers_run;
	bool empty = stays_in_place(files->target);
	int from = open(files->image, O_RDONLY | O_CLOEXEC);
	int to = open(files->target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	bool good = from >= 0 && to >= 0 && copy_bytes(from, to);
	int reason = errno;

	if (good && (empty || !readers))
		make_executable(to, readers);
	if (from >= 0)
		close(from);
	if (to >= 0 && close(to) && good) {
		reason = errno;
		good = false;
	}
	return good ? LITIFUT_OK
		    : litifut_error_set(error, LITIFUT_ERROR_IO, files->target, NULL,
					LITIFUT_NO_ADDRESS, "can't be written: %s",
					strerror(reason));
}

void deliver_others(const struct link_files *files, bool keep)
{
	const char *name = lbasename(files->image);
	const size_t length = strlen(name);
	char *folder = xstrndup(files->image, (size_t)(name - files->image));
	DIR *directory = opendir(*folder ? folder : ".");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *from;
		char *to;

		if (strncmp(entry->d_name, name, length) || !entry->d_name[length])
			continue;
		from = concat(folder, entry->d_name, NULL);
		to = concat(files->target, entry->d_name + length, NULL);
		if (!keep || rename(from, to))
			unlink(from);
		free(from);
		free(to);
	}
	if (directory)
		closedir(directory);
	free(folder);
}

static enum litifut_status replace_target(const struct link_files *files,
					  struct litifut_error *error)
{
	if (files->in_place || (!files->kind->replaces_output && stays_in_place(files->target)))
		return write_in_place(files, error);
	/* As the linker does. ext4 writes a file to the disk before it replaces another. */
	unlink(files->target);
	if (rename(files->image, files->target))
		return litifut_error_set(error, LITIFUT_ERROR_IO, files->target, NULL,
					 LITIFUT_NO_ADDRESS, "can't be replaced: %s",
					 strerror(errno));
	return LITIFUT_OK;
}

enum litifut_status deliver(const struct link_files *files, const struct arguments *arguments,
			    struct litifut_error *error)
{
	const struct argument *dependencies = arguments_last(arguments, ARGUMENT_DEPENDENCY_FILE);
	enum litifut_status status = deliver_map(files, arguments, error);

	if (!status && dependencies && dependencies->value)
		status = copy_to_path(files->dependencies, dependencies->value, files, true, error);
	if (!status && files->sites)
		status = deliver_sites(files, error);
	if (!status)
		status = replace_target(files, error);
	if (status)
		return status;
	deliver_others(files, true);
	copy_text(files->kept_out, stdout, files, true);
	if (prints_map(arguments))
		copy_text(files->map, stdout, files, false);
	fflush(stdout);
	if (files->kept_out != files->kept_error)
		copy_text(files->kept_error, stderr, files, true);
	return LITIFUT_OK;
}
