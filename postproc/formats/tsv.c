/* tsv: the stable machine format. New columns only at the end. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/formats/text.h"

/* Process, thread and number of the last event, as text: the next one mostly differs by one. */
struct row_start {
	char text[64];
	size_t length; /* 0: there was none */
	uint32_t lane;
	uint64_t sequence;
};

struct state {
	struct post_call_texts texts;
	struct post_pieces pieces;
	struct row_start start;
};

/* Adds one to the number at the end of a text, unless that takes one digit more. */
static bool add_one(char *last)
{
	for (; *last == '9'; last--)
		*last = '0';
	if (*last < '0' || *last > '9')
		return false;
	++*last;
	return true;
}

static void add_row_start(const struct post_output *output, const struct post_timeline_event *event,
			  uint64_t sequence)
{
	struct state *state = output->state;
	struct row_start *row = &state->start;

	if (!row->length || event->lane != row->lane || sequence != row->sequence + 1 ||
	    !add_one(row->text + row->length - 1))
		row->length = (size_t)snprintf(row->text, sizeof(row->text),
					       "%" PRIu32 "\t%" PRIu32 "\t%" PRIu64,
					       post_event_process(output, event)->trace->header.pid,
					       post_event_thread(output, event)->id, sequence);
	row->lane = event->lane;
	row->sequence = sequence;
	post_pieces_add(&state->pieces, row->text, row->length);
}

/* A tab or line break in a name (a damaged file) must not make a column. */
static void add_name(struct post_text *text, const char *name)
{
	size_t start = text->length;

	post_text_add(text, name);
	for (char *at = text->bytes + start; *at; at++) {
		if (*at == '\t' || *at == '\n' || *at == '\r')
			*at = ' ';
	}
}

/* All columns after the sequence number but for the arguments: the same for every event of a call.
 */
static char *make_columns(const struct post_session *session, const struct post_call *call,
			  const char *kind)
{
	struct post_text text = {0}, callee = {0};

	post_text_add(&text, "\t");
	add_name(&text, session->modules[call->site_module].name);
	post_text_format(&text, "\t0x%x\t", call->site_address);
	add_name(&text, session->functions[call->caller].name);
	post_text_format(&text, "\t0x%x\t", call->caller_offset);
	add_name(&text, session->modules[call->callee_module].name);
	post_text_format(&text, "\t0x%x\t", call->callee_address);
	post_text_add_callee(&callee, session, call);
	char *name = post_text_take(&callee);
	add_name(&text, name);
	free(name);
	static const char *const through[] = {"", "plt", "plt", "plt?"};
	post_text_format(&text, "\t%s\t%s\t", kind, through[call->plt]);
	return post_text_take(&text);
}

static char *make_tail(const struct post_session *session, const struct post_call *call)
{
	return make_columns(session, call, call->tail ? "tail" : "call");
}

/* What it has returned is in the column of the arguments, the rest is as in the row of the call. */
static void write_return(const struct post_output *output, const struct post_timeline_event *event)
{
	struct state *state = output->state;
	char *columns =
		make_columns(output->session, &output->session->calls[event->site], "return");

	post_pieces_add(&state->pieces, columns, strlen(columns));
	free(columns);
}

static void start(struct post_output *output)
{
	struct state *state = post_allocate(1, sizeof(*state));

	state->pieces.file = output->file;
	output->state = state;
	fputs("pid\ttid\tseq\tsite_module\tsite_offset\tcaller\tcaller_offset\tcallee_module\t"
	      "callee_offset\tcallee\tkind\tplt\targuments\n",
	      output->file);
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct state *state = output->state;
	struct post_pieces *pieces = &state->pieces;
	bool result = post_event_is_result(event);

	if (!post_event_is_call(event) && !result)
		return;
	add_row_start(output, event, result ? post_event_sequence(output, event) : event->value);
	if (result)
		write_return(output, event);
	else
		post_call_texts_write(&state->texts, pieces, output->session, event->site,
				      make_tail);
	if (event->arguments) {
		post_pieces_add_letter(pieces, '{');
		post_write_json_arguments(post_pieces_file(pieces), output->session, event, true);
		post_pieces_add_letter(pieces, '}');
	}
	post_pieces_add_letter(pieces, '\n');
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	post_pieces_file(&state->pieces);
	post_call_texts_release(&state->texts);
	free(state);
}

const struct post_format post_format_tsv = {
	.name = "tsv",
	.summary = "one line a call in tab-separated columns, for other programs",
	.start = start,
	.event = event,
	.results = true,
	.finish = finish,
};
