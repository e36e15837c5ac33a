/* The room for what the rewriter adds is reserved by a guess, and one link is
 * mostly enough. If it was too little, or code is out of reach of the tracer
 * and islands must be put between, the link is repeated with what was measured
 * in the first one. Each time the whole command is run again, with other objects
 * of the tracer, as only the linker can place the user's. Longer than 500
 * lines, because each step uses what the steps before have left in one state. */
#include "ldwrap/link.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/base_version.h"
#include "ldwrap/chosen_files.h"
#include "ldwrap/command.h"
#include "ldwrap/deliver.h"
#include "ldwrap/estimate.h"
#include "ldwrap/growth.h"
#include "ldwrap/objects.h"
#include "ldwrap/process.h"
#include "ldwrap/run_linker.h"
#include "ldwrap/script.h"
#include "ldwrap/shared.h"
#include "ldwrap/strip.h"
#include "litifut/module_format.h"
#include "litifut/trace_format.h"
#include "rewriter/arch.h"
#include "rewriter/rewriter.h"

/* Our own; profiling hooks get lr in a form of their own. Start-up files are
 * traced as all else: the tracer runs before a program is relocated as well. */
static const char *const default_objects[] = {"litifut-tracer.o", "litifut-recorder.o",
					      "litifut-database.o", "litifut-island-*.o"};
static const char *const default_functions[] = {"__gnu_mcount*", "_mcount", "mcount", "__mcount*"};

/* Room for trampolines, guessed for link-time optimisation, that is left as it is: so many bytes
 * too much, or so many times what is needed. */
#define GUESS_SPARE_BYTES (64 << 10)
#define GUESS_SPARE_TIMES 6

struct link_state {
	const struct link_request *request;
	const struct litifut_arch *arch;
	struct litifut_rewrite_options options;
	struct litifut_rewrite_plan plan;
	struct chosen_files chosen;
	struct text_list excluded_functions;
	struct text_list roots;
	struct text_list glibc_users;
	struct exports exports;
	bool newer; /* of struct estimate_result; false where it is not known before the first link
		     */
	bool optimised; /* the same */
	bool wants_map;
	char *tracer_source; /* the object that `tracer` is a copy of */
	char *recorder_source;
	const char *tracer; /* the tracer's objects; owned by the scratch module */
	const char *recorder;
	const char *database;
	const char **islands;
	size_t *island_items; /* the item before which each goes */
	size_t island_count;
	const char *script;      /* that places the islands; NULL: the linker's own */
	bool islands_are_placed; /* if any: what is still out of reach stays so */
	struct link_files files;
	struct link_outcome outcome;
};

/* Does a word begin with one of these, behind its dashes? */
static bool has_word(const struct arguments *arguments, const char *const *names, size_t count)
{
	for (int i = 1; i < arguments->word_count; i++) {
		const char *word = arguments->words[i];

		if (*word != '-')
			continue;
		word += strspn(word, "-");
		for (size_t j = 0; j < count; j++)
			if (!strncmp(word, names[j], strlen(names[j])))
				return true;
	}
	return false;
}

static bool is_position_independent(const struct arguments *arguments)
{
	static const char *const words[] = {"pie", "pic-executable"};

	return arguments_last(arguments, ARGUMENT_SHARED) ||
	       has_word(arguments, words, sizeof(words) / sizeof(words[0]));
}

/* A program at a place of the linker's own choice. */
static bool is_placed_by_linker(const struct arguments *arguments)
{
	static const char *const others[] = {"Ttext", "section-start"};

	return !is_position_independent(arguments) &&
	       !has_word(arguments, others, sizeof(others) / sizeof(others[0]));
}

/* gold has ARM programs at 0x8000, where traces can't tell code from their other words. */
static void lift_low_code(struct link_state *state)
{
	char *word;

	if (!state->arch->cpu->objects->gold_is_low ||
	    !state->request->linker->kind->low_programs ||
	    !is_placed_by_linker(state->request->arguments))
		return;
	word = xasprintf("-Ttext-segment=0x%x", LITIFUT_WORD_FIRST_ADDRESS);
	text_list_append(&state->exports.words, word);
	free(word);
}

