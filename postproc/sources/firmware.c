#include "postproc/sources/firmware.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <litifut/frames_format.h>
#include <litifut/module_format.h>
#include <litifut/paths_format.h>

#include "common/bytes.h"
#include "postproc/sources/capture.h"
#include "postproc/sources/firmware_dump.h"
#include "postproc/sources/firmware_image.h"
#include "postproc/sources/firmware_tasks.h"
#include "postproc/sources/input_bytes.h"
#include "postproc/sources/span_calls.h"
#include "postproc/sources/span_lanes.h"
#include "postproc/table.h"

/* An address on the device, which may have 16 bits only: a number of the ELF file's anyway. */
static void take_hertz(const struct post_image *image, struct post_capture *capture)
{
	uint32_t hertz, none;

	if (post_firmware_object(image, "litifut_clock_hertz", &hertz, &none))
		capture->hertz = capture->events.hertz = hertz;
}

/* Numbers of the tracer's code in the ELF file, in hundredths, as its cycles are known for a CPU
 * without caches. */
static void take_hooks(const struct post_image *image, struct post_trace *trace)
{
	uint32_t inside, outside, before, interrupts, interrupt, none;

	if (!post_firmware_object(image, "litifut_hook_inside", &inside, &none) ||
	    !post_firmware_object(image, "litifut_hook_outside", &outside, &none))
		return;
	trace->hook_inside = inside / 100.0;
	trace->hook_outside = outside / 100.0;
	if (post_firmware_object(image, "litifut_hook_before", &before, &none))
		trace->hook_before = before / 100.0;
	if (post_firmware_object(image, "litifut_clock_interrupts", &interrupts, &none) &&
	    post_firmware_object(image, "litifut_clock_interrupt", &interrupt, &none)) {
		trace->clock_interrupts = interrupts / 1e6;
		trace->clock_interrupt = interrupt / 100.0;
	}
}

static void add_counted(struct post_trace *trace, const struct litifut_site *site, uint32_t callee,
			uint32_t count)
{
	bool tail = litifut_site_is_tail(site);

	if (!count)
		return;
	POST_GROW(trace->counted, trace->counted_count, trace->counted_capacity);
	trace->counted[trace->counted_count++] = (struct post_counted){
		.kind = tail     ? LITIFUT_WORD_TAIL
			: callee ? LITIFUT_WORD_INDIRECT
				 : LITIFUT_WORD_CALL,
		.return_address = site->return_address,
		.callee = callee ? callee
			  : tail ? site->callee
				 : 0,
		.count = count,
	};
}

/* What is needed to make calls of the words of a table. */
struct table_reader {
	const struct post_capture *capture;
	struct post_trace *trace;
	size_t record_words;
	bool carried;          /* its numbers have carries */
	uint32_t callee_bytes; /* by which addresses of callees are counted */
	size_t bytes;          /* the first numbers, which are counters of a byte in the memory */
	double inside;         /* ticks of a call's time that are the tracer's */
	double whole;          /* ticks that the tracer adds to a call */
	size_t timed;          /* sites with a call that has returned, */
	size_t moved;          /* and with one that took a tick or more */
	uint32_t site;         /* number of it */
	uint32_t unnamed;
};

/* How often the record with this number is in the pool, and for how long altogether. */
static void add_open(const struct post_capture *capture, size_t number,
		     struct post_table_item *item)
{
	for (size_t i = 0; i + 1 < capture->open_count; i += 2) {
		if (capture->open[i] != number + 1)
			continue;
		item->open++;
		item->open_sum += capture->open[i + 1];
	}
	if (item->open > item->count) /* the call was counted while the table was sent */
		item->open = item->count;
}

static uint64_t without(uint64_t ticks, double less)
{
	return (double)ticks > less ? (uint64_t)((double)ticks - less + 0.5) : 0;
}

