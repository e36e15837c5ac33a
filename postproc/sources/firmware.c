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
#include "postproc/sources/firmware_kind.h"
#include "postproc/sources/firmware_table.h"
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

/* Where it is the same for each call, the capture needs not say it. */
static void take_cost(const struct post_image *image, struct post_capture *capture)
{
	struct litifut_calibration cost = {.calls = 1};
	uint32_t none;

	if (!capture->cost_missing ||
	    !post_firmware_object(image, "litifut_call_inside", &cost.inside, &none) ||
	    !post_firmware_object(image, "litifut_call_whole", &cost.whole, &none))
		return;
	capture->calibration = cost;
	capture->cost_missing = false;
}

/* Numbers of the tracer's code in the ELF file, in hundredths, as its cycles are known for a CPU
 * without caches. */
static void take_hooks(const struct post_image *image, struct post_trace *trace)
{
	uint32_t inside, outside, before, period, interrupt, none;

	if (!post_firmware_object(image, "litifut_hook_inside", &inside, &none) ||
	    !post_firmware_object(image, "litifut_hook_outside", &outside, &none))
		return;
	trace->hook_inside = inside / 100.0;
	trace->hook_outside = outside / 100.0;
	if (post_firmware_object(image, "litifut_hook_before", &before, &none))
		trace->hook_before = before / 100.0;
	if (post_firmware_object(image, "litifut_clock_period", &period, &none) &&
	    post_firmware_object(image, "litifut_clock_interrupt", &interrupt, &none)) {
		trace->clock_period = period;
		trace->clock_interrupt = interrupt / 100.0;
	}
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
	uint32_t address, size;

	trace->path = post_copy_text(path);
	trace->bare = true;
	trace->switched = post_firmware_object(image, "litifut_step", &address, &size);
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
		trace->lost_at_least = capture->events.lost_at_least;
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

/* A dump of the memory has what the ring has. */
static void report_lost(const char *path, const struct post_image *image,
			const struct post_capture *capture, struct post_problems *problems)
{
	const struct post_span_events *events = &capture->events;
	uint32_t usual, none;
	const bool full = post_firmware_object(image, LITIFUT_FIRMWARE_RING_UNFIT, &usual, &none);

	if (events->lost_so_far && !capture->dumped)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%s%" PRIu32 " events found no room in the ring of the device: %s",
				events->lost_at_least ? "at least " : "", events->lost_so_far,
				full ? "send more often (LITIFUT_SEND), or trace fewer functions "
				       "(LITIFUT_INCLUDE): the memory has no room for a larger "
				       "ring"
				     : "link with a larger LITIFUT_RING_KB, or send more often "
				       "(LITIFUT_SEND)");
}

static void make_spans(const char *path, const struct post_image *image,
		       const struct post_capture *capture, struct post_trace *trace,
		       struct post_problems *problems)
{
	const bool stream = capture->flags & LITIFUT_FRAMES_STREAM;
	struct post_span_losses losses = {0};

	report_lost(path, image, capture, problems);
	if (stream)
		losses.unknown = post_span_calls_make(&capture->events, image, trace);
	else
		post_span_lanes_make(&capture->events, image, trace, &losses);
	if (!stream && capture->events.count > 1 &&
	    capture->events.items[capture->events.count - 1].time == capture->events.items[0].time)
		post_firmware_report_clock(path, problems);
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
	if (words->stops)
		post_note_at(problems, path, LITIFUT_NO_ADDRESS,
			     "recording was switched off %" PRIu32 " times%s: there is a gap each "
			     "time, as what was executed meanwhile is not recorded",
			     words->stops, words->off ? ", and is off at the end" : "");
	if (missing)
		post_note_at(problems, path, LITIFUT_NO_ADDRESS,
			     "%" PRIu64 " of %" PRIu64 " words of branches are not here: the ring "
			     "has newer ones, or they were not captured",
			     missing, missing + words->count);
	post_path_words_losses(words, trace, path, problems);
}

/* The gate in front of a function, whose calls send. */
static void take_gate(const struct post_image *image, struct post_trace *trace)
{
	uint32_t target, send, none;
	uint8_t word[4];

	if (!post_firmware_object(image, "litifut_send_target", &target, &none) ||
	    !post_firmware_object(image, "litifut_send", &send, &none) ||
	    !post_image_bytes(image, target, word, sizeof(word)))
		return;
	trace->send_function = post_firmware_word(word) & ~1u;
	trace->send = send & ~1u;
}

/* The flags as a chunk of a trace has them. */
static void make_flags(const struct post_image *image, const struct post_capture *capture,
		       struct post_trace *trace)
{
	if (!capture->dumped)
		take_gate(image, trace);
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

/* What has come of a round whose first frame has not: the ELF file says what stands in that. */
static enum litifut_status read_rest(const char *path, const uint8_t *data, size_t size,
				     const struct post_inputs *inputs, struct post_image **image,
				     struct post_capture *capture, struct post_problems *problems,
				     struct litifut_error *error)
{
	uint8_t header[LITIFUT_HEADER_BYTES];
	enum litifut_status status = post_firmware_image(path, inputs, NULL, image, error);

	if (status)
		return status;
	if (!post_firmware_header(*image, header))
		return litifut_error_set(
			error, LITIFUT_ERROR_MISSING, path, NULL, LITIFUT_NO_ADDRESS,
			"sent by another build than %s, which sends nothing: give the "
			"ELF file of the program that has run",
			(*image)->path);
	post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
			"the frame that names the build is missing or damaged: what has come is "
			"shown as results of %s, which is wrong if another build has run",
			post_base_name((*image)->path));
	return post_capture_read(path, data, size, header, capture, problems, error);
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
		status = post_capture_read(path, data, size, NULL, &capture, problems, error);
		if (!status)
			status = post_firmware_image(path, inputs, capture.hash, &image, error);
	} else if (!post_firmware_is_dump(data, size)) {
		status = read_rest(path, data, size, inputs, &image, &capture, problems, error);
	} else {
		status = post_firmware_dump(path, data, size, inputs, &image, &capture, error);
	}
	if (!status) {
		take_hertz(image, &capture);
		take_cost(image, &capture);
		*trace = make_trace(path, image, &capture);
		take_profile(*trace, image, &capture);
		take_hooks(image, *trace);
		post_firmware_take_tasks(*trace, image, &capture);
		if (capture.flags & LITIFUT_FRAMES_SPANS)
			make_spans(path, image, &capture, *trace, problems);
		else if (capture.flags & LITIFUT_FRAMES_PATHS)
			make_paths(path, image, &capture, *trace, problems);
		else if (capture.flags & LITIFUT_FRAMES_COVERAGE)
			make_flags(image, &capture, *trace);
		else
			status = post_firmware_count_sites(path, image, &capture, *trace, problems,
							   error);
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
