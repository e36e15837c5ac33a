/* Processes, threads and the caches in front of the resolver. */
#include "postproc/model/session.h"

#include "postproc/sources/firmware.h"
#include "postproc/sources/gprof_serial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct post_thread *post_session_thread(struct post_session *session, struct post_process *process,
					uint32_t id)
{
	struct post_key key = {{id}};
	uint32_t index = post_table_find(&process->thread_index, key);

	if (index != POST_NONE)
		return process->threads[index];
	uint32_t most =
		session->options.most_threads ? session->options.most_threads : POST_USUAL_THREADS;
	if (session->lane_count >= most && id != UINT32_MAX) {
		if (!session->threads_reported)
			post_problem_at(session->problems, process->trace->path, LITIFUT_NO_ADDRESS,
					"more than %u threads; the further ones of each process "
					"are shown as one thread (--max-threads)",
					most);
		session->threads_reported = true;
		return post_session_thread(session, process, UINT32_MAX);
	}
	struct post_thread *thread = post_allocate(1, sizeof(*thread));
	thread->id = id;
	for (size_t i = 0; i < process->trace->task_count && !thread->task; i++)
		if (process->trace->tasks[i].id == id)
			thread->task = &process->trace->tasks[i];
	thread->process = process->index;
	thread->lane = (uint32_t)session->lane_count;
	POST_GROW(session->lanes, session->lane_count, session->lane_capacity);
	session->lanes[session->lane_count++] = thread;
	POST_GROW(process->threads, process->thread_count, process->thread_capacity);
	post_table_put(&process->thread_index, key, (uint32_t)process->thread_count);
	process->threads[process->thread_count++] = thread;
	return thread;
}

const char *post_thread_text(const struct post_thread *thread, char *text, size_t size)
{
	if (!thread->task)
		snprintf(text, size, "thread %u", thread->id);
	else if (*thread->task->name)
		snprintf(text, size, "task %s", thread->task->name);
	else
		snprintf(text, size, "task 0x%x", thread->id);
	return text;
}

static void cache_clear(struct post_cache *cache, uint32_t epoch)
{
	if (!cache->slots) {
		cache->capacity = 1024;
		cache->slots = post_allocate(cache->capacity, sizeof(*cache->slots));
	} else {
		memset(cache->slots, 0, cache->capacity * sizeof(*cache->slots));
	}
	cache->count = 0;
	cache->epoch = epoch;
}

struct post_cache *post_session_cache(struct post_process *process, uint32_t epoch)
{
	for (unsigned i = 0; i < POST_CACHES; i++) {
		if (process->caches[i].slots && process->caches[i].epoch == epoch)
			return &process->caches[i];
	}
	struct post_cache *cache = &process->caches[process->next_cache++ % POST_CACHES];
	cache_clear(cache, epoch);
	return cache;
}

static void cache_insert(struct post_cache *cache, struct post_cache_slot slot)
{
	uint32_t index = post_cache_start(cache, slot.return_address, slot.callee);

	while (cache->slots[index].return_address)
		index = (index + 1) & (cache->capacity - 1);
	cache->slots[index] = slot;
}

/* The three numbers must be those of the call. */
static void cache_put(struct post_cache *cache, struct post_cache_slot slot)
{
	if (!slot.return_address) /* marks a free slot, and is not an address */
		return;
	if (cache->count * 4 >= cache->capacity && cache->capacity < 1u << 30) {
		struct post_cache larger = {.capacity = cache->capacity * 2};
		larger.slots = post_allocate(larger.capacity, sizeof(*larger.slots));
		for (uint32_t i = 0; i < cache->capacity; i++) {
			if (cache->slots[i].return_address)
				cache_insert(&larger, cache->slots[i]);
		}
		free(cache->slots);
		cache->slots = larger.slots;
		cache->capacity = larger.capacity;
	}
	cache_insert(cache, slot);
	cache->count++;
}