/* Relocations are to be kept, also those of the table by which ARM code is unwound. */
static void keep_unwind_entries(struct link_state *state)
{
	const char *word = state->request->linker->kind->relocations_word;

	if (word && LITIFUT_ARCH_GET(state->arch, frames, unwind) &&
	    arguments_last(state->request->arguments, ARGUMENT_EMIT_RELOCS))
		text_list_append(&state->exports.words, word);
}

/* What only one kind of linker cannot do. */
static enum litifut_status mind_the_linker(struct link_state *state, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	if (state->arch->cpu->objects->absolute_unwind_table &&
	    state->request->linker->kind->refuses_unwind_table) {
		status = object_drop_unwind_table(state->tracer, error);
		if (!status)
			status = object_drop_unwind_table(state->recorder, error);
	}
	return status;
}

static enum litifut_status prepare_tracer(struct link_state *state, struct litifut_error *error)
{
	const struct link_request *request = state->request;
	const char *architecture = decision_architecture(&request->decision->target);
	const char *newer = state->newer ? state->arch->cpu->objects->newer_tracer : NULL;
	const bool paths = request->settings->recorded == LITIFUT_MODE_PATHS ||
			   request->settings->recorded == LITIFUT_MODE_UNITS;
	const bool counts = request->settings->recorded == LITIFUT_MODE_COUNTS;
	const bool full = request->settings->recorded == LITIFUT_MODE_TABLE ||
			  request->settings->recorded == LITIFUT_MODE_COVERAGE || paths || counts;
	const bool arguments = request->settings->argument_specs.count != 0;
	enum litifut_status status;

	state->tracer_source =
		concat(request->object_folder,
		       paths    ? "/tracer-paths-"
		       : counts ? "/tracer-counts-"
				: "/tracer-",
		       newer && !paths && !counts ? newer : architecture, ".o", NULL);
	state->recorder_source =
		request->settings->recorder
			? xstrdup(request->settings->recorder)
			: concat(request->object_folder,
				 full                            ? "/recorder-full-"
				 : request->settings->mark_every ? "/recorder-marks-"
				 : arguments                     ? "/recorder-args-"
								 : "/recorder-",
				 newer ? newer : architecture, ".o", NULL);
	state->tracer = scratch_file("litifut-tracer.o");
	state->recorder = scratch_file("litifut-recorder.o");
	state->database = scratch_file("litifut-database.o");
	say_verbose(state->request, "tracer %s, recorder %s", state->tracer_source,
		    state->recorder_source);
	if (access(state->tracer_source, F_OK) && errno == ENOENT)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, state->tracer_source, NULL,
					 LITIFUT_NO_ADDRESS,
					 "no tracer for this CPU is installed (the package "
					 "litifut-tracer-%s has it, or a build of LITIFUT "
					 "without CPUS=)",
					 architecture);
	status = litifut_rewrite_adapt_tracer(&request->decision->target, state->tracer_source,
					      state->tracer, error);
	if (!status)
		status = litifut_rewrite_adapt_tracer(
			&request->decision->target, state->recorder_source, state->recorder, error);
	if (!status)
		status = object_defined_symbols(state->tracer, &state->roots, error);
	if (!status)
		status = mind_the_linker(state, error);
	return status;
}

static int compare_insertions(const void *left, const void *right)
{
	const struct insertion *a = left;
	const struct insertion *b = right;

	return a->before < b->before ? -1 : a->before > b->before;
}

static void add_islands(struct link_state *state, size_t count)
{
	size_t total = state->island_count + count;

	state->islands = xrealloc(state->islands, (total + 1) * sizeof(*state->islands));
	state->island_items =
		xrealloc(state->island_items, (total + 1) * sizeof(*state->island_items));
	for (size_t i = state->island_count; i < total; i++) {
		char *name = xasprintf("litifut-island-%zu.o", i);

		state->islands[i] = scratch_file(name);
		state->island_items[i] = command_tracer_place(state->request->arguments);
		free(name);
	}
	state->island_count = total;
}

