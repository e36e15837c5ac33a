#include <string.h>

#include "node.h"

#define LIFETIME 3600
#define PRIORITY_SHIFT 7
#define LAST_BLOCK 8

static bool bundle_has(const struct bundle *bundle, uint32_t flag)
{
	return bundle->fields[FIELD_flags] & flag;
}

bool bundle_is_fragment(const struct bundle *bundle)
{
	return bundle_has(bundle, BUNDLE_FRAGMENT);
}

bool bundle_is_administrative(const struct bundle *bundle)
{
	return bundle_has(bundle, BUNDLE_ADMINISTRATIVE);
}

bool bundle_asks_custody(const struct bundle *bundle)
{
	return bundle_has(bundle, BUNDLE_CUSTODY);
}

bool bundle_asks_report(const struct bundle *bundle)
{
	return bundle_has(bundle, BUNDLE_REPORT_DELETION) && !bundle_is_administrative(bundle);
}

bool bundle_is_for_us(const struct bundle *bundle)
{
	return bundle->fields[FIELD_destination_node] == OWN_NODE;
}

static uint32_t bundle_dies(const struct bundle *bundle)
{
	return bundle->fields[FIELD_creation_time] + bundle->fields[FIELD_lifetime];
}

bool bundle_is_expired(const struct bundle *bundle)
{
	return bundle_dies(bundle) <= node_time();
}

uint8_t bundle_priority(const struct bundle *bundle)
{
	return bundle->fields[FIELD_flags] >> PRIORITY_SHIFT & 3;
}

bool bundle_is_acceptable(const struct bundle *bundle)
{
	return header_is_good(bundle) && !bundle_is_expired(bundle) && !bundle_is_fragment(bundle);
}

static void set_destination(struct bundle *bundle, uint16_t node, uint8_t service)
{
	bundle->fields[FIELD_destination_node] = node;
	bundle->fields[FIELD_destination_service] = service;
}

static void set_source(struct bundle *bundle, uint8_t service)
{
	bundle->fields[FIELD_source_node] = OWN_NODE;
	bundle->fields[FIELD_source_service] = service;
}

static void set_report(struct bundle *bundle)
{
	bundle->fields[FIELD_report_node] = OWN_NODE;
}

static void set_creation(struct bundle *bundle)
{
	static uint16_t number;

	bundle->fields[FIELD_creation_time] = node_time();
	bundle->fields[FIELD_creation_number] = number++;
	bundle->fields[FIELD_lifetime] = LIFETIME;
}

static void set_lengths(struct bundle *bundle)
{
	bundle->fields[FIELD_total_length] = PAYLOAD_BYTES;
	bundle->fields[FIELD_payload_flags] = LAST_BLOCK;
	bundle->fields[FIELD_payload_length] = PAYLOAD_BYTES;
}

/* The payload stays as it is. */
void bundle_make(struct bundle *bundle, uint16_t node, uint8_t service, uint32_t flags)
{
	memset(bundle->fields, 0, sizeof(bundle->fields));
	bundle->fields[FIELD_version] = 6;
	bundle->fields[FIELD_flags] = flags | 1 << PRIORITY_SHIFT;
	set_destination(bundle, node, service);
	set_source(bundle, service);
	set_report(bundle);
	set_creation(bundle);
	set_lengths(bundle);
	custody_accept(bundle);
}
