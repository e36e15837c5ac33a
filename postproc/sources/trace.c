/* The trace file as a whole: header, chunks, module records. cursor.c reads
 * the events. Slightly over 500 lines, because the checks of hostile files
 * belong to the reading of what they check. */
#include "postproc/sources/trace.h"

#include <byteswap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "postproc/sources/input_bytes.h"
#include "postproc/table.h"

#define SMALLEST_CHUNK 64u
#define LARGEST_CHUNK (1u << 30)
#define WORDS_OF_MODULE (sizeof(struct litifut_module_record) / 4)
#define MOST_MODULES 16384u
#define PROBLEMS_REPORTED 8 /* of one file, then they are only counted */

static uint32_t number32(const struct post_trace *trace, uint32_t value)
{
	return trace->swap ? bswap_32(value) : value;
}

static uint64_t number64(const struct post_trace *trace, uint64_t value)
{
	return trace->swap ? bswap_64(value) : value;
}

static uint16_t number16(const struct post_trace *trace, uint16_t value)
{
	return trace->swap ? bswap_16(value) : value;
}

uint32_t post_trace_word(const struct post_trace *trace, const struct post_chunk *chunk,
			 uint32_t index)
{
	uint32_t word;

	memcpy(&word, trace->data + chunk->offset + (size_t)index * 4, sizeof(word));
	return number32(trace, word);
}

/* All 32-bit fields from `first` up to `end` of a struct that was copied. */
static void convert_words(const struct post_trace *trace, void *start, size_t first, size_t end)
{
	uint8_t *bytes = start;

	for (size_t at = first; at < end; at += 4) {
		uint32_t word;
		memcpy(&word, bytes + at, sizeof(word));
		word = number32(trace, word);
		memcpy(bytes + at, &word, sizeof(word));
	}
}

/* What the writer of a trace of this version has of the two headers. */
static size_t header_bytes(unsigned major)
{
	return major == 1 ? LITIFUT_TRACE_HEADER_BYTES_1 : sizeof(struct litifut_trace_header);
}

static size_t chunk_header_bytes(const struct post_trace *trace)
{
	return trace->header.version_major == 1 ? LITIFUT_CHUNK_HEADER_BYTES_1
						: sizeof(struct litifut_chunk_header);
}

/* The recorder makes a file with all of its header and of the first chunks. */
static const char cut_in_header[] = "the trace was cut here, inside its header, so that nothing of "
				    "it can be read: copy it again";

/* What this program asks of a header that it can read. */
static enum litifut_status check_header(const struct post_trace *trace, struct litifut_error *error)
{
	const struct litifut_trace_header *header = &trace->header;
	const struct {
		bool good;
		enum litifut_status status;
		size_t offset;
		const char *message;
	} rules[] = {
		{header->word_bytes == 4, LITIFUT_ERROR_UNSUPPORTED,
		 offsetof(struct litifut_trace_header, word_bytes),
		 "not a trace of a 32-bit program"},
		{header->header_bytes >= header_bytes(header->version_major) &&
			 header->header_bytes % 4 == 0,
		 LITIFUT_ERROR_FORMAT, offsetof(struct litifut_trace_header, header_bytes),
		 "impossible size of the header"},
		{header->chunk_bytes >= SMALLEST_CHUNK && header->chunk_bytes <= LARGEST_CHUNK &&
			 header->chunk_bytes % 4 == 0,
		 LITIFUT_ERROR_FORMAT, offsetof(struct litifut_trace_header, chunk_bytes),
		 "impossible size of the chunks"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (!rules[i].good)
			return litifut_error_set(error, rules[i].status, trace->path, "header",
						 rules[i].offset, "%s", rules[i].message);
	}
	return LITIFUT_OK;
}

static enum litifut_status read_header(struct post_trace *trace, struct litifut_error *error)
{
	struct litifut_trace_header *header = &trace->header;

