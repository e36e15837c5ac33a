/* Every number in a capture only grows while the device runs, so the last value of each that
 * has arrived is the best; events come once. When the device restarts, all begin anew; the run
 * before is shown when the last one was cut too early to be whole. */
#include "postproc/sources/capture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/serial_frames.h"
#include "postproc/table.h"

/* More than a microcontroller has memory for. */
#define WORDS_MAX 65536

/* One array that arrives in pieces. */
struct part {
	uint32_t *words;
	bool *seen;
	size_t count;
	size_t missing;
};

struct reader {
	bool has_header;
	uint8_t hash[8];
	uint32_t round;
	struct part table;
	struct part overflow;
	uint32_t *upper; /* see struct post_capture */
	struct part profile;
	struct part open;
	bool has_times; /* the frame with these has come */
	uint32_t flags, hertz, untimed;
	struct litifut_calibration calibration;
	struct litifut_task tasks[LITIFUT_TASKS_MOST];
	size_t task_count, tasks_seen; /* announced, and a bit for each that has come */
	struct post_span_events events;
	struct post_path_words paths;
	/* The same of a run that the device has ended by restarting, if that was whole. */
	struct post_capture before;
	bool has_before;
	uint8_t sequence;
	bool has_sequence;
	size_t lost;    /* frames */
	size_t foreign; /* frames of another build, before the last header */
	bool wrong_version;
	bool damaged; /* a frame with a good CRC that makes no sense */
};

static void part_release(struct part *part)
{
	free(part->words);
	free(part->seen);
	memset(part, 0, sizeof(*part));
}

static void part_begin(struct part *part, size_t count)
{
	part_release(part);
	part->words = post_allocate(count + 1, sizeof(*part->words));
	part->seen = post_allocate(count + 1, sizeof(*part->seen));
	part->count = part->missing = count;
}

static bool part_put(struct part *part, size_t word, uint32_t value)
{
	if (word >= part->count)
		return false;
	part->words[word] = value;
	part->missing -= !part->seen[word];
	part->seen[word] = true;
	return true;
}

static void release_parts(struct reader *reader)
{
	part_release(&reader->table);
	part_release(&reader->overflow);
	part_release(&reader->profile);
	part_release(&reader->open);
	free(reader->upper);
	reader->upper = NULL;
	post_span_events_release(&reader->events);
	post_path_words_release(&reader->paths);
}

static void hand_over(struct reader *reader, struct post_capture *capture)
{
	memcpy(capture->hash, reader->hash, sizeof(capture->hash));
	capture->words = reader->table.words;
	capture->word_count = reader->table.count;
	capture->overflow = reader->overflow.words;
	capture->overflow_count = reader->overflow.count;
	capture->upper = reader->upper;
	capture->bins = reader->profile.words;
	capture->bin_count = reader->profile.count;
	capture->open = reader->open.words;
	capture->open_count = reader->open.count;
	capture->flags = reader->flags;
	capture->hertz = reader->hertz;
	capture->calibration = reader->calibration;
	capture->untimed = reader->untimed;
	memcpy(capture->tasks, reader->tasks, sizeof(capture->tasks));
	capture->task_count = reader->task_count;
	capture->events = reader->events;
	memset(&reader->events, 0, sizeof(reader->events));
	capture->paths = reader->paths;
	memset(&reader->paths, 0, sizeof(reader->paths));
	reader->table.words = NULL;
	reader->overflow.words = NULL;
	reader->upper = NULL;
	reader->profile.words = NULL;
	reader->open.words = NULL;
	release_parts(reader);
}

static size_t tasks_missing(const struct reader *reader)
{
	size_t missing = 0;

	for (size_t i = 0; i < reader->task_count; i++)
		missing += !(reader->tasks_seen >> i & 1);
	return missing;
}

static size_t missing_of(const struct reader *reader)
{
	size_t times = (reader->flags & LITIFUT_FRAMES_TIMES) && !reader->has_times;

	return reader->table.missing + reader->overflow.missing + reader->profile.missing +
	       reader->open.missing + times + tasks_missing(reader) +
	       post_span_events_missing(&reader->events) + (reader->paths.end - reader->paths.next);
}

