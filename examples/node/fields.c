/* Each field of a header has a function that measures, one that writes, one that reads and one
 * that checks it. */
#include "node.h"

#define FUNCTIONS(name, least, most)                                                               \
	static uint8_t bytes_of_##name(const struct bundle *bundle)                                \
	{                                                                                          \
		return number_bytes(bundle->fields[FIELD_##name]);                                 \
	}                                                                                          \
	static bool append_##name(struct encoder *encoder, const struct bundle *bundle)            \
	{                                                                                          \
		return encoder_append(encoder, bundle->fields[FIELD_##name]);                      \
	}                                                                                          \
	static bool take_##name(struct decoder *decoder, struct bundle *bundle)                    \
	{                                                                                          \
		return decoder_take(decoder, &bundle->fields[FIELD_##name]);                       \
	}                                                                                          \
	static bool is_good_##name(const struct bundle *bundle)                                    \
	{                                                                                          \
		return is_between(bundle->fields[FIELD_##name], least, most);                      \
	}

#define BYTES(name, least, most) bytes_of_##name(bundle) +
#define APPEND(name, least, most) append_##name(encoder, bundle) &&
#define TAKE(name, least, most) take_##name(decoder, bundle) &&
#define IS_GOOD(name, least, most) is_good_##name(bundle) &&

static bool is_between(uint32_t number, uint32_t least, uint32_t most)
{
	return number >= least && number <= most;
}

ALL_FIELDS(FUNCTIONS)

uint8_t header_bytes(const struct bundle *bundle)
{
	return ALL_FIELDS(BYTES) 0;
}

bool header_append(struct encoder *encoder, const struct bundle *bundle)
{
	return ALL_FIELDS(APPEND) true;
}

bool header_take(struct decoder *decoder, struct bundle *bundle)
{
	return ALL_FIELDS(TAKE) true;
}

bool header_is_good(const struct bundle *bundle)
{
	return ALL_FIELDS(IS_GOOD) true;
}
