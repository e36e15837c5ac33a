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
	session->arch = litifut_arch_find(session->image.file.machine);
	if (!session->arch)
		status = litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, path, NULL, LITIFUT_NO_ADDRESS,
			"machine %u is not a CPU that can be traced", session->image.file.machine);
	else if (!session->arch->entry_count)
		status = litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, path, NULL, LITIFUT_NO_ADDRESS,
			"%s is traced when it is linked, by litifut-ld", session->arch->cpu->title);
	litifut_image_lock_code(&session->image);
	find_room(session, assumed);
	if (!status)
		status = examine(session, error);
	if (!status)
		litifut_spawners_find(&session->image, &session->arch->cpu->linkage,
				      &session->context.spawners);
	const bool units = options->mode == LITIFUT_MODE_UNITS;
	const bool bits = options->mode == LITIFUT_MODE_PATHS || units;
	const bool edges = options->mode == LITIFUT_MODE_COVERAGE || bits;

	if (!status && edges && !session->arch->edges)
		status = litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
					   LITIFUT_NO_ADDRESS,
					   "branches are not recorded on this CPU");
	if (!status && edges) {
		const char *why = litifut_throws_from_handlers(&session->image, session->arch,
							       &session->context);

		if (why)
			status = litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
						   LITIFUT_NO_ADDRESS,
						   "branches are not recorded: %s", why);
	}
	if (!status && bits) {
		const char *why = session->arch->edges->refuses_bits
					  ? session->arch->edges->refuses_bits(&session->image)
					  : "no such mode is there for this CPU";

		if (why)
			status = litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
						   LITIFUT_NO_ADDRESS,
						   "branches are not recorded in order: %s", why);
		session->context.bits = !status;
		session->context.units = !status && units;
	}
	session->context.edges = edges;
	session->context.system = true;
	session->context.counts = options->mode == LITIFUT_MODE_COUNTS;
	if (!status && (options->mode == LITIFUT_MODE_COVERAGE || session->context.counts)) {
		const char *why = litifut_libc_lacks_constructors(&session->image);

		if (why)
			status = litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
						   LITIFUT_NO_ADDRESS,
						   "what is executed is not recorded: %s", why);
	}
	if (!status && options->engine == LITIFUT_ENGINE_THUNK && !edges)
		session->thunks_refused = why_no_thunks(session, options);
	session->context.thunks = !status && options->engine == LITIFUT_ENGINE_THUNK &&
				  !session->thunks_refused && !edges;
	if (session->context.thunks && !session->context.counts &&
	    (options->clock != LITIFUT_CLOCK_CYCLE ||
	     LITIFUT_ARCH_GET(session->arch, thunks, has_counter)))
		session->context.clock = options->clock;
	session->context.returns =
		session->context.thunks && session->arch->returns &&
		(options->mode == LITIFUT_MODE_SPANS || options->mode == LITIFUT_MODE_TABLE);
	if (session->context.returns)
		session->returns_refused = litifut_throws_from_handlers(
			&session->image, session->arch, &session->context);
	session->context.returns = session->context.returns && !session->returns_refused;
	session->context.table = session->context.returns && options->mode == LITIFUT_MODE_TABLE;
	session->context.names =
		session->context.counts || (session->context.thunks && !options->exact);
	if (!status && session->context.counts)
		litifut_counts_find(session);
	session->context.symbols = options->arguments && options->arguments->count && !edges &&
				   options->mode != LITIFUT_MODE_TABLE && !session->context.counts;
	if (!status)
		status = litifut_downward_find(&session->image, session->arch, &session->context,
					       options, error);
	if (!status)
		status = edges ? litifut_edges_find(session, options, error)
			       : litifut_sites_find(&session->image, session->arch,
						    &session->context, options, &session->sites,
						    error);
	if (!status && !edges)
		status = leave_exclusive(session, error);
	session->arguments.mark_every = options->mark_every;
	if (!status && session->context.symbols)
		status = litifut_site_arguments_find(session, options, error);
	session->context.own_room = !status &&
				    LITIFUT_ARCH_GET(session->arch, thunks, function_facts) &&
				    wants_own_room(session);
	if (!status && session->context.returns)
		status = litifut_exits_find(session, error);
	if (!status)
		session->context.tables =
			litifut_relays_tables(session->arch, session->context.grain,
					      session->is_unmeasured ? LITIFUT_ROOM_UNMEASURED
					      : session->room        ? session->room->size
								     : 0);
	if (!status)
		status = litifut_landings_find(&session->image, session->arch, &session->context,
					       &session->landings, error);
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
