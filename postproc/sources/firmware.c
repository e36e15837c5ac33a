/* Captures and dumps of a firmware. Longer than 500 lines, because a dump needs the ELF file that a
 * capture is then shown with. */
#include "postproc/sources/firmware.h"

#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <litifut/firmware_pool.h>
#include <litifut/frames_format.h>
#include <litifut/kept_format.h>
#include <litifut/paths_format.h>

#include "postproc/sources/capture.h"
#include "postproc/sources/firmware_kind.h"
#include "postproc/sources/image_private.h"
#include "postproc/sources/input_bytes.h"
#include "postproc/sources/span_calls.h"
#include "postproc/sources/span_lanes.h"
#include "postproc/table.h"

static uint32_t word_at(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* The address and size of an object by its name. False: there is none. */
static bool find_object(const struct post_image *image, const char *name, uint32_t *address,
			uint32_t *size)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		GElf_Sym symbol;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
			const char *text = elf_strptr(image->elf, header.sh_link, symbol.st_name);

			if (!text || strcmp(text, name))
				continue;
			*address = (uint32_t)symbol.st_value;
			*size = (uint32_t)symbol.st_size;
			return true;
		}
	}
	return false;
}

/* Where a ring outlasts a reset, no section has it, and a symbol has no size. */
static bool find_table(const struct post_image *image, uint32_t *address, uint32_t *size)
{
	uint32_t events, none;

	if (!find_object(image, "litifut_table", address, size))
		return false;
	if (!*size && find_object(image, "litifut_kept_events", &events, &none))
		*size = events * EVENT_BYTES;
	if (!*size && find_object(image, "litifut_table_end", &events, &none))
		*size = events - *address;
	return true;
}

static bool has_identity(const struct post_image *image, uint8_t *bytes, uint32_t *address)
{
	uint32_t size;

	return find_object(image, "litifut_identity", address, &size) &&
	       post_image_bytes(image, *address, bytes, sizeof(struct litifut_identity)) &&
	       word_at(bytes) == LITIFUT_IDENTITY_MAGIC;
}

/* Of the ELF files that were given, the one that has this hash. */
static enum litifut_status find_image(const char *path, const struct post_inputs *inputs,
				      const uint8_t *hash, struct post_image **found,
				      struct litifut_error *error)
{
	const char *other = NULL;

	for (size_t i = 0; i < inputs->image_count; i++) {
		uint8_t identity[sizeof(struct litifut_identity)];
		uint32_t address;
		struct post_image *image;

		if (post_image_open(inputs->images[i].path, &image, error))
			continue;
		if (has_identity(image, identity, &address)) {
			other = inputs->images[i].path;
			if (!memcmp(identity + offsetof(struct litifut_identity, hash), hash, 8)) {
				*found = image;
				return post_image_load(image, NULL, error);
			}
		}
		post_image_close(image);
	}
	if (other)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL,
					 LITIFUT_NO_ADDRESS, "sent by another build than %s",
					 other);
	return litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL, LITIFUT_NO_ADDRESS,
				 "the traced ELF file of the firmware, with its symbols, is "
				 "needed beside it");
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
		(*words)[i] = word_at(dump + at + 4 * i);
	return true;
}

/* When the memory was saved is not known, so there are no times of open calls. */
static void copy_open(const uint8_t *dump, size_t size, uint32_t base,
		      const struct post_image *image, struct post_capture *capture)
{
	uint32_t table, words, overflow, pool, bytes, entry, record, address, none;
	uint32_t *found;
	size_t count;

	if (!(capture->flags & LITIFUT_FRAMES_TIMES) ||
	    !find_object(image, "litifut_table", &table, &words) ||
	    !find_object(image, "litifut_open", &pool, &bytes) ||
	    !find_object(image, "litifut_open_bytes", &entry, &none) ||
	    !find_object(image, "litifut_open_record", &record, &none) || entry % 4 || record % 4 ||
	    record >= entry || !copy_words(dump, size, base, pool, bytes, &found, &count))
		return;
	if (!find_object(image, "litifut_overflow", &overflow, &none))
		overflow = 0;
	capture->open = post_allocate(count + 1, 2 * sizeof(*capture->open));
	for (size_t at = 0; at + entry / 4 <= count; at += entry / 4) {
		uint32_t used = found[at + record / 4];

		/* AVR: the linker has the memory somewhere above the flash. */
		if (used && used <= UINT16_MAX)
			used |= table & ~(uint32_t)UINT16_MAX;
		if (used)
			capture->open[capture->open_count] =
				1 + (used - table < words ? (used - table) / 4
							  : (used - overflow + words) / 4);
		capture->open_count += 2;
	}
	free(found);
	if (find_object(image, "litifut_calibration", &address, &none) &&
	    copy_words(dump, size, base, address, sizeof(capture->calibration), &found, &count)) {
		capture->calibration.calls = found[0];
		capture->calibration.inside = found[1];
		capture->calibration.whole = found[2];
		free(found);
	}
}

