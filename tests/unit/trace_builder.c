/* Traces made by hand. */
#include "tests/unit/trace_builder.h"

#include <litifut/compact.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 4096u
#define CHUNK_HEADER chunk_header_bytes(builder)

unsigned trace_builder_version = LITIFUT_TRACE_VERSION_MAJOR;

static size_t chunk_header_bytes(const struct trace_builder *builder)
{
	return builder->version == 1 ? LITIFUT_CHUNK_HEADER_BYTES_1
				     : sizeof(struct litifut_chunk_header);
}

static void put(struct trace_builder *builder, size_t at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++) {
		unsigned shift = 8 * (builder->big_endian ? bytes - 1 - i : i);
		builder->data[at + i] = (uint8_t)(value >> shift);
	}
}

static void grow(struct trace_builder *builder, size_t more)
{
	builder->data = realloc(builder->data, builder->size + more);
	if (!builder->data)
		abort();
	memset(builder->data + builder->size, 0, more);
	builder->size += more;
}

void trace_builder_header32(struct trace_builder *builder, size_t offset, uint32_t value)
{
	put(builder, offset, value, 4);
}

void trace_builder_header64(struct trace_builder *builder, size_t offset, uint64_t value)
{
	put(builder, offset, value, 8);
}

#define HEADER(field) offsetof(struct litifut_trace_header, field)
#define CHUNK(field) offsetof(struct litifut_chunk_header, field)

void trace_builder_start(struct trace_builder *builder, bool big_endian, uint32_t machine,
			 uint32_t pid, const char *program)
{
	*builder = (struct trace_builder){.big_endian = big_endian,
					  .version = trace_builder_version,
					  .chunk_bytes = trace_builder_version == 1 ? 256 : 288};
	grow(builder, HEADER_BYTES);
	memcpy(builder->data, LITIFUT_TRACE_MAGIC, 8);
	put(builder, HEADER(byte_order), LITIFUT_BYTE_ORDER_MARK, 4);
	put(builder, HEADER(version_major), builder->version, 2);
	put(builder, HEADER(version_minor), LITIFUT_TRACE_VERSION_MINOR, 2);
	put(builder, HEADER(header_bytes), HEADER_BYTES, 4);
	put(builder, HEADER(chunk_bytes), builder->chunk_bytes, 4);
	put(builder, HEADER(machine), machine, 4);
	put(builder, HEADER(word_bytes), 4, 4);
	put(builder, HEADER(pid), pid, 4);
	put(builder, HEADER(state), LITIFUT_TRACE_RUNNING, 4);
	snprintf((char *)builder->data + HEADER(program), 64, "%s", program);
}

