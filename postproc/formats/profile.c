#include "postproc/formats/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/losses.h"
#include "postproc/formats/near.h"
#include "postproc/measure/edges.h"
#include "postproc/model/lines.h"
#include "postproc/paths/profile.h"
#include "postproc/paths/program.h"

/* A function, or a neighbour of one, or the site of its calls. */
struct row {
	uint32_t function; /* of the session; POST_NONE: code that is not known */
	uint32_t module, site;
	uint64_t calls, instructions;
};

struct rows {
	struct row *items;
	size_t count, capacity;
	struct post_table index;
	const struct post_session *session;
};

bool post_profile_is_all(const struct post_session *session)
{
	for (size_t i = 0; i < session->process_count; i++)
		if (!session->processes[i]->trace ||
		    session->processes[i]->trace->header.mode != LITIFUT_MODE_PATHS)
			return false;
	return session->process_count > 0;
}

static void add(struct rows *rows, const struct row *row)
{
	const struct post_key key = {{row->function, row->module, row->site}};
	uint32_t number = post_table_find(&rows->index, key);

	if (number == POST_NONE) {
		number = (uint32_t)rows->count;
		post_table_put(&rows->index, key, number);
		POST_GROW(rows->items, rows->count, rows->capacity);
		rows->items[rows->count++] =
			(struct row){row->function, row->module, row->site, 0, 0};
	}
	rows->items[number].calls += row->calls;
	rows->items[number].instructions += row->instructions;
}

static void release(struct rows *rows)
{
	free(rows->items);
	post_table_release(&rows->index);
}

static int by_name(const void *left, const void *right, void *context)
{
	const struct row *a = left, *b = right;
	const struct rows *rows = context;

	if (a->function == POST_NONE || b->function == POST_NONE)
		return (a->function == POST_NONE) - (b->function == POST_NONE);
	return a->function != b->function
		       ? post_function_compare(rows->session, a->function, b->function)
		       : (a->site > b->site) - (a->site < b->site);
}

static int by_instructions(const void *left, const void *right, void *context)
{
	const struct row *a = left, *b = right;

	if (a->instructions != b->instructions)
		return a->instructions > b->instructions ? -1 : 1;
	return by_name(left, right, context);
}

static int by_calls(const void *left, const void *right, void *context)
{
	const struct row *a = left, *b = right;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return by_name(left, right, context);
}

static void sort(struct rows *rows, int (*compare)(const void *, const void *, void *))
{
	if (rows->count)
		qsort_r(rows->items, rows->count, sizeof(*rows->items), compare, rows);
}

/* All functions that were executed. Their names may move what the session holds, so this comes
 * before anything else. */
static void add_functions(const struct post_path_profile *profile, struct rows *rows)
{
	for (size_t i = 0; i < profile->module_count; i++) {
		const struct post_path_module_costs *module = &profile->modules[i];

		for (uint32_t first = 0, end; module->code && first < module->code->count;
		     first = end) {
			struct row row = {.module = (uint32_t)i};

			end = post_path_profile_end(module->code, first);
			row.instructions = post_path_profile_sum(module, first, end);
			row.calls = module->blocks[first].begun;
			row.function = post_path_profile_function(profile, module->code, first);
			if (row.instructions)
				add(rows, &row);
		}
	}
}

static bool is_hidden(const struct post_session *session, const struct row *row)
{
	const struct post_options *options = &session->options;

	return (options->include &&
		!post_function_matches(session, options->include, row->function)) ||
	       (options->exclude &&
		post_function_matches(session, options->exclude, row->function)) ||
	       (options->modules &&
		!path_is_named(options->modules, session->modules[row->module].name));
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static void write_functions(struct post_output *output, const struct rows *rows, uint64_t all,
			    uint32_t module)
{
	const struct post_session *session = output->session;
	uint64_t shown = 0;

	fprintf(output->file, "%s%14s %6s %12s  %s%s\n", output->options.color ? "\033[1m" : "",
		"instructions", "share", "calls", "function [module]",
		output->options.color ? "\033[0m" : "");
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->items[i];

		if (is_hidden(session, row) || (module != POST_NONE && row->module != module))
			continue;
		if (output->options.top && shown++ == output->options.top)
			break;
		fprintf(output->file, "%14" PRIu64 " %5.1f%% %12" PRIu64 "  %s [%s]\n",
			row->instructions, share(row->instructions, all), row->calls,
			session->functions[row->function].name, session->modules[row->module].name);
	}
}

static void write_modules(struct post_output *output, const struct rows *rows, uint64_t all)
{
	bool first = true;

	for (uint32_t module = 0; module < output->session->module_count; module++) {
		bool used = false;

		for (size_t i = 0; i < rows->count && !used; i++)
			used = rows->items[i].module == module &&
			       !is_hidden(output->session, &rows->items[i]);
		if (!used)
			continue;
		fprintf(output->file, "%s%s\n", first ? "" : "\n",
			output->session->modules[module].name);
		write_functions(output, rows, all, module);
		first = false;
	}
}

