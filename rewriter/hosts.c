/* Choosing the functions whose start makes room for an island. */
#include "rewriter/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code_targets.h"

/* An island's entries lie within so many bytes of its host's start. */
#define ISLAND_SPAN 256

static bool is_within(uint32_t address, uint32_t host, uint32_t reach)
{
	uint32_t distance = address > host ? address - host : host - address;

	return distance < reach - ISLAND_SPAN;
}

/* For a site with a trampoline: it reaches the whole room beside the tracer, or an
 * island. */
static bool reaches_room(const struct litifut_session *session,
			 const struct litifut_found_site *site)
{
	const struct litifut_symbol *room =
		litifut_image_symbol(&session->image, LITIFUT_TRAMPOLINES);
	uint32_t reach = session->arch->reach(&session->context, &site->instruction);

	if (reach == UINT32_MAX)
		return true;
	if (room && is_within(site->site.address, room->address, reach) &&
	    is_within(site->site.address, room->address + room->size, reach))
		return true;
	for (size_t i = 0; i < session->landings.count; i++)
		if (i != session->landings.own &&
		    is_within(site->site.address, session->landings.items[i].entries[0], reach))
			return true;
	return false;
}

static bool needs_landing(const struct litifut_session *session,
			  const struct litifut_found_site *site)
{
	uint8_t code[4];

	if (site->site.reason != LITIFUT_SITE_PATCHED)
		return false;
	if (site->detour)
		return !reaches_room(session, site);
	return !litifut_landings_encode(&session->landings, session->arch, &session->context, site,
					session->arch->entry(&session->context, &site->instruction),
					code);
}

static bool any_needs_landing(const struct litifut_session *session)
{
	for (size_t i = 0; i < session->sites.count; i++)
		if (needs_landing(session, &session->sites.items[i]))
			return true;
	return false;
}

static const struct litifut_section *section_of(const struct litifut_image *image,
						const struct litifut_symbol *function)
{
	if (!function->section || function->section >= image->section_count)
		return NULL;
	const struct litifut_section *section = &image->sections[function->section];

	return litifut_sites_in(section) && function->address >= section->address &&
			       function->size <= section->size &&
			       function->address - section->address <=
				       section->size - function->size
		       ? section
		       : NULL;
}

/* A function that makes room. */
struct candidate {
	uint32_t address;
	bool suits[LITIFUT_HOST_PIECES];
	bool taken;
};

struct candidates {
	struct candidate *items; /* ascending */
	size_t count;
};

static bool suits_any(const struct candidate *candidate)
{
	bool any = false;

	for (size_t i = 0; i < LITIFUT_HOST_PIECES; i++)
		any |= candidate->suits[i];
	return any;
}

static enum litifut_status find_candidates(const struct litifut_session *session,
					   const struct litifut_rewrite_options *options,
					   struct candidates *candidates,
					   struct litifut_error *error)
{
	const struct litifut_image *image = &session->image;
	const struct litifut_arch *arch = session->arch;
	const struct litifut_targets *targets = &session->sites.targets;
	struct litifut_targets own_targets = {0};
	enum litifut_status status = LITIFUT_OK;

	if (!targets->bits) {
		targets = &own_targets;
		status =
			litifut_targets_of_all(image, arch, &session->context, &own_targets, error);
	}
	candidates->items = calloc(image->function_count + 1, sizeof(*candidates->items));
	if (!status && !candidates->items)
		status = litifut_error_set(error, LITIFUT_ERROR_IO, image->path, NULL,
					   LITIFUT_NO_ADDRESS, "out of memory");
	for (size_t i = 0; i < image->function_count && !status; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];
		const struct litifut_section *section = section_of(image, function);
		struct candidate candidate = {.address = function->address};

		/* a second name of the same function */
		if (candidates->count &&
		    candidates->items[candidates->count - 1].address == function->address)
			continue;
		if (!section || !litifut_sites_may_change(image, options, function))
			continue;
		for (size_t piece = 0; piece < arch->host_piece_count; piece++)
			candidate.suits[piece] = arch->can_host(
				&session->context, section, function->address, function->size,
				arch->host_pieces[piece].bytes, targets);
		candidates->items[candidates->count] = candidate;
		candidates->count += suits_any(&candidate);
	}
	litifut_targets_release(&own_targets);
	return status;
}