/* The events in the ring, whose words are those of the table. */
/* The state of a ring that outlasts a reset: what the memory has of the last run, whether the next
 * one has begun or not. False: it has none. */
static bool kept_state(const uint8_t *dump, size_t size, uint32_t base,
		       const struct post_image *image, const struct post_capture *capture,
		       uint32_t *state)
{
	struct litifut_kept kept;
	uint32_t address, none, *words;
	size_t count;

	if (!find_object(image, "litifut_kept", &address, &none) ||
	    !copy_words(dump, size, base, address, sizeof(kept), &words, &count))
		return false;
	memcpy(&kept, words, sizeof(kept));
	free(words);
	state[RING_HEAD / 4] = kept.head;
	state[RING_LIMIT / 4] = RING_NO_LIMIT;
	state[RING_MASK / 4] = kept.events - 1;
	return kept.magic == LITIFUT_KEPT_MAGIC && kept.check == litifut_kept_check(&kept) &&
	       kept.hash[0] == word_at(capture->hash) && kept.hash[1] == word_at(capture->hash + 4);
}

static bool copy_ring(const uint8_t *dump, size_t size, uint32_t base,
		      const struct post_image *image, struct post_capture *capture)
{
	uint32_t address, bytes;
	uint32_t *state = NULL;
	size_t count = 0;
	bool good = find_object(image, "litifut_pool", &address, &bytes) &&
		    copy_words(dump, size, base, address, bytes, &state, &count) &&
		    count >= RING_STATE_BYTES / 4 &&
		    (!(capture->flags & LITIFUT_FRAMES_KEPT) ||
		     kept_state(dump, size, base, image, capture, state)) &&
		    post_span_events_memory(&capture->events, capture->words, capture->word_count,
					    state);

	free(state);
	return good;
}

/* The same of a ring of branches. */
static bool copy_branches(const uint8_t *dump, size_t size, uint32_t base,
			  const struct post_image *image, struct post_capture *capture)
{
	uint32_t address, table, none;
	uint32_t *state = NULL;
	size_t count = 0;
	bool good = false;

	if (!find_object(image, "litifut_table", &table, &none))
		return false;
	if (capture->flags & LITIFUT_FRAMES_KEPT) {
		uint32_t kept[RING_STATE_BYTES / 4];

		return kept_state(dump, size, base, image, capture, kept) &&
		       post_path_words_memory(&capture->paths, capture->words, capture->word_count,
					      table, kept[RING_HEAD / 4]);
	}
	if (find_object(image, "litifut_paths", &address, &none) &&
	    copy_words(dump, size, base, address, sizeof(struct litifut_paths_state), &state,
		       &count)) {
		good = post_path_words_memory(&capture->paths, capture->words, capture->word_count,
					      table, state[PATHS_CURSOR / 4]);
		capture->paths.lost = state[offsetof(struct litifut_paths_state, lost) / 4];
	}
	free(state);
	return good;
}

/* An address on the device, which may have 16 bits only: a number of the ELF file's anyway. */
static void take_hertz(const struct post_image *image, struct post_capture *capture)
{
	uint32_t hertz, none;

	if (find_object(image, "litifut_clock_hertz", &hertz, &none))
		capture->hertz = capture->events.hertz = hertz;
}

/* Numbers of the tracer's code in the ELF file, in hundredths, as its cycles are known for a CPU
 * without caches. */
static void take_hooks(const struct post_image *image, struct post_trace *trace)
{
	uint32_t inside, outside, none;

	if (!find_object(image, "litifut_hook_inside", &inside, &none) ||
	    !find_object(image, "litifut_hook_outside", &outside, &none))
		return;
	trace->hook_inside = inside / 100.0;
	trace->hook_outside = outside / 100.0;
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

/* The place of the identity in the dump says which addresses the dump has. */
static enum litifut_status read_dump(const char *path, const uint8_t *dump, size_t size,
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
			status = find_image(path, inputs, hash, image, error);
			if (status)
				continue;
		}
		post_capture_release(capture); /* what the one before has left */
		has_identity(*image, identity, &base);
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
		capture->flags = identity[offsetof(struct litifut_identity, flags)];
		copy_open(dump, size, base, *image, capture);
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
		if (find_object(*image, "litifut_overflow", &address, &bytes))
			copy_words(dump, size, base, address, bytes, &capture->overflow,
				   &capture->overflow_count);
		if (find_object(*image, "litifut_profile", &address, &bytes) && bytes)
			copy_bins(dump, size, address - base, bytes / 2, capture);
		return LITIFUT_OK;
	}
	return status;
}

static bool is_pointer(const struct litifut_site *site)
{
	return site->kind == LITIFUT_SITE_INDIRECT || site->kind == LITIFUT_SITE_TAIL_INDIRECT;
}