	if (trace->size < LITIFUT_TRACE_HEADER_BYTES_1)
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, trace->path, "header",
					 trace->size, "%s", cut_in_header);
	memcpy(header, trace->data, LITIFUT_TRACE_HEADER_BYTES_1);
	if (memcmp(header->magic, LITIFUT_TRACE_MAGIC, sizeof(header->magic)))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, trace->path, "header", 0,
					 "not a LITIFUT trace");
	trace->swap = header->byte_order == bswap_32(LITIFUT_BYTE_ORDER_MARK);
	if (!trace->swap && header->byte_order != LITIFUT_BYTE_ORDER_MARK)
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, trace->path, "header",
					 offsetof(struct litifut_trace_header, byte_order),
					 "the mark of the byte order is damaged");

	header->version_major = number16(trace, header->version_major);
	header->version_minor = number16(trace, header->version_minor);
	convert_words(trace, header, offsetof(struct litifut_trace_header, header_bytes),
		      offsetof(struct litifut_trace_header, clock_hertz));
	header->clock_hertz = number64(trace, header->clock_hertz);
	header->start_monotonic_ns = number64(trace, header->start_monotonic_ns);
	header->start_realtime_ns = number64(trace, header->start_realtime_ns);
	convert_words(trace, header, offsetof(struct litifut_trace_header, bloom_bits),
		      offsetof(struct litifut_trace_header, program));
	header->program[sizeof(header->program) - 1] = '\0';

	if (!header->version_major || header->version_major > LITIFUT_TRACE_VERSION_MAJOR)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, trace->path, "header",
					 offsetof(struct litifut_trace_header, version_major),
					 "trace format %u.%u; this program reads 1.x to %u.x",
					 header->version_major, header->version_minor,
					 LITIFUT_TRACE_VERSION_MAJOR);
	if (trace->size < header_bytes(header->version_major))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, trace->path, "header",
					 trace->size, "%s", cut_in_header);
	if (header->version_major > 1) {
		memcpy(header->first, trace->data + LITIFUT_TRACE_HEADER_BYTES_1,
		       sizeof(*header) - LITIFUT_TRACE_HEADER_BYTES_1);
		convert_words(trace, header, offsetof(struct litifut_trace_header, first),
			      offsetof(struct litifut_trace_header, max_bytes));
		header->max_bytes = number64(trace, header->max_bytes);
		header->lost_from = number64(trace, header->lost_from);
		header->lost_to = number64(trace, header->lost_to);
		convert_words(trace, header, offsetof(struct litifut_trace_header, event_cost),
			      offsetof(struct litifut_trace_header, unknown_settings));
		header->unknown_settings[sizeof(header->unknown_settings) - 1] = '\0';
	}
	return check_header(trace, error);
}

static void add_module(struct post_trace *trace, const struct post_chunk *chunk, uint32_t first)
{
	struct post_module_record module = {.end_epoch = UINT32_MAX};
	struct litifut_module_record *record = &module.record;

	if (trace->module_count == MOST_MODULES) { /* read_chunks() reports it */
		trace->modules_left_out++;
		return;
	}
	memcpy(record, trace->data + chunk->offset + (size_t)first * 4, sizeof(*record));
	convert_words(trace, record, 0, offsetof(struct litifut_module_record, build_id));
	convert_words(trace, record, offsetof(struct litifut_module_record, build_id_bytes),
		      offsetof(struct litifut_module_record, name));
	if (record->build_id_bytes > sizeof(record->build_id))
		record->build_id_bytes = sizeof(record->build_id);
	record->name[sizeof(record->name) - 1] = '\0';
	POST_GROW(trace->modules, trace->module_count, trace->module_capacity);
	trace->modules[trace->module_count++] = module;
}

static void read_metadata(struct post_trace *trace, const struct post_chunk *chunk)
{
	for (uint32_t i = 0; i < chunk->word_count;) {
		uint32_t word = post_trace_word(trace, chunk, i++);
		uint32_t following = LITIFUT_CONTROL_FOLLOWING(word);
		if (!word || word >= LITIFUT_WORD_FIRST_ADDRESS)
			continue;
		if (following > chunk->word_count - i)
			return;
		switch (LITIFUT_CONTROL_KIND(word)) {
		case LITIFUT_WORD_MODULE:
			if (following >= WORDS_OF_MODULE)
				add_module(trace, chunk, i);
			break;
		case LITIFUT_WORD_UNLOAD:
			for (size_t m = 0; following >= 2 && m < trace->module_count; m++) {
				if (trace->modules[m].record.serial ==
				    post_trace_word(trace, chunk, i))
					trace->modules[m].end_epoch =
						post_trace_word(trace, chunk, i + 1);
			}
			break;
		case LITIFUT_WORD_LOST:
			if (following >= 1)
				trace->metadata_lost += post_trace_word(trace, chunk, i);
			break;
		}
		i += following;
	}
}

