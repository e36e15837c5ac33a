/* blocks: a line for each executed block of code, in order, for programs. */
#include "postproc/formats/format.h"
#include "postproc/formats/nodes.h"
#include "postproc/paths/steps_walk.h"

struct blocks {
	struct post_output *output;
	uint32_t process;
	const struct post_nodes *nodes; /* NULL: a process stands behind the other */
};

static void take_block(void *context, const struct post_path_step *step)
{
	const struct blocks *blocks = context;
	struct post_session *session = blocks->output->session;
	FILE *file = blocks->output->file;
	const uint32_t pid = session->processes[blocks->process]->trace->header.pid;

	if (step->kind != POST_PATH_GAP && step->kind != POST_PATH_BLOCK &&
	    step->kind != POST_PATH_POSSIBLE)
		return;
	if (blocks->nodes)
		fprintf(file, "%s\t", blocks->nodes->labels[blocks->process]);
	if (step->kind == POST_PATH_GAP) {
		fprintf(file, "%u\t%u\t\tgap\t\t\n", pid, step->thread);
		return;
	}
	const uint32_t module = step->code->module;
	const uint32_t start = step->code->blocks[step->block].block.start;
	const uint32_t function = post_session_function(session, module, start);

	fprintf(file, "%u\t%u\t%s\t0x%x%s\t%u\t%s\n", pid, step->thread,
		session->modules[module].name, start, step->kind == POST_PATH_POSSIBLE ? "?" : "",
		step->depth, session->functions[function].name);
}

static void take_block_of_node(void *context, uint32_t process, const struct post_path_step *step)
{
	struct blocks *blocks = context;

	blocks->process = process;
	take_block(blocks, step);
}

static void finish(struct post_output *output)
{
	struct post_session *session = output->session;
	struct blocks blocks = {.output = output};
	struct post_path_codes codes = {0};
	struct post_nodes nodes;
	size_t recorded = 0;

	if (post_nodes_wanted(output)) {
		post_nodes_start(&nodes, output);
		blocks.nodes = &nodes;
	}
	fprintf(output->file, "%spid\ttid\tmodule\taddress\tdepth\tfunction\n",
		blocks.nodes ? "node\t" : "");
	for (uint32_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];

		if (!process->trace || !process->trace->bits_count)
			continue;
		recorded++;
		blocks.process = i;
		if (!blocks.nodes)
			post_steps_walk(session, process, &codes, take_block, &blocks,
					&(struct post_path_totals){0});
	}
	if (blocks.nodes) {
		post_nodes_walk(&nodes, &codes, take_block_of_node, &blocks);
		post_nodes_release(&nodes);
	}
	if (!recorded && session->process_count)
		post_session_none_says(session, "in which order code was executed",
				       1u << LITIFUT_MODE_PATHS, "paths");
	post_path_codes_release(&codes);
}

const struct post_format post_format_blocks = {
	.name = "blocks",
	.summary = "a line for each executed block of code, in order (LITIFUT_MODE=paths)",
	.uses = POST_USES_ORDER,
	.flags = true,
	.finish = finish,
};
