/* Sequitur: no pair of symbols stands twice in the grammar, and each rule is used twice at least.
 */
#include "postproc/paths/compress.h"

#include <stdlib.h>

#include "paths/numbering.h"
#include "postproc/table.h"

#define NONE POST_NONE
#define RULE 0x80000000u /* in the value of a symbol: it stands for a rule */

/* In a ring with the guard of its rule, whose value is that rule. */
struct symbol {
	uint32_t value;
	uint32_t previous, next;
	bool guard;
};

struct rule {
	uint32_t guard;
	uint32_t uses;
};

struct grammar {
	struct symbol *symbols;
	size_t symbol_count, symbol_capacity;
	uint32_t free; /* chain of symbols, through `next` */
	size_t used;
	struct rule *rules;
	size_t rule_count, rule_capacity, live;
	/* Pairs, to where they stand; a number that no longer holds is a pair that is gone. */
	struct post_table pairs;
};

static uint32_t new_symbol(struct grammar *g, uint32_t value)
{
	uint32_t number = g->free;

	if (number != NONE) {
		g->free = g->symbols[number].next;
	} else {
		POST_GROW(g->symbols, g->symbol_count, g->symbol_capacity);
		number = (uint32_t)g->symbol_count++;
	}
	g->symbols[number] = (struct symbol){value, NONE, NONE, false};
	g->used++;
	if (value & RULE)
		g->rules[value & ~RULE].uses++;
	return number;
}

static uint32_t new_rule(struct grammar *g)
{
	const uint32_t rule = (uint32_t)g->rule_count;
	uint32_t guard;

	POST_GROW(g->rules, g->rule_count, g->rule_capacity);
	g->rules[g->rule_count++] = (struct rule){0, 0};
	guard = new_symbol(g, rule);
	g->symbols[guard].guard = true;
	g->symbols[guard].previous = g->symbols[guard].next = guard;
	g->rules[rule].guard = guard;
	g->used--;
	g->live++;
	return rule;
}

static struct post_key pair_of(const struct grammar *g, uint32_t first)
{
	return (struct post_key){
		{g->symbols[first].value, g->symbols[g->symbols[first].next].value, 0, 0}};
}

static bool is_pair(const struct grammar *g, uint32_t first)
{
	return !g->symbols[first].guard && !g->symbols[g->symbols[first].next].guard;
}

/* Where the pair of `first` stands, according to the table; NONE: nowhere. */
static uint32_t find_pair(const struct grammar *g, uint32_t first)
{
	const uint32_t found = post_table_find(&g->pairs, pair_of(g, first));

	return found ? found : NONE; /* 0 is a guard, of the first rule */
}

static void forget_pair(struct grammar *g, uint32_t first)
{
	if (is_pair(g, first) && find_pair(g, first) == first)
		post_table_put(&g->pairs, pair_of(g, first), 0);
}

static void join(struct grammar *g, uint32_t left, uint32_t right)
{
	if (g->symbols[left].next != NONE) {
		forget_pair(g, left);
		/* of three equal symbols one pair is in the table: keep the other */
		for (unsigned side = 0; side < 2; side++) {
			const uint32_t middle = side ? left : right;
			const struct symbol *s = &g->symbols[middle];

			if (s->previous == NONE || s->next == NONE || s->guard ||
			    g->symbols[s->previous].guard || g->symbols[s->next].guard ||
			    s->value != g->symbols[s->previous].value ||
			    s->value != g->symbols[s->next].value)
				continue;
			post_table_put(&g->pairs, pair_of(g, side ? s->previous : middle),
				       side ? s->previous : middle);
		}
	}
	g->symbols[left].next = right;
	g->symbols[right].previous = left;
}

static void insert_after(struct grammar *g, uint32_t at, uint32_t symbol)
{
	join(g, symbol, g->symbols[at].next);
	join(g, at, symbol);
}

static void delete_symbol(struct grammar *g, uint32_t symbol)
{
	const uint32_t value = g->symbols[symbol].value;

	join(g, g->symbols[symbol].previous, g->symbols[symbol].next);
	forget_pair(g, symbol);
	if (value & RULE)
		g->rules[value & ~RULE].uses--;
	g->symbols[symbol] = (struct symbol){0, NONE, g->free, true};
	g->free = symbol;
	g->used--;
}

static bool check_pair(struct grammar *g, uint32_t first);

