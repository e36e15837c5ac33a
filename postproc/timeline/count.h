/* The fast way through a trace when only the numbers of calls are wanted. */
#ifndef LITIFUT_POSTPROC_TIMELINE_COUNT_H
#define LITIFUT_POSTPROC_TIMELINE_COUNT_H

#include "postproc/model/session.h"

/* Adds the events of one chunk to session->calls[].count, keeps epochs, lost
 * counts and sequence numbers of the threads up to date. Threads that
 * `session->options` excludes are skipped. */
void post_count_chunk(struct post_session *session, struct post_process *process, size_t chunk,
		      struct post_buffer *buffer);

/* Does the filter let this thread through? */
bool post_thread_wanted(const struct post_session *session, uint32_t thread);

/* Is it a call or a return? Anything else changes the state of the stream or is a mark. */
static inline bool post_item_is_call(const struct post_item *item)
{
	return item->kind <= LITIFUT_WORD_ENTER;
}

/* For post_session_call(): words with a stack pointer are otherwise direct calls, as is the
 * address of a return. */
static inline uint32_t post_item_kind(const struct post_item *item)
{
	return item->kind <= LITIFUT_WORD_TAIL ? item->kind : (uint32_t)LITIFUT_WORD_CALL;
}

/* Applies an item that is not an event: it changes the state of the stream. `*thread` may
 * become another. Both ways of reading use it. */
void post_apply_state(struct post_session *session, struct post_process *process,
		      struct post_thread **thread, const struct post_item *item);

#endif
