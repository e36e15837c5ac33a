/* The words of a chunk, one item after another. */
#include "postproc/sources/trace.h"

#include <litifut/compact.h>
#include <stdlib.h>

#include "postproc/table.h"

static const uint32_t *decode(struct post_cursor *cursor, struct post_buffer *buffer)
{
	const struct post_chunk *chunk = cursor->chunk;

	if (buffer->capacity < chunk->word_count || !buffer->words) {
		buffer->capacity = chunk->word_count;
		buffer->words =
			post_reallocate(buffer->words, buffer->capacity, sizeof(*buffer->words));
	}
	if (!buffer->tables)
		buffer->tables = post_allocate(1, sizeof(struct litifut_compact_tables));
	cursor->word_count = litifut_compact_decode(
		buffer->tables, cursor->trace->data + chunk->offset, chunk->packed_bytes,
		chunk->flags & LITIFUT_CHUNK_TIMED, buffer->words, chunk->word_count);
	if (cursor->word_count < chunk->word_count && cursor->problems)
		post_problem_at(cursor->problems, cursor->trace->path, chunk->offset,
				"a compact block is damaged; what comes before is read");
	return buffer->words;
}

void post_cursor_start(struct post_cursor *cursor, const struct post_trace *trace, size_t chunk,
		       struct post_buffer *buffer, struct post_problems *problems)
{
	*cursor = (struct post_cursor){
		.trace = trace,
		.chunk = &trace->chunks[chunk],
		.word_count = trace->chunks[chunk].word_count,
		.time = trace->chunks[chunk].start_time,
		.problems = problems,
	};
	cursor->epoch = cursor->chunk->epoch;
	if (cursor->chunk->packed_bytes)
		cursor->decoded = decode(cursor, buffer);
}

void post_buffer_release(struct post_buffer *buffer)
{
	free(buffer->words);
	free(buffer->tables);
	*buffer = (struct post_buffer){0};
}

static bool damaged(struct post_cursor *cursor, const char *message)
{
	if (cursor->problems)
		post_problem_at(cursor->problems, cursor->trace->path,
				cursor->chunk->offset +
					(cursor->decoded ? 0 : (uint64_t)cursor->position * 4),
				"%s", message);
	cursor->position = cursor->word_count;
	return false;
}

static uint32_t at(const struct post_cursor *cursor, uint32_t ahead)
{
	if (cursor->decoded)
		return cursor->decoded[cursor->position + ahead];
	return post_trace_word(cursor->trace, cursor->chunk, cursor->position + ahead);
}

/* The time nearest to the last one that has these low bits. */
static void set_clock(struct post_cursor *cursor, uint32_t low)
{
	int32_t step = (int32_t)(low - (uint32_t)cursor->time);

	if (step < 0 && (uint64_t) - (int64_t)step > cursor->time)
		cursor->time = low;
	else
		cursor->time += (uint64_t)(int64_t)step;
}

/* The number of words of a known control word, its clock word not counted. */
static uint32_t words_of(uint32_t kind)
{
	switch (kind) {
	case LITIFUT_WORD_CALL:
	case LITIFUT_WORD_INDIRECT:
	case LITIFUT_WORD_TAIL:
	case LITIFUT_WORD_EXIT:
	case LITIFUT_WORD_ENTER:
	case LITIFUT_WORD_TIME:
	case LITIFUT_WORD_SYNC:
		return 2;
	case LITIFUT_WORD_MARK:
	case LITIFUT_WORD_CUT:
	case LITIFUT_WORD_LOST:
	case LITIFUT_WORD_THREAD:
	case LITIFUT_WORD_EPOCH:
	case LITIFUT_WORD_TAKEN:
		return 1;
	}
	return 0;
}

uint32_t post_cursor_marks(const struct post_cursor *cursor)
{
	bool marked = cursor->trace->header.flags & LITIFUT_TRACE_MARKED &&
		      !(cursor->chunk->flags & LITIFUT_CHUNK_TIMED);

	return marked ? LITIFUT_WORD_MARK(UINT32_MAX) : 0;
}

bool post_cursor_plain(const struct post_cursor *cursor, struct post_plain_words *words)
{
	*words = (struct post_plain_words){
		.bytes = cursor->decoded ? (const uint8_t *)cursor->decoded
					 : cursor->trace->data + cursor->chunk->offset,
		.swap = cursor->trace->swap && !cursor->decoded,
		.marks = post_cursor_marks(cursor),
	};
	return !cursor->epoch && !(cursor->chunk->flags & LITIFUT_CHUNK_TIMED);
}

void post_cursor_skip(struct post_cursor *cursor, uint32_t position)
{
	if (position == cursor->position)
		return;
	cursor->position = position;
	/* what looked like the unused end was not */
	cursor->holes += cursor->pending_holes;
	cursor->pending_holes = 0;
}

/* An event of two words, the first of them marked. False: the program or the disk ended
 * inside it, or the second was not written. */
