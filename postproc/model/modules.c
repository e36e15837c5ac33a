/* Which ELF file belongs to which module, and where the maps file says that
 * the other ones lie. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <litifut/module_format.h>

#include "common/hex.h"
#include "postproc/sources/debug_file.h"
#include "postproc/model/session.h"

static struct post_image *open_and_load(struct post_session *session, const char *path)
{
	struct post_debug_places places = {session->options.debug_dirs};
	struct litifut_error error;
	struct post_image *image;

	if (post_image_open(path, &image, &error) != LITIFUT_OK) {
		post_problem(session->problems, &error);
		return NULL;
	}
	/* The device's file may be stripped, the one from the build tree is not. */
	for (size_t i = 0; i < session->inputs.image_count; i++) {
		struct post_candidate *other = &session->inputs.images[i];
		bool same = !strcmp(other->path, path);
		if (!same && post_build_id_is(other->build_id, other->build_id_bytes,
					      image->build_id, image->build_id_bytes)) {
			post_debug_file_add(image, other->path);
			same = true;
		}
		other->used |= same;
	}
	if (post_image_load(image, &places, &error) != LITIFUT_OK)
		post_problem(session->problems, &error);
	return image;
}

/* A file named like the module may be another build of it: then its addresses
 * would give wrong names, which is worse than none. */
static const struct post_candidate *choose(const struct post_session *session,
					   const struct post_module *module, uint32_t machine,
					   const struct post_candidate **other_build)
{
	const struct post_candidate *best = NULL;
	int best_score = 0;

	for (size_t i = 0; i < session->inputs.image_count; i++) {
		const struct post_candidate *candidate = &session->inputs.images[i];
		int score = 0;
		bool named = post_candidate_is_named(candidate, module->name);
		if (candidate->machine != machine)
			continue;
		if (post_build_id_is(candidate->build_id, candidate->build_id_bytes,
				     module->build_id, module->build_id_bytes))
			score = named ? 8 : 4; /* copies with other symbols share an id */
		else if (module->build_id_bytes && candidate->build_id_bytes) {
			if (named)
				*other_build = candidate;
			continue;
		} else if (named)
			score = 2;
		if (score && candidate->rewritten)
			score++;
		if (score && candidate->debug_only)
			score--;
		if (score > best_score) {
			best_score = score;
			best = candidate;
		}
	}
	return best;
}

static uint32_t add_module(struct post_session *session, const char *name, const uint8_t *build_id,
			   unsigned build_id_bytes)
{
	struct post_module module = {.name = post_copy_text(name),
				     .build_id_bytes = build_id_bytes};

	if (build_id_bytes)
		memcpy(module.build_id, build_id, build_id_bytes);
	POST_GROW(session->modules, session->module_count, session->module_capacity);
	session->modules[session->module_count++] = module;
	return (uint32_t)session->module_count - 1;
}

/* The path that a module has in the maps file of a process. */
static const char *path_in_maps(const struct post_process *process, const char *name)
{
	for (size_t i = 0; process->has_maps && i < process->maps.count; i++) {
		const struct post_map *map = &process->maps.items[i];
		if (map->path[0] == '/' && !strcmp(post_base_name(map->path), name))
			return map->path;
	}
	return NULL;
}

/* On a machine that is not the device the path may name quite another file, so
 * the machine must fit, and the build-id where there is one. *other_build: a traced file is there,
 * and that does not fit. */
static struct post_image *open_at_path(struct post_session *session, const char *path,
				       uint32_t machine, const struct post_module *module,
				       bool *other_build)
{
	char below[4096];
	struct post_image *image;

	for (unsigned with_root = 0; with_root < 2; with_root++) {
		const char *at = path;
		if (with_root == 0) {
			if (!session->options.sysroot ||
			    snprintf(below, sizeof(below), "%s%s", session->options.sysroot,
				     path) >= (int)sizeof(below))
				continue;
			at = below;
		} else if (!session->options.maps_paths) {
			continue;
		}
		struct litifut_error error;
		enum litifut_status status;

		if (access(at, R_OK))
			continue;
		status = post_image_open(at, &image, &error);
		/* An ELF file of another CPU, or another file, is not the one that is meant. */
		if (status == LITIFUT_ERROR_IO)
			post_problem(session->problems, &error);
		if (status)
			continue;
		bool right = image->cpu->machine == machine;
		if (module && module->build_id_bytes)
			right = right && post_build_id_is(image->build_id, image->build_id_bytes,
							  module->build_id, module->build_id_bytes);
		*other_build |= !right && image->rewritten && image->cpu->machine == machine;
		post_image_close(image);
		if (right)
			return open_and_load(session, at);
	}
	return NULL;
}

