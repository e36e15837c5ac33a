/* The order in which chunks are read, and the way of each event through the
 * filters to the sink.
 *
 * More than 500 lines, because two orders, by process and by time, share what is done with each
 * item.
 */
#include "postproc/timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/model/clock.h"
#include "postproc/sources/bits_chunk.h"
#include "postproc/timeline/count.h"
#include "postproc/timeline/nesting.h"

struct run {
	struct post_session *session;
	const struct post_timeline_sink *sink; /* NULL: calls are only counted */
	struct post_nesting nesting;
	bool filtered; /* by what needs the nesting: then the filter counts */
	const struct post_timeline_options *options;
	uint64_t done, all;
	struct post_buffer buffer;
	struct post_window_state window;
	uint32_t *site_calls; /* by the number of a site: a call of it, or POST_NONE; see
				 call_of_site() */
	size_t site_count, calls_seen;
};

/* The chunks of one owner, one after another. */
struct lane {
	struct post_process *process;
	struct post_thread *thread;
	uint32_t owner;
	size_t chunk; /* the one that the cursor is in */
	bool started, wanted;
	struct post_cursor cursor;
	struct post_buffer buffer;
	struct post_item item; /* the next event */
	uint64_t time;         /* of it, ns */
};

static void advance(struct run *run, size_t bytes)
{
	run->done += bytes;
	if (run->options->progress)
		run->options->progress(run->options->context, run->done, run->all);
}

static bool is_full(const struct run *run)
{
	return run->sink && run->sink->full && run->sink->full(run->sink->context);
}

/* What is taken off the times of a thread by now: ticks. */
static uint64_t taken_of(const struct run *run, const struct post_thread *thread)
{
	return run->session->options.raw ? 0 : thread->taken >> 8;
}

static void push_call(const struct run *run, const struct post_thread *thread, uint32_t call,
		      const struct post_item *item, uint64_t sequence)
{
	const struct post_call *about = &run->session->calls[call];
	struct post_timeline_event event = {
		.kind = POST_EVENT_ENTER,
		.flags = about->tail ? POST_EVENT_TAIL : 0,
		.lane = thread->lane,
		.time = item->time,
		.taken = taken_of(run, thread),
		.arguments = item->arguments,
		.module = about->callee_module,
		.site = call,
		.callee = about->callee,
		.value = sequence,
	};

	run->sink->push(run->sink->context, &event);
}

/* A call from this site; POST_NONE: none was made. Calls of which a result is recorded have one
 * callee a site. */
static uint32_t call_of_site(struct run *run, uint32_t site)
{
	const struct post_session *session = run->session;

	for (; run->calls_seen < session->call_count; run->calls_seen++) {
		uint32_t of = session->calls[run->calls_seen].site;

		if (of >= run->site_count) {
			size_t count = 2 * (size_t)of + 64;

			run->site_calls =
				post_reallocate(run->site_calls, count, sizeof(*run->site_calls));
			for (size_t i = run->site_count; i < count; i++)
				run->site_calls[i] = POST_NONE;
			run->site_count = count;
		}
		run->site_calls[of] = (uint32_t)run->calls_seen;
	}
	return site < run->site_count ? run->site_calls[site] : POST_NONE;
}

static void push_result(struct run *run, const struct post_thread *thread, uint32_t site,
			const struct post_item *item)
{
	uint32_t call = call_of_site(run, site);

	if (call == POST_NONE || run->session->calls[call].hidden)
		return;
	const struct post_call *about = &run->session->calls[call];
	struct post_timeline_event event = {
		.kind = POST_EVENT_LEAVE,
		.lane = thread->lane,
		.time = item->time,
		.taken = taken_of(run, thread),
		.arguments = item->arguments,
		.module = about->callee_module,
		.site = call,
		.callee = about->callee,
	};

	run->sink->push(run->sink->context, &event);
}