/* Puts a rule in the place of a pair. */
static void substitute(struct grammar *g, uint32_t first, uint32_t rule)
{
	const uint32_t before = g->symbols[first].previous;
	uint32_t symbol;

	delete_symbol(g, g->symbols[before].next);
	delete_symbol(g, g->symbols[before].next);
	symbol = new_symbol(g, rule | RULE);
	insert_after(g, before, symbol);
	if (!check_pair(g, before))
		check_pair(g, g->symbols[before].next);
}

/* A rule that is used once stands for itself again. `symbol` is its use. */
static void expand(struct grammar *g, uint32_t symbol)
{
	const uint32_t rule = g->symbols[symbol].value & ~RULE;
	const uint32_t guard = g->rules[rule].guard;
	const uint32_t left = g->symbols[symbol].previous, right = g->symbols[symbol].next;
	const uint32_t first = g->symbols[guard].next, last = g->symbols[guard].previous;

	forget_pair(g, symbol);
	forget_pair(g, left);
	g->symbols[symbol] = (struct symbol){0, NONE, g->free, true};
	g->free = symbol;
	g->symbols[guard] = (struct symbol){0, NONE, symbol, true};
	g->free = guard;
	g->used--;
	g->live--;
	g->symbols[left].next = first;
	g->symbols[first].previous = left;
	g->symbols[last].next = right;
	g->symbols[right].previous = last;
	if (is_pair(g, last))
		post_table_put(&g->pairs, pair_of(g, last), last);
}

static void use_twice(struct grammar *g, uint32_t first, uint32_t other)
{
	const uint32_t before = g->symbols[other].previous;
	uint32_t rule, start;

	if (g->symbols[before].guard && g->symbols[g->symbols[g->symbols[other].next].next].guard) {
		rule = g->symbols[before].value;
		substitute(g, first, rule);
	} else {
		const uint32_t one = g->symbols[first].value;
		const uint32_t two = g->symbols[g->symbols[first].next].value;

		rule = new_rule(g);
		insert_after(g, g->rules[rule].guard, new_symbol(g, one));
		insert_after(g, g->symbols[g->rules[rule].guard].previous, new_symbol(g, two));
		substitute(g, other, rule);
		substitute(g, first, rule);
		start = g->symbols[g->rules[rule].guard].next;
		post_table_put(&g->pairs, pair_of(g, start), start);
	}
	start = g->symbols[g->rules[rule].guard].next;
	if (g->symbols[start].value & RULE && g->rules[g->symbols[start].value & ~RULE].uses == 1)
		expand(g, start);
}

/* Keeps the first rule for the pair that begins at `first`. True: it was there before. */
static bool check_pair(struct grammar *g, uint32_t first)
{
	uint32_t found;

	if (!is_pair(g, first))
		return false;
	found = find_pair(g, first);
	if (found == NONE) {
		post_table_put(&g->pairs, pair_of(g, first), first);
		return false;
	}
	if (found != first && g->symbols[found].next != first && g->symbols[first].next != found)
		use_twice(g, first, found);
	return true;
}

static void make(struct grammar *g, const uint16_t *entries, size_t count)
{
	uint32_t guard;

	*g = (struct grammar){.free = NONE};
	new_rule(g);
	guard = g->rules[0].guard;
	for (size_t i = 0; i < count; i++) {
		insert_after(g, g->symbols[guard].previous, new_symbol(g, entries[i]));
		if (i)
			check_pair(g, g->symbols[g->symbols[guard].previous].previous);
	}
}

static void release(struct grammar *g)
{
	free(g->symbols);
	free(g->rules);
	post_table_release(&g->pairs);
}

void path_sequitur_grammar(const uint16_t *entries, size_t count, size_t *symbols, size_t *rules)
{
	struct grammar grammar;

	make(&grammar, entries, count);
	*symbols = grammar.used;
	*rules = grammar.live;
	release(&grammar);
}

uint64_t path_sequitur_bytes(const uint16_t *entries, size_t count)
{
	uint8_t *seen = post_allocate(0x10000, 1);
	size_t distinct = 0, symbols, rules;

	for (size_t i = 0; i < count; i++) {
		distinct += !seen[entries[i]];
		seen[entries[i]] = 1;
	}
	free(seen);
	path_sequitur_grammar(entries, count, &symbols, &rules);
	/* each rule ends with a further symbol */
	return ((uint64_t)(symbols + rules) * path_bits(distinct + rules + 1) + 16 * distinct + 7) /
	       8;
}
