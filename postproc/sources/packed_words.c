/* The compact form of the words of a firmware's branches (<litifut/packed_format.h>). */
#include <string.h>

#include <litifut/paths_format.h>

#include "postproc/sources/path_words.h"
#include "postproc/table.h"

struct bits {
	const uint8_t *bytes;
	size_t count, at;
};

/* 0 behind the end, which `at' shows. */
static uint32_t bit(struct bits *bits)
{
	const size_t at = bits->at++;

	return at < bits->count ? bits->bytes[at / 8] >> (7 - at % 8) & 1 : 0;
}

static uint32_t several(struct bits *bits, unsigned count)
{
	uint32_t value = 0;

	while (count--)
		value = value << 1 | bit(bits);
	return value;
}

static uint32_t number(struct bits *bits)
{
	return several(bits, 8 * (several(bits, 2) + 1));
}

/* Exp-Golomb of this order. */
static uint32_t golomb(struct bits *bits, unsigned order)
{
	unsigned zeros = 0;

	while (zeros < 31 - order && bits->at < bits->count && !bit(bits))
		zeros++;
	return ((1u << zeros | several(bits, zeros)) - 1) << order | several(bits, order);
}

/* More right predictions than a buffer can have. */
#define RUN_MAX 0x3fffu

/* Branches become words again, with as many as a word can have. */
static void put_branch(struct post_path_words *words, uint32_t *word, bool branch)
{
	*word = *word << 1 | branch;
	if (!(*word & LITIFUT_PATHS_FULL))
		return;
	post_path_words_add(words, *word);
	*word = LITIFUT_PATHS_NONE;
}

/* The next branch, which is the one that is expected, or the other one. */
static void unpack_branch(struct post_path_words *words, uint32_t *word, bool is_expected)
{
	struct litifut_packed_model *model = &words->model;
	uint8_t mask;
	uint8_t *slot = litifut_packed_slot(model, model->history, &mask);

	if (!is_expected)
		*slot ^= mask;
	put_branch(words, word, (*slot & mask) != 0);
	model->history = litifut_packed_next(model->history, *slot & mask);
}

static void unpack_block(struct bits *bits, struct post_path_words *words)
{
	struct litifut_packed_model *model = &words->model;
	uint32_t place = golomb(bits, 0), block;

	if (place > LITIFUT_PACKED_RECENT)
		place = LITIFUT_PACKED_RECENT;
	block = place < LITIFUT_PACKED_RECENT ? model->recent[place] : number(bits);
	litifut_packed_enter(model, (uint8_t)place, block);
	post_path_words_add(words, LITIFUT_PATHS_RECORD | block);
}

static void unpack_record(struct bits *bits, uint32_t kind, struct post_path_words *words)
{
	uint32_t more = kind == LITIFUT_PATHS_SYNC ? 3 : kind == LITIFUT_PATHS_INTERRUPT ? 2 : 1;

	post_path_words_add(words, LITIFUT_PATHS_RECORD | kind);
	while (more && bits->at < bits->count) {
		uint32_t word = number(bits);

		more--;
		if (kind == LITIFUT_PATHS_LOST)
			words->reported += word;
		if (!more && kind == LITIFUT_PATHS_INTERRUPT) {
			word ^= words->model.frame;
			litifut_packed_interrupt(&words->model, word);
		} else if (!more && kind == LITIFUT_PATHS_SYNC) {
			more = word <= LITIFUT_PATHS_SYNC_CALLS ? 2 * word : 0;
			kind = 0;
		}
		post_path_words_add(words, word);
	}
}

enum result { WHOLE, CUT, DAMAGED };