/* The counts begin anew. */
static void restart(struct reader *reader)
{
	if (reader->has_header && !missing_of(reader)) {
		post_capture_release(&reader->before);
		hand_over(reader, &reader->before);
		reader->has_before = true;
	}
}

static void take_header(struct reader *reader, const uint8_t *payload, size_t size)
{
	size_t at = 0;
	uint32_t version = litifut_serial_number(payload, size, &at);
	uint32_t words;
	uint32_t overflow;
	uint32_t bins;
	uint32_t round;

	if (version != LITIFUT_FRAMES_VERSION) {
		reader->wrong_version = true;
		return;
	}
	uint32_t flags = litifut_serial_number(payload, size, &at);
	const uint8_t *hash = payload + at;

	at += 8;
	words = litifut_serial_number(payload, size, &at);
	overflow = litifut_serial_number(payload, size, &at);
	bins = litifut_serial_number(payload, size, &at);
	round = litifut_serial_number(payload, size, &at);
	if (at != size || words > WORDS_MAX || overflow > WORDS_MAX || bins > WORDS_MAX) {
		reader->damaged = true;
		return;
	}
	bool other = reader->has_header && memcmp(hash, reader->hash, sizeof(reader->hash)) != 0;

	reader->foreign += other;
	/* The positions of events in such a ring go on over a restart. */
	bool goes_on = reader->has_header && !other && flags & LITIFUT_FRAMES_KEPT;

	if (!reader->has_header || other || words != reader->table.count ||
	    overflow != reader->overflow.count || bins != reader->profile.count ||
	    (!goes_on && round <= reader->round && reader->round != UINT8_MAX)) {
		if (!other)
			restart(reader);
		free(reader->upper);
		reader->upper = NULL;
		part_begin(&reader->table, words);
		part_begin(&reader->overflow, overflow);
		part_begin(&reader->profile, bins);
		part_begin(&reader->open, 0);
		post_span_events_release(&reader->events);
		post_path_words_release(&reader->paths);
		reader->has_times = false;
		memset(reader->tasks, 0, sizeof(reader->tasks));
		reader->task_count = reader->tasks_seen = 0;
	}
	reader->flags = flags;
	reader->has_header = true;
	reader->round = round;
	memcpy(reader->hash, hash, sizeof(reader->hash));
}

/* Of the numbers of the table and the overflow table. */
static void put_upper(struct reader *reader, size_t number, uint32_t upper)
{
	const size_t count = reader->table.count + reader->overflow.count;

	if (upper && !reader->upper)
		reader->upper = post_allocate(count + 1, sizeof(*reader->upper));
	if (reader->upper && number < count)
		reader->upper[number] = upper;
}

/* Behind the table is the overflow table, and behind that the histogram. */
static bool put_number(struct reader *reader, size_t number, uint64_t value)
{
	struct part *const parts[] = {&reader->table, &reader->overflow, &reader->profile};

	put_upper(reader, number, (uint32_t)(value >> 32));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (number < parts[i]->count)
			return part_put(parts[i], number, (uint32_t)value);
		number -= parts[i]->count;
	}
	return false;
}

static void take_numbers(struct reader *reader, const uint8_t *payload, size_t size)
{
	size_t at = 0;
	uint32_t number = litifut_serial_number(payload, size, &at);

	while (at < size && !reader->damaged) {
		uint64_t value = litifut_serial_long(payload, size, &at);

		if (at > size || !put_number(reader, number++, value))
			reader->damaged = true;
	}
}

static void take_times(struct reader *reader, const uint8_t *payload, size_t size)
{
	size_t at = 0;

	reader->hertz = litifut_serial_number(payload, size, &at);
	reader->calibration.calls = litifut_serial_number(payload, size, &at);
	reader->calibration.inside = litifut_serial_number(payload, size, &at);
	reader->calibration.whole = litifut_serial_number(payload, size, &at);
	reader->untimed = litifut_serial_number(payload, size, &at);
	uint32_t open = litifut_serial_number(payload, size, &at);
	uint32_t tasks = at < size ? litifut_serial_number(payload, size, &at) : 0;

	if (at != size || open > WORDS_MAX || tasks > LITIFUT_TASKS_MOST) {
		reader->damaged = true;
		return;
	}
	reader->has_times = true;
	reader->task_count = tasks;
	if (reader->open.count != 2 * (size_t)open)
		part_begin(&reader->open, 2 * (size_t)open);
}

