/* The second half of the rewriter: patch the calls, fill the room that was
 * reserved, verify, and only then write to the file. Longer than 500 lines,
 * because it is the list of these steps, each of which uses the session that
 * the steps before it have filled. */
#include "rewriter/changes.h"
#include "rewriter/counts.h"
#include "rewriter/database.h"
#include "rewriter/edges.h"
#include "rewriter/exits.h"
#include "rewriter/hosts.h"
#include "rewriter/libc.h"
#include "rewriter/module.h"
#include "rewriter/program_code.h"
#include "rewriter/save.h"
#include "rewriter/session.h"
#include "rewriter/site_arguments.h"
#include "rewriter/sites_file.h"
#include "rewriter/trampolines.h"
#include "rewriter/unwind.h"
#include "rewriter/verify.h"

#include <elf.h>
#include <litifut/module_format.h>
#include <litifut/trace_format.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "elf/sections.h"

/* A section in which the rewriter leaves a table: header, then `count` records. */
struct table {
	const struct litifut_section *section;
	size_t capacity;
};

/* What the start of a host becomes. It is written when all calls have been judged by the
 * code that is there now. */
struct hosted {
	uint32_t address;
	uint32_t bytes;
	uint8_t code[128];
};

struct apply {
	struct litifut_session session;
	const struct litifut_rewrite_options *options;
	struct litifut_rewrite_summary *summary;
	struct litifut_changes changes; /* of code */
	struct table db;
	struct table sites;           /* no capacity: the list goes to the end of the file */
	uint8_t *module;              /* struct litifut_module in the image */
	struct litifut_module record; /* the same as read and filled, in the host's byte order */
	uint32_t module_address;
	uint32_t entry; /* the new entry point; 0: the old one stays */
	size_t db_count;
	struct litifut_rooms rooms;
	struct litifut_frames frames;
	struct litifut_thunks *thunks; /* NULL: the other engine */
	struct litifut_unwind unwind;
	const struct litifut_section *unwind_section; /* changed for it; NULL: none */
	struct hosted *hosted;
	size_t hosted_count;
	struct litifut_relays relays; /* the same in the middle of functions */
	uint8_t *blocks;              /* the contents of .litifut.blocks; NULL: there are none */
	size_t blocks_bytes;
};

static uint8_t *bytes_at(const struct apply *apply, uint32_t address, uint32_t size)
{
	const struct litifut_section *section =
		litifut_image_section_at(&apply->session.image, address, size);

	return section ? section->bytes + (address - section->address) : NULL;
}

/* The same, but of no code, as that can't be written to. */
static uint8_t *data_at(const struct apply *apply, uint32_t address, uint32_t size)
{
	const struct litifut_section *section =
		litifut_image_section_at(&apply->session.image, address, size);

	return section && !(section->flags & SHF_EXECINSTR) ? bytes_at(apply, address, size) : NULL;
}

static enum litifut_status find_table(const struct apply *apply, const char *name,
				      uint32_t header_bytes, uint32_t record_bytes,
				      struct table *table, struct litifut_error *error)
{
	table->section = litifut_image_section(&apply->session.image, name);
	if (!table->section || !table->section->bytes || table->section->size < header_bytes ||
	    table->section->flags & SHF_EXECINSTR)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, apply->session.image.path,
					 name, LITIFUT_NO_ADDRESS,
					 "no room was reserved at link time");
	table->capacity = (table->section->size - header_bytes) / record_bytes;
	return LITIFUT_OK;
}

static enum litifut_status find_module(struct apply *apply, struct litifut_error *error)
{
	const struct litifut_image *image = &apply->session.image;
	const struct litifut_symbol *symbol = litifut_image_symbol(image, "litifut_module");

