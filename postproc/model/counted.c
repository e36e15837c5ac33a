/* Calls that were counted where they are made (LITIFUT_MODE=counts, a firmware): they need no
 * reading in order. */
#include "postproc/model/session.h"

#include "common/site_text.h"
#include "postproc/sources/counters.h"

struct counting {
	struct post_session *session;
	struct post_process *process;
	const struct litifut_module_record *module;
};

static void take_counter(void *context, const struct litifut_site *site, uint64_t count)
{
	const struct counting *counting = context;
	struct post_session *session = counting->session;
	const uint32_t call = post_session_call(
		session, counting->process, counting->module->epoch, LITIFUT_WORD_CALL,
		site->return_address + counting->module->load_bias, 0);

	session->calls[call].count += count;
	counting->process->events += count;
}

static bool has_counters(const struct post_image *image)
{
	bool found = false;

	for (size_t i = 0; image->mode == LITIFUT_MODE_COUNTS && i < image->site_count; i++)
		found |= image->sites[i].exit_reason == LITIFUT_EXIT_COUNTER;
	return found;
}

/* A module of the process of another mode, whose recorder or whose chunks have no place for
 * counters; NULL: there is none. */
static const struct post_image *without_counters(const struct post_session *session,
						 const struct post_process *process)
{
	for (size_t m = 0; m < process->trace->module_count; m++) {
		const struct post_image *image =
			session->modules[process->mappings[m].module].image;

		if (image &&
		    (image->mode == LITIFUT_MODE_CALLS || image->mode == LITIFUT_MODE_SPANS ||
		     image->mode == LITIFUT_MODE_TABLE))
			return image;
	}
	return NULL;
}

static void report_no_counts(const struct post_session *session, const struct post_process *process,
			     const struct post_image *image)
{
	const struct post_trace *trace = process->trace;
	const struct post_image *other = without_counters(session, process);

	if (trace->damaged)
		post_problem_at(session->problems, trace->path, LITIFUT_NO_ADDRESS,
				"it has no counts of %s: it is cut or damaged", image->path);
	else if (other)
		post_problem_at(session->problems, trace->path, LITIFUT_NO_ADDRESS,
				"it has no counts of %s, as %s was linked with LITIFUT_MODE=%s: "
				"link both with counts",
				image->path, other->path, litifut_mode_name(other->mode));
	else
		post_problem_at(session->problems, trace->path, LITIFUT_NO_ADDRESS,
				"it has no counts of %s: there was no room for them in the file or "
				"in memory, they were not written before the process ended "
				"(LITIFUT_FILE=write), or the trace was cut",
				image->path);
}

/* The mappings of the modules in the trace come first. */
static void take_counters(struct post_session *session, struct post_process *process)
{
	const struct post_trace *trace = process->trace;

	for (size_t m = 0; m < trace->module_count; m++) {
		struct counting counting = {session, process, &trace->modules[m].record};
		const uint32_t serial = counting.module->serial;
		const struct post_module *module = &session->modules[process->mappings[m].module];
		const struct post_image *image = module->image;

		if (!post_counters_has(trace, serial)) {
			if (image && has_counters(image))
				report_no_counts(session, process, image);
			continue;
		}
		if (image && image->has_site_list)
			post_counters_read(trace, serial, image, take_counter, &counting,
					   session->problems);
		else
			post_problem_at(session->problems, image ? image->path : module->name,
					LITIFUT_NO_ADDRESS,
					"the file with the list of its call sites is needed, or "
					"its counts can't be shown: give the one that the linker "
					"made");
	}
}

/* The mappings of the modules are known. */
void post_counted_take(struct post_session *session, struct post_process *process)
{
	for (size_t i = 0; i < process->trace->counted_count; i++) {
		const struct post_counted *counted = &process->trace->counted[i];
		uint32_t call = post_session_call(session, process, 0, counted->kind,
						  counted->return_address, counted->callee);

		session->calls[call].count += counted->count;
		process->events += counted->count;
	}
	take_counters(session, process);
}
