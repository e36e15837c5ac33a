#include "postproc/sources/firmware_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <litifut/frames_format.h>
#include <litifut/module_format.h>

#include "postproc/sources/firmware_image.h"
#include "postproc/table.h"

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
	double inside;         /* ticks of a call's time that are the tracer's, */
	double pointer_inside; /* and where it is through a pointer */
	double whole;          /* ticks that the tracer adds to a call, */
	double first;         /* and besides through a pointer to the callee that is named first, */
	double overflow;      /* to one in the overflow table, where its search begins there, */
	double each_try;      /* and for each entry that is tried before */
	uint32_t mask;        /* litifut_overflow_mask */
	size_t timed;         /* sites with a call that has returned, */
	size_t moved;         /* and with one that took a tick or more */
	size_t wrong;         /* records that can't be right */
	size_t changing;      /* number of the item of the first of them, and 1, of a dump */
	uint32_t changing_at; /* its call site */
	uint32_t site;        /* number of it */
	uint32_t unnamed;
	bool overflow_missing; /* the sites of some entries of the overflow table are not known */
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

/* Frames that were lost can have had some of these numbers. `same': the others are of one moment.
 * False: there are numbers that have not come. */
static bool have_come(const struct post_capture *capture, size_t number, size_t count, bool *same)
{
	const uint32_t *from = capture->from;

	*same = true;
	for (size_t i = 0; from && i < count; i++) {
		if (!from[number + i])
			return false;
		*same &= from[number + i] == from[number];
	}
	return true;
}

/* More than can return while the numbers of a record are read, which can stand in two frames. */
#define CALLS_MEANWHILE (1u << 20)

/* Numbers are read one after the other, and calls may return meanwhile; others end without a return
 * (longjmp). So the sum says how many calls it can be of. False: the numbers can't be those of a
 * record. */
static bool fit_calls(struct post_table_item *item)
{
	uint64_t timed = item->count - item->open;

	if (item->minimum > item->maximum) {
		item->maximum = item->sum = 0;
		return true;
	}
	if (item->sum < item->maximum || (!item->maximum && item->sum))
		return false;
	if (!item->maximum)
		return true;
	const uint64_t least = (item->sum - 1) / item->maximum + 1;

	if (least > timed) {
		item->open -= least - timed < item->open ? least - timed : item->open;
		timed = item->count - item->open;
	}
	if (item->minimum && item->sum / item->minimum < timed)
		item->untimed = timed - item->sum / item->minimum;
	return least <= item->count + CALLS_MEANWHILE;
}

/* What this site has called took a time that is not known. */
static void add_missing(struct table_reader *reader)
{
	struct post_trace *trace = reader->trace;

	if (!(reader->capture->flags & LITIFUT_FRAMES_TIMES))
		return;
	POST_GROW(trace->items, trace->item_count, trace->item_capacity);
	trace->items[trace->item_count++] = (struct post_table_item){.module = 1,
								     .site = reader->site,
								     .no_self = true,
								     .missing = true,
								     .minimum = UINT64_MAX};
}

/* Takes the record at `words`, which has this number, of calls to `callee` (0: the site names
 * it), to each of which the tracer adds so many ticks. */
