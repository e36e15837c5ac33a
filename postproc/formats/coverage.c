/* coverage: a line for each function, and what was not executed of it; branches: the same for each
 * branch, for programs. */
#include <inttypes.h>
#include <stdlib.h>

#include "common/site_text.h"
#include "postproc/formats/format.h"
#include "postproc/measure/coverage.h"

struct row {
	uint32_t function; /* of the session */
	uint8_t state;     /* enum post_coverage_state */
	unsigned branches;
	unsigned ways;
};

struct rows {
	struct row *items;
	size_t count, capacity;
};

static const char *name_of(struct post_session *session, const struct post_covered_module *module,
			   uint32_t address)
{
	const uint32_t function = post_session_function(session, module->module, address);

	return session->functions[function].name; /* the array may have moved */
}

static void collect(struct post_session *session, const struct post_covered_module *module,
		    struct rows *rows)
{
	struct post_covered_function function = {0};

	while (post_coverage_function(module, function.end, &function)) {
		const struct post_covered_block *block = &module->blocks[function.first];

		POST_GROW(rows->items, rows->count, rows->capacity);
		rows->items[rows->count++] = (struct row){
			.function =
				post_session_function(session, module->module, block->block.start),
			.state = block->state,
			.branches = function.branches,
			.ways = function.ways,
		};
	}
}

/* What was not executed first, and then what misses most. */
static int by_need(const void *left, const void *right)
{
	static const unsigned char order[] = {
		[POST_NOT_EXECUTED] = 0, [POST_NOT_KNOWN] = 1, [POST_EXECUTED] = 2};
	const struct row *a = left, *b = right;
	const unsigned a_left = a->branches - a->ways, b_left = b->branches - b->ways;

	if (a->state != b->state)
		return order[a->state] < order[b->state] ? -1 : 1;
	if (a_left != b_left)
		return a_left > b_left ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 100;
}

static void finish(struct post_output *output)
{
	struct post_session *session = output->session;
	struct post_coverage coverage;
	struct rows rows = {0};
	static const char *const words[] = {
		[POST_NOT_EXECUTED] = "no", [POST_NOT_KNOWN] = "?", [POST_EXECUTED] = "yes"};
	uint64_t executed = 0, unknown = 0, branches = 0, ways = 0;

	post_coverage_collect(session, &coverage);
	for (size_t i = 0; i < coverage.count; i++)
		collect(session, &coverage.modules[i], &rows);
	if (rows.count)
		qsort(rows.items, rows.count, sizeof(*rows.items), by_need);
	for (size_t i = 0; i < rows.count; i++) {
		executed += rows.items[i].state == POST_EXECUTED;
		unknown += rows.items[i].state == POST_NOT_KNOWN;
		branches += rows.items[i].branches;
		ways += rows.items[i].ways;
	}
	if (rows.count)
		fprintf(output->file,
			"functions %" PRIu64 " of %zu (%.1f %%), %" PRIu64
			" not known, ways of branches %" PRIu64 " of %" PRIu64 " (%.1f %%)\n",
			executed, rows.count, share(executed, rows.count), unknown, ways, branches,
			share(ways, branches));
	for (size_t i = 0; i < rows.count; i++) {
		const struct row *row = &rows.items[i];
		const struct post_function *function = &session->functions[row->function];

		if (output->options.top && i == output->options.top)
			break;
		fprintf(output->file, "%-3s %5u of %-5u %s [%s]\n", words[row->state], row->ways,
			row->branches, function->name, session->modules[function->module].name);
	}
	free(rows.items);
	post_coverage_release(&coverage);
}

const struct post_format post_format_coverage = {
	.name = "coverage",
	.summary = "functions: executed or not, ways of branches gone (LITIFUT_MODE=coverage)",
	.flags = true,
	.uses = POST_USES_TOP,
	.finish = finish,
};

static void write_blocks(struct post_output *output, const struct post_covered_module *module)
{
	struct post_session *session = output->session;
	const char *name = session->modules[module->module].name;

	for (size_t i = 0; i < module->count; i++) {
		const struct post_covered_block *block = &module->blocks[i];

		if (block->block.entered)
			fprintf(output->file, "%s\tentered\t0x%x\t%s\t%d\t\tpatched\n", name,
				block->block.start, name_of(session, module, block->block.start),
				block->entered);
		if (block->block.flags & LITIFUT_BLOCK_CONDITIONAL)
			fprintf(output->file, "%s\tbranch\t0x%x\t%s\t%d\t%d\t%s\n", name,
				block->block.branch, name_of(session, module, block->block.start),
				block->taken, block->passed,
				litifut_site_reason_name(block->block.reason));
	}
}

static void finish_branches(struct post_output *output)
{
	struct post_coverage coverage;

	post_coverage_collect(output->session, &coverage);
	fputs("module\tkind\taddress\tfunction\ttaken\tpassed\treason\n", output->file);
	for (size_t i = 0; i < coverage.count; i++)
		write_blocks(output, &coverage.modules[i]);
	post_coverage_release(&coverage);
}

const struct post_format post_format_branches = {
	.name = "branches",
	.summary = "a line for each branch: the ways that were gone (LITIFUT_MODE=coverage)",
	.flags = true,
	.finish = finish_branches,
};