uint32_t post_session_call(struct post_session *session, struct post_process *process,
			   uint32_t epoch, uint32_t kind, uint32_t return_address, uint32_t callee)
{
	struct post_cache *cache = post_session_cache(process, epoch);
	uint32_t call = post_cache_find(cache, return_address, callee, kind);

	if (call != POST_NONE)
		return call;
	call = post_session_resolve(session, process, epoch, kind, return_address, callee);
	/* Beyond the limit every further word is the same call, and none is kept. */
	if (session->call_count <= post_session_most_calls(session))
		cache_put(cache, (struct post_cache_slot){return_address, callee, kind, call});
	return call;
}

/* NULL: it is not known. */
static const struct litifut_site *listed_site(const struct post_session *session,
					      const struct post_process *process, uint32_t serial,
					      uint32_t number, const struct post_mapping **mapping)
{
	size_t m = 0;

	while (m < process->trace->module_count &&
	       process->trace->modules[m].record.serial != serial)
		m++;
	if (m == process->trace->module_count)
		return NULL;
	/* The mappings of the modules in the trace come first. */
	*mapping = &process->mappings[m];
	const struct post_image *image = session->modules[(*mapping)->module].image;
	return image && number < image->patched_count ? image->patched[number] : NULL;
}

uint32_t post_session_site_caller(struct post_session *session, const struct post_process *process,
				  uint32_t serial, uint32_t number)
{
	const struct post_mapping *mapping;
	const struct litifut_site *site = listed_site(session, process, serial, number, &mapping);

	return site && site->kind != LITIFUT_SITE_VECTOR
		       ? post_session_function(session, mapping->module, site->address)
		       : POST_NONE;
}

uint32_t post_session_site_call(struct post_session *session, struct post_process *process,
				uint32_t serial, uint32_t number, uint32_t callee)
{
	const struct post_mapping *mapping;
	const struct litifut_site *site = listed_site(session, process, serial, number, &mapping);

	if (!site)
		return POST_NONE;
	bool indirect = litifut_site_is_pointer(site);
	bool tail = litifut_site_is_tail(site);
	uint32_t kind = tail       ? LITIFUT_WORD_TAIL
			: indirect ? LITIFUT_WORD_INDIRECT
				   : LITIFUT_WORD_CALL;
	if (indirect && !callee)
		return POST_NONE;
	return post_session_call(session, process, mapping->first_epoch, kind,
				 site->return_address + mapping->bias, indirect ? callee : 0);
}

/* The stem that trace/NAME.PID.trace and maps/NAME.PID.maps have in common,
 * also with .gz or .zst behind. Returns its length. */
static size_t stem(const char *path, const char *ending, const char **start)
{
	*start = post_base_name(path);
	const char *found = NULL;
	for (const char *at = *start; (at = strstr(at, ending)); at++)
		found = at;
	return found ? (size_t)(found - *start) : strlen(*start);
}

/* NAME may be cut or changed by the device; the number before the last dot of
 * the stem is the process. */
static bool stem_ends_in_pid(const char *start, size_t length, uint32_t pid)
{
	char text[16];
	int digits = snprintf(text, sizeof(text), "%u", pid);

	if (length < (size_t)digits || memcmp(start + length - digits, text, (size_t)digits))
		return false;
	return length == (size_t)digits || start[length - (size_t)digits - 1] == '.';
}

static void find_maps(struct post_session *session, struct post_process *process)
{
	const char *trace_start, *maps_start, *best = NULL;
	size_t trace_length = stem(process->trace->path, ".trace", &trace_start);
	struct litifut_error error;
	bool exact = false;

	for (size_t i = 0; i < session->inputs.maps_count && !exact; i++) {
		const char *path = session->inputs.maps[i];
		size_t length = stem(path, ".maps", &maps_start);
		exact = length == trace_length && !memcmp(trace_start, maps_start, length);
		if (exact ||
		    (!best && stem_ends_in_pid(maps_start, length, process->trace->header.pid)))
			best = path;
	}
	/* One process and one maps file, whatever they are called. */
	if (!best && session->inputs.maps_count == 1 && session->inputs.trace_count == 1)
		best = session->inputs.maps[0];
	if (!best)
		return;
	enum litifut_status status =
		post_maps_open(best, &process->maps, session->problems, &error);
	if (status == LITIFUT_OK)
		process->has_maps = true;
	else
		post_problem(session->problems, &error);
}

