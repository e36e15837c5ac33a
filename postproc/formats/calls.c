/* calls: one line a call, TID CALLER+0xOFF -> CALLEE [MODULE], and one for each result that is
 * recorded, TID <- CALLEE (returned=VALUE). */
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/formats/losses.h"
#include "postproc/formats/text.h"

/* The line of a call is the same every time but for the thread. */
static char *make_line(const struct post_session *session, const struct post_call *call)
{
	const struct post_function *caller = &session->functions[call->caller];
	struct post_text text = {0};

	post_text_add(&text, caller->name);
	if (caller->symbol)
		post_text_format(&text, "+0x%x", call->caller_offset);
	post_text_add(&text, call->tail ? " => " : " -> ");
	post_text_add_target(&text, session, call);
	return post_text_take(&text);
}

static void start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct post_call_texts));
	post_losses_write(output->file, output->session, "# ", "\n");
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;

	bool result = post_event_is_result(event);

	if (!post_event_is_call(event) && !result)
		return;
	post_write_number(output->file, post_event_thread(output, event)->id);
	putc_unlocked(' ', output->file);
	if (result)
		fprintf(output->file, "<- %s", output->session->functions[event->callee].name);
	else
		post_call_texts_write(output->state, output->file, output->session, event->site,
				      make_line);
	post_write_arguments(output->file, output->session, event);
	putc_unlocked('\n', output->file);
}

static void finish(struct post_output *output)
{
	post_call_texts_release(output->state);
	free(output->state);
}

const struct post_format post_format_calls = {
	.name = "calls",
	.summary = "one line a call (the default)",
	.start = start,
	.event = event,
	.results = true,
	.finish = finish,
};
