#include "postproc/sources/firmware_dump.h"

#include <stdlib.h>
#include <string.h>

#include <litifut/avr_spans.h>
#include <litifut/firmware_pool.h>
#include <litifut/frames_format.h>
#include <litifut/kept_format.h>
#include <litifut/paths_format.h>

#include "postproc/sources/firmware_image.h"
#include "postproc/sources/firmware_kind.h"
#include "postproc/table.h"

/* Where a ring outlasts a reset, no section has it, and a symbol has no size. */
static bool find_table(const struct post_image *image, uint32_t *address, uint32_t *size)
{
	uint32_t events, none;

	if (!post_firmware_object(image, "litifut_table", address, size))
		return false;
	if (!*size && post_firmware_object(image, "litifut_kept_events", &events, &none))
		*size = events * EVENT_BYTES;
	if (!*size && post_firmware_object(image, "litifut_table_end", &events, &none))
		*size = events - *address;
	return true;
}

/* Copies little-endian words from a dump that begins at `base`. False: they are not in it. */
static bool copy_words(const uint8_t *dump, size_t size, uint32_t base, uint32_t address,
		       uint32_t bytes, uint32_t **words, size_t *count)
{
	uint32_t at = address - base;

	if (at > size || bytes > size - at)
		return false;
	*count = bytes / 4;
	*words = post_allocate(*count + 1, sizeof(**words));
	for (size_t i = 0; i < *count; i++)
		(*words)[i] = post_firmware_word(dump + at + 4 * i);
	return true;
}

/* Counters of a byte, which come first, each become a number. */
static void expand_bytes(const struct post_image *image, struct post_capture *capture)
{
	uint32_t bytes, none;
	uint32_t *numbers;

	if (!post_firmware_object(image, "litifut_bytes", &bytes, &none) ||
	    bytes / 4 > capture->word_count)
		return;
	const size_t words = capture->word_count - bytes / 4;

	numbers = post_allocate(bytes + words + 1, sizeof(*numbers));
	for (uint32_t i = 0; i < bytes; i++)
		numbers[i] = capture->words[i / 4] >> 8 * (i % 4) & UINT8_MAX;
	memcpy(numbers + bytes, capture->words + bytes / 4, words * sizeof(*numbers));
	free(capture->words);
	capture->words = numbers;
	capture->word_count = bytes + words;
}

/* Adds to the numbers what they have been carried to. */
static void add_carries(const uint8_t *dump, size_t size, uint32_t base,
			const struct post_image *image, struct post_capture *capture)
{
	const bool counts = !(capture->flags & LITIFUT_FRAMES_TIMES);
	uint32_t address, bytes, *entries;
	size_t count;

	if (!post_firmware_object(image, "litifut_carries", &address, &bytes) ||
	    !copy_words(dump, size, base, address, bytes, &entries, &count))
		return;
	if (counts)
		expand_bytes(image, capture);
	const size_t numbers = capture->word_count + capture->overflow_count;

	capture->upper = post_allocate(numbers + 1, sizeof(*capture->upper));
	for (size_t i = 0; i < count; i++) {
		const uint32_t name = entries[i] & UINT16_MAX;

		if (name && counts && name <= capture->word_count)
			capture->words[name - 1] += entries[i] >> 16 << 8;
		else if (name && name <= numbers)
			capture->upper[name - 1] += entries[i] >> 16;
	}
	free(entries);
}

/* What the tracer adds to a call, and calls without a time. */
static void copy_cost(const uint8_t *dump, size_t size, uint32_t base,
		      const struct post_image *image, struct post_capture *capture)
{
	struct litifut_calibration *cost = &capture->calibration;
	uint32_t address, none, *found;
	size_t count;

	if (post_firmware_object(image, "litifut_open_untimed", &address, &none) &&
	    copy_words(dump, size, base, address, sizeof(*found), &found, &count)) {
		capture->untimed = *found;
		free(found);
	}
	if (post_firmware_object(image, "litifut_call_inside", &cost->inside, &none) &&
	    post_firmware_object(image, "litifut_call_whole", &cost->whole, &none)) {
		cost->calls = 1;
	} else if (post_firmware_object(image, "litifut_calibration", &address, &none) &&
		   copy_words(dump, size, base, address, sizeof(*cost), &found, &count)) {
		cost->calls = found[0];
		cost->inside = found[1];
		cost->whole = found[2];
		free(found);
	}
}

/* Where in the pool the entries that are in use begin. False: the dump does not say it. */
static bool find_newest(const uint8_t *dump, size_t size, uint32_t base,
			const struct post_image *image, uint32_t pool, uint32_t *offset)
{
	uint32_t address, none;

	*offset = 0;
	if (!post_firmware_object(image, "litifut_open_newest", &address, &none))
		return true;
	if (address - base > size || size - (address - base) < 2)
		return false;
	/* Without the upper half of its address; 0, where no call has been made, is behind all. */
	const uint8_t *newest = dump + (address - base);

	*offset = (uint16_t)((newest[0] | newest[1] << 8) - pool);
	return true;
}

