/* A firmware is linked twice: as it is, to see which calls it has, and with the room for
 * their stubs and counters. Where that does not fit into the memory that the script gives
 * it, once more with smaller stubs. More than 500 lines, because all steps of the two links change
 * the one state of a link. */
#include "ldwrap/firmware.h"

#include <fnmatch.h>
#include <litifut/firmware_pool.h>
#include <litifut/frames_format.h>
#include <litifut/kept_format.h>
#include <litifut/trace_format.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "cpu/cpu.h"
#include "ldwrap/chosen_files.h"
#include "ldwrap/command.h"
#include "ldwrap/deliver.h"
#include "ldwrap/firmware_asks.h"
#include "ldwrap/firmware_clock.h"
#include "ldwrap/firmware_kept.h"
#include "ldwrap/firmware_memory.h"
#include "ldwrap/firmware_pin.h"
#include "ldwrap/firmware_port.h"
#include "ldwrap/firmware_send.h"
#include "ldwrap/map.h"
#include "ldwrap/patterns.h"
#include "ldwrap/process.h"
#include "ldwrap/run_linker.h"
#include "ldwrap/strip.h"
#include "rewriter/firmware.h"

/* Calls that can be open at the same time, unless LITIFUT_DEPTH says otherwise. */
#define USUAL_DEPTH 32

/* The numbers that are tried where these find no room. */
static const unsigned small_depths[] = {16, 8};

/* KB of the ring of events, and most of them, likewise. */
#define USUAL_RING_KB 2
#define MOST_RING_KB 1024

struct firmware_link {
	const struct link_request *request;
	const char *runtime;
	const struct cpu_objects *objects; /* of its CPU */
	struct firmware_port port;
	struct firmware_send send;
	struct firmware_pin pin;
	struct firmware_clock clock;
	struct firmware_kept kept;
	struct firmware_asks asks;
	struct patterns patterns;
	struct litifut_firmware_options options;
	struct text_list excluded;
	struct chosen_files chosen;
	struct litifut_firmware_plan plan;
	struct link_files files;
	struct map map;            /* of the last link */
	bool bytes;                /* counters of a byte, where calls are counted */
	const char *object;        /* that reserves the room; owned by the scratch module */
	bool overflows;            /* the last link failed because something did not fit */
	bool depth_helps;          /* the pool of open calls is where room is missing */
	const char *times_refused; /* see struct link_outcome */
};

/* Behind the last of the user's objects, so that what it names is taken from the tracer's
 * archive, and before the end of the start-up files. */
static size_t place_of(const struct arguments *arguments)
{
	size_t place = 0;

	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];

		if (item->kind == ARGUMENT_INPUT && !item->foreign &&
		    fnmatch("crt*.o", lbasename(item->value), 0))
			place = i + 1;
	}
	return place;
}

static void add_word(struct text_list *words, char *word)
{
	text_list_append(words, word);
	free(word);
}

static void keep(struct text_list *words, const char *symbol)
{
	text_list_append(words, "-u");
	text_list_append(words, symbol);
}

static void add_words(struct text_list *words, const char *const *added)
{
	for (; added && *added; added++)
		text_list_append(words, *added);
}

static char *object_path(const struct firmware_link *link, const char *suffix)
{
	return xasprintf("%s/firmware-%s%s", link->request->object_folder, link->runtime, suffix);
}

static bool sends(const struct firmware_link *link)
{
	return (link->plan.sends || link->asks.sends || link->send.every) && link->port.sends;
}

static void keep_number(struct text_list *words, const char *symbol, uint32_t number)
{
	add_word(words, xasprintf("--defsym=%s=%u", symbol, (unsigned)number));
}

static void keep_pin(const struct firmware_pin *pin, struct text_list *words)
{
	keep_number(words, "litifut_pin_set_register", pin->set.address);
	keep_number(words, "litifut_pin_set_value", pin->set.value);
	keep_number(words, "litifut_pin_clear_register", pin->clear.address);
	keep_number(words, "litifut_pin_clear_value", pin->clear.value);
	keep_number(words, "litifut_pin_every", pin->every);
}

/* LITIFUT_MODE=paths: a ring that outlasts a reset is found by what paths.c does first. */
static void keep_paths(const struct firmware_link *link, struct text_list *words)
{
	keep(words, link->options.numbers
			    ? "litifut_path_add"
			    : "litifut_bit_zero"); /* and all that is in one section with it */
	keep_number(words, "litifut_paths_sends",
		    !sends(link) || link->kept.used ? 0
		    : link->options.packed          ? 2
						    : 1);
	keep_number(words, "litifut_paths_searches", !link->options.units);
	if (link->plan.pattern_words)
		keep(words, LITIFUT_FIRMWARE_PATTERNS);
	if (!link->kept.used)
		return;
	keep_number(words, "litifut_kept", link->kept.address);
	keep_number(words, LITIFUT_FIRMWARE_TABLE, link->kept.address + KEPT_BYTES);
}