static enum post_place place_in(const struct run *run, const struct post_process *process,
				const struct post_thread *thread, uint64_t ticks)
{
	enum post_place place = post_window_place(&run->window, process, thread, ticks);

	/* That of a signal handler can be a little older. */
	return place == POST_PLACE_BEFORE && thread->begun ? POST_PLACE_INSIDE : place;
}

static void take_return(struct run *run, struct post_process *process, struct post_thread *thread,
			const struct post_item *item, uint32_t site)
{
	enum post_place place = place_in(run, process, thread, item->time + taken_of(run, thread));
	struct post_nesting_item nested = {
		.time = item->time,
		.stack_pointer = item->value,
		.recorded = true,
		.shown = place == POST_PLACE_INSIDE,
		.arguments = item->arguments,
	};

	process->returns = true;
	thread->begun |= place == POST_PLACE_INSIDE;
	if (run->sink && run->sink->nested && place != POST_PLACE_BEHIND)
		post_nesting_return(&run->nesting, thread, site, &nested);
	else if (run->sink && run->sink->results && item->arguments && nested.shown)
		push_result(run, thread, site, item);
}

/* Counts a call, and gives it to the sink unless something hides it. */
static inline void show_call(struct run *run, struct post_process *process,
			     struct post_thread *thread, uint32_t call,
			     const struct post_item *item, uint64_t sequence, enum post_place place)
{
	struct post_session *session = run->session;
	const bool nested = run->sink && run->sink->nested;

	if (place == POST_PLACE_BEHIND || (place == POST_PLACE_BEFORE && !nested))
		return;
	session->calls[call].count += place == POST_PLACE_INSIDE && !run->filtered;
	thread->begun |= place == POST_PLACE_INSIDE;
	if (!run->sink || (session->calls[call].hidden && !(nested && process->returns)))
		return;
	if (!nested) {
		push_call(run, thread, call, item, sequence);
		return;
	}
	struct post_nesting_item about = {
		.time = item->time,
		.sequence = sequence,
		.stack_pointer = item->value,
		.recorded = process->returns,
		.hidden = session->calls[call].hidden,
		.shown = place == POST_PLACE_INSIDE,
		.arguments = item->arguments,
	};
	post_nesting_call(&run->nesting, thread, call, &about);
}

/* A call or a return: a call is counted, and both are given to the sink unless something
 * hides them. */
static void take_call(struct run *run, struct post_process *process, struct post_thread *thread,
		      const struct post_item *item, bool wanted)
{
	struct post_session *session = run->session;
	uint32_t call = post_session_call(session, process, thread->epoch, post_item_kind(item),
					  item->return_address, item->callee);

	if (call & POST_RETURN) {
		if (wanted)
			take_return(run, process, thread, item, call & ~POST_RETURN);
		return;
	}
	if (item->kind == LITIFUT_WORD_EXIT) /* of a module whose file is not known */
		return;
	if (wanted)
		post_window_call(&run->window, thread, call);
	enum post_place place = place_in(run, process, thread, item->time + taken_of(run, thread));
	uint64_t sequence = thread->sequence++;
	process->events++;
	if (wanted)
		show_call(run, process, thread, call, item, sequence, place);
}

/* Each event has taken some time of the tracer's, which is not the program's. */
static void take_event(struct run *run, struct post_process *process, struct post_thread *thread,
		       const struct post_item *item, bool wanted)
{
	const uint64_t taken = taken_of(run, thread);
	struct post_item own = *item;

	own.time = item->time > taken ? item->time - taken : 0;
	take_call(run, process, thread, &own, wanted);
	thread->taken += process->trace->header.event_cost;
}

/* Takes direct calls and returns from the cursor on, until something else comes: what take_event()
 * does where nothing depends on time. */
static void take_plain(struct run *run, struct post_process *process, struct post_thread *thread,
		       struct post_cursor *cursor)
{
	const uint64_t taken = taken_of(run, thread);
	const struct post_item item = {
		.kind = LITIFUT_WORD_CALL,
		.time = cursor->time > taken ? cursor->time - taken : 0,
	};
	struct post_plain_words words;
	uint32_t position = cursor->position, word;

