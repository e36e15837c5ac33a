/* litifut-rewrite: the rewriter by hand, one image at a time. The linker
 * wrapper does the same through the library. */
#include "common/memory.h"
#include "rewriter/rewriter.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <litifut/module_format.h>

#include "common/site_text.h"
#include "common/version.h"

static const char usage_text[] =
	"Usage: litifut-rewrite [OPTION]... IMAGE\n"
	"Turns the calls of IMAGE, which was linked with the tracer, into traced calls.\n"
	"\n"
	"  -p, --plan            only say what room IMAGE needs\n"
	"  -o, --objects=DIR     with --plan: write the objects that reserve it into DIR\n"
	"  -n, --name=NAME       name of the module in traces (default: that of IMAGE)\n"
	"  -x, --exclude=GLOB    leave the calls in these functions alone (repeatable)\n"
	"  -i, --include=GLOB    trace the calls in these functions only (repeatable)\n"
	"  -t, --no-tail         leave tail calls alone\n"
	"  -c, --exact           record callees in other modules as they are at run time\n"
	"  -e, --engine=NAME     what IMAGE has room for: db (default) or thunk\n"
	"  -s, --sites-file=PATH write the list of call sites to PATH, not to the end of IMAGE\n"
	"  -h, --help            this text\n"
	"  -V, --version         the version\n"
	"\n"
	"Exit status: 0 done, 1 a problem was found, 2 wrong usage.\n";

struct arguments {
	struct litifut_rewrite_options options;
	const char *image;
	const char *objects;
	const char **exclude;
	const char **include;
	bool plan;
};

static int report(const struct litifut_error *error)
{
	char line[1024];

	fprintf(stderr, "litifut-rewrite: error: %s\n",
		litifut_error_line(error, line, sizeof(line)));
	return 1;
}

static int write_objects(const struct litifut_rewrite_plan *plan, const char *folder)
{
	struct litifut_error error;
	char path[4096];

	snprintf(path, sizeof(path), "%s/litifut-db.o", folder);
	if (litifut_rewrite_write_database_object(plan, path, &error))
		return report(&error);
	for (size_t i = 0; i < plan->island_count; i++) {
		snprintf(path, sizeof(path), "%s/litifut-island-%zu.o", folder, i);
		if (litifut_rewrite_write_island_object(plan, i, path, &error))
			return report(&error);
	}
	return 0;
}

static int run_plan(const struct arguments *arguments)
{
	struct litifut_rewrite_plan plan;
	struct litifut_error error;
	int result = 0;

	if (litifut_rewrite_plan(arguments->image, &arguments->options, &plan, &error))
		return report(&error);
	printf("code bytes: %u\nroom for sites: %zu\nroom for DB entries: %zu\nislands: %zu of %zu "
	       "bytes\n",
	       plan.text_bytes, plan.sites, plan.db_entries, plan.island_count, plan.island_bytes);
	for (size_t i = 0; i < plan.island_count; i++)
		printf("island %zu near: 0x%x\n", i, plan.island_places[i]);
	if (arguments->objects)
		result = write_objects(&plan, arguments->objects);
	litifut_rewrite_plan_release(&plan);
	return result;
}

static int run_apply(const struct arguments *arguments)
{
	struct litifut_rewrite_summary summary;
	struct litifut_error error;

	if (litifut_rewrite_apply(arguments->image, &arguments->options, &summary, &error))
		return report(&error);
	printf("call sites: %zu\npatched: %zu\n", summary.sites, summary.patched);
	for (unsigned i = 0; i < 32; i++)
		if (summary.left[i])
			printf("left, %s: %zu\n", litifut_site_reason_name(i), summary.left[i]);
	return 0;
}

static bool parse_engine(const char *name, unsigned *engine)
{
	if (strcmp(name, "db") && strcmp(name, "thunk")) {
		fprintf(stderr, "litifut-rewrite: error: no engine is called '%s'\n", name);
		return false;
	}
	*engine = strcmp(name, "db") ? LITIFUT_ENGINE_THUNK : LITIFUT_ENGINE_DB;
	return true;
}

static int parse(int count, char **values, struct arguments *arguments)
{
	static const struct option options[] = {
		{"plan", no_argument, NULL, 'p'},
		{"objects", required_argument, NULL, 'o'},
		{"name", required_argument, NULL, 'n'},
		{"exclude", required_argument, NULL, 'x'},
		{"include", required_argument, NULL, 'i'},
		{"no-tail", no_argument, NULL, 't'},
		{"exact", no_argument, NULL, 'c'},
		{"engine", required_argument, NULL, 'e'},
		{"sites-file", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	size_t excluded = 0;
	size_t included = 0;
	int option;

	while ((option = getopt_long(count, values, "po:n:x:i:tce:s:hV", options, NULL)) != -1) {
		switch (option) {
		case 'p':
			arguments->plan = true;
			break;
		case 'o':
			arguments->objects = optarg;
			break;
		case 'n':
			arguments->options.name = optarg;
			break;
		case 'x':
			arguments->exclude[excluded++] = optarg;
			break;
		case 'i':
			arguments->include[included++] = optarg;
			break;
		case 't':
			arguments->options.tail_calls = false;
			break;
		case 'c':
			arguments->options.exact = true;
			break;
		case 'e':
			if (!parse_engine(optarg, &arguments->options.engine))
				return 2;
			break;
		case 's':
			arguments->options.sites_file = optarg;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		case 'V':
			printf("litifut-rewrite %s\n", litifut_version);
			exit(0);
		default:
			return 2;
		}
	}
	if (optind != count - 1) {
		fputs(usage_text, stderr);
		return 2;
	}
	arguments->image = values[optind];
	arguments->options.exclude_functions = arguments->exclude;
	arguments->options.include_functions = arguments->include;
	return 0;
}

int main(int count, char **values)
{
	struct arguments arguments = {.options = {.tail_calls = true}};
	int result;

	litifut_memory_keep();
	/* More than enough for every option that could be on the command line. */
	arguments.exclude = calloc((size_t)count + 1, sizeof(*arguments.exclude));
	arguments.include = calloc((size_t)count + 1, sizeof(*arguments.include));
	if (!arguments.exclude || !arguments.include) {
		fputs("litifut-rewrite: error: out of memory\n", stderr);
		return 1;
	}
	result = parse(count, values, &arguments);
	if (!result)
		result = arguments.plan ? run_plan(&arguments) : run_apply(&arguments);
	free(arguments.exclude);
	free(arguments.include);
	return result;
}