/* Has the tracer a timer to itself, in whose interrupt it sets the pin? */
static bool has_own_clock(const struct firmware_link *link)
{
	return link->objects->firmware_clock != NULL;
}

static bool is_table(const struct firmware_link *link)
{
	return link->options.times && !link->options.spans;
}

/* KB of the ring where the usual one has no room; else 0. */
static unsigned small_ring(const struct firmware_link *link)
{
	return link->plan.ring_events && !link->request->settings->ring_kb &&
			       link->options.ring_bytes < 1024 * USUAL_RING_KB
		       ? (unsigned)(link->options.ring_bytes / 1024)
		       : 0;
}

/* Open calls that have entries where the usual number has no room; else 0. */
static unsigned small_depth(const struct firmware_link *link)
{
	return is_table(link) && link->options.depth < USUAL_DEPTH &&
			       !link->request->settings->depth
		       ? link->options.depth
		       : 0;
}

/* A ring that outlasts a reset has no events until litifut_kept_begin() has looked at it. */
static void keep_ring(const struct firmware_link *link, struct text_list *words)
{
	const uint32_t events = (uint32_t)link->plan.ring_events;

	if (link->kept.used) {
		keep(words, "litifut_kept_begin");
		keep_number(words, "litifut_kept", link->kept.address);
		keep_number(words, "litifut_kept_events", events);
		keep_number(words, LITIFUT_FIRMWARE_TABLE, link->kept.address + KEPT_BYTES);
	}
	keep_number(words, "litifut_ring_events", link->kept.used ? 1 : events);
	if (small_ring(link))
		keep_number(words, LITIFUT_FIRMWARE_RING_UNFIT, USUAL_RING_KB);
	keep_number(words, "litifut_ring_limit",
		    link->kept.used ? 0
		    : sends(link)   ? events
				    : RING_NO_LIMIT);
	if (!has_own_clock(link) && (link->options.times || link->kept.used))
		add_word(words,
			 xasprintf("--defsym=litifut_span_begin=%s",
				   link->kept.used ? "litifut_kept_begin" : "litifut_clock_start"));
}

/* What all modes with events need. */
static void keep_events(const struct firmware_link *link, struct text_list *words)
{
	keep_ring(link, words);
	/* stubs lead to it and to what is in one section with it, but the linker does not see that
	 */
	keep(words, "litifut_span_note");
	for (unsigned high = 1; high <= link->plan.recorders; high++) {
		char *name =
			xasprintf("litifut_span_%s%s_%u", link->options.stream ? "note" : "call",
				  link->options.switched ? "_switched" : "", high);

		keep(words, name);
		free(name);
	}
	if (link->asks.marks)
		keep(words, "litifut_mark");
	keep_number(words, "litifut_clock_hertz", link->clock.hertz);
}

static void keep_small_times(const struct firmware_link *link, struct text_list *words)
{
	add_word(words, xasprintf("--defsym=litifut_records=" LITIFUT_FIRMWARE_TABLE
				  "-" LITIFUT_FIRMWARE_STUBS "-" LITIFUT_FIRMWARE_STUBS));
	if (sends(link))
		keep(words, "litifut_clock_read");
}

static void keep_times(const struct firmware_link *link, struct text_list *words)
{
	if (link->options.spans) {
		if (link->pin.used)
			keep_pin(&link->pin, words);
		if (link->pin.used && !has_own_clock(link))
			keep(words, "litifut_pin_gate");
	} else {
		char *name = xasprintf("litifut_time_call%s%s", link->options.tasks ? "_tasks" : "",
				       link->options.switched ? "_switched" : "");

		keep(words, name);
		free(name);
		if (link->options.tasks)
			keep_number(words, "litifut_task_name", link->plan.task_name);
		if (link->plan.small_times)
			keep_small_times(link, words);
		else
			keep(words, "litifut_calibration");
		keep_number(words, "litifut_clock_hertz", link->clock.hertz);
		keep_number(words, LITIFUT_FIRMWARE_DEPTH, link->options.depth);
		if (small_depth(link))
			keep_number(words, LITIFUT_FIRMWARE_DEPTH_UNFIT, USUAL_DEPTH);
	}
	keep(words, LITIFUT_FIRMWARE_OPEN);
	if (link->options.clock)
		keep(words, link->options.clock);
	if (link->plan.jumps)
		keep(words, link->options.spans ? "litifut_span_jump_gate" : "litifut_jump_gate");
	add_word(words, xasprintf("--defsym=litifut_open_end=" LITIFUT_FIRMWARE_OPEN "+%zu",
				  link->plan.open_bytes));
}

