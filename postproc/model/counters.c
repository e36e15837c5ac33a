#include "postproc/model/counters.h"

#include <byteswap.h>
#include <string.h>

#include "postproc/sources/flags_chunk.h"

struct taking {
	struct post_session *session;
	struct post_process *process;
};

/* 0 for a word of another piece. */
static uint64_t word_at(const struct post_trace *trace, const struct post_flags_piece *piece,
			uint32_t offset)
{
	uint32_t word;

	if (offset < piece->first || piece->count < sizeof(word) ||
	    offset - piece->first > piece->count - sizeof(word))
		return 0;
	memcpy(&word, piece->bytes + (offset - piece->first), sizeof(word));
	return trace->swap ? bswap_32(word) : word;
}

/* What of the counter is in the piece: it may begin in one and end in the next. */
static uint64_t counter_at(const struct post_trace *trace, const struct post_flags_piece *piece,
			   uint32_t offset)
{
	return word_at(trace, piece, offset) | word_at(trace, piece, offset + 4) << 32;
}

static void take(void *context, const struct post_flags_piece *piece)
{
	const struct taking *taking = context;
	struct post_session *session = taking->session;
	struct post_process *process = taking->process;
	const struct post_trace *trace = process->trace;
	const struct litifut_module_record *record = NULL;
	const struct post_image *image;
	uint32_t module;

	if (!piece->counts)
		return;
	for (size_t i = 0; i < trace->module_count && !record; i++)
		if (trace->modules[i].record.serial == piece->module)
			record = &trace->modules[i].record;
	if (!record)
		return;
	module = post_modules_recorded(session, process, record);
	image = session->modules[module].image;
	if (!image || !image->has_site_list) {
		if (piece->first == LITIFUT_COUNTS_PAGE)
			post_problem_at(session->problems,
					image ? image->path : session->modules[module].name,
					LITIFUT_NO_ADDRESS,
					"the file with the list of its call sites is needed, or "
					"its counts can't be shown: give the one that the linker "
					"made");
		return;
	}
	for (size_t i = 0; i < image->site_count; i++) {
		const struct litifut_site *site = &image->sites[i];
		const uint64_t count = site->exit_reason == LITIFUT_EXIT_COUNTER
					       ? counter_at(trace, piece, site->exit)
					       : 0;
		uint32_t call;

		if (!count)
			continue;
		call = post_session_call(session, process, record->epoch, LITIFUT_WORD_CALL,
					 site->return_address + record->load_bias, 0);
		if (call & POST_RETURN)
			continue;
		session->calls[call].count += count;
		process->events += count;
	}
}

void post_counters_take(struct post_session *session, struct post_process *process)
{
	struct taking taking = {session, process};

	post_flags_chunks_read(process->trace, take, &taking, session->problems);
}
