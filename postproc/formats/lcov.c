/* lcov: a tracefile for genhtml(1) and its like. A line was executed if some of its code was; a
 * branch is one of the object code, and several may stand in a line. Where paths are recorded, the
 * count of a line is that of the block of it that was executed most, of each function that has the
 * line, added up; else it is 1. Code that the compiler has moved away from the statement counts
 * where blocks start in it, such as the condition of a loop. Code that could not be recorded is not
 * there at all. geninfo(1) describes the format. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/measure/coverage.h"
#include "postproc/model/lines.h"

enum kind { KIND_FUNCTION, KIND_BRANCH, KIND_LINE };

/* One line of the output, but for the sums. */
struct item {
	const char *file;
	enum kind kind;
	bool begins; /* of a line: a statement of it is among the code */
	unsigned line;
	uint64_t executed;      /* so often, or 1 */
	uint64_t taken, passed; /* of a branch; likewise */
	uint64_t inside;        /* of a line: blocks that start in other code of it, likewise */
	uint32_t function;      /* of a function, and that of a branch or a line; of the session */
	uint32_t address;       /* of a branch */
};

struct lcov {
	struct post_output *output;
	const struct post_covered_module *module; /* whose rows are walked */
	struct item *items;
	size_t count, capacity;
	char **files;
	size_t file_count, file_capacity;
	const char *last_given; /* the file of the row before, and its name */
	const char *last_name;
	const struct litifut_block *last_function; /* of which a row was the first */
};