/* What the program itself calls, by weak references, or the settings ask for. */
static void keep_asked(const struct firmware_link *link, struct text_list *words)
{
	if (link->options.switched)
		keep(words, "litifut_start");
	if (link->options.start_at)
		keep(words, "litifut_start_gate");
	if (link->asks.resets && link->plan.can_reset)
		keep(words, "litifut_reset");
	if (link->asks.sends && link->port.sends)
		keep(words, "litifut_send");
}

/* A call sends the results, or begins it where interrupts go on with it. */
static void keep_sending(const struct firmware_link *link, struct text_list *words)
{
	if (link->plan.sends && link->port.sends)
		keep(words, link->options.transmits && link->send.asked ? "litifut_begin_gate"
									: "litifut_send_gate");
	if (link->send.every)
		keep(words, "litifut_tick_gate");
	if (link->send.every || link->options.transmits)
		keep_number(words, "litifut_send_every", link->send.every);
	if (!link->options.transmits)
		return;
	keep(words, "litifut_transmit");
	keep_number(words, "litifut_port_interrupt", link->port.interrupt);
}

static const char *pointer_code(const struct firmware_link *link)
{
	const bool switched = link->options.switched;

	if (link->options.spans)
		return "litifut_span_pointer";
	if (link->options.times)
		return switched ? "litifut_time_pointer_switched" : "litifut_time_pointer";
	return switched ? "litifut_count_pointer_switched" : "litifut_count_pointer";
}

/* A ring is not sent as a table. */
static uint32_t sent_words(const struct firmware_link *link)
{
	const size_t bytes = link->plan.byte_counters;

	return link->options.spans || link->options.paths
		       ? 0
		       : (uint32_t)(link->plan.table_words - bytes / 4 + bytes +
				    link->plan.overflow_words);
}

/* The sender for what is recorded, and for how it is sent. */
static char *sender(const struct firmware_link *link)
{
	char *name = xasprintf("-send_%s%s.o",
			       link->options.spans    ? "events"
			       : link->options.packed ? "packed"
			       : link->options.paths  ? "branches"
			       : link->options.tasks  ? "times_tasks"
			       : link->options.times  ? "times"
			       : link->options.bytes  ? "bytes"
						      : "table",
			       link->options.transmits || link->send.every ? "_background" : "");
	char *path = object_path(link, name);

	free(name);
	return path;
}

/* Adds the tracer's files, and the symbols that are taken from them, to the second link. */
static size_t add_ours(const struct firmware_link *link, struct insertion *insertions,
		       struct text_list *words)
{
	const struct litifut_firmware_plan *plan = &link->plan;
	size_t place = place_of(link->request->arguments);
	size_t count = 0;

