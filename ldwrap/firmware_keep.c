/* Which files of the tracer a firmware is linked with, and which symbols are taken from them. */
#include <fnmatch.h>
#include <litifut/firmware_pool.h>
#include <litifut/frames_format.h>
#include <litifut/kept_format.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "ldwrap/firmware_link.h"

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

char *firmware_object_path(const struct firmware_link *link, const char *suffix)
{
	return xasprintf("%s/firmware-%s%s", link->request->object_folder, link->runtime, suffix);
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

/* Not where the program has a recorder (rewriter/tokens.h). */
static bool has_ring_of_bits(const struct firmware_link *link)
{
	return link->options.paths && !link->options.tokens;
}

/* LITIFUT_MODE=paths: a ring that outlasts a reset is found by what paths.c does first. */
static void keep_paths(const struct firmware_link *link, struct text_list *words)
{
	keep(words, link->options.numbers
			    ? "litifut_path_add"
			    : "litifut_bit_zero"); /* and all that is in one section with it */
	keep_number(words, "litifut_paths_sends",
		    !firmware_sends(link) || link->kept.used ? 0
		    : link->options.packed                   ? 2
							     : 1);
	keep_number(words, "litifut_paths_searches", !link->options.units);
	if (link->plan.pattern_words)
		keep(words, LITIFUT_FIRMWARE_PATTERNS);
	if (!link->kept.used)
		return;
	keep_number(words, "litifut_kept", link->kept.address);
	keep_number(words, LITIFUT_FIRMWARE_TABLE, link->kept.address + KEPT_BYTES);
}

unsigned firmware_small_ring(const struct firmware_link *link)
{
	return link->plan.ring_events && !link->request->settings->ring_kb &&
			       link->options.ring_bytes < 1024 * FIRMWARE_USUAL_RING_KB
		       ? (unsigned)(link->options.ring_bytes / 1024)
		       : 0;
}

unsigned firmware_small_depth(const struct firmware_link *link)
{
	return firmware_is_table(link) && link->options.depth < FIRMWARE_USUAL_DEPTH &&
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
	if (firmware_small_ring(link))
		keep_number(words, LITIFUT_FIRMWARE_RING_UNFIT, FIRMWARE_USUAL_RING_KB);
	keep_number(words, "litifut_ring_limit",
		    link->kept.used        ? 0
		    : firmware_sends(link) ? events
					   : RING_NO_LIMIT);
	if (!firmware_has_own_clock(link) && (link->options.times || link->kept.used))
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
	if (firmware_sends(link))
		keep(words, "litifut_clock_read");
}

static void keep_times(const struct firmware_link *link, struct text_list *words)
{
	if (link->options.spans) {
		if (link->pin.used)
			keep_pin(&link->pin, words);
		if (link->pin.used && !firmware_has_own_clock(link))
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
		if (firmware_small_depth(link))
			keep_number(words, LITIFUT_FIRMWARE_DEPTH_UNFIT, FIRMWARE_USUAL_DEPTH);
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
	char *path = firmware_object_path(link, name);

	free(name);
	return path;
}

size_t firmware_add_ours(const struct firmware_link *link, struct insertion *insertions,
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

		insertions[count++] = (struct insertion){place, firmware_object_path(link, name)};
		free(name);
	}
	if (link->options.transmits) {
		char *name = xasprintf("-%s_transmit.o", link->port.driver);

		insertions[count++] = (struct insertion){place, firmware_object_path(link, name)};
		free(name);
	}
	/* Where there is only one, it is in the archive. */
	if (link->options.times && !firmware_has_own_clock(link)) {
		char *name = xasprintf("-clock-%s.o", link->clock.driver);

		insertions[count++] = (struct insertion){place, firmware_object_path(link, name)};
		free(name);
	}
	if (firmware_is_table(link)) {
		char *name = xasprintf("-calls-time%s%s.o", link->options.tasks ? "_tasks" : "",
				       link->options.switched ? "_switched" : "");

		insertions[count++] = (struct insertion){place, firmware_object_path(link, name)};
		free(name);
	}
	if (link->options.stream) {
		char *name =
			xasprintf("-spans-stream%s%s.o", link->options.switched ? "_switched" : "",
				  link->kept.used ? "_kept" : "");

		insertions[count++] = (struct insertion){place, firmware_object_path(link, name)};
		free(name);
	} else if (link->options.spans) {
		char *name = xasprintf(
			"-spans-call%s%s%s%s.o", strcmp(link->clock.driver, "dwt") ? "" : "_dwt",
			link->pin.used && firmware_has_own_clock(link) ? "_pin" : "",
			link->options.switched ? "_switched" : "", link->kept.used ? "_kept" : "");

		insertions[count++] = (struct insertion){place, firmware_object_path(link, name)};
		free(name);
	}
	if (has_ring_of_bits(link)) {
		char *name = xasprintf("-paths-%s%s.o", link->options.numbers ? "numbers" : "bits",
				       link->kept.used ? "_kept" : "");

		insertions[count++] = (struct insertion){place, firmware_object_path(link, name)};
		free(name);
	}
	if (link->options.numbers && !link->options.tokens)
		insertions[count++] = (struct insertion){
			place, firmware_object_path(link, "-paths-numbers_ring.o")};
	if (link->options.paths && link->options.switched)
		insertions[count++] =
			(struct insertion){place, firmware_object_path(link, "-paths-start.o")};
	if (firmware_sends(link))
		insertions[count++] = (struct insertion){place, sender(link)};
	if (link->options.spans && link->asks.resets)
		insertions[count++] =
			(struct insertion){place, firmware_object_path(link, "-reset_events.o")};
	insertions[count++] = (struct insertion){place, firmware_object_path(link, ".a")};
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
	if (has_ring_of_bits(link))
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
		text_list_append_all(words, link->options.bytes ? link->objects->firmware_bytes
								: link->objects->firmware_fast);
	if (link->port.has_address)
		add_word(words, xasprintf("--defsym=litifut_port_base=0x%x",
					  (unsigned)link->port.address));
	return count;
}
