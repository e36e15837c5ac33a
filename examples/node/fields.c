/* The fields of a header, each with a function that writes and one that reads it. */
#include "node.h"

#define FIELD(number, name)                                                                        \
	static bool __attribute__((noinline))                                                      \
	append_##name(struct buffer *buffer, const struct bundle *bundle)                          \
	{                                                                                          \
		return number_append(buffer, bundle->fields[number]);                              \
	}                                                                                          \
	static bool __attribute__((noinline))                                                      \
	take_##name(const struct buffer *buffer, uint8_t *at, struct bundle *bundle)               \
	{                                                                                          \
		return number_take(buffer, at, &bundle->fields[number]);                           \
	}
#define ALL(FIELD)                                                                                 \
	FIELD(0, version)                                                                          \
	FIELD(1, flags)                                                                            \
	FIELD(2, header_length)                                                                    \
	FIELD(3, destination_node)                                                                 \
	FIELD(4, destination_service)                                                              \
	FIELD(5, source_node)                                                                      \
	FIELD(6, source_service)                                                                   \
	FIELD(7, report_node)                                                                      \
	FIELD(8, report_service)                                                                   \
	FIELD(9, custodian_node)                                                                   \
	FIELD(10, custodian_service)                                                               \
	FIELD(11, creation_time)                                                                   \
	FIELD(12, creation_number)                                                                 \
	FIELD(13, lifetime)                                                                        \
	FIELD(14, dictionary_length)                                                               \
	FIELD(15, fragment_offset)                                                                 \
	FIELD(16, total_length)                                                                    \
	FIELD(17, payload_flags)                                                                   \
	FIELD(18, payload_length)

ALL(FIELD)

#define APPEND(number, name) append_##name(buffer, bundle) &&
#define TAKE(number, name) take_##name(buffer, at, bundle) &&

bool header_append(struct buffer *buffer, const struct bundle *bundle)
{
	return ALL(APPEND) true;
}

bool header_take(const struct buffer *buffer, uint8_t *at, struct bundle *bundle)
{
	return ALL(TAKE) true;
}
