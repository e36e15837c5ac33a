/* The life of a trace: the first event of a process, fork, modules that come
 * and go, switching off and on, and the end. */

#include <linux/auxvec.h>
#include <stddef.h>

#include "tracer/recorder/recorder.h"
#include "tracer/port/linux/system.h"

#define LITIFUT_SCRATCH_BYTES 16384
#define LITIFUT_PUBLIC __attribute__((visibility("default")))

/* What the kernel tells of itself and the CPU, as pairs that end with AT_NULL.
 * Several threads may come here at once, and all write the same. Only the
 * kernel's word makes a process one that others may give settings to. */
static void litifut_take_auxiliary_vector(const uint32_t *pair, const uint32_t *end)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t hwcap = 0;
	uint32_t page_bytes = 4096;
	uint32_t secure = 1;

	for (; pair + 1 < end && pair[0] != AT_NULL; pair += 2) {
		if (pair[0] == AT_HWCAP)
			hwcap = pair[1];
		else if (pair[0] == AT_PAGESZ && pair[1])
			page_bytes = pair[1];
		else if (pair[0] == AT_PHDR)
			r->program_headers = pair[1];
		else if (pair[0] == AT_PHNUM)
			r->program_header_count = pair[1];
		else if (pair[0] == AT_SYSINFO_EHDR)
			r->vdso = pair[1];
		else if (pair[0] == AT_SECURE)
			secure = pair[1];
	}
	r->page_bytes = page_bytes;
	r->secure = secure;
	r->features = litifut_port_detect(hwcap);
}

static void litifut_read_auxiliary_vector(void)
{
	uint32_t buffer[128];
	const uint32_t *word = buffer;
	const uint32_t *end;
	long descriptor = litifut_open("/proc/self/auxv", O_RDONLY, 0);
	long got = -EACCES;

	if (!litifut_failed(descriptor)) {
		got = LITIFUT_CALL3(read, descriptor, buffer, sizeof(buffer));
		litifut_close(descriptor);
	}
	if (litifut_failed(got)) {
		/* a set-uid program whose user is not root can't open that file */
		word = litifut_stack_environment((char *)buffer, sizeof(buffer));
		while (word && *word++)
			;
		end = word ? (const uint32_t *)UINT32_MAX : NULL;
	} else {
		end = word + got / 4;
	}
	litifut_take_auxiliary_vector(word, end);
}

/* The base name of the executable; of the first module when /proc is not there. */
static void litifut_name_program(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	char path[LITIFUT_PATH_BYTES];
	const char *name = path;
	long length = LITIFUT_CALL3(readlink, "/proc/self/exe", path, sizeof(path) - 1);
	uint32_t i = 0;

	if (length <= 0) {
		name = module->name;
	} else {
		path[length] = 0;
		for (const char *at = path; *at; at++)
			if (*at == '/')
				name = at + 1;
	}
	for (; name[i] && i < sizeof(r->program) - 1; i++)
		r->program[i] = name[i] == '/' ? '_' : name[i];
	r->program[i] = 0;
}

void litifut_header_fill(const struct litifut_trace_file *file)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_trace_header *header = file->header;

	header->byte_order = LITIFUT_BYTE_ORDER_MARK;
	header->version_major = LITIFUT_TRACE_VERSION_MAJOR;
	header->version_minor = LITIFUT_TRACE_VERSION_MINOR;
	header->header_bytes = LITIFUT_HEADER_BYTES;
	header->chunk_bytes = r->chunk_mask + 1;
	header->machine = LITIFUT_PORT_MACHINE;
	header->word_bytes = 4;
	header->pid = file->process;
	header->parent_pid = (uint32_t)LITIFUT_CALL0(getppid);
	header->clock = r->clock;
	header->wrong_settings = r->settings.wrong;
	header->clock_hertz = r->clock == LITIFUT_CLOCK_CYCLE ? litifut_port_counter_hertz() : 0;
	header->flags = LITIFUT_PORT_TRACE_FLAGS | (r->settings.dedup ? LITIFUT_TRACE_DEDUP : 0);
	header->state = LITIFUT_TRACE_RUNNING;
	header->start_realtime_ns = litifut_nanoseconds(0);
	header->start_monotonic_ns = litifut_nanoseconds(1);
	litifut_copy(header->program, r->program, sizeof(header->program));
	litifut_port_barrier(r->features);
	litifut_copy(header->magic, LITIFUT_TRACE_MAGIC, sizeof(header->magic));
}

