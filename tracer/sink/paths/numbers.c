/* LITIFUT_MODE=balllarus: the same ring, with numbers of paths (<litifut/numbers_format.h>). */
#define LITIFUT_NUMBERS
#include "tracer/sink/paths/numbers.h"

#include "tracer/sink/paths/paths.c"

/* A record of what was lost, a number, and the word that is the newest then. */
#define NUMBER_WORDS 4

/* Entry 0 belongs to no activation: its limit is below each stack pointer. */
static struct litifut_numbers_entry litifut_path_stack[1 + LITIFUT_PATHS_DEPTH];
struct litifut_numbers_entry *litifut_path_top = litifut_path_stack;

/* The code that is called for a branch compares with this. */
struct litifut_numbers_entry *const litifut_path_last = &litifut_path_stack[LITIFUT_PATHS_DEPTH];

/* A path has ended whose number is not known. */
static void litifut_numbers_lose(void)
{
	if (litifut_paths.off)
		return;
	litifut_paths.state.lost++;
	/* the next number finds no room, and what was lost is recorded before it */
	litifut_paths.state.stop = litifut_paths.state.cursor;
}

static void litifut_numbers_put(uint32_t word)
{
	uint32_t *newest = litifut_paths_newest();
	const bool closed = litifut_paths_is_closed(newest);
	uint32_t *at = newest ? newest : litifut_paths.next;

	if (litifut_paths.off)
		return;
	if (!at)
		at = litifut_paths_begin();
	const unsigned left = (unsigned)(litifut_table_end - at);
	const bool wraps = left < NUMBER_WORDS;

	if (litifut_paths_free(at) < NUMBER_WORDS + (wraps ? left : 0)) {
		litifut_paths_lose(at);
		return;
	}
	if (wraps)
		at = litifut_paths_wrap(at);
	at = litifut_paths_note(at, closed);
	*at++ = word;
	litifut_paths_open(at, 2);
	litifut_paths_move(at);
	litifut_paths_set_stop(at);
}

static void litifut_numbers_push(uint32_t word, uint32_t stack)
{
	if (litifut_path_top == litifut_path_last)
		litifut_path_top = litifut_path_stack;
	litifut_path_top++;
	litifut_path_top->word = word;
	litifut_path_top->limit = stack + 1;
}

/* Drops activations that have ended without their last branch. */
static void litifut_numbers_drop(uint32_t stack)
{
	while (litifut_path_top != litifut_path_stack && litifut_path_top->limit <= stack)
		litifut_path_top--;
}

static bool litifut_numbers_is_of(uint32_t word)
{
	return litifut_path_top->word >> 16 == word >> 16;
}

void litifut_numbers_slow(enum litifut_numbers_code code, const uint32_t *words, uint32_t stack)
{
	const uint32_t word = words[0];

	if (code == LITIFUT_NUMBERS_WHOLE) {
		litifut_numbers_put(word);
		return;
	}
	litifut_numbers_drop(stack);
	if (code == LITIFUT_NUMBERS_BEGIN) {
		litifut_numbers_push(word, stack);
		return;
	}
	/* one that was called from here, and has not come back as a function does */
	while (litifut_path_top->limit == stack + 1 && !litifut_numbers_is_of(word))
		litifut_path_top--;
	if (litifut_numbers_is_of(word)) {
		litifut_path_top->word += word & 0xffff;
		if (code == LITIFUT_NUMBERS_ADD)
			return;
		litifut_numbers_put(litifut_path_top->word);
		if (code == LITIFUT_NUMBERS_END)
			litifut_path_top--;
		else
			litifut_path_top->word = words[1];
		return;
	}
	if (code == LITIFUT_NUMBERS_ADD) /* it is counted where the path ends */
		return;
	litifut_numbers_lose();
	if (code == LITIFUT_NUMBERS_NEXT)
		litifut_numbers_push(words[1], stack);
}
