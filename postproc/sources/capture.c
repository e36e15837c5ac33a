/* Every number of a table only grows while the device runs, and each sending has all of them; those
 * of the last whole sending are of one moment, and shown. If none is whole, the last value of each
 * that has arrived is the best. Events come once. When the device restarts, all begin anew; the run
 * before is shown when the last one was cut too early to be whole. */
#include "postproc/sources/capture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/serial_frames.h"
#include "postproc/sources/capture_numbers.h"
#include "postproc/table.h"

struct reader {
	bool has_header;
	uint8_t hash[8];
	uint32_t round;
	uint32_t flags;
	struct post_capture_numbers numbers;
	struct post_span_events events;
	struct post_path_words paths;
	/* What the last whole sending of this run has, if there are others behind it. */
	struct post_capture whole;
	bool has_whole;
	/* The same of a run that the device has ended by restarting, if that was whole. */
	struct post_capture before;
	bool has_before;
	uint8_t sequence;
	bool has_sequence;
	size_t lost;    /* frames */
	size_t texts;   /* what looks like text, behind the first header */
	size_t foreign; /* frames of another build, before the last header */
	bool wrong_version;
	bool damaged; /* a frame with a good CRC that makes no sense */
};

static void release_parts(struct reader *reader)
{
	post_capture_numbers_release(&reader->numbers);
	post_span_events_release(&reader->events);
	post_path_words_release(&reader->paths);
}

static void name(const struct reader *reader, struct post_capture *capture)
{
	memcpy(capture->hash, reader->hash, sizeof(capture->hash));
	capture->flags = reader->flags;
}

static void hand_over(struct reader *reader, struct post_capture *capture)
{
	name(reader, capture);
	post_capture_numbers_hand_over(&reader->numbers, capture);
	capture->events = reader->events;
	memset(&reader->events, 0, sizeof(reader->events));
	capture->paths = reader->paths;
	memset(&reader->paths, 0, sizeof(reader->paths));
	release_parts(reader);
}

/* Do sendings have numbers that are of one moment? Flags that are set stay so. */
static bool is_table(const struct reader *reader)
{
	return reader->has_header &&
	       !(reader->flags &
		 (LITIFUT_FRAMES_SPANS | LITIFUT_FRAMES_PATHS | LITIFUT_FRAMES_COVERAGE));
}

static size_t missing_of(const struct reader *reader)
{
	return post_capture_numbers_missing(&reader->numbers) +
	       post_span_events_missing(&reader->events) + (reader->paths.end - reader->paths.next);
}

/* The counts begin anew. */
static void restart(struct reader *reader)
{
	const bool whole = is_table(reader) ? post_capture_numbers_whole(&reader->numbers)
					    : reader->has_header && !missing_of(reader);

	if (!whole && !reader->has_whole)
		return;
	post_capture_release(&reader->before);
	reader->has_before = true;
	if (whole) {
		hand_over(reader, &reader->before);
		return;
	}
	reader->before = reader->whole;
	memset(&reader->whole, 0, sizeof(reader->whole));
}

/* Another sending of the same run begins. */
static void begin_next(struct reader *reader)
{
	if (is_table(reader) && post_capture_numbers_whole(&reader->numbers)) {
		post_capture_release(&reader->whole);
		name(reader, &reader->whole);
		post_capture_numbers_copy(&reader->numbers, &reader->whole);
		reader->has_whole = true;
	}
	post_capture_numbers_next(&reader->numbers);
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
	if (at != size || words > POST_CAPTURE_WORDS_MAX || overflow > POST_CAPTURE_WORDS_MAX ||
	    bins > POST_CAPTURE_WORDS_MAX) {
		reader->damaged = true;
		return;
	}
	bool other = reader->has_header && memcmp(hash, reader->hash, sizeof(reader->hash)) != 0;

	reader->foreign += other;
	/* The positions of events in such a ring go on over a restart. */
	bool goes_on = reader->has_header && !other && flags & LITIFUT_FRAMES_KEPT;

	const struct post_capture_numbers *numbers = &reader->numbers;

	if (!reader->has_header || other || words != numbers->table.count ||
	    overflow != numbers->overflow.count || bins != numbers->profile.count ||
	    (!goes_on && round <= reader->round && reader->round != UINT8_MAX)) {
		if (!other)
			restart(reader);
		post_capture_release(&reader->whole);
		reader->has_whole = false;
		post_capture_numbers_begin(&reader->numbers, words, overflow, bins,
					   flags & LITIFUT_FRAMES_TIMES);
		post_span_events_release(&reader->events);
		post_path_words_release(&reader->paths);
	} else {
		begin_next(reader);
	}
	reader->flags = flags;
	reader->has_header = true;
	reader->round = round;
	memcpy(reader->hash, hash, sizeof(reader->hash));
}

