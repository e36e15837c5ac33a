/* Choosing the functions whose start makes room for an island. */
#include "rewriter/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/targets.h"

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

/* Every function that can be a host, ascending. */
static enum litifut_status find_candidates(const struct litifut_session *session,
					   const struct litifut_rewrite_options *options,
					   struct litifut_hosts *candidates,
					   struct litifut_error *error)
{
	const struct litifut_image *image = &session->image;
	const struct litifut_arch *arch = session->arch;
	struct litifut_targets targets = {0};
	enum litifut_status status =
		litifut_sites_targets(image, arch, &session->context, &targets, error);

	candidates->items = calloc(image->function_count + 1, sizeof(*candidates->items));
	if (!status && !candidates->items)
		status = litifut_error_set(error, LITIFUT_ERROR_IO, image->path, NULL,
					   LITIFUT_NO_ADDRESS, "out of memory");
	for (size_t i = 0; i < image->function_count && !status; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];
		const struct litifut_section *section = section_of(image, function);

		/* a second name of the same function */
		if (candidates->count &&
		    candidates->items[candidates->count - 1].address == function->address)
			continue;
		if (section && litifut_sites_may_change(image, options, function) &&
		    arch->can_host(&session->context, section, function->address, function->size,
				   &targets))
			candidates->items[candidates->count++] =
				(struct litifut_host){function->address, section};
	}
	litifut_targets_release(&targets);
	return status;
}

/* The highest candidate that the site reaches, or NULL. */
static const struct litifut_host *highest(const struct litifut_hosts *candidates, uint32_t address,
					  uint32_t reach)
{
	size_t low = 0;
	size_t high = candidates->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (candidates->items[middle].address < address ||
		    is_within(address, candidates->items[middle].address, reach))
			low = middle + 1;
		else
			high = middle;
	}
	return low && is_within(address, candidates->items[low - 1].address, reach)
		       ? &candidates->items[low - 1]
		       : NULL;
}

enum litifut_status litifut_hosts_choose(const struct litifut_session *session,
					 const struct litifut_rewrite_options *options,
					 struct litifut_hosts *hosts, struct litifut_error *error)
{
	struct litifut_hosts candidates = {0};
	const struct litifut_host *last = NULL;
	enum litifut_status status;

	memset(hosts, 0, sizeof(*hosts));
	if (!session->arch->can_host || !session->landings.gate || !any_needs_landing(session))
		return LITIFUT_OK;
	status = find_candidates(session, options, &candidates, error);
	hosts->items = calloc(candidates.count + 1, sizeof(*hosts->items));
	if (!status && !hosts->items)
		status = litifut_error_set(error, LITIFUT_ERROR_IO, session->image.path, NULL,
					   LITIFUT_NO_ADDRESS, "out of memory");
	for (size_t i = 0; i < session->sites.count && !status; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];
		uint32_t reach = session->arch->reach(&session->context, &site->instruction);

		if (reach == UINT32_MAX || reach <= ISLAND_SPAN || !needs_landing(session, site) ||
		    (last && is_within(site->site.address, last->address, reach)))
			continue;
		const struct litifut_host *host = highest(&candidates, site->site.address, reach);

		if (!host || host == last)
			continue;
		hosts->items[hosts->count++] = *host;
		last = host;
	}
	litifut_hosts_release(&candidates);
	if (status)
		litifut_hosts_release(hosts);
	return status;
}

void litifut_hosts_release(struct litifut_hosts *hosts)
{
	free(hosts->items);
	memset(hosts, 0, sizeof(*hosts));
}