	if (process->trace->header.event_cost || !post_window_is_whole(run->window.window) ||
	    !post_cursor_plain(cursor, &words))
		return;
	const struct post_cache *cache = post_session_cache(process, thread->epoch);
	for (; position < cursor->word_count && (word = post_plain_call(&words, position));
	     position++) {
		uint32_t call = post_cache_find(cache, word, 0, LITIFUT_WORD_CALL);

		if (call == POST_NONE) {
			call = post_session_call(run->session, process, thread->epoch,
						 LITIFUT_WORD_CALL, word, 0);
			cache = post_session_cache(process, thread->epoch);
		}
		if (call & POST_RETURN) {
			take_return(run, process, thread, &item, call & ~POST_RETURN);
			continue;
		}
		process->events++;
		show_call(run, process, thread, call, &item, thread->sequence++, POST_PLACE_INSIDE);
	}
	post_cursor_skip(cursor, position);
}

/* A mark of the program or of the recorder; only where there is nesting, as others show calls. */
static void push_mark(const struct run *run, const struct post_process *process,
		      const struct post_thread *thread, const struct post_item *item)
{
	const uint64_t all = taken_of(run, thread);
	const uint64_t taken = all < item->time ? all : item->time;
	struct post_timeline_event event = {
		.kind = POST_EVENT_MARK,
		.lane = thread->lane,
		.time = item->time - taken,
		.taken = taken,
		.site = POST_NONE,
		.callee = POST_NONE,
		.depth = thread->stack ? thread->stack->depth : 0,
		.value = item->value,
	};

	if (place_in(run, process, thread, item->time) == POST_PLACE_INSIDE)
		run->nesting.sink->push(run->nesting.sink->context, &event);
}

/* Anything else. */
static void take_state(struct run *run, struct post_process *process, struct post_thread **thread,
		       const struct post_item *item, bool wanted)
{
	if (item->kind == LITIFUT_WORD_CUT && wanted && run->sink && run->sink->nested)
		post_nesting_cut(&run->nesting, *thread, item->value);
	/* which of them have returned meanwhile is not known, and another call from the same place
	 * may return behind that */
	if ((item->kind == LITIFUT_WORD_STARTED || item->kind == LITIFUT_WORD_LOST) &&
	    process->returns && run->sink && run->sink->nested)
		post_nesting_cut(&run->nesting, *thread, UINT32_MAX);
	if (item->kind == LITIFUT_WORD_MARK && wanted && run->sink && run->sink->nested)
		push_mark(run, process, *thread, item);
	post_apply_state(run->session, process, thread, item);
}

/* Begins to read a chunk. Which calls have returned in chunks that are missing is not known. */
static void start_chunk(struct run *run, struct post_process *process, struct post_thread *thread,
			size_t number, struct post_cursor *cursor, struct post_buffer *buffer)
{
	const struct post_chunk *chunk = &process->trace->chunks[number];

	if (chunk->gaps != thread->gaps && run->sink && run->sink->nested)
		post_nesting_cut(&run->nesting, thread, UINT32_MAX);
	thread->gaps = chunk->gaps;
	post_cursor_start(cursor, process->trace, number, buffer, run->session->problems);
}

static void event_chunk(struct run *run, struct post_process *process, size_t chunk)
{
	struct post_thread *thread =
		post_session_thread(run->session, process, process->trace->chunks[chunk].thread);
	bool wanted = post_thread_wanted(run->session, thread->id);
	struct post_cursor cursor;
	struct post_item item;

	start_chunk(run, process, thread, chunk, &cursor, &run->buffer);
	for (;;) {
		if (wanted)
			take_plain(run, process, thread, &cursor);
		if (!post_cursor_next(&cursor, &item))
			break;
		if (!post_item_is_call(&item)) {
			take_state(run, process, &thread, &item, wanted);
			wanted = post_thread_wanted(run->session, thread->id);
			continue;
		}
		take_event(run, process, thread, &item, wanted);
	}
	process->holes += cursor.holes;
}