static uint64_t sum_of(const struct table_reader *reader, const uint32_t *words, size_t number)
{
	const size_t sum = offsetof(struct litifut_record, sum_low) / 4;
	const uint32_t *upper = reader->capture->upper;
	const uint32_t high = !reader->carried ? words[sum + 1] : upper ? upper[number + sum] : 0;

	return words[sum] | (uint64_t)high << 32;
}

/* Takes the record at `words`, which has this number, of calls to `callee` (0: the site names
 * it). */
static void take_record(struct table_reader *reader, const struct litifut_site *site,
			uint32_t callee, const uint32_t *words, size_t number)
{
	const struct post_capture *capture = reader->capture;
	struct post_trace *trace = reader->trace;

	if (!(capture->flags & LITIFUT_FRAMES_TIMES)) {
		add_counted(trace, site, callee, words[0]);
		return;
	}
	struct post_table_item item = {
		.module = 1,
		.site = reader->site,
		.callee = callee,
		.count = words[0],
		.hertz = capture->hertz,
		.no_self = true,
	};

	if (!item.count)
		return;
	add_open(capture, number, &item);
	item.minimum = ~words[1];
	item.maximum = words[2];
	reader->timed += item.minimum <= item.maximum;
	reader->moved += item.minimum <= item.maximum && item.maximum != 0;
	item.sum = sum_of(reader, words, number);
	/* The upper half is read behind the lower one, which may have been carried into it. */
	if (!reader->carried && item.sum >> 32 && item.sum > item.count * item.maximum)
		item.sum -= (uint64_t)1 << 32;
	item.sum = without(item.sum, (double)(item.count - item.open) * reader->inside);
	if (item.minimum <= item.maximum) {
		item.minimum = without(item.minimum, reader->inside);
		item.maximum = without(item.maximum, reader->inside);
		/* What the tracer adds is a mean: taken off each call it can be too much. */
		if (item.sum < item.maximum)
			item.sum = item.maximum;
	}
	item.added = (uint64_t)((double)(item.count - item.open) * reader->whole);
	POST_GROW(trace->items, trace->item_count, trace->item_capacity);
	trace->items[trace->item_count++] = item;
}

static void set_cost(struct table_reader *reader)
{
	const struct litifut_calibration *calibration = &reader->capture->calibration;

	if (!calibration->calls)
		return;
	reader->inside = (double)calibration->inside / (double)calibration->calls;
	reader->whole = (double)(int32_t)calibration->whole / (double)calibration->calls;
	if (reader->whole < reader->inside)
		reader->whole = reader->inside;
}

static void take_pointer(struct table_reader *reader, const struct litifut_site *site, size_t word)
{
	const struct post_capture *capture = reader->capture;
	const uint32_t *words = capture->words + word;
	const size_t name = word - reader->bytes + reader->bytes / 4 + 1;
	const size_t step = reader->record_words + LITIFUT_OVERFLOW_EXTRA;

	take_record(reader, site, words[reader->record_words] * reader->callee_bytes, words, word);
	reader->unnamed += words[reader->record_words + 1];
	for (size_t at = 0; at + step <= capture->overflow_count; at += step)
		if (capture->overflow[at] == name)
			take_record(reader, site, capture->overflow[at + 1] * reader->callee_bytes,
				    capture->overflow + at + LITIFUT_OVERFLOW_EXTRA,
				    capture->word_count + at + LITIFUT_OVERFLOW_EXTRA);
}

/* Without it the times look as if they had been measured. */
static void report_clock(const char *path, struct post_problems *problems)
{
	post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
			"the clock of the device has not moved (LITIFUT_CLOCK): all times are 0");
}

/* The last word of the table. */
static void report_carries(const char *path, const struct table_reader *reader,
			   struct post_problems *problems)
{
	const struct post_capture *capture = reader->capture;
	const uint32_t lost = reader->carried && capture->word_count
				      ? capture->words[capture->word_count - 1]
				      : 0;

