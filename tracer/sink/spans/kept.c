/* A ring of events that outlasts a reset, see <litifut/kept_format.h>. The events of the run before
 * stand in it as if this run had recorded them, until newer ones replace them: the ring has no
 * limit, but while it is sent. */
#include <ring.h>

/* Not an address but a number. */
extern HIDDEN char litifut_kept_events[];

HIDDEN void litifut_clock_start(void);
HIDDEN void litifut_kept_begin(void);

/* Position of the first event that has not been sent in this run. */
static uint32_t litifut_kept_sent;

/* It stands at a multiple of 4. */
static const uint32_t *litifut_kept_hash(void)
{
	return (const uint32_t *)(const void *)litifut_identity.hash;
}

static bool litifut_kept_is_good(void)
{
	const uint32_t *hash = litifut_kept_hash();

	return litifut_kept.magic == LITIFUT_KEPT_MAGIC &&
	       litifut_kept.events == (uint32_t)(uintptr_t)litifut_kept_events &&
	       litifut_kept.hash[0] == hash[0] && litifut_kept.hash[1] == hash[1] &&
	       litifut_kept.check == litifut_kept_check(&litifut_kept);
}

/* At the first call of a run, or when it sends before that; interrupts are off. */
void litifut_kept_begin(void)
{
	volatile struct ring_event *event;

	if (!litifut_pool.mask) {
		const bool good = litifut_kept_is_good();

		litifut_pool.mask = (uint32_t)(uintptr_t)litifut_kept_events - 1;
		litifut_pool.limit = RING_NO_LIMIT;
		if (good) {
			litifut_pool.head = litifut_kept.head;
			event = litifut_ring_at(litifut_pool.head);
			event->time = 0;
			event->value = (uint16_t)++litifut_kept.resets;
			event->number = LITIFUT_SPAN_RESET;
			litifut_pool.head++;
		} else {
			litifut_kept.magic = LITIFUT_KEPT_MAGIC;
			litifut_kept.hash[0] = litifut_kept_hash()[0];
			litifut_kept.hash[1] = litifut_kept_hash()[1];
			litifut_kept.events = litifut_pool.mask + 1;
			litifut_kept.resets = 0;
			litifut_kept.check = litifut_kept_check(&litifut_kept);
		}
		litifut_kept.head = litifut_pool.head;
	}
	litifut_clock_start();
}

void litifut_kept_hold(void)
{
	const litifut_interrupts masked = litifut_interrupts_off();

	if (!litifut_pool.mask)
		litifut_kept_begin();
	const uint32_t events = litifut_pool.mask + 1;
	uint32_t begin = litifut_pool.head > events ? litifut_pool.head - events : 0;

	if ((int32_t)(litifut_kept_sent - begin) > 0)
		begin = litifut_kept_sent;
	litifut_pool.limit = begin + events;
	litifut_interrupts_restore(masked);
}

void litifut_kept_go_on(void)
{
	const litifut_interrupts masked = litifut_interrupts_off();

	litifut_kept_sent = litifut_ring_begin();
	litifut_pool.limit = RING_NO_LIMIT;
	litifut_interrupts_restore(masked);
}
