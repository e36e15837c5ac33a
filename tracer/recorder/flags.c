/* Flags of edges: bytes of the module that its code sets, without a call. Counters of calls
 * (LITIFUT_MODE=counts), to which its code adds, are kept in the same way.
 *
 * Each piece of the room for them becomes a chunk of the trace: the mapping of the file takes the
 * place of the memory that was there. So what was executed is in the file whatever becomes of the
 * process, and the code that sets a flag has an address that never changes. Where that can't
 * be (chunks are written and not mapped, pages are larger than the linker has thought), flags
 * are copied when the trace is saved.
 *
 * A call that puts other pages in the place of a piece may fail after it has removed those that
 * were there. The next flag that the program sets would kill it, so there is always memory put by
 * for the hole that this leaves.
 *
 * What is there before it becomes a part of the trace is copied; modules are announced before there
 * are other threads in them, and signals are blocked, so that no count is lost in between.
 *
 * A child of fork gets its own flags when libc announces the fork, also when it can't make a trace.
 * A child of vfork, and of a fork that is not announced, sets the flags of its parent. */

#include "tracer/recorder/flags.h"

#include <litifut/module_format.h>
#include <litifut/trace_format.h>
#include <stddef.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/bits.h"
#include "tracer/recorder/module_list.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table_words.h"
#include "tracer/recorder/text.h"
#include "tracer/recorder/verbose.h"
#include "tracer/sink/chunks.h"
#include "tracer/sink/copies.h"
#include "tracer/sink/sink.h"

#define LITIFUT_MREMAP_MOVES 3 /* MREMAP_MAYMOVE | MREMAP_FIXED */

_Static_assert(sizeof(struct litifut_chunk_header) + sizeof(struct litifut_flags_header) <=
		       LITIFUT_FLAGS_HEAD,
	       "room for both headers");

/* A piece of the room of a module, and what of its chunk takes its place. */
struct litifut_piece {
	uint32_t place;
	uint32_t bytes;
	uint32_t skip;  /* of the chunk, from its start */
	uint32_t first; /* offset of the piece in the room */
	/* LITIFUT_CHUNK_MAGIC while the chunk is mapped there, else the address of the chunk or 0.
	 * Of flags that is the first word of the piece, and so of the chunk. */
	volatile uint32_t *chunk;
};

/* Fills `piece` with piece `number` of the module. False: there are fewer. */
static bool litifut_piece_get(const struct litifut_module *module, uint32_t number,
			      struct litifut_piece *piece)
{
	uint32_t room = module->flags_address + module->load_bias;
	bool counts = module->mode == LITIFUT_MODE_COUNTS;

	piece->skip = counts ? LITIFUT_COUNTS_PAGE : 0;
	piece->bytes = LITIFUT_FLAGS_PIECE - piece->skip;
	piece->first = piece->skip + number * piece->bytes;
	piece->place = room + piece->first;
	piece->chunk = (volatile uint32_t *)(counts ? room + 4 * number : piece->place);
	return piece->first + piece->bytes <= module->flags_bytes;
}

static bool litifut_is_mapped(const struct litifut_piece *piece)
{
	return *piece->chunk == LITIFUT_CHUNK_MAGIC;
}

/* Between a piece and its chunk, without the headers. */
static void litifut_piece_copy(const struct litifut_piece *piece, uint32_t chunk, bool to_chunk)
{
	uint32_t head = piece->skip ? piece->skip : LITIFUT_FLAGS_HEAD;
	uint8_t *in_chunk = (uint8_t *)(chunk + head);
	uint8_t *in_place = (uint8_t *)(piece->place + head - piece->skip);

	litifut_copy(to_chunk ? in_chunk : in_place, to_chunk ? in_place : in_chunk,
		     LITIFUT_FLAGS_PIECE - head);
}

static bool litifut_map_zeros(uint32_t place, uint32_t bytes)
{
	return !litifut_failed(litifut_map(place, bytes, PROT_READ | PROT_WRITE, -1, 0));
}

/* Memory of this process alone, all zero, in the place of a piece. False: what was there is
 * still there. */
static bool litifut_piece_clear(const struct litifut_piece *piece)
{
	long spare = litifut_map_memory(piece->bytes);
	bool good = false;

	if (!litifut_failed(spare)) {
		good = litifut_map_zeros(piece->place, piece->bytes);
		litifut_unmap((uint32_t)spare, piece->bytes);
		/* as much as that has just been given back */
		if (!good && !litifut_readable(piece->place))
			good = litifut_map_zeros(piece->place, piece->bytes);
	}
	if (good)
		*piece->chunk = 0;
	return good;
}

/* Moves a chunk of the file to the place of a piece. False: there is memory that was there, or
 * which has what the chunk has. */