static void take_open(struct reader *reader, const uint8_t *payload, size_t size)
{
	size_t at = 0;
	uint32_t entry = litifut_serial_number(payload, size, &at);

	for (; at < size && !reader->damaged; entry++) {
		uint32_t name = litifut_serial_number(payload, size, &at);
		uint32_t ticks = name ? litifut_serial_number(payload, size, &at) : 0;

		if (at > size || entry > WORDS_MAX ||
		    !part_put(&reader->open, 2 * (size_t)entry, name) ||
		    !part_put(&reader->open, 2 * (size_t)entry + 1, ticks))
			reader->damaged = true;
	}
}

/* A task that has begun since their number was sent comes in the next round. */
static void take_task(struct reader *reader, const uint8_t *payload, size_t size)
{
	size_t at = 0;
	const uint32_t number = litifut_serial_number(payload, size, &at);
	struct litifut_task task = {0};

	if (number / 2 >= LITIFUT_TASKS_MOST) {
		reader->damaged = true;
		return;
	}
	if (number % 2) {
		for (size_t i = 0; at < size && i < sizeof(task.name) - 1; i++)
			task.name[i] = (char)litifut_serial_number(payload, size, &at);
		memcpy(reader->tasks[number / 2].name, task.name, sizeof(task.name));
		return;
	}
	task.task = litifut_serial_number(payload, size, &at);
	task.calls = litifut_serial_number(payload, size, &at);
	task.ticks_low = litifut_serial_number(payload, size, &at);
	task.ticks_high = litifut_serial_number(payload, size, &at);
	if (at != size) {
		reader->damaged = true;
		return;
	}
	memcpy(task.name, reader->tasks[number / 2].name, sizeof(task.name));
	reader->tasks[number / 2] = task;
	reader->tasks_seen |= (size_t)1 << number / 2;
}

static void take_frame(void *context, uint8_t type, uint8_t sequence, const uint8_t *payload,
		       size_t size)
{
	struct reader *reader = context;

	if (type == LITIFUT_FRAME_HEADER && sequence == 0)
		reader->has_sequence = false; /* after a restart */
	const bool follows = !reader->has_sequence || sequence == (uint8_t)(reader->sequence + 1);

	if (!follows)
		reader->lost += (uint8_t)(sequence - reader->sequence - 1);
	reader->sequence = sequence;
	reader->has_sequence = true;
	if (type != LITIFUT_FRAME_PACKED_MORE)
		reader->damaged |= !post_path_words_unpack(&reader->paths);
	if (type == LITIFUT_FRAME_HEADER)
		take_header(reader, payload, size);
	else if (!reader->has_header)
		return; /* of a round whose header is not here */
	else if (type == LITIFUT_FRAME_COUNTS)
		take_numbers(reader, payload, size);
	else if (type == LITIFUT_FRAME_TIMES)
		take_times(reader, payload, size);
	else if (type == LITIFUT_FRAME_OPEN && reader->has_times)
		take_open(reader, payload, size);
	else if (type == LITIFUT_FRAME_TASK && reader->has_times)
		take_task(reader, payload, size);
	else if (type == LITIFUT_FRAME_RING && reader->flags & LITIFUT_FRAMES_SPANS)
		reader->damaged |= !post_span_events_ring(&reader->events, payload, size);
	else if (type == LITIFUT_FRAME_SPANS && reader->events.bits)
		reader->damaged |= !post_span_events_take(&reader->events, payload, size);
	else if (type == LITIFUT_FRAME_BRANCHES && reader->flags & LITIFUT_FRAMES_PATHS)
		reader->damaged |= !post_path_words_begin(&reader->paths, payload, size);
	else if (type == LITIFUT_FRAME_WORDS && reader->paths.begun)
		reader->damaged |= !post_path_words_take(&reader->paths, payload, size);
	else if ((type == LITIFUT_FRAME_PACKED || type == LITIFUT_FRAME_PACKED_MORE) &&
		 reader->paths.begun)
		reader->damaged |= !post_path_words_pack(
			&reader->paths, type == LITIFUT_FRAME_PACKED, follows, payload, size);
}

