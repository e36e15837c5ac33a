/* tsv: the stable machine format. New columns only at the end. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/text.h"

struct state {
	char **tails; /* by number of the call: all columns after the sequence number */
	size_t count;
};

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

static char *make_tail(const struct post_session *session, const struct post_call *call)
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
	post_text_format(&text, "\t%s\n", call->tail ? "tail" : "call");
	return post_text_take(&text);
}

static void start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct state));
	fputs("pid\ttid\tseq\tsite_module\tsite_offset\tcaller\tcaller_offset\tcallee_module\t"
	      "callee_offset\tcallee\tkind\n",
	      output->file);
}

static void event(struct post_output *output, const struct post_event *event)
{
	struct state *state = output->state;
	const struct post_session *session = output->session;

	if (event->call >= state->count) {
		size_t count = session->call_count;
		state->tails = post_reallocate(state->tails, count, sizeof(*state->tails));
		memset(state->tails + state->count, 0,
		       (count - state->count) * sizeof(*state->tails));
		state->count = count;
	}
	char **tail = &state->tails[event->call];
	if (!*tail)
		*tail = make_tail(session, &session->calls[event->call]);
	fprintf(output->file, "%u\t%u\t%" PRIu64, event->process->trace->header.pid,
		event->thread->id, event->sequence);
	fputs_unlocked(*tail, output->file);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	for (size_t i = 0; i < state->count; i++)
		free(state->tails[i]);
	free(state->tails);
	free(state);
}

const struct post_format post_format_tsv = {
	.name = "tsv",
	.summary = "one line a call in tab-separated columns, for other programs",
	.start = start,
	.event = event,
	.finish = finish,
};