	insertions[count++] = (struct insertion){place, link->object};
	if (link->port.object)
		insertions[count++] = (struct insertion){place, link->port.object};
	if (link->port.driver) {
		char *name = xasprintf("-%s.o", link->port.driver);

		insertions[count++] = (struct insertion){place, object_path(link, name)};
		free(name);
	}
	if (link->options.transmits) {
		char *name = xasprintf("-%s_transmit.o", link->port.driver);

		insertions[count++] = (struct insertion){place, object_path(link, name)};
		free(name);
	}
	/* Where there is only one, it is in the archive. */
	if (link->options.times && !has_own_clock(link)) {
		char *name = xasprintf("-clock-%s.o", link->clock.driver);

		insertions[count++] = (struct insertion){place, object_path(link, name)};
		free(name);
	}
	if (is_table(link)) {
		char *name = xasprintf("-calls-time%s%s.o", link->options.tasks ? "_tasks" : "",
				       link->options.switched ? "_switched" : "");

		insertions[count++] = (struct insertion){place, object_path(link, name)};
		free(name);
	}
	if (link->options.stream) {
		char *name =
			xasprintf("-spans-stream%s%s.o", link->options.switched ? "_switched" : "",
				  link->kept.used ? "_kept" : "");

		insertions[count++] = (struct insertion){place, object_path(link, name)};
		free(name);
	} else if (link->options.spans) {
		char *name = xasprintf(
			"-spans-call%s%s%s%s.o", strcmp(link->clock.driver, "dwt") ? "" : "_dwt",
			link->pin.used && has_own_clock(link) ? "_pin" : "",
			link->options.switched ? "_switched" : "", link->kept.used ? "_kept" : "");

		insertions[count++] = (struct insertion){place, object_path(link, name)};
		free(name);
	}
	if (link->options.paths) {
		char *name = xasprintf("-paths-%s%s.o", link->options.numbers ? "numbers" : "bits",
				       link->kept.used ? "_kept" : "");

		insertions[count++] = (struct insertion){place, object_path(link, name)};
		free(name);
	}
	if (link->options.numbers)
		insertions[count++] =
			(struct insertion){place, object_path(link, "-paths-numbers_ring.o")};
	if (sends(link))
		insertions[count++] = (struct insertion){place, sender(link)};
	if (link->options.spans && link->asks.resets)
		insertions[count++] =
			(struct insertion){place, object_path(link, "-reset_events.o")};
	insertions[count++] = (struct insertion){place, object_path(link, ".a")};
	if (link->kept.script)
		insertions[count++] = (struct insertion){place, link->kept.script};
	keep(words, LITIFUT_FIRMWARE_STUBS);
	for (unsigned i = 0; i < plan->far_count; i++) {
		char *symbol = xasprintf(LITIFUT_FIRMWARE_FAR_STUBS "%u", i);

		if (plan->far[i].section)
			keep(words, symbol);
		free(symbol);
	}
	keep(words, LITIFUT_FIRMWARE_TABLE);
	keep(words, LITIFUT_FIRMWARE_IDENTITY);
	keep(words, "litifut_module");
	keep(words, "litifut_sites");
	if (link->options.small && !link->options.spans && !link->options.paths &&
	    !link->options.coverage && !link->plan.small_times)
		keep(words, link->options.switched ? "litifut_count_small_switched"
						   : "litifut_count_small");
	if (link->options.spans)
		keep_events(link, words);
	if (link->options.times)
		keep_times(link, words);
	if (link->options.paths)
		keep_paths(link, words);
	if (plan->pointers)
		keep(words, pointer_code(link));
	if (plan->overflow_words)
		keep_number(words, "litifut_overflow_mask", plan->overflow_mask);
	keep_asked(link, words);
	if (plan->samples)
		keep(words, "litifut_sample");
	keep(words, LITIFUT_FIRMWARE_PROFILE);
	keep_sending(link, words);
	add_word(words, xasprintf("--defsym=litifut_table_end=" LITIFUT_FIRMWARE_TABLE "+%zu",
				  4 * plan->table_words));
	if (plan->carries)
		keep_number(words, "litifut_carries_mask",
			    (plan->carries - 1) * (uint32_t)sizeof(struct litifut_carry));
	if (link->options.bytes)
		keep_number(words, "litifut_bytes", (uint32_t)plan->byte_counters);
	keep_number(words, "litifut_words", sent_words(link));
	keep_number(words, "litifut_profile_bins", plan->bins);
	keep_number(words, "litifut_numbers", sent_words(link) + plan->bins);
	if (!link->options.small && !link->options.spans && !link->options.coverage &&
	    !link->options.paths && !link->options.times)
		add_words(words, link->options.bytes ? link->objects->firmware_bytes
						     : link->objects->firmware_fast);
	if (link->port.has_address)
		add_word(words, xasprintf("--defsym=litifut_port_base=0x%x",
					  (unsigned)link->port.address));
	return count;
}

/* Sections of the ELF file that are not loaded: no script has a place for them. Those of the
 * program have been judged in the first link. */
static void keep_orphans(const struct arguments *arguments, struct text_list *words)
{
	const struct argument *orphans = arguments_last(arguments, ARGUMENT_ORPHANS);

	if (orphans && (!strcmp(orphans->value, "error") || !strcmp(orphans->value, "warn")))
		text_list_append(words, "--orphan-handling=place");
}

static enum litifut_status run(struct firmware_link *link, bool ours, struct litifut_error *error)
{
	static const struct text_list no_roots;
	struct insertion insertions[12];
	struct exports exports = {0};
	struct command command = {
		.map = link->files.map,
		.insertions = insertions,
		.roots = &no_roots,
		.exports = &exports,
		.drops_relaxation = link->objects->firmware_relaxes,
	};
	enum linker_result result;
	enum litifut_status status;

	add_words(&exports.words, link->objects->firmware_options);
	/* Weak references are not in the image, but in this table of the map. */
	if (!ours)
		text_list_append(&exports.words, "--cref");
	if (ours) {
		command.insertion_count = add_ours(link, insertions, &exports.words);
		keep_orphans(link->request->arguments, &exports.words);
	}
	result = run_linker(link->request, &link->files, &command, error);
	text_list_release(&exports.words);
	if (result == LINKER_UNDEFINED)
		firmware_port_explain(&link->port, error);
	/* the script may report what does not fit by an ASSERT */
	link->overflows = result == LINKER_OVERFLOW || (ours && result == LINKER_FAILED);
	if (!ours && !result)
		firmware_asks_read(link->files.map, &link->asks);
	if (result)
		return error->status;
	map_release(&link->map);
	status =
		map_read(link->files.map, link->request->linker->kind->read_map, &link->map, error);
	if (status)
		return status;
	return chosen_files_asked(link->request->settings)
		       ? chosen_files_read(&link->chosen, link->request, link->files.map,
					   &link->options.common, error)
		       : LITIFUT_OK;
}

/* The second link, with stubs of the kind that the options name. */
static enum litifut_status link_traced(struct firmware_link *link,
				       struct litifut_rewrite_summary *summary,
				       struct litifut_error *error)
{
	enum litifut_status status;

