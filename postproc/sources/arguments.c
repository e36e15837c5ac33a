#include "postproc/sources/arguments.h"

/* Those of a string; false: they are not all there. */
static bool read_text(const struct post_call_arguments *arguments, uint32_t at, uint32_t head,
		      struct post_argument *argument)
{
	const uint32_t bytes = LITIFUT_STRING_BYTES(head);

	if (bytes > 4 * (arguments->count - at))
		return false;
	for (uint32_t i = 0; i < bytes; i++) {
		argument->text[i] = (char)(arguments->words[at + i / 4] >> 8 * (i % 4));
		if (!argument->text[i])
			return false;
	}
	argument->text[bytes] = 0;
	argument->text_bytes = bytes;
	argument->cut = LITIFUT_STRING_IS_CUT(head);
	return true;
}

bool post_argument_next(const struct post_call_arguments *arguments,
			struct post_argument_place *place, struct post_argument *argument)
{
	const uint32_t head = arguments->count ? arguments->words[0] : 0;
	const uint32_t count = LITIFUT_ARGUMENT_COUNT(head);
	const uint32_t first = 1 + (count + 3) / 4;

	if (head != (LITIFUT_ARGUMENT_HEAD(count) | (head & 0xfffff00)) ||
	    count > LITIFUT_ARGUMENT_FIELDS || place->field >= count)
		return false;
	if (place->word < first)
		place->word = first;
	if (place->word >= arguments->count || !arguments->words[place->word])
		return false;
	const uint32_t field =
		arguments->words[1 + place->field / 4] >> 8 * (place->field % 4) & 0xff;
	const uint32_t word = arguments->words[place->word++];

	argument->type = LITIFUT_ARGUMENT_TYPE(field);
	argument->number = LITIFUT_ARGUMENT_NUMBER(field);
	argument->value = LITIFUT_ARGUMENT_IS_ZERO(head, place->field) ? 0 : word;
	argument->cut = false;
	argument->text_bytes = 0;
	argument->text[0] = 0;
	place->field++;
	if (!argument->type)
		return false;
	if (argument->type == LITIFUT_ARGUMENT_STRING) {
		if (!read_text(arguments, place->word, word, argument))
			return false;
		place->word += (argument->text_bytes + 3) / 4;
	}
	return true;
}