static uint32_t get(const struct trace_builder *builder, size_t at)
{
	const uint8_t *b = builder->data + at;

	return builder->big_endian
		       ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
		       : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static void sum(const struct trace_builder *builder, size_t at, size_t bytes, uint32_t sums[2])
{
	for (; bytes; bytes -= 4, at += 4) {
		uint32_t word = get(builder, at);

		litifut_sums_add(sums, &word, 1);
	}
}

static void close_chunk(struct trace_builder *builder)
{
	uint32_t sums[2] = {1, 0};
	size_t chunk = builder->chunk;
	uint32_t flags = builder->chunk_flags | LITIFUT_CHUNK_CLOSED;

	if (!chunk)
		return;
	if (builder->version > 1)
		flags |= LITIFUT_CHUNK_SUMMED;
	put(builder, chunk + CHUNK(used_bytes), builder->at - chunk - CHUNK_HEADER, 4);
	put(builder, chunk + CHUNK(flags), flags, 4);
	if (builder->version > 1) {
		sum(builder, chunk, LITIFUT_CHUNK_HEADER_BYTES_1, sums);
		sum(builder, chunk + CHUNK_HEADER, builder->at - chunk - CHUNK_HEADER, sums);
		put(builder, chunk + CHUNK(sums), sums[0], 4);
		put(builder, chunk + CHUNK(sums) + 4, sums[1], 4);
	}
	builder->chunk = 0;
}

static void open_chunk(struct trace_builder *builder, unsigned kind, uint32_t thread,
		       uint32_t flags, uint64_t start_time)
{
	close_chunk(builder);
	builder->chunk = builder->size;
	builder->at = builder->size + CHUNK_HEADER;
	builder->thread = thread;
	builder->chunk_flags = flags;
	grow(builder, builder->chunk_bytes);
	put(builder, builder->chunk + CHUNK(magic), LITIFUT_CHUNK_MAGIC, 4);
	put(builder, builder->chunk + CHUNK(kind), kind, 2);
	put(builder, builder->chunk + CHUNK(encoding), LITIFUT_ENCODING_WORDS, 2);
	put(builder, builder->chunk + CHUNK(flags), flags, 4);
	put(builder, builder->chunk + CHUNK(thread), thread, 4);
	put(builder, builder->chunk + CHUNK(number), builder->next_number++, 4);
	put(builder, builder->chunk + CHUNK(start_time), start_time, 8);
}

void trace_builder_chunk(struct trace_builder *builder, uint32_t thread, uint32_t flags,
			 uint64_t start_time)
{
	open_chunk(builder, LITIFUT_CHUNK_EVENTS, thread, flags, start_time);
}

void trace_builder_table(struct trace_builder *builder, uint32_t thread)
{
	open_chunk(builder, LITIFUT_CHUNK_TABLE, thread, 0, 0);
}

void trace_builder_leave_open(struct trace_builder *builder)
{
	builder->chunk = 0;
}

static void raw_word(struct trace_builder *builder, uint32_t word)
{
	put(builder, builder->at, word, 4);
	builder->at += 4;
}

static void need(struct trace_builder *builder, unsigned words)
{
	if (builder->at + 4 * words > builder->chunk + builder->chunk_bytes)
		trace_builder_chunk(builder, builder->thread, builder->chunk_flags, 0);
}

void trace_builder_word(struct trace_builder *builder, uint32_t word)
{
	need(builder, 1);
	raw_word(builder, word);
}

void trace_builder_control(struct trace_builder *builder, uint32_t kind, unsigned count,
			   const uint32_t *words)
{
	need(builder, count + 1);
	raw_word(builder, LITIFUT_CONTROL_WORD(kind, count));
	for (unsigned i = 0; i < count; i++)
		raw_word(builder, words[i]);
}

void trace_builder_call(struct trace_builder *builder, uint32_t return_address)
{
	trace_builder_word(builder, return_address);
}

void trace_builder_indirect(struct trace_builder *builder, uint32_t return_address, uint32_t callee)
{
	trace_builder_control(builder, LITIFUT_WORD_INDIRECT, 2,
			      (const uint32_t[]){return_address, callee});
}

void trace_builder_tail(struct trace_builder *builder, uint32_t after, uint32_t callee)
{
	trace_builder_control(builder, LITIFUT_WORD_TAIL, 2, (const uint32_t[]){after, callee});
}

void trace_builder_module(struct trace_builder *builder, const struct litifut_module_record *record)
{
	unsigned words = sizeof(*record) / 4;

	open_chunk(builder, LITIFUT_CHUNK_METADATA, 0, 0, 0);
	raw_word(builder, LITIFUT_CONTROL_WORD(LITIFUT_WORD_MODULE, words));
	size_t at = builder->at;
	memcpy(builder->data + at, record, sizeof(*record));
	put(builder, at, record->serial, 4);
	put(builder, at + offsetof(struct litifut_module_record, epoch), record->epoch, 4);
	put(builder, at + offsetof(struct litifut_module_record, load_bias), record->load_bias, 4);
	put(builder, at + offsetof(struct litifut_module_record, text_start), record->text_start,
	    4);
	put(builder, at + offsetof(struct litifut_module_record, text_end), record->text_end, 4);
	put(builder, at + offsetof(struct litifut_module_record, flags), record->flags, 4);
	put(builder, at + offsetof(struct litifut_module_record, build_id_bytes),
	    record->build_id_bytes, 4);
	builder->at += sizeof(*record);
	close_chunk(builder);
}

void trace_builder_unload(struct trace_builder *builder, uint32_t serial, uint32_t epoch)
{
	open_chunk(builder, LITIFUT_CHUNK_METADATA, 0, 0, 0);
	raw_word(builder, LITIFUT_CONTROL_WORD(LITIFUT_WORD_UNLOAD, 2));
	raw_word(builder, serial);
	raw_word(builder, epoch);
	close_chunk(builder);
}

void trace_builder_finish(struct trace_builder *builder)
{
	close_chunk(builder);
	put(builder, HEADER(state), LITIFUT_TRACE_STOPPED, 4);
}

/* One block in a chunk of its own. */
static void pack_chunk(struct trace_builder *builder, size_t chunk, bool leave)
{
	static struct litifut_compact_tables tables;
	uint32_t words[1024];
	uint8_t packed[2048];
	uint32_t count = get(builder, chunk + CHUNK(used_bytes)) / 4;
	uint32_t flags = get(builder, chunk + CHUNK(flags));
	uint32_t number = get(builder, chunk + CHUNK(number));
	uint8_t start_time[8];

	for (uint32_t i = 0; i < count; i++)
		words[i] = get(builder, chunk + CHUNK_HEADER + (size_t)i * 4);
	memcpy(start_time, builder->data + chunk + CHUNK(start_time), 8);
	struct litifut_compact_size size;
	if (!litifut_compact_encode(&tables, words, count, flags & LITIFUT_CHUNK_TIMED, packed,
				    sizeof(packed), &size))
		return; /* words that the recorder would leave as they are too */
	memmove(packed + size.front, packed + sizeof(packed) - size.back, size.back);
	uint32_t bytes = size.front + size.back;
	uint32_t thread = get(builder, chunk + CHUNK(thread));
	if (CHUNK_HEADER + sizeof(struct litifut_compact_block) + bytes > builder->chunk_bytes)
		return;
	open_chunk(builder, LITIFUT_CHUNK_EVENTS, 0, 0, 0);
	size_t at = builder->chunk + CHUNK_HEADER;
	put(builder, builder->chunk + CHUNK(encoding), LITIFUT_ENCODING_COMPACT, 2);
	put(builder, at, bytes, 4);
	put(builder, at + 4, count, 4);
	put(builder, at + 8, thread, 4);
	put(builder, at + 12, number, 4);
	put(builder, at + 16, flags, 4);
	memcpy(builder->data + at + 24, start_time, 8);
	memcpy(builder->data + at + 32, packed, bytes);
	if (builder->version > 1) {
		uint32_t sums[2] = {1, 0};

		sum(builder, at, 32 + bytes, sums);
		put(builder, at + offsetof(struct litifut_compact_block, sum),
		    litifut_sums_word(sums), 4);
	}
	builder->at = at + 32 + ((bytes + 3) & ~3u);
	close_chunk(builder);
	if (!leave)
		memset(builder->data + chunk, 0, builder->chunk_bytes);
}

void trace_builder_pack(struct trace_builder *builder, bool leave)
{
	size_t end = builder->size;

	for (size_t at = HEADER_BYTES; at < end; at += builder->chunk_bytes) {
		uint8_t kind[2] = {builder->data[at + CHUNK(kind)],
				   builder->data[at + CHUNK(kind) + 1]};
		if ((kind[0] | kind[1]) == LITIFUT_CHUNK_EVENTS)
			pack_chunk(builder, at, leave);
	}
}

bool trace_builder_save(const struct trace_builder *builder, const char *path)
{
	FILE *file = fopen(path, "wb");

	if (!file)
		return false;
	bool good = fwrite(builder->data, 1, builder->size, file) == builder->size;
	return fclose(file) == 0 && good;
}

void trace_builder_release(struct trace_builder *builder)
{
	free(builder->data);
	*builder = (struct trace_builder){0};
}
