#include "ldwrap/info.h"

#include <libiberty/libiberty.h>
#include <litifut/trace_format.h>
#include <stdlib.h>
#include <string.h>

#include "common/site_text.h"
#include "litifut/module_format.h"
#include "rewriter/arch.h"
#include "rewriter/rewriter.h"

#define REASON_COUNT (sizeof(((struct litifut_rewrite_summary *)0)->left) / sizeof(size_t))

static const char *cpu_name(const struct litifut_module_info *info)
{
	const struct litifut_arch *arch = litifut_arch_find(info->machine);

	return arch ? arch->cpu->objects->describe(info->elf_data) : "another CPU";
}

static const char *kind_of_file(unsigned flags)
{
	if (!(flags & LITIFUT_MODULE_EXECUTABLE))
		return "shared library";
	return flags & LITIFUT_MODULE_STATIC ? "static executable" : "executable";
}

static bool is_listed(const struct litifut_site *site, const struct info_options *options)
{
	return options->sites || (options->skipped && site->reason != LITIFUT_SITE_PATCHED);
}

/* A call that is recorded, and its return is not, though the mode records returns. */
static bool is_return_listed(const struct litifut_site *site, const struct info_options *options)
{
	return (options->sites || options->skipped) && site->reason == LITIFUT_SITE_PATCHED &&
	       site->exit_reason != LITIFUT_EXIT_OFF && site->exit_reason != LITIFUT_EXIT_PATCHED &&
	       site->exit_reason != LITIFUT_EXIT_COUNTER;
}

static void write_returns(FILE *to, const struct litifut_rewrite_summary *summary)
{
	if (!summary->returns)
		return;
	fprintf(to, "  returns patched %zu of %zu\n", summary->returns_by[LITIFUT_EXIT_PATCHED],
		summary->returns);
	for (unsigned i = 0; i < REASON_COUNT; i++)
		if (i != LITIFUT_EXIT_PATCHED && summary->returns_by[i])
			fprintf(to, "    %-20s %zu (%s)\n", litifut_exit_reason_name(i),
				summary->returns_by[i], litifut_exit_reason_text(i));
}

/* What thunks read; as the setting that chose it. */
static const char *clock_name(unsigned clock)
{
	static const char *const names[] = {[LITIFUT_CLOCK_NONE] = "none",
					    [LITIFUT_CLOCK_MONOTONIC] = "mono",
					    [LITIFUT_CLOCK_CYCLE] = "cycle",
					    [LITIFUT_CLOCK_PAGE] = "page"};

	return clock < sizeof(names) / sizeof(names[0]) ? names[clock] : "unknown";
}

static void write_return(FILE *to, const struct litifut_site *site, const char *function)
{
	fprintf(to, "0x%08x %-13s 0x%08x %8s %s", site->return_address & ~1u, "return",
		site->address, "-", litifut_exit_reason_name(site->exit_reason));
	if (function)
		fprintf(to, " in %s", function);
	putc('\n', to);
}

#define LARGEST 5

static int by_name(const void *left, const void *right)
{
	const char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

/* The functions in which the most sites were left. */
static void write_left_functions(FILE *to, const struct litifut_module_info *info)
{
	struct {
		const char *name;
		size_t count;
	} largest[LARGEST + 1] = {{NULL, 0}};
	const char **names = xcalloc(info->site_count + 1, sizeof(*names));
	size_t count = 0, functions = 0, shown = 0;

	for (size_t i = 0; i < info->site_count; i++)
		if (info->sites[i].reason != LITIFUT_SITE_PATCHED && info->functions[i])
			names[count++] = info->functions[i];
	qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 0, end; i < count; i = end, functions++) {
		size_t place = LARGEST;

		for (end = i + 1; end < count && !strcmp(names[end], names[i]);)
			end++;
		for (; place && largest[place - 1].count < end - i; place--)
			largest[place] = largest[place - 1];
		largest[place].name = names[i];
		largest[place].count = end - i;
	}
	free(names);
	for (; shown < LARGEST && largest[shown].count; shown++)
		fprintf(to, "%s %s %zu", shown ? "," : "    in", largest[shown].name,
			largest[shown].count);
	if (functions > shown)
		fprintf(to, " and %zu more", functions - shown);
	if (shown)
		putc('\n', to);
}

#define CHOSEN_SHOWN 12

static void write_name(FILE *to, const char *name, size_t number, bool last)
{
	if (number < CHOSEN_SHOWN)
		fprintf(to, "%s %s", number ? "," : "", name);
	else if (last)
		fprintf(to, " and %zu more", number + 1 - CHOSEN_SHOWN);
}

