/* Text that grows, and the few ways in which all formats write a name. */
#ifndef LITIFUT_POSTPROC_FORMATS_TEXT_H
#define LITIFUT_POSTPROC_FORMATS_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "postproc/model/session.h"
#include "postproc/sources/arguments.h"
#include "postproc/timeline/event.h"

/* All zero is an empty text. */
struct post_text {
	char *bytes; /* NUL-terminated once something was added */
	size_t length, capacity;
};

void post_text_add(struct post_text *text, const char *more);
void post_text_format(struct post_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Gives the bytes to the caller, who frees them, and empties the text. */
char *post_text_take(struct post_text *text);

/* The callee of a call: its name, and +0xOFFSET when the call does not lead to
 * its start (a PLT entry has two starts). */
void post_text_add_callee(struct post_text *text, const struct post_session *session,
			  const struct post_call *call);

/* The same for people: the veneer in front where it was asked for, and the
 * module behind, with a '?' where the function behind a PLT entry is a guess. */
void post_text_add_target(struct post_text *text, const struct post_session *session,
			  const struct post_call *call);

/* The name of an argument of a call or return: that of the source, argN where that is not known,
 * or `returned`. `name` is room for argN. */
const char *post_argument_name(struct post_session *session,
			       const struct post_timeline_event *event,
			       const struct post_argument *argument, char name[16]);

/* Its value for people: a number, a text with quotes and escapes, on one line. */
void post_text_add_argument(struct post_text *text, const struct post_argument *argument);

/* All of an event, " (flags=1, arg1="text")"; nothing if there are none. */
void post_write_arguments(FILE *file, struct post_session *session,
			  const struct post_timeline_event *event);

/* Writes them as members of a JSON object; `first`: no other member stands before. */
void post_write_json_arguments(FILE *file, struct post_session *session,
			       const struct post_timeline_event *event, bool first);

struct post_output;

/* Notes once, where `size` bytes of output are more than a text of a browser may have, how it gets
 * smaller; `smaller` is a way of this format (NULL: it has none). To be called before the output is
 * whole, so that the user can stop in time. */
void post_note_large_text(struct post_output *output, off_t size, const char *smaller);

/* Collects the short pieces of which lines consist, and hands them to the file in long ones: a call
 * of fwrite() for each piece takes most of the time of an output with a line for each call. What is
 * written to the file in another way has to come behind post_pieces_file(). */
struct post_pieces {
	FILE *file;
	size_t used;
	char bytes[1 << 15];
};

/* What was collected is in the file then, which is returned. */
FILE *post_pieces_file(struct post_pieces *pieces);

void post_pieces_add(struct post_pieces *pieces, const char *bytes, size_t length);
void post_pieces_add_letter(struct post_pieces *pieces, char letter);

/* In decimal. */
void post_pieces_add_number(struct post_pieces *pieces, uint64_t value);

/* Texts that are made once for each call, by number. All zero is empty. */
struct post_call_texts {
	struct post_call_text {
		char *bytes; /* NULL: not made yet */
		size_t length;
	} * items;
	size_t count;
};

/* Adds the text of a call, which `make` makes the first time. */
void post_call_texts_write(struct post_call_texts *texts, struct post_pieces *pieces,
			   const struct post_session *session, uint32_t call,
			   char *(*make)(const struct post_session *, const struct post_call *));

void post_call_texts_release(struct post_call_texts *texts);

/* Writes a string as JSON does, with its quotes. Bytes that are not UTF-8
 * become U+FFFD. The text may stand in a script element of a page. */
void post_write_json_text(FILE *file, const char *text);

#endif
