/* The call sites: each becomes a jump to a thunk, to a trampoline or to the tracer's stub. */
#include <elf.h>

#include "elf/sections.h"
#include "rewriter/apply.h"
#include "rewriter/counts.h"
#include "rewriter/trampolines.h"

static enum litifut_status add_to_db(struct litifut_apply *apply,
				     const struct litifut_found_site *site, uint32_t instruction,
				     struct litifut_error *error)
{
	uint8_t *record;

	if (!site->detour && !litifut_arch_needs_db(apply->session.arch, &apply->session.context,
						    &site->instruction))
		return LITIFUT_OK;
	if (apply->db_count == apply->db.capacity)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, apply->session.image.path,
					 LITIFUT_SECTION_DB, LITIFUT_NO_ADDRESS,
					 "room for %zu entries is not enough", apply->db.capacity);
	record = apply->db.section->bytes + sizeof(struct litifut_db_header) +
		 apply->db_count * sizeof(struct litifut_db_entry);
	elf_write_db_entry(apply->session.image.file.big_endian, record,
			   (struct litifut_db_entry){site->site.return_address, instruction});
	apply->db_count++;
	return LITIFUT_OK;
}

static void replace(struct litifut_apply *apply, const struct litifut_found_site *site,
		    uint32_t address, const uint8_t *code, unsigned length, uint32_t entry)
{
	litifut_changes_add(&apply->changes, address, code, length, entry,
			    site->instruction.thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN);
}

static enum litifut_status detour_site(struct litifut_apply *apply, struct litifut_found_site *site,
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
		return litifut_apply_no_room(apply, error);
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

static enum litifut_status patch_site(struct litifut_apply *apply, struct litifut_found_site *site,
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

/* Calls that are moved come first, so that their trampolines stand side by side: for unwinders
 * each one ends where the next one begins. */
enum litifut_status litifut_pass_patch_sites(struct litifut_apply *apply,
					     struct litifut_error *error)
{
	const struct litifut_site_list *sites = &apply->session.sites;
	enum litifut_status status = LITIFUT_OK;

	if (apply->session.edges)
		return LITIFUT_OK;
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

enum litifut_status litifut_pass_check_reach(struct litifut_apply *apply,
					     struct litifut_error *error)
{
	const struct litifut_site_list *sites = &apply->session.sites;
	size_t far = 0;

	for (size_t i = 0; i < sites->count; i++)
		far += sites->items[i].site.reason == LITIFUT_SITE_OUT_OF_REACH;
	/* No island would help an edge that litifut_edges_write() has left. */
	if (far && apply->options->all_in_reach && !apply->session.context.bits)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, apply->session.image.path,
					 ".text", LITIFUT_NO_ADDRESS, "%zu calls are out of reach",
					 far);
	return LITIFUT_OK;
}