	if (symbol) {
		apply->module_address = symbol->address;
		apply->module = data_at(apply, symbol->address, sizeof(struct litifut_module));
	}
	if (!apply->module)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, image->path,
					 LITIFUT_SECTION_MODULE, LITIFUT_NO_ADDRESS,
					 "the tracer is not linked in (no litifut_module)");
	const struct elf_contents contents = {image->path, apply->module,
					      sizeof(struct litifut_module), image->big_endian};

	if (elf_read_module(&contents, &apply->record, NULL) ||
	    apply->record.version != LITIFUT_MODULE_VERSION_WORD)
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path,
					 LITIFUT_SECTION_MODULE, symbol->address,
					 "the tracer is of another version than this rewriter");
	if (apply->record.flags & LITIFUT_MODULE_ACTIVE)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path,
					 LITIFUT_SECTION_MODULE, symbol->address,
					 "is rewritten already");
	return LITIFUT_OK;
}

/* Addresses in a trace are distinguished from its other words by their size. */
static enum litifut_status refuse_low_code(const struct litifut_image *image,
					   struct litifut_error *error)
{
	for (size_t i = 1; i < image->section_count && image->type == ET_EXEC; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (section->flags & SHF_EXECINSTR && section->flags & SHF_ALLOC && section->size &&
		    section->address < LITIFUT_WORD_FIRST_ADDRESS)
			return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL,
						 section->name, section->address,
						 "code below 0x%x can't be traced",
						 LITIFUT_WORD_FIRST_ADDRESS);
	}
	return LITIFUT_OK;
}

/* A static program with thunks begins in the tracer's code. */
static enum litifut_status find_entry(struct apply *apply, struct litifut_error *error)
{
	const struct litifut_image *image = &apply->session.image;
	const struct litifut_symbol *symbol = litifut_image_symbol(image, "litifut_entry");

	if ((!apply->session.context.thunks && !apply->session.context.bits &&
	     !apply->session.context.counts) ||
	    !litifut_libc_is_static_glibc(image))
		return LITIFUT_OK;
	if (!symbol)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, image->path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "the tracer is not linked in (no litifut_entry)");
	apply->entry = symbol->address | symbol->thumb;
	return LITIFUT_OK;
}

static enum litifut_status add_to_db(struct apply *apply, const struct litifut_found_site *site,
				     uint32_t instruction, struct litifut_error *error)
{
	uint8_t *record = apply->db.section->bytes + sizeof(struct litifut_db_header) +
			  apply->db_count * sizeof(struct litifut_db_entry);

	if (!site->detour && !litifut_arch_needs_db(apply->session.arch, &apply->session.context,
						    &site->instruction))
		return LITIFUT_OK;
	if (apply->db_count == apply->db.capacity)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, apply->session.image.path,
					 LITIFUT_SECTION_DB, LITIFUT_NO_ADDRESS,
					 "room for %zu entries is not enough", apply->db.capacity);
	elf_write_db_entry(apply->session.image.big_endian, record,
			   (struct litifut_db_entry){site->site.return_address, instruction});
	apply->db_count++;
	return LITIFUT_OK;
}

static void replace(struct apply *apply, const struct litifut_found_site *site, uint32_t address,
		    const uint8_t *code, unsigned length, uint32_t entry)
{
	litifut_changes_add(&apply->changes, address, code, length, entry,
			    site->instruction.thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN);
}

static enum litifut_status no_room(const struct apply *apply, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_SPACE, apply->session.image.path, ".text",
				 LITIFUT_NO_ADDRESS, "room for trampolines is not enough");
}

static enum litifut_status detour_site(struct apply *apply, struct litifut_found_site *site,
				       struct litifut_error *error)
{
	struct litifut_detour detour;
	bool full;
	const struct litifut_places places = {
		.rooms = &apply->rooms,
		.thunks = apply->thunks,
		.relays = LITIFUT_ARCH_GET(apply->session.arch, borrow, find_runs) ? &apply->relays
										   : NULL};
	uint32_t address = litifut_trampoline_add(&places, &apply->session, site, &detour, &full);