	if (lost && reader->bytes) {
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"counts are too low by %" PRIu64 " calls: more sites were called "
				"often than the table of carries has room for; link with "
				"LITIFUT_STUBS=small or fast, or trace fewer functions "
				"(LITIFUT_INCLUDE)",
				(uint64_t)lost << 8);
		reader->trace->header.lost_events += lost << 8;
	} else if (lost) {
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"the sums of times are too low by %u times 2^32 ticks: their "
				"carries found no place; reset the device more often, or trace "
				"fewer functions (LITIFUT_INCLUDE)",
				lost);
	}
}

static void report_losses(const char *path, const struct table_reader *reader,
			  struct post_problems *problems)
{
	reader->trace->header.lost_events = reader->unnamed;
	report_carries(path, reader, problems);
	if (reader->unnamed)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%u calls through pointers found no place in the overflow table; "
				"their callees are not known (LITIFUT_CALLEES)",
				reader->unnamed);
	if (reader->capture->untimed)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%u calls were counted without their time, as %zu other calls were "
				"open (LITIFUT_DEPTH): sums and averages are too low",
				reader->capture->untimed, reader->capture->open_count / 2);
}

/* Goes through the sites in the order of the table. */
static enum litifut_status count_sites(const char *path, const struct post_image *image,
				       const struct post_capture *capture, struct post_trace *trace,
				       struct post_problems *problems, struct litifut_error *error)
{
	struct table_reader reader = {
		.capture = capture,
		.trace = trace,
		.record_words = LITIFUT_RECORD_COUNT,
	};
	uint32_t address, bytes;
	size_t byte = 0;

	if (!post_firmware_object(image, "litifut_callee_bytes", &reader.callee_bytes, &bytes))
		reader.callee_bytes = 1;

	reader.carried = post_firmware_object(image, "litifut_carries", &address, &bytes);
	if (capture->flags & LITIFUT_FRAMES_TIMES)
		reader.record_words =
			reader.carried ? LITIFUT_RECORD_TIMES_CARRIED : LITIFUT_RECORD_TIMES;
	else if (reader.carried && post_firmware_object(image, "litifut_bytes", &address, &bytes))
		reader.bytes = address;
	size_t word = reader.bytes;

	set_cost(&reader);
	trace->cost_taken = capture->calibration.calls != 0;
	for (; reader.site < image->patched_count; reader.site++) {
		const struct litifut_site *site = image->patched[reader.site];
		size_t words = reader.record_words +
			       (litifut_site_is_pointer(site) ? LITIFUT_POINTER_EXTRA : 0);

		if (byte < reader.bytes && !litifut_site_is_pointer(site) &&
		    byte < capture->word_count) {
			take_record(&reader, site, 0, capture->words + byte, byte);
			byte++;
			continue;
		}
		if (word + words > capture->word_count)
			return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
						 LITIFUT_NO_ADDRESS,
						 "has %zu numbers, and the call sites of %s need "
						 "more",
						 capture->word_count, image->path);
		if (litifut_site_is_pointer(site))
			take_pointer(&reader, site, word);
		else
			take_record(&reader, site, 0, capture->words + word, word);
		word += words;
	}
	report_losses(path, &reader, problems);
	if (reader.timed && !reader.moved)
		report_clock(path, problems);
	else if (reader.moved < reader.timed)
		post_note_at(problems, path, LITIFUT_NO_ADDRESS,
			     "calls of %zu of %zu sites took no tick of the clock: they are "
			     "shorter, or the clock stood (LITIFUT_CLOCK)",
			     reader.timed - reader.moved, reader.timed);
	return LITIFUT_OK;
}

static bool read_number(const struct post_image *image, const char *name, uint32_t *number)
{
	uint8_t bytes[4];
	uint32_t address, size;

	if (!post_firmware_object(image, name, &address, &size) ||
	    !post_image_bytes(image, address, bytes, sizeof(bytes)))
		return false;
	*number = post_firmware_word(bytes);
	return true;
}

