#include "postproc/sources/path_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <litifut/paths_format.h>
#include <litifut/trace_format.h>

#include "common/serial_frames.h"
#include "postproc/table.h"

/* A larger gap is a damaged number. */
#define GAP_MAX (1u << 30)

void post_path_words_add(struct post_path_words *words, uint32_t word)
{
	POST_GROW(words->items, words->count, words->capacity);
	words->items[words->count++] = word;
}

/* `count' words are not here. */
static void skip(struct post_path_words *words, uint32_t count)
{
	post_path_words_add(words, LITIFUT_PATHS_RECORD | LITIFUT_PATHS_LOST);
	post_path_words_add(words, 0);
	words->missing += count;
}

bool post_path_words_memory(struct post_path_words *words, const uint32_t *ring, size_t count,
			    uint32_t address, uint32_t newest)
{
	const uint32_t at = (newest - address) / 4;

	if (count < 2)
		return false;
	words->begun = true;
	/* recording has not begun */
	if (newest - address >= 4 * count)
		return true;
	if (!at || newest % 4)
		return false;
	if (ring[0]) {
		skip(words, 1);
		words->missing = (uint64_t)(ring[0] - 1) * (count - 1) + at;
		for (size_t i = at + 1 + LITIFUT_PATHS_UNSURE; i < count; i++)
			post_path_words_add(words, ring[i]);
	}
	words->off = ring[at] == LITIFUT_PATHS_CLOSED;
	for (uint32_t i = 1; i <= at - words->off; i++)
		post_path_words_add(words, ring[i]);
	words->stops = words->off;
	return true;
}

void post_path_words_skip_to(struct post_path_words *words, uint32_t position)
{
	if (position - words->next && position - words->next <= GAP_MAX)
		skip(words, position - words->next);
	words->next = position;
}

bool post_path_words_begin(struct post_path_words *words, const uint8_t *payload, size_t size)
{
	size_t at = 0;
	const uint32_t first = litifut_serial_number(payload, size, &at);
	const uint32_t end = litifut_serial_number(payload, size, &at);
	const uint32_t lost = litifut_serial_number(payload, size, &at);

	if (at != size || end - first > GAP_MAX)
		return false;
	/* The power was off: a ring that outlasts a reset has begun anew. */
	if (words->begun && (int32_t)(end - words->next) < 0) {
		post_path_words_add(words, LITIFUT_PATHS_RECORD | LITIFUT_PATHS_RESET);
		post_path_words_add(words, 0);
		words->next = first;
	}
	words->begun = true;
	post_path_words_skip_to(words, first);
	words->end = end;
	words->lost = lost;
	return true;
}

bool post_path_words_take(struct post_path_words *words, const uint8_t *payload, size_t size)
{
	size_t at = 0;
	uint32_t position = litifut_serial_number(payload, size, &at);

	if (!words->begun || at > size || (size - at) % 4)
		return false;
	if ((int32_t)(position - words->next) > 0)
		post_path_words_skip_to(words, position);
	for (; at < size; at += 4, position++) {
		if (position != words->next) /* it has come before */
			continue;
		post_path_words_add(words, payload[at] | (uint32_t)payload[at + 1] << 8 |
						   (uint32_t)payload[at + 2] << 16 |
						   (uint32_t)payload[at + 3] << 24);
		words->next++;
	}
	return true;
}

uint64_t post_path_words_missing(const struct post_path_words *words)
{
	const uint32_t missing = words->end - words->next;

	return words->missing + (missing > GAP_MAX ? 0 : missing);
}

/* The words of a trace, as they are made. */
struct made {
	uint32_t *items;
	size_t count, capacity;
};

static void put(struct made *made, uint32_t word)
{
	POST_GROW(made->items, made->count, made->capacity);
	made->items[made->count++] = word;
}

static void put_control(struct made *made, uint32_t kind, uint32_t following)
{
	put(made, LITIFUT_BITS_RECORD | LITIFUT_CONTROL_WORD(kind, following));
}