	if (full || !apply->rooms.count)
		return no_room(apply, error);
	if (!address) {
		site->site.reason = LITIFUT_SITE_OUT_OF_REACH;
		return LITIFUT_OK;
	}
	if (detour.stone_bytes) {
		replace(apply, site, detour.address, detour.code, detour.length, detour.stone + 4);
		replace(apply, site, detour.stone, detour.stone_code, 4, detour.stone_trampoline);
		replace(apply, site, detour.stone + 4, detour.stone_code + 4,
			detour.stone_bytes - 4, address);
	} else {
		replace(apply, site, detour.address, detour.code, detour.length,
			detour.entry ? detour.entry : address);
	}
	for (unsigned i = 0; i < 2; i++)
		if (detour.frames[i].bytes) {
			litifut_frames_add(&apply->frames, &detour.frames[i]);
			litifut_unwind_note(&apply->unwind, &detour.frames[i]);
		}
	if (detour.return_address)
		site->site.return_address = detour.return_address;
	if (detour.thunk)
		litifut_counts_note(&apply->session, site);
	if (detour.thunk && !LITIFUT_ARCH_GET(apply->session.arch, thunks, thunks_need_db))
		return LITIFUT_OK;
	return add_to_db(apply, site,
			 detour.instruction ? detour.instruction : site->site.instruction, error);
}

static enum litifut_status patch_site(struct apply *apply, struct litifut_found_site *site,
				      struct litifut_error *error)
{
	uint8_t code[4];
	uint32_t entry;

	if (site->detour)
		return detour_site(apply, site, error);
	if (apply->thunks) {
		bool full;

		entry = litifut_thunks_encode(apply->thunks, site, code, &full);
		/* Full: the DB takes the rest, as long as it can. */
		if (entry && !full) {
			replace(apply, site, site->site.address, code, site->instruction.length,
				entry);
			litifut_counts_note(&apply->session, site);
			return LITIFUT_OK;
		}
	}
	entry = litifut_landings_encode(
		&apply->session.landings, apply->session.arch, &apply->session.context, site,
		litifut_arch_entry(apply->session.arch, &apply->session.context,
				   &site->instruction),
		code);
	if (!entry) {
		site->site.reason = LITIFUT_SITE_OUT_OF_REACH;
		return LITIFUT_OK;
	}
	replace(apply, site, site->site.address, code, site->instruction.length, entry);
	return add_to_db(apply, site, site->site.instruction, error);
}

/* Calls that are moved come first, so that their trampolines stand side by side, each
 * the end of the one before to unwinders. */
static enum litifut_status patch_sites(struct apply *apply, struct litifut_error *error)
{
	const struct litifut_site_list *sites = &apply->session.sites;
	enum litifut_status status = LITIFUT_OK;

	for (unsigned pass = LITIFUT_ARCH_GET(apply->session.arch, frames, unwind) ? 0 : 1;
	     pass < 2; pass++)
		for (size_t i = 0; i < sites->count && !status; i++) {
			struct litifut_found_site *site = &sites->items[i];
			bool first = LITIFUT_ARCH_GET(apply->session.arch, frames, unwind) &&
				     site->detour && !litifut_site_is_tail(&site->site);

			if (site->site.reason == LITIFUT_SITE_PATCHED && first == !pass)
				status = patch_site(apply, site, error);
		}
	return status;
}

/* Where new code is placed. */
static enum litifut_status open_places(struct apply *apply, struct litifut_error *error)
{
	struct litifut_image *image = &apply->session.image;
	const struct litifut_landings *landings = &apply->session.landings;
	const struct litifut_symbol *own = apply->session.room;
	enum litifut_status status = LITIFUT_OK;

