#include "postproc/paths/mined.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <litifut/frames_format.h>
#include <litifut/packed_format.h>
#include <litifut/trace_format.h>

#include "postproc/paths/code.h"
#include "postproc/sources/firmware_image.h"
#include "postproc/table.h"

#define UNITS_MOST 6        /* of a pattern */
#define MINED_MOST 100000u  /* units that are looked at */
#define WORD_BITS_LEAST 24u /* of a full word of the ring */

/* About what a unit takes, in bits, without a pattern, and a pattern. */
#define UNIT_COST(bits) (9 + (bits) / 4)
#define PATTERN_COST 9u

/* A unit; units that are the same have the same number. Number 0: something else. */
struct unit {
	uint32_t block; /* its address in the ELF file */
	char *bits;
	size_t count, capacity;
	uint32_t number, order;
};

struct units {
	struct unit *items;
	size_t count, capacity;
};

static void end_unit(struct units *units)
{
	struct unit *last = units->count ? &units->items[units->count - 1] : NULL;

	if (last && last->number) {
		POST_GROW(last->bits, last->count, last->capacity);
		last->bits[last->count] = '\0';
	}
}

/* POST_NONE stands for words that are not a unit. */
static void begin_unit(struct units *units, uint32_t block)
{
	end_unit(units);
	POST_GROW(units->items, units->count, units->capacity);
	units->items[units->count] = (struct unit){
		.block = block, .number = block != POST_NONE, .order = (uint32_t)units->count};
	units->count++;
}

static void add_bits(struct units *units, uint32_t word)
{
	struct unit *last = units->count ? &units->items[units->count - 1] : NULL;

	if (!last || !last->number)
		return;
	for (int bit = 31 - __builtin_clz(word); bit > 0; bit--) {
		POST_GROW(last->bits, last->count, last->capacity);
		last->bits[last->count++] = word >> (bit - 1) & 1 ? '1' : '0';
	}
}

static uint32_t block_at(struct post_session *session, const struct post_process *process,
			 struct post_path_codes *codes, uint32_t address)
{
	const struct post_path_code *code;
	const struct post_path_edge *edge;
	uint32_t module, link;

	if (!post_session_place(process, 0, address, &module, &link))
		return POST_NONE;
	code = post_path_code(codes, session, module);
	edge = post_path_edge(code, link & ~1u);
	return edge ? code->blocks[edge->block].block.start : POST_NONE;
}

static void read_units(struct post_session *session, const struct post_process *process,
		       struct units *units)
{
	const struct post_trace *trace = process->trace;
	struct post_path_codes codes = {0};

	for (size_t i = 0; i < trace->bits_count; i++) {
		const struct post_chunk *chunk = &trace->bits[i];

		begin_unit(units, POST_NONE);
		for (uint32_t j = 0; j < chunk->word_count && units->count < MINED_MOST; j++) {
			uint32_t word = post_trace_word(trace, chunk, j);

			if (!word)
				continue;
			if (!(word & LITIFUT_BITS_RECORD)) {
				add_bits(units, word);
				continue;
			}
			word &= ~LITIFUT_BITS_RECORD;
			if (word >= LITIFUT_WORD_FIRST_ADDRESS / 2) {
				begin_unit(units, block_at(session, process, &codes, word << 1));
				continue;
			}
			if (LITIFUT_CONTROL_KIND(word) == LITIFUT_WORD_BLOCK &&
			    j + 1 < chunk->word_count)
				begin_unit(units, block_at(session, process, &codes,
							   post_trace_word(trace, chunk, j + 1)));
			else
				begin_unit(units, POST_NONE);
			j += LITIFUT_CONTROL_FOLLOWING(word) & 127;
		}
	}
	/* the last one may go on */
	begin_unit(units, POST_NONE);
	post_path_codes_release(&codes);
}

static int compare_units(const struct unit *left, const struct unit *right)
{
	if (!left->number || !right->number)
		return (left->number > right->number) - (left->number < right->number);
	if (left->block != right->block)
		return left->block < right->block ? -1 : 1;
	return strcmp(left->bits, right->bits);
}

static int by_contents(const void *left, const void *right)
{
	const struct unit *const *a = left, *const *b = right;

	return compare_units(*a, *b);
}

static void number_units(struct units *units)
{
	struct unit **sorted = post_allocate(units->count + 1, sizeof(struct unit *));
	uint32_t number = 0;

	for (size_t i = 0; i < units->count; i++)
		sorted[i] = &units->items[i];
	qsort(sorted, units->count, sizeof(*sorted), by_contents);
	for (size_t i = 0, first = 0; i < units->count; i++) {
		/* those before have their numbers, which are not 0 either */
		if (i == 0 || compare_units(sorted[first], sorted[i])) {
			first = i;
			number++;
		}
		if (sorted[i]->number)
			sorted[i]->number = number;
	}
	free(sorted);
}

/* A place in the sequence of numbers, of which so many are compared. */
struct place {
	const uint32_t *numbers;
	size_t length;
};