static void open_process(struct post_session *session, const char *path)
{
	struct litifut_error error;
	struct post_trace *trace;

	if (post_trace_open(path, &trace, session->problems, &error) != LITIFUT_OK) {
		post_problem(session->problems, &error);
		return;
	}
	post_session_take(session, trace);
}

/* Is it a file that was named twice, by whatever paths? */
static bool is_same_file(const char *path, const char *other)
{
	struct stat about;
	struct stat about_other;

	return !stat(path, &about) && !stat(other, &about_other) &&
	       about.st_dev == about_other.st_dev && about.st_ino == about_other.st_ino;
}

const char *post_session_shared(const struct post_session *one, const struct post_session *other)
{
	const char *shared = NULL;
	size_t count = 0;

	for (size_t i = 0; i < one->process_count; i++) {
		const char *path = one->processes[i]->trace->path;
		bool same = false;

		for (size_t j = 0; j < other->process_count && !same; j++)
			same = other->processes[j]->trace->header.pid ==
				       one->processes[i]->trace->header.pid &&
			       is_same_file(path, other->processes[j]->trace->path);
		shared = same && !shared ? path : shared;
		count += same;
	}
	return count == one->process_count && count == other->process_count ? NULL : shared;
}

/* LITIFUT_COPY_TO makes copies; counted twice they would mislead. */
static bool is_copy(struct post_session *session, const struct post_trace *trace)
{
	const struct litifut_trace_header *own = &trace->header;

	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_trace *other = session->processes[i]->trace;
		if (!own->start_monotonic_ns || other->header.pid != own->pid ||
		    other->header.start_monotonic_ns != own->start_monotonic_ns ||
		    other->header.start_realtime_ns != own->start_realtime_ns ||
		    memcmp(other->header.program, own->program, sizeof(own->program)))
			continue;
		if (!is_same_file(trace->path, other->path))
			post_problem_at(session->problems, trace->path, LITIFUT_NO_ADDRESS,
					"the same process as %s, left out", other->path);
		return true;
	}
	return false;
}

void post_session_take(struct post_session *session, struct post_trace *trace)
{
	bool wanted = !session->options.pid_count;

	for (size_t i = 0; i < session->options.pid_count; i++)
		wanted |= session->options.pids[i] == trace->header.pid;
	if (!wanted || is_copy(session, trace)) {
		post_trace_close(trace);
		return;
	}
	struct post_process *process = post_allocate(1, sizeof(*process));
	process->trace = trace;
	process->machine = trace->header.machine;
	process->returns = trace->header.mode == LITIFUT_MODE_SPANS;
	process->lost = trace->header.lost_events;
	if (trace->metadata_lost > process->lost)
		process->lost = trace->metadata_lost;
	for (size_t i = 0; i < LITIFUT_CHILD_LOSSES; i++)
		process->lost += trace->header.children[i].count;
	if (trace->header.foreign_calls)
		post_problem_at(session->problems, trace->path, LITIFUT_NO_ADDRESS,
				"%u calls are not recorded: their modules have another "
				"LITIFUT_MODE than the first one of the process (foreign-mode): "
				"link all of them with the same one; of one that could not have "
				"it, litifut info MODULE says why, beside its engine",
				trace->header.foreign_calls);
	find_maps(session, process);
	POST_GROW(session->processes, session->process_count, session->process_capacity);
	session->processes[session->process_count++] = process;
}