	if (own && own->size && litifut_image_section_at(image, own->address, own->size))
		status = litifut_changes_add_place(&apply->changes, image, own->address, own->size,
						   error);
	for (size_t i = 0; i < landings->count && !status; i++) {
		const struct litifut_symbol *island = landings->items[i].island;

		if (island)
			status = litifut_changes_add_place(&apply->changes, image, island->address,
							   island->size, error);
	}
	return status;
}

/* Thunks that read a clock, or count, take the place of those that come with the tracer. */
static enum litifut_status write_shared(struct apply *apply, struct litifut_error *error)
{
	struct litifut_landings *landings = &apply->session.landings;
	const struct litifut_arch *arch = apply->session.arch;
	uint32_t *entries = landings->items[landings->own].entries;
	struct litifut_room *room = &apply->rooms.items[apply->rooms.own];
	uint32_t address;
	uint8_t *code;

	if ((!apply->session.context.clock && !apply->session.context.counts) ||
	    !apply->session.context.thunks || !LITIFUT_ARCH_GET(arch, thunks, write_shared))
		return LITIFUT_OK;
	code = litifut_rooms_take(&apply->rooms,
				  (uint32_t)LITIFUT_ARCH_GET(arch, thunks, shared_bytes), &address);
	if (!code)
		return no_room(apply, error);
	arch->thunks->write_shared(&apply->session.context, address, entries, code, &apply->frames);
	memcpy(room->entries, entries, sizeof(room->entries));
	/* islands lead to them by the gate */
	arch->detour->write_gate(&apply->session.context, room->address, entries, room->bytes);
	return LITIFUT_OK;
}

static void describe_gates(struct apply *apply)
{
	for (size_t i = 0; i < apply->rooms.count; i++) {
		const struct litifut_frame_code gate = {
			.start = apply->rooms.items[i].address,
			.bytes =
				(uint32_t)LITIFUT_ARCH_GET(apply->session.arch, detour, gate_bytes),
			.steps = {apply->session.arch->detour->gate_step},
			.step_count = apply->session.arch->detour->gate_step.at != 0};

		litifut_frames_add(&apply->frames, &gate);
	}
}

static enum litifut_status fill_host(struct apply *apply, const struct litifut_host *host,
				     struct litifut_error *error)
{
	const struct litifut_arch *arch = apply->session.arch;
	struct litifut_landings *landings = &apply->session.landings;
	uint32_t entries[LITIFUT_ENTRIES_MAX];
	enum litifut_status status = LITIFUT_OK;

	for (size_t piece = 0; piece < LITIFUT_ARCH_GET(arch, borrow, host_piece_count) &&
			       host->pieces[piece] && !status;
	     piece++) {
		const struct litifut_host_piece *sizes = &arch->borrow->host_pieces[piece];
		struct hosted *hosted = &apply->hosted[apply->hosted_count++];
		uint32_t trampoline;
		uint8_t *moved = litifut_rooms_take(&apply->rooms,
						    (uint32_t)sizes->trampoline_bytes, &trampoline);

		if (!moved)
			return no_room(apply, error);
		hosted->address = host->pieces[piece];
		hosted->bytes = (uint32_t)sizes->bytes;
		memcpy(hosted->code, bytes_at(apply, hosted->address, hosted->bytes),
		       hosted->bytes);
		arch->borrow->write_host(&apply->session.context, piece, hosted->address,
					 trampoline, landings->items[landings->own].entries,
					 hosted->code, moved, entries);
		/* the others may be out of reach of what reaches this one */
		if (!piece && host->pieces[1])
			status = litifut_landings_add_hosted(landings, entries, true, error);
	}
	if (!status)
		status = litifut_landings_add_hosted(landings, entries, false, error);
	return status;
}

/* Chooses functions whose start is moved away, where sites reach neither the tracer nor
 * an island. */
static enum litifut_status fill_hosts(struct apply *apply, struct litifut_error *error)
{
	struct litifut_hosts hosts;
	enum litifut_status status =
		litifut_hosts_choose(&apply->session, apply->options, &hosts, error);