static int by_numbers(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	for (size_t i = 0; i < a->length; i++)
		if (a->numbers[i] != b->numbers[i])
			return a->numbers[i] < b->numbers[i] ? -1 : 1;
	return a->numbers < b->numbers ? -1 : a->numbers > b->numbers;
}

static bool is_same(const struct place *left, const uint32_t *numbers)
{
	return !memcmp(left->numbers, numbers, left->length * sizeof(*numbers));
}

static uint64_t cost_of(const struct units *units, size_t first, size_t length, size_t *words)
{
	uint64_t cost = 0;

	*words = 0;
	for (size_t i = first; i < first + length; i++) {
		const size_t bits = units->items[i].count;

		cost += UNIT_COST(bits);
		*words += 1 + bits / WORD_BITS_LEAST + (bits % WORD_BITS_LEAST != 0) +
			  (bits % WORD_BITS_LEAST > 8);
	}
	return cost;
}

struct best {
	size_t first, length;
	uint64_t uses, gain;
};

static void best_of_length(const struct units *units, const uint32_t *numbers, size_t length,
			   struct place *places, struct best *best)
{
	size_t count = 0;

	for (size_t i = 0; i + length <= units->count; i++)
		if (numbers[i])
			places[count++] = (struct place){numbers + i, length};
	qsort(places, count, sizeof(*places), by_numbers);
	for (size_t i = 0, end; i < count; i = end) {
		const uint32_t *behind = numbers;
		uint64_t uses = 0;
		size_t words, known = 0;

		for (end = i; end < count && is_same(&places[i], places[end].numbers); end++) {
			if (places[end].numbers < behind)
				continue;
			behind = places[end].numbers + length;
			uses++;
		}
		while (known < length && places[i].numbers[known])
			known++;
		if (known < length || uses < 2)
			continue;
		const size_t first = (size_t)(places[i].numbers - numbers);
		const uint64_t cost = cost_of(units, first, length, &words);

		if (words > LITIFUT_PACKED_PATTERN_WORDS || cost <= PATTERN_COST ||
		    uses * (cost - PATTERN_COST) <= best->gain)
			continue;
		*best = (struct best){first, length, uses, uses * (cost - PATTERN_COST)};
	}
}

static void write_pattern(FILE *file, const struct post_image *image, const struct units *units,
			  const struct best *best)
{
	for (size_t i = best->first; i < best->first + best->length; i++) {
		const struct unit *unit = &units->items[i];
		const struct post_symbol *symbol = post_symbols_find(&image->symbols, unit->block);

		fprintf(file, "%s+%" PRIx32 ":%s ", symbol->name, unit->block - symbol->address,
			unit->bits);
	}
	fprintf(file, "# %" PRIu64 " times\n", best->uses);
}

/* What has no name can't be found in another link. */
static void forget_unnamed(const struct post_image *image, struct units *units)
{
	for (size_t i = 0; i < units->count; i++)
		if (units->items[i].number &&
		    !post_symbols_find(&image->symbols, units->items[i].block))
			units->items[i].number = 0;
}

const struct post_image *path_mined_image(const struct post_session *session)
{
	uint32_t address;
	uint8_t identity[sizeof(struct litifut_identity)];

	for (size_t i = 0; i < session->module_count; i++)
		if (session->modules[i].image &&
		    post_firmware_identity(session->modules[i].image, identity, &address))
			return session->modules[i].image;
	return NULL;
}

size_t path_mined_patterns(struct post_session *session, const struct post_image *image,
			   size_t most, FILE *file)
{
	struct units units = {0};
	size_t found = 0;

	for (size_t i = 0; i < session->process_count; i++)
		if (session->processes[i]->trace)
			read_units(session, session->processes[i], &units);
	forget_unnamed(image, &units);
	number_units(&units);
	uint32_t *numbers = post_allocate(units.count + UNITS_MOST, sizeof(*numbers));
	struct place *places = post_allocate(units.count + 1, sizeof(*places));

	for (size_t i = 0; i < units.count; i++)
		numbers[i] = units.items[i].number;
	for (; found < most; found++) {
		struct best best = {0};

		for (size_t length = 1; length <= UNITS_MOST; length++)
			best_of_length(&units, numbers, length, places, &best);
		if (!best.gain)
			break;
		write_pattern(file, image, &units, &best);
		/* it is taken */
		const struct place place = {numbers + best.first, best.length};
		uint32_t pattern[UNITS_MOST];

		memcpy(pattern, place.numbers, best.length * sizeof(*pattern));
		for (size_t i = 0; i + best.length <= units.count;) {
			if (memcmp(numbers + i, pattern, best.length * sizeof(*pattern)) != 0) {
				i++;
				continue;
			}
			for (size_t j = 0; j < best.length; j++)
				numbers[i++] = 0;
		}
	}
	for (size_t i = 0; i < units.count; i++)
		free(units.items[i].bits);
	free(units.items);
	free(numbers);
	free(places);
	return found;
}
