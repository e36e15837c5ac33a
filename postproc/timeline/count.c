/* Counting. The speed of `report` depends on the loop below: a direct call costs one probe
 * of a small hash table and one addition. */
#include "postproc/timeline/count.h"

#include <byteswap.h>
#include <string.h>

bool post_thread_wanted(const struct post_session *session, uint32_t thread)
{
	const struct post_options *options = &session->options;

	for (size_t i = 0; i < options->tid_count; i++) {
		if (options->tids[i] == thread)
			return true;
	}
	return !options->tid_count;
}

void post_apply_state(struct post_session *session, struct post_process *process,
		      struct post_thread **thread, const struct post_item *item)
{
	switch (item->kind) {
	case LITIFUT_WORD_LOST:
		(*thread)->lost += item->value;
		break;
	case LITIFUT_WORD_THREAD:
		*thread = post_session_thread(session, process, item->value);
		break;
	case LITIFUT_WORD_TAKEN:
		(*thread)->taken += (uint64_t)item->value << 8;
		break;
	case LITIFUT_WORD_EPOCH:
		(*thread)->epoch = item->value;
		break;
	}
}

/* Counts direct calls from `position` on, until something else comes: a control word, or
 * one with one of the bits `marks`. Gives the position of that, and in `*counted` how
 * many calls there were. */
static inline uint32_t count_direct(struct post_session *session, struct post_process *process,
				    struct post_cache **cache, uint32_t epoch, const uint8_t *bytes,
				    uint32_t position, uint32_t end, uint32_t marks,
				    uint64_t *counted, bool swap)
{
	struct post_cache *table = *cache;
	struct post_call *calls = session->calls;
	uint32_t start = position, returns = 0;

	for (; position < end; position++) {
		uint32_t word;
		memcpy(&word, bytes + (size_t)position * 4, sizeof(word));
		if (swap)
			word = bswap_32(word);
		if (word < LITIFUT_WORD_FIRST_ADDRESS || word & marks)
			break;
		uint32_t index = post_cache_start(table, word, 0);
		const struct post_cache_slot *slot = &table->slots[index];
		while (slot->return_address != word ||
		       slot->callee | (slot->kind ^ LITIFUT_WORD_CALL)) {
			if (!slot->return_address)
				break;
			index = (index + 1) & (table->capacity - 1);
			slot = &table->slots[index];
		}
		uint32_t call = slot->call;
		if (!slot->return_address) {
			call = post_session_call(session, process, epoch, LITIFUT_WORD_CALL, word,
						 0);
			*cache = table = post_session_cache(process, epoch);
			calls = session->calls;
		}
		if (call & POST_RETURN)
			returns++;
		else
			calls[call].count++;
	}
	*counted = position - start - returns;
	process->returns |= returns != 0;
	return position;
}

void post_count_chunk(struct post_session *session, struct post_process *process, size_t chunk,
		      struct post_buffer *buffer)
{
	struct post_cursor cursor;
	struct post_item item;
	const struct post_trace *trace = process->trace;
	struct post_thread *thread =
		post_session_thread(session, process, trace->chunks[chunk].thread);
	bool wanted = post_thread_wanted(session, thread->id);
	bool fast = !(trace->chunks[chunk].flags & LITIFUT_CHUNK_TIMED);

	post_cursor_start(&cursor, trace, chunk, buffer, session->problems);
	const uint8_t *bytes = cursor.decoded ? (const uint8_t *)cursor.decoded
					      : trace->data + trace->chunks[chunk].offset;
	bool swap = trace->swap && !cursor.decoded;
	uint32_t marks = post_cursor_marks(&cursor);
	for (;;) {
		if (fast && wanted && !cursor.epoch) {
			uint64_t counted;
			struct post_cache *cache = post_session_cache(process, thread->epoch);
			uint32_t end = cursor.word_count, from = cursor.position;
			cursor.position =
				swap ? count_direct(session, process, &cache, thread->epoch, bytes,
						    from, end, marks, &counted, true)
				     : count_direct(session, process, &cache, thread->epoch, bytes,
						    from, end, marks, &counted, false);
			thread->sequence += counted;
			process->events += counted;
			if (cursor.position != from) { /* what looked like the unused end was not */
				cursor.holes += cursor.pending_holes;
				cursor.pending_holes = 0;
			}
		}
		if (!post_cursor_next(&cursor, &item))
			break;
		if (!post_item_is_call(&item)) {
			post_apply_state(session, process, &thread, &item);
			wanted = post_thread_wanted(session, thread->id);
			continue;
		}
		uint32_t call =
			post_session_call(session, process, thread->epoch, post_item_kind(&item),
					  item.return_address, item.callee);
		if (call & POST_RETURN) {
			process->returns = true;
			continue;
		}
		thread->sequence++;
		process->events++;
		session->calls[call].count += wanted;
	}
	process->holes += cursor.holes;
}
