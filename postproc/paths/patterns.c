/* Mining patterns, and what a node does with them. */
#include "postproc/paths/compress.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/table.h"

/* More than that is not looked at to find patterns. */
#define MOST_MINED 200000u

/* Sequences of one length, by a hash. */
struct counted {
	uint64_t hash;  /* 0: the slot is free */
	uint32_t first; /* where it was seen first */
	uint32_t end;   /* of the last one that was counted: they do not overlap */
	uint32_t uses;
};

struct counts {
	struct counted *slots;
	size_t capacity; /* a power of two */
};

static bool is_at(const uint32_t *sequence, size_t count, size_t at,
		  const struct path_pattern *pattern)
{
	return count - at >= pattern->count &&
	       !memcmp(sequence + at, pattern->entries, pattern->count * sizeof(*sequence));
}

/* Puts the symbol in the place of the pattern. Returns how many symbols are left. */
static size_t replace(uint32_t *sequence, size_t count, const struct path_pattern *pattern,
		      uint32_t symbol)
{
	size_t to = 0;

	for (size_t at = 0; at < count;) {
		const bool found = is_at(sequence, count, at, pattern);
		const uint32_t word = found ? symbol : sequence[at];

		at += found ? pattern->count : 1;
		sequence[to++] = word;
	}
	return to;
}

/* The best of one length, if it is better than `best`. */
static void mine_length(const uint32_t *sequence, size_t count, unsigned length,
			struct counts *counts, uint64_t *gain, struct path_pattern *best)
{
	const uint64_t base = 0x9e3779b97f4a7c15u;
	uint64_t power = 1, hash = 0;

	memset(counts->slots, 0, counts->capacity * sizeof(*counts->slots));
	for (unsigned i = 0; i < length; i++)
		power *= base;
	for (size_t i = 0; i < count; i++) {
		struct counted *slot;
		size_t at;

		hash = hash * base + sequence[i] + 1;
		if (i >= length)
			hash -= power * ((uint64_t)sequence[i - length] + 1);
		if (i + 1 < length)
			continue;
		at = (hash ^ hash >> 29) & (counts->capacity - 1);
		while (counts->slots[at].hash && counts->slots[at].hash != (hash | 1))
			at = (at + 1) & (counts->capacity - 1);
		slot = &counts->slots[at];
		if (!slot->hash)
			*slot = (struct counted){hash | 1, (uint32_t)(i + 1 - length), 0, 0};
		if (i + 1 - length < slot->end)
			continue;
		slot->end = (uint32_t)i + 1;
		slot->uses++;
		if ((uint64_t)slot->uses * (length - 1) <= *gain || slot->uses < 2)
			continue;
		*gain = (uint64_t)slot->uses * (length - 1);
		best->count = length;
		best->uses = slot->uses;
		memcpy(best->entries, sequence + slot->first, length * sizeof(*sequence));
	}
}

size_t path_mine(const uint16_t *entries, size_t count, struct path_pattern *patterns, size_t most)
{
	struct counts counts = {.capacity = 1};
	uint32_t *sequence;
	size_t found = 0;

	count = count < MOST_MINED ? count : MOST_MINED;
	while (counts.capacity < 2 * count + 2)
		counts.capacity *= 2;
	counts.slots = post_allocate(counts.capacity, sizeof(*counts.slots));
	sequence = post_allocate(count + 1, sizeof(*sequence));
	for (size_t i = 0; i < count; i++)
		sequence[i] = entries[i];
	while (found < most && found < PATH_MOST_PATTERNS) {
		struct path_pattern best = {.count = 0};
		uint64_t gain = 0;

		for (unsigned length = PATH_PATTERN_MIN; length <= PATH_PATTERN_MAX; length++)
			mine_length(sequence, count, length, &counts, &gain, &best);
		if (!best.count)
			break;
		patterns[found] = best;
		count = replace(sequence, count, &best, PATH_SYMBOL((uint32_t)found));
		found++;
	}
	free(counts.slots);
	free(sequence);
	return found;
}

/* Two bytes for each symbol; two more say how often it stands there, if that saves something. */
static uint64_t run_bytes(const uint32_t *sequence, size_t count)
{
	uint64_t bytes = 0;

	for (size_t at = 0, end; at < count; at = end) {
		for (end = at + 1; end < count && sequence[end] == sequence[at];)
			end++;
		bytes += 2 * (end - at > 2 ? 2 : end - at);
	}
	return bytes;
}

uint64_t path_pattern_bytes(const uint16_t *entries, size_t count,
			    const struct path_pattern *patterns, size_t pattern_count)
{
	uint32_t buffer[PATH_BUFFER_ENTRIES];
	uint64_t bytes = 0;

	for (size_t at = 0; at < count; at += PATH_BUFFER_ENTRIES) {
		size_t used = count - at < PATH_BUFFER_ENTRIES ? count - at : PATH_BUFFER_ENTRIES;

		for (size_t i = 0; i < used; i++)
			buffer[i] = entries[at + i];
		for (size_t i = 0; i < pattern_count; i++)
			used = replace(buffer, used, &patterns[i], PATH_SYMBOL((uint32_t)i));
		bytes += run_bytes(buffer, used);
	}
	return bytes;
}

/* The k low bits as they are, the rest as a number of zeros and that many bits. */
static unsigned golomb_bits(uint64_t value)
{
	const uint64_t rest = (value >> 2) + 1;

	return 2 + 2 * (63 - (unsigned)__builtin_clzll(rest)) + 1;
}

uint64_t path_predicted_bits(const uint8_t *branches, size_t count, unsigned history)
{
	const size_t mask = ((size_t)1 << history) - 1;
	uint8_t *expected = post_allocate(mask + 1, 1);
	uint64_t bits = 0, hits = 0;
	size_t past = 0;

	for (size_t i = 0; i < count; i++) {
		if (expected[past] == branches[i]) {
			hits++;
		} else {
			bits += golomb_bits(hits);
			hits = 0;
			expected[past] = branches[i];
		}
		past = (past << 1 | branches[i]) & mask;
	}
	free(expected);
	return bits + (hits ? golomb_bits(hits) : 0);
}