/* What the bits say up to the end of the buffer. */
static enum result unpack(struct bits *bits, struct post_path_words *words, bool plain,
			  uint32_t *count)
{
	uint32_t word = LITIFUT_PATHS_NONE;

	while (bits->at < bits->count) {
		uint32_t run = plain ? 0 : golomb(bits, 1);

		if (run > RUN_MAX)
			return DAMAGED;
		for (; run; run--)
			unpack_branch(words, &word, true);
		const bool ends = bit(bits);

		if (plain)
			for (run = ends ? several(bits, 3) : 8; run; run--)
				put_branch(words, &word, bit(bits));
		else if (!ends)
			unpack_branch(words, &word, false);
		if (!ends)
			continue;
		if (word != LITIFUT_PATHS_NONE)
			post_path_words_add(words, word);
		word = LITIFUT_PATHS_NONE;
		if (!bit(bits)) {
			unpack_block(bits, words);
			continue;
		}
		if (!bit(bits)) {
			const uint32_t number_of = several(bits, 4), times = golomb(bits, 0) + 1;

			if (times > LITIFUT_PACKED_TIMES)
				return DAMAGED;
			post_path_words_add(words, LITIFUT_PATHS_RECORD | POST_PATH_WORDS_PATTERN);
			post_path_words_add(words, number_of << 8 | times);
			words->model.history = LITIFUT_PACKED_HISTORY_MASK;
			continue;
		}
		const uint32_t kind = several(bits, 3);

		if (!kind) {
			const uint32_t words_of_it = number(bits);

			if (bits->at > bits->count)
				return CUT;
			*count = words_of_it;
			return WHOLE;
		}
		unpack_record(bits, kind, words);
	}
	return CUT;
}

/* Of the byte that a buffer begins with, and of the position behind it. */
static bool read_head(struct post_path_words *words, size_t *at, bool *anew, bool *plain)
{
	const uint8_t head = words->packed[0];
	uint32_t position = 0;

	*at = 1;
	*anew = head & LITIFUT_PACKED_ANEW;
	*plain = (head & ~LITIFUT_PACKED_ANEW) == LITIFUT_PACKED_PLAIN;
	if (!*plain && (head & ~LITIFUT_PACKED_ANEW) != LITIFUT_PACKED_PREDICTED)
		return false;
	for (unsigned shift = 0; *anew; shift += 7) {
		if (*at >= words->packed_size || shift > 28)
			return false;
		position |= (uint32_t)(words->packed[*at] & 0x7f) << shift;
		if (!(words->packed[(*at)++] & 0x80))
			break;
	}
	if (*anew)
		post_path_words_skip_to(words, position);
	return true;
}

bool post_path_words_unpack(struct post_path_words *words)
{
	const size_t before = words->count;
	enum result result = DAMAGED;
	uint32_t count = 0;
	size_t at;
	bool anew, plain;

	if (!words->packed_size)
		return true;
	if (read_head(words, &at, &anew, &plain)) {
		struct bits bits = {words->packed + at, 8 * (words->packed_size - at), 0};

		if (anew)
			litifut_packed_begin(&words->model);
		words->model_known |= anew;
		/* or buffers before it are missing, and what they have taught */
		result = words->model_known ? unpack(&bits, words, plain, &count) : CUT;
	}
	words->packed_size = 0;
	if (words->lost < words->reported)
		words->lost = words->reported;
	words->next += count;
	if ((int32_t)(words->end - words->next) < 0)
		words->end = words->next;
	if (result != WHOLE) {
		words->count = before;
		words->model_known = false;
	}
	return result != DAMAGED;
}

bool post_path_words_pack(struct post_path_words *words, bool begins, bool follows,
			  const uint8_t *payload, size_t size)
{
	const bool good = !begins || post_path_words_unpack(words);

	if (!begins && !words->packed_size)
		return good; /* its begin has not come */
	if (!follows)
		words->model_known = false;
	if (!follows && !begins)
		words->packed_size = 0;
	for (size_t i = 0; i < size && (begins || follows); i++) {
		POST_GROW(words->packed, words->packed_size, words->packed_capacity);
		words->packed[words->packed_size++] = payload[i];
	}
	return good;
}