	link->overflows = false;
	link->plan.header = sends(link);
	status = litifut_firmware_write_object(&link->plan, link->object, error);
	if (!status)
		status = run(link, true, error);
	if (!status) {
		status = litifut_firmware_check_memory(link->files.image, error);
		link->overflows = status != LITIFUT_OK;
	}
	link->options.byte_counters = (uint32_t)link->plan.byte_counters;
	if (!status)
		status = litifut_firmware_apply(link->files.image, &link->options, summary, error);
	return status;
}

/* Where the sections named .text are: one of exactly this name, or else the last of those that
 * begin so. */
static uint32_t code_address(const struct map *map)
{
	uint32_t address = 0;

	for (size_t i = 0; i < map->count; i++) {
		if (map->pieces[i].text)
			address = map->pieces[i].address;
		if (map->pieces[i].text && !strcmp(map->pieces[i].text, ".text"))
			break;
	}
	return address;
}

/* The name of the input section at this address; NULL: there is none that can be used. */
static const char *section_at(const struct map *map, uint32_t address)
{
	for (size_t i = 0; i < map->count; i++)
		if (address - map->pieces[i].address < map->pieces[i].size)
			return strlen(map->pieces[i].section) > LITIFUT_FIRMWARE_SECTION_NAME_MOST
				       ? NULL
				       : map->pieces[i].section;
	return NULL;
}

static const char *stubs_name(const struct firmware_link *link)
{
	return link->options.small ? "small" : link->options.bytes ? "byte" : "fast";
}

static enum litifut_status measure(struct firmware_link *link, struct litifut_error *error)
{
	enum litifut_status status;

	link->options.bytes = link->bytes && !link->options.times && !link->options.spans &&
			      !link->options.paths && !link->options.coverage;
	link->options.code_at = code_address(&link->map);
	link->options.byte_counters = 0;
	status = litifut_firmware_plan(link->files.image, &link->options, &link->plan, error);
	for (unsigned i = 0; i < link->plan.far_count; i++)
		link->plan.far[i].section = section_at(&link->map, link->plan.far[i].site);
	if (!status && (link->options.times || link->options.spans) && link->plan.untimed) {
		link->times_refused = link->plan.untimed;
		link->options.times = link->options.spans = link->kept.used = false;
		link->options.stream = link->options.kept = false;
		link->options.tasks = false;
		return measure(link, error);
	}
	if (!status && link->plan.can_switch && !link->options.switched &&
	    (link->asks.switches || link->options.start_at)) {
		link->options.switched = true;
		link->options.small |= !link->plan.switches_fast;
		return measure(link, error);
	}
	link->options.small |= link->plan.small_times;
	link->options.tasks = !status && link->plan.task;
	if (!status && link->kept.used) {
		status = firmware_kept_place(&link->kept, link->files.map, link->plan.bss,
					     KEPT_BYTES + 4 * link->plan.table_words, error);
		link->options.kept_at = link->kept.address;
	}
	if (!status)
		say_verbose(link->request,
			    "%zu call sites, %zu bytes of %s stubs, %zu bytes of counters",
			    link->plan.sites, link->plan.stub_bytes, stubs_name(link),
			    4 * link->plan.table_words);
	return status;
}

/* What is linked in can bring more of the program with it, which a second plan has seen; what then
 * makes room for a call may have moved. */
#define FURTHER_PLANS 3

static enum litifut_status link_planned(struct firmware_link *link,
					struct litifut_rewrite_summary *summary,
					struct litifut_error *error)
{
	enum litifut_status status = measure(link, error);

	if (!status)
		status = link_traced(link, summary, error);
	for (unsigned i = 0; i < FURTHER_PLANS && status == LITIFUT_ERROR_SPACE; i++) {
		say_verbose(link->request, "link again: %s", error->message);
		status = measure(link, error);
		if (!status)
			status = link_traced(link, summary, error);
	}
	return status;
}

/* The failed link has left no image to measure. */
static enum litifut_status link_again(struct firmware_link *link, const char *how,
				      struct litifut_rewrite_summary *summary,
				      struct litifut_error *error)
{
	say_verbose(link->request, "link again with %s: %s", how, error->message);
	enum litifut_status status = run(link, false, error);

	return status ? status : link_planned(link, summary, error);
}

/* Bytes that the linker says are missing; 0: it says no number. */
static unsigned long missing(const struct litifut_error *error)
{
	static const char words[] = "overflowed by ";
	const char *at = error->message;
	unsigned long sum = 0;

	while ((at = strstr(at, words)) != NULL) {
		at += sizeof(words) - 1;
		sum += strtoul(at, NULL, 10);
	}
	return sum;
}

/* Of several tries the one is reported that lacks least. */
static void keep_nearest(struct litifut_error *nearest, const struct litifut_error *error)
{
	if (!missing(nearest) || (missing(error) && missing(error) < missing(nearest)))
		*nearest = *error;
}

