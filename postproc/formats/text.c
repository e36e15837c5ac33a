/* Text helpers of the output formats. */
#include "postproc/formats/text.h"

#include "postproc/formats/format.h"
#include "postproc/model/parameters.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* JavaScript of V8 has no longer ones: 2^29 - 24 letters. */
#define LARGEST_TEXT ((off_t)((UINT32_C(1) << 29) - 24))

static void reserve(struct post_text *text, size_t more)
{
	if (text->length + more + 1 <= text->capacity)
		return;
	text->capacity = (text->length + more + 1) * 2;
	text->bytes = post_reallocate(text->bytes, text->capacity, 1);
}

void post_text_add(struct post_text *text, const char *more)
{
	size_t length = strlen(more);

	reserve(text, length);
	memcpy(text->bytes + text->length, more, length + 1);
	text->length += length;
}

void post_text_format(struct post_text *text, const char *format, ...)
{
	va_list arguments, again;

	va_start(arguments, format);
	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, arguments);
	if (length > 0) {
		reserve(text, (size_t)length);
		vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
		text->length += (size_t)length;
	}
	va_end(again);
	va_end(arguments);
}

char *post_text_take(struct post_text *text)
{
	char *bytes = text->bytes ? text->bytes : post_copy_text("");

	*text = (struct post_text){0};
	return bytes;
}

void post_text_add_callee(struct post_text *text, const struct post_session *session,
			  const struct post_call *call)
{
	const struct post_function *callee = &session->functions[call->callee];

	post_text_add(text, callee->name);
	if (callee->symbol && !callee->plt && call->callee_offset)
		post_text_format(text, "+0x%x", call->callee_offset);
}

void post_text_add_target(struct post_text *text, const struct post_session *session,
			  const struct post_call *call)
{
	if (session->options.veneers && call->veneer != POST_NONE)
		post_text_format(text, "%s -> ", session->functions[call->veneer].name);
	post_text_add_callee(text, session, call);
	post_text_format(text, " [%s%s]",
			 session->modules[session->functions[call->callee].module].name,
			 call->plt == POST_PLT_GUESSED ? "?" : "");
}

FILE *post_pieces_file(struct post_pieces *pieces)
{
	fwrite_unlocked(pieces->bytes, 1, pieces->used, pieces->file);
	pieces->used = 0;
	return pieces->file;
}

void post_pieces_add(struct post_pieces *pieces, const char *bytes, size_t length)
{
	if (length > sizeof(pieces->bytes) - pieces->used)
		post_pieces_file(pieces);
	if (length > sizeof(pieces->bytes)) {
		fwrite_unlocked(bytes, 1, length, pieces->file);
		return;
	}
	memcpy(pieces->bytes + pieces->used, bytes, length);
	pieces->used += length;
}

void post_pieces_add_letter(struct post_pieces *pieces, char letter)
{
	if (pieces->used == sizeof(pieces->bytes))
		post_pieces_file(pieces);
	pieces->bytes[pieces->used++] = letter;
}

void post_pieces_add_number(struct post_pieces *pieces, uint64_t value)
{
	char digits[20], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	post_pieces_add(pieces, at, (size_t)(digits + sizeof(digits) - at));
}

void post_call_texts_write(struct post_call_texts *texts, struct post_pieces *pieces,
			   const struct post_session *session, uint32_t call,
			   char *(*make)(const struct post_session *, const struct post_call *))
{
	if (call >= texts->count) {
		size_t count = session->call_count;
		texts->items = post_reallocate(texts->items, count, sizeof(*texts->items));
		memset(texts->items + texts->count, 0,
		       (count - texts->count) * sizeof(*texts->items));
		texts->count = count;
	}
	struct post_call_text *text = &texts->items[call];
	if (!text->bytes) {
		text->bytes = make(session, &session->calls[call]);
		text->length = strlen(text->bytes);
	}
	post_pieces_add(pieces, text->bytes, text->length);
}

void post_call_texts_release(struct post_call_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i].bytes);
	free(texts->items);
	*texts = (struct post_call_texts){0};
}

