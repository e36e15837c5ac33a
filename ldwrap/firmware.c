/* Links of firmware, from the settings to the file that is delivered. */
#include "ldwrap/firmware.h"

#include <litifut/frames_format.h>
#include <litifut/trace_format.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "ldwrap/firmware_link.h"
#include "ldwrap/firmware_memory.h"
#include "ldwrap/process.h"
#include "ldwrap/run_linker.h"
#include "ldwrap/strip.h"

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
	link->options.runtime = link->runtime;
	link->options.sample_at = settings->sample;
	link->options.start_at = settings->start_at;
	link->options.main_at = settings->main_at;
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
		1024 *
		(size_t)(!settings->ring_kb ? (link->options.packed ? 0 : FIRMWARE_USUAL_RING_KB)
			 : settings->ring_kb < FIRMWARE_MOST_RING_KB ? settings->ring_kb
								     : FIRMWARE_MOST_RING_KB);
	link->options.depth = settings->depth ? settings->depth : FIRMWARE_USUAL_DEPTH;
	link->options.callees = settings->callees;
	link->options.carries = settings->carries;
	link->object = scratch_file("litifut-room.o");
	status = check_orphans(link->request->arguments, error);
	if (!status && link->options.packed && settings->patterns)
		status = patterns_read(settings->patterns, &link->patterns, error);
	link->options.pattern_units = link->patterns.units;
	link->options.pattern_unit_count = link->patterns.count;
	if (!status)
		status = firmware_port_read(settings->port, firmware_object_path(link, ""),
					    &link->port, error);
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
			      (link->pin.used && !firmware_has_own_clock(link));
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
	char *ports = firmware_port_names(firmware_object_path(link, ""));
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
		status = firmware_run(&link, false, error);
	if (!status) {
		outcome->memory_before = firmware_memory_left(link.files.image, link.files.map);
		firmware_bounds_read(&link.bounds, link.files.image, link.files.map);
		deliver_keep_messages(&link.files);
		status = firmware_link_until_it_fits(&link, &summary, error);
	}
	if (!status) {
		outcome->asked = summary.asked;
		outcome->files_unused = link.chosen.excluded_unused;
		outcome->included_files_unused = link.chosen.included_unused;
		outcome->memory_left = firmware_memory_left(link.files.image, link.files.map);
		outcome->calls = summary.sites;
		outcome->times_refused = link.times_refused;
		outcome->never_sent = link.port.sends && !firmware_sends(&link);
		outcome->never_starts =
			link.options.start_at && !link.plan.starts && !link.asks.starts;
		outcome->handlers = link.objects->firmware_handlers;
		outcome->never_ends = firmware_sends(&link) && link.plan.never_ends &&
				      !link.asks.sends && !link.send.every;
		outcome->clock_user = link.plan.clock_user;
		outcome->clock_setter =
			*link.plan.clock_setter ? xstrdup(link.plan.clock_setter) : NULL;
		outcome->depth = firmware_small_depth(&link);
		outcome->ring_kb = firmware_small_ring(&link);
		outcome->control_missing =
			!link.plan.can_switch && link.asks.switches ? link.asks.switches
			: !link.plan.can_reset && link.asks.resets  ? link.asks.resets
								    : NULL;
		outcome->few_callees = link.options.callees > LITIFUT_OVERFLOW_TRIED &&
				       link.plan.overflow_words && !link.plan.overflow_mask;
		outcome->ring_kb_most =
			(link.options.spans || link.options.paths) &&
					request->settings->ring_kb > FIRMWARE_MOST_RING_KB
				? FIRMWARE_MOST_RING_KB
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
	firmware_bounds_release(&link.bounds);
	chosen_files_release(&link.chosen);
	patterns_release(&link.patterns);
	free(link.clock.function);
	return status;
}
