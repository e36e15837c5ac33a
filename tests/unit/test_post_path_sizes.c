/* Programs made at random are executed; from their blocks alone the numbers of their paths must be
 * found, and give the same paths again. And: what compresses sequences of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/paths/sizes.h"

#define BLOCKS 200u
#define BLOCK_BYTES 4u
#define BASE 0x1000u

static uint32_t seed;

static uint32_t any(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * limit >> 32);
}

struct machine {
	struct litifut_block blocks[BLOCKS];
	uint32_t functions[BLOCKS + 1]; /* their first blocks */
	uint32_t function_count;
	struct path_lane lane;
	uint64_t activations, branches;
};

static uint32_t address(uint32_t block)
{
	return BASE + block * BLOCK_BYTES;
}

static void make_block(struct machine *machine, uint32_t number, uint32_t first, uint32_t end)
{
	static const uint8_t kinds[] = {LITIFUT_ENDS_ON,   LITIFUT_ENDS_BRANCH, LITIFUT_ENDS_BRANCH,
					LITIFUT_ENDS_CALL, LITIFUT_ENDS_RETURN, LITIFUT_ENDS_JUMP};
	struct litifut_block *block = &machine->blocks[number];
	const bool last = number + 1 == end;

	*block = (struct litifut_block){
		.start = address(number),
		.end = address(number + 1),
		.branch = address(number),
		.ends = last ? LITIFUT_ENDS_RETURN : kinds[any(sizeof(kinds))],
		.flags = number == first ? LITIFUT_BLOCK_FUNCTION
			 : any(8)        ? 0
					 : LITIFUT_BLOCK_LABEL,
	};
	if (!last && block->ends != LITIFUT_ENDS_ON && block->ends != LITIFUT_ENDS_JUMP && any(3))
		block->flags |= LITIFUT_BLOCK_CONDITIONAL;
	if (block->ends == LITIFUT_ENDS_BRANCH) {
		/* within the function; mostly onward, and now and then a tail call */
		uint32_t target = any(8) ? number + 2 + any(4) : first + any(end - first);

		block->target = address(target < end ? target : end - 1);
		if (!any(8))
			block->target = address(machine->functions[any(machine->function_count)]);
		if (block->target == block->end)
			block->flags &= (uint8_t)~LITIFUT_BLOCK_CONDITIONAL;
	}
	/* calls go to functions that come later, and now and then to any */
	if (block->ends == LITIFUT_ENDS_CALL && any(6)) {
		uint32_t callee = any(machine->function_count);

		while (any(8) && callee + 1 < machine->function_count &&
		       machine->functions[callee] <= number)
			callee++;
		block->target = address(machine->functions[callee]);
	}
}

static void make_machine(struct machine *machine)
{
	machine->function_count = 0;
	for (uint32_t at = 0; at < BLOCKS; at += 2 + any(12))
		machine->functions[machine->function_count++] = at;
	machine->functions[machine->function_count] = BLOCKS;
	for (uint32_t f = 0; f < machine->function_count; f++)
		for (uint32_t i = machine->functions[f]; i < machine->functions[f + 1]; i++)
			make_block(machine, i, machine->functions[f], machine->functions[f + 1]);
}

static bool begins_function(const struct machine *machine, uint32_t block)
{
	return machine->blocks[block].flags & LITIFUT_BLOCK_FUNCTION;
}

static void execute_block(struct machine *machine, uint32_t block)
{
	struct path_lane *lane = &machine->lane;

	if (lane->count == lane->capacity) {
		lane->capacity = 2 * lane->capacity + 64;
		lane->blocks = realloc(lane->blocks, lane->capacity * sizeof(*lane->blocks));
	}
	lane->blocks[lane->count++] = block;
}

/* A label of the function, BLOCKS: it has none. */
static uint32_t any_label(const struct machine *machine, uint32_t block)
{
	uint32_t first = block, found = BLOCKS, count = 0;

	while (!begins_function(machine, first))
		first--;
	for (uint32_t i = first; i < BLOCKS && (i == first || !begins_function(machine, i)); i++)
		if (machine->blocks[i].flags & LITIFUT_BLOCK_LABEL && !any(++count))
			found = i;
	return found;
}