/* Where the bins are is in the code that counts them. */
static void take_profile(struct post_trace *trace, const struct post_image *image,
			 struct post_capture *capture)
{
	uint32_t low, shift;

	if (!capture->bin_count || !read_number(image, "litifut_sample_low", &low) ||
	    !read_number(image, "litifut_sample_shift", &shift) || shift > 31)
		return;
	trace->profile.bins = capture->bins;
	trace->profile.count = capture->bin_count;
	trace->profile.low = low;
	trace->profile.bytes = 1u << shift;
	capture->bins = NULL;
}

static struct post_trace *make_trace(const char *path, const struct post_image *image,
				     const struct post_capture *capture)
{
	struct post_trace *trace = post_allocate(1, sizeof(*trace));
	struct litifut_module_record *record;

	trace->path = post_copy_text(path);
	trace->header.machine = image->cpu->machine;
	trace->header.state = LITIFUT_TRACE_STOPPED;
	POST_GROW(trace->modules, trace->module_count, trace->module_capacity);
	trace->modules[trace->module_count++] =
		(struct post_module_record){.end_epoch = UINT32_MAX};
	record = &trace->modules[0].record;
	record->serial = 1;
	if (capture->flags & LITIFUT_FRAMES_TIMES) {
		trace->header.clock = LITIFUT_CLOCK_CYCLE;
		trace->header.clock_hertz = capture->hertz;
	}
	if (capture->flags & LITIFUT_FRAMES_SPANS) {
		if (!(capture->flags & LITIFUT_FRAMES_STREAM)) {
			trace->header.clock = LITIFUT_CLOCK_CYCLE;
			trace->header.clock_hertz =
				capture->hertz ? capture->hertz : capture->events.hertz;
			trace->header.mode = LITIFUT_MODE_SPANS;
		}
		trace->header.version_major = LITIFUT_TRACE_VERSION_MAJOR;
		trace->header.chunk_bytes = 1;
		trace->header.lost_events = capture->events.lost_so_far;
	}
	if (capture->flags & LITIFUT_FRAMES_PATHS) {
		trace->header.mode = image->mode == LITIFUT_MODE_BALLLARUS ? LITIFUT_MODE_BALLLARUS
									   : LITIFUT_MODE_PATHS;
		trace->header.version_major = LITIFUT_TRACE_VERSION_MAJOR;
		trace->header.lost_events = capture->paths.lost;
	}
	if (capture->flags & LITIFUT_FRAMES_COVERAGE) {
		trace->header.mode = LITIFUT_MODE_COVERAGE;
		trace->header.version_major = LITIFUT_TRACE_VERSION_MAJOR;
	}
	record->text_end = UINT32_MAX; /* code can be anywhere: nothing else is there */
	record->build_id_bytes = image->build_id_bytes;
	memcpy(record->build_id, image->build_id, sizeof(record->build_id));
	strncpy(record->name, post_base_name(image->path), sizeof(record->name) - 1);
	memcpy(trace->header.program, record->name, sizeof(trace->header.program));
	return trace;
}

static void make_spans(const char *path, const struct post_image *image,
		       const struct post_capture *capture, struct post_trace *trace,
		       struct post_problems *problems)
{
	const bool stream = capture->flags & LITIFUT_FRAMES_STREAM;
	struct post_span_losses losses = {0};

	if (stream)
		losses.unknown = post_span_calls_make(&capture->events, image, trace);
	else
		post_span_lanes_make(&capture->events, image, trace, &losses);
	if (!stream && capture->events.count > 1 &&
	    capture->events.items[capture->events.count - 1].time == capture->events.items[0].time)
		report_clock(path, problems);
	if (losses.unknown)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%" PRIu64 " calls are of sites that %s does not have, left out",
				losses.unknown, image->path);
	if (losses.returns && !capture->events.missing && !capture->events.lost_so_far)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%" PRIu64 " returns are of calls that were not recorded, left out",
				losses.returns);
}