static void take_record(struct table_reader *reader, const struct litifut_site *site,
			uint32_t callee, const uint32_t *words, size_t number, double added)
{
	const struct post_capture *capture = reader->capture;
	const double inside =
		litifut_site_is_pointer(site) ? reader->pointer_inside : reader->inside;
	struct post_trace *trace = reader->trace;
	bool same;

	if (!have_come(capture, number, reader->record_words, &same)) {
		if (words[0] || !capture->from[number])
			add_missing(reader);
		return;
	}
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
		.missing = !same,
	};

	if (!item.count)
		return;
	add_open(capture, number, &item);
	item.minimum = UINT64_MAX;
	if (same) {
		item.minimum = ~words[1];
		item.maximum = words[2];
		item.sum = sum_of(reader, words, number);
	}
	/* The upper half is read behind the lower one, which may have been carried into it. */
	if (!reader->carried && item.sum >> 32 && item.sum > item.count * item.maximum)
		item.sum -= (uint64_t)1 << 32;
	if (!fit_calls(&item)) {
		reader->wrong++;
		if (!capture->dumped || reader->wrong > 1) {
			add_missing(reader);
			return;
		}
		/* What was counted at the call is right. */
		reader->changing = trace->item_count + 1;
		reader->changing_at = site->address;
		item.minimum = UINT64_MAX;
		item.maximum = item.sum = 0;
		item.missing = true;
	}
	reader->timed += item.minimum <= item.maximum;
	reader->moved += item.minimum <= item.maximum && item.maximum != 0;
	const uint64_t timed = item.count - item.open - item.untimed;

	item.sum = without(item.sum, (double)timed * inside);
	if (item.minimum <= item.maximum) {
		item.minimum = without(item.minimum, inside);
		item.maximum = without(item.maximum, inside);
		/* What the tracer adds is a mean: taken off each call it can be too much. */
		if (item.sum < item.maximum)
			item.sum = item.maximum;
		if (item.sum < item.minimum * timed)
			item.sum = item.minimum * timed;
		if (item.sum > item.maximum * timed)
			item.sum = item.maximum * timed;
	}
	item.added = (uint64_t)((double)(item.count - item.open) * added);
	POST_GROW(trace->items, trace->item_count, trace->item_capacity);
	trace->items[trace->item_count++] = item;
}

/* The value of an absolute symbol; 0: there is none. */
static uint32_t number_of(const struct post_image *image, const char *name)
{
	uint32_t number, none;

	return post_firmware_object(image, name, &number, &none) ? number : 0;
}

static void set_cost(struct table_reader *reader, const struct post_image *image)
{
	const struct litifut_calibration *calibration = &reader->capture->calibration;
	const uint32_t pointer_inside = number_of(image, "litifut_pointer_inside");

	if (!calibration->calls)
		return;
	reader->inside = (double)calibration->inside / (double)calibration->calls;
	reader->pointer_inside = pointer_inside ? pointer_inside : reader->inside;
	reader->whole = (double)(int32_t)calibration->whole / (double)calibration->calls;
	if (reader->whole < reader->inside)
		reader->whole = reader->inside;
	reader->first = number_of(image, "litifut_pointer_first");
	reader->overflow = number_of(image, "litifut_pointer_overflow");
	reader->each_try = number_of(image, "litifut_pointer_try");
	reader->mask = number_of(image, "litifut_overflow_mask");
}

/* What the tracer adds to a call of this callee, which entry number `entry` of the overflow table
 * has for the site with this name. */
static double overflow_added(const struct table_reader *reader, size_t name, uint32_t callee,
			     size_t entry)
{
	const size_t home = (name + callee) & reader->mask;
	const size_t tries = entry >= home ? entry - home : 0;

	return reader->whole + reader->overflow + (double)tries * reader->each_try;
}

/* A callee that is not known has been called. */
static void take_none(struct table_reader *reader)
{
	add_missing(reader);
	reader->trace->any_missing = true;
}

/* The same of a callee that the numbers name. All `count` of them, from `first` on, are needed. */
static void take_named(struct table_reader *reader, const struct litifut_site *site,
		       uint32_t callee, const uint32_t *words, size_t number, size_t first,
		       size_t count, double added)
{
	bool same;

	if (!have_come(reader->capture, first, count, &same)) {
		if (words[0] || !reader->capture->from[number])
			take_none(reader);
		return;
	}
	if (callee) {
		take_record(reader, site, callee * reader->callee_bytes, words, number, added);
	} else if (words[0]) {
		reader->wrong++;
		take_none(reader);
	}
}

static void take_pointer(struct table_reader *reader, const struct litifut_site *site, size_t word)
{
	const struct post_capture *capture = reader->capture;
	const uint32_t *words = capture->words + word;
	const size_t name = word - reader->bytes + reader->bytes / 4 + 1;
	const size_t step = reader->record_words + LITIFUT_OVERFLOW_EXTRA;
	bool same;

	take_named(reader, site, words[reader->record_words], words, word, word,
		   reader->record_words + LITIFUT_POINTER_EXTRA, reader->whole + reader->first);
	if (have_come(capture, word + reader->record_words + 1, 1, &same))
		reader->unnamed += words[reader->record_words + 1];
	if (reader->overflow_missing && (words[0] || !have_come(capture, word, 1, &same)))
		add_missing(reader);
	for (size_t at = 0; at + step <= capture->overflow_count; at += step)
		if (capture->overflow[at] == name)
			take_named(
				reader, site, capture->overflow[at + 1],
				capture->overflow + at + LITIFUT_OVERFLOW_EXTRA,
				capture->word_count + at + LITIFUT_OVERFLOW_EXTRA,
				capture->word_count + at, step,
				overflow_added(reader, name, capture->overflow[at + 1], at / step));
}