static bool records_branches(const struct link_state *state)
{
	const enum litifut_mode mode = state->request->settings->recorded;

	return mode == LITIFUT_MODE_COVERAGE || mode == LITIFUT_MODE_PATHS ||
	       mode == LITIFUT_MODE_UNITS;
}

/* Islands by a script that orders all code, if the linker takes one; those that
 * there are stay else. */
static bool place_by_script(struct link_state *state)
{
	const struct link_request *request = state->request;
	/* the code for branches, in the database object, is to be near the program's */
	const char *const objects[] = {state->recorder, state->tracer, state->database, NULL};
	struct island_layout layout = {
		.first = records_branches(state) ? objects : objects + 1,
		.map = &state->chosen.map,
		.interval = state->arch->sizes->island_interval,
		.reach = state->arch->sizes->reach,
		/* behind so much code for branches the tracer may be out of reach */
		.since = records_branches(state) ? state->arch->sizes->island_interval / 2 : 0,
	};

	size_t before = state->island_count;
	size_t wanted = script_island_count(&state->chosen.map, layout.interval);
	const char *script = scratch_file("script");

	if (wanted > before)
		add_islands(state, wanted - before);
	layout.islands = state->islands;
	layout.island_count = wanted;
	wanted = script_write(script, &layout, request->arguments, request->linker);
	state->island_count = wanted ? wanted : before;
	if (wanted)
		state->script = script;
	return wanted != 0;
}

/* Where the islands that state->plan still needs go: by a script, else between
 * the inputs on the command line, as near to the places of the plan as can be. */
static void place_islands(struct link_state *state)
{
	const struct arguments *arguments = state->request->arguments;
	size_t first;

	if (!state->plan.island_count || !state->plan.island_bytes)
		return;
	if (!state->chosen.map.count) {
		/* Only a map shows what lies where. */
		state->wants_map = true;
		return;
	}
	state->islands_are_placed = true;
	if (place_by_script(state))
		return;
	first = state->island_count;
	add_islands(state, state->plan.island_count);
	for (size_t i = 0; i < state->plan.island_count; i++)
		state->island_items[first + i] = command_place_near(arguments, &state->chosen.map,
								    state->plan.island_places[i]);
}

/* Where the code and the trampolines together are longer than a branch reaches either way, most of
 * them are far from each other. */
static size_t return_bytes(const struct link_state *state, uint64_t text)
{
	const uint8_t *usual = state->arch->returns->exit_bytes_usual;
	const size_t more = state->request->settings->recorded == LITIFUT_MODE_PATHS
				    ? state->arch->returns->bits_bytes_usual
				    : 0;
	const size_t near = state->plan.sites * (usual[0] + more);

	return is_position_independent(state->request->arguments) &&
			       text + near > 2 * (uint64_t)state->arch->sizes->reach
		       ? state->plan.sites * (usual[1] + more)
		       : near;
}

/* The first link gets what its inputs seem to need. */
static void guess(struct link_state *state)
{
	const struct settings *settings = state->request->settings;
	struct estimate_result result;
	size_t island_bytes = 0;

	result = estimate_room(state->request->arguments, settings->engine == LITIFUT_ENGINE_THUNK,
			       settings->recorded == LITIFUT_MODE_CALLS &&
				       settings->clock == LITIFUT_CLOCK_NONE,
			       &state->plan);
	add_islands(state, result.islands.count);
	for (size_t i = 0; i < result.islands.count; i++)
		state->island_items[i] = result.islands.items[i];
	state->wants_map |= result.islands.too_coarse;
	free(result.islands.items);
	state->newer = result.newer;
	state->optimised = result.optimised;
	if (settings->recorded != LITIFUT_MODE_CALLS && result.newer && state->arch->returns) {
		state->plan.trampoline_bytes += return_bytes(state, result.text);
		state->plan.unwind_entries += state->plan.sites;
	}
	state->plan.blocks = settings->recorded == LITIFUT_MODE_COVERAGE ||
			     settings->recorded == LITIFUT_MODE_PATHS ||
			     settings->recorded == LITIFUT_MODE_UNITS;
	for (size_t i = 0; i < state->island_count; i++)
		island_bytes += state->plan.island_sizes ? state->plan.island_sizes[i]
							 : state->plan.island_bytes;
	say_verbose(state->request,
		    "room for %zu call sites, %zu entries, %zu bytes of trampolines, %zu islands "
		    "of %zu "
		    "bytes in all",
		    state->plan.sites, state->plan.db_entries, state->plan.trampoline_bytes,
		    state->island_count, island_bytes);
}