/* A record of one of the device's kinds, whose words are `rest'. Returns how many it has. */
static size_t put_kind(struct made *made, uint32_t kind, const uint32_t *rest, size_t left)
{
	static const uint32_t kinds[] = {[LITIFUT_PATHS_LOST] = LITIFUT_WORD_LOST,
					 [LITIFUT_PATHS_RESET] = LITIFUT_WORD_RESTARTED,
					 [LITIFUT_PATHS_STOPPED] = LITIFUT_WORD_STOPPED,
					 [LITIFUT_PATHS_INTERRUPT] = LITIFUT_WORD_INTERRUPT,
					 [LITIFUT_PATHS_SAVED] = LITIFUT_WORD_TASK_SAVED,
					 [LITIFUT_PATHS_RESUMED] = LITIFUT_WORD_TASK_RESUMED};
	const size_t calls = kind == LITIFUT_PATHS_SYNC && left > 2 ? rest[2] : 0;

	if (kind == LITIFUT_PATHS_SYNC) {
		if (calls > LITIFUT_PATHS_SYNC_CALLS || left < 3 + 2 * calls)
			return left;
		put_control(made, LITIFUT_WORD_SYNC, 3 + 2 * (uint32_t)calls);
		put(made, rest[0]);
		put(made, rest[1]);
		put(made, 0); /* the epoch */
		for (size_t i = 0; i < 2 * calls; i++)
			put(made, rest[3 + i]);
		return 3 + 2 * calls;
	}
	const size_t count = kind == LITIFUT_PATHS_INTERRUPT ? 2 : 1;

	if (kind >= sizeof(kinds) / sizeof(*kinds) || !kinds[kind])
		return 0;
	if (left < count)
		return left;
	put_control(made, kinds[kind], (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		put(made, rest[i]);
	return count;
}

/* How many words a record has, itself included, or 1. */
static size_t words_of(const uint32_t *items, size_t left)
{
	const uint32_t kind = items[0] & ~LITIFUT_PATHS_RECORD;
	size_t count = 1;

	if (!(items[0] & LITIFUT_PATHS_RECORD) || kind >= LITIFUT_PATHS_KINDS)
		return 1;
	if (kind == LITIFUT_PATHS_SYNC)
		count = left > 3 && items[3] <= LITIFUT_PATHS_SYNC_CALLS ? 4 + 2 * items[3] : left;
	else
		count = kind == LITIFUT_PATHS_INTERRUPT ? 3 : 2;
	return count < left ? count : left;
}

void post_path_words_expand(struct post_path_words *words, const uint32_t *table, size_t count)
{
	const struct post_path_words before = *words;
	size_t places[LITIFUT_PACKED_PATTERNS + 1], found = 0;

	for (size_t at = 0; at < count && table[at] && found < LITIFUT_PACKED_PATTERNS;
	     at += 1 + table[at]) {
		if (table[at] > count - 1 - at)
			break;
		places[found++] = at;
	}
	words->items = NULL;
	words->count = words->capacity = 0;
	for (size_t i = 0, more; i < before.count; i += more) {
		const uint32_t *item = before.items + i;

		more = words_of(item, before.count - i);
		if (item[0] != (LITIFUT_PATHS_RECORD | POST_PATH_WORDS_PATTERN) || more < 2) {
			for (size_t j = 0; j < more; j++)
				post_path_words_add(words, item[j]);
			continue;
		}
		for (uint32_t times = item[1] & 0xff; times && item[1] >> 8 < found; times--)
			for (uint32_t j = 0; j < table[places[item[1] >> 8]]; j++)
				post_path_words_add(words, table[places[item[1] >> 8] + 1 + j]);
		if (item[1] >> 8 >= found)
			skip(words, 1);
	}
	free(before.items);
}

void post_path_words_make(struct post_path_words *words, struct post_trace *trace)
{
	struct made made = {0};

	for (size_t i = 0; i < words->count; i++) {
		const uint32_t word = words->items[i];
		const uint32_t value = word & ~LITIFUT_PATHS_RECORD;

		if (!(word & LITIFUT_PATHS_RECORD) ||
		    (value >= LITIFUT_PATHS_KINDS && value >= LITIFUT_WORD_FIRST_ADDRESS / 2)) {
			put(&made, word);
		} else if (value >= LITIFUT_PATHS_KINDS) {
			put_control(&made, LITIFUT_WORD_BLOCK, 1);
			put(&made, value << 1);
		} else {
			words->restarts += value == LITIFUT_PATHS_RESET;
			words->stops += value == LITIFUT_PATHS_STOPPED;
			i += put_kind(&made, value, words->items + i + 1, words->count - i - 1);
		}
	}
	if (!made.count)
		return;
	trace->owned = (uint8_t *)made.items;
	trace->data = trace->owned;
	trace->size = made.count * sizeof(*made.items);
	POST_GROW(trace->bits, trace->bits_count, trace->bits_capacity);
	trace->bits[trace->bits_count++] =
		(struct post_chunk){.word_count = (uint32_t)made.count, .thread = 1, .number = 1};
}

void post_path_words_losses(const struct post_path_words *words, const struct post_trace *trace,
			    const char *path, struct post_problems *problems)
{
	if (words->lost && trace->header.mode == LITIFUT_MODE_BALLLARUS)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%" PRIu32 " paths were executed whose numbers are not here: the "
				"ring of the device had no room (LITIFUT_RING_KB, LITIFUT_SEND), "
				"or more functions had called each other than it has room for",
				words->lost);
	else if (words->lost)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%" PRIu32 " branches found no room in the ring of the device: "
				"link with a larger LITIFUT_RING_KB, or send more often "
				"(LITIFUT_SEND)",
				words->lost);
}

void post_path_words_release(struct post_path_words *words)
{
	free(words->items);
	free(words->packed);
	memset(words, 0, sizeof(*words));
}
