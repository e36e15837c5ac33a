#include "postproc/paths/traced.h"

#include <stdlib.h>

#include "postproc/paths/walk.h"

struct reading {
	struct post_session *session;
	uint64_t *blocks; /* of each module; NULL: lanes are filled */
	const struct path_program *program;
	struct path_executed *executed;
};

static void take(void *context, const struct post_path_step *step)
{
	struct reading *reading = context;
	struct path_lane *lane;

	if (step->kind != POST_PATH_BLOCK && step->kind != POST_PATH_GAP)
		return;
	if (reading->blocks) {
		if (step->kind == POST_PATH_BLOCK)
			reading->blocks[step->code->module]++;
		return;
	}
	if (step->kind == POST_PATH_BLOCK &&
	    reading->session->modules[step->code->module].image != reading->program->image)
		return;
	lane = path_executed_lane(reading->executed, step->thread);
	path_executed_add(lane, step->kind == POST_PATH_GAP ? PATH_NO_BLOCK : step->block);
}

static void walk_all(struct reading *reading)
{
	struct post_path_codes codes = {0};
	struct post_path_totals totals = {0};

	for (size_t i = 0; i < reading->session->process_count; i++) {
		const struct post_process *process = reading->session->processes[i];

		if (process->trace && process->trace->bits_count)
			post_paths_walk(reading->session, process, &codes, take, reading, &totals);
	}
	post_path_codes_release(&codes);
}

struct post_image *path_traced_image(struct post_session *session)
{
	struct reading reading = {
		.session = session,
		.blocks = post_allocate(session->module_count + 1, sizeof(*reading.blocks)),
	};
	struct post_problems *problems = session->problems;
	struct post_problems silent = {0};
	size_t found = 0;

	/* the walk that fills lanes says what is wrong; this one only if it is the last */
	session->problems = &silent;
	walk_all(&reading);
	session->problems = problems;
	for (size_t i = 1; i < session->module_count; i++)
		if (reading.blocks[i] > reading.blocks[found])
			found = i;
	const bool any = session->module_count && reading.blocks[found];
	if (!any && silent.count)
		walk_all(&reading);
	free(reading.blocks);
	return any ? session->modules[found].image : NULL;
}

void path_traced_read(struct post_session *session, const struct path_program *program,
		      struct path_executed *executed)
{
	struct reading reading = {.session = session, .program = program, .executed = executed};

	*executed = (struct path_executed){0};
	walk_all(&reading);
}
