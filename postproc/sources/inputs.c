/* Files are distinguished by their contents, not by their names. */
#include "postproc/sources/inputs.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <litifut/trace_format.h>

#include "postproc/sources/archive.h"
#include "postproc/sources/firmware_kind.h"
#include "postproc/sources/input_bytes.h"
#include "postproc/table.h"

const char *post_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void add_text(char ***list, size_t *count, size_t *capacity, const char *text)
{
	POST_GROW(*list, *count, *capacity);
	(*list)[(*count)++] = post_copy_text(text);
}

/* "400000-401000 r-xp": the start of every line of a maps file. */
static bool looks_like_maps(const uint8_t *bytes, size_t size)
{
	size_t at = 0;
	const char *digits = "0123456789abcdef";

	for (; at < size && at < 16 && bytes[at] && strchr(digits, bytes[at]); at++)
		;
	if (at < 4 || at >= size || bytes[at++] != '-')
		return false;
	size_t start = at;
	for (; at < size && at - start < 16 && bytes[at] && strchr(digits, bytes[at]); at++)
		;
	return at - start >= 4 && at + 4 < size && bytes[at] == ' ' &&
	       (bytes[at + 1] == 'r' || bytes[at + 1] == '-');
}

static void add_image(struct post_inputs *inputs, const char *path, bool named,
		      struct post_problems *problems)
{
	struct post_image *image;
	struct litifut_error error;
	enum litifut_status status = post_image_open(path, &image, &error);

	if (status != LITIFUT_OK) {
		if (named)
			post_problem(problems, &error);
		return;
	}
	POST_GROW(inputs->images, inputs->image_count, inputs->image_capacity);
	struct post_candidate *candidate = &inputs->images[inputs->image_count++];
	*candidate = (struct post_candidate){
		.path = post_copy_text(path),
		.name = post_copy_text(post_base_name(path)),
		.build_id_bytes = image->build_id_bytes,
		.machine = image->cpu->machine,
		.rewritten = image->rewritten,
		.firmware = image->rewritten && image->engine >= LITIFUT_ENGINE_SITE_FAST,
		.debug_only = image->debug_only,
		.named = named,
	};
	memcpy(candidate->build_id, image->build_id, sizeof(candidate->build_id));
	/* as long as a module's name is in a trace */
	snprintf(candidate->soname, sizeof(candidate->soname), "%.63s", image->soname);
	post_image_close(image);
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length >= strlen(end) && !strcmp(text + length - strlen(end), end);
}

/* The device copies to a temporary name first. Such a file is what a copy left
 * behind that lost its power or its stick: named, and read as far as it goes,
 * unless the whole one is there too. */
static bool is_needless_part(const char *path, bool is_ours, struct post_problems *problems)
{
	struct stat about;
	char *whole;
	bool needless;

	if (!ends_with(path, ".trace.tmp") && !ends_with(path, ".maps.tmp"))
		return false;
	whole = post_copy_text(path);
	whole[strlen(whole) - strlen(".tmp")] = 0;
	needless = !stat(whole, &about);
	post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
			needless  ? "an unfinished copy; the whole file beside it is read"
			: is_ours ? "copying it was cut short; read as far as it goes"
				  : "copying it was cut short; nothing in it can be read");
	free(whole);
	return needless || !is_ours;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	while (size && !bytes[size - 1])
		size--;
	return !size;
}

static void add_unknown(struct post_inputs *inputs, const char *path, const uint8_t *bytes,
			size_t size)
{
	const bool is_trace = ends_with(path, ".trace");

	POST_GROW(inputs->unknown, inputs->unknown_count, inputs->unknown_capacity);
	/* the magic number is what the recorder writes last */
	inputs->unknown[inputs->unknown_count++] = (struct post_unknown){
		.path = post_copy_text(path),
		.why = !size && access(path, R_OK) && errno == EACCES
			       ? "there is no permission to read it"
		       : size && is_zero(bytes, size < 8 ? size : 8) && is_trace
			       ? "its header was never written: the program was killed "
				 "before, or there was no room"
		       : size                       ? NULL
		       : post_input_is_packed(path) ? "the compressed data is damaged or cut"
						    : "the file is empty or can't be read"};
}

