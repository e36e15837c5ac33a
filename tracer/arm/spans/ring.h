/* The ring of events of a firmware on Cortex-M, for what sends it; call.S writes it too. A CPU that
 * records spans has a header of this name with the same functions. All functions have names of
 * the tracer, which the rewriter leaves alone. */
#ifndef LITIFUT_TRACER_ARM_SPANS_RING_H
#define LITIFUT_TRACER_ARM_SPANS_RING_H

#include <litifut/firmware_pool.h>
#include <litifut/kept_format.h>
#include <litifut/spans_format.h>

#include "tracer/arm/interrupts.h"
#include "tracer/sink/frames/frames.h"

#define RING_CLOCK_BITS 32

typedef uint32_t ring_register; /* of the device */
typedef uint32_t ring_count;

struct ring_state {
	uint32_t pool[POOL_BYTES / 4];
	volatile uint32_t head, limit, mask;
	uint32_t base;
	volatile uint32_t lost;
	uint32_t told;
};

_Static_assert(sizeof(struct ring_state) == RING_STATE_BYTES, "state of the ring");

/* An event, as it stands in the ring. */
struct ring_event {
	uint32_t time; /* of a LITIFUT_SPAN_CALLEE: the callee */
	uint16_t value;
	uint16_t number;
};

extern HIDDEN struct ring_state litifut_pool;

HIDDEN uint32_t litifut_clock_read(void);

/* Only where the ring outlasts a reset (kept.c). */
extern HIDDEN struct litifut_kept litifut_kept __attribute__((weak));

/* Nothing that is to be sent is replaced from here on; and it may be again. */
HIDDEN void litifut_kept_hold(void) __attribute__((weak));
HIDDEN void litifut_kept_go_on(void) __attribute__((weak));

static inline void litifut_ring_hold(void)
{
	if (litifut_kept_hold)
		litifut_kept_hold();
}

static inline void litifut_ring_go_on(void)
{
	if (litifut_kept_go_on)
		litifut_kept_go_on();
}

/* Positions, see <litifut/spans_format.h>: of the first event that has not been freed, and of the
 * one behind the last. */
static inline uint32_t litifut_ring_begin(void)
{
	return litifut_pool.limit - litifut_pool.mask - 1;
}

static inline uint32_t litifut_ring_end(void)
{
	return litifut_pool.head;
}

static inline uint32_t litifut_ring_lost(void)
{
	return litifut_pool.lost;
}

static inline volatile struct ring_event *litifut_ring_at(uint32_t position)
{
	return (volatile struct ring_event *)(void *)litifut_table + (position & litifut_pool.mask);
}

/* With interrupts off. False: there is no room. */
static inline bool litifut_ring_put(unsigned number, unsigned value)
{
	volatile struct ring_event *event;

	if (litifut_pool.head == litifut_pool.limit) {
		if (litifut_pool.limit != RING_NO_LIMIT)
			return false;
		litifut_pool.head = 0;
	}
	event = litifut_ring_at(litifut_pool.head);
	event->time = litifut_clock_read();
	event->value = (uint16_t)value;
	event->number = (uint16_t)number;
	litifut_pool.head++;
	if (&litifut_kept)
		litifut_kept.head = litifut_pool.head;
	return true;
}

static inline void litifut_ring_mark(unsigned number)
{
	const litifut_interrupts masked = litifut_interrupts_off();

	if (!litifut_ring_put(LITIFUT_SPAN_MARK, number))
		litifut_pool.lost++;
	litifut_interrupts_restore(masked);
}

/* With interrupts off: the next event takes the place of the first one that has not been freed. */
static inline void litifut_ring_forget(void)
{
	litifut_pool.head = litifut_pool.limit == RING_NO_LIMIT ? 0 : litifut_ring_begin();
	litifut_pool.lost = litifut_pool.told;
	if (&litifut_kept)
		litifut_kept.head = litifut_pool.head;
}

/* The events before `position` have been sent. What was lost is told where there is room again:
 * behind all that came before. */
static inline void litifut_ring_free(uint32_t position)
{
	const litifut_interrupts masked = litifut_interrupts_off();
	const uint32_t lost = litifut_pool.lost - litifut_pool.told;
	const uint16_t told = lost < UINT16_MAX ? (uint16_t)lost : UINT16_MAX;

	litifut_pool.limit = position + litifut_pool.mask + 1;
	if (litifut_pool.limit == RING_NO_LIMIT) /* then one event is sent twice */
		litifut_pool.limit--;
	if (told && litifut_ring_put(LITIFUT_SPAN_LOST, told))
		litifut_pool.told += told;
	litifut_interrupts_restore(masked);
}

#endif