/* The pool stays as it is where that does not change what is missing: if the flash is full. */
static enum litifut_status link_with_small_pool(struct firmware_link *link,
						struct litifut_rewrite_summary *summary,
						struct litifut_error *nearest,
						struct litifut_error *error)
{
	enum litifut_status status = error->status;

	for (size_t i = 0;
	     status && link->overflows && i < sizeof(small_depths) / sizeof(*small_depths); i++) {
		const unsigned depth = link->options.depth;
		const unsigned long before = missing(error);

		link->options.depth = small_depths[i];
		status = link_again(link, "room for fewer open calls", summary, error);
		if (status && missing(error) == before) {
			link->options.depth = depth;
			break;
		}
		/* also if more is missing: for the stack, now that the sections fit */
		*nearest = *error;
		link->depth_helps = true;
	}
	return status;
}

/* Can so many bytes less be enough? Where it is not known how many are missing, they may be. */
static bool may_be_enough(const struct litifut_error *error, unsigned long bytes)
{
	return missing(error) <= bytes;
}

/* Adds what the user can do where the tracer has no room. */
static void advise(const struct firmware_link *link, struct litifut_error *error)
{
	const struct settings *settings = link->request->settings;
	const size_t length = strlen(error->message);
	char more[80] = "";

	if (is_table(link) && (link->depth_helps || settings->depth > 1) &&
	    may_be_enough(error, link->plan.open_bytes))
		snprintf(more, sizeof(more), ", or set LITIFUT_DEPTH to fewer open calls than %u",
			 link->options.depth);
	else if (settings->stubs && !link->options.spans && !link->options.paths)
		strcpy(more, ", or do not set LITIFUT_STUBS");
	else if (link->plan.ring_events && settings->ring_kb > 1 &&
		 may_be_enough(error, settings->ring_kb * 1024UL))
		snprintf(more, sizeof(more), ", or set LITIFUT_RING_KB to less than %u",
			 (unsigned)settings->ring_kb);
	snprintf(error->message + length, sizeof(error->message) - length,
		 ": trace fewer functions (LITIFUT_INCLUDE)%s", more);
}

static enum litifut_status link_until_it_fits(struct firmware_link *link,
					      struct litifut_rewrite_summary *summary,
					      struct litifut_error *error)
{
	enum litifut_status status = link_planned(link, summary, error);
	struct litifut_error nearest = {0};

	if (status)
		nearest = *error;
	if (status && link->overflows && link->options.tasks && !link->request->settings->task) {
		link->options.task = "none";
		status = link_again(link, "no times of tasks", summary, error);
		keep_nearest(&nearest, error);
	}
	if (status && link->overflows && link->plan.ring_events &&
	    !link->request->settings->ring_kb) {
		link->options.ring_bytes = 1024;
		status = link_again(link, "a ring of 1 KB", summary, error);
		keep_nearest(&nearest, error);
	}
	if (status && link->overflows && is_table(link) && !link->request->settings->depth)
		status = link_with_small_pool(link, summary, &nearest, error);
	if (status && link->overflows && !link->options.small && !link->request->settings->stubs) {
		link->options.small = true;
		status = link_again(link, "small stubs", summary, error);
		keep_nearest(&nearest, error);
	}
	if (status && link->overflows && link->objects->firmware_bytes && !link->plan.small_times &&
	    !link->request->settings->stubs) {
		link->options.small = false;
		link->bytes = true;
		status = link_again(link, "counters of a byte", summary, error);
		keep_nearest(&nearest, error);
		link->options.small = status != LITIFUT_OK;
		link->bytes = status == LITIFUT_OK;
	}
	if (status && link->overflows && link->options.sample_at) {
		link->options.few_bins = true;
		status = link_again(link, "few bins for samples", summary, error);
		keep_nearest(&nearest, error);
	}
	if (status && link->overflows)
		*error = nearest;
	if (status && link->overflows && (is_table(link) || missing(error)))
		advise(link, error);
	return status;
}

static enum litifut_status read_stubs(struct firmware_link *link, struct litifut_error *error)
{
	const char *text = link->request->settings->stubs;

	if (text && strcmp(text, "fast") && strcmp(text, "small") && strcmp(text, "byte"))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_STUBS: neither fast, small nor byte: %s", text);
	link->options.small = text && !strcmp(text, "small");
	link->bytes = text && !strcmp(text, "byte");
	return link->bytes && !link->objects->firmware_bytes
		       ? litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					   LITIFUT_NO_ADDRESS,
					   "LITIFUT_STUBS: byte is for AVR only")
		       : LITIFUT_OK;
}

/* What the ELF file says of itself is in sections that no script names. */
static enum litifut_status check_orphans(const struct arguments *arguments,
					 struct litifut_error *error)
{
	const struct argument *orphans = arguments_last(arguments, ARGUMENT_ORPHANS);