static void add_file(struct post_inputs *inputs, const char *path, bool named,
		     struct post_problems *problems)
{
	uint8_t start[64];
	size_t size = post_input_peek(path, start, sizeof(start));
	bool is_trace = size >= 8 && !memcmp(start, LITIFUT_TRACE_MAGIC, 8);

	inputs->looked_at++;
	if (inputs->progress.report)
		inputs->progress.report(inputs->progress.context, inputs->looked_at, 0);
	if (is_needless_part(path, is_trace || looks_like_maps(start, size), problems))
		return;
	if (is_trace)
		add_text(&inputs->traces, &inputs->trace_count, &inputs->trace_capacity, path);
	else if (size >= 4 && !memcmp(start, "\177ELF", 4))
		add_image(inputs, path, named, problems);
	else if (looks_like_maps(start, size))
		add_text(&inputs->maps, &inputs->maps_count, &inputs->maps_capacity, path);
	else if (named && (inputs->gprof_serial || post_firmware_is(path)))
		add_text(&inputs->firmware, &inputs->firmware_count, &inputs->firmware_capacity,
			 path);
	else if (named || ends_with(path, ".trace") || (!size && ends_with(path, ".maps")))
		add_unknown(inputs, path, start, size);
}

/* The folder that a traced program makes by default. */
static bool is_usual_folder(const char *path)
{
	static const char name[] = "litifut-data";
	size_t length = strlen(path);

	while (length && path[length - 1] == '/')
		length--;
	return length >= strlen(name) && !memcmp(path + length - strlen(name), name, strlen(name));
}

void post_inputs_add(struct post_inputs *inputs, const char *path, struct post_problems *problems)
{
	struct stat about;

	if (stat(path, &about)) {
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS, "%s%s", strerror(errno),
				errno == ENOENT && is_usual_folder(path)
					? ": a traced program makes it where it runs (litifut info "
					  "PROGRAM says if it is traced; with LITIFUT_VERBOSE=1 it "
					  "says where it records, or why it can't)"
					: "");
		return;
	}
	if (S_ISREG(about.st_mode) && post_archive_is(path)) {
		const char *folder = post_archive_unpack(path, problems);
		if (folder)
			post_inputs_add(inputs, folder, problems);
		return;
	}
	if (!S_ISDIR(about.st_mode)) {
		add_file(inputs, path, true, problems);
		return;
	}
	char *paths[] = {(char *)path, NULL};
	FTS *walk = fts_open(paths, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!walk) {
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS, "%s", strerror(errno));
		return;
	}
	FTSENT *entry;
	while (errno = 0, (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_F)
			add_file(inputs, entry->fts_path, false, problems);
		else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
			post_problem_at(problems, entry->fts_path, LITIFUT_NO_ADDRESS, "%s",
					strerror(entry->fts_errno));
	}
	if (errno)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS, "%s", strerror(errno));
	fts_close(walk);
}

enum post_behind post_inputs_add_files(struct post_inputs *inputs, const char *path,
				       struct post_problems *problems)
{
	const size_t traces = inputs->trace_count, maps = inputs->maps_count;
	const size_t images = inputs->image_count, firmware = inputs->firmware_count;