/* Takes `.` and what `..` undoes out of a path, in place. */
static void shorten(char *path)
{
	char *to = path, *from = path;

	while (*from) {
		if (!strncmp(from, "/./", 3)) {
			from += 2;
		} else if (!strncmp(from, "/../", 4) && to > path) {
			while (to > path && *--to != '/')
				;
			from += 3;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

static const char *file_of(struct lcov *lcov, const struct post_line_row *row)
{
	char *name;
	size_t bytes;

	if (lcov->last_given == row->file)
		return lcov->last_name;
	bytes = strlen(row->file) + (row->folder ? strlen(row->folder) : 0) + 2;
	name = post_allocate(bytes, 1);
	snprintf(name, bytes, "%s%s%s", row->file[0] != '/' && row->folder ? row->folder : "",
		 row->file[0] != '/' && row->folder ? "/" : "", row->file);
	shorten(name);
	lcov->last_given = row->file;
	for (size_t i = lcov->file_count; i-- > 0;)
		if (!strcmp(lcov->files[i], name)) {
			free(name);
			return lcov->last_name = lcov->files[i];
		}
	POST_GROW(lcov->files, lcov->file_count, lcov->file_capacity);
	return lcov->last_name = lcov->files[lcov->file_count++] = name;
}

static void add(struct lcov *lcov, const struct item *item)
{
	POST_GROW(lcov->items, lcov->count, lcov->capacity);
	lcov->items[lcov->count++] = *item;
}

/* The number of the first block that ends behind `address`. */
static size_t first_behind(const struct post_covered_module *module, uint32_t address)
{
	size_t low = 0, high = module->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (module->blocks[middle].block.end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* At least 1 where it is known to have been. */
static uint64_t times_of(bool executed, uint64_t times)
{
	return executed && !times ? 1 : times;
}

static void take_row(void *context, const struct post_line_row *row)
{
	struct lcov *lcov = context;
	struct post_session *session = lcov->output->session;
	const struct post_covered_module *module = lcov->module;
	size_t at = first_behind(module, row->start);
	struct item item = {.kind = KIND_LINE, .line = row->line};
	bool is_known = false;

	if (at == module->count || module->blocks[at].block.start >= row->end)
		return;
	item.file = file_of(lcov, row);
	for (size_t i = at; i < module->count && module->blocks[i].block.start < row->end; i++) {
		const struct post_covered_block *block = &module->blocks[i];
		struct item other = item;

		/* a line of 0 would say that it was not executed */
		if (block->state == POST_NOT_KNOWN)
			continue;
		is_known = true;
		const uint64_t executed = times_of(block->state == POST_EXECUTED, block->times);

		if (row->begins && executed > item.executed)
			item.executed = executed;
		if (!row->begins && !row->empty && block->block.start >= row->start &&
		    executed > item.inside)
			item.inside = executed;
		if (block->block.start == row->start &&
		    block->block.flags & LITIFUT_BLOCK_FUNCTION &&
		    lcov->last_function != &block->block) {
			lcov->last_function = &block->block;
			other.kind = KIND_FUNCTION;
			other.executed = executed;
			other.function =
				post_session_function(session, module->module, block->block.start);
			add(lcov, &other);
		}
		if (!row->empty && post_coverage_is_branch(block) &&
		    block->block.branch >= row->start && block->block.branch < row->end) {
			other.kind = KIND_BRANCH;
			other.executed = executed;
			other.taken = times_of(block->taken, block->times_taken);
			other.passed = times_of(block->passed, block->times_passed);
			other.address = block->block.branch;
			add(lcov, &other);
		}
	}
	if ((!row->begins && !item.inside) || !is_known)
		return;
	item.begins = row->begins;
	item.function =
		post_session_function(session, module->module, module->blocks[at].block.start);
	add(lcov, &item);
}

static int compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int files = a->file == b->file ? 0 : strcmp(a->file, b->file);

	if (files)
		return files;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->kind != KIND_BRANCH && a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* Are they about the same? */
static bool is_same(const struct item *a, const struct item *b)
{
	return a->kind == b->kind && a->line == b->line && a->kind != KIND_BRANCH &&
	       a->function == b->function;
}

static void join(struct item *kept, const struct item *other)
{
	kept->begins |= other->begins;
	if (kept->executed < other->executed)
		kept->executed = other->executed;
	if (kept->inside < other->inside)
		kept->inside = other->inside;
}

static bool is_same_line(const struct item *a, const struct item *b)
{
	return a->kind == KIND_LINE && b->kind == KIND_LINE && a->line == b->line;
}

static void write_file(struct lcov *lcov, struct item *items, size_t count)
{
	FILE *file = lcov->output->file;
	const struct post_session *session = lcov->output->session;
	size_t found[3] = {0}, hit[3] = {0}, kept = 0, whole = 0;

	for (size_t i = 0; i < count; i++) {
		if (!kept || !is_same(&items[kept - 1], &items[i]))
			items[kept++] = items[i];
		else
			join(&items[kept - 1], &items[i]);
	}
	count = kept;
	for (kept = 0; whole < count; whole++) {
		if (items[whole].kind == KIND_LINE && !items[whole].begins)
			continue;
		if (items[whole].executed && items[whole].executed < items[whole].inside)
			items[whole].executed = items[whole].inside;
		if (kept && is_same_line(&items[kept - 1], &items[whole]))
			items[kept - 1].executed += items[whole].executed;
		else
			items[kept++] = items[whole];
	}
	fprintf(file, "TN:\nSF:%s\n", items[0].file);
	for (size_t i = 0; i < kept && items[i].kind == KIND_FUNCTION; i++)
		fprintf(file, "FN:%u,%s\n", items[i].line,
			session->functions[items[i].function].name);
	for (size_t i = 0; i < kept; i++) {
		const struct item *item = &items[i];

		found[item->kind] += item->kind == KIND_BRANCH ? 2 : 1;
		switch (item->kind) {
		case KIND_FUNCTION:
			fprintf(file, "FNDA:%" PRIu64 ",%s\n", item->executed,
				session->functions[item->function].name);
			break;
		case KIND_BRANCH:
			for (unsigned way = 0; way < 2; way++) {
				const uint64_t gone = way ? item->passed : item->taken;

				hit[KIND_BRANCH] += gone != 0;
				fprintf(file, "BRDA:%u,%zu,%u,", item->line, i, way);
				if (item->executed)
					fprintf(file, "%" PRIu64 "\n", gone);
				else
					fputs("-\n", file);
			}
			continue;
		case KIND_LINE:
			fprintf(file, "DA:%u,%" PRIu64 "\n", item->line, item->executed);
			break;
		}
		hit[item->kind] += item->executed != 0;
	}
	fprintf(file, "FNF:%zu\nFNH:%zu\nBRF:%zu\nBRH:%zu\nLF:%zu\nLH:%zu\nend_of_record\n",
		found[KIND_FUNCTION], hit[KIND_FUNCTION], found[KIND_BRANCH], hit[KIND_BRANCH],
		found[KIND_LINE], hit[KIND_LINE]);
}

static void finish(struct post_output *output)
{
	struct post_session *session = output->session;
	struct lcov lcov = {.output = output};
	struct post_coverage coverage;

	post_coverage_collect(session, &coverage);
	for (size_t i = 0; i < coverage.count; i++) {
		const size_t before = lcov.count;
		bool some;

		lcov.module = &coverage.modules[i];
		if (!lcov.module->count)
			continue;
		some = post_lines_walk(session, lcov.module->module, take_row, &lcov);
		if (lcov.count == before)
			post_problem_at(session->problems,
					session->modules[lcov.module->module].name,
					LITIFUT_NO_ADDRESS,
					"no debugging information%s, so its lines are not known: "
					"compile with %s",
					some ? " of the code that is traced" : "",
					post_lines_option(session));
	}
	if (lcov.count)
		qsort(lcov.items, lcov.count, sizeof(*lcov.items), compare);
	for (size_t first = 0, end; first < lcov.count; first = end) {
		for (end = first + 1;
		     end < lcov.count && !strcmp(lcov.items[end].file, lcov.items[first].file);)
			end++;
		write_file(&lcov, &lcov.items[first], end - first);
	}
	for (size_t i = 0; i < lcov.file_count; i++)
		free(lcov.files[i]);
	free(lcov.files);
	free(lcov.items);
	post_coverage_release(&coverage);
}

const struct post_format post_format_lcov = {
	.name = "lcov",
	.summary = "for genhtml: lines, functions and branches (LITIFUT_MODE=coverage)",
	.flags = true,
	.finish = finish,
};
