/* What litifut-post says of the files that it was given, once all has been read: which of them
 * served nothing, which are of other builds, which traces were not meant. */
#include "postproc/model/files_given.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hex.h"
#include "cpu/cpu.h"

void post_session_report_builds(struct post_session *session)
{
	for (size_t i = 0; i < session->inputs.image_count; i++) {
		struct post_candidate *file = &session->inputs.images[i];

		for (size_t m = 1; m < session->module_count && file->named && !file->used; m++) {
			const struct post_module *module = &session->modules[m];
			char traced[POST_BUILD_ID_TEXT], own[POST_BUILD_ID_TEXT];

			if (!module->traced || !module->image ||
			    !post_candidate_is_named(file, module->name) || !file->build_id_bytes ||
			    !module->build_id_bytes)
				continue;
			litifut_hex(module->build_id, module->build_id_bytes, traced);
			litifut_hex(file->build_id, file->build_id_bytes, own);
			post_note_at(session->problems, file->path, LITIFUT_NO_ADDRESS,
				     "another build of %s than the one that was traced (build-id "
				     "%s in the trace, %s in the file), left out: %s is the one",
				     module->name, traced, own, module->image->path);
			file->used = true; /* this says enough of it */
		}
	}
}

/* As people write it: ARM, MIPS, AVR. */
static const char *cpu_text(unsigned machine, char *text, size_t size)
{
	const struct cpu *cpu = cpu_find(machine);

	snprintf(text, size, "%s", cpu ? cpu->name : "another CPU");
	for (char *letter = text; cpu && *letter; letter++)
		*letter = (char)toupper((unsigned char)*letter);
	return text;
}

/* Is it the only one that the user has named? */
static bool is_only(const struct post_session *session, const struct post_candidate *file)
{
	for (size_t i = 0; i < session->inputs.image_count; i++)
		if (session->inputs.images[i].named && &session->inputs.images[i] != file)
			return false;
	return true;
}

bool post_session_needless(const struct post_session *session, size_t *at, char *text, size_t size)
{
	for (; *at < session->inputs.image_count; ++*at) {
		const struct post_candidate *file = &session->inputs.images[*at];
		char own[16], other[16];
		bool right = false;
		if (!file->named || file->used)
			continue;
		for (size_t i = 0; i < session->process_count; i++)
			right |= session->processes[i]->machine == file->machine;
		if (right)
			snprintf(text, size,
				 "%.200s was not needed: no module of the traces has its build-id",
				 file->path);
		else if (is_only(session, file) && session->process_count)
			snprintf(text, size, "%.160s is for %s, and the trace is of %s", file->path,
				 cpu_text(file->machine, own, sizeof(own)),
				 cpu_text(session->processes[0]->machine, other, sizeof(other)));
		else
			snprintf(text, size, "%.200s was not needed: it is for %s, and no trace is",
				 file->path,
				 cpu_find(file->machine) ? cpu_find(file->machine)->name
							 : "another CPU");
		++*at;
		return true;
	}
	return false;
}

/* Both are absolute, without links in them. */
static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	if (length == 1) /* "/" */
		length = 0;
	return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

/* The only one of the paths below which the file lies; `count`: several do, or none. */
static size_t only_place(const char *file, char *const *places, size_t count)
{
	char *real = realpath(file, NULL);
	size_t found = count, times = 0;

	for (size_t i = 0; real && i < count; i++)
		if (places[i] && is_below(real, places[i])) {
			found = i;
			times++;
		}
	free(real);
	return times == 1 ? found : count;
}

bool post_session_mixed(const struct post_session *session, char *const *paths, size_t count,
			char *line, size_t size)
{
	char **places = post_allocate(count + 1, sizeof(*places));
	size_t *traces = post_allocate(count + 1, sizeof(*traces)), from = count;

	for (size_t i = 0; i < count; i++)
		places[i] = realpath(paths[i], NULL);
	for (size_t i = 0; count > 1 && i < session->process_count; i++)
		traces[only_place(session->processes[i]->trace->path, places, count)]++;
	for (size_t i = 0; i < session->inputs.image_count && from == count; i++) {
		char *file = session->inputs.images[i].named
				     ? NULL
				     : realpath(session->inputs.images[i].path, NULL);

		for (size_t j = 0; file && j < count && from == count; j++)
			if (places[j] && traces[j] && traces[j] < session->process_count &&
			    is_below(file, places[j]))
				from = j;
		free(file);
	}
	if (from < count)
		snprintf(line, size,
			 "%zu of the %zu traces %s from %.150s, which was given for its ELF files, "
			 "too; to leave %s out, name the programs and libraries in place of that "
			 "folder",
			 traces[from], session->process_count, traces[from] == 1 ? "is" : "are",
			 paths[from], traces[from] == 1 ? "it" : "them");
	for (size_t i = 0; i < count; i++)
		free(places[i]);
	free(places);
	free(traces);
	return from < count;
}

/* A process that has recorded the module. */
static const struct post_process *process_of(const struct post_session *session, uint32_t module)
{
	for (size_t i = 0; i < session->process_count; i++)
		for (size_t m = 0; m < session->processes[i]->mapping_count; m++)
			if (session->processes[i]->mappings[m].recorded &&
			    session->processes[i]->mappings[m].module == module)
				return session->processes[i];
	return NULL;
}

bool post_session_builds(const struct post_session *session, char *line, size_t size)
{
	for (uint32_t i = 1; i < session->module_count; i++)
		for (uint32_t j = i + 1; j < session->module_count; j++) {
			const struct post_module *a = &session->modules[i];
			const struct post_module *b = &session->modules[j];
			const struct post_process *first, *second;

			/* of one whose file is not here, post_session_conclude() says so */
			if (!a->traced || !b->traced || !a->image || !b->image ||
			    strcmp(a->name, b->name))
				continue;
			first = process_of(session, i);
			second = process_of(session, j);
			if (!first || !second)
				continue;
			snprintf(line, size,
				 "several builds of %.63s are in these traces (process %u has run "
				 "%.120s, process %u %.120s), and a function of it has a row for "
				 "each: give the traces of one build, choose with --pid, or "
				 "compare two with litifut-post diff",
				 a->name, first->trace->header.pid, a->image->path,
				 second->trace->header.pid, b->image->path);
			return true;
		}
	return false;
}
