#include "postproc/sources/gprof_serial.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/sources/image.h"
#include "postproc/sources/input_bytes.h"
#include "postproc/sources/serial_text.h"
#include "postproc/table.h"

#define USUAL_ADDRESS_BYTES 3
#define BIN_BYTES 4

struct reader {
	const struct post_image *image;
	unsigned address_bytes;
	bool little_endian;
	/* NULL: packets are only counted. */
	struct post_trace *trace;
	struct post_table index; /* of trace->counted, by from and to */
	size_t packets, skipped; /* skipped: bytes */
};

static bool is_code(const struct post_image *image, uint32_t address)
{
	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].executable &&
		    address - image->segments[i].address < image->segments[i].memory_bytes)
			return true;
	return false;
}

static uint32_t address_at(const struct reader *reader, const uint8_t *bytes)
{
	uint32_t address = 0;

	for (unsigned i = 0; i < reader->address_bytes; i++)
		address = address << 8 |
			  bytes[reader->little_endian ? reader->address_bytes - 1 - i : i];
	return address;
}

static void take_call(struct reader *reader, uint32_t from, uint32_t to)
{
	struct post_trace *trace = reader->trace;
	const struct post_key key = {{from, to}};
	uint32_t at = post_table_find(&reader->index, key);

	if (at == POST_NONE) {
		at = (uint32_t)trace->counted_count;
		post_table_put(&reader->index, key, at);
		POST_GROW(trace->counted, trace->counted_count, trace->counted_capacity);
		trace->counted[trace->counted_count++] = (struct post_counted){
			.kind = LITIFUT_WORD_INDIRECT, .return_address = from, .callee = to};
	}
	trace->counted[at].count++;
}

static void take_sample(struct reader *reader, uint32_t address)
{
	struct post_trace *trace = reader->trace;
	uint32_t bin = (address - trace->profile.low) / BIN_BYTES;

	if (bin < trace->profile.count)
		trace->profile.bins[bin]++;
}

static void read_packets(struct reader *reader, const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t left = size - at - 1;
		const uint8_t *packet = bytes + at + 1;
		unsigned count = bytes[at] == 'A' ? 2 : bytes[at] == 'P' ? 1 : 0;
		uint32_t first, second;

		if (!count || left < (size_t)count * reader->address_bytes) {
			reader->skipped++;
			at++;
			continue;
		}
		first = address_at(reader, packet);
		second = count == 2 ? address_at(reader, packet + reader->address_bytes) : first;
		if (!is_code(reader->image, first & ~1u) || !is_code(reader->image, second & ~1u)) {
			reader->skipped++;
			at++;
			continue;
		}
		reader->packets++;
		if (reader->trace && count == 2)
			take_call(reader, first, second);
		else if (reader->trace)
			take_sample(reader, first);
		at += 1 + (size_t)count * reader->address_bytes;
	}
}

static struct post_trace *make_trace(const char *path, const struct post_image *image,
				     unsigned hertz)
{
	struct post_trace *trace = post_allocate(1, sizeof(*trace));
	struct litifut_module_record *record;
	uint32_t low = UINT32_MAX, high = 0;

	trace->bare = true;
	trace->path = post_copy_text(path);
	trace->header.machine = image->cpu->machine;
	trace->header.state = LITIFUT_TRACE_STOPPED;
	POST_GROW(trace->modules, trace->module_count, trace->module_capacity);
	trace->modules[trace->module_count++] =
		(struct post_module_record){.end_epoch = UINT32_MAX};
	record = &trace->modules[0].record;
	record->serial = 1;
	record->text_end = UINT32_MAX;
	record->build_id_bytes = image->build_id_bytes;
	memcpy(record->build_id, image->build_id, sizeof(record->build_id));
	strncpy(record->name, post_base_name(image->path), sizeof(record->name) - 1);
	memcpy(trace->header.program, record->name, sizeof(trace->header.program));
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct post_segment *segment = &image->segments[i];

		if (!segment->executable)
			continue;
		low = segment->address < low ? segment->address : low;
		high = segment->address + segment->memory_bytes > high
			       ? segment->address + segment->memory_bytes
			       : high;
	}
	if (low < high && high - low < 1u << 24) {
		trace->profile.low = low & ~(BIN_BYTES - 1u);
		trace->profile.bytes = BIN_BYTES;
		trace->profile.hertz = hertz;
		trace->profile.count = (high - trace->profile.low + BIN_BYTES - 1) / BIN_BYTES;
		trace->profile.bins =
			post_allocate(trace->profile.count, sizeof(*trace->profile.bins));
	}
	return trace;
}

static enum litifut_status find_image(const char *path, const struct post_inputs *inputs,
				      struct post_image **image, struct litifut_error *error)
{
	if (inputs->image_count != 1)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "the ELF file of the firmware is needed beside it, and no "
					 "other");
	return post_image_open(inputs->images[0].path, image, error);
}

/* Which order the bytes of an address have is not in the file: that of which less is
 * skipped. */
static bool is_little_endian(struct reader reader, const uint8_t *bytes, size_t size)
{
	struct reader other = reader;

	other.little_endian = true;
	read_packets(&reader, bytes, size);
	read_packets(&other, bytes, size);
	return other.skipped < reader.skipped;
}

enum litifut_status post_gprof_serial_open(const char *path, const struct post_inputs *inputs,
					   struct post_trace **trace,
					   struct post_problems *problems,
					   struct litifut_error *error)
{
	struct reader reader = {.address_bytes = inputs->address_bytes ? inputs->address_bytes
								       : USUAL_ADDRESS_BYTES};
	struct post_image *image = NULL;
	uint8_t *data, *bytes;
	size_t size, left_out;
	enum litifut_status status = post_input_map(path, &data, &size, problems, error);

	*trace = NULL;
	if (status)
		return status;
	bytes = post_allocate(size + 1, 1);
	memcpy(bytes, data, size);
	post_input_unmap(data, size);
	if (post_serial_text(bytes, &size, &left_out) && left_out)
		post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
				"%zu row%s of the list without a byte, left out", left_out,
				left_out == 1 ? "" : "s");
	status = find_image(path, inputs, &image, error);
	if (!status) {
		reader.image = image;
		reader.little_endian = is_little_endian(reader, bytes, size);
		reader.trace = make_trace(path, image, inputs->sample_hertz);
		read_packets(&reader, bytes, size);
		*trace = reader.trace;
		if (!reader.packets)
			status = litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
						   LITIFUT_NO_ADDRESS,
						   "no call and no sample with addresses of %u "
						   "bytes that are code of %s",
						   reader.address_bytes, image->path);
		else if (reader.skipped)
			post_problem_at(problems, path, LITIFUT_NO_ADDRESS,
					"%zu bytes skipped that are neither a call nor a sample",
					reader.skipped);
	}
	if (status) {
		post_trace_close(*trace);
		*trace = NULL;
	}
	post_table_release(&reader.index);
	if (image)
		post_image_close(image);
	free(bytes);
	return status;
}