static void read_process(struct run *run, struct post_process *process)
{
	bool counting = !run->sink && post_window_is_whole(run->window.window);

	for (size_t i = 0; i < process->trace->chunk_count; i++) {
		if (counting)
			post_count_chunk(run->session, process, i, &run->buffer);
		else
			event_chunk(run, process, i);
		advance(run, process->trace->header.chunk_bytes);
		if (is_full(run))
			return;
	}
}

/* Goes on to the next event of a lane; false when there is none left. */
static bool lane_next(struct run *run, struct lane *lane)
{
	const struct post_trace *trace = lane->process->trace;

	for (;;) {
		while (lane->started && post_cursor_next(&lane->cursor, &lane->item)) {
			if (post_item_is_call(&lane->item)) {
				lane->time = post_clock_ns(lane->process, lane->item.time);
				return true;
			}
			take_state(run, lane->process, &lane->thread, &lane->item, lane->wanted);
			lane->wanted = post_thread_wanted(run->session, lane->thread->id);
		}
		if (lane->started) {
			lane->process->holes += lane->cursor.holes;
			advance(run, trace->header.chunk_bytes);
			lane->chunk++;
		}
		while (lane->chunk < trace->chunk_count &&
		       trace->chunks[lane->chunk].thread != lane->owner)
			lane->chunk++;
		if (lane->chunk == trace->chunk_count)
			return false;
		lane->thread = post_session_thread(run->session, lane->process, lane->owner);
		start_chunk(run, lane->process, lane->thread, lane->chunk, &lane->cursor,
			    &lane->buffer);
		lane->wanted = post_thread_wanted(run->session, lane->thread->id);
		lane->started = true;
	}
}

static void lane_release(struct lane *lane)
{
	post_buffer_release(&lane->buffer);
	free(lane);
}

static bool earlier(const struct lane *a, const struct lane *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->process != b->process)
		return a->process->index < b->process->index;
	return a->owner < b->owner;
}

static void sift_down(struct lane **heap, size_t count, size_t at)
{
	for (;;) {
		size_t least = at, child = at * 2 + 1;
		for (size_t i = child; i < child + 2 && i < count; i++) {
			if (earlier(heap[i], heap[least]))
				least = i;
		}
		if (least == at)
			return;
		struct lane *moved = heap[at];
		heap[at] = heap[least];
		heap[least] = moved;
		at = least;
	}
}

static size_t add_lanes(struct post_process *process, struct lane ***lanes, size_t count)
{
	struct post_table seen = {0};

	for (size_t i = 0; i < process->trace->chunk_count; i++) {
		uint32_t owner = process->trace->chunks[i].thread;
		struct post_key key = {{owner}};
		if (post_table_find(&seen, key) != POST_NONE)
			continue;
		post_table_put(&seen, key, 0);
		struct lane *lane = post_allocate(1, sizeof(*lane));
		lane->process = process;
		lane->owner = owner;
		lane->chunk = i;
		if (!(count & (count - 1))) /* it doubles */
			*lanes = post_reallocate(*lanes, count ? count * 2 : 1, sizeof(**lanes));
		(*lanes)[count++] = lane;
	}
	post_table_release(&seen);
	return count;
}

/* Each lane that is merged may need a decoded chunk. */
#define MOST_LANES_MERGED 16384u
#define MOST_BYTES_MERGED (1ull << 30)

static bool can_merge(const struct post_session *session, struct lane *const *lanes, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += lanes[i]->process->trace->header.chunk_bytes;
	if (count <= MOST_LANES_MERGED && bytes <= MOST_BYTES_MERGED)
		return true;
	post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
			"%zu threads are too many to bring their events into the order of time; "
			"they are shown process after process (--tid and --pid leave some out)",
			count);
	return false;
}