static enum litifut_status write_objects(struct link_state *state, struct litifut_error *error)
{
	enum litifut_status status;

	state->plan.refuses_frames = state->request->linker->kind->refuses_unwind_table;
	status = litifut_rewrite_write_database_object(&state->plan, state->database, error);
	if (!status)
		status = object_defined_symbols(state->database, &state->roots, error);
	for (size_t i = 0; !status && i < state->island_count; i++) {
		status = litifut_rewrite_write_island_object(&state->plan, i, state->islands[i],
							     error);
		if (!status)
			status = object_defined_symbols(state->islands[i], &state->roots, error);
	}
	return status;
}

/* The user would see words about objects that are not his. */
static enum litifut_status linker_complained(const struct link_state *state,
					     struct litifut_error *error)
{
	char *complaint = deliver_complaint(&state->files);
	enum litifut_status status = LITIFUT_OK;

	if (complaint)
		status = litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					   LITIFUT_NO_ADDRESS, "the linker warns of the tracer:%s",
					   complaint);
	free(complaint);
	return status;
}

static enum litifut_status run(struct link_state *state, struct litifut_error *error)
{
	const bool recorder_first = records_branches(state);
	size_t place = command_tracer_place(state->request->arguments);
	size_t count = 3 + state->island_count;
	struct insertion *insertions = xcalloc(count, sizeof(*insertions));
	struct command command = {
		.map = state->wants_map ? state->files.map : NULL,
		.insertions = insertions,
		.insertion_count = count,
		.roots = &state->roots,
		.script = state->script,
		.exports = &state->exports,
	};
	enum linker_result result;

	insertions[recorder_first] = (struct insertion){place, state->tracer};
	insertions[!recorder_first] = (struct insertion){
		command_recorder_place(state->request->arguments), state->recorder};
	insertions[2] = (struct insertion){place, state->database};
	for (size_t i = 0; i < state->island_count; i++)
		insertions[3 + i] = (struct insertion){state->island_items[i], state->islands[i]};
	qsort(insertions, count, sizeof(*insertions), compare_insertions);
	result = run_linker(state->request, &state->files, &command, error);
	free(insertions);
	return result ? error->status : linker_complained(state, error);
}

static enum litifut_status read_exclusions(struct link_state *state, struct litifut_error *error)
{
	if (!state->wants_map)
		return LITIFUT_OK;
	enum litifut_status status = chosen_files_read(&state->chosen, state->request,
						       state->files.map, &state->options, error);

	state->outcome.files_unused = state->chosen.excluded_unused;
	state->outcome.included_files_unused = state->chosen.included_unused;
	return status;
}

static enum litifut_status measure(struct link_state *state, int pass, struct litifut_error *error)
{
	const struct litifut_rewrite_plan last = state->plan;
	enum litifut_status status;

	litifut_rewrite_plan_release(&state->plan);
	memset(&state->plan, 0, sizeof(state->plan));
	status = litifut_rewrite_plan(state->files.image, &state->options, &state->plan, error);
	if (status)
		return status;
	say_verbose(state->request,
		    "measured: %zu call sites, %zu entries, %zu bytes of trampolines, %zu islands",
		    state->plan.sites, state->plan.db_entries, state->plan.trampoline_bytes,
		    state->plan.island_count);
	growth_add(&state->plan, &last, (unsigned)pass);
	place_islands(state);
	return LITIFUT_OK;
}

/* One link with the objects of state->plan, and what its map file says. */
static enum litifut_status link_once(struct link_state *state, int pass,
				     struct litifut_error *error)
{
	enum litifut_status status = write_objects(state, error);

	if (!status)
		status = run(state, error);
	if (!status)
		status = base_version_rename(state->files.image, state->files.target,
					     state->request->arguments, error);
	/* What the user sees of the linker is the first link's. */
	if (!status && pass == 1)
		deliver_keep_messages(&state->files);
	return status ? status : read_exclusions(state, error);
}

