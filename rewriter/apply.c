/* The second half of the rewriter: patch the calls, fill the room that was
 * reserved, verify, and only then write to the file. */
#include "rewriter/apply.h"

#include <litifut/trace_format.h>
#include <stdlib.h>
#include <string.h>

#include "elf/sections.h"
#include "rewriter/counts.h"
#include "rewriter/database.h"
#include "rewriter/edges.h"
#include "rewriter/eh_frame.h"
#include "rewriter/exits.h"
#include "rewriter/identity.h"
#include "rewriter/libc.h"
#include "rewriter/module.h"
#include "rewriter/program_code.h"
#include "rewriter/save.h"
#include "rewriter/site_arguments.h"
#include "rewriter/sites_file.h"
#include "rewriter/verify.h"

static enum litifut_status create_thunks(struct litifut_apply *apply, struct litifut_error *error)
{
	if (!apply->session.context.thunks)
		return LITIFUT_OK;
	apply->thunks = litifut_thunks_create(&apply->session, &apply->rooms, &apply->frames);
	return apply->thunks ? LITIFUT_OK : litifut_error_memory(error, apply->session.image.path);
}

static enum litifut_status write_edges(struct litifut_apply *apply, struct litifut_error *error)
{
	return apply->session.edges
		       ? litifut_edges_write(&apply->session, apply->options, &apply->rooms,
					     &apply->frames, &apply->changes, error)
		       : LITIFUT_OK;
}

static enum litifut_status write_exits(struct litifut_apply *apply, struct litifut_error *error)
{
	return litifut_exits_write(&apply->session, &apply->rooms, &apply->frames, &apply->unwind,
				   &apply->changes, error);
}

/* The entries of calls, and behind them those of LITIFUT_ARGS. */
static enum litifut_status finish_database(struct litifut_apply *apply, struct litifut_error *error)
{
	uint8_t *entries = apply->db.section->bytes + sizeof(struct litifut_db_header);
	enum litifut_status status =
		litifut_database_finish(&apply->session.image, apply->db.section->bytes,
					apply->db_count, apply->db.capacity, error);

	if (!status)
		status = litifut_site_arguments_write(
			&apply->session, apply->options,
			entries + apply->db_count * sizeof(struct litifut_db_entry),
			apply->db.capacity - apply->db_count, error);
	if (!status)
		litifut_counts_note_db(&apply->session, entries, apply->db_count);
	return status;
}

static enum litifut_status finish_frames(struct litifut_apply *apply, struct litifut_error *error)
{
	(void)error;
	litifut_frames_end(&apply->frames);
	apply->unwind_section =
		apply->frames.keeps ? litifut_eh_frame_write(&apply->frames, &apply->session.image,
							     apply->session.room)
				    : litifut_unwind_write(&apply->unwind, &apply->session);
	return LITIFUT_OK;
}

static void note_unused(const struct litifut_image *image, const char *glob,
			struct litifut_asked *asked)
{
	const size_t number = asked->arguments_unused_count++;

	asked->arguments_unused[number] = glob;
	litifut_nearest_function(image, (const char *[]){glob, NULL},
				 asked->arguments_nearest[number]);
}

static void judge_arguments(const struct litifut_session *session,
			    const struct litifut_argument_specs *specs, struct litifut_asked *asked)
{
	const struct litifut_argument_sets *sets = &session->arguments;

	for (size_t i = 0;
	     specs && session->context.symbols && i < specs->count && i < LITIFUT_SPECS_JUDGED;
	     i++) {
		const struct litifut_argument_spec *spec = &specs->items[i];

		if (!(sets->used >> i & 1))
			note_unused(&session->image, spec->glob, asked);
		if (spec->all && sets->used >> i & 1 && !(sets->known >> i & 1) &&
		    !asked->argument_unknown)
			asked->argument_unknown = spec->glob;
	}
}

/* Does an item ask for returned values by `r', and not only by `*'? */
static bool asks_for_values(const struct litifut_argument_specs *specs)
{
	for (size_t i = 0; specs && i < specs->count; i++)
		for (size_t f = 0; f < LITIFUT_ARGUMENT_FIELDS && specs->items[i].fields[f]; f++)
			if (LITIFUT_ARGUMENT_NUMBER(specs->items[i].fields[f]) ==
			    LITIFUT_ARGUMENT_RETURN)
				return true;
	return false;
}

static enum litifut_status count_sites(struct litifut_apply *apply, struct litifut_error *error)
{
	struct litifut_rewrite_summary *summary = apply->summary;
	struct litifut_asked *asked = &summary->asked;
	const bool values_asked = asks_for_values(apply->options->arguments);

