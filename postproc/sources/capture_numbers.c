#include "postproc/sources/capture_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "common/serial_frames.h"
#include "postproc/table.h"

static void part_release(struct post_capture_part *part)
{
	free(part->words);
	free(part->from);
	memset(part, 0, sizeof(*part));
}

static void part_begin(struct post_capture_part *part, size_t count)
{
	part_release(part);
	part->words = post_allocate(count + 1, sizeof(*part->words));
	part->from = post_allocate(count + 1, sizeof(*part->from));
	part->count = part->missing = part->stale = count;
}

static bool part_put(const struct post_capture_numbers *numbers, struct post_capture_part *part,
		     size_t word, uint32_t value)
{
	if (word >= part->count)
		return false;
	part->words[word] = value;
	part->missing -= !part->from[word];
	part->stale -= part->from[word] < numbers->first_piece;
	part->from[word] = numbers->piece;
	return true;
}

void post_capture_numbers_release(struct post_capture_numbers *numbers)
{
	part_release(&numbers->table);
	part_release(&numbers->overflow);
	part_release(&numbers->profile);
	part_release(&numbers->open);
	free(numbers->upper);
	memset(numbers, 0, sizeof(*numbers));
}

void post_capture_numbers_begin(struct post_capture_numbers *numbers, size_t words, size_t overflow,
				size_t bins, bool timed)
{
	post_capture_numbers_release(numbers);
	part_begin(&numbers->table, words);
	part_begin(&numbers->overflow, overflow);
	part_begin(&numbers->profile, bins);
	part_begin(&numbers->open, 0);
	numbers->timed = timed;
	numbers->sendings = numbers->piece = numbers->first_piece = 1;
}

void post_capture_numbers_next(struct post_capture_numbers *numbers)
{
	numbers->table.stale = numbers->table.count;
	numbers->overflow.stale = numbers->overflow.count;
	numbers->profile.stale = numbers->profile.count;
	numbers->open.stale = numbers->open.count;
	numbers->fresh_times = false;
	numbers->tasks_fresh = 0;
	numbers->ended = false;
	numbers->sendings++;
	numbers->first_piece = ++numbers->piece;
}

void post_capture_numbers_gap(struct post_capture_numbers *numbers)
{
	numbers->piece++;
}

/* In the order in which they are counted: behind the table is the overflow table, and behind that
 * the histogram. NULL: there is no number of this name. */
static struct post_capture_part *part_of(struct post_capture_numbers *numbers, size_t *number)
{
	struct post_capture_part *const parts[] = {&numbers->table, &numbers->overflow,
						   &numbers->profile};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (*number < parts[i]->count)
			return parts[i];
		*number -= parts[i]->count;
	}
	return NULL;
}

/* Each comes once in a sending. */
bool post_capture_numbers_anew(const struct post_capture_numbers *numbers, uint8_t type,
			       const uint8_t *payload, size_t size)
{
	size_t at = 0;
	size_t number = litifut_serial_number(payload, size, &at);
	const struct post_capture_part *part = NULL;

	if (numbers->ended)
		return true;
	if (type == LITIFUT_FRAME_TIMES)
		return numbers->fresh_times;
	if (type == LITIFUT_FRAME_OPEN && number < numbers->open.count / 2) {
		part = &numbers->open;
		number *= 2;
	} else if (type == LITIFUT_FRAME_COUNTS) {
		part = part_of((struct post_capture_numbers *)numbers, &number);
	}
	return part && part->from[number] >= numbers->first_piece;
}

/* Of the numbers of the table and the overflow table. */
static void put_upper(struct post_capture_numbers *numbers, size_t number, uint32_t upper)
{
	const size_t count = numbers->table.count + numbers->overflow.count;

	if (upper && !numbers->upper)
		numbers->upper = post_allocate(count + 1, sizeof(*numbers->upper));
	if (numbers->upper && number < count)
		numbers->upper[number] = upper;
}