	post_inputs_add(inputs, path, problems);
	if (inputs->trace_count == traces && inputs->firmware_count == firmware)
		return POST_BEHIND_FILES;
	if (inputs->image_count == images || inputs->firmware_count > firmware)
		return POST_BEHIND_TRACES;
	while (inputs->trace_count > traces)
		free(inputs->traces[--inputs->trace_count]);
	while (inputs->maps_count > maps)
		free(inputs->maps[--inputs->maps_count]);
	return POST_BEHIND_BOTH;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static bool is_known_kind(const char *path)
{
	struct post_problems problems = {0};
	struct post_inputs found = {0};

	add_file(&found, path, false, &problems);
	const bool known =
		found.trace_count || found.maps_count || found.image_count || found.unknown_count;
	post_inputs_release(&found);
	post_problems_release(&problems);
	return known;
}

bool post_inputs_read(char *const *paths, size_t count, const char *file)
{
	struct stat about, own;
	bool read = false;

	if (stat(file, &about))
		return false;
	for (size_t i = 0; i < count && !read; i++) {
		char *folder[] = {paths[i], NULL};
		FTS *walk = NULL;
		FTSENT *entry;

		if (stat(paths[i], &own))
			continue;
		if (S_ISDIR(own.st_mode))
			walk = fts_open(folder, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR, NULL);
		else
			read = is_same(&own, &about);
		while (walk && !read && (entry = fts_read(walk)))
			read = entry->fts_info == FTS_F && is_same(entry->fts_statp, &about) &&
			       is_known_kind(entry->fts_path);
		if (walk)
			fts_close(walk);
	}
	return read;
}

static int compare_text(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void sort_texts(char **list, size_t *count)
{
	size_t kept = 0;

	if (!*count)
		return;
	qsort(list, *count, sizeof(*list), compare_text);
	for (size_t i = 0; i < *count; i++) { /* a file may be named twice */
		if (kept && !strcmp(list[kept - 1], list[i]))
			free(list[i]);
		else
			list[kept++] = list[i];
	}
	*count = kept;
}

/* Beside the ELF file of a firmware, what is of no known kind was meant as a capture. */
static void report_unknown(const struct post_inputs *inputs, struct post_problems *problems)
{
	const char *firmware = NULL, *plain = NULL;

	for (size_t i = 0; i < inputs->image_count; i++) {
		const struct post_candidate *image = &inputs->images[i];

		if (image->firmware)
			firmware = image->path;
		else if (image->named && !image->rewritten)
			plain = image->path;
	}
	for (size_t i = 0; i < inputs->unknown_count; i++) {
		const struct post_unknown *unknown = &inputs->unknown[i];

		if (unknown->why)
			post_problem_at(problems, unknown->path, LITIFUT_NO_ADDRESS, "%s",
					unknown->why);
		else if (firmware)
			post_problem_at(
				problems, unknown->path, LITIFUT_NO_ADDRESS,
				"no results of a firmware are in it: check that they were sent "
				"(LITIFUT_SEND), at this baud rate, with no text of the program "
				"in between, and that it is not text of a simulator; of a dump, "
				"that it is of %s, over litifut_identity",
				post_base_name(firmware));
		else
			post_problem_at(problems, unknown->path, LITIFUT_NO_ADDRESS,
					"not a trace, a maps file, an ELF file or what a firmware "
					"has sent%s%s%s",
					plain ? "; " : "", plain ? plain : "",
					plain ? " was not linked with LITIFUT" : "");
	}
}

void post_inputs_finish(struct post_inputs *inputs, struct post_problems *problems)
{
	report_unknown(inputs, problems);
	sort_texts(inputs->traces, &inputs->trace_count);
	sort_texts(inputs->firmware, &inputs->firmware_count);
	sort_texts(inputs->maps, &inputs->maps_count);
}

void post_inputs_release(struct post_inputs *inputs)
{
	for (size_t i = 0; i < inputs->trace_count; i++)
		free(inputs->traces[i]);
	for (size_t i = 0; i < inputs->maps_count; i++)
		free(inputs->maps[i]);
	for (size_t i = 0; i < inputs->image_count; i++) {
		free(inputs->images[i].path);
		free(inputs->images[i].name);
	}
	for (size_t i = 0; i < inputs->firmware_count; i++)
		free(inputs->firmware[i]);
	for (size_t i = 0; i < inputs->unknown_count; i++)
		free(inputs->unknown[i].path);
	free(inputs->unknown);
	free(inputs->firmware);
	free(inputs->traces);
	free(inputs->maps);
	free(inputs->images);
	*inputs = (struct post_inputs){0};
}

bool post_candidate_is_named(const struct post_candidate *file, const char *name)
{
	return !strcmp(file->name, name) || (*file->soname && !strcmp(file->soname, name));
}