/* Length of the well-formed UTF-8 character at `at`, 0 when there is none. */
static unsigned character_bytes(const unsigned char *at)
{
	unsigned more = at[0] < 0x80 ? 0 : at[0] >= 0xf0 ? 3 : at[0] >= 0xe0 ? 2 : 1;
	static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
	uint32_t value = more ? at[0] & (0x3fu >> more) : at[0];

	if ((at[0] >= 0x80 && at[0] < 0xc2) || at[0] > 0xf4)
		return 0;
	for (unsigned i = 1; i <= more; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (at[i] & 0x3f);
	}
	if (value < smallest[more] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	return more + 1;
}

/* In the script element of a page, a tag or a comment would end the object. */
static bool ends_script(const unsigned char *at)
{
	return *at == '<' &&
	       (at[1] == '/' || at[1] == '!' || !strncasecmp((const char *)at + 1, "script", 6));
}

void post_write_json_text(FILE *file, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	putc('"', file);
	while (*at) {
		unsigned bytes = character_bytes(at);
		if (!bytes) {
			fputs("\\ufffd", file);
			at++;
		} else if (*at == '"' || *at == '\\') {
			putc('\\', file);
			putc(*at++, file);
		} else if (*at < 0x20 || ends_script(at)) {
			fprintf(file, "\\u%04x", *at++);
		} else {
			fwrite(at, 1, bytes, file);
			at += bytes;
		}
	}
	putc('"', file);
}

const char *post_argument_name(struct post_session *session,
			       const struct post_timeline_event *event,
			       const struct post_argument *argument, char name[16])
{
	const char *known;

	if (argument->number == LITIFUT_ARGUMENT_RETURN)
		return "returned";
	known = post_parameter_name(session, event->callee, event->site, argument->number);
	snprintf(name, 16, "arg%u", argument->number);
	/* other members of the same JSON object, and of a slice */
	if (known && strcmp(known, "site") != 0 && strcmp(known, "returned") != 0)
		return known;
	return name;
}

static void add_quoted(struct post_text *text, const struct post_argument *argument)
{
	const unsigned char *at = (const unsigned char *)argument->text;

	post_text_add(text, "\"");
	while (*at) {
		const unsigned bytes = *at >= 0x80 ? character_bytes(at) : 1;

		if (*at == '"' || *at == '\\')
			post_text_format(text, "\\%c", *at);
		else if (*at == '\n' || *at == '\t')
			post_text_add(text, *at == '\n' ? "\\n" : "\\t");
		else if (*at < 0x20 || *at == 0x7f || !bytes)
			post_text_format(text, "\\x%02x", *at);
		else
			post_text_format(text, "%.*s", (int)bytes, (const char *)at);
		at += bytes ? bytes : 1;
	}
	post_text_add(text, argument->cut ? "\"..." : "\"");
}

void post_text_add_argument(struct post_text *text, const struct post_argument *argument)
{
	const uint32_t value = argument->value;

	switch (argument->type) {
	case LITIFUT_ARGUMENT_STRING:
		add_quoted(text, argument);
		return;
	case LITIFUT_ARGUMENT_SIGNED:
		post_text_format(text, "%d", (int32_t)value);
		return;
	case LITIFUT_ARGUMENT_UNSIGNED:
		post_text_format(text, "%u", value);
		return;
	case LITIFUT_ARGUMENT_PLAIN: /* an error number, a size, or else an address */
		if (value + 4096u < 65536u + 4096u) {
			post_text_format(text, "%d", (int32_t)value);
			return;
		}
	}
	post_text_format(text, "0x%x", value);
}

static void add_arguments(struct post_text *text, struct post_session *session,
			  const struct post_timeline_event *event, const char *before,
			  const char *behind)
{
	struct post_argument_place place = {0};
	struct post_argument argument;
	char name[16];
	bool some = false;

	while (post_argument_next(event->arguments, &place, &argument)) {
		post_text_format(text, "%s%s=", some ? ", " : before,
				 post_argument_name(session, event, &argument, name));
		post_text_add_argument(text, &argument);
		some = true;
	}
	post_text_add(text, some ? behind : "");
}

void post_write_arguments(FILE *file, struct post_session *session,
			  const struct post_timeline_event *event)
{
	struct post_text text = {0};

	if (!event->arguments)
		return;
	add_arguments(&text, session, event, " (", ")");
	fputs(text.bytes ? text.bytes : "", file);
	free(text.bytes);
}

void post_write_json_arguments(FILE *file, struct post_session *session,
			       const struct post_timeline_event *event, bool first)
{
	struct post_argument_place place = {0};
	struct post_argument argument;
	char name[16];

	while (event->arguments && post_argument_next(event->arguments, &place, &argument)) {
		struct post_text text = {0};

		if (!first)
			putc(',', file);
		post_write_json_text(file, post_argument_name(session, event, &argument, name));
		putc(':', file);
		first = false;
		if (argument.type == LITIFUT_ARGUMENT_STRING)
			post_text_format(&text, "%s%s", argument.text, argument.cut ? "..." : "");
		else
			post_text_add_argument(&text, &argument);
		/* numbers as they are, but not in hex */
		if (argument.type != LITIFUT_ARGUMENT_STRING && strncmp(text.bytes, "0x", 2) != 0)
			fputs(text.bytes, file);
		else
			post_write_json_text(file, text.bytes ? text.bytes : "");
		free(text.bytes);
	}
}

void post_note_large_text(struct post_output *output, off_t size, const char *smaller)
{
	if (size <= LARGEST_TEXT || output->large_noted)
		return;
	output->large_noted = true;
	post_note_at(
		output->session->problems, NULL, LITIFUT_NO_ADDRESS,
		"the output will have %u MB or more, and a viewer in a browser may not open more "
		"than %u MB: --from and --to, --depth or --below leave out a part%s%s",
		(unsigned)(size / 1000000), (unsigned)(LARGEST_TEXT / 1000000), smaller ? ", " : "",
		smaller ? smaller : "");
}