/* When the memory was saved is not known, so there are no times of open calls. */
static void copy_open(const uint8_t *dump, size_t size, uint32_t base,
		      const struct post_image *image, struct post_capture *capture)
{
	uint32_t table, words, overflow, pool, bytes, entry, record, width, first, none;

	if (!post_firmware_object(image, "litifut_open_record_bytes", &width, &none))
		width = 4;
	if (!(capture->flags & LITIFUT_FRAMES_TIMES) ||
	    !post_firmware_object(image, "litifut_table", &table, &words) ||
	    !post_firmware_object(image, "litifut_open", &pool, &bytes) ||
	    !post_firmware_object(image, "litifut_open_bytes", &entry, &none) ||
	    !post_firmware_object(image, "litifut_open_record", &record, &none) || record > entry ||
	    entry - record < 4 || pool - base > size || bytes > size - (pool - base) ||
	    !find_newest(dump, size, base, image, pool, &first))
		return;
	if (!post_firmware_object(image, "litifut_overflow", &overflow, &none))
		overflow = 0;
	capture->open = post_allocate(bytes / entry + 1, 2 * sizeof(*capture->open));
	for (size_t at = record; at - record + entry <= bytes; at += entry) {
		uint32_t used = post_firmware_word(dump + (pool - base) + at);

		/* AVR: the linker has the memory somewhere above the flash. */
		if (width < 4)
			used &= UINT16_MAX;
		if (used <= UINT8_MAX || at < first + record)
			used = 0;
		if (used && used <= UINT16_MAX)
			used |= table & ~(uint32_t)UINT16_MAX;
		if (used)
			capture->open[capture->open_count] =
				1 + (used - table < words ? (used - table) / 4
							  : (used - overflow + words) / 4);
		capture->open_count += 2;
	}
}

/* What the task that runs has done since it began to is not in its entry. */
static void copy_tasks(const uint8_t *dump, size_t size, uint32_t base,
		       const struct post_image *image, struct post_capture *capture)
{
	uint32_t address, bytes, *words, count;
	size_t have;

	if (!post_firmware_object(image, "litifut_task_count", &address, &bytes) ||
	    !copy_words(dump, size, base, address, 4, &words, &have))
		return;
	count = *words;
	free(words);
	if (count > LITIFUT_TASKS_MOST ||
	    !post_firmware_object(image, "litifut_tasks", &address, &bytes) ||
	    !copy_words(dump, size, base, address, count * (uint32_t)sizeof(*capture->tasks),
			&words, &have))
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct litifut_task *task = &capture->tasks[i];
		const uint32_t *from = words + i * sizeof(*task) / 4;

		task->task = from[0];
		task->calls = from[1];
		task->ticks_low = from[2];
		task->ticks_high = from[3];
		memcpy(task->name,
		       dump + (address - base) + i * sizeof(*task) +
			       offsetof(struct litifut_task, name),
		       sizeof(task->name) - 1);
	}
	capture->task_count = count;
	free(words);
}

/* The state of a ring that outlasts a reset: what the memory has of the last run, whether the next
 * one has begun or not. False: it has none. */
static bool kept_state(const uint8_t *dump, size_t size, uint32_t base,
		       const struct post_image *image, const struct post_capture *capture,
		       uint32_t *state)
{
	struct litifut_kept kept;
	uint32_t address, none, *words;
	size_t count;

	if (!post_firmware_object(image, "litifut_kept", &address, &none) ||
	    !copy_words(dump, size, base, address, sizeof(kept), &words, &count))
		return false;
	memcpy(&kept, words, sizeof(kept));
	free(words);
	state[RING_HEAD / 4] = kept.head;
	state[RING_LIMIT / 4] = RING_NO_LIMIT;
	state[RING_MASK / 4] = kept.events - 1;
	return kept.magic == LITIFUT_KEPT_MAGIC && kept.check == litifut_kept_check(&kept) &&
	       kept.hash[0] == post_firmware_word(capture->hash) &&
	       kept.hash[1] == post_firmware_word(capture->hash + 4);
}

/* The events in a ring of short ones. */
static bool copy_short_ring(const uint8_t *dump, size_t size, uint32_t base,
			    const struct post_image *image, struct post_capture *capture)
{
	uint32_t state, table, bytes, events, none;

	return post_firmware_object(image, "litifut_ring", &state, &none) &&
	       post_firmware_object(image, "litifut_ring_events", &events, &none) &&
	       find_table(image, &table, &bytes) && state - base <= size &&
	       size - (state - base) >= LITIFUT_AVR_RING_BYTES &&
	       events * LITIFUT_AVR_EVENT_BYTES <= bytes &&
	       post_span_events_short(&capture->events, dump + (table - base), events, table,
				      dump + (state - base));
}

/* The events in the ring, whose words are those of the table. */
static bool copy_ring(const uint8_t *dump, size_t size, uint32_t base,
		      const struct post_image *image, struct post_capture *capture)
{
	uint32_t address, bytes;
	uint32_t *state = NULL;
	size_t count = 0;

	if (copy_short_ring(dump, size, base, image, capture))
		return true;
	bool good = post_firmware_object(image, "litifut_pool", &address, &bytes) &&
		    copy_words(dump, size, base, address, bytes, &state, &count) &&
		    count >= RING_STATE_BYTES / 4 &&
		    (!(capture->flags & LITIFUT_FRAMES_KEPT) ||
		     kept_state(dump, size, base, image, capture, state)) &&
		    post_span_events_memory(&capture->events, capture->words, capture->word_count,
					    state);

	free(state);
	return good;
}

