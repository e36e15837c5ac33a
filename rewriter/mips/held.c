/* What a register holds, followed back from a call along all ways that lead to it.
 *
 * Compilers load the address of a callee long before the call, for several calls at once: they keep
 * it in a register that calls preserve, or on the stack, and branches come together in between.
 * Followed are additions, moves, and words that are stored on the stack and loaded again. At a
 * place that branches lead to, each of them is followed, and where data may name the place, as the
 * table of a switch does, each jump through a register in the function. A way ends at a load from
 * the GOT; if all end at the same entry, with the same sum, the register holds that. What is
 * not known to be so, such as an argument of the function, what another function's branch brings,
 * or a word on the stack that may be part of an object, ends the search. */
#include "rewriter/mips/held.h"

#include <stdlib.h>

#include "rewriter/mips/mips.h"
#include "rewriter/program_code.h"

enum { GP = 28, SP = 29, RA = 31, ADDIU = 0x09, LW = 0x23, SW = 0x2b };

/* The places that are followed: registers, then words of the frame. */
enum { FIRST_WORD = 32 };

/* Instructions that are looked at, and places where ways come together, at the most. */
#define STEPS 4096u
#define JOINS 64u

struct state {
	uint32_t at; /* before the instruction there */
	uint16_t place;
	uint32_t offset; /* to be added to what is in it */
};

struct search {
	const struct litifut_arch_context *context;
	const struct litifut_cramped_call *call;
	const struct litifut_function_facts *facts;
	const struct litifut_arrivals *arrivals;
	struct state joins[JOINS]; /* where jumps lead, as they were met */
	size_t count;
	unsigned steps;
	/* Offsets from the stack pointer of the words that only this function's own loads and
	 * stores reach, found when the first is met. */
	int32_t words_start;
	int32_t words_end;
	bool has_words;
	struct litifut_mips_held held;
};

static uint32_t word_in(const struct litifut_arch_context *context,
			const struct litifut_section *section, uint32_t address)
{
	return litifut_get32(context->cpu.big_endian,
			     section->bytes + (address - section->address));
}

static uint32_t word_at(const struct search *search, uint32_t address)
{
	return word_in(search->context, search->call->section, address);
}

static struct litifut_instruction jump_at(const struct search *search, uint32_t address)
{
	return litifut_mips_branch_at(search->context, search->call->section, address);
}

static int32_t low_half(uint32_t word)
{
	return (int16_t)(word & 0xffff);
}

/* Is the instruction a load or store whose address is a sum? */
static bool is_access(uint32_t word)
{
	return word >> 26 >= 0x20 && word >> 26 != 0x2f && word >> 26 != 0x33;
}

static bool is_store(uint32_t word)
{
	return is_access(word) && word >> 29 & 1;
}

/* Sets the bounds of the words of the frame that are followed: from behind the one that keeps the
 * global pointer, below which callees may write, up to the first whose address is taken. */
static void find_words(struct search *search)
{
	int32_t end = INT16_MAX;

	search->has_words = true;
	search->words_start = INT32_MAX;
	for (uint32_t at = search->call->function_start; at + 4 <= search->call->function_end;
	     at += 4) {
		const uint32_t word = word_at(search, at);
		const unsigned operation = word >> 26;
		const unsigned source = word >> 21 & 31;
		const unsigned second = word >> 16 & 31;

		if (operation == 2 || operation == 3 || (operation & 0x3c) == 0x10)
			continue; /* no registers in these fields: j, jal, coprocessors */
		if (word >> 16 == (SW << 10 | SP << 5 | GP)) {
			search->words_start = low_half(word) + 4;
		} else if (operation == ADDIU && source == SP) {
			if (second != SP && low_half(word) < end)
				end = low_half(word);
		} else if ((source == SP && !is_access(word)) || second == SP ||
			   litifut_mips_writes(word, SP)) {
			end = INT32_MIN; /* its value goes elsewhere, or comes from there */
		}
	}
	search->words_end = end;
}

