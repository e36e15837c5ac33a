/* Makes trace files for tests, in either byte order, word by word as the
 * recorder on a device does. */
#ifndef LITIFUT_TESTS_TRACE_BUILDER_H
#define LITIFUT_TESTS_TRACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <litifut/trace_format.h>

struct trace_builder {
	uint8_t *data; /* owned */
	size_t size;
	bool big_endian;
	unsigned version; /* major, 1 or 2 */
	uint32_t chunk_bytes;
	size_t chunk; /* offset of the open chunk, 0: none */
	size_t at;    /* where its next word goes */
	uint32_t thread;
	uint32_t chunk_flags;
	uint32_t next_number; /* of a chunk */
};

/* The major version of traces that are started from here on; the newest to start with. */
extern unsigned trace_builder_version;

#define BUILDER_MACHINE_ARM 40
#define BUILDER_MACHINE_MIPS 8

/* Starts a trace with small chunks (224 bytes of words), so that few events need
 * several. Release with trace_builder_release(). */
void trace_builder_start(struct trace_builder *builder, bool big_endian, uint32_t machine,
			 uint32_t pid, const char *program);

/* Writes a 32-bit or 64-bit number into the header: offset as of
 * struct litifut_trace_header. */
void trace_builder_header32(struct trace_builder *builder, size_t offset, uint32_t value);
void trace_builder_header64(struct trace_builder *builder, size_t offset, uint64_t value);

/* A metadata chunk with one module record (given in host byte order). */
void trace_builder_module(struct trace_builder *builder,
			  const struct litifut_module_record *record);

/* Opens a chunk of events. The previous one is closed, so that its
 * `used_bytes` is final, unless `leave_open` was called for it. */
void trace_builder_chunk(struct trace_builder *builder, uint32_t thread, uint32_t flags,
			 uint64_t start_time);
/* The same with a table of call sites; its bytes are written as words. */
void trace_builder_table(struct trace_builder *builder, uint32_t thread);
void trace_builder_leave_open(struct trace_builder *builder);

/* Words of the open chunk. A full chunk is followed by another of its kind. */
void trace_builder_word(struct trace_builder *builder, uint32_t word);
void trace_builder_control(struct trace_builder *builder, uint32_t kind, unsigned count,
			   const uint32_t *words);
void trace_builder_call(struct trace_builder *builder, uint32_t return_address);
void trace_builder_indirect(struct trace_builder *builder, uint32_t return_address,
			    uint32_t callee);
void trace_builder_tail(struct trace_builder *builder, uint32_t after, uint32_t callee);

/* The module with this number is unloaded, with which this epoch begins. */
void trace_builder_unload(struct trace_builder *builder, uint32_t serial, uint32_t epoch);

/* Closes the last chunk and marks the trace as stopped. */
void trace_builder_finish(struct trace_builder *builder);

/* After finish: packs every chunk of events into a compact block. What they were
 * made from is wiped, or, as in a program that was killed, left where it was. */
void trace_builder_pack(struct trace_builder *builder, bool leave);

/* Writes the bytes to a file; gives false on failure. */
bool trace_builder_save(const struct trace_builder *builder, const char *path);

void trace_builder_release(struct trace_builder *builder);

#endif