void post_firmware_report_clock(const char *path, struct post_problems *problems)
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
				"LITIFUT_CARRIES=64, LITIFUT_STUBS=small or fast, or trace fewer "
				"functions (LITIFUT_INCLUDE)",
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

/* A CPU that is stopped where it changes the numbers of a record leaves one that can't be right,
 * and no more: interrupts are off then. */
static void report_wrong(const char *path, struct table_reader *reader,
			 struct post_problems *problems)
{
	struct post_trace *trace = reader->trace;

	if (reader->wrong == 1 && reader->changing) {
		post_note_at(problems, path, reader->changing_at,
			     "the times of this call site were being changed as the memory was "
			     "read: its calls are counted without times");
		return;
	}
	if (reader->changing) {
		struct post_table_item *item = &trace->items[reader->changing - 1];

		item->count = item->open = item->open_sum = item->added = item->untimed = 0;
	}
	if (reader->wrong)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"damaged: the numbers of %zu call sites can't be right, left out",
				reader->wrong);
}

static void report_losses(const char *path, struct table_reader *reader,
			  struct post_problems *problems)
{
	reader->trace->header.lost_events = reader->unnamed;
	report_carries(path, reader, problems);
	report_wrong(path, reader, problems);
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
enum litifut_status post_firmware_count_sites(const char *path, const struct post_image *image,
					      const struct post_capture *capture,
					      struct post_trace *trace,
					      struct post_problems *problems,
					      struct litifut_error *error)
{
	struct table_reader reader = {
		.capture = capture,
		.trace = trace,
		.record_words = LITIFUT_RECORD_COUNT,
	};
	uint32_t address, bytes;
	size_t byte = 0;
	bool same;

	if (!post_firmware_object(image, "litifut_callee_bytes", &reader.callee_bytes, &bytes))
		reader.callee_bytes = 1;

	reader.carried = post_firmware_object(image, "litifut_carries", &address, &bytes);
	if (capture->flags & LITIFUT_FRAMES_TIMES)
		reader.record_words =
			reader.carried ? LITIFUT_RECORD_TIMES_CARRIED : LITIFUT_RECORD_TIMES;
	else if (reader.carried && post_firmware_object(image, "litifut_bytes", &address, &bytes))
		reader.bytes = address;
	size_t word = reader.bytes;

	set_cost(&reader, image);
	trace->cost_taken = capture->calibration.calls != 0;
	trace->cost_missing = capture->cost_missing;
	for (size_t at = 0; at < capture->overflow_count; at++)
		reader.overflow_missing |= !have_come(capture, capture->word_count + at, 1, &same);
	trace->any_missing = reader.overflow_missing || capture->open_missing;
	for (; reader.site < image->patched_count; reader.site++) {
		const struct litifut_site *site = image->patched[reader.site];
		size_t words = reader.record_words +
			       (litifut_site_is_pointer(site) ? LITIFUT_POINTER_EXTRA : 0);

		if (byte < reader.bytes && !litifut_site_is_pointer(site) &&
		    byte < capture->word_count) {
			take_record(&reader, site, 0, capture->words + byte, byte, reader.whole);
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
			take_record(&reader, site, 0, capture->words + word, word, reader.whole);
		word += words;
	}
	report_losses(path, &reader, problems);
	if (reader.timed && !reader.moved)
		post_firmware_report_clock(path, problems);
	else if (reader.moved < reader.timed)
		post_note_at(problems, path, LITIFUT_NO_ADDRESS,
			     "calls of %zu of %zu sites took no tick of the clock: they are "
			     "shorter, or the clock stood (LITIFUT_CLOCK)",
			     reader.timed - reader.moved, reader.timed);
	return LITIFUT_OK;
}