/* Opens the trace of this process. The phase is BUSY. */
static bool litifut_trace_open(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	r->file.process = litifut_process_id();
	r->file.chunk_count = 0;
	r->file.last_number = 0;
	r->events = 0;
	r->metadata = 0;
	r->compact = 0;
	r->scratch_busy = 0;
	r->full = 0;
	r->last_serial = 0;
	if (!litifut_trace_create(&r->file))
		return false;
	litifut_header_fill(&r->file);
	litifut_bloom_start();
	litifut_maps_write(&r->file);
	return true;
}

static void litifut_phase_end(bool good)
{
	struct litifut_recorder *r = &litifut_recorder;

	litifut_port_barrier(r->features);
	r->phase = good ? LITIFUT_PHASE_READY : LITIFUT_PHASE_OFF;
	litifut_update_fast();
	if (good && r->lost_early) {
		litifut_lose(r->lost_early);
		r->lost_early = 0;
	}
}

static bool litifut_process_set_up(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	long scratch = litifut_map(0, LITIFUT_SCRATCH_BYTES, PROT_READ | PROT_WRITE, -1, 0);

	if (litifut_failed(scratch))
		return false;
	litifut_name_program(module);
	litifut_settings_read(module->defaults, (char *)scratch, LITIFUT_SCRATCH_BYTES);
	litifut_unmap((uint32_t)scratch, LITIFUT_SCRATCH_BYTES);
	litifut_files_start();
	r->chunk_mask = litifut_settings_chunk_bytes() - 1;
	r->recording = !r->settings.start_off;
	litifut_clock_start();
	if (!litifut_threads_start() || !litifut_trace_open())
		return false;
	litifut_signal_start();
	return true;
}

bool litifut_process_start(const struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_signals signals;
	bool good;

	/* `features` is not known yet. All it decides is how words are exchanged,
	 * and every thread that comes here finds out the same. */
	litifut_read_auxiliary_vector();
	litifut_signals_block(&signals);
	if (litifut_exchange(&r->phase, LITIFUT_PHASE_NEW, LITIFUT_PHASE_BUSY))
		litifut_phase_end(litifut_process_set_up(module));
	good = r->phase == LITIFUT_PHASE_READY;
	litifut_signals_restore(&signals);
	return good;
}

void litifut_module_describe(const struct litifut_module *module, uint32_t serial,
			     struct litifut_module_words *words)
{
	struct litifut_module_record *record = &words->record;

	words->control = LITIFUT_CONTROL_WORD(LITIFUT_WORD_MODULE, sizeof(*record) / 4);
	record->serial = serial;
	record->epoch = litifut_recorder.epoch;
	record->load_bias = (uint32_t)module - module->link_address;
	record->text_start = module->text_start + record->load_bias;
	record->text_end = module->text_end + record->load_bias;
	record->flags = module->flags;
	record->build_id_bytes = module->build_id_bytes;
	litifut_copy(record->build_id, module->build_id, sizeof(record->build_id));
	litifut_copy(record->name, module->name, sizeof(record->name));
}

static void litifut_module_write(struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_module_words words;
	uint32_t *place;

	litifut_module_describe(module, litifut_add(&r->last_serial, 1) + 1, &words);
	module->load_bias = words.record.load_bias;
	place = litifut_reserve(&r->metadata, sizeof(words), LITIFUT_CHUNK_METADATA,
				LITIFUT_ENCODING_WORDS, r->file.process);
	if (place)
		litifut_fill(place, (const uint32_t *)&words, sizeof(words) / 4);
	module->serial = words.record.serial;
	litifut_port_barrier(r->features);
	module->met = module->flags & LITIFUT_MODULE_SPAWNS ? -1 : 1;
}

/* Changes the first slot that holds `from` to `to`. NULL is in a new one at the latest;
 * false without memory for it, or when no slot holds the module `from`. */
static bool litifut_modules_change(struct litifut_module *from, struct litifut_module *to)
{
	struct litifut_modules *list = &litifut_recorder.modules;

	for (;;) {
		long more;

		for (uint32_t i = 0; i < LITIFUT_MODULE_SLOTS; i++)
			if (litifut_exchange((uint32_t *)&list->slots[i], (uint32_t)from,
					     (uint32_t)to))
				return true;
		if (!list->next) {
			if (from)
				return false;
			more = litifut_map(0, sizeof(*list), PROT_READ | PROT_WRITE, -1, 0);
			if (litifut_failed(more))
				return false;
			if (!litifut_exchange((uint32_t *)&list->next, 0, (uint32_t)more))
				litifut_unmap((uint32_t)more, sizeof(*list));
		}
		list = list->next;
	}
}