/* Executes some functions, one after the other, until it is enough. */
static void execute(struct machine *machine)
{
	uint32_t stack[64]; /* blocks to return to */
	unsigned depth = 0, units = 0;
	uint32_t at = 0;

	machine->lane.count = 0;
	machine->activations = 1;
	machine->branches = 0;
	for (unsigned steps = 0;; steps++) {
		const struct litifut_block *block = &machine->blocks[at];
		bool taken = true;
		uint32_t next = at + 1;

		execute_block(machine, at);
		if (steps == 4000)
			return;
		if (block->flags & LITIFUT_BLOCK_CONDITIONAL) {
			machine->branches++;
			taken = any(2);
		}
		if (!taken || block->ends == LITIFUT_ENDS_ON) {
			at = next;
			continue;
		}
		if (block->ends == LITIFUT_ENDS_CALL) {
			/* unknown callees come back at once, or are some function */
			uint32_t callee =
				block->target
					? (block->target - BASE) / BLOCK_BYTES
					: machine->functions[any(machine->function_count / 4 + 1)];

			if (!block->target && any(2)) {
				at = next;
				continue;
			}
			if (depth == 64)
				break;
			stack[depth++] = next;
			machine->activations++;
			at = callee;
			continue;
		}
		if (block->ends == LITIFUT_ENDS_BRANCH) {
			at = (block->target - BASE) / BLOCK_BYTES;
			if (begins_function(machine, at)) {
				uint32_t own = (uint32_t)(block - machine->blocks);

				while (!begins_function(machine, own))
					own--;
				machine->activations += own != at; /* a tail call, else a loop */
			}
			continue;
		}
		if (block->ends == LITIFUT_ENDS_JUMP && any_label(machine, at) != BLOCKS) {
			next = any_label(machine, at);
			if (next == BLOCKS)
				break;
			at = next;
			continue;
		}
		if (depth) {
			at = stack[--depth];
		} else if (++units == 30) {
			break;
		} else { /* what is not here calls the next one */
			at = machine->functions[any(machine->function_count / 4 + 1)];
			machine->activations++;
		}
	}
	/* where the last block goes shows in no block */
	machine->branches -= machine->blocks[at].flags & LITIFUT_BLOCK_CONDITIONAL ? 1 : 0;
}

static void random_runs(void **state)
{
	static struct machine machine;
	uint64_t paths = 0, dependent = 0, tokens = 0;

	(void)state;
	seed = 7;
	for (unsigned round = 0; round < 1000; round++) {
		struct post_image image = {.blocks = machine.blocks, .block_count = BLOCKS};
		struct path_executed executed = {.lanes = &machine.lane, .lane_count = 1};
		struct path_options options = {.interprocedural = round & 1,
					       .id_bits = round & 2 ? 64 : 8};
		struct path_program program = {0};
		struct path_numbers numbers = {0};
		struct path_replay replay = {0};
		struct litifut_error error;
		uint64_t activations = 0;

		make_machine(&machine);
		execute(&machine);
		assert_int_equal(path_program_make(&image, NULL, &program, &error), LITIFUT_OK);
		do {
			path_numbers_release(&numbers);
			path_replay_release(&replay);
			path_numbers_make(&program.graph.flow, &options, &numbers);
			path_replay_run(&program, &program.graph.flow, &numbers, &executed,
					&replay);
		} while (replay.again);
		assert_int_equal(replay.different, 0);
		assert_int_equal(replay.cut, 0);
		assert_int_equal(replay.outside, 0);
		assert_int_equal(replay.branch_count, machine.branches);
		for (uint32_t f = 0; f < program.graph.flow.function_count; f++) {
			activations += replay.activations[f];
			dependent += numbers.functions[f].reasons ? 0 : replay.activations[f];
		}
		assert_int_equal(activations, machine.activations);
		paths += replay.equal;
		tokens += replay.token_count;
		path_replay_release(&replay);
		path_numbers_release(&numbers);
		path_program_release(&program);
	}
	free(machine.lane.blocks);
	/* the cases that matter were there */
	assert_true(paths > 20000 && tokens > paths && dependent > 2000);
}

