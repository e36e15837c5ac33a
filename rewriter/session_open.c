/* Opening a session, from which measuring and patching both start. */
#include "rewriter/session.h"
#include "rewriter/site_arguments.h"

#include <elf.h>
#include <litifut/module_format.h>
#include <litifut/trace_format.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/counts.h"
#include "rewriter/downward.h"
#include "rewriter/edges_find.h"
#include "rewriter/exclusive_calls.h"
#include "rewriter/exits.h"
#include "rewriter/fault_throws.h"
#include "rewriter/libc.h"
#include "rewriter/relays.h"

/* Are there many calls whose callers have no room for thunks? Few of them are worth no
 * more instructions in those of all others. */
static bool wants_own_room(const struct litifut_session *session)
{
	size_t calls = 0;
	size_t without = 0;

	for (size_t i = 0; i < session->sites.count && session->context.thunks; i++) {
		const struct litifut_found_site *site = &session->sites.items[i];

		if (site->site.reason != LITIFUT_SITE_PATCHED || litifut_site_is_tail(&site->site))
			continue;
		calls++;
		without += !site->argument_room;
	}
	return without > calls / 16;
}

static enum litifut_status examine(struct litifut_session *session, struct litifut_error *error)
{
	if (session->arch->examine)
		return session->arch->examine(&session->image, &session->context, error);
	session->context.cpu.big_endian = session->image.file.big_endian;
	session->context.cpu.position_independent = session->image.file.type == ET_DYN;
	return LITIFUT_OK;
}

/* Thunks that record nothing but calls, and read no clock, run on more CPUs than the others. */
static const char *why_no_thunks(const struct litifut_session *session,
				 const struct litifut_rewrite_options *options)
{
	const struct litifut_arch_thunks *thunks = session->arch->thunks;
	const bool plain =
		options->mode == LITIFUT_MODE_CALLS && options->clock == LITIFUT_CLOCK_NONE;
	const char *why = NULL;

	if (!thunks)
		return "there are no thunks for this CPU";
	if (!plain && thunks->refuses_counters)
		why = thunks->refuses_counters(&session->image);
	if (!why && !session->context.counts)
		why = thunks->refuses_thunks(&session->image);
	return why;
}

static void find_room(struct litifut_session *session, const uint32_t *assumed)
{
	const struct litifut_symbol *room =
		litifut_image_symbol(&session->image, LITIFUT_TRAMPOLINES);

	if (!room)
		return;
	/* A copy, because the list of symbols moves when code without symbols gets some. */
	session->room_copy = *room;
	session->room = &session->room_copy;
	session->is_unmeasured = assumed && *assumed == LITIFUT_ROOM_UNMEASURED;
	if (assumed && !session->is_unmeasured)
		session->room_copy.size = *assumed;
}

/* Those between an exclusive load and its store. */
static enum litifut_status leave_exclusive(struct litifut_session *session,
					   struct litifut_error *error)
{
	uint8_t *functions = calloc(session->image.symbol_count + 1, 1);
	enum litifut_status status =
		functions ? litifut_exclusive_mark(&session->image, session->arch,
						   &session->context, &session->sites,
						   session->context.returns, functions, error)
			  : litifut_error_memory(error, session->image.path);

	free(functions);
	return status;
}

static enum litifut_status refuse(const struct litifut_session *session, const char *what,
				  const char *why, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, session->image.path, NULL,
				 LITIFUT_NO_ADDRESS, "%s%s%s", what, why ? ": " : "",
				 why ? why : "");
}

static enum litifut_status find_arch(struct litifut_session *session, struct litifut_error *error)
{
	const char *path = session->image.path;

	session->arch = litifut_arch_find(session->image.file.machine);
	if (!session->arch)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, path, NULL, LITIFUT_NO_ADDRESS,
			"machine %u is not a CPU that can be traced", session->image.file.machine);
	if (!session->arch->entry_count)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, path, NULL, LITIFUT_NO_ADDRESS,
			"%s is traced when it is linked, by litifut-ld", session->arch->cpu->title);
	return LITIFUT_OK;
}

/* Modes that record branches, and what else of the image they can't be with. */
static enum litifut_status choose_edges(struct litifut_session *session,
					const struct litifut_rewrite_options *options,
					struct litifut_error *error)
{
	struct litifut_arch_context *context = &session->context;
	const struct litifut_arch_edges *arch = session->arch->edges;
	const bool units = options->mode == LITIFUT_MODE_UNITS;
	const bool bits = options->mode == LITIFUT_MODE_PATHS || units;
	const char *why;

	context->edges = options->mode == LITIFUT_MODE_COVERAGE || bits;
	if (!context->edges)
		return LITIFUT_OK;
	if (!arch)
		return refuse(session, "branches are not recorded on this CPU", NULL, error);
	why = litifut_throws_from_handlers(&session->image, session->arch, context);
	if (why)
		return refuse(session, "branches are not recorded", why, error);
	if (!bits)
		return LITIFUT_OK;
	why = arch->refuses_bits ? arch->refuses_bits(&session->image)
				 : "no such mode is there for this CPU";
	if (why)
		return refuse(session, "branches are not recorded in order", why, error);
	context->bits = true;
	context->units = units;
	return LITIFUT_OK;
}

