/* Counting. The speed of `report` depends on the loop below: a direct call costs one probe
 * of a small hash table and one addition. */
#include "postproc/timeline/count.h"

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

/* Counts direct calls from the cursor on, until something else comes. */
static inline __attribute__((always_inline)) void
count_direct(struct post_session *session, struct post_process *process, struct post_thread *thread,
	     struct post_cursor *cursor, const struct post_plain_words words)
{
	const uint32_t start = cursor->position, end = cursor->word_count;
	const struct post_cache *cache = post_session_cache(process, thread->epoch);
	struct post_call *calls = session->calls;
	uint32_t position = start, returns = 0, word;

	for (; position < end && (word = post_plain_call(&words, position)); position++) {
		uint32_t call = post_cache_find(cache, word, 0, LITIFUT_WORD_CALL);

		if (call == POST_NONE) {
			call = post_session_call(session, process, thread->epoch, LITIFUT_WORD_CALL,
						 word, 0);
			cache = post_session_cache(process, thread->epoch);
			calls = session->calls;
		}
		if (call & POST_RETURN)
			returns++;
		else
			calls[call].count++;
	}
	post_cursor_skip(cursor, position);
	thread->sequence += position - start - returns;
	process->events += position - start - returns;
	process->returns |= returns != 0;
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
	struct post_plain_words words;

	post_cursor_start(&cursor, trace, chunk, buffer, session->problems);
	for (;;) {
		if (wanted && post_cursor_plain(&cursor, &words)) {
			const struct post_plain_words swapped = {words.bytes, true, words.marks};
			const struct post_plain_words plain = {words.bytes, false, words.marks};

			/* each way is compiled for itself */
			if (words.swap)
				count_direct(session, process, thread, &cursor, swapped);
			else
				count_direct(session, process, thread, &cursor, plain);
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