static void add_chunk(struct post_trace *trace, struct post_chunk chunk)
{
	POST_GROW(trace->chunks, trace->chunk_count, trace->chunk_capacity);
	trace->chunks[trace->chunk_count++] = chunk;
}

static void add_table(struct post_trace *trace, struct post_chunk chunk)
{
	POST_GROW(trace->tables, trace->table_count, trace->table_capacity);
	trace->tables[trace->table_count++] = chunk;
}

static void add_stack(struct post_trace *trace, struct post_chunk chunk)
{
	POST_GROW(trace->stacks, trace->stack_count, trace->stack_capacity);
	trace->stacks[trace->stack_count++] = chunk;
}

static void add_flags(struct post_trace *trace, struct post_chunk chunk)
{
	POST_GROW(trace->flags, trace->flags_count, trace->flags_capacity);
	trace->flags[trace->flags_count++] = chunk;
}

static void add_bits(struct post_trace *trace, struct post_chunk chunk)
{
	POST_GROW(trace->bits, trace->bits_count, trace->bits_capacity);
	trace->bits[trace->bits_count++] = chunk;
}

static void add_chunk_number(struct post_trace *trace, uint32_t number)
{
	POST_GROW(trace->numbers, trace->number_count, trace->number_capacity);
	trace->numbers[trace->number_count++] = number;
}

/* Reports a problem with a chunk, but not thousands of times. */
static void chunk_problem(struct post_trace *trace, struct post_problems *problems,
			  unsigned *reported, size_t offset, const char *message)
{
	trace->damaged = true;
	if (++*reported <= PROBLEMS_REPORTED)
		post_problem_at(problems, trace->path, offset, "%s", message);
	else
		problems->count++;
}

/* Adds the words at `offset`, a multiple of 4, of the file. */
static void add_to_sums(const struct post_trace *trace, size_t offset, size_t bytes,
			uint32_t sums[2])
{
	for (size_t at = 0; at < bytes; at += 4) {
		uint32_t word;
		memcpy(&word, trace->data + offset + at, sizeof(word));
		sums[0] += number32(trace, word);
		sums[1] += sums[0];
	}
}

/* Does a block of `bytes` of data have the sum that was made when it was written? */
static bool has_sum(const struct post_trace *trace, size_t offset, uint32_t bytes, uint32_t sum)
{
	uint32_t sums[2] = {1, 0};
	size_t place = offset + offsetof(struct litifut_compact_block, sum);

	bytes &= ~3u; /* it is a multiple, unless it is damaged */
	add_to_sums(trace, offset, place - offset, sums);
	sums[1] += sums[0]; /* the sum itself counts as 0 */
	add_to_sums(trace, place + 4,
		    sizeof(struct litifut_compact_block) + bytes - 4 -
			    offsetof(struct litifut_compact_block, sum),
		    sums);
	return litifut_sums_word(sums) == sum;
}

/* Each block of a compact chunk becomes a chunk. */
static void read_blocks(struct post_trace *trace, size_t at, size_t end,
			struct post_problems *problems, unsigned *reported)
{
	struct litifut_compact_block block;

	while (end - at >= sizeof(block)) {
		memcpy(&block, trace->data + at, sizeof(block));
		uint32_t bytes = number32(trace, block.bytes);
		uint32_t words = number32(trace, block.words);
		if (!bytes) /* the end, or the program was killed while writing it */
			break;
		at += sizeof(block);
		if (bytes > end - at || words > trace->header.chunk_bytes / 4) {
			chunk_problem(
				trace, problems, reported, at,
				"a compact block is damaged; the rest of its chunk is left out");
			break;
		}
		if (trace->header.version_major > 1 &&
		    !has_sum(trace, at - sizeof(block), bytes, number32(trace, block.sum)))
			chunk_problem(trace, problems, reported, at,
				      "the sum of a compact block is wrong: it is damaged, and so "
				      "may be its events");
		add_chunk_number(trace, number32(trace, block.number));
		add_chunk(trace, (struct post_chunk){
					 .offset = at,
					 .word_count = words,
					 .packed_bytes = bytes,
					 .thread = number32(trace, block.thread),
					 .flags = number32(trace, block.flags),
					 .number = number32(trace, block.number),
					 .start_time = number64(trace, block.start_time),
				 });
		bytes = (bytes + 3) & ~3u;
		if (bytes > end - at)
			break;
		at += bytes;
	}
}

