#include "postproc/paths/sizes.h"

#include "postproc/table.h"

/* Beside a number: is it that of a path, and is its function left? */
#define EXTRA_BITS 2u

unsigned path_token_bits(const struct path_numbers *numbers, const struct path_token *token)
{
	return EXTRA_BITS + path_bits(token->kind == PATH_ENTERS
					      ? numbers->independent
					      : numbers->functions[token->function].paths);
}

static void add_entry(struct path_entries *entries, uint64_t value)
{
	POST_GROW(entries->items, entries->count, entries->capacity);
	entries->items[entries->count++] = (uint16_t)value;
}

void path_entries_make(const struct path_numbers *numbers, const struct path_replay *replay,
		       struct path_entries *entries)
{
	*entries = (struct path_entries){0};
	for (size_t i = 0; i < replay->token_count; i++) {
		const struct path_token *token = &replay->tokens[i];
		const unsigned bits = path_token_bits(numbers, token);
		uint64_t value = token->kind == PATH_ENTERS ? token->function : token->id;

		add_entry(entries, value << EXTRA_BITS | token->kind);
		value >>= 16 - EXTRA_BITS;
		for (unsigned done = 16; done < bits; done += 16, value >>= 16)
			add_entry(entries, value);
	}
}

static void add_tokens(const struct path_numbers *numbers, const struct path_replay *replay,
		       uint64_t *fixed, uint64_t *variable)
{
	*fixed = *variable = 0;
	for (size_t i = 0; i < replay->token_count; i++) {
		const unsigned bits = path_token_bits(numbers, &replay->tokens[i]);

		*fixed += (bits + 15) / 16 * 16;
		*variable += bits;
	}
}

/* The tokens of LIS for a function: one for each way out of a decision, and one for its end. */
static uint64_t own_tokens(const struct path_flow *flow, uint32_t function)
{
	const struct path_function *about = &flow->functions[function];
	uint64_t count = 1;

	for (uint32_t i = about->first; i < about->first + about->count; i++)
		count += flow->nodes[i].count > 1 ? flow->nodes[i].count : 0;
	return count;
}

static void add_lis(const struct path_flow *flow, const struct path_replay *replay,
		    struct path_sizes *sizes)
{
	uint64_t functions = 0, tokens = 0, logged = 0;

	for (uint32_t f = 0; f < flow->function_count; f++) {
		functions += flow->functions[f].traced;
		tokens += flow->functions[f].traced ? 1 + own_tokens(flow, f) : 0;
	}
	for (uint32_t f = 0; f < flow->function_count; f++) {
		if (!flow->functions[f].traced)
			continue;
		logged += 2 * replay->activations[f] + replay->decisions[f];
		sizes->lis_local += replay->activations[f] * path_bits(functions) +
				    (replay->activations[f] + replay->decisions[f]) *
					    path_bits(own_tokens(flow, f));
	}
	sizes->lis_global = logged * path_bits(tokens);
}

void path_sizes_make(const struct path_flow *flow, const struct path_numbers numbers[2],
		     const struct path_replay replays[2], struct path_sizes *sizes)
{
	const struct path_replay *whole = &replays[1];
	static const unsigned histories[] = {10, 12, 16};

	*sizes = (struct path_sizes){
		.branches = whole->branch_count,
		.jumps = whole->jump_bits,
		.unknown = 16 * whole->entered_unknown,
	};
	add_tokens(&numbers[0], &replays[0], &sizes->node_md, &sizes->node_md_variable);
	add_tokens(&numbers[1], whole, &sizes->tiny, &sizes->tiny_variable);
	add_lis(flow, whole, sizes);
	const uint64_t entries = sizes->tiny / 16, without = 2 * whole->inner_loops;
	for (unsigned bits = PATH_MR_FIRST; bits <= PATH_MR_LAST; bits++)
		sizes->melski_reps[bits - PATH_MR_FIRST] =
			(entries > without ? entries - without : 0) * bits;
	for (unsigned i = 0; i < 3; i++)
		sizes->predicted[i] =
			path_predicted_bits(whole->branches, whole->branch_count, histories[i]);
}