/* The functions of which something is recorded, by name: what LITIFUT_INCLUDE has chosen. */
static void write_chosen(FILE *to, const struct litifut_module_info *info)
{
	const char **names = xcalloc(info->site_count + 1, sizeof(*names));
	size_t count = 0, chosen = 0;

	for (size_t i = 0; i < info->site_count; i++)
		if (info->sites[i].reason == LITIFUT_SITE_PATCHED && info->functions[i])
			names[count++] = info->functions[i];
	qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 0; i < count; i++)
		if (!i || strcmp(names[i], names[i - 1]))
			names[chosen++] = names[i];
	if (chosen)
		fprintf(to, "  recorded in    %zu function%s:", chosen, chosen == 1 ? "" : "s");
	for (size_t i = 0; i < chosen; i++)
		write_name(to, names[i], i, i + 1 == chosen);
	if (chosen)
		putc('\n', to);
	free(names);
}

/* How much a firmware has room for, if it has such a thing; `usual` is what had no room, or 0. */
static void write_room(FILE *to, const char *name, unsigned number, const char *what,
		       unsigned usual, const char *unit)
{
	if (!number)
		return;
	fprintf(to, "  %-14s %u %s", name, number, what);
	if (usual)
		fprintf(to, ", as the usual %u%s have no room", usual, unit);
	putc('\n', to);
}

static void write_text(FILE *to, const char *path, const struct litifut_module_info *info,
		       const struct info_options *options)
{
	const struct litifut_rewrite_summary *summary = &info->summary;

	if (!info->rewritten) {
		fprintf(to, "%s: not rewritten\n", path);
		return;
	}
	fprintf(to, "%s: rewritten\n", path);
	fprintf(to, "  name           %s, %s for %s\n", info->name, kind_of_file(info->flags),
		cpu_name(info));
	fprintf(to, "  build-id       %s\n", info->build_id[0] ? info->build_id : "none");
	if (info->identity[0])
		fprintf(to, "  identity       %s, which its results have too\n", info->identity);
	fprintf(to, "  format         %u\n", info->version);
	fprintf(to, "  engine         %s", litifut_engine_name(info->engine));
	if (summary->thunks_refused)
		fprintf(to, " (%s)", summary->thunks_refused);
	putc('\n', to);
	fprintf(to, "  mode           %s\n", litifut_mode_name(info->mode));
	write_room(to, "ring", info->ring_events, "events", info->ring_unfit, " KB");
	write_room(to, "open calls", info->depth, "at most", info->depth_unfit, "");
	if (info->clock)
		fprintf(to, "  clock          %s, read by thunks\n", clock_name(info->clock));
	fprintf(to, "  tail calls     %s\n",
		info->flags & LITIFUT_MODULE_TAIL_CALLS ? "traced" : "not traced");
	fprintf(to, "  sites patched  %zu of %zu\n", summary->patched, summary->sites);
	write_returns(to, summary);
	fprintf(to, "  sites left     %zu\n", summary->sites - summary->patched);
	for (unsigned i = 0; i < REASON_COUNT; i++)
		if (i != LITIFUT_SITE_PATCHED && summary->left[i])
			fprintf(to, "    %-20s %zu (%s)\n", litifut_site_reason_name(i),
				summary->left[i], litifut_site_reason_text(i));
	write_chosen(to, info);
	write_left_functions(to, info);
	fprintf(to, "  DB             %zu bytes\n", summary->db_bytes);
	if (summary->tracer_bytes)
		fprintf(to, "  tracer         %zu bytes\n", summary->tracer_bytes);
	if (!info->site_count && summary->sites)
		fputs("  the list of sites is not in the file, nor beside it\n", to);
	for (size_t i = 0; i < info->site_count; i++) {
		const struct litifut_site *site = &info->sites[i];
		bool is_function = site->kind == LITIFUT_SITE_FUNCTION;
		const char *name = info->functions[i];

		if (is_return_listed(site, options))
			write_return(to, site, name);
		if (!is_listed(site, options))
			continue;
		fprintf(to, "0x%08x %-13s 0x%08x ", site->address,
			litifut_site_kind_name(site->kind),
			is_function ? site->instruction : site->callee);
		if (is_function)
			fputs(name ? name : "-", to);
		else
			fprintf(to, site->length == 2 ? "    %04x" : "%08x", site->instruction);
		fprintf(to, " %s", litifut_site_reason_name(site->reason));
		if (name && !is_function)
			fprintf(to, " in %s", name);
		putc('\n', to);
	}
}