static bool litifut_piece_move(const struct litifut_piece *piece, uint32_t chunk)
{
	long spare = litifut_map_memory(piece->bytes);
	bool good;

	if (litifut_failed(spare))
		return false;
	good = !litifut_failed(litifut_system_call(__NR_mremap, (long)(chunk + piece->skip),
						   (long)piece->bytes, (long)piece->bytes,
						   LITIFUT_MREMAP_MOVES, (long)piece->place, 0));
	litifut_unmap((uint32_t)spare, piece->bytes);
	if (good) {
		*piece->chunk = LITIFUT_CHUNK_MAGIC;
		if (piece->skip)
			litifut_unmap(chunk, piece->skip);
	} else if (!litifut_readable(piece->place) &&
		   litifut_map_zeros(piece->place, piece->bytes)) {
		litifut_piece_copy(piece, chunk, false);
	}
	return good;
}

/* In a child: its parent's flags are not to be set any more. */
static void litifut_piece_part(const struct litifut_piece *piece)
{
	if (litifut_is_mapped(piece)) {
		if (!litifut_piece_clear(piece))
			litifut_tell("no memory for flags, those of the parent are set", "", 0);
		return;
	}
	*piece->chunk = 0;
	for (uint32_t i = 0; i < piece->bytes; i += 4)
		*(volatile uint32_t *)(piece->place + i) = 0;
}

static void litifut_piece_open(const struct litifut_module *module,
			       const struct litifut_piece *piece, bool anew)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_flags_header *header;
	const char *trouble;
	uint32_t chunk = litifut_chunk_map(&r->file, false, &trouble);

	/* The memory of the parent's flags must not get the flags of the child. */
	if (anew)
		litifut_piece_part(piece);
	if (!chunk) {
		litifut_tell("no room for flags, what is executed is not recorded: ", trouble, 0);
		litifut_lose(1); /* for all that is counted there */
		return;
	}
	header = (struct litifut_flags_header *)(chunk + sizeof(struct litifut_chunk_header));
	header->module = module->serial;
	header->first = piece->first;
	header->bytes = LITIFUT_FLAGS_PIECE;
	header->mode = module->mode;
	if (!anew)
		litifut_piece_copy(piece, chunk, true);
	litifut_chunk_open(&r->file, chunk, LITIFUT_CHUNK_FLAGS, LITIFUT_ENCODING_WORDS,
			   r->file.process);
	if (!(r->file.sink->flags & LITIFUT_TRACE_WRITE) && litifut_piece_move(piece, chunk))
		return;
	if (!litifut_is_mapped(piece))
		*piece->chunk = chunk;
}

bool litifut_ends_quietly(void)
{
	const struct litifut_recorder *r = &litifut_recorder;

	return (litifut_is_flags() || litifut_is_bits()) &&
	       !(r->file.sink->flags & LITIFUT_TRACE_WRITE) && !r->settings.copy_to[0];
}

void litifut_flags_open(const struct litifut_module *module, bool anew)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_signals signals;
	struct litifut_piece piece;

	/* as they are not written at the end; with the first module the trace has begun, and its
	 * maps were written */
	if (!anew && module->serial > 1 && litifut_ends_quietly())
		litifut_maps_write(&r->file);
	if (!LITIFUT_MODULE_HAS(module, flags_bytes) || !module->flags_bytes)
		return;
	if (r->chunk_mask != LITIFUT_FLAGS_PIECE - 1) {
		litifut_flags_refuse(module);
		return;
	}
	litifut_signals_block(&signals);
	for (uint32_t i = 0; litifut_piece_get(module, i, &piece); i++)
		litifut_piece_open(module, &piece, anew);
	litifut_signals_restore(&signals);
}

void litifut_flags_save_module(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_piece piece;

	if (!LITIFUT_MODULE_HAS(module, flags_bytes))
		return;
	for (uint32_t i = 0; litifut_piece_get(module, i, &piece); i++) {
		if (!*piece.chunk || litifut_is_mapped(&piece))
			continue;
		litifut_piece_copy(&piece, *piece.chunk, true);
		litifut_save(&r->file, *piece.chunk, LITIFUT_FLAGS_PIECE);
	}
}

void litifut_flags_close(const struct litifut_module *module)
{
	struct litifut_piece piece;

	if (!LITIFUT_MODULE_HAS(module, flags_bytes))
		return;
	for (uint32_t i = 0; litifut_piece_get(module, i, &piece); i++) {
		if (!*piece.chunk || litifut_is_mapped(&piece))
			continue;
		litifut_unmap(*piece.chunk, LITIFUT_FLAGS_PIECE);
		*piece.chunk = 0;
	}
}

void litifut_flags_part(void)
{
	const struct litifut_module *module;
	struct litifut_piece piece;

	for (uint32_t at = 0; (module = litifut_modules_next(&at));) {
		if (!LITIFUT_MODULE_HAS(module, flags_bytes) ||
		    litifut_recorder.chunk_mask != LITIFUT_FLAGS_PIECE - 1)
			continue;
		for (uint32_t i = 0; litifut_piece_get(module, i, &piece); i++)
			litifut_piece_part(&piece);
	}
}

void litifut_flags_save(void)
{
	const struct litifut_module *module;

	for (uint32_t at = 0; (module = litifut_modules_next(&at));)
		litifut_flags_save_module(module);
}