/* Flags and counts are written when the process ends, which needs a libc that calls destructors. */
static enum litifut_status choose_counts(struct litifut_session *session,
					 const struct litifut_rewrite_options *options,
					 struct litifut_error *error)
{
	const char *why;

	session->context.counts = options->mode == LITIFUT_MODE_COUNTS;
	if (options->mode != LITIFUT_MODE_COVERAGE && !session->context.counts)
		return LITIFUT_OK;
	why = litifut_libc_lacks_constructors(&session->image);
	return why ? refuse(session, "what is executed is not recorded", why, error) : LITIFUT_OK;
}

/* The engine, and what its thunks do. */
static void choose_thunks(struct litifut_session *session,
			  const struct litifut_rewrite_options *options)
{
	struct litifut_arch_context *context = &session->context;
	const bool asked = options->engine == LITIFUT_ENGINE_THUNK && !context->edges;

	if (asked)
		session->thunks_refused = why_no_thunks(session, options);
	context->thunks = asked && !session->thunks_refused;
	if (context->thunks && !context->counts &&
	    (options->clock != LITIFUT_CLOCK_CYCLE ||
	     LITIFUT_ARCH_GET(session->arch, thunks, has_counter)))
		context->clock = options->clock;
	context->returns =
		context->thunks && session->arch->returns &&
		(options->mode == LITIFUT_MODE_SPANS || options->mode == LITIFUT_MODE_TABLE);
	if (context->returns)
		session->returns_refused =
			litifut_throws_from_handlers(&session->image, session->arch, context);
	context->returns = context->returns && !session->returns_refused;
	context->table = context->returns && options->mode == LITIFUT_MODE_TABLE;
	context->names = context->counts || (context->thunks && !options->exact);
	context->symbols = options->arguments && options->arguments->count && !context->edges &&
			   options->mode != LITIFUT_MODE_TABLE && !context->counts;
}

/* All that is recorded in the image. */
static enum litifut_status find_all(struct litifut_session *session,
				    const struct litifut_rewrite_options *options,
				    struct litifut_error *error)
{
	struct litifut_arch_context *context = &session->context;
	enum litifut_status status;

	if (context->counts)
		litifut_counts_find(session);
	status = litifut_downward_find(&session->image, session->arch, context, options, error);
	if (!status)
		status = context->edges
				 ? litifut_edges_find(session, options, error)
				 : litifut_sites_find(&session->image, session->arch, context,
						      options, &session->sites, error);
	if (!status && !context->edges)
		status = leave_exclusive(session, error);
	session->arguments.mark_every = options->mark_every;
	if (!status && context->symbols)
		status = litifut_site_arguments_find(session, options, error);
	if (status)
		return status;
	context->own_room =
		LITIFUT_ARCH_GET(session->arch, thunks, function_facts) && wants_own_room(session);
	if (context->returns)
		status = litifut_exits_find(session, error);
	if (status)
		return status;
	context->tables = litifut_relays_tables(session->arch, context->grain,
						session->is_unmeasured ? LITIFUT_ROOM_UNMEASURED
						: session->room        ? session->room->size
								       : 0);
	return litifut_landings_find(&session->image, session->arch, context, &session->landings,
				     error);
}

enum litifut_status litifut_session_open(const char *path,
					 const struct litifut_rewrite_options *options,
					 const uint32_t *assumed, struct litifut_session *session,
					 struct litifut_error *error)
{
	enum litifut_status status;

	memset(session, 0, sizeof(*session));
	status = litifut_image_open(path, &session->image, error);
	if (status)
		return status;
	session->image.glibc_users = options->glibc_users;
	session->image.links_glibc = options->links_glibc;
	session->image.is_newer = options->is_newer;
	status = find_arch(session, error);
	litifut_image_lock_code(&session->image);
	find_room(session, assumed);
	if (!status)
		status = examine(session, error);
	if (!status) {
		litifut_spawners_find(&session->image, &session->arch->cpu->linkage,
				      &session->context.spawners);
		status = choose_edges(session, options, error);
	}
	session->context.system = true;
	if (!status)
		status = choose_counts(session, options, error);
	if (!status) {
		choose_thunks(session, options);
		status = find_all(session, options, error);
	}
	if (status)
		litifut_session_close(session);
	return status;
}

void litifut_session_close(struct litifut_session *session)
{
	litifut_landings_release(&session->landings);
	litifut_exits_release(&session->exits);
	litifut_edges_release(session->edges);
	free(session->left);
	free(session->dead);
	free(session->entered);
	litifut_targets_release(&session->far);
	litifut_sites_release(&session->sites);
	free(session->arguments.items);
	litifut_image_close(&session->image);
	free(session->context.cpu.facts);
}
