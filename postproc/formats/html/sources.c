/* Source files of a report. */
#include "postproc/formats/html/sources.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/source_files.h"
#include "postproc/formats/text.h"
#include "postproc/model/lines.h"

static uint32_t file_number(struct post_html_sources *sources, const char *name)
{
	struct post_key key = {
		{(uint32_t)(uintptr_t)name, (uint32_t)((uint64_t)(uintptr_t)name >> 32)}};
	uint32_t number = post_table_find(&sources->index, key);

	if (number != POST_NONE)
		return number;
	for (number = 0; number < sources->file_count; number++) {
		if (!strcmp(sources->names[number], name))
			break;
	}
	if (number == sources->file_count) {
		POST_GROW(sources->names, sources->file_count, sources->file_capacity);
		sources->names[sources->file_count++] = post_copy_text(name);
	}
	post_table_put(&sources->index, key, number);
	return number;
}

uint32_t post_html_sources_count(struct post_html_sources *sources, uint32_t module,
				 uint32_t address, const struct post_html_counts *counts,
				 unsigned *line)
{
	const char *name;

	*line = 0;
	if (!post_lines_place(sources->session, module, address, &name, line))
		return POST_NONE;
	struct post_key key = {{file_number(sources, name), *line}};
	uint32_t number = post_table_find(&sources->line_index, key);
	if (number == POST_NONE) {
		POST_GROW(sources->lines, sources->line_count, sources->line_capacity);
		number = (uint32_t)sources->line_count++;
		sources->lines[number] =
			(struct post_html_line){.file = key.part[0], .line = *line};
		post_table_put(&sources->line_index, key, number);
	}
	struct post_html_counts *sum = &sources->lines[number].counts;
	sum->entered += counts->entered;
	sum->made += counts->made;
	sum->time += counts->time;
	sum->has_code |= counts->has_code;
	sum->executed |= counts->executed;
	sum->branches += counts->branches;
	sum->ways += counts->ways;
	if (counts->times > sum->times)
		sum->times = counts->times;
	return key.part[0];
}

static int by_place(const void *left, const void *right)
{
	const struct post_html_line *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static void write_source(FILE *file, const struct post_html_sources *sources, size_t first,
			 size_t end, const char *text)
{
	uint64_t calls = 0;

	fprintf(file, "\n{\"file\":%u,\"lines\":[", sources->lines[first].file);
	for (size_t i = first; i < end; i++) {
		const struct post_html_line *line = &sources->lines[i];
		fprintf(file, "%s[%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64, i > first ? "," : "",
			line->line, line->counts.entered, line->counts.made, line->counts.time);
		if (line->counts.has_code)
			fprintf(file, ",%d,%u,%u,%" PRIu64, line->counts.executed,
				line->counts.branches, line->counts.ways, line->counts.times);
		putc(']', file);
		calls += line->counts.entered;
	}
	fprintf(file, "],\"calls\":%" PRIu64 ",\"text\":", calls);
	post_write_json_text(file, text);
	putc('}', file);
}

void post_html_sources_write(struct post_html_sources *sources, FILE *file)
{
	size_t room = POST_HTML_TEXT_BYTES, missing = 0;
	bool some = false;

	fputs("\"files\":[", file);
	for (size_t i = 0; i < sources->file_count; i++) {
		fputs(i ? ",\n" : "", file);
		post_write_json_text(file, sources->names[i]);
	}
	fputs("],\n\"sources\":[", file);
	if (sources->line_count)
		qsort(sources->lines, sources->line_count, sizeof(*sources->lines), by_place);
	for (size_t first = 0, end; first < sources->line_count; first = end) {
		uint32_t number = sources->lines[first].file;
		for (end = first; end < sources->line_count && sources->lines[end].file == number;)
			end++;
		char *path = post_source_find(sources->folders, sources->names[number]);
		char *text = path ? post_source_read(path, room) : NULL;
		if (text) {
			room -= strlen(text);
			fputs(some ? "," : "", file);
			write_source(file, sources, first, end, text);
			some = true;
		} else {
			missing++;
		}
		free(path);
		free(text);
	}
	fprintf(file, "],\n\"sources_missing\":%zu,\n", missing);
}

void post_html_sources_release(struct post_html_sources *sources)
{
	for (size_t i = 0; i < sources->file_count; i++)
		free(sources->names[i]);
	free(sources->names);
	free(sources->lines);
	post_table_release(&sources->index);
	post_table_release(&sources->line_index);
}
