/* The words of the stream of a thread. */
#ifndef LITIFUT_TRACER_WORDS_H
#define LITIFUT_TRACER_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <litifut/litifut.h>
#include <litifut/trace_format.h>

struct litifut_thread;

/* The control word of an event that is not a direct call. */
static inline uint32_t litifut_event_control(const struct litifut_call *call, uint32_t following)
{
	return LITIFUT_CONTROL_WORD(call->kind == LITIFUT_SITE_INDIRECT ? LITIFUT_WORD_INDIRECT
									: LITIFUT_WORD_TAIL,
				    following);
}

/* The words of an event, 1 or 3, without time. */
static inline uint32_t litifut_event_words(const struct litifut_call *call, uint32_t *words)
{
	if (call->kind == LITIFUT_SITE_DIRECT) {
		words[0] = call->return_address;
		return 1;
	}
	words[0] = litifut_event_control(call, 2);
	words[1] = call->return_address;
	words[2] = call->callee;
	return 3;
}

/* Adds the time to an event of `count` words; returns how many there are. */
static inline uint32_t litifut_stamp_words(uint64_t now, uint32_t *words, uint32_t count)
{
	uint32_t low = (uint32_t)now;

	if (count > 1)
		words[0] += LITIFUT_CONTROL_WORD(0, 1);
	words[count] = low ? low : 1;
	return count + 1;
}

/* The words that tell the whole clock, for when its upper bits change. */
static inline void litifut_time_words(uint64_t now, uint32_t words[3])
{
	words[0] = LITIFUT_CONTROL_WORD(LITIFUT_WORD_TIME, 2);
	words[1] = (uint32_t)now;
	words[2] = (uint32_t)(now >> 32);
}

/* Puts words into the stream of a thread; false: there is no room. */
bool litifut_put(struct litifut_thread *thread, const uint32_t *words, uint32_t count)
	__attribute__((visibility("hidden")));

#endif