static bool is_word(struct search *search, int32_t offset)
{
	if (!search->has_words)
		find_words(search);
	return !(offset & 3) && offset >= search->words_start && offset < search->words_end;
}

static uint16_t place_of_word(int32_t offset)
{
	return (uint16_t)(FIRST_WORD + offset / 4);
}

/* A way ends at a load from the table. */
static bool found(struct search *search, uint32_t word, uint32_t offset)
{
	struct litifut_mips_held *held = &search->held;
	const unsigned base = word >> 21 & 31;
	const bool by_pointer = base == GP || (base && base == search->facts->pointer_register);
	const uint32_t entry = search->facts->pointer + (uint32_t)low_half(word);

	if (!held->found) {
		*held = (struct litifut_mips_held){
			.found = true, .by_pointer = by_pointer, .entry = entry, .offset = offset};
		return true;
	}
	held->by_pointer &= by_pointer;
	return held->entry == entry && held->offset == offset;
}

/* Does a callee, or the kernel, leave it as it was? */
static bool is_preserved(const struct state *state)
{
	return state->place >= FIRST_WORD || (state->place >= 16 && state->place < 24) ||
	       state->place == 30;
}

enum outcome { GOES_ON, ENDS, FAILS };

/* Goes back over `word`, which stands right before the state, or is a delay slot of what does. */
static enum outcome pass(struct search *search, struct state *state, uint32_t word)
{
	const unsigned source = word >> 21 & 31;

	if ((word & 0xfc00003f) == 0x0c && !is_preserved(state))
		return FAILS; /* syscall */
	if (state->place >= FIRST_WORD) {
		const int32_t offset = 4 * (state->place - FIRST_WORD);

		if (litifut_mips_writes(word, SP))
			return FAILS;
		if (!is_store(word) || source != SP || low_half(word) + 8 <= offset ||
		    low_half(word) >= offset + 4)
			return GOES_ON;
		if (word >> 26 == SW && low_half(word) != offset)
			return GOES_ON;
		state->place = word >> 16 & 31;
		return word >> 26 == SW && state->place && state->place != SP ? GOES_ON : FAILS;
	}
	if (!litifut_mips_writes(word, state->place))
		return GOES_ON;
	if (word >> 26 == LW && source == SP) {
		if (!is_word(search, low_half(word)))
			return FAILS;
		state->place = place_of_word(low_half(word));
		return GOES_ON;
	}
	if (word >> 26 == LW)
		return found(search, word, state->offset) ? ENDS : FAILS;
	if (word >> 26 == ADDIU) {
		state->offset += (uint32_t)low_half(word);
		state->place = (uint16_t)source;
	} else if (litifut_mips_is_move(word)) {
		state->place = (uint16_t)(source | (word >> 16 & 31));
	} else {
		return FAILS;
	}
	return state->place && state->place != SP && state->place != GP ? GOES_ON : FAILS;
}

/* The number of the first branch of the function to `target`, if there is one. */
static size_t first_to(const struct litifut_function_facts *facts, uint32_t target)
{
	size_t low = 0;
	size_t high = facts->branch_count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (facts->branches[middle].target < target)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Does anything jump there? Branches by the conditions of coprocessors are in the list alone. */
static bool is_joined(const struct search *search, uint32_t address)
{
	const struct litifut_function_facts *facts = search->facts;
	size_t number;

	if (litifut_targets_has(search->arrivals->all, address))
		return true;
	if (facts->branch_count == SIZE_MAX)
		return false;
	number = first_to(facts, address);
	return number < facts->branch_count && facts->branches[number].target == address;
}

static bool add_join(struct search *search, const struct state *state)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->joins[i].at == state->at && search->joins[i].place == state->place)
			return search->joins[i].offset == state->offset;
	if (search->count == JOINS)
		return false;
	search->joins[search->count++] = *state;
	return true;
}