/* The bits of a byte, which are behind those of the newest word. */
static void copy_bits(const uint8_t *dump, size_t size, uint32_t base,
		      const struct post_image *image, struct post_capture *capture)
{
	uint32_t address, none;

	if (capture->paths.count && !capture->paths.off &&
	    post_firmware_object(image, "litifut_paths_bits", &address, &none) &&
	    address - base < size && dump[address - base])
		post_path_words_add(&capture->paths, dump[address - base]);
}

/* The same of a ring of branches. */
static bool copy_branches(const uint8_t *dump, size_t size, uint32_t base,
			  const struct post_image *image, struct post_capture *capture)
{
	uint32_t address, table, none;
	uint32_t *state = NULL;
	size_t count = 0;
	bool good = false;

	if (!post_firmware_object(image, "litifut_table", &table, &none))
		return false;
	if (capture->flags & LITIFUT_FRAMES_KEPT) {
		uint32_t kept[RING_STATE_BYTES / 4];

		return kept_state(dump, size, base, image, capture, kept) &&
		       post_path_words_memory(&capture->paths, capture->words, capture->word_count,
					      table, kept[RING_HEAD / 4]);
	}
	if (post_firmware_object(image, "litifut_paths", &address, &none) &&
	    copy_words(dump, size, base, address, sizeof(struct litifut_paths_state), &state,
		       &count)) {
		good = post_path_words_memory(&capture->paths, capture->words, capture->word_count,
					      table, state[PATHS_CURSOR / 4]);
		capture->paths.lost = state[offsetof(struct litifut_paths_state, lost) / 4];
		copy_bits(dump, size, base, image, capture);
	}
	free(state);
	return good;
}

static void copy_bins(const uint8_t *dump, size_t size, uint32_t at, uint32_t count,
		      struct post_capture *capture)
{
	if (at > size || 2 * (size_t)count > size - at)
		return;
	capture->bins = post_allocate(count + 1, sizeof(*capture->bins));
	capture->bin_count = count;
	for (uint32_t i = 0; i < count; i++)
		capture->bins[i] = dump[at + 2 * i] | (uint32_t)dump[at + 2 * i + 1] << 8;
}

enum litifut_status post_firmware_dump(const char *path, const uint8_t *dump, size_t size,
				       const struct post_inputs *inputs, struct post_image **image,
				       struct post_capture *capture, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_ERROR_MISSING;
	size_t at = post_find_identity(dump, size, 0);
	uint8_t identity[sizeof(struct litifut_identity)];
	uint32_t base, address, bytes;

	/* The first one may be the copy in the flash. */
	for (; at < size; at = post_find_identity(dump, size, at + 4)) {
		const uint8_t *hash = dump + at + offsetof(struct litifut_identity, hash);

		if (!*image) {
			status = post_firmware_image(path, inputs, hash, image, error);
			if (status)
				continue;
		}
		post_capture_release(capture); /* what the one before has left */
		post_firmware_identity(*image, identity, &base);
		base -= (uint32_t)at;
		memcpy(capture->hash, hash, sizeof(capture->hash));
		if (!find_table(*image, &address, &bytes) ||
		    !copy_words(dump, size, base, address, bytes, &capture->words,
				&capture->word_count)) {
			status = litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL,
						   LITIFUT_NO_ADDRESS,
						   "the dump does not reach over litifut_table");
			continue;
		}
		capture->dumped = true;
		capture->flags = identity[offsetof(struct litifut_identity, flags)];
		copy_open(dump, size, base, *image, capture);
		copy_cost(dump, size, base, *image, capture);
		copy_tasks(dump, size, base, *image, capture);
		if (capture->flags & LITIFUT_FRAMES_SPANS &&
		    !copy_ring(dump, size, base, *image, capture)) {
			status = litifut_error_set(
				error, LITIFUT_ERROR_FORMAT, path, NULL, LITIFUT_NO_ADDRESS,
				"the dump has no ring of events that makes sense");
			continue;
		}
		if (capture->flags & LITIFUT_FRAMES_PATHS &&
		    !copy_branches(dump, size, base, *image, capture)) {
			status = litifut_error_set(
				error, LITIFUT_ERROR_FORMAT, path, NULL, LITIFUT_NO_ADDRESS,
				"the dump has no ring of branches that makes sense");
			continue;
		}
		if (post_firmware_object(*image, "litifut_overflow", &address, &bytes))
			copy_words(dump, size, base, address, bytes, &capture->overflow,
				   &capture->overflow_count);
		add_carries(dump, size, base, *image, capture);
		if (post_firmware_object(*image, "litifut_profile", &address, &bytes) && bytes)
			copy_bins(dump, size, address - base, bytes / 2, capture);
		return LITIFUT_OK;
	}
	return status;
}