/* The patterns that stand for words that were sent (LITIFUT_PATTERNS). */
static void expand_patterns(const struct post_image *image, struct post_path_words *words)
{
	uint32_t address, size;
	uint8_t *bytes;
	uint32_t *table;

	if (!post_firmware_object(image, "litifut_patterns", &address, &size))
		size = 0;
	bytes = post_allocate(size + 1, 1);
	table = post_allocate(size / 4 + 1, sizeof(*table));
	if (size && post_image_bytes(image, address, bytes, size))
		for (uint32_t i = 0; i < size / 4; i++)
			table[i] = post_firmware_word(bytes + 4 * (size_t)i);
	post_path_words_expand(words, table, size / 4);
	free(bytes);
	free(table);
}

static void make_paths(const char *path, const struct post_image *image,
		       struct post_capture *capture, struct post_trace *trace,
		       struct post_problems *problems)
{
	struct post_path_words *words = &capture->paths;

	expand_patterns(image, words);
	const uint64_t missing = post_path_words_missing(words);

	post_path_words_make(words, trace);
	if (words->restarts)
		post_note_at(problems, path, LITIFUT_NO_ADDRESS,
			     "the device has restarted %" PRIu32 " times", words->restarts);
	if (missing)
		post_note_at(problems, path, LITIFUT_NO_ADDRESS,
			     "%" PRIu64 " of %" PRIu64 " words of branches are not here: the ring "
			     "has newer ones, or they were not captured",
			     missing, missing + words->count);
	post_path_words_losses(words, trace, path, problems);
}

/* The flags as a chunk of a trace has them. */
static void make_flags(const struct post_capture *capture, struct post_trace *trace)
{
	const size_t head = LITIFUT_FLAGS_HEAD - sizeof(struct litifut_chunk_header);

	trace->size = head + capture->word_count * 4;
	trace->owned = post_allocate(trace->size + 1, 1);
	trace->data = trace->owned;
	litifut_put32(false, trace->owned + offsetof(struct litifut_flags_header, module),
		      trace->modules[0].record.serial);
	for (size_t i = 0; i < capture->word_count; i++)
		litifut_put32(false, trace->owned + head + 4 * i, capture->words[i]);
	POST_GROW(trace->flags, trace->flags_count, trace->flags_capacity);
	trace->flags[trace->flags_count++] =
		(struct post_chunk){.word_count = (uint32_t)(trace->size / 4)};
}

enum litifut_status post_firmware_open(const char *path, const struct post_inputs *inputs,
				       struct post_trace **trace, struct post_problems *problems,
				       struct litifut_error *error)
{
	struct post_capture capture = {0};
	struct post_image *image = NULL;
	uint8_t *data;
	size_t size;
	enum litifut_status status = post_input_map(path, &data, &size, problems, error);

	*trace = NULL;
	if (status)
		return status;
	if (post_capture_is(data, size)) {
		status = post_capture_read(path, data, size, &capture, problems, error);
		if (!status)
			status = post_firmware_image(path, inputs, capture.hash, &image, error);
	} else {
		status = post_firmware_dump(path, data, size, inputs, &image, &capture, error);
	}
	if (!status) {
		take_hertz(image, &capture);
		*trace = make_trace(path, image, &capture);
		take_profile(*trace, image, &capture);
		take_hooks(image, *trace);
		post_firmware_take_tasks(*trace, image, &capture);
		if (capture.flags & LITIFUT_FRAMES_SPANS)
			make_spans(path, image, &capture, *trace, problems);
		else if (capture.flags & LITIFUT_FRAMES_PATHS)
			make_paths(path, image, &capture, *trace, problems);
		else if (capture.flags & LITIFUT_FRAMES_COVERAGE)
			make_flags(&capture, *trace);
		else
			status = count_sites(path, image, &capture, *trace, problems, error);
	}
	if (status) {
		post_trace_close(*trace);
		*trace = NULL;
	}
	if (image)
		post_image_close(image);
	post_capture_release(&capture);
	post_input_unmap(data, size);
	return status;
}