/* All threads of all processes in the order of time. */
static void read_by_time(struct run *run)
{
	struct lane **heap = NULL;
	size_t count = 0, live = 0;

	for (size_t i = 0; i < run->session->process_count; i++)
		count = add_lanes(run->session->processes[i], &heap, count);
	if (!can_merge(run->session, heap, count)) {
		while (count)
			lane_release(heap[--count]);
		free(heap);
		for (size_t i = 0; i < run->session->process_count; i++)
			read_process(run, run->session->processes[i]);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (lane_next(run, heap[i]))
			heap[live++] = heap[i];
		else
			lane_release(heap[i]);
	}
	for (size_t i = live; i-- > 0;)
		sift_down(heap, live, i);
	while (live && !is_full(run)) {
		struct lane *lane = heap[0];
		take_event(run, lane->process, lane->thread, &lane->item, lane->wanted);
		if (!lane_next(run, lane)) {
			lane_release(lane);
			heap[0] = heap[--live];
		}
		sift_down(heap, live, 0);
	}
	while (live)
		lane_release(heap[--live]);
	free(heap);
}

/* How likely the bloom filter took a new call for one that it knew, at the end. */
static double filter_error(const struct litifut_trace_header *header)
{
	double full = 1;

	if (!header->bloom_bits || header->bloom_bits_set > header->bloom_bits)
		return 0;
	for (uint32_t i = 0; i < header->bloom_hashes && i < 32; i++)
		full *= (double)header->bloom_bits_set / header->bloom_bits;
	return header->bloom_hashes ? full : 0;
}

uint64_t post_timeline_lost(const struct post_process *process)
{
	uint64_t lost = 0;

	for (size_t t = 0; t < process->thread_count; t++)
		lost += process->threads[t]->lost;
	/* The header counts all, the stream says where: not both. */
	return lost > process->lost ? lost : process->lost;
}

bool post_timeline_is_of_code(const struct post_process *process)
{
	const uint32_t mode = process->trace->header.mode;

	return mode == LITIFUT_MODE_COVERAGE || mode == LITIFUT_MODE_PATHS ||
	       mode == LITIFUT_MODE_UNITS || mode == LITIFUT_MODE_BALLLARUS;
}

const char *post_timeline_lost_what(const struct post_process *process)
{
	if (process->trace->header.mode == LITIFUT_MODE_BALLLARUS)
		return "numbers of paths";
	return post_timeline_is_of_code(process) ? "records of branches"
	       : process->returns                ? "calls and returns"
						 : "calls";
}

static double seconds_after_start(const struct post_process *process, uint64_t ticks)
{
	const uint64_t start = process->trace->header.start_monotonic_ns;
	const uint64_t at = post_clock_ns(process, ticks);

	return at > start ? (double)(at - start) / 1e9 : 0;
}

/* Adds those names of `more` that are not in `names`, each with a blank behind it, as long as there
 * is room. */
static void add_names(char *names, size_t size, const char *more)
{
	while (*more) {
		const size_t length = strcspn(more, " "), used = strlen(names);
		bool is_there = false;

		for (const char *name = names; *name && !is_there; name += strcspn(name, " ") + 1)
			is_there = strcspn(name, " ") == length && !memcmp(name, more, length);
		if (length && !is_there && used + length + 2 <= size) {
			memcpy(names + used, more, length);
			memcpy(names + used + length, " ", 2);
		}
		more += length + (more[length] == ' ');
	}
}