	apply->hosted = calloc(LITIFUT_HOST_PIECES * hosts.count + 1, sizeof(*apply->hosted));
	if (!status && !apply->hosted)
		status = litifut_error_set(error, LITIFUT_ERROR_IO, apply->session.image.path, NULL,
					   LITIFUT_NO_ADDRESS, "out of memory");
	for (size_t i = 0; i < hosts.count && !status; i++)
		status = fill_host(apply, &hosts.items[i], error);
	if (!status)
		status =
			litifut_relays_create(&apply->session, apply->options, &hosts,
					      &apply->rooms, &apply->frames, &apply->relays, error);
	if (!status && LITIFUT_ARCH_GET(apply->session.arch, borrow, find_runs))
		status = litifut_relays_serve(&apply->relays, error);
	litifut_hosts_release(&hosts);
	return status;
}

static void write_hosts(struct apply *apply)
{
	for (size_t i = 0; i < apply->hosted_count; i++) {
		const struct hosted *hosted = &apply->hosted[i];

		litifut_changes_add(&apply->changes, hosted->address, hosted->code, hosted->bytes,
				    0, LITIFUT_CODE_PLAIN);
	}
	for (size_t i = 0; i < apply->relays.count; i++) {
		const struct litifut_relay_code *relay = &apply->relays.items[i];

		litifut_changes_add(
			&apply->changes, relay->address, relay->code,
			(uint32_t)LITIFUT_ARCH_GET(apply->session.arch, borrow, relay_bytes), 0,
			LITIFUT_CODE_PLAIN);
	}
}

static enum litifut_status fill_islands(struct apply *apply, struct litifut_error *error)
{
	const struct litifut_landings *landings = &apply->session.landings;
	const uint32_t *own = landings->items[landings->own].entries;

	for (size_t i = 0; i < landings->count; i++) {
		const struct litifut_symbol *island = landings->items[i].island;
		uint32_t entries[LITIFUT_ENTRIES_MAX];

		if (!island)
			continue;
		if (LITIFUT_ARCH_GET(apply->session.arch, borrow, host_piece_count) &&
		    apply->rooms.own == apply->rooms.count)
			return no_room(apply, error); /* they lead to the gate */
		apply->session.arch->write_island(&apply->session.context, island->address, own,
						  bytes_at(apply, island->address, island->size),
						  entries);
	}
	return LITIFUT_OK;
}

static void count_sites(struct apply *apply)
{
	struct litifut_rewrite_summary *summary = apply->summary;

	summary->sites = apply->session.sites.count;
	summary->excludes_unused =
		litifut_sites_unnamed(&apply->session.image, apply->options->asked_excludes);
	summary->includes_unused =
		litifut_sites_unnamed(&apply->session.image, apply->options->include_functions);
	summary->argument_crowded = apply->session.arguments.crowded;
	for (size_t i = 0; apply->options->arguments && i < apply->options->arguments->count &&
			   i < 32 && !summary->argument_unused;
	     i++)
		if (apply->session.context.symbols && !(apply->session.arguments.used >> i & 1))
			summary->argument_unused = apply->options->arguments->items[i].glob;
	for (size_t i = 0; i < summary->sites; i++) {
		summary->left[apply->session.sites.items[i].site.reason & 31]++;
		litifut_exits_count(summary, &apply->session.sites.items[i].site);
	}
	summary->patched = summary->left[LITIFUT_SITE_PATCHED];
	summary->left[LITIFUT_SITE_PATCHED] = 0;
	summary->db_bytes = apply->db.section->size;
	summary->db_used = apply->db_count * sizeof(struct litifut_db_entry);
	for (size_t i = 0; i < apply->rooms.count; i++) {
		summary->room_bytes += apply->rooms.items[i].size;
		summary->room_used += apply->rooms.items[i].used;
	}
}