	(void)error;
	summary->sites = apply->session.sites.count;
	litifut_judge_names(&apply->session.image, apply->options, asked);
	asked->argument_crowded = apply->session.arguments.crowded;
	asked->argument_left = apply->session.arguments.left;
	judge_arguments(&apply->session, apply->options->arguments, asked);
	for (size_t i = 0; i < summary->sites; i++) {
		const struct litifut_found_site *site = &apply->session.sites.items[i];

		summary->left[site->site.reason & 31]++;
		litifut_exits_count(summary, &site->site);
		if (litifut_site_is_timed(&apply->session, apply->options, site)) {
			asked->timed++;
			asked->untimed += !site->site.exit;
		}
		if (values_asked && litifut_site_is_for_value(&apply->session, site)) {
			asked->results++;
			asked->results_left += !site->site.exit;
		}
	}
	summary->patched = summary->left[LITIFUT_SITE_PATCHED];
	summary->left[LITIFUT_SITE_PATCHED] = 0;
	summary->db_bytes = apply->db.section->size;
	summary->db_used = apply->db_count * sizeof(struct litifut_db_entry);
	for (size_t i = 0; i < apply->rooms.count; i++) {
		summary->room_bytes += apply->rooms.items[i].size;
		summary->room_used += apply->rooms.items[i].used;
	}
	return LITIFUT_OK;
}

/* The mode that the image has really got: the db engine takes the place of some. */
static uint32_t resulting_mode(const struct litifut_arch_context *context, bool has_edges)
{
	if (context->bits)
		return context->units ? LITIFUT_MODE_UNITS : LITIFUT_MODE_PATHS;
	if (has_edges)
		return LITIFUT_MODE_COVERAGE;
	if (context->counts)
		return LITIFUT_MODE_COUNTS;
	if (context->table)
		return LITIFUT_MODE_TABLE;
	return context->returns ? LITIFUT_MODE_SPANS : LITIFUT_MODE_CALLS;
}

static enum litifut_status fill_module(struct litifut_apply *apply, struct litifut_error *error)
{
	const struct litifut_session *session = &apply->session;
	const bool has_flags =
		session->context.counts || (session->edges && !session->context.bits);
	const struct litifut_module_facts facts = {
		.address = apply->module_address,
		.engine = apply->thunks || session->context.bits ? LITIFUT_ENGINE_THUNK
								 : LITIFUT_ENGINE_DB,
		.clock = session->context.clock,
		.mode = resulting_mode(&session->context, session->edges != NULL),
		.flags = has_flags ? litifut_image_symbol(&session->image, LITIFUT_FLAGS_SYMBOL)
				   : NULL,
		.exits_start = session->exits.start,
		.exits_end = session->exits.end,
		.trampolines_start = session->exits.trampolines_start,
		.db_address = apply->db.section->address,
		.db_count = (uint32_t)apply->db_count,
		.sites = (uint32_t)apply->summary->sites,
		.patched = (uint32_t)apply->summary->patched,
		.entry = apply->entry ? session->image.file.entry : 0,
		.register_atfork = apply->entry ? litifut_libc_register_atfork(&session->image) : 0,
		.spawners = &session->context.spawners,
		.arguments = litifut_site_arguments_entries(session) != 0,
	};
	enum litifut_status status =
		litifut_module_fill(&session->image, apply->options, &facts, &apply->record, error);

	if (status)
		return status;
	elf_write_module(session->image.file.big_endian, apply->module, &apply->record);
	/* An empty list of sites stays where the linker has put it. */
	elf_write_sites_header(session->image.file.big_endian, apply->sites.section->bytes, 0);
	return LITIFUT_OK;
}

static enum litifut_status verify(struct litifut_apply *apply, struct litifut_error *error)
{
	enum litifut_status status =
		litifut_changes_sort(&apply->changes, &apply->session.image, error);

	return status ? status : litifut_verify(&apply->session, &apply->changes, error);
}

static enum litifut_status list_blocks(struct litifut_apply *apply, struct litifut_error *error)
{
	if (!apply->session.edges)
		return LITIFUT_OK;
	apply->blocks = litifut_edges_table(&apply->session, &apply->changes, &apply->blocks_bytes);
	return apply->blocks ? LITIFUT_OK : litifut_error_memory(error, apply->session.image.path);
}

