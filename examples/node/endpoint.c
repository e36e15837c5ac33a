/* The services of this node. */
#include <stddef.h>

#include "node.h"

#define ENDPOINTS 4

static struct endpoint {
	uint8_t service;
	endpoint_handler *handler;
} endpoints[ENDPOINTS];

static bool endpoint_is_free(const struct endpoint *endpoint)
{
	return !endpoint->handler;
}

static struct endpoint *endpoint_find(uint8_t service)
{
	for (uint8_t i = 0; i < ENDPOINTS; i++)
		if (!endpoint_is_free(&endpoints[i]) && endpoints[i].service == service)
			return &endpoints[i];
	return NULL;
}

bool endpoint_register(uint8_t service, endpoint_handler *handler)
{
	for (uint8_t i = 0; i < ENDPOINTS; i++)
		if (endpoint_is_free(&endpoints[i])) {
			endpoints[i] = (struct endpoint){service, handler};
			return true;
		}
	return false;
}

bool endpoint_deliver(const struct bundle *bundle)
{
	const struct endpoint *endpoint =
		endpoint_find((uint8_t)bundle->fields[FIELD_destination_service]);

	if (!endpoint)
		return false;
	endpoint->handler(bundle);
	return true;
}