/* Index of the first candidate behind `address` and, if that is none, their number. */
static size_t first_behind(const struct candidates *candidates, uint32_t address)
{
	size_t low = 0;
	size_t high = candidates->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (candidates->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The highest candidate for a first piece that is free and within `reach` of a site,
 * or NULL. */
static struct candidate *highest(const struct candidates *candidates, uint32_t address,
				 uint32_t reach)
{
	for (size_t i = first_behind(candidates, address + reach); i > 0; i--) {
		struct candidate *candidate = &candidates->items[i - 1];

		if (candidate->address < address && !is_within(address, candidate->address, reach))
			break;
		if (!candidate->taken && candidate->suits[0] &&
		    is_within(address, candidate->address, reach))
			return candidate;
	}
	return NULL;
}

/* The free candidate for a piece that is nearest to `address`, or NULL. */
static struct candidate *nearest(const struct candidates *candidates, uint32_t address,
				 size_t piece)
{
	struct candidate *best = NULL;

	for (size_t i = 0; i < candidates->count; i++) {
		struct candidate *candidate = &candidates->items[i];

		if (!candidate->taken && candidate->suits[piece] &&
		    (!best ||
		     is_within(address, candidate->address,
			       best->address > address ? best->address - address + ISLAND_SPAN
						       : address - best->address + ISLAND_SPAN)))
			best = candidate;
	}
	return best;
}

/* The hosts of all pieces of an island around `first`, as far as there are thunks
 * and functions with room for them; each can reach the first and the
 * one before. */
static struct litifut_host take(const struct litifut_session *session,
				const struct candidates *candidates, struct candidate *first,
				uint32_t reach)
{
	struct litifut_host host = {{first->address}};
	size_t pieces = session->context.thunks ? session->arch->host_piece_count : 1;

	first->taken = true;
	for (size_t i = 1; i < pieces; i++) {
		struct candidate *next = nearest(candidates, first->address, i);

		if (!next || !is_within(host.pieces[i - 1], next->address, reach) ||
		    !is_within(first->address, next->address, reach))
			break;
		next->taken = true;
		host.pieces[i] = next->address;
	}
	return host;
}

enum litifut_status litifut_hosts_choose(const struct litifut_session *session,
					 const struct litifut_rewrite_options *options,
					 struct litifut_hosts *hosts, struct litifut_error *error)
{
	struct candidates candidates = {0};
	uint32_t last = 0;
	enum litifut_status status;

	memset(hosts, 0, sizeof(*hosts));
	if (!session->arch->host_piece_count || !session->landings.gate ||
	    !any_needs_landing(session))
		return LITIFUT_OK;
	status = find_candidates(session, options, &candidates, error);
	hosts->items = calloc(candidates.count + 1, sizeof(*hosts->items));
	if (!status && !hosts->items)
		status = litifut_error_set(error, LITIFUT_ERROR_IO, session->image.path, NULL,
					   LITIFUT_NO_ADDRESS, "out of memory");
	for (size_t i = 0; i < session->sites.count && !status; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];
		uint32_t address = site->site.address;
		uint32_t reach = session->arch->reach(&session->context, &site->instruction);
		/* So that the other pieces, which lie around the first, are in reach too. */
		uint32_t near = session->context.thunks ? reach / 4 * 3 : reach;

		if (reach == UINT32_MAX || near <= ISLAND_SPAN || !needs_landing(session, site) ||
		    (last && is_within(address, last, near)))
			continue;
		struct candidate *first = highest(&candidates, address, near);

		if (!first && !(last && is_within(address, last, reach)))
			first = highest(&candidates, address, reach);
		if (!first)
			continue;
		hosts->items[hosts->count++] = take(session, &candidates, first, reach);
		last = first->address;
	}
	free(candidates.items);
	if (status)
		litifut_hosts_release(hosts);
	return status;
}

size_t litifut_hosts_trampoline_bytes(const struct litifut_arch *arch)
{
	size_t bytes = 0;

	for (size_t i = 0; i < arch->host_piece_count; i++)
		bytes += arch->host_pieces[i].trampoline_bytes;
	return bytes;
}

void litifut_hosts_release(struct litifut_hosts *hosts)
{
	free(hosts->items);
	memset(hosts, 0, sizeof(*hosts));
}