static void add_counted(struct post_trace *trace, const struct litifut_site *site, uint32_t callee,
			uint32_t count)
{
	bool tail =
		site->kind == LITIFUT_SITE_TAIL_DIRECT || site->kind == LITIFUT_SITE_TAIL_INDIRECT;

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
	double inside; /* ticks of a call's time that are the tracer's */
	double whole;  /* ticks that the tracer adds to a call */
	bool timed;    /* a call has returned, */
	bool moved;    /* and one of them took a tick or more */
	uint32_t site; /* number of it */
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

/* Takes the record at `words`, which has this number, of calls to `callee` (0: the site names
 * it). */
static void take_record(struct table_reader *reader, const struct litifut_site *site,
			uint32_t callee, const uint32_t *words, size_t number)
{
	const struct post_capture *capture = reader->capture;
	struct post_trace *trace = reader->trace;

	if (reader->record_words == LITIFUT_RECORD_COUNT) {
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
	reader->timed |= item.minimum <= item.maximum;
	reader->moved |= item.maximum != 0;
	item.sum = words[3] | (uint64_t)words[4] << 32;
	/* The upper half is read behind the lower one, which may have been carried into it. */
	if (words[4] && item.sum > item.count * item.maximum)
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
	const size_t step = reader->record_words + LITIFUT_OVERFLOW_EXTRA;

	take_record(reader, site, words[reader->record_words], words, word);
	reader->unnamed += words[reader->record_words + 1];
	for (size_t at = 0; at + step <= capture->overflow_count; at += step)
		if (capture->overflow[at] == word + 1)
			take_record(reader, site, capture->overflow[at + 1],
				    capture->overflow + at + LITIFUT_OVERFLOW_EXTRA,
				    capture->word_count + at + LITIFUT_OVERFLOW_EXTRA);
}

/* Without it the times look as if they had been measured. */
static void report_clock(const char *path, struct post_problems *problems)
{
	post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
			"the clock of the device has not moved (LITIFUT_CLOCK): all times are 0");
}

static void report_losses(const char *path, const struct table_reader *reader,
			  struct post_problems *problems)
{
	reader->trace->header.lost_events = reader->unnamed;
	if (reader->unnamed)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%u calls through pointers found no place in the overflow table; "
				"their callees are not known",
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
		.record_words = capture->flags & LITIFUT_FRAMES_TIMES ? LITIFUT_RECORD_TIMES
								      : LITIFUT_RECORD_COUNT,
	};
	size_t word = 0;

	set_cost(&reader);
	for (; reader.site < image->patched_count; reader.site++) {
		const struct litifut_site *site = image->patched[reader.site];
		size_t words = reader.record_words + (is_pointer(site) ? LITIFUT_POINTER_EXTRA : 0);

		if (word + words > capture->word_count)
			return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
						 LITIFUT_NO_ADDRESS,
						 "has %zu numbers, and the call sites of %s need "
						 "more",
						 capture->word_count, image->path);
		if (is_pointer(site))
			take_pointer(&reader, site, word);
		else
			take_record(&reader, site, 0, capture->words + word, word);
		word += words;
	}
	report_losses(path, &reader, problems);
	if (reader.timed && !reader.moved)
		report_clock(path, problems);
	return LITIFUT_OK;
}

static bool read_number(const struct post_image *image, const char *name, uint32_t *number)
{
	uint8_t bytes[4];
	uint32_t address, size;

	if (!find_object(image, name, &address, &size) ||
	    !post_image_bytes(image, address, bytes, sizeof(bytes)))
		return false;
	*number = word_at(bytes);
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
		trace->header.mode = LITIFUT_MODE_PATHS;
		trace->header.version_major = LITIFUT_TRACE_VERSION_MAJOR;
		trace->header.lost_events = capture->paths.lost;
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

static void make_paths(const char *path, struct post_capture *capture, struct post_trace *trace,
		       struct post_problems *problems)
{
	struct post_path_words *words = &capture->paths;
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
	if (words->lost)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%" PRIu32 " branches found no room in the ring of the device: "
				"link with a larger LITIFUT_RING_KB, or send more often "
				"(LITIFUT_SEND)",
				words->lost);
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
			status = find_image(path, inputs, capture.hash, &image, error);
	} else {
		status = read_dump(path, data, size, inputs, &image, &capture, error);
	}
	if (!status) {
		take_hertz(image, &capture);
		*trace = make_trace(path, image, &capture);
		take_profile(*trace, image, &capture);
		take_hooks(image, *trace);
		if (capture.flags & LITIFUT_FRAMES_SPANS)
			make_spans(path, image, &capture, *trace, problems);
		else if (capture.flags & LITIFUT_FRAMES_PATHS)
			make_paths(path, &capture, *trace, problems);
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