void post_timeline_total(const struct post_session *session, struct post_totals *totals)
{
	uint64_t most = 0, most_at_a_time = 0;
	bool counts = false;

	*totals = (struct post_totals){.processes = session->process_count, .lost_what = "calls"};
	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		const uint64_t lost = post_timeline_lost(process);

		for (size_t t = 0; t < process->thread_count; t++)
			totals->threads += process->threads[t]->sequence != 0;
		totals->threads += post_bits_threads(process->trace, NULL, 0);
		totals->lost += lost;
		totals->lost_at_least |= process->trace->lost_at_least;
		if (lost > most) {
			most = lost;
			totals->lost_what = post_timeline_lost_what(process);
		}
		totals->overwritten += process->trace->header.overwritten;
		if (post_clock_runs(process) && process->trace->header.lost_to &&
		    lost > most_at_a_time) {
			most_at_a_time = lost;
			totals->lost_from =
				seconds_after_start(process, process->trace->header.lost_from);
			totals->lost_to =
				seconds_after_start(process, process->trace->header.lost_to);
		}
		totals->events += process->events;
		counts |= process->trace->header.mode == LITIFUT_MODE_COUNTS;
		totals->killed += process->trace->header.state == LITIFUT_TRACE_RUNNING;
		totals->covered += post_timeline_is_of_code(process) && !process->events;
		totals->clockless +=
			process->returns && process->events && !post_clock_runs(process);
		if (process->trace->header.flags & LITIFUT_TRACE_DEDUP) {
			totals->deduplicated++;
			if (filter_error(&process->trace->header) > totals->missing)
				totals->missing = filter_error(&process->trace->header);
		}
		totals->holes += process->holes;
		totals->wrong_settings |= process->trace->header.wrong_settings;
		add_names(totals->unknown_settings, sizeof(totals->unknown_settings),
			  process->trace->header.unknown_settings);
	}
	for (size_t i = 1; i < session->module_count; i++)
		totals->modules += session->modules[i].traced;
	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];
		if (call->own)
			totals->own += call->count;
		if (call->hidden)
			continue;
		totals->shown += call->count;
		if (call->unresolved)
			totals->unresolved += call->count;
		if (counts && !strcmp(session->functions[call->callee].name, "?"))
			totals->unfollowed += call->count;
	}
}

static bool filter_is_full(void *context)
{
	const struct post_filter *filter = context;

	return filter->sink->full(filter->sink->context);
}

void post_timeline_read(struct post_session *session, const struct post_timeline_sink *sink,
			const struct post_timeline_options *options)
{
	struct run run = {.session = session,
			  .sink = sink,
			  .nesting = {.session = session, .sink = sink},
			  .options = options,
			  .window = {&options->window, session, .start_ns = UINT64_MAX}};
	bool timed = session->process_count > 0;

	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[i];
		run.all +=
			process->trace->chunk_count * (uint64_t)process->trace->header.chunk_bytes;
		timed = timed && post_clock_runs(process);
		if (process->trace->header.start_monotonic_ns < run.window.start_ns)
			run.window.start_ns = process->trace->header.start_monotonic_ns;
	}
	if (options->window.by_time && !timed)
		post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
				"--from and --to with a time need traces with a clock "
				"(LITIFUT_CLOCK); nothing is left out");
	struct post_timeline_options without = *options;
	if (!timed) {
		without.window.by_time = false;
		run.window.window = &without.window;
	}
	struct post_filter filter = {.options = &options->filter, .session = session, .sink = sink};
	struct post_timeline_sink filtered = {
		.push = post_filter_push, .context = &filter, .nested = true};
	if (sink && post_filter_is_set(&options->filter)) {
		filtered.full = sink->full ? filter_is_full : NULL;
		run.sink = run.nesting.sink = sink = &filtered;
		run.filtered = true;
	}
	if (timed && sink) {
		read_by_time(&run);
	} else {
		for (size_t i = 0; i < session->process_count; i++)
			read_process(&run, session->processes[i]);
	}
	for (size_t i = 0; sink && sink->nested && i < session->lane_count; i++)
		post_nesting_end(&run.nesting, session->lanes[i]);
	post_window_end(&run.window);
	post_nesting_release(&run.nesting);
	post_filter_release(&filter);
	post_buffer_release(&run.buffer);
	free(run.site_calls);
}