static bool take_marked(struct post_cursor *cursor, uint32_t word, uint32_t left,
			struct post_item *item)
{
	*item = (struct post_item){
		.kind = LITIFUT_WORD_MARK(word) == LITIFUT_MARK_INDIRECT ? LITIFUT_WORD_INDIRECT
									 : LITIFUT_WORD_TAIL,
		.return_address = word - LITIFUT_WORD_MARK(word),
		.callee = left ? at(cursor, 1) : 0,
		.time = cursor->time,
	};
	cursor->position += left ? 2 : 1;
	cursor->holes += left && !item->callee;
	return item->callee != 0;
}

static void take_arguments(struct post_cursor *cursor, uint32_t words)
{
	cursor->arguments.count = words;
	for (uint32_t i = 0; i < words; i++)
		cursor->arguments.words[i] = at(cursor, 1 + i);
}

static bool next_item(struct post_cursor *cursor, struct post_item *item)
{
	const struct post_chunk *chunk = cursor->chunk;
	bool timed = chunk->flags & LITIFUT_CHUNK_TIMED;

	if (cursor->epoch) {
		*item = (struct post_item){.kind = LITIFUT_WORD_EPOCH, .value = cursor->epoch};
		cursor->epoch = 0;
		return true;
	}
	while (cursor->position < cursor->word_count) {
		uint32_t word = at(cursor, 0), left = cursor->word_count - cursor->position - 1;
		if (!word) { /* only a hole when something follows */
			cursor->pending_holes++;
			cursor->position++;
			continue;
		}
		cursor->holes += cursor->pending_holes;
		cursor->pending_holes = 0;
		if (word >= LITIFUT_WORD_FIRST_ADDRESS && word & post_cursor_marks(cursor)) {
			if (LITIFUT_WORD_MARK(word) > LITIFUT_MARK_TAIL)
				return damaged(cursor,
					       "unknown record; the rest of the chunk is left out");
			if (take_marked(cursor, word, left, item))
				return true;
			continue;
		}
		if (word >= LITIFUT_WORD_FIRST_ADDRESS) {
			if (timed && left && at(cursor, 1))
				set_clock(cursor, at(cursor, 1));
			cursor->position += timed && left ? 2 : 1;
			*item = (struct post_item){.kind = LITIFUT_WORD_CALL,
						   .return_address = word,
						   .time = cursor->time};
			return true;
		}

		uint32_t kind = LITIFUT_CONTROL_KIND(word);
		uint32_t following = LITIFUT_CONTROL_FOLLOWING(word), known = words_of(kind);
		if (following > left || following < known) {
			/* The program or the disk ended inside this record. */
			bool cut = following > left && left < 8;
			if (cut) {
				cursor->position = cursor->word_count;
				return false;
			}
			return damaged(cursor, "damaged record; the rest of the chunk is left out");
		}
		*item = (struct post_item){.kind = kind};
		switch (kind) {
		case LITIFUT_WORD_CALL:
		case LITIFUT_WORD_INDIRECT:
		case LITIFUT_WORD_TAIL:
			item->return_address = at(cursor, 1);
			item->callee = at(cursor, 2);
			if (timed && following > known && at(cursor, 3))
				set_clock(cursor, at(cursor, 3));
			item->time = cursor->time;
			break;
		case LITIFUT_WORD_EXIT:
		case LITIFUT_WORD_ENTER:
		case LITIFUT_WORD_MARK:
			item->return_address = at(cursor, 1);
			item->value = at(cursor, known);
			if (timed && following > known && at(cursor, known + 1))
				set_clock(cursor, at(cursor, known + 1));
			item->time = cursor->time;
			break;
		case LITIFUT_WORD_TIME:
			cursor->time = at(cursor, 1) | (uint64_t)at(cursor, 2) << 32;
			item->time = cursor->time;
			break;
		case LITIFUT_WORD_CUT:
		case LITIFUT_WORD_LOST:
		case LITIFUT_WORD_THREAD:
		case LITIFUT_WORD_EPOCH:
		case LITIFUT_WORD_TAKEN:
			item->value = at(cursor, 1);
			break;
		case LITIFUT_WORD_ARGUMENTS:
			take_arguments(cursor, following);
			cursor->position += 1 + following;
			continue;
		case LITIFUT_WORD_STOPPED:
		case LITIFUT_WORD_STARTED:
		case LITIFUT_WORD_SYNC:
			break;
		default:
			if (cursor->trace->header.version_major < LITIFUT_TRACE_VERSION_MAJOR ||
			    cursor->trace->header.version_minor <= LITIFUT_TRACE_VERSION_MINOR)
				return damaged(cursor,
					       "unknown record; the rest of the chunk is left out");
			cursor->position += 1 + following;
			continue;
		}
		cursor->position += 1 + following;
		bool to_callee = litifut_word_is_call(kind);
		bool to_stack = kind == LITIFUT_WORD_EXIT || kind == LITIFUT_WORD_ENTER;
		if ((to_callee && (!item->return_address || !item->callee)) ||
		    (to_stack && (!item->return_address || !item->value))) {
			cursor->holes++; /* its words were reserved, not written */
			continue;
		}
		return true;
	}
	return false;
}

bool post_cursor_next(struct post_cursor *cursor, struct post_item *item)
{
	cursor->arguments.count = 0;
	if (!next_item(cursor, item))
		return false;
	if (cursor->arguments.count && item->kind <= LITIFUT_WORD_ENTER)
		item->arguments = &cursor->arguments;
	return true;
}
