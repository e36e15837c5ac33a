/* Choosing the functions whose start makes room for an island. */
#include "rewriter/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code_targets.h"
#include "rewriter/program_code.h"

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
	const struct litifut_symbol *room = session->room;
	uint32_t reach = session->arch->cpu->reach(&session->context.cpu, &site->instruction);

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

bool litifut_hosts_is_far(const struct litifut_session *session,
			  const struct litifut_found_site *site)
{
	uint8_t code[4];

	if (site->site.reason != LITIFUT_SITE_PATCHED)
		return false;
	if (site->detour)
		return !reaches_room(session, site);
	return !litifut_landings_encode(
		&session->landings, session->arch, &session->context, site,
		litifut_arch_entry(session->arch, &session->context, &site->instruction), code);
}

/* Its number; or how many sites there are. */
static size_t first_far(const struct litifut_session *session)
{
	size_t i = 0;

	while (i < session->sites.count && !litifut_hosts_is_far(session, &session->sites.items[i]))
		i++;
	return i;
}

/* A function that may make room. Few of them are ever asked. */
struct candidate {
	uint32_t address;
	uint32_t function; /* number of it in the image's symbols */
	bool judged;
	bool suits[LITIFUT_HOST_PIECES];
	bool taken;
};

struct candidates {
	const struct litifut_session *session;
	const struct litifut_rewrite_options *options;
	const struct litifut_targets *targets;
	struct litifut_targets own_targets;
	struct candidate *items; /* ascending */
	size_t count;
};

static enum litifut_status find_candidates(struct candidates *candidates,
					   struct litifut_error *error)
{
	const struct litifut_session *session = candidates->session;
	const struct litifut_image *image = &session->image;
	enum litifut_status status = LITIFUT_OK;

	candidates->targets = &session->sites.targets;
	if (!candidates->targets->bits) {
		candidates->targets = &candidates->own_targets;
		status = litifut_targets_of_all(image, session->arch, &session->context,
						&candidates->own_targets, error);
	}
	candidates->items = calloc(image->function_count + 1, sizeof(*candidates->items));
	if (!status && !candidates->items)
		status = litifut_error_memory(error, image->path);
	for (size_t i = 0; i < image->function_count && !status; i++)
		candidates->items[candidates->count++] = (struct candidate){
			.address = image->function_addresses[i], .function = image->functions[i]};
	return status;
}

static bool suits(const struct candidates *candidates, struct candidate *candidate, size_t piece)
{
	const struct litifut_image *image = &candidates->session->image;
	const struct litifut_arch *arch = candidates->session->arch;
	const struct litifut_symbol *function = &image->symbols[candidate->function];
	const struct litifut_section *section;

	if (candidate->taken)
		return false;
	if (candidate->judged)
		return candidate->suits[piece];
	candidate->judged = true;
	section = litifut_sites_section_of(image, function);
	/* not a second name of the same function */
	if (!section ||
	    (candidate > candidates->items && candidate[-1].address == candidate->address) ||
	    !litifut_sites_may_change(image, candidates->options, function))
		return false;
	for (size_t i = 0; i < LITIFUT_ARCH_GET(arch, borrow, host_piece_count); i++)
		candidate->suits[i] = arch->borrow->can_host(
			&candidates->session->context, section, function->address, function->size,
			arch->borrow->host_pieces[i].bytes, candidates->targets);
	return candidate->suits[piece];
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
		if (is_within(address, candidate->address, reach) &&
		    suits(candidates, candidate, 0))
			return candidate;
	}
	return NULL;
}

/* The free candidate for a piece that is nearest to `address` and within `reach`, or
 * NULL; of two at the same distance the lower one. */
static struct candidate *nearest(const struct candidates *candidates, uint32_t address,
				 size_t piece, uint32_t reach)
{
	size_t above = first_behind(candidates, address);
	size_t below = above; /* and 1 */

	while (true) {
		struct candidate *low = below ? &candidates->items[below - 1] : NULL;
		struct candidate *high =
			above < candidates->count ? &candidates->items[above] : NULL;

		if (low && !is_within(address, low->address, reach))
			low = NULL;
		if (high && !is_within(address, high->address, reach))
			high = NULL;
		if (!low && !high)
			return NULL;
		if (low && (!high || address - low->address <= high->address - address)) {
			if (suits(candidates, low, piece))
				return low;
			below--;
		} else {
			if (suits(candidates, high, piece))
				return high;
			above++;
		}
	}
}

/* The hosts of all pieces of an island around `first`, as far as there are thunks
 * and functions with room for them; each can reach the first and the
 * one before. */
static struct litifut_host take(const struct litifut_session *session,
				const struct candidates *candidates, struct candidate *first,
				uint32_t reach)
{
	struct litifut_host host = {{first->address}};
	size_t pieces = session->context.thunks
				? LITIFUT_ARCH_GET(session->arch, borrow, host_piece_count)
				: 1;

	first->taken = true;
	for (size_t i = 1; i < pieces; i++) {
		struct candidate *next = nearest(candidates, first->address, i, reach);

		if (!next || !is_within(host.pieces[i - 1], next->address, reach))
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
	struct candidates candidates = {.session = session, .options = options};
	uint32_t last = 0;
	size_t first_site;
	enum litifut_status status;

	memset(hosts, 0, sizeof(*hosts));
	if (!LITIFUT_ARCH_GET(session->arch, borrow, host_piece_count) || !session->landings.gate)
		return LITIFUT_OK;
	first_site = first_far(session);
	if (first_site == session->sites.count)
		return LITIFUT_OK;
	status = find_candidates(&candidates, error);
	hosts->items = calloc(candidates.count + 1, sizeof(*hosts->items));
	if (!status && !hosts->items)
		status = litifut_error_memory(error, session->image.path);
	for (size_t i = first_site; i < session->sites.count && !status; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];
		uint32_t address = site->site.address;
		uint32_t reach =
			session->arch->cpu->reach(&session->context.cpu, &site->instruction);
		/* So that the other pieces, which lie around the first, are in reach too. */
		uint32_t near = session->context.thunks ? reach / 4 * 3 : reach;

		if (reach == UINT32_MAX || near <= ISLAND_SPAN ||
		    !litifut_hosts_is_far(session, site) ||
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
	litifut_targets_release(&candidates.own_targets);
	free(candidates.items);
	if (status)
		litifut_hosts_release(hosts);
	return status;
}

size_t litifut_hosts_trampoline_bytes(const struct litifut_arch *arch)
{
	size_t bytes = 0;

	for (size_t i = 0; i < LITIFUT_ARCH_GET(arch, borrow, host_piece_count); i++)
		bytes += arch->borrow->host_pieces[i].trampoline_bytes;
	return bytes;
}

void litifut_hosts_release(struct litifut_hosts *hosts)
{
	free(hosts->items);
	memset(hosts, 0, sizeof(*hosts));
}