static void write_json_text(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\')
			fprintf(to, "\\%c", byte);
		else if (byte < 0x20)
			fprintf(to, "\\u%04x", byte);
		else
			fputc(byte, to);
	}
	fputc('"', to);
}

static void write_json_sites(FILE *to, const struct litifut_module_info *info,
			     const struct info_options *options)
{
	const char *separator = "";

	fputs(", \"sites\": [", to);
	for (size_t i = 0; i < info->site_count; i++) {
		const struct litifut_site *site = &info->sites[i];

		if (!is_listed(site, options) && !is_return_listed(site, options))
			continue;
		fprintf(to, "%s{\"address\": %u, ", separator, site->address);
		separator = ", ";
		if (site->kind == LITIFUT_SITE_FUNCTION)
			fprintf(to, "\"size\": %u, ", site->instruction);
		else
			fprintf(to,
				"\"return_address\": %u, \"instruction\": %u, \"callee\": %u, "
				"\"thumb\": %s, \"length\": %u, ",
				site->return_address, site->instruction, site->callee,
				site->thumb ? "true" : "false", site->length);
		if (info->functions[i]) {
			fputs("\"function\": ", to);
			write_json_text(to, info->functions[i]);
			fputs(", ", to);
		}
		fprintf(to, "\"kind\": \"%s\", \"reason\": \"%s\"",
			litifut_site_kind_name(site->kind), litifut_site_reason_name(site->reason));
		if (is_return_listed(site, options))
			fprintf(to, ", \"return_reason\": \"%s\"",
				litifut_exit_reason_name(site->exit_reason));
		fputc('}', to);
	}
	fputc(']', to);
}

static void write_json(FILE *to, const char *path, const struct litifut_module_info *info,
		       const struct info_options *options)
{
	const char *separator = "";

	fputs("{\"file\": ", to);
	write_json_text(to, path);
	fprintf(to, ", \"rewritten\": %s", info->rewritten ? "true" : "false");
	if (info->rewritten) {
		fputs(", \"name\": ", to);
		write_json_text(to, info->name);
		fprintf(to, ", \"type\": \"%s\", \"cpu\": \"%s\", \"build_id\": \"%s\"",
			kind_of_file(info->flags), cpu_name(info), info->build_id);
		if (info->identity[0])
			fprintf(to, ", \"identity\": \"%s\"", info->identity);
		fprintf(to, ", \"format\": %u, \"engine\": \"%s\", \"tail_calls\": %s",
			info->version, litifut_engine_name(info->engine),
			info->flags & LITIFUT_MODULE_TAIL_CALLS ? "true" : "false");
		fprintf(to, ", \"mode\": \"%s\", \"clock\": \"%s\"", litifut_mode_name(info->mode),
			clock_name(info->clock));
		if (info->ring_events)
			fprintf(to, ", \"ring_events\": %u", info->ring_events);
		if (info->depth)
			fprintf(to, ", \"open_calls\": %u", info->depth);
		if (info->summary.returns)
			fprintf(to, ", \"returns\": %zu, \"returns_patched\": %zu",
				info->summary.returns,
				info->summary.returns_by[LITIFUT_EXIT_PATCHED]);
		fprintf(to, ", \"call_sites\": %zu, \"patched\": %zu, \"left\": {",
			info->summary.sites, info->summary.patched);
		for (unsigned i = 0; i < REASON_COUNT; i++) {
			if (i == LITIFUT_SITE_PATCHED || !info->summary.left[i])
				continue;
			fprintf(to, "%s\"%s\": %zu", separator, litifut_site_reason_name(i),
				info->summary.left[i]);
			separator = ", ";
		}
		fputc('}', to);
		if (info->summary.thunks_refused) {
			fputs(", \"engine_reason\": ", to);
			write_json_text(to, info->summary.thunks_refused);
		}
		fprintf(to, ", \"db_bytes\": %zu, \"tracer_bytes\": %zu", info->summary.db_bytes,
			info->summary.tracer_bytes);
		if (options->sites || options->skipped)
			write_json_sites(to, info, options);
	}
	fputc('}', to);
}

enum litifut_status info_write(FILE *to, const char *path, const struct info_options *options,
			       struct litifut_error *error)
{
	struct litifut_module_info info;
	enum litifut_status status;

	memset(&info, 0, sizeof(info));
	status = litifut_module_info_read(path, &info, error);
	if (status)
		return status;
	if (options->json)
		write_json(to, path, &info, options);
	else
		write_text(to, path, &info, options);
	litifut_module_info_release(&info);
	return LITIFUT_OK;
}
