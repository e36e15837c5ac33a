#include <string.h>

#include "node.h"

#define SLOTS 4

static struct slot slots[SLOTS];

static bool slot_is_free(const struct slot *slot)
{
	return memory_is_empty(&slot->memory);
}

static bool slot_is_due(const struct slot *slot)
{
	return !slot_is_free(slot) && (int16_t)(board_seconds() - slot->next_try) >= 0;
}

static bool slot_is_expired(const struct slot *slot)
{
	return !slot_is_free(slot) && slot->dies <= node_time();
}

static void slot_clear(struct slot *slot)
{
	memory_give_back(&slot->memory);
	memset(slot, 0, sizeof(*slot));
}

static void slot_drop(struct slot *slot)
{
	report_deletion(slot);
	slot_clear(slot);
}

static struct slot *store_find_free(void)
{
	for (uint8_t i = 0; i < SLOTS; i++)
		if (slot_is_free(&slots[i]))
			return &slots[i];
	return NULL;
}

/* The one that has failed most. */
static struct slot *store_find_worst(void)
{
	struct slot *worst = slots;

	for (uint8_t i = 1; i < SLOTS; i++)
		if (slots[i].failures > worst->failures)
			worst = &slots[i];
	return worst;
}

static struct slot *store_make_room(void)
{
	struct slot *slot = store_find_free();

	if (slot)
		return slot;
	slot = store_find_worst();
	statistics_count(FAILED);
	slot_drop(slot);
	return slot;
}

static void slot_describe(struct slot *slot, const struct bundle *bundle)
{
	slot->destination = (uint16_t)bundle->fields[FIELD_destination_node];
	slot->flags = bundle->fields[FIELD_flags];
	slot->dies = bundle->fields[FIELD_creation_time] + bundle->fields[FIELD_lifetime];
	slot->next_try = board_seconds();
}

struct slot *store_put(struct bundle *bundle)
{
	struct slot *slot = store_make_room();

	if (!bundle_encode(bundle, &slot->memory))
		return NULL;
	slot_describe(slot, bundle);
	return slot;
}

struct slot *store_next(void)
{
	for (uint8_t i = 0; i < SLOTS; i++)
		if (slot_is_due(&slots[i]))
			return &slots[i];
	return NULL;
}

void store_sent(struct slot *slot)
{
	statistics_count(SENT);
	slot_clear(slot);
}

void store_failed(struct slot *slot)
{
	slot->failures++;
	slot->next_try = board_seconds() + custody_wait(slot);
	if (!custody_ends(slot))
		return;
	statistics_count(FAILED);
	slot_drop(slot);
}

uint8_t store_count(void)
{
	uint8_t count = 0;

	for (uint8_t i = 0; i < SLOTS; i++)
		count += !slot_is_free(&slots[i]);
	return count;
}

void store_expire(void)
{
	for (uint8_t i = 0; i < SLOTS; i++)
		if (slot_is_expired(&slots[i])) {
			statistics_count(EXPIRED);
			slot_drop(&slots[i]);
		}
}