	return orphans && !strcmp(orphans->value, "discard")
		       ? litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					   LITIFUT_NO_ADDRESS,
					   "--orphan-handling=discard drops the list of call sites")
		       : LITIFUT_OK;
}

static enum litifut_status prepare_send(struct firmware_link *link, struct litifut_error *error)
{
	link->options.send_at = link->send.function;
	link->options.send_asked = link->send.asked;
	link->options.timer_at = link->send.timer;
	link->options.ticks |= link->send.every && !link->send.timer;
	link->options.transmits =
		link->port.has_interrupt && (link->send.every || link->send.asked);
	link->options.transmitter = link->port.interrupt;
	if (link->send.every && !link->send.timer && link->objects->firmware_handlers)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
			"LITIFUT_SEND: tick:N has to name the handler of a timer for this CPU: "
			"tick:N:%s",
			link->objects->firmware_handlers);
	return link->send.every && !link->port.sends
		       ? litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					   LITIFUT_NO_ADDRESS,
					   "LITIFUT_SEND=tick: needs LITIFUT_PORT")
		       : LITIFUT_OK;
}

static enum litifut_status prepare(struct firmware_link *link, struct litifut_error *error)
{
	const struct settings *settings = link->request->settings;
	enum litifut_status status;

	text_list_append(&link->excluded, "_mcount");
	text_list_append(&link->excluded, "__gnu_mcount*");
	for (size_t i = 0; i < settings->exclude.count; i++)
		text_list_append(&link->excluded, settings->exclude.items[i]);
	link->options.common = (struct litifut_rewrite_options){
		.exclude_functions = (const char *const *)link->excluded.items,
		.asked_excludes = (const char *const *)settings->exclude.items,
		.exclude_callees = (const char *const *)settings->exclude_callees.items,
		.include_functions = (const char *const *)settings->include.items,
		.units = (const char *const *)settings->units.items,
		.tail_calls = settings->tail_calls,
		.engine = settings->engine,
		.name = lbasename(arguments_output(link->request->arguments)),
		.sites_file = link->files.sites,
	};
	chosen_files_prepare(&link->chosen, link->request, NULL, 0);
	link->options.includes = settings->include.count || settings->include_objects.count ||
				 settings->include_libs.count;
	link->options.excludes = settings->exclude.count || settings->exclude_objects.count ||
				 settings->exclude_libs.count;
	link->options.sample_at = settings->sample;
	link->options.start_at = settings->start_at;
	link->options.task = settings->task;
	link->options.stream = settings->recorded == LITIFUT_MODE_STREAM;
	link->options.spans = link->options.stream || settings->recorded == LITIFUT_MODE_SPANS;
	link->options.units = settings->recorded == LITIFUT_MODE_UNITS;
	link->options.numbers = settings->recorded == LITIFUT_MODE_BALLLARUS;
	link->options.paths = link->options.units || link->options.numbers ||
			      settings->recorded == LITIFUT_MODE_PATHS;
	link->options.packed = settings->recorded == LITIFUT_MODE_PATHS &&
			       (settings->compact || settings->patterns);
	link->options.coverage = settings->recorded == LITIFUT_MODE_COVERAGE;
	link->options.times = settings->recorded == LITIFUT_MODE_SPANS ||
			      settings->recorded == LITIFUT_MODE_TABLE;
	link->options.ring_bytes =
		1024 * (size_t)(!settings->ring_kb ? (link->options.packed ? 0 : USUAL_RING_KB)
				: settings->ring_kb < MOST_RING_KB ? settings->ring_kb
								   : MOST_RING_KB);
	link->options.depth = settings->depth ? settings->depth : USUAL_DEPTH;
	link->options.callees = settings->callees;
	link->options.carries = settings->carries;
	link->object = scratch_file("litifut-room.o");
	status = check_orphans(link->request->arguments, error);
	if (!status && link->options.packed && settings->patterns)
		status = patterns_read(settings->patterns, &link->patterns, error);
	link->options.pattern_units = link->patterns.units;
	link->options.pattern_unit_count = link->patterns.count;
	if (!status)
		status = firmware_port_read(settings->port, object_path(link, ""), &link->port,
					    error);
	link->options.port = link->port.has_address ? link->port.driver : NULL;
	link->options.port_at = link->port.address;
	if (!status && link->options.times)
		status = firmware_clock_read(settings->clock_name, link->objects->firmware_clock,
					     link->runtime, &link->clock, error);
	if (!status)
		status = firmware_pin_read(settings, link->objects->firmware_register_bytes,
					   &link->pin, error);
	if (!status && link->pin.used && settings->recorded != LITIFUT_MODE_SPANS)
		status = litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					   LITIFUT_NO_ADDRESS,
					   "LITIFUT_MARK_SET: needs LITIFUT_MODE=spans");
	if (!status)
		status = firmware_kept_read(settings->ram, &link->kept, error);
	if (!status && link->kept.used &&
	    (!(link->options.spans || link->options.paths) || link->objects->firmware_clock))
		status = litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL, LITIFUT_NO_ADDRESS,
			"LITIFUT_RAM: needs LITIFUT_MODE=spans, stream or paths on Cortex-M");
	if (!status && link->options.packed && (link->kept.used || !link->port.sends))
		status = litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL, NULL,
					   LITIFUT_NO_ADDRESS,
					   link->kept.used ? "LITIFUT_COMPACT: not with LITIFUT_RAM"
							   : "LITIFUT_COMPACT: needs LITIFUT_PORT");
	link->options.kept = link->kept.used;
	link->options.clock = link->clock.function;
	link->options.ticks = (link->clock.driver && !strcmp(link->clock.driver, "systick")) ||
			      (link->pin.used && !has_own_clock(link));
	if (!status)
		status = firmware_send_read(settings->send, &link->send, error);
	if (!status)
		status = prepare_send(link, error);
	if (!status)
		status = read_stubs(link, error);
	return status;
}

