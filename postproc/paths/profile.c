#include "postproc/paths/profile.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/paths/instructions.h"
#include "postproc/paths/program.h"

/* How many instructions each line of a block has. */
static void look_up(struct post_path_profile *profile, struct post_path_module_costs *module,
		    uint32_t block)
{
	const struct post_image *image = profile->session->modules[module->code->module].image;
	const struct litifut_block *about = &module->code->blocks[block].block;
	const struct post_path_lines *lines =
		post_path_lines(&profile->lines, profile->session, module->code, block);
	struct post_path_block_cost *cost = &module->blocks[block];
	size_t count, at = 0;
	struct post_path_instruction *list =
		post_path_instructions(image, module->plain, about, &count);

	cost->instructions = post_allocate(lines->count, sizeof(*cost->instructions));
	for (uint32_t i = 0; i < lines->count; i++) {
		const uint32_t end =
			i + 1 < lines->count ? lines->items[i + 1].address : about->end;

		for (; at < count && list[at].address < end; at++)
			cost->instructions[i]++;
	}
	cost->all = (uint32_t)count;
	free(list);
}

static struct post_path_module_costs *costs_of(struct post_path_profile *profile,
					       const struct post_path_code *code)
{
	struct post_path_module_costs *module;

	POST_WIDEN(profile->modules, profile->module_count, code->module,
		   profile->session->module_count);
	module = &profile->modules[code->module];
	if (!module->code) {
		module->code = code;
		module->plain = path_program_plain(profile->session->modules[code->module].image);
		module->blocks = post_allocate(code->count, sizeof(*module->blocks));
	}
	return module;
}

static uint64_t cost(void *context, const struct post_path_code *code, uint32_t block)
{
	struct post_path_profile *profile = context;
	struct post_path_module_costs *module = costs_of(profile, code);

	if (!module->blocks[block].instructions)
		look_up(profile, module, block);
	module->blocks[block].executed++;
	return module->blocks[block].all;
}

/* A call has ended. */
static void leave(void *context, const struct post_path_thread *thread)
{
	struct post_path_profile *profile = context;
	const size_t depth = thread->count - 1;
	const struct post_path_activation *callee = &thread->open[depth];
	const uint32_t block = post_path_caller(thread, depth);
	struct post_path_calls *calls;
	uint32_t number;

	if (!callee->code || block == POST_NONE)
		return;
	const struct post_path_code *caller = thread->open[depth - 1].code;
	const struct post_key key = {
		{caller->module, block, callee->code->module, callee->function}};

	number = post_table_find(&profile->index, key);
	if (number == POST_NONE) {
		number = (uint32_t)profile->call_count;
		post_table_put(&profile->index, key, number);
		POST_GROW(profile->calls, profile->call_count, profile->call_capacity);
		profile->calls[profile->call_count++] = (struct post_path_calls){
			caller, callee->code, block, callee->function, 0, 0};
	}
	calls = &profile->calls[number];
	calls->count++;
	calls->cost += thread->cost - callee->cost_before;
}

static void take(void *context, const struct post_path_step *step)
{
	struct post_path_profile *profile = context;

	if (post_path_track(&profile->tracker, step))
		costs_of(profile, step->code)->blocks[step->block].begun++;
}

static int by_block(const void *left, const void *right)
{
	const struct post_path_calls *a = left, *b = right;

	if (a->caller->module != b->caller->module)
		return a->caller->module < b->caller->module ? -1 : 1;
	return a->block < b->block ? -1 : a->block > b->block;
}

bool post_path_profile_possible(const struct post_session *session)
{
	for (size_t i = 0; i < session->process_count; i++)
		if (session->processes[i]->trace && session->processes[i]->trace->bits_count)
			return true;
	return false;
}

void post_path_profile_collect(struct post_session *session, struct post_path_profile *profile)
{
	*profile = (struct post_path_profile){.session = session};
	for (size_t i = 0; i < session->process_count; i++) {
		if (!session->processes[i]->trace || !session->processes[i]->trace->bits_count)
			continue;
		profile->tracker = (struct post_path_tracker){
			.leave = leave, .cost = cost, .context = profile};
		post_paths_walk(session, session->processes[i], &profile->codes, take, profile,
				&(struct post_path_totals){0});
		post_path_track_end(&profile->tracker);
	}
	if (profile->call_count)
		qsort(profile->calls, profile->call_count, sizeof(*profile->calls), by_block);
}

void post_path_profile_release(struct post_path_profile *profile)
{
	for (size_t i = 0; i < profile->module_count; i++) {
		struct post_path_module_costs *module = &profile->modules[i];

		for (size_t j = 0; module->code && j < module->code->count; j++)
			free(module->blocks[j].instructions);
		free(module->blocks);
		free(module->plain);
	}
	free(profile->modules);
	free(profile->calls);
	post_table_release(&profile->index);
	post_path_lines_release(&profile->lines);
	post_path_codes_release(&profile->codes);
}

uint64_t post_path_profile_sum(const struct post_path_module_costs *module, uint32_t first,
			       uint32_t end)
{
	uint64_t sum = 0;

	for (uint32_t i = first; i < end; i++)
		sum += module->blocks[i].all * module->blocks[i].executed;
	return sum;
}

uint32_t post_path_profile_end(const struct post_path_code *code, uint32_t first)
{
	uint32_t end = first;

	while (end < code->count && code->blocks[end].function == code->blocks[first].function)
		end++;
	return end;
}

uint32_t post_path_calls_site(const struct post_path_calls *calls)
{
	const struct litifut_block *block = &calls->caller->blocks[calls->block].block;

	return block->branch ? block->branch : block->start;
}

uint32_t post_path_profile_function(const struct post_path_profile *profile,
				    const struct post_path_code *code, uint32_t block)
{
	return post_session_function(profile->session, code->module,
				     code->blocks[block].block.start);
}