/* What link-time optimisation made is known now: a second link is worth its time if the program
 * would be much larger for nothing. */
static enum litifut_status judge_guess(const struct link_state *state, struct litifut_error *error)
{
	const size_t reserved = state->plan.trampoline_bytes;
	struct litifut_rewrite_plan plan = {0};
	enum litifut_status status;
	size_t needed;

	status = litifut_rewrite_plan(state->files.image, &state->options, &plan, error);
	if (status)
		return status;
	needed = plan.trampoline_bytes;
	litifut_rewrite_plan_release(&plan);
	if (reserved < needed + GUESS_SPARE_BYTES || reserved / GUESS_SPARE_TIMES < needed)
		return LITIFUT_OK;
	return litifut_error_set(error, LITIFUT_ERROR_SPACE, NULL, NULL, LITIFUT_NO_ADDRESS,
				 "of %zu bytes for trampolines only %zu are needed", reserved,
				 needed);
}

static enum litifut_status link_until_it_fits(struct link_state *state, struct litifut_error *error)
{
	struct litifut_rewrite_summary summary;

	for (int pass = 1; pass <= GROWTH_LINKS; pass++) {
		enum litifut_status status = link_once(state, pass, error);

		/* Whether it is enough is known when it has been used up. */
		state->options.all_in_reach = !state->islands_are_placed;
		if (!status && pass == 1 && state->optimised)
			status = judge_guess(state, error);
		if (!status)
			status = litifut_rewrite_apply(state->files.image, &state->options,
						       &summary, error);
		if (!status) {
			state->outcome.asked = summary.asked;
			state->outcome.calls = summary.sites;
			if (summary.left[LITIFUT_SITE_FOREIGN_ISA] > summary.patched)
				state->outcome.foreign_calls =
					summary.left[LITIFUT_SITE_FOREIGN_ISA];
			state->outcome.returns = summary.returns;
			if (summary.returns_by[LITIFUT_EXIT_OUT_OF_REACH] > summary.returns / 4)
				state->outcome.returns_far =
					summary.returns_by[LITIFUT_EXIT_OUT_OF_REACH];
			if (state->options.mode != LITIFUT_MODE_CALLS &&
			    state->options.mode != LITIFUT_MODE_COUNTS)
				state->outcome.returns_refused = summary.thunks_refused
									 ? summary.thunks_refused
									 : summary.returns_refused;
			if (summary.thunks_refused)
				say_verbose(state->request, "the db engine in place of thunks: %s",
					    summary.thunks_refused);
			say_verbose(state->request,
				    "%zu of %zu call sites rewritten; used: %zu of %zu bytes of "
				    "the DB, "
				    "%zu of %zu bytes of trampolines",
				    summary.patched, summary.sites, summary.db_used,
				    summary.db_bytes, summary.room_used, summary.room_bytes);
			return LITIFUT_OK;
		}
		if (status != LITIFUT_ERROR_SPACE)
			return status;
		say_verbose(state->request, "link again: %s", error->message);
		status = measure(state, pass, error);
		if (status)
			return status;
		/* then no island would help */
		if (!state->plan.island_count || pass >= GROWTH_LAST_ISLANDS)
			state->islands_are_placed = true;
	}
	return litifut_error_set(error, LITIFUT_ERROR_SPACE, NULL, NULL, LITIFUT_NO_ADDRESS,
				 "the reserved room was still too small after %d links",
				 GROWTH_LINKS);
}

static void say_pass(const void *listener, const char *name)
{
	say_verbose(listener, "rewriter: %s", name);
}