static int compare_processes(const void *left, const void *right)
{
	const struct litifut_trace_header *a =
		&(*(struct post_process *const *)left)->trace->header;
	const struct litifut_trace_header *b =
		&(*(struct post_process *const *)right)->trace->header;

	if (a->start_monotonic_ns != b->start_monotonic_ns)
		return a->start_monotonic_ns < b->start_monotonic_ns ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void open_firmware(struct post_session *session, const char *path)
{
	struct litifut_error error;
	struct post_trace *trace;

	if ((session->inputs.gprof_serial ? post_gprof_serial_open : post_firmware_open)(
		    path, &session->inputs, &trace, session->problems, &error))
		post_problem(session->problems, &error);
	else
		post_session_take(session, trace);
}

void post_session_open(struct post_session *session)
{
	/* Module 0 stands for addresses that belong to no module. */
	POST_GROW(session->modules, session->module_count, session->module_capacity);
	session->modules[session->module_count++] =
		(struct post_module){.name = post_copy_text("?")};

	const struct post_progress *progress = &session->inputs.progress;
	for (size_t i = 0; i < session->inputs.trace_count; i++) {
		if (progress->report)
			progress->report(progress->context, i, session->inputs.trace_count);
		open_process(session, session->inputs.traces[i]);
	}
	for (size_t i = 0; i < session->inputs.firmware_count; i++)
		open_firmware(session, session->inputs.firmware[i]);
	if (session->process_count)
		qsort(session->processes, session->process_count, sizeof(*session->processes),
		      compare_processes);
	for (size_t i = 0; i < session->process_count; i++) {
		struct post_process *process = session->processes[i];
		process->index = (uint32_t)i;
		for (size_t m = 0; m < process->trace->module_count; m++) {
			const struct post_module_record *record = &process->trace->modules[m];
			struct post_mapping mapping = {
				.start = record->record.text_start,
				.end = record->record.text_end,
				.bias = record->record.load_bias,
				.first_epoch = record->record.epoch,
				.end_epoch = record->end_epoch,
				.recorded = true,
			};
			mapping.module = post_modules_recorded(session, process, &record->record);
			POST_GROW(process->mappings, process->mapping_count,
				  process->mapping_capacity);
			process->mappings[process->mapping_count++] = mapping;
		}
		if (process->has_maps)
			post_modules_map(session, process);
		post_counted_take(session, process);
	}
}

void post_session_none_says(const struct post_session *session, const char *what, uint32_t modes,
			    const char *names)
{
	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_trace *trace = session->processes[i]->trace;

		if (trace->header.mode >= 32 || !(modes >> trace->header.mode & 1))
			continue;
		post_problem_at(session->problems, trace->path, LITIFUT_NO_ADDRESS,
				"nothing in it says %s: the file was cut, the program was killed "
				"before that was written, or recording was off",
				what);
		return;
	}
	post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
			"no trace says %s: link with LITIFUT_MODE=%s", what, names);
}

void post_session_close(struct post_session *session)
{
	for (size_t i = 0; i < session->process_count; i++) {
		struct post_process *process = session->processes[i];
		for (size_t t = 0; t < process->thread_count; t++)
			free(process->threads[t]);
		free(process->threads);
		post_table_release(&process->thread_index);
		for (unsigned c = 0; c < POST_CACHES; c++)
			free(process->caches[c].slots);
		free(process->mappings);
		post_maps_release(&process->maps);
		post_trace_close(process->trace);
		free(process);
	}
	free(session->processes);
	free(session->lanes);
	for (size_t i = 0; i < session->module_count; i++) {
		free(session->modules[i].name);
		post_image_close(session->modules[i].image);
	}
	free(session->modules);
	free(session->functions);
	for (size_t i = 0; i < session->parameter_count; i++)
		free(session->parameters[i]);
	free(session->parameters);
	free(session->calls);
	post_table_release(&session->function_index);
	post_table_release(&session->call_index);
	post_table_release(&session->site_index);
	for (size_t i = 0; i < session->text_count; i++)
		free(session->texts[i]);
	free(session->texts);
	post_inputs_release(&session->inputs);
}