void post_profile_report(struct post_output *output)
{
	const char *order = output->options.sort ? output->options.sort : "self";
	struct post_session *session = output->session;
	struct rows rows = {.session = session};
	struct post_path_profile profile;
	uint64_t all = 0;

	if (strcmp(order, "self") && strcmp(order, "calls") && strcmp(order, "name"))
		post_problem_at(
			session->problems, NULL, LITIFUT_NO_ADDRESS,
			"--sort %s: executed instructions (LITIFUT_MODE=paths) are sorted by "
			"self, calls or name; here by self",
			order);
	if (output->options.rows != POST_ROWS_FUNCTIONS)
		post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
				"--per: executed instructions (LITIFUT_MODE=paths) are counted for "
				"functions");
	post_losses_write(output->file, session, "# ", "\n");
	post_path_profile_collect(session, &profile);
	add_functions(&profile, &rows);
	for (size_t i = 0; i < rows.count; i++)
		all += rows.items[i].instructions;
	sort(&rows, !strcmp(order, "name")    ? by_name
		    : !strcmp(order, "calls") ? by_calls
					      : by_instructions);
	if (output->options.by_module)
		write_modules(output, &rows, all);
	else
		write_functions(output, &rows, all, POST_NONE);
	fputs("# Instructions of traced functions, without those of the functions that they call "
	      "(LITIFUT_MODE=paths).\n",
	      output->file);
	release(&rows);
	post_path_profile_release(&profile);
}

static void write_sites(struct post_output *output, const struct rows *sites,
			const struct row *neighbour, bool callers, uint32_t function)
{
	const struct post_session *session = output->session;
	const uint32_t caller = callers ? neighbour->function : function;
	char line[512];

	for (size_t i = 0; i < sites->count; i++) {
		const struct row *site = &sites->items[i];

		if (site->function != neighbour->function)
			continue;
		fprintf(output->file, "%14" PRIu64 "    %14" PRIu64 "  %s+0x%x", site->calls,
			site->instructions, session->functions[caller].name,
			site->site - session->functions[caller].address);
		if (session->options.lines &&
		    post_lines_text(session, site->module, site->site, line, sizeof(line)))
			fprintf(output->file, " %s", line);
		putc('\n', output->file);
	}
}

/* Of one function. Calls from code that is not recorded are those that no block has made. */
static void write_function(struct post_output *output, const struct post_path_profile *profile,
			   const struct row *function, bool callers)
{
	const struct post_session *session = output->session;
	struct rows others = {.session = session}, sites = {.session = session};
	uint64_t calls = 0, shown = 0;

	for (size_t i = 0; i < profile->call_count; i++) {
		const struct post_path_calls *edge = &profile->calls[i];
		const uint32_t caller =
			post_path_profile_function(profile, edge->caller, edge->block);
		const uint32_t callee =
			post_path_profile_function(profile, edge->callee, edge->function);
		struct row row = {.function = callers ? caller : callee,
				  .calls = edge->count,
				  .instructions = edge->cost};

		if ((callers ? callee : caller) != function->function)
			continue;
		calls += edge->count;
		add(&others, &row);
		row.module = edge->caller->module;
		row.site = post_path_calls_site(edge);
		add(&sites, &row);
	}
	sort(&others, by_calls);
	sort(&sites, by_name);
	if (callers && function->calls > calls) {
		add(&others,
		    &(struct row){.function = POST_NONE, .calls = function->calls - calls});
		calls = function->calls;
	}
	fprintf(output->file, "%s [%s]: %" PRIu64 " call%s %s\n",
		session->functions[function->function].name,
		session->modules[function->module].name, calls, calls == 1 ? "" : "s",
		callers ? "received" : "made");
	if (others.count)
		fprintf(output->file, "%10s %6s %14s  %s [module]\n", "calls", "share",
			"instructions", callers ? "caller" : "callee");
	for (size_t i = 0; i < others.count; i++) {
		const struct row *row = &others.items[i];

		if (output->options.top && shown++ == output->options.top)
			break;
		fprintf(output->file, "%10" PRIu64 " %5.1f%%", row->calls,
			share(row->calls, calls));
		if (row->function == POST_NONE) {
			fprintf(output->file, " %14s  (code that is not recorded)\n", "-");
			continue;
		}
		const struct post_function *other = &session->functions[row->function];

		fprintf(output->file, " %14" PRIu64 "  %s [%s]\n", row->instructions, other->name,
			session->modules[other->module].name);
		write_sites(output, &sites, row, callers, function->function);
	}
	release(&others);
	release(&sites);
}

/* Does it receive calls, or make some? */
static bool has_calls(const struct post_path_profile *profile, const struct row *function,
		      bool callers)
{
	bool found = callers && function->calls;

	for (size_t i = 0; i < profile->call_count && !found; i++) {
		const struct post_path_calls *edge = &profile->calls[i];

		found = (callers ? post_path_profile_function(profile, edge->callee, edge->function)
				 : post_path_profile_function(profile, edge->caller,
							      edge->block)) == function->function;
	}
	return found;
}

void post_profile_neighbours(struct post_output *output, bool callers)
{
	const char *const globs[] = {output->options.function, NULL};
	struct post_session *session = output->session;
	struct rows rows = {.session = session};
	struct post_path_profile profile;
	bool some = false;

	post_path_profile_collect(session, &profile);
	add_functions(&profile, &rows);
	sort(&rows, by_calls);
	for (size_t i = 0; i < rows.count; i++) {
		if (!post_function_matches(session, globs, rows.items[i].function) ||
		    !has_calls(&profile, &rows.items[i], callers))
			continue;
		if (!some) {
			post_losses_write(output->file, session, "# ", "\n");
			fputs("# Instructions of the calls, with all that was called in them "
			      "(LITIFUT_MODE=paths).\n",
			      output->file);
		}
		if (some)
			putc('\n', output->file);
		write_function(output, &profile, &rows.items[i], callers);
		some = true;
	}
	if (!some)
		post_near_report(session, callers ? "of" : "by", output->options.function);
	release(&rows);
	post_path_profile_release(&profile);
}