static void grammar(const char *text, size_t symbols, size_t rules)
{
	uint16_t entries[200];
	size_t found[2];

	for (size_t i = 0; text[i]; i++)
		entries[i] = (uint16_t)text[i];
	path_sequitur_grammar(entries, strlen(text), &found[0], &found[1]);
	assert_int_equal(found[0], symbols);
	assert_int_equal(found[1], rules);
}

static void sequitur(void **state)
{
	uint16_t *entries = calloc(100000, sizeof(*entries));
	size_t symbols, rules;

	(void)state;
	grammar("", 0, 1);
	grammar("abc", 3, 1);
	grammar("abcdbc", 6, 2);       /* S: aAdA, A: bc */
	grammar("abcdbcabcdbc", 8, 3); /* S: AA, A: aBdB, B: bc */
	grammar("aaaa", 4, 2);         /* S: AA, A: aa */
	/* 2^16 times the same: each rule is twice the one before */
	path_sequitur_grammar(entries, 65536, &symbols, &rules);
	assert_true(symbols <= 40 && rules <= 18);
	/* what repeats nothing stays as long as it is, and any sequence is taken */
	for (uint32_t i = 0; i < 60000; i++)
		entries[i] = (uint16_t)i;
	path_sequitur_grammar(entries, 60000, &symbols, &rules);
	assert_int_equal(symbols, 60000);
	seed = 3;
	for (uint32_t i = 0; i < 100000; i++)
		entries[i] = (uint16_t)any(2 + i % 3);
	path_sequitur_grammar(entries, 100000, &symbols, &rules);
	assert_true(symbols < 60000);
	free(entries);
}

static void lzw(void **state)
{
	uint16_t entries[1000] = {0};

	(void)state;
	assert_int_equal(path_lzw_bytes(entries, 0), 0);
	/* 20 bytes that are equal: 1, 2, 3, 4, 5 and 5 of them, in 9 bits each */
	assert_int_equal(path_lzw_bytes(entries, 10), 7);
	/* all 256 bytes: nothing is found again; the codes grow to 10 bits behind the 257th */
	for (unsigned i = 0; i < 128; i++)
		entries[i] = (uint16_t)(2 * i | (2 * i + 1) << 8);
	assert_int_equal(path_lzw_bytes(entries, 128), 256 * 9 / 8);
}

static void patterns(void **state)
{
	struct path_pattern found[PATH_MOST_PATTERNS];
	uint16_t entries[96 * 10];
	size_t count;

	(void)state;
	/* a sequence of eight, again and again */
	for (unsigned i = 0; i < 960; i++)
		entries[i] = (uint16_t)(i % 8 + 1);
	count = path_mine(entries, 960, found, 2);
	assert_true(count >= 1);
	assert_int_equal(found[0].count % 8, 0);
	assert_true(found[0].uses >= 40);
	/* a run of one symbol, twice as long as a buffer: its length and itself in each */
	assert_int_equal(path_pattern_bytes(entries, 960, found, 1),
			 found[0].count == 8 || found[0].count == 24 ? 40 : 10 * 2 * 2 * 8 + 40);
	assert_int_equal(path_pattern_bytes(entries, 960, NULL, 0), 1920);
	for (unsigned i = 0; i < 960; i++)
		entries[i] = (uint16_t)i;
	assert_int_equal(path_mine(entries, 960, found, 16), 0);
}

static void predictor(void **state)
{
	uint8_t branches[1024] = {0};

	(void)state;
	assert_int_equal(path_predicted_bits(branches, 0, 10), 0);
	/* 1024 hits, then the end: 256 + 1 in 2 * 8 + 1 bits, and 2 more */
	assert_int_equal(path_predicted_bits(branches, 1024, 10), 19);
	branches[0] = 1; /* a miss at once: 3 bits; it is the past for ten more */
	assert_true(path_predicted_bits(branches, 1024, 10) > 19);
	for (unsigned i = 0; i < 1024; i++)
		branches[i] = i % 5 == 0;
	/* seen once, it is known */
	assert_true(path_predicted_bits(branches, 1024, 10) < 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_runs), cmocka_unit_test(sequitur),  cmocka_unit_test(lzw),
		cmocka_unit_test(patterns),    cmocka_unit_test(predictor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