static void see_header(void *context, uint8_t type, uint8_t sequence, const uint8_t *payload,
		       size_t size)
{
	(void)sequence;
	(void)payload;
	(void)size;
	*(bool *)context |= type == LITIFUT_FRAME_HEADER;
}

bool post_capture_is(const uint8_t *bytes, size_t size)
{
	bool found = false;
	const struct litifut_serial_sink sink = {see_header, NULL, &found};
	struct litifut_serial serial;

	litifut_serial_begin(&serial, &sink);
	litifut_serial_feed(&serial, bytes, size);
	litifut_serial_end(&serial);
	return found;
}

/* Of events each comes once. */
static void report_events(const char *path, const struct post_span_events *events,
			  struct post_problems *problems)
{
	const size_t before = events->resets ? events->kept - 1 : 0;

	if (events->resets)
		post_note_at(problems, path, LITIFUT_NO_ADDRESS,
			     "the device has restarted %zu times: the first %zu of %zu events are "
			     "of the runs before the last",
			     events->resets, before, events->count);
	const uint64_t missing = events->missing + post_span_events_missing(events);

	if (missing)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"cut or damaged: %" PRIu64 " of %" PRIu64 " events are missing",
				missing, missing + events->count);
	if (events->lost_so_far)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%" PRIu32 " events found no room in the ring of the device: link "
				"with a larger LITIFUT_RING_KB, or send more often (LITIFUT_SEND)",
				events->lost_so_far);
}

static void report(const char *path, const struct reader *reader, bool older,
		   struct post_problems *problems)
{
	size_t missing = missing_of(reader);

	if (reader->damaged)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"a frame with a right checksum and wrong contents, left out");
	if (reader->foreign)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"results of several builds; those of the last one are shown");
	if (older)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"cut: the device restarted, and its last results are not whole; "
				"those before the restart are shown");
	else if (reader->flags & LITIFUT_FRAMES_SPANS)
		report_events(path, &reader->events, problems);
	/* of branches, firmware.c says what is missing, of a dump as well */
	else if (missing && !(reader->flags & LITIFUT_FRAMES_PATHS))
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"cut or damaged: %zu of %zu numbers are missing and taken as 0",
				missing,
				reader->table.count + reader->overflow.count +
					reader->profile.count + reader->open.count);
	else if (reader->lost && !(reader->flags & LITIFUT_FRAMES_PATHS))
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%zu frames are missing or damaged; later ones say the same",
				reader->lost);
}

enum litifut_status post_capture_read(const char *path, const uint8_t *bytes, size_t size,
				      struct post_capture *capture, struct post_problems *problems,
				      struct litifut_error *error)
{
	struct reader reader = {0};
	const struct litifut_serial_sink sink = {take_frame, NULL, &reader};
	struct litifut_serial serial;

	memset(capture, 0, sizeof(*capture));
	litifut_serial_begin(&serial, &sink);
	litifut_serial_feed(&serial, bytes, size);
	litifut_serial_end(&serial);
	reader.damaged |= !post_path_words_unpack(&reader.paths);
	if (!reader.has_header)
		return litifut_error_set(
			error,
			reader.wrong_version ? LITIFUT_ERROR_UNSUPPORTED : LITIFUT_ERROR_FORMAT,
			path, NULL, LITIFUT_NO_ADDRESS,
			reader.wrong_version ? "sent by another version of the tracer"
					     : "no whole frame of a firmware in it");
	bool older = reader.has_before && missing_of(&reader);

	report(path, &reader, older, problems);
	if (older) {
		*capture = reader.before;
		memset(&reader.before, 0, sizeof(reader.before));
	} else {
		hand_over(&reader, capture);
	}
	release_parts(&reader);
	post_capture_release(&reader.before);
	return LITIFUT_OK;
}

void post_capture_release(struct post_capture *capture)
{
	free(capture->words);
	free(capture->overflow);
	free(capture->upper);
	free(capture->bins);
	free(capture->open);
	post_span_events_release(&capture->events);
	post_path_words_release(&capture->paths);
	memset(capture, 0, sizeof(*capture));
}