/* The only file with the name of the module has another build-id. */
static void report_other_build(struct post_session *session, const struct post_module *module,
			       const char *path, const char *trace)
{
	char traced[POST_BUILD_ID_TEXT], own[POST_BUILD_ID_TEXT];
	struct litifut_error error;
	struct post_image *image;

	if (post_image_open(path, &image, &error) != LITIFUT_OK)
		return;
	litifut_hex(module->build_id, module->build_id_bytes, traced);
	litifut_hex(image->build_id, image->build_id_bytes, own);
	post_image_close(image);
	post_problem_at(session->problems, path, LITIFUT_NO_ADDRESS,
			"another build of %s than the one that was traced (build-id %s in the "
			"trace, %s in the file: it was linked again, or with other settings), not "
			"used for %s",
			module->name, traced, *own ? own : "none", trace);
}

uint32_t post_modules_recorded(struct post_session *session, struct post_process *process,
			       const struct litifut_module_record *record)
{
	const struct post_candidate *other = NULL;
	const char *path = NULL;
	bool is_other = false;

	for (uint32_t i = 1; i < session->module_count; i++) {
		struct post_module *known = &session->modules[i];
		bool same =
			record->build_id_bytes
				? !strcmp(known->name, record->name) &&
					  post_build_id_is(known->build_id, known->build_id_bytes,
							   record->build_id, record->build_id_bytes)
				: !known->build_id_bytes && !strcmp(known->name, record->name);
		if (same) {
			known->traced = true;
			return i;
		}
	}
	uint32_t number = add_module(session, record->name[0] ? record->name : "?",
				     record->build_id, record->build_id_bytes);
	struct post_module *module = &session->modules[number];
	module->traced = true;
	const struct post_candidate *chosen = choose(session, module, process->machine, &other);
	if (chosen) {
		module->image = open_and_load(session, chosen->path);
	} else {
		path = path_in_maps(process, module->name);
		if (path)
			module->image =
				open_at_path(session, path, process->machine, module, &is_other);
	}
	if (other) /* to name it as another build says enough of it */
		session->inputs.images[other - session->inputs.images].used |= !module->image;
	if (!module->image && (other || is_other))
		report_other_build(session, module, other ? other->path : path,
				   process->trace->path);
	return number;
}

/* The load bias follows from the segment that was mapped there. Without the
 * file, the lowest mapping of it is taken as its address 0. */
static bool bias_of(const struct post_image *image, const struct post_map *map, uint32_t *bias)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct post_segment *segment = &image->segments[i];
		uint32_t inside = map->offset - (segment->offset & ~0xfffu);
		if (map->offset < (segment->offset & ~0xfffu) ||
		    inside > segment->file_bytes + 0xfffu || segment->executable != map->executable)
			continue;
		*bias = map->start - ((segment->address & ~0xfffu) + inside);
		return true;
	}
	return false;
}

static uint32_t module_of_path(struct post_session *session, struct post_process *process,
			       const char *path)
{
	const struct post_candidate *other = NULL;
	const char *name = post_base_name(path);
	bool ignored = false;

	for (size_t m = 0; m < process->mapping_count; m++) {
		uint32_t number = process->mappings[m].module;
		if (!strcmp(session->modules[number].name, name))
			return number;
	}
	struct post_module wanted = {.name = (char *)name};
	const struct post_candidate *chosen = choose(session, &wanted, process->machine, &other);
	struct post_image *image =
		chosen ? open_and_load(session, chosen->path)
		       : open_at_path(session, path, process->machine, NULL, &ignored);
	for (uint32_t i = 1; i < session->module_count; i++) {
		struct post_module *known = &session->modules[i];
		bool same =
			image ? post_build_id_is(known->build_id, known->build_id_bytes,
						 image->build_id, image->build_id_bytes) ||
					(known->image && !strcmp(known->image->path, image->path))
			      : !known->image && !strcmp(known->name, name);
		if (same) {
			post_image_close(image);
			return i;
		}
	}
	uint32_t number = add_module(session, name, image ? image->build_id : NULL,
				     image ? image->build_id_bytes : 0);
	session->modules[number].image = image;
	return number;
}