static void prepare_options(struct link_state *state)
{
	const struct settings *settings = state->request->settings;

	chosen_files_prepare(&state->chosen, state->request, default_objects,
			     sizeof(default_objects) / sizeof(default_objects[0]));
	for (size_t i = 0; i < sizeof(default_functions) / sizeof(default_functions[0]); i++)
		text_list_append(&state->excluded_functions, default_functions[i]);
	for (size_t i = 0; i < settings->exclude.count; i++)
		text_list_append(&state->excluded_functions, settings->exclude.items[i]);
	state->options.exclude_functions = (const char *const *)state->excluded_functions.items;
	state->options.asked_excludes = (const char *const *)settings->exclude.items;
	state->options.exclude_callees = (const char *const *)settings->exclude_callees.items;
	state->options.include_functions = (const char *const *)settings->include.items;
	state->options.units = (const char *const *)settings->units.items;
	state->options.tail_calls = settings->tail_calls;
	state->options.exact = settings->exact;
	state->options.engine = settings->engine;
	state->options.mode = settings->recorded;
	state->options.clock = settings->clock;
	state->options.name = lbasename(arguments_output(state->request->arguments));
	state->options.sites_file = state->files.sites;
	state->options.defaults = settings->defaults;
	state->options.arguments = &settings->argument_specs;
	state->options.string_bytes = settings->argument_bytes;
	state->options.mark_every = settings->mark_every;
	state->options.keeps_build_id = !arguments_id_is_of_contents(state->request->arguments);
	state->options.pass_begins = say_pass;
	state->options.listener = state->request;
	if (arguments_last(state->request->arguments, ARGUMENT_SHARED)) {
		shared_glibc_users(state->request->arguments, &state->glibc_users);
		state->options.links_glibc = shared_has_glibc(state->request->arguments);
	}
	state->options.glibc_users = (const char *const *)state->glibc_users.items;
}

/* A map costs time, and is only read for what it alone can tell. */
static bool needs_map(const struct link_request *request)
{
	const struct settings *settings = request->settings;

	return chosen_files_asked(settings) || settings->recorder || settings->link_twice ||
	       arguments_last(request->arguments, ARGUMENT_MAP) ||
	       arguments_last(request->arguments, ARGUMENT_PRINT_MAP);
}

/* An error in a copy is reported of what was copied. */
static void name_source(const struct link_state *state, struct litifut_error *error)
{
	const char *source = NULL;

	/* the copy itself could not be made */
	if (error->status == LITIFUT_ERROR_IO)
		return;
	if (state->tracer && !strcmp(error->file, state->tracer))
		source = state->tracer_source;
	else if (state->recorder && !strcmp(error->file, state->recorder))
		source = state->recorder_source;
	if (source)
		snprintf(error->file, sizeof(error->file), "%s", source);
}

enum litifut_status link_rewritten(const struct link_request *request, struct link_outcome *outcome,
				   struct litifut_error *error)
{
	struct link_state state = {.request = request};
	enum litifut_status status;

	/* Only what kind of CPU it is; all counts are 0. */
	state.plan = request->decision->target;
	state.arch = litifut_arch_find(state.plan.machine);
	state.wants_map = needs_map(request);
	deliver_prepare(&state.files, request->arguments, request->linker);
	if (request->settings->database == SETTINGS_DB_FILE)
		state.files.sites = scratch_beside(state.files.target);
	prepare_options(&state);
	if (!request->settings->link_twice)
		guess(&state);
	state.options.is_newer = request->linker->kind->drops_attributes && state.newer;
	status = prepare_tracer(&state, error);
	if (!status)
		status = exports_prepare(request->arguments, &state.exports, error);
	lift_low_code(&state);
	keep_unwind_entries(&state);
	if (!status)
		status = link_until_it_fits(&state, error);
	if (!status)
		status = strip_as_asked(request->arguments, request->linker, &state.files, error);
	state.outcome.nameless =
		arguments_last(request->arguments, ARGUMENT_STRIP_ALL) && !state.files.names_kept;
	if (!status)
		status = deliver(&state.files, request->arguments, error);
	if (status) {
		deliver_others(&state.files, false);
		deliver_hide_names(&state.files, error);
		name_source(&state, error);
	}
	*outcome = state.outcome;

	litifut_rewrite_plan_release(&state.plan);
	chosen_files_release(&state.chosen);
	text_list_release(&state.excluded_functions);
	text_list_release(&state.roots);
	text_list_release(&state.glibc_users);
	exports_release(&state.exports);
	free(state.tracer_source);
	free(state.recorder_source);
	free(state.islands);
	free(state.island_items);
	return status;
}