/* Does a closed chunk have the sums that were made when it was closed? */
static bool has_sums(const struct post_trace *trace, size_t at,
		     const struct litifut_chunk_header *header, size_t bytes)
{
	uint32_t sums[2] = {1, 0};

	add_to_sums(trace, at, LITIFUT_CHUNK_HEADER_BYTES_1, sums);
	add_to_sums(trace, at + sizeof(*header), bytes, sums);
	return sums[0] == number32(trace, header->sums[0]) &&
	       sums[1] == number32(trace, header->sums[1]);
}

/* A chunk of `step` bytes, of which the file has `room`. */
static void read_chunk(struct post_trace *trace, size_t at, size_t room, size_t step,
		       struct post_problems *problems, unsigned *reported)
{
	struct litifut_chunk_header header = {0};
	size_t own = chunk_header_bytes(trace);

	if (room < own)
		return;
	memcpy(&header, trace->data + at, own);
	uint32_t magic = number32(trace, header.magic);
	unsigned kind = number16(trace, header.kind);
	unsigned encoding = number16(trace, header.encoding);
	if (!magic && !kind) /* room that was set aside */
		return;
	if (magic != LITIFUT_CHUNK_MAGIC) {
		chunk_problem(trace, problems, reported, at,
			      "the start of a chunk is damaged; the chunk is left out");
		return;
	}
	if (kind == LITIFUT_CHUNK_FREE)
		return;
	add_chunk_number(trace, number32(trace, header.number));
	if (kind != LITIFUT_CHUNK_EVENTS && kind != LITIFUT_CHUNK_METADATA &&
	    kind != LITIFUT_CHUNK_TABLE && kind != LITIFUT_CHUNK_STACK &&
	    kind != LITIFUT_CHUNK_FLAGS && kind != LITIFUT_CHUNK_BITS) {
		if (trace->header.version_major < LITIFUT_TRACE_VERSION_MAJOR ||
		    trace->header.version_minor <= LITIFUT_TRACE_VERSION_MINOR)
			chunk_problem(trace, problems, reported, at,
				      "unknown kind of chunk, left out");
		return;
	}
	if (encoding == LITIFUT_ENCODING_COMPACT && kind == LITIFUT_CHUNK_EVENTS) {
		read_blocks(trace, at + own, at + room, problems, reported);
		return;
	}
	if (encoding != LITIFUT_ENCODING_WORDS) {
		chunk_problem(trace, problems, reported, at,
			      "unknown encoding of a chunk, left out");
		return;
	}
	struct post_chunk chunk = {
		.offset = at + own,
		.word_count = (uint32_t)((room - own) / 4),
		.thread = number32(trace, header.thread),
		.flags = number32(trace, header.flags),
		.number = number32(trace, header.number),
		.start_time = number64(trace, header.start_time),
	};
	uint32_t used = number32(trace, header.used_bytes);
	if (chunk.flags & LITIFUT_CHUNK_CLOSED) {
		if (used / 4 <= chunk.word_count)
			chunk.word_count = used / 4;
		else if (room == step)
			chunk_problem(trace, problems, reported, at,
				      "a chunk claims more bytes than it has");
		if (chunk.flags & LITIFUT_CHUNK_SUMMED && trace->header.version_major > 1 &&
		    room == step && !has_sums(trace, at, &header, (size_t)chunk.word_count * 4))
			chunk_problem(trace, problems, reported, at,
				      "the sums of a chunk are wrong: it is damaged, and so may be "
				      "its events");
	}
	if (kind == LITIFUT_CHUNK_METADATA)
		read_metadata(trace, &chunk);
	else if (kind == LITIFUT_CHUNK_TABLE)
		add_table(trace, chunk);
	else if (kind == LITIFUT_CHUNK_STACK)
		add_stack(trace, chunk);
	else if (kind == LITIFUT_CHUNK_FLAGS)
		add_flags(trace, chunk);
	else if (kind == LITIFUT_CHUNK_BITS)
		add_bits(trace, chunk);
	else
		add_chunk(trace, chunk);
}

