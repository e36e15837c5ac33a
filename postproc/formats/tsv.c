/* tsv: the stable machine format. New columns only at the end. */
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/formats/text.h"

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
static void write_return(struct post_output *output, const struct post_timeline_event *event)
{
	char *columns =
		make_columns(output->session, &output->session->calls[event->site], "return");

	fputs(columns, output->file);
	free(columns);
}

static void start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct post_call_texts));
	fputs("pid\ttid\tseq\tsite_module\tsite_offset\tcaller\tcaller_offset\tcallee_module\t"
	      "callee_offset\tcallee\tkind\tplt\targuments\n",
	      output->file);
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;

	bool result = post_event_is_result(event);

	if (!post_event_is_call(event) && !result)
		return;
	post_write_number(output->file, post_event_process(output, event)->trace->header.pid);
	putc_unlocked('\t', output->file);
	post_write_number(output->file, post_event_thread(output, event)->id);
	putc_unlocked('\t', output->file);
	post_write_number(output->file, result ? post_event_sequence(output, event) : event->value);
	if (result)
		write_return(output, event);
	else
		post_call_texts_write(output->state, output->file, output->session, event->site,
				      make_tail);
	if (event->arguments) {
		putc_unlocked('{', output->file);
		post_write_json_arguments(output->file, output->session, event, true);
		putc_unlocked('}', output->file);
	}
	putc_unlocked('\n', output->file);
}

static void finish(struct post_output *output)
{
	post_call_texts_release(output->state);
	free(output->state);
}

const struct post_format post_format_tsv = {
	.name = "tsv",
	.summary = "one line a call in tab-separated columns, for other programs",
	.start = start,
	.event = event,
	.results = true,
	.finish = finish,
};