/* Nothing of a frame that makes no sense is taken. */
static bool take_counts(struct post_capture_numbers *numbers, const uint8_t *payload, size_t size)
{
	for (unsigned pass = 0; pass < 2; pass++) {
		size_t at = 0;
		uint32_t number = litifut_serial_number(payload, size, &at);

		for (; at < size; number++) {
			const uint64_t value = litifut_serial_long(payload, size, &at);
			size_t word = number;
			struct post_capture_part *part = part_of(numbers, &word);

			if (at > size || !part)
				return false;
			if (!pass)
				continue;
			put_upper(numbers, number, (uint32_t)(value >> 32));
			part_put(numbers, part, word, (uint32_t)value);
		}
		if (at != size)
			return false;
	}
	return true;
}

static bool take_times(struct post_capture_numbers *numbers, const uint8_t *payload, size_t size)
{
	size_t at = 0;
	const uint32_t hertz = litifut_serial_number(payload, size, &at);
	struct litifut_calibration calibration;

	calibration.calls = litifut_serial_number(payload, size, &at);
	calibration.inside = litifut_serial_number(payload, size, &at);
	calibration.whole = litifut_serial_number(payload, size, &at);
	const uint32_t untimed = litifut_serial_number(payload, size, &at);
	const uint32_t open = litifut_serial_number(payload, size, &at);
	const uint32_t tasks = at < size ? litifut_serial_number(payload, size, &at) : 0;

	if (at != size || open > POST_CAPTURE_WORDS_MAX || tasks > LITIFUT_TASKS_MOST)
		return false;
	numbers->hertz = hertz;
	numbers->calibration = calibration;
	numbers->untimed = untimed;
	numbers->has_times = numbers->fresh_times = true;
	numbers->task_count = tasks;
	if (numbers->open.count != 2 * (size_t)open)
		part_begin(&numbers->open, 2 * (size_t)open);
	return true;
}

static bool take_open(struct post_capture_numbers *numbers, const uint8_t *payload, size_t size)
{
	size_t at = 0;
	uint32_t entry = litifut_serial_number(payload, size, &at);

	for (; at < size; entry++) {
		const uint32_t name = litifut_serial_number(payload, size, &at);
		const uint32_t ticks = name ? litifut_serial_number(payload, size, &at) : 0;

		if (at > size || entry > POST_CAPTURE_WORDS_MAX ||
		    !part_put(numbers, &numbers->open, 2 * (size_t)entry, name) ||
		    !part_put(numbers, &numbers->open, 2 * (size_t)entry + 1, ticks))
			return false;
	}
	return true;
}

/* A task that has begun since their number was sent comes in the next sending. */
static bool take_task(struct post_capture_numbers *numbers, const uint8_t *payload, size_t size)
{
	size_t at = 0;
	const uint32_t number = litifut_serial_number(payload, size, &at);
	struct litifut_task task = {0};

	if (number / 2 >= LITIFUT_TASKS_MOST)
		return false;
	struct litifut_task *kept = &numbers->tasks[number / 2];

	if (number % 2) {
		for (size_t i = 0; at < size && i < sizeof(task.name) - 1; i++)
			task.name[i] = (char)litifut_serial_number(payload, size, &at);
		memcpy(kept->name, task.name, sizeof(task.name));
		return true;
	}
	task.task = litifut_serial_number(payload, size, &at);
	task.calls = litifut_serial_number(payload, size, &at);
	task.ticks_low = litifut_serial_number(payload, size, &at);
	task.ticks_high = litifut_serial_number(payload, size, &at);
	if (at != size)
		return false;
	memcpy(task.name, kept->name, sizeof(task.name));
	*kept = task;
	numbers->tasks_seen |= (size_t)1 << number / 2;
	numbers->tasks_fresh |= (size_t)1 << number / 2;
	return true;
}

bool post_capture_numbers_take(struct post_capture_numbers *numbers, uint8_t type,
			       const uint8_t *payload, size_t size)
{
	if (type == LITIFUT_FRAME_COUNTS)
		return take_counts(numbers, payload, size);
	if (type == LITIFUT_FRAME_TIMES)
		return take_times(numbers, payload, size);
	if (!numbers->has_times)
		return true; /* how many there are is not known */
	return type == LITIFUT_FRAME_OPEN ? take_open(numbers, payload, size)
					  : take_task(numbers, payload, size);
}