/* Those that stand before `header_bytes`. */
static void read_first_chunks(struct post_trace *trace, struct post_problems *problems,
			      unsigned *reported)
{
	for (unsigned i = 0; i < LITIFUT_FIRST_CHUNKS; i++) {
		size_t at = trace->header.first[i].offset;
		size_t bytes = trace->header.first[i].bytes;

		if (!bytes)
			continue;
		if (at < sizeof(trace->header) || at % 4 || bytes % 4 || bytes < SMALLEST_CHUNK ||
		    at > trace->header.header_bytes || bytes > trace->header.header_bytes - at) {
			chunk_problem(trace, problems, reported,
				      offsetof(struct litifut_trace_header, first) +
					      i * sizeof(trace->header.first[0]),
				      "impossible place of a first chunk, left out");
			continue;
		}
		if (at >= trace->size)
			continue; /* reported already: the trace was cut */
		size_t room = trace->size - at < bytes ? trace->size - at : bytes;
		read_chunk(trace, at, room, bytes, problems, reported);
	}
}

static void read_chunks(struct post_trace *trace, struct post_problems *problems)
{
	size_t step = trace->header.chunk_bytes;
	unsigned reported = 0;

	if (trace->size < trace->header.header_bytes)
		chunk_problem(trace, problems, &reported, trace->size,
			      "the trace was cut here, near its start: what is there is read, and "
			      "the rest is missing; copy it again");
	else if (trace->size == trace->header.header_bytes &&
		 trace->header.state == LITIFUT_TRACE_STOPPED && !trace->header.first[0].bytes)
		chunk_problem(trace, problems, &reported, trace->size,
			      "the trace was cut behind its header, and all its calls are missing: "
			      "copy it again");
	read_first_chunks(trace, problems, &reported);
	for (size_t at = trace->header.header_bytes; at < trace->size; at += step) {
		size_t room = trace->size - at < step ? trace->size - at : step;
		if (room < step)
			chunk_problem(trace, problems, &reported, at,
				      "the trace ends inside a chunk; what is there is read");
		read_chunk(trace, at, room, step, problems, &reported);
	}
	if (trace->modules_left_out)
		post_problem_at(problems, trace->path, LITIFUT_NO_ADDRESS,
				"more than %u modules, the %u last ones are left out", MOST_MODULES,
				trace->modules_left_out);
	if (reported > PROBLEMS_REPORTED)
		post_problem_at(problems, trace->path, LITIFUT_NO_ADDRESS, "%u more damaged chunks",
				reported - PROBLEMS_REPORTED);
}

enum litifut_status post_trace_open_memory(const uint8_t *data, size_t size, const char *name,
					   struct post_trace **trace,
					   struct post_problems *problems,
					   struct litifut_error *error)
{
	struct post_trace *opened = post_allocate(1, sizeof(*opened));

	opened->path = post_copy_text(name);
	opened->data = data;
	opened->size = size;
	enum litifut_status status = read_header(opened, error);
	if (status != LITIFUT_OK) {
		post_trace_close(opened);
		return status;
	}
	read_chunks(opened, problems);
	post_chunks_order(opened);
	if (opened->header.mode == LITIFUT_MODE_TABLE) {
		opened->unfolded = opened->chunks;
		opened->unfolded_count = opened->chunk_count;
		opened->chunks = NULL;
		opened->chunk_count = 0;
	}
	*trace = opened;
	return LITIFUT_OK;
}

enum litifut_status post_trace_open(const char *path, struct post_trace **trace,
				    struct post_problems *problems, struct litifut_error *error)
{
	uint8_t *data;
	size_t size;
	enum litifut_status status = post_input_map(path, &data, &size, problems, error);

	if (status != LITIFUT_OK)
		return status;
	status = post_trace_open_memory(data, size, path, trace, problems, error);
	if (status != LITIFUT_OK)
		post_input_unmap(data, size);
	else
		(*trace)->mapped = true;
	return status;
}

void post_trace_close(struct post_trace *trace)
{
	if (!trace)
		return;
	if (trace->mapped)
		post_input_unmap((uint8_t *)trace->data, trace->size);
	free(trace->owned);
	free(trace->modules);
	free(trace->chunks);
	free(trace->tables);
	free(trace->items);
	free(trace->stacks);
	free(trace->unfolded);
	free(trace->flags);
	free(trace->bits);
	free(trace->counted);
	free(trace->tasks);
	free(trace->profile.bins);
	free(trace->path);
	free(trace);
}