static enum litifut_status renew_build_id(struct litifut_apply *apply, struct litifut_error *error)
{
	const struct litifut_identity_facts facts = {
		.db = apply->db.section,
		.sites = &apply->session.sites,
		.blocks = apply->blocks,
		.blocks_bytes = apply->blocks_bytes,
	};
	enum litifut_status status =
		litifut_identity_mix(&apply->session.image, &facts, apply->options->keeps_build_id,
				     &apply->record, &apply->build_id, error);

	if (!status)
		elf_write_module(apply->session.image.file.big_endian, apply->module,
				 &apply->record);
	return status;
}

static enum litifut_status save(struct litifut_apply *apply, struct litifut_error *error)
{
	const uint8_t *const changed[] = {apply->module, apply->frames.bytes};
	const struct litifut_section *const sections[] = {apply->db.section, apply->sites.section,
							  apply->unwind_section};
	const struct litifut_saved saved = {
		.sections = sections,
		.section_count = sizeof(sections) / sizeof(*sections),
		.changed = changed,
		.changed_count = sizeof(changed) / sizeof(*changed),
		.code = &apply->changes,
		.entry = apply->entry,
		.sites = {.list = &apply->session.sites,
			  .build_id = apply->record.build_id,
			  .build_id_bytes = apply->record.build_id_bytes},
		.sites_file = apply->options->sites_file,
		.blocks = apply->blocks,
		.blocks_bytes = apply->blocks_bytes,
		.build_id = apply->build_id.bytes,
		.build_id_bytes = apply->build_id.size,
	};

	return litifut_save(&apply->session.image, &saved, error);
}

static const struct pass {
	const char *name; /* for LITIFUT_VERBOSE */
	litifut_pass *run;
	bool measures; /* it takes room, or finds it */
} passes[] = {
	{"find the tracer's module record", litifut_pass_find_module, false},
	{"refuse code at low addresses", litifut_pass_refuse_low_code, false},
	{"find the entry point", litifut_pass_find_entry, false},
	{"find the reserved tables", litifut_pass_find_tables, true},
	{"open the rooms for new code", litifut_pass_open_rooms, true},
	{"write the shared thunks", litifut_pass_write_shared, true},
	{"prepare thunks", create_thunks, true},
	{"patch branches", write_edges, true},
	{"move the starts of hosts", litifut_pass_fill_hosts, true},
	{"patch call sites", litifut_pass_patch_sites, true},
	{"patch return points", write_exits, true},
	{"check the reach", litifut_pass_check_reach, false},
	{"sort the instruction database", finish_database, false},
	{"write islands", litifut_pass_fill_islands, false},
	{"write hosts and relays", litifut_pass_write_hosts, false},
	{"describe frames", finish_frames, false},
	{"count sites", count_sites, false},
	{"fill the module record", fill_module, false},
	{"verify", verify, false},
	{"list blocks", list_blocks, false},
	{"renew the build-id", renew_build_id, false},
	{"save", save, false},
};

enum litifut_status litifut_apply_run(struct litifut_apply *apply, struct litifut_error *error)
{
	const struct litifut_rewrite_options *options = apply->options;
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 0; i < sizeof(passes) / sizeof(*passes) && !status; i++) {
		if (apply->measures && !passes[i].measures)
			continue;
		if (options->pass_begins && !apply->measures)
			options->pass_begins(options->listener, passes[i].name);
		status = passes[i].run(apply, error);
	}
	return status;
}

void litifut_apply_release(struct litifut_apply *apply)
{
	litifut_thunks_release(apply->thunks);
	litifut_rooms_release(&apply->rooms);
	free(apply->hosted);
	litifut_relays_release(&apply->relays);
	litifut_changes_release(&apply->changes);
	litifut_unwind_release(&apply->unwind);
	litifut_frames_release(&apply->frames);
	free(apply->blocks);
	free(apply->build_id.bytes);
	free(apply->measured_db.bytes);
	litifut_session_close(&apply->session);
}

enum litifut_status litifut_rewrite_apply(const char *path,
					  const struct litifut_rewrite_options *options,
					  struct litifut_rewrite_summary *summary,
					  struct litifut_error *error)
{
	struct litifut_apply apply = {.options = options, .summary = summary};
	enum litifut_status status =
		litifut_session_open(path, options, NULL, &apply.session, error);

	memset(summary, 0, sizeof(*summary));
	if (status)
		return status;
	summary->thunks_refused = apply.session.thunks_refused;
	summary->returns_refused = apply.session.returns_refused;
	status = litifut_apply_run(&apply, error);
	litifut_apply_release(&apply);
	return status;
}