/* Goes over the call, branch or jump at `at`, right behind whose delay slot the state is. */
static enum outcome over_jump(struct search *search, struct state *state, uint32_t at, bool joined)
{
	const struct litifut_instruction jump = jump_at(search, at);
	const bool calls = jump.class == LITIFUT_CLASS_CALL_DIRECT ||
			   jump.class == LITIFUT_CLASS_CALL_INDIRECT;
	enum outcome outcome = GOES_ON;

	if (is_joined(search, at + 4))
		return FAILS; /* the delay slot may be executed alone */
	if (!calls && !(jump.class == LITIFUT_CLASS_BRANCH_DIRECT && jump.conditional))
		return joined ? ENDS : FAILS; /* control does not come from here */
	if (calls && !is_preserved(state))
		return FAILS;
	if (!litifut_mips_is_likely(jump.word))
		outcome = pass(search, state, word_at(search, at + 4));
	state->at = at;
	return outcome;
}

/* Goes back over what is executed right before the state, if nothing jumps there. */
static enum outcome step(struct search *search, struct state *state, bool joined)
{
	const uint32_t start = search->call->function_start;

	if (state->at < start + 4 || ++search->steps > STEPS)
		return FAILS;
	if (state->at >= start + 8 && litifut_mips_may_jump(word_at(search, state->at - 8)) &&
	    jump_at(search, state->at - 8).class != LITIFUT_CLASS_OTHER)
		return over_jump(search, state, state->at - 8, joined);
	state->at -= 4;
	return pass(search, state, word_at(search, state->at));
}

/* Goes back up to where the way ends, or to a place that jumps lead to, which is left for later. */
static bool follow(struct search *search, struct state state)
{
	enum outcome outcome = GOES_ON;

	while (outcome == GOES_ON) {
		if (is_joined(search, state.at))
			return add_join(search, &state);
		outcome = step(search, &state, false);
	}
	return outcome == ENDS;
}

/* Follows the way by the branch or jump at `from`, when it is taken. */
static bool by_branch(struct search *search, struct state state, uint32_t from)
{
	enum outcome outcome;

	if (from + 8 > search->call->function_end || is_joined(search, from + 4))
		return false;
	outcome = pass(search, &state, word_at(search, from + 4));
	state.at = from;
	return outcome == GOES_ON ? follow(search, state) : outcome == ENDS;
}

/* Follows the jumps to where `state` is, with this target in the list. */
static bool by_target(struct search *search, const struct state *state, uint32_t target,
		      size_t *ways)
{
	const struct litifut_function_branch *branches = search->facts->branches;
	size_t low = first_to(search->facts, target);

	for (; low < search->facts->branch_count && branches[low].target == target; low++) {
		++*ways;
		if (!by_branch(search, *state, branches[low].address))
			return false;
	}
	return true;
}

/* Follows all ways to a place that jumps lead to. */
static bool by_all(struct search *search, const struct state *state)
{
	struct state before = *state;
	size_t ways = 0;
	enum outcome outcome;

	if (litifut_targets_has(&search->arrivals->elsewhere, state->at))
		return false;
	outcome = step(search, &before, true);
	if (outcome == FAILS || (outcome == GOES_ON && !follow(search, before)))
		return false;
	return by_target(search, state, state->at, &ways) &&
	       (!litifut_targets_has(&search->arrivals->data, state->at) ||
		by_target(search, state, LITIFUT_BRANCH_BY_REGISTER, &ways)) &&
	       ways;
}

/* Finds a load on the way on which control comes from above everywhere. A function that must not be
 * entered from a stub, such as vfork, is recognised by it even if the other ways are not known. */
static void look_straight_back(struct search *search, unsigned number)
{
	struct state state = {search->call->address, (uint16_t)number, 0};

	search->steps = 0;
	search->held.found = false;
	while (step(search, &state, true) == GOES_ON)
		;
}

