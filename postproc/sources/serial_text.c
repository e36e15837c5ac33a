#include "postproc/sources/serial_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The longest word that can be a byte: 0b01000001. */
#define WORD_BYTES 10
#define LAST_FIELD SIZE_MAX

/* How a word says which byte it is. */
enum word_kind { WORD_NONE, WORD_MARKED, WORD_TWO_DIGITS, WORD_DECIMAL };

struct span {
	const uint8_t *start, *end;
};

static bool has_only(const uint8_t *text, size_t size, bool (*allowed)(int character))
{
	for (size_t i = 0; i < size; i++)
		if (!allowed(text[i]))
			return false;
	return true;
}

static bool is_digit_or_space(int character)
{
	return isxdigit(character) || isspace(character);
}

static bool is_text(int character)
{
	return isprint(character) || isspace(character) || character >= 0x80;
}

static unsigned nibble(int character)
{
	return (unsigned)(isdigit(character) ? character - '0' : tolower(character) - 'a' + 10);
}

/* What is on the left of each place that is written has been read. */
static void from_digits(uint8_t *text, size_t *size)
{
	size_t digits = 0;

	for (size_t i = 0; i < *size; i++) {
		unsigned digit;

		if (isspace(text[i]))
			continue;
		digit = nibble(text[i]);
		text[digits / 2] = (uint8_t)(digits % 2 ? text[digits / 2] << 4 | digit : digit);
		digits++;
	}
	*size = digits / 2;
}

static bool next_row(struct span *rest, struct span *row)
{
	if (rest->start == rest->end)
		return false;
	row->start = row->end = rest->start;
	while (row->end != rest->end && *row->end != '\n')
		row->end++;
	rest->start = row->end + (row->end != rest->end);
	return true;
}

static bool is_separator(int character)
{
	return character == ',' || character == ';' || character == '\t';
}

static bool next_field(struct span *rest, struct span *field)
{
	if (!rest->start)
		return false;
	field->start = field->end = rest->start;
	while (field->end != rest->end && !is_separator(*field->end))
		field->end++;
	rest->start = field->end == rest->end ? NULL : field->end + 1;
	while (field->start != field->end && (isspace(*field->start) || *field->start == '"'))
		field->start++;
	while (field->start != field->end && (isspace(field->end[-1]) || field->end[-1] == '"'))
		field->end--;
	return true;
}

/* The field of that number, or the last one that is not empty. */
static struct span field_of(struct span row, size_t number)
{
	struct span field, last = {row.end, row.end};

	for (size_t i = 0; next_field(&row, &field); i++) {
		if (i == number)
			return field;
		if (number == LAST_FIELD && field.start != field.end)
			last = field;
	}
	return last;
}

static size_t column_of(struct span row)
{
	struct span field;

	for (size_t i = 0; next_field(&row, &field); i++) {
		size_t length = (size_t)(field.end - field.start);
		const char *name = (const char *)field.start;

		if ((length == 4 && !strncasecmp(name, "data", 4)) ||
		    (length == 5 && !strncasecmp(name, "value", 5)))
			return i;
	}
	return LAST_FIELD;
}

/* *value receives the byte. Of two digits it is the hexadecimal one, and *decimal receives the
 * other reading, 256 if there is none. */
static enum word_kind read_word(struct span field, unsigned *value, unsigned *decimal)
{
	const uint8_t *start = field.end;
	char word[WORD_BYTES + 1] = {0};
	char *end;
	size_t length;

	while (start != field.start && !isspace(start[-1]) && start[-1] != ':')
		start--;
	length = (size_t)(field.end - start);
	if (!length || length > WORD_BYTES)
		return WORD_NONE;
	memcpy(word, start, length);
	if ((word[0] == '0' && tolower((unsigned char)word[1]) == 'x') || word[0] == 'h' ||
	    (word[0] == '0' && tolower((unsigned char)word[1]) == 'b' && length > 2)) {
		unsigned mark = word[0] == 'h' ? 1 : 2;
		bool binary = tolower((unsigned char)word[mark - 1]) == 'b';

		if (!isxdigit((unsigned char)word[mark]))
			return WORD_NONE;
		*value = (unsigned)strtoul(word + mark, &end, binary ? 2 : 16);
		return *end || *value > 255 ? WORD_NONE : WORD_MARKED;
	}
	if (!isxdigit((unsigned char)word[0]))
		return WORD_NONE;
	*decimal = (unsigned)strtoul(word, &end, 10);
	if (*end || *decimal > 255)
		*decimal = 256;
	*value = (unsigned)strtoul(word, &end, 16);
	if (length == 2 && !*end)
		return WORD_TWO_DIGITS;
	return *decimal > 255 ? WORD_NONE : WORD_DECIMAL;
}

bool post_serial_text(uint8_t *text, size_t *size, size_t *left_out)
{
	struct span rest = {text, text + *size}, row;
	size_t column, rows = 0, bytes = 0, made = 0;
	bool decimal_only = false;

	*left_out = 0;
	if (has_only(text, *size, is_digit_or_space)) {
		from_digits(text, size);
		return true;
	}
	if (!has_only(text, *size, is_text) || !next_row(&rest, &row))
		return false;
	column = column_of(row);
	for (struct span all = {text, text + *size}; next_row(&all, &row); rows++) {
		unsigned value, decimal;
		enum word_kind kind = read_word(field_of(row, column), &value, &decimal);

		bytes += kind != WORD_NONE;
		decimal_only |= kind == WORD_DECIMAL;
		*left_out += kind == WORD_NONE && rows;
	}
	if (bytes <= *left_out)
		return false;
	for (struct span all = {text, text + *size}; next_row(&all, &row);) {
		unsigned value, decimal;
		enum word_kind kind = read_word(field_of(row, column), &value, &decimal);

		if (kind == WORD_DECIMAL || (kind == WORD_TWO_DIGITS && decimal_only))
			value = decimal;
		if (kind != WORD_NONE && value <= 255)
			text[made++] = (uint8_t)value;
	}
	*size = made;
	return true;
}