/* Nothing is sent, as LITIFUT_PORT is not set. */
static char *how_to_read(const struct firmware_link *link)
{
	char *ports = firmware_port_names(object_path(link, ""));
	char *line = xasprintf("nothing sends the results: read them by `litifut capture --gdb %s "
			       "HOST:PORT', or set "
			       "LITIFUT_PORT (%s)",
			       arguments_output(link->request->arguments), ports);

	free(ports);
	return line;
}

enum litifut_status firmware_link(const struct link_request *request, struct link_outcome *outcome,
				  struct litifut_error *error)
{
	struct firmware_link link = {
		.request = request,
		.runtime = request->decision->firmware,
		.objects = cpu_find(request->decision->target.machine)->objects,
	};
	struct litifut_rewrite_summary summary = {0};
	enum litifut_status status;

	memset(outcome, 0, sizeof(*outcome));
	deliver_prepare(&link.files, request->arguments, request->linker);
	if (request->settings->database == SETTINGS_DB_FILE)
		link.files.sites = scratch_beside(link.files.target);
	status = prepare(&link, error);
	if (!status)
		status = run(&link, false, error);
	if (!status) {
		outcome->memory_before = firmware_memory_left(link.files.image, link.files.map);
		deliver_keep_messages(&link.files);
		status = link_until_it_fits(&link, &summary, error);
	}
	if (!status) {
		outcome->excludes = summary.excludes;
		outcome->includes = summary.includes;
		outcome->units = summary.units;
		outcome->files_unused = link.chosen.excluded_unused;
		outcome->included_files_unused = link.chosen.included_unused;
		outcome->memory_left = firmware_memory_left(link.files.image, link.files.map);
		outcome->calls = summary.sites;
		outcome->times_refused = link.times_refused;
		outcome->never_sent = link.port.sends && !sends(&link);
		outcome->never_starts =
			link.options.start_at && !link.plan.starts && !link.asks.starts;
		outcome->handlers = link.objects->firmware_handlers;
		outcome->never_ends = sends(&link) && link.plan.never_ends && !link.asks.sends &&
				      !link.send.every;
		outcome->clock_user = link.plan.clock_user;
		outcome->clock_setter =
			*link.plan.clock_setter ? xstrdup(link.plan.clock_setter) : NULL;
		outcome->depth = small_depth(&link);
		outcome->ring_kb = small_ring(&link);
		outcome->control_missing =
			!link.plan.can_switch && link.asks.switches ? link.asks.switches
			: !link.plan.can_reset && link.asks.resets  ? link.asks.resets
								    : NULL;
		outcome->ring_kb_most = (link.options.spans || link.options.paths) &&
							request->settings->ring_kb > MOST_RING_KB
						? MOST_RING_KB
						: 0;
		say_verbose(request,
			    "%zu of %zu call sites rewritten; used: %zu of %zu bytes of stubs",
			    summary.patched, summary.sites, summary.room_used, summary.room_bytes);
		if (!request->settings->port) {
			outcome->unsent = how_to_read(&link);
			say_verbose(request, "%s", outcome->unsent);
		}
		status = strip_as_asked(request->arguments, request->linker, &link.files, error);
		outcome->nameless = arguments_last(request->arguments, ARGUMENT_STRIP_ALL) &&
				    !link.files.names_kept;
	}
	if (!status)
		status = deliver(&link.files, request->arguments, error);
	if (status) {
		deliver_others(&link.files, false);
		deliver_hide_names(&link.files, error);
	}
	text_list_release(&link.excluded);
	map_release(&link.map);
	chosen_files_release(&link.chosen);
	patterns_release(&link.patterns);
	free(link.clock.function);
	return status;
}