static enum litifut_status check_reach(const struct apply *apply, struct litifut_error *error)
{
	const struct litifut_site_list *sites = &apply->session.sites;
	size_t far = 0;

	for (size_t i = 0; i < sites->count; i++)
		far += sites->items[i].site.reason == LITIFUT_SITE_OUT_OF_REACH;
	/* those of litifut_edges_write() no island would help */
	if (far && apply->options->all_in_reach && !apply->session.context.bits)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, apply->session.image.path,
					 ".text", LITIFUT_NO_ADDRESS, "%zu calls are out of reach",
					 far);
	return LITIFUT_OK;
}

/* Nothing of it reaches the file before save(). */
static enum litifut_status rewrite(struct apply *apply, struct litifut_error *error)
{
	struct litifut_site_list *sites = &apply->session.sites;
	size_t changes = apply->session.landings.count + 1; /* islands, and what is beside us */
	enum litifut_status status = find_module(apply, error);

	if (!status)
		status = refuse_low_code(&apply->session.image, error);
	if (!status)
		status = find_entry(apply, error);
	if (!status)
		status = find_table(apply, LITIFUT_SECTION_DB, sizeof(struct litifut_db_header),
				    sizeof(struct litifut_db_entry), &apply->db, error);
	if (!status && apply->session.context.counts)
		status = litifut_counts_check(&apply->session, error);
	if (!status)
		status = find_table(apply, LITIFUT_SECTION_SITES,
				    sizeof(struct litifut_sites_header),
				    sizeof(struct litifut_site), &apply->sites, error);
	if (status)
		return status;
	for (size_t i = 0; i < sites->count; i++)
		changes += sites->items[i].stone_bytes ? 3 : 1;
	if (!litifut_changes_reserve(&apply->changes, changes))
		return litifut_error_set(error, LITIFUT_ERROR_IO, apply->session.image.path, NULL,
					 LITIFUT_NO_ADDRESS, "out of memory");
	status = open_places(apply, error);
	if (!status)
		status = litifut_rooms_find(&apply->session.image, apply->session.arch,
					    &apply->session.context, &apply->session.landings,
					    &apply->rooms, error);
	litifut_frames_find(
		&apply->frames, &apply->session.image,
		apply->session.arch->frames ? &apply->session.arch->frames->frame_registers : NULL);
	litifut_frames_add_named(&apply->frames, &apply->session.image,
				 LITIFUT_ARCH_GET(apply->session.arch, frames, named_frames));
	apply->rooms.frames = &apply->frames;
	if (!status)
		describe_gates(apply);
	if (!status)
		status = write_shared(apply, error);
	if (!status && apply->session.context.thunks) {
		apply->thunks =
			litifut_thunks_create(&apply->session, &apply->rooms, &apply->frames);
		if (!apply->thunks)
			status = litifut_error_set(error, LITIFUT_ERROR_IO,
						   apply->session.image.path, NULL,
						   LITIFUT_NO_ADDRESS, "out of memory");
	}
	if (!status && apply->session.edges)
		status = litifut_edges_write(&apply->session, apply->options, &apply->rooms,
					     &apply->frames, &apply->changes, error);
	if (!status && !apply->session.edges)
		status = fill_hosts(apply, error);
	if (!status && !apply->session.edges)
		status = patch_sites(apply, error);
	if (!status)
		status = litifut_exits_write(&apply->session, &apply->rooms, &apply->frames,
					     &apply->unwind, &apply->changes, error);
	if (!status)
		status = check_reach(apply, error);
	if (!status)
		status = litifut_database_finish(&apply->session.image, apply->db.section->bytes,
						 apply->db_count, apply->db.capacity, error);
	if (!status)
		status = litifut_site_arguments_write(
			&apply->session, apply->options,
			apply->db.section->bytes + sizeof(struct litifut_db_header) +
				apply->db_count * sizeof(struct litifut_db_entry),
			apply->db.capacity - apply->db_count, error);
	if (!status)
		status = fill_islands(apply, error);
	if (status)
		return status;
	litifut_counts_note_db(&apply->session,
			       apply->db.section->bytes + sizeof(struct litifut_db_header),
			       apply->db_count);
	write_hosts(apply);
	/* An empty list stays where the linker has put it. */
	elf_write_sites_header(apply->session.image.big_endian, apply->sites.section->bytes, 0);
	litifut_frames_end(&apply->frames);
	apply->unwind_section = litifut_unwind_write(&apply->unwind, &apply->session);
	count_sites(apply);
	const struct litifut_module_facts facts = {
		.address = apply->module_address,
		.engine = apply->thunks || apply->session.context.bits ? LITIFUT_ENGINE_THUNK
								       : LITIFUT_ENGINE_DB,
		.clock = apply->session.context.clock,
		.mode = apply->session.context.bits      ? LITIFUT_MODE_PATHS
			: apply->session.edges           ? LITIFUT_MODE_COVERAGE
			: apply->session.context.counts  ? LITIFUT_MODE_COUNTS
			: apply->session.context.table   ? LITIFUT_MODE_TABLE
			: apply->session.context.returns ? LITIFUT_MODE_SPANS
							 : LITIFUT_MODE_CALLS,
		.flags = apply->session.context.counts ||
					 (apply->session.edges && !apply->session.context.bits)
				 ? litifut_image_symbol(&apply->session.image, LITIFUT_FLAGS_SYMBOL)
				 : NULL,
		.exits_start = apply->session.exits.start,
		.exits_end = apply->session.exits.end,
		.db_address = apply->db.section->address,
		.db_count = (uint32_t)apply->db_count,
		.sites = (uint32_t)apply->summary->sites,
		.patched = (uint32_t)apply->summary->patched,
		.entry = apply->entry ? apply->session.image.entry : 0,
		.register_atfork =
			apply->entry ? litifut_libc_register_atfork(&apply->session.image) : 0,
		.spawners = &apply->session.context.spawners,
		.arguments = litifut_site_arguments_entries(&apply->session) != 0,
	};

