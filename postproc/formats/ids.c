/* ids: the numbers of paths that LITIFUT_MODE=balllarus has recorded, a line for each, with the
 * blocks that it stands for. */
#include <inttypes.h>

#include "postproc/formats/format.h"
#include "postproc/paths/numbers.h"

struct ids {
	struct post_output *output;
	uint32_t pid;
};

static void take(void *context, const struct post_number *number)
{
	const struct ids *ids = context;
	struct post_session *session = ids->output->session;
	FILE *file = ids->output->file;
	uint32_t start, function;

	if (!number->code) {
		fprintf(file, "%u\t%u\tgap\t\t\n", ids->pid, number->thread);
		return;
	}
	start = number->code->blocks[number->function].block.start;
	function = post_session_function(session, number->code->module, start);
	fprintf(file, "%u\t%u\t%s\t%u\t", ids->pid, number->thread,
		session->functions[function].name, number->id);
	for (size_t i = 0; i < number->block_count; i++)
		fprintf(file, "%s0x%x", i ? " " : "",
			number->code->blocks[number->blocks[i].block].block.start);
	putc('\n', file);
}

static void finish(struct post_output *output)
{
	struct post_session *session = output->session;
	struct post_path_codes codes = {0};
	bool recorded = false;

	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		struct ids ids = {.output = output};

		if (!process->trace || !post_numbers_are_in(session, process))
			continue;
		if (!recorded) /* -o leaves no file where nothing is written */
			fputs("pid\ttid\tfunction\tid\tblocks\n", output->file);
		recorded = true;
		ids.pid = process->trace->header.pid;
		post_numbers_read(session, process, &codes, take, &ids);
	}
	if (!recorded && session->process_count)
		post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
				"no trace has numbers of paths: link a firmware with "
				"LITIFUT_MODE=balllarus, or use -f units of LITIFUT_MODE=paths");
	post_path_codes_release(&codes);
}

const struct post_format post_format_ids = {
	.name = "ids",
	.summary =
		"numbers of executed paths, in order, with their blocks (LITIFUT_MODE=balllarus)",
	.flags = true,
	.finish = finish,
};