struct litifut_mips_held litifut_mips_held(const struct litifut_arch_context *context,
					   const struct litifut_cramped_call *call,
					   const struct litifut_function_facts *facts,
					   const struct litifut_arrivals *arrivals, unsigned number)
{
	struct search search = {
		.context = context, .call = call, .facts = facts, .arrivals = arrivals};
	bool certain = follow(&search, (struct state){call->address, (uint16_t)number, 0}) &&
		       facts->branch_count != SIZE_MAX;

	for (size_t done = 0; certain && done < search.count; done++) {
		const struct state join = search.joins[done];

		certain = by_all(&search, &join);
	}
	search.held.certain = certain && search.held.found;
	if (!search.held.certain)
		look_straight_back(&search, number);
	return search.held;
}

void litifut_mips_add_elsewhere(const struct litifut_image *image,
				const struct litifut_arch_context *context,
				struct litifut_targets *elsewhere)
{
	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];
		uint32_t start = 0;
		uint32_t end = 0;

		if (!litifut_sites_in(section))
			continue;
		for (uint32_t at = section->address & ~3u;
		     at + 4 <= section->address + section->size; at += 4) {
			struct litifut_instruction branch;

			if (!litifut_mips_may_jump(word_in(context, section, at)))
				continue;
			branch = litifut_mips_branch_at(context, section, at);
			if (branch.class != LITIFUT_CLASS_BRANCH_DIRECT)
				continue;
			if (at < start || at >= end) {
				const struct litifut_symbol *function =
					litifut_image_function_at(image, at);

				start = function ? function->address : 0;
				end = function ? start + function->size : 0;
			}
			if (branch.target < start || branch.target >= end)
				litifut_targets_add(elsewhere, branch.target);
		}
	}
}

static int by_target_and_address(const void *left, const void *right)
{
	const struct litifut_function_branch *a = left;
	const struct litifut_function_branch *b = right;

	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static bool add_branch(struct litifut_function_facts *facts, size_t *capacity, uint32_t target,
		       uint32_t address)
{
	if (facts->branch_count == *capacity) {
		const size_t more = 2 * *capacity + 16;
		void *grown = realloc(facts->branches, more * sizeof(*facts->branches));

		if (!grown)
			return false;
		facts->branches = grown;
		*capacity = more;
	}
	facts->branches[facts->branch_count++] = (struct litifut_function_branch){target, address};
	return true;
}

void litifut_mips_find_branches(const struct litifut_image *image,
				const struct litifut_arch_context *context,
				const struct litifut_section *section, uint32_t start, uint32_t end,
				struct litifut_function_facts *facts)
{
	size_t capacity = 0;
	bool known = true;
	bool by_register = false;

	for (uint32_t at = start; known && at + 8 <= end; at += 4) {
		struct litifut_instruction jump;

		if (!litifut_mips_may_jump(word_in(context, section, at)))
			continue;
		jump = litifut_mips_branch_at(context, section, at);
		if (litifut_has_target(&jump)) {
			if (jump.target >= start && jump.target < end)
				known = add_branch(facts, &capacity, jump.target, at);
		} else if (jump.class == LITIFUT_CLASS_BRANCH_INDIRECT &&
			   jump.target_register != RA) {
			by_register = true;
			known = add_branch(facts, &capacity, LITIFUT_BRANCH_BY_REGISTER, at);
		}
	}
	/* tables of another GOT's code are offsets that nothing has looked for */
	if (known && by_register)
		known = facts->pointer == litifut_mips_facts(context)->global_pointer &&
			litifut_mips_knows_jumps(image, context, section, start, end);
	if (!known) {
		free(facts->branches);
		facts->branches = NULL;
		facts->branch_count = SIZE_MAX;
	} else if (facts->branch_count) {
		qsort(facts->branches, facts->branch_count, sizeof(*facts->branches),
		      by_target_and_address);
	}
}
