#include "postproc/paths/executed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/table.h"

/* Of what a log could name; a damaged one may have any number. */
#define MOST_LANES 4096u
#define PAGE_BYTES 4096u /* of all CPUs in QEMU's user mode */

struct reader {
	const struct path_program *program;
	struct path_executed *executed;
	struct path_lane *last;
	bool placing; /* only where the program was loaded is looked for */
	bool placed;
};

struct path_lane *path_executed_lane(struct path_executed *executed, unsigned number)
{
	for (size_t i = 0; i < executed->lane_count; i++)
		if (executed->lanes[i].number == number)
			return &executed->lanes[i];
	if (executed->lane_count == MOST_LANES)
		return &executed->lanes[MOST_LANES - 1];
	POST_GROW(executed->lanes, executed->lane_count, executed->lane_capacity);
	executed->lanes[executed->lane_count] =
		(struct path_lane){.number = number, .pending = PATH_NO_BLOCK};
	return &executed->lanes[executed->lane_count++];
}

void path_executed_add(struct path_lane *lane, uint32_t block)
{
	POST_GROW(lane->blocks, lane->count, lane->capacity);
	lane->blocks[lane->count++] = block;
}

/* QEMU translates code up to the next branch, or to the end of the page; what it goes on with there
 * has another line. */
static bool is_cut(const struct path_lane *lane, uint32_t address)
{
	return (lane->from ^ address) & ~(PAGE_BYTES - 1);
}

/* Control comes to `address`, at the start of `block` or within it. The blocks that it has passed
 * on the way there, from the one before, have no lines. In a program that is recorded
 * the start of the next block may have been moved elsewhere, and other code comes by on its way
 * there. */
static void arrive(const struct path_program *program, struct path_lane *lane, uint32_t block,
		   uint32_t address)
{
	const bool at_start = program->image->blocks[block].start == address;
	const uint32_t last = lane->count ? lane->blocks[lane->count - 1] : PATH_NO_BLOCK;
	uint32_t passed = last;

	while (passed != PATH_NO_BLOCK && path_program_goes_on(program, passed) &&
	       !(passed + 1 == block && (!at_start || is_cut(lane, address))))
		passed++;
	if (at_start || last == block || (passed != PATH_NO_BLOCK && passed + 1 == block))
		lane->from = address;
	if (!at_start && (passed == PATH_NO_BLOCK || passed + 1 != block))
		return;
	for (uint32_t i = last; i != passed;)
		path_executed_add(lane, ++i);
	path_executed_add(lane, block);
}

static void flush(const struct path_program *program, struct path_lane *lane)
{
	if (lane->pending != PATH_NO_BLOCK)
		arrive(program, lane, lane->pending, program->image->blocks[lane->pending].start);
	lane->pending = PATH_NO_BLOCK;
}

/* The first function whose name stands beside a place that may be its start says where the program
 * was loaded. */
static void place(struct reader *reader, const char *symbol, uint32_t address)
{
	const struct path_program *program = reader->program;

	for (uint32_t f = 0; *symbol && f < program->graph.flow.function_count; f++) {
		const uint32_t start = program->image->blocks[program->graph.first_block[f]].start;

		if (strcmp(program->names[f], symbol) || ((address - start) & 0xfff))
			continue;
		reader->executed->bias = address - start;
		reader->placed = true;
		return;
	}
}

static void take(struct reader *reader, unsigned number, uint32_t address)
{
	const struct path_program *program = reader->program;
	const uint32_t linked = (address & ~1u) - reader->executed->bias;
	const uint32_t block = post_image_block(program->image, linked);
	struct path_lane *lane = path_executed_lane(reader->executed, number);

	flush(program, lane);
	reader->last = lane;
	if (block == PATH_NO_BLOCK)
		return;
	if (program->image->blocks[block].start == linked)
		lane->pending = block;
	else
		arrive(program, lane, block, linked);
}

/* "Trace 0: 0x7f5c [cs/pc/flags/more] symbol" */
static void read_trace(struct reader *reader, char *line)
{
	char *bracket = strchr(line, '['), *slash, *end, *symbol;
	unsigned number = (unsigned)strtoul(line, NULL, 10);
	uint32_t address;

	slash = bracket ? strchr(bracket, '/') : NULL;
	end = bracket ? strchr(bracket, ']') : NULL;
	if (!slash || !end || slash > end)
		return;
	address = (uint32_t)strtoull(slash + 1, NULL, 16);
	symbol = end + 1 + strspn(end + 1, " ");
	symbol[strcspn(symbol, "\r\n")] = '\0';
	if (reader->placing)
		place(reader, symbol, address);
	else
		take(reader, number, address);
}

static void read_line(struct reader *reader, char *line)
{
	static const char trace[] = "Trace ", stopped[] = "Stopped execution";
	char *end;
	unsigned long address;

	if (!strncmp(line, trace, sizeof(trace) - 1)) {
		read_trace(reader, line + sizeof(trace) - 1);
	} else if (!strncmp(line, stopped, sizeof(stopped) - 1)) {
		if (reader->last) /* what was logged last is not done yet */
			reader->last->pending = PATH_NO_BLOCK;
	} else {
		address = strtoul(line, &end, 16);
		if (end > line && !end[strspn(end, " \t\r\n")] && !reader->placing)
			take(reader, 0, (uint32_t)address);
	}
}

enum litifut_status path_executed_read(const char *path, const struct path_program *program,
				       struct path_executed *executed, struct litifut_error *error)
{
	struct reader reader = {.program = program, .executed = executed};
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0, blocks = 0;
	int failed;

	*executed = (struct path_executed){0};
	if (!file)
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "%s", strerror(errno));
	/* code without a name is executed before the first with one */
	for (reader.placing = true; !reader.placed && getline(&line, &size, file) > 0;)
		read_line(&reader, line);
	reader.placing = false;
	rewind(file);
	while (getline(&line, &size, file) > 0)
		read_line(&reader, line);
	failed = ferror(file) ? errno : 0;
	free(line);
	fclose(file);
	if (failed)
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "%s", strerror(failed));
	for (size_t i = 0; i < executed->lane_count; i++) {
		flush(program, &executed->lanes[i]);
		blocks += executed->lanes[i].count;
	}
	if (!blocks)
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "no line is about code of %s: it must be the log of "
					 "qemu -d exec,nochain of this program",
					 program->image->path);
	return LITIFUT_OK;
}

void path_executed_release(struct path_executed *executed)
{
	for (size_t i = 0; i < executed->lane_count; i++)
		free(executed->lanes[i].blocks);
	free(executed->lanes);
	*executed = (struct path_executed){0};
}