static void take_numbers(struct reader *reader, uint8_t type, const uint8_t *payload, size_t size)
{
	if (post_capture_numbers_anew(&reader->numbers, type, payload, size))
		begin_next(reader);
	reader->damaged |= !post_capture_numbers_take(&reader->numbers, type, payload, size);
}

static void take_frame(void *context, uint8_t type, uint8_t sequence, const uint8_t *payload,
		       size_t size)
{
	struct reader *reader = context;

	if (type == LITIFUT_FRAME_HEADER && sequence == 0)
		reader->has_sequence = false; /* after a restart */
	const bool follows = !reader->has_sequence || sequence == (uint8_t)(reader->sequence + 1);

	if (!follows && type != LITIFUT_FRAME_HEADER)
		post_capture_numbers_gap(&reader->numbers);
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
	else if (type == LITIFUT_FRAME_COUNTS ||
		 (reader->numbers.timed &&
		  (type == LITIFUT_FRAME_TIMES || type == LITIFUT_FRAME_OPEN ||
		   type == LITIFUT_FRAME_TASK)))
		take_numbers(reader, type, payload, size);
	else if (type == LITIFUT_FRAME_END)
		reader->numbers.ended = true;
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

/* Letters that stand together are text; in a damaged frame a few may do so. */
#define LETTERS 5
#define TEXTS_LEAST 3

static void take_other(void *context, const uint8_t *bytes, size_t size)
{
	struct reader *reader = context;
	size_t letters = 0;

	for (size_t i = 0; i < size && reader->has_header; i++) {
		const bool letter = (bytes[i] >= ' ' && bytes[i] < 0x7f) || bytes[i] == '\n' ||
				    bytes[i] == '\r' || bytes[i] == '\t';

		letters = letter ? letters + 1 : 0;
		reader->texts += letters == LETTERS;
	}
}

static const char other_types[] = {
	LITIFUT_FRAME_COUNTS,      LITIFUT_FRAME_TIMES, LITIFUT_FRAME_OPEN,
	LITIFUT_FRAME_TASK,        LITIFUT_FRAME_RING,  LITIFUT_FRAME_SPANS,
	LITIFUT_FRAME_BRANCHES,    LITIFUT_FRAME_WORDS, LITIFUT_FRAME_PACKED,
	LITIFUT_FRAME_PACKED_MORE, LITIFUT_FRAME_END,   0};

struct seen {
	bool header, other;
};

static void see_frame(void *context, uint8_t type, uint8_t sequence, const uint8_t *payload,
		      size_t size)
{
	struct seen *seen = context;

	(void)sequence;
	(void)payload;
	(void)size;
	if (type == LITIFUT_FRAME_HEADER)
		seen->header = true;
	else
		seen->other |= type && strchr(other_types, type);
}

static struct seen look_for_frames(const uint8_t *bytes, size_t size)
{
	struct seen seen = {false, false};
	const struct litifut_serial_sink sink = {see_frame, NULL, &seen};
	struct litifut_serial serial;

	litifut_serial_begin(&serial, &sink);
	litifut_serial_feed(&serial, bytes, size);
	litifut_serial_end(&serial);
	return seen;
}

bool post_capture_is(const uint8_t *bytes, size_t size)
{
	return look_for_frames(bytes, size).header;
}

bool post_capture_is_rest(const uint8_t *bytes, size_t size)
{
	return look_for_frames(bytes, size).other;
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
}

/* Of a table: whose numbers are shown, if these are not simply the last ones. */
static void report_table(const char *path, const struct reader *reader,
			 struct post_problems *problems)
{
	const struct post_capture_numbers *numbers = &reader->numbers;
	const size_t missing = post_capture_numbers_missing(numbers);

	if (post_capture_numbers_whole(numbers)) {
		if (reader->lost)
			post_problem_at(
				problems, path, LITIFUT_NO_ADDRESS,
				"%zu frames are missing or damaged; the last sending is whole, and "
				"its numbers are shown",
				reader->lost);
	} else if (reader->has_whole && reader->lost) {
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%zu frames are missing or damaged, and the last sending is not "
				"whole; the numbers of the last whole one are shown",
				reader->lost);
	} else if (reader->has_whole) {
		post_note_at(problems, path, LITIFUT_NO_ADDRESS,
			     "the last sending is cut; the numbers of the whole one before it are "
			     "shown");
	} else if (missing) {
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"cut or damaged: %zu of %zu numbers are missing; call sites that "
				"lack some are left out%s%s",
				missing, post_capture_numbers_count(numbers),
				reader->flags & LITIFUT_FRAMES_TIMES
					? ", and so are self times that depend on them"
					: "",
				numbers->sendings > 1
					? ", and as no sending is whole, the others are of "
					  "different moments; where this is so within a call site, "
					  "it has no times"
					: "");
	} else {
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"no sending is whole: the numbers are put together from %u of "
				"them, so that they are of different moments; where this is so "
				"within a call site, it has no times",
				numbers->sendings);
	}
}