	status = litifut_module_fill(&apply->session.image, apply->options, &facts, &apply->record,
				     error);
	if (status)
		return status;
	elf_write_module(apply->session.image.big_endian, apply->module, &apply->record);
	status = litifut_changes_sort(&apply->changes, &apply->session.image, error);
	if (!status)
		status = litifut_verify(&apply->session, &apply->changes, error);
	if (!status && apply->session.edges) {
		apply->blocks =
			litifut_edges_table(&apply->session, &apply->changes, &apply->blocks_bytes);
		if (!apply->blocks)
			status = litifut_error_set(error, LITIFUT_ERROR_IO,
						   apply->session.image.path, NULL,
						   LITIFUT_NO_ADDRESS, "out of memory");
	}
	return status;
}

static enum litifut_status save(const struct apply *apply, struct litifut_error *error)
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
	};

	return litifut_save(&apply->session.image, &saved, error);
}

enum litifut_status litifut_rewrite_apply(const char *path,
					  const struct litifut_rewrite_options *options,
					  struct litifut_rewrite_summary *summary,
					  struct litifut_error *error)
{
	struct apply apply = {.options = options, .summary = summary};
	enum litifut_status status = litifut_session_open(path, options, &apply.session, error);

	memset(summary, 0, sizeof(*summary));
	if (status)
		return status;
	summary->thunks_refused = apply.session.thunks_refused;
	status = rewrite(&apply, error);
	if (!status)
		status = save(&apply, error);
	litifut_thunks_release(apply.thunks);
	litifut_rooms_release(&apply.rooms);
	free(apply.hosted);
	litifut_relays_release(&apply.relays);
	litifut_changes_release(&apply.changes);
	litifut_unwind_release(&apply.unwind);
	free(apply.blocks);
	litifut_session_close(&apply.session);
	return status;
}