struct litifut_module *litifut_modules_next(uint32_t *place)
{
	const struct litifut_modules *list = &litifut_recorder.modules;
	uint32_t index = *place;

	for (; list && index >= LITIFUT_MODULE_SLOTS; index -= LITIFUT_MODULE_SLOTS)
		list = list->next;
	for (; list; list = list->next, index = 0) {
		for (; index < LITIFUT_MODULE_SLOTS; index++) {
			++*place;
			if (list->slots[index])
				return list->slots[index];
		}
	}
	return NULL;
}

void litifut_module_announce(struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;

	/* One does it; events of others may come before the record, which does
	 * no harm, because readers read all records first. */
	if (!litifut_exchange(&module->registered, 0, 1))
		return;
	litifut_modules_change(NULL, module);
	litifut_add(&r->modules_live, 1);
	litifut_spawn_module(module);
	litifut_module_write(module);
	module->registered = 2;
}

/* Thunks do not ask whether their module is known, so it is made known before
 * they can run. */
LITIFUT_PUBLIC void litifut_module_enter(struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;

	if (r->phase == LITIFUT_PHASE_OFF || !litifut_process_ready(module))
		return;
	litifut_module_announce(module);
	if (!r->thunks && litifut_fork_start(module)) {
		r->thunks = 1;
		litifut_update_fast();
	}
}

static bool litifut_trace_open_again(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_module *module;

	r->file.header = NULL; /* the parent's; stays mapped for an interrupted writer */
	if (litifut_is_trace(&r->file))
		litifut_close(r->file.descriptor);
	r->file.descriptor = -1;
	if (r->thunks)
		litifut_cursor_drop();
	litifut_threads_forget();
	if (!litifut_trace_open())
		return false;
	for (uint32_t at = 0; (module = litifut_modules_next(&at));)
		litifut_module_write(module);
	return true;
}

bool litifut_process_forked(uint32_t process)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_signals signals;
	bool good;

	/* A child of vfork has the memory of its parent, which waits for it and
	 * must find it as it was. Where the kernel empties the table of threads
	 * in a real copy, a full one tells; elsewhere libc's id word does. */
	if (litifut_threads_in_use() && !litifut_is_libc_thread())
		return false;
	litifut_signals_block(&signals);
	/* Whoever of several threads comes first does it. The parent may have
	 * been in the middle of something of this kind in another thread, which
	 * is not here to finish it. */
	if (litifut_exchange(&r->file.process, r->file.process, process)) {
		r->phase = LITIFUT_PHASE_BUSY;
		r->fast = LITIFUT_FAST_NONE;
		r->lost_early = 0;
		litifut_phase_end(litifut_trace_open_again());
	}
	good = r->phase == LITIFUT_PHASE_READY;
	litifut_signals_restore(&signals);
	return good;
}

void litifut_trace_finish(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	r->file.header->state = LITIFUT_TRACE_STOPPED;
	litifut_maps_write(&r->file);
	litifut_files_carry();
}

/* At exit each module comes here, the executable first and the libraries in
 * reverse order of need; with dlclose, the one that goes. The trace ends with
 * the last. Only a library that goes before the executable does is told as
 * unloaded: afterwards the program is ending, and other threads may still run
 * code of modules that have been here. */
LITIFUT_PUBLIC void litifut_module_leave(struct litifut_module *module)
{
	struct litifut_recorder *r = &litifut_recorder;

	if (r->phase != LITIFUT_PHASE_READY || r->file.process != litifut_process_id() ||
	    !module->serial)
		return;
	if (module->flags & LITIFUT_MODULE_EXECUTABLE)
		r->exiting = 1;
	litifut_modules_change(module, NULL);
	if (!r->exiting) {
		uint32_t epoch = litifut_add(&r->epoch, 1) + 1;
		uint32_t words[3] = {LITIFUT_CONTROL_WORD(LITIFUT_WORD_UNLOAD, 2), module->serial,
				     epoch};
		uint32_t *place =
			litifut_reserve(&r->metadata, sizeof(words), LITIFUT_CHUNK_METADATA,
					LITIFUT_ENCODING_WORDS, r->file.process);

		if (place)
			litifut_fill(place, words, 3);
		/* every thread tells the new epoch with its next event */
		litifut_threads_recheck();
		litifut_threads_disarm();
		litifut_fork_end(module);
	}
	if (litifut_add(&r->modules_live, UINT32_MAX) == 1)
		litifut_trace_finish();
}