static void report(const char *path, const struct reader *reader, bool older,
		   struct post_problems *problems)
{
	const size_t missing = missing_of(reader);

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
	else if (is_table(reader))
		report_table(path, reader, problems);
	else if (reader->flags & LITIFUT_FRAMES_SPANS)
		report_events(path, &reader->events, problems);
	/* of branches, firmware.c says what is missing, of a dump as well */
	else if (missing && !(reader->flags & LITIFUT_FRAMES_PATHS))
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"cut or damaged: %zu of %zu numbers are missing and taken as 0",
				missing, post_capture_numbers_count(&reader->numbers));
	else if (reader->lost && !(reader->flags & LITIFUT_FRAMES_PATHS))
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%zu frames are missing or damaged; later ones say the same",
				reader->lost);
	if (reader->lost && reader->texts >= TEXTS_LEAST)
		post_note_at(problems, path, LITIFUT_NO_ADDRESS,
			     "text stands among the frames: a program that prints on the same line "
			     "while results are sent damages them; link with another line "
			     "(LITIFUT_PORT=NAME:ADDRESS), or send at once (LITIFUT_SEND=call:"
			     "FUNCTION)");
}

/* Takes what is shown of all that was read. */
static void choose(struct reader *reader, bool older, struct post_capture *capture)
{
	struct post_capture *kept = older ? &reader->before : &reader->whole;

	if (older || (reader->has_whole && !post_capture_numbers_whole(&reader->numbers))) {
		*capture = *kept;
		memset(kept, 0, sizeof(*kept));
	} else {
		hand_over(reader, capture);
	}
}

enum litifut_status post_capture_read(const char *path, const uint8_t *bytes, size_t size,
				      const uint8_t *header, struct post_capture *capture,
				      struct post_problems *problems, struct litifut_error *error)
{
	uint8_t first[LITIFUT_HEADER_BYTES + 1] = {0};
	struct reader reader = {0};
	const struct litifut_serial_sink sink = {take_frame, take_other, &reader};
	struct litifut_serial serial;

	memset(capture, 0, sizeof(*capture));
	if (header) {
		memcpy(first, header, LITIFUT_HEADER_BYTES);
		take_header(&reader, first, sizeof(first));
	}
	litifut_serial_begin(&serial, &sink);
	litifut_serial_feed(&serial, bytes, size);
	litifut_serial_end(&serial);
	reader.damaged |= !post_path_words_unpack(&reader.paths);
	if (!reader.has_header) {
		release_parts(&reader);
		return litifut_error_set(
			error,
			reader.wrong_version ? LITIFUT_ERROR_UNSUPPORTED : LITIFUT_ERROR_FORMAT,
			path, NULL, LITIFUT_NO_ADDRESS,
			reader.wrong_version ? "sent by another version of the tracer"
					     : "no whole frame of a firmware in it");
	}
	const bool older = reader.has_before && !reader.has_whole && missing_of(&reader);

	report(path, &reader, older, problems);
	choose(&reader, older, capture);
	release_parts(&reader);
	post_capture_release(&reader.whole);
	post_capture_release(&reader.before);
	return LITIFUT_OK;
}

void post_capture_release(struct post_capture *capture)
{
	free(capture->words);
	free(capture->overflow);
	free(capture->upper);
	free(capture->from);
	free(capture->bins);
	free(capture->open);
	post_span_events_release(&capture->events);
	post_path_words_release(&capture->paths);
	memset(capture, 0, sizeof(*capture));
}