void post_modules_map(struct post_session *session, struct post_process *process)
{
	for (size_t i = 0; i < process->maps.count; i++) {
		const struct post_map *map = &process->maps.items[i];
		uint32_t lowest = map->start;
		if (!map->executable || !map->path[0])
			continue;
		for (size_t j = 0; j < i; j++) {
			const struct post_map *before = &process->maps.items[j];
			if (!strcmp(before->path, map->path) && !before->offset)
				lowest = before->start;
		}
		struct post_mapping mapping = {.start = map->start,
					       .end = map->end,
					       .bias = lowest,
					       .end_epoch = UINT32_MAX};
		mapping.module = module_of_path(session, process, map->path);
		/* What the module recorded of itself is as good and was written while
		 * it was loaded. */
		bool recorded = false;
		for (size_t m = 0; m < process->mapping_count; m++)
			recorded |= process->mappings[m].recorded &&
				    process->mappings[m].module == mapping.module;
		if (recorded)
			continue;
		struct post_image *image = session->modules[mapping.module].image;
		if (image && !bias_of(image, map, &mapping.bias)) {
			post_problem_at(session->problems, process->maps.path, map->start,
					"%s does not fit to what was loaded here", image->path);
			continue;
		}
		POST_GROW(process->mappings, process->mapping_count, process->mapping_capacity);
		process->mappings[process->mapping_count++] = mapping;
	}
}

const struct post_image *post_session_blocks(struct post_session *session, uint32_t module)
{
	const struct post_image *image = session->modules[module].image;

	if (image && image->block_count)
		return image;
	post_problem_at(session->problems, image ? image->path : session->modules[module].name,
			LITIFUT_NO_ADDRESS,
			"the file with the list of its branches is needed: give the one that the "
			"linker made");
	return NULL;
}

/* Is there another build of the module that was traced as well, and whose file is here? */
static bool was_linked_again(const struct post_session *session, const struct post_module *module)
{
	for (size_t i = 1; i < session->module_count; i++)
		if (session->modules[i].image && session->modules[i].traced &&
		    !strcmp(session->modules[i].name, module->name))
			return true;
	return false;
}

void post_session_conclude(struct post_session *session)
{
	for (size_t i = 1; i < session->module_count; i++) {
		const struct post_module *module = &session->modules[i];
		char hex[POST_BUILD_ID_TEXT] = "";
		if (!module->traced || (!module->unnamed_events && !module->no_callee))
			continue;
		if (module->image && module->no_callee && !module->image->has_site_list)
			post_problem_at(
				session->problems, module->image->path, LITIFUT_NO_ADDRESS,
				"has no list of call sites (.litifut.sites, or the file "
				"NAME" LITIFUT_SITES_SUFFIX
				" beside it): where its direct calls lead "
				"is not known and shown as ?; give the file as it was linked");
		if (module->image && module->unnamed_events && !module->image->has_symbol_table)
			post_problem_at(session->problems, module->image->path, LITIFUT_NO_ADDRESS,
					"has no symbol table (stripped): give the file as it was "
					"linked as well, or its debug file; if it was linked with "
					"-s, that is NAME" LITIFUT_NAMES_SUFFIX " beside it");
		if (module->image)
			continue;
		if (was_linked_again(session, module))
			post_problem_at(session->problems, module->name, LITIFUT_NO_ADDRESS,
					"traces of several builds of it are here, as each run adds "
					"one: remove those from before it was linked again");
		litifut_hex(module->build_id, module->build_id_bytes, hex);
		post_problem_at(
			session->problems, module->name, LITIFUT_NO_ADDRESS,
			"no ELF file with build-id %s was given: its functions are shown "
			"as %s+0xaddress%s",
			hex[0] ? hex : "(none)", module->name,
			module->returns_unknown
				? ", and its returns can't be distinguished from its calls: both "
				  "are counted as calls, and where they lead is not known"
			: module->no_callee ? ", and where its direct calls lead is not known"
					    : "");
	}
	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		if (!process->has_maps && !process->trace->bare)
			post_problem_at(session->problems, process->trace->path, LITIFUT_NO_ADDRESS,
					"no maps file for process %u: addresses outside of the "
					"traced modules have no name",
					process->trace->header.pid);
	}
}