static size_t tasks_less(const struct post_capture_numbers *numbers, size_t bits)
{
	size_t missing = 0;

	for (size_t i = 0; i < numbers->task_count; i++)
		missing += !(bits >> i & 1);
	return missing;
}

size_t post_capture_numbers_missing(const struct post_capture_numbers *numbers)
{
	return numbers->table.missing + numbers->overflow.missing + numbers->profile.missing +
	       numbers->open.missing + (numbers->timed && !numbers->has_times) +
	       tasks_less(numbers, numbers->tasks_seen);
}

size_t post_capture_numbers_count(const struct post_capture_numbers *numbers)
{
	return numbers->table.count + numbers->overflow.count + numbers->profile.count +
	       numbers->open.count + numbers->timed + numbers->task_count;
}

bool post_capture_numbers_whole(const struct post_capture_numbers *numbers)
{
	return numbers->sendings && numbers->piece == numbers->first_piece &&
	       !numbers->table.stale && !numbers->overflow.stale && !numbers->profile.stale &&
	       !numbers->open.stale && (numbers->fresh_times || !numbers->timed) &&
	       !tasks_less(numbers, numbers->tasks_fresh);
}

static void set_others(const struct post_capture_numbers *numbers, struct post_capture *capture)
{
	capture->word_count = numbers->table.count;
	capture->overflow_count = numbers->overflow.count;
	capture->bin_count = numbers->profile.count;
	capture->open_count = numbers->open.count;
	capture->open_missing = numbers->open.missing || (numbers->timed && !numbers->has_times);
	capture->hertz = numbers->hertz;
	capture->calibration = numbers->calibration;
	capture->cost_missing = numbers->timed && !numbers->has_times;
	capture->untimed = numbers->untimed;
	memcpy(capture->tasks, numbers->tasks, sizeof(capture->tasks));
	capture->task_count = numbers->task_count;
}

static uint32_t *copy_of(const uint32_t *words, size_t count)
{
	uint32_t *copy = post_allocate(count + 1, sizeof(*copy));

	memcpy(copy, words, count * sizeof(*copy));
	return copy;
}

void post_capture_numbers_copy(const struct post_capture_numbers *numbers,
			       struct post_capture *capture)
{
	set_others(numbers, capture);
	capture->words = copy_of(numbers->table.words, numbers->table.count);
	capture->overflow = copy_of(numbers->overflow.words, numbers->overflow.count);
	capture->bins = copy_of(numbers->profile.words, numbers->profile.count);
	capture->open = copy_of(numbers->open.words, numbers->open.count);
	if (numbers->upper)
		capture->upper =
			copy_of(numbers->upper, numbers->table.count + numbers->overflow.count);
}

/* Those of the table, and behind them those of the overflow table. */
static uint32_t *from_of(const struct post_capture_numbers *numbers)
{
	const struct post_capture_part *table = &numbers->table, *overflow = &numbers->overflow;
	uint32_t *from = post_allocate(table->count + overflow->count + 1, sizeof(*from));

	memcpy(from, table->from, table->count * sizeof(*from));
	memcpy(from + table->count, overflow->from, overflow->count * sizeof(*from));
	return from;
}

void post_capture_numbers_hand_over(struct post_capture_numbers *numbers,
				    struct post_capture *capture)
{
	set_others(numbers, capture);
	capture->words = numbers->table.words;
	capture->overflow = numbers->overflow.words;
	capture->bins = numbers->profile.words;
	capture->open = numbers->open.words;
	capture->upper = numbers->upper;
	if (!post_capture_numbers_whole(numbers))
		capture->from = from_of(numbers);
	numbers->table.words = numbers->overflow.words = numbers->profile.words = NULL;
	numbers->open.words = numbers->upper = NULL;
	post_capture_numbers_release(numbers);
}
