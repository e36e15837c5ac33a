#include "postproc/formats/unmatched.h"

#include <stdlib.h>

#include "postproc/formats/flows.h"
#include "postproc/formats/near.h"
#include "postproc/formats/text.h"
#include "postproc/paths/program.h"

#define MODULES_MOST 8 /* that are listed */

static void check_functions(struct post_session *session, const char *option,
			    const char *const *globs)
{
	char *none;

	if (!globs || !*globs)
		return;
	for (size_t i = 0; i < session->function_count; i++)
		if (post_function_matches(session, globs, (uint32_t)i))
			return;
	none = post_near_none(session, *globs);
	post_note_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
		     "%s: no call of or by %s%s in these traces%s", option, *globs,
		     globs[1] ? ",..." : "", none);
	free(none);
}

static void check_function(struct post_session *session, const char *option, const char *glob)
{
	const char *const globs[] = {glob, NULL};

	check_functions(session, option, globs);
}

static void check_modules(struct post_session *session, const char *const *globs)
{
	struct post_text names = {0};
	char *list;

	for (size_t i = 1; i < session->module_count; i++)
		if (path_is_named(globs, session->modules[i].name))
			return;
	for (size_t i = 1; i < session->module_count && i <= MODULES_MOST; i++)
		post_text_format(&names, "%s%s", i > 1 ? ", " : "; there is ",
				 session->modules[i].name);
	list = post_text_take(&names);
	post_note_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
		     "--module: no module %s%s in these traces%s%s", *globs, globs[1] ? ",..." : "",
		     list, session->module_count > MODULES_MOST + 1 ? ", ..." : "");
	free(list);
}

void post_unmatched_report(struct post_session *session,
			   const struct post_timeline_options *options, const char *flow)
{
	struct post_flows flows = {0};

	check_functions(session, "--include", session->options.include);
	check_functions(session, "--exclude", session->options.exclude);
	check_functions(session, "-F", options->filter.only);
	check_functions(session, "-N", options->filter.without);
	check_function(session, "--from", options->window.from.function);
	check_function(session, "--to", options->window.to.function);
	if (session->options.modules)
		check_modules(session, session->options.modules);
	if (flow && post_flows_read(&flows, flow)) {
		check_function(session, "--flow", flows.send);
		check_function(session, "--flow", flows.receive);
	}
	post_flows_release(&flows);
}
