/* The pass over the image of a firmware; see firmware.h. Over 500 lines: one order of steps, from
 * the image that was read to the image that is written. */
#include "rewriter/firmware.h"

#include <elf.h>
#include <litifut/firmware_pool.h>
#include <litifut/frames_format.h>
#include <litifut/spans_format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/downward.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/firmware_pass.h"
#include "rewriter/program_code.h"
#include "rewriter/reachable.h"
#include "rewriter/twice.h"

/* The sender counts them, the overflow table and the bins with 16 bits. */
#define WORDS_MAX 64000

static const struct litifut_firmware_cpu *const cpus[] = {&litifut_firmware_arm,
							  &litifut_firmware_avr};

/* Are branches recorded, and not calls? */
static bool has_edges(const struct litifut_firmware_options *options)
{
	return options->paths || options->coverage;
}

static const struct litifut_firmware_cpu *find_cpu(unsigned machine)
{
	for (size_t i = 0; i < sizeof(cpus) / sizeof(*cpus); i++)
		if (cpus[i]->machine == machine)
			return cpus[i];
	return NULL;
}

const char *litifut_firmware_runtime(unsigned machine, unsigned elf_flags, const uint8_t *bytes,
				     uint32_t size)
{
	const struct litifut_firmware_cpu *cpu = find_cpu(machine);

	return cpu ? cpu->runtime(elf_flags, bytes, size) : NULL;
}

const char *litifut_firmware_attributes(unsigned machine)
{
	const struct litifut_firmware_cpu *cpu = find_cpu(machine);

	return cpu ? cpu->attributes : NULL;
}

/* 0: there is no name, or no symbol of this name. With -flto a function that another file calls may
 * be NAME.lto_priv.0; which of two is meant is not known. */
static uint32_t address_of(const struct litifut_image *image, const char *name)
{
	static const char suffix[] = ".lto_priv.";
	const struct litifut_symbol *symbol = name ? litifut_image_symbol(image, name) : NULL;
	const size_t length = name ? strlen(name) : 0;
	uint32_t address = symbol ? symbol->address : 0;

	for (size_t i = 0; name && !symbol && i < image->symbol_count; i++) {
		const char *other = image->symbols[i].name;

		if (strncmp(other, name, length) || strncmp(other + length, suffix, strlen(suffix)))
			continue;
		if (address && address != image->symbols[i].address)
			return 0;
		address = image->symbols[i].address;
	}
	return address;
}

/* A program without a C library may have an `exit' alone, as its way to end. */
static uint32_t find_sender(const struct litifut_firmware_pass *pass)
{
	const struct litifut_firmware_options *options = pass->options;
	const uint32_t address = address_of(&pass->image, options->send_at);

	return address || !options->send_at || options->send_asked
		       ? address
		       : address_of(&pass->image, "exit");
}

static enum litifut_status no_function(const struct litifut_firmware_pass *pass,
				       const char *setting, const char *name,
				       struct litifut_error *error)
{
	const char *about = pass->cpu->explain_name ? pass->cpu->explain_name(name) : NULL;
	const char *nearest = about ? NULL : litifut_firmware_nearest(pass, name, NULL);

	return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
				 LITIFUT_NO_ADDRESS, "%s: no such function: %s%s%s%s%s%s", setting,
				 name, about ? ": " : "", about ? about : "",
				 nearest ? "; did you mean " : "", nearest ? nearest : "",
				 nearest ? "?" : "");
}

/* Whatever the user has excluded: sending, beginning, and the end of open calls. */
static void set_needed(struct litifut_firmware_pass *pass)
{
	const uint32_t callees[] = {
		pass->send_at, pass->start_at,
		pass->options->times ? address_of(&pass->image, LITIFUT_FIRMWARE_JUMP) : 0};
	size_t count = 0;

	for (size_t i = 0; i < sizeof(callees) / sizeof(*callees); i++)
		if (callees[i])
			pass->needed[count++] = callees[i];
	pass->sites_options = pass->options->common;
	pass->sites_options.needed_callees = pass->needed;
	pass->sites_options.needed_count = count;
}

/* Where the user has chosen functions, those of the vectors that the tracer needs are left. */
static void choose_vectors(struct litifut_firmware_pass *pass)
{
	const struct litifut_firmware_options *options = pass->options;

	if (!options->includes)
		return;
	for (size_t i = 0; i < pass->sites.count; i++) {
		struct litifut_site *site = &pass->sites.items[i].site;
		bool samples = pass->sample_at && (site->callee & ~1u) == pass->sample_at;
		bool timer = pass->timer_at && (site->callee & ~1u) == pass->timer_at;
		bool ticks = options->ticks && site->instruction == LITIFUT_FIRMWARE_SYSTICK;

		if (site->kind == LITIFUT_SITE_VECTOR && !samples && !timer && !ticks)
			site->reason = LITIFUT_SITE_EXCLUDED;
	}
}

static enum litifut_status open_pass(const char *path,
				     const struct litifut_firmware_options *options,
				     struct litifut_firmware_pass *pass,
				     struct litifut_error *error)
{
	const struct litifut_arch *arch;
	const struct litifut_section *attributes;
	const char *runtime = NULL;
	enum litifut_status status;

	memset(pass, 0, sizeof(*pass));
	pass->options = options;
	pass->room_count = 1;
	pass->code_at = options->code_at;
	status = litifut_image_open(path, &pass->image, error);
	if (status)
		return status;
	arch = litifut_arch_find(pass->image.file.machine);
	pass->cpu = find_cpu(pass->image.file.machine);
	attributes = pass->cpu && pass->cpu->attributes
			     ? litifut_image_section(&pass->image, pass->cpu->attributes)
			     : NULL;
	/* Linker scripts discard them, or give them another name (Infineon's for the XMC). */
	if (pass->cpu && pass->cpu->attributes && !attributes)
		runtime = options->runtime;
	else if (pass->cpu)
		runtime = pass->cpu->runtime(pass->image.file.flags,
					     attributes ? attributes->bytes : NULL,
					     attributes ? attributes->size : 0);
	if (!arch || !runtime)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "not a firmware for a CPU that can be traced");
	pass->changed = calloc(pass->image.section_count + 1, sizeof(*pass->changed));
	if (!pass->changed)
		return litifut_error_memory(error, path);
	pass->arch = *arch;
	pass->detour = *arch->detour;
	pass->detour.can_detour = pass->cpu->can_detour;
	pass->detour.find_stone = pass->cpu->find_stone;
	pass->arch.detour = &pass->detour;
	if (pass->cpu->name_functions)
		status = pass->cpu->name_functions(&pass->image, error);
	for (size_t i = 1; i < pass->image.section_count && pass->cpu->name_functions; i++)
		pass->changed[i] = pass->image.sections[i].type == SHT_SYMTAB;
	if (!status)
		status = pass->arch.examine(&pass->image, &pass->context, error);
	if (!status)
		pass->baseline = pass->cpu->prepare(runtime, &pass->context);
	pass->detour.stone_reach = pass->baseline ? pass->cpu->stone_reach : 0;
	pass->send_at = find_sender(pass);
	pass->ends_at = pass->send_at;
	pass->sample_at = address_of(&pass->image, options->sample_at);
	pass->start_at = address_of(&pass->image, options->start_at);
	pass->main_at = address_of(&pass->image, options->main_at);
	pass->timer_at = address_of(&pass->image, options->timer_at);
	set_needed(pass);
	if (!status)
		status = litifut_downward_find(&pass->image, &pass->arch, &pass->context,
					       &options->common, error);
	if (!status)
		status = litifut_sites_find(&pass->image, &pass->arch, &pass->context,
					    &pass->sites_options, &pass->sites, error);
	pass->ram_is_known = !pass->cpu->calls_before_ram;
	if (!status)
		status = litifut_firmware_leave_functions(pass, error);
	if (!status && options->times && options->clock)
		status = litifut_reachable_mark(&pass->image, &pass->arch, &pass->context,
						options->clock, &pass->sites, NULL, error);
	if (!status)
		status = pass->cpu->add_vectors(&pass->image, &pass->sites, error);
	choose_vectors(pass);
	if (!status)
		status = litifut_firmware_find_transmitter(pass, error);
	if (!status && options->port && pass->cpu->check_port)
		status =
			pass->cpu->check_port(&pass->image, options->port, options->port_at, error);
	if (!status && options->spans && !pass->cpu->event_bytes)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_MODE=spans: not for this CPU");
	if (!status && options->send_asked && options->send_at && !pass->send_at)
		return no_function(pass, "LITIFUT_SEND", options->send_at, error);
	if (!status && options->sample_at && !pass->sample_at)
		return no_function(pass, "LITIFUT_SAMPLE", options->sample_at, error);
	if (!status && options->timer_at && !pass->timer_at)
		return no_function(pass, "LITIFUT_SEND", options->timer_at, error);
	if (!status && options->start_at && !pass->start_at)
		return no_function(pass, "LITIFUT_START_AT", options->start_at, error);
	if (!status && options->main_at && !pass->cpu->calls_before_ram)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
					 LITIFUT_NO_ADDRESS, "LITIFUT_MAIN: not for this CPU: %s",
					 options->main_at);
	if (!status && options->main_at && !pass->main_at)
		return no_function(pass, "LITIFUT_MAIN", options->main_at, error);
	if (!status && options->main_at && !pass->ram_is_known)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, path, NULL, LITIFUT_NO_ADDRESS,
			"LITIFUT_MAIN: no calls by name lead from the reset handler to %s",
			options->main_at);
	if (!status && pass->start_at && pass->start_at == pass->send_at)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, path, NULL, LITIFUT_NO_ADDRESS,
			"LITIFUT_START_AT: %s sends the results, so that it can't start recording "
			"as well: use another function for one of the two",
			options->start_at);
	if (!status && options->start_at && !pass->cpu->switches)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, path, NULL, LITIFUT_NO_ADDRESS,
			"LITIFUT_START_AT: not for this CPU: %s", options->start_at);
	return status;
}

static void close_pass(struct litifut_firmware_pass *pass)
{
	litifut_firmware_edges_release(pass);
	litifut_sites_release(&pass->sites);
	free(pass->changed);
	free(pass->context.cpu.facts);
	litifut_image_close(&pass->image);
}

/* Puts the patches of a stub into the image. The branches in them must lead where they
 * should. */
static enum litifut_status put_patches(struct litifut_firmware_pass *pass,
				       const struct litifut_firmware_stub *stub,
				       struct litifut_error *error)
{
	for (size_t i = 0; i < LITIFUT_FIRMWARE_PATCHES && stub->patches[i].length; i++) {
		const struct litifut_firmware_patch *patch = &stub->patches[i];
		struct litifut_instruction instruction;

		if (!patch->is_address &&
		    (!pass->arch.cpu->decode(&pass->context.cpu, patch->bytes + patch->branch_at,
					     patch->length - patch->branch_at,
					     patch->address + patch->branch_at, pass->cpu->state,
					     &instruction) ||
		     (instruction.target & ~1u) != patch->target))
			return litifut_error_set(error, LITIFUT_ERROR_INTERNAL, pass->image.path,
						 NULL, patch->address,
						 "the patched call misses its stub");
		if (!litifut_firmware_change(pass, patch->address, patch->bytes, patch->length))
			return litifut_error_set(error, LITIFUT_ERROR_INTERNAL, pass->image.path,
						 NULL, patch->address,
						 "no section holds this code");
	}
	return LITIFUT_OK;
}

static const char *callee_name(const struct litifut_firmware_pass *pass,
			       const struct litifut_site *site)
{
	const struct litifut_symbol *symbol =
		site->callee ? litifut_image_function_start(&pass->image, site->callee & ~1u)
			     : NULL;

	return symbol ? symbol->name : "";
}

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names))
		names++;
	return *names != NULL;
}

/* Does the call lead into the function that makes it? Such code may return to the function's
 * caller, as that for zero and infinity in libgcc's __muldf3 does. */
static bool calls_itself_inside(const struct litifut_firmware_pass *pass,
				const struct litifut_site *site)
{
	const uint32_t callee = site->callee & ~1u;
	const struct litifut_symbol *function =
		litifut_image_function_at(&pass->image, site->address);

	return function && callee > function->address &&
	       callee < litifut_image_function_end(&pass->image, function);
}

/* May the return address of the call be replaced? setjmp() and its like return to it once more,
 * longjmp() not at all. ChibiOS looks at the one that an interrupt has. */
static bool is_timed(const struct litifut_firmware_pass *pass, const struct litifut_site *site)
{
	/* A jump to these stands in start-up code, which has no return address to replace. */
	static const char *const ends[] = {"exit", "_exit", NULL};

	if (!pass->options->times ||
	    (litifut_site_is_tail(site) && is_one_of(callee_name(pass, site), ends)))
		return false;
	if (site->kind == LITIFUT_SITE_VECTOR)
		return !litifut_image_symbol(&pass->image, "_port_irq_epilogue") &&
		       !litifut_image_symbol(&pass->image, "__port_irq_epilogue");
	if (site->callee && pass->cpu->keeps_return &&
	    pass->cpu->keeps_return(&pass->image, site->callee))
		return false;
	if (pass->cpu->leaves_state && pass->cpu->leaves_state(&pass->image, site->address))
		return false;
	return !calls_itself_inside(pass, site) &&
	       !is_one_of(callee_name(pass, site), litifut_returns_twice) &&
	       strcmp(callee_name(pass, site), LITIFUT_FIRMWARE_JUMP) != 0;
}

static unsigned record_words(const struct litifut_firmware_pass *pass)
{
	if (!pass->options->times)
		return LITIFUT_RECORD_COUNT;
	return pass->cpu->times_words ? pass->cpu->times_words : LITIFUT_RECORD_TIMES;
}

/* Entries of the table of carries; 0: none of the numbers has carries. */
static unsigned carries(const struct litifut_firmware_pass *pass)
{
	const size_t wanted =
		pass->options->carries ? pass->options->carries : pass->byte_counters / 4;
	unsigned entries = LITIFUT_CARRIES_OF_BYTES_LEAST;

	if (pass->options->bytes) {
		while (entries < wanted && entries < LITIFUT_CARRIES_OF_BYTES_MOST)
			entries *= 2;
		return entries;
	}
	return pass->options->times && !pass->options->spans &&
			       record_words(pass) < LITIFUT_RECORD_TIMES
		       ? LITIFUT_CARRIES_OF_TIMES
		       : 0;
}

/* Sets what depends on where the stub stands. `gate`: it goes on to code of the tracer. */
static enum litifut_status set_ways(struct litifut_firmware_pass *pass,
				    struct litifut_firmware_room *room,
				    const struct litifut_found_site *site, bool gate,
				    struct litifut_firmware_call *call, struct litifut_error *error)
{
	const uint32_t at = room == pass->rooms ? pass->code_at : site->site.address;

	call->far = litifut_firmware_is_far(pass, at, site->site.callee & ~1u) ||
		    (gate && litifut_firmware_is_far(pass, at, pass->code_at));
	if (call->pointer)
		return litifut_firmware_lead(pass, room, LITIFUT_FIRMWARE_WAY_POINTER,
					     &call->count_pointer, error);
	if (!call->small)
		return LITIFUT_OK;
	return litifut_firmware_lead(
		pass, room, call->timed ? LITIFUT_FIRMWARE_WAY_CALL : LITIFUT_FIRMWARE_WAY_NOTE,
		&call->count_small, error);
}

/* Words and sites have numbers of 16 bits. */
static enum litifut_status too_many(const struct litifut_firmware_pass *pass,
				    struct litifut_error *error)
{
	const struct litifut_firmware_options *options = pass->options;
	const bool words = !options->spans && !options->bytes;

	return litifut_error_set(
		error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL, LITIFUT_NO_ADDRESS,
		"too many calls: %u at most%s: trace fewer functions (LITIFUT_INCLUDE)%s",
		words ? WORDS_MAX / record_words(pass) : LITIFUT_SPAN_SITES,
		options->spans ? "" : ", fewer where some are through a pointer",
		options->times && !options->spans
			? ", or count the calls only (LITIFUT_MODE=counts)"
			: "");
}

/* Measures the stub of a site, or writes it if there is room that was reserved for it. */
static enum litifut_status do_site(struct litifut_firmware_pass *pass,
				   struct litifut_found_site *site, struct litifut_error *error)
{
	struct litifut_firmware_call call = {
		.call = litifut_site_cramped(&pass->image, site),
		.detour = site->detour,
		.pointer = litifut_site_is_pointer(&site->site),
		.vector = site->site.kind == LITIFUT_SITE_VECTOR,
		.small = pass->options->small,
		.times = pass->options->times,
		.spans = pass->options->spans,
		.stream = pass->options->stream,
		.switched = pass->options->switched,
		.step = pass->step,
		.baseline = pass->baseline,
		.callee = site->site.callee,
		.number = pass->options->spans ? LITIFUT_SPAN_SITE + pass->patched
					       : pass->table_words,
	};
	struct litifut_firmware_room *room = litifut_firmware_room_for(pass, site);
	struct litifut_firmware_stub stub;
	bool returns = pass->options->spans && !pass->options->stream;
	bool in_stub = returns && pass->cpu->calls_in_stub;
	bool jumps = pass->options->times && !call.pointer && !in_stub &&
		     !strcmp(callee_name(pass, &site->site), LITIFUT_FIRMWARE_JUMP);
	bool timed = !call.pointer && (in_stub || is_timed(pass, &site->site));
	bool sends = !call.pointer && pass->send_at && (call.callee & ~1u) == pass->send_at;
	bool starts =
		!call.pointer && !sends && pass->start_at && (call.callee & ~1u) == pass->start_at;
	/* As if everything were near. */
	uint32_t address = site->site.address & ~3u;
	enum litifut_status status = litifut_firmware_find_recorders(pass, call.number, error);
	bool written;

	if (status)
		return status;
	if (!room) {
		site->site.reason = LITIFUT_SITE_OUT_OF_REACH;
		return LITIFUT_OK;
	}
	call.timed = timed;
	call.small |= timed || pass->options->spans; /* there is one kind of such stubs */
	call.count_small = call.count_pointer = call.count_carry = call.count_return = address;
	if (pass->rooms[0].symbol) {
		call.counter = pass->table ? pass->table->address + 4 * pass->table_words : 0;
		if (pass->options->bytes && !call.pointer)
			call.counter = pass->table->address + pass->bytes_used;
		call.count_small = timed                  ? pass->time_call
				   : pass->options->spans ? pass->span_note
							  : pass->count_small;
		call.count_pointer = pass->count_pointer;
		call.count_carry = pass->count_carry;
		call.count_return = pass->span_return;
		if (sends)
			call.callee = pass->send_gate;
		if (jumps && pass->jump_gate)
			call.callee = pass->jump_gate;
		if (starts && pass->start_gate)
			call.callee = pass->start_gate;
	}
	status = set_ways(pass, room, site, sends || jumps || starts, &call, error);
	if (status)
		return status;
	if (room->symbol)
		address = room->symbol->address + room->bytes;
	else
		call.callee = address;
	written = pass->cpu->write_stub(&call, address, &stub);
	if (!written) {
		site->site.reason = LITIFUT_SITE_OUT_OF_REACH;
		return LITIFUT_OK;
	}
	status = litifut_firmware_put_stub(pass, room, &stub, error);
	if (!status && room->symbol)
		status = put_patches(pass, &stub, error);
	if (status)
		return status;
	pass->patched++;
	if (pass->options->bytes && !call.pointer)
		pass->bytes_used++;
	else if (!pass->options->spans)
		pass->table_words +=
			record_words(pass) + (call.pointer ? LITIFUT_POINTER_EXTRA : 0);
	else if (!returns)
		; /* none is recorded */
	else if (in_stub ? !litifut_site_is_tail(&site->site) : timed || call.pointer)
		site->site.exit = address; /* any address that is this site's alone */
	pass->pointers |= call.pointer;
	pass->sends |= sends;
	pass->starts |= starts;
	pass->jumps |= jumps;
	if (pass->table_words > WORDS_MAX || pass->patched > LITIFUT_SPAN_SITES)
		return too_many(pass, error);
	return call.vector ? litifut_firmware_put_gates(pass, &site->site, address, error)
			   : LITIFUT_OK;
}

/* The largest power of two that the ring has room for. */
static uint32_t ring_events(const struct litifut_firmware_pass *pass)
{
	uint32_t events = 1;

	while (2 * (size_t)events * pass->cpu->event_bytes <= pass->options->ring_bytes)
		events *= 2;
	return events;
}

/* Counters of a byte come before the others. Those of sites that then turn out to be out of reach
 * are not used. What reads the numbers finds the others behind the room that was planned, so they
 * stand there also if fewer sites are patched than were planned. */
static enum litifut_status make_room_for_bytes(struct litifut_firmware_pass *pass,
					       struct litifut_error *error)
{
	const uint32_t planned = pass->options->byte_counters;

	for (size_t i = 0; i < pass->sites.count; i++) {
		const struct litifut_site *site = &pass->sites.items[i].site;

		pass->byte_counters +=
			site->reason == LITIFUT_SITE_PATCHED && !litifut_site_is_pointer(site);
	}
	pass->byte_counters = (pass->byte_counters + 3) & ~3u;
	if (planned && planned < pass->byte_counters)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, pass->image.path, ".bss",
					 LITIFUT_NO_ADDRESS, "the room for counters is too small");
	if (planned)
		pass->byte_counters = planned;
	pass->table_words = pass->byte_counters / 4;
	return LITIFUT_OK;
}

static enum litifut_status do_sites(struct litifut_firmware_pass *pass, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	if (pass->options->bytes)
		status = make_room_for_bytes(pass, error);
	for (size_t i = 0; i < pass->sites.count && !status; i++)
		if (pass->sites.items[i].site.reason == LITIFUT_SITE_PATCHED)
			status = do_site(pass, &pass->sites.items[i], error);
	/* One more record, for the calls that measure what a call costs. */
	if (pass->options->spans) {
		pass->table_words = (ring_events(pass) * pass->cpu->event_bytes + 3) / 4;
	} else if (pass->options->times && !pass->cpu->times_are_small) {
		pass->calibration = pass->table_words;
		pass->table_words += record_words(pass);
	}
	/* And the number of those that found no place. */
	pass->table_words += carries(pass) != 0;
	return status;
}

/* An address in the memory that is cleared at the start, or that is written to. */
static uint32_t bss_of(const struct litifut_image *image)
{
	uint32_t address = 0;

	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if ((section->flags & (SHF_ALLOC | SHF_WRITE)) != (SHF_ALLOC | SHF_WRITE))
			continue;
		if (!address || !strcmp(section->name, ".bss"))
			address = section->address;
	}
	return address;
}

/* Of events without returns: why there can't be a ring. */
static const char *why_untimed(const struct litifut_firmware_pass *pass)
{
	static const char *const throwers[] = {"_Unwind_RaiseException", "_Unwind_ForcedUnwind",
					       "_Unwind_Resume_or_Rethrow", NULL};

	if (!pass->cpu->times)
		return "that can't be done for this CPU yet";
	for (size_t i = 0; i < pass->sites.count && !pass->options->stream; i++)
		if (is_one_of(callee_name(pass, &pass->sites.items[i].site), throwers))
			return "the program can throw exceptions, which need the return addresses";
	if (litifut_firmware_second_core(pass))
		return litifut_firmware_second_core(pass);
	if (!pass->options->stream && litifut_firmware_unprivileged(pass))
		return litifut_firmware_unprivileged(pass);
	return pass->ram_is_known ? NULL : LITIFUT_FIRMWARE_NO_RAM;
}

/* Of an entry of the pool of open calls. */
static unsigned open_bytes(const struct litifut_firmware_pass *pass)
{
	if (pass->options->spans)
		return OPEN_SPAN_BYTES;
	return pass->cpu->open_bytes ? pass->cpu->open_bytes(&pass->context) : OPEN_BYTES;
}

/* Few callees have the least table, in which each entry is tried. So have those of a table whose
 * number of words leaves no room in the header beside that of a histogram. */
static unsigned overflow_mask(const struct litifut_firmware_pass *pass)
{
	const unsigned callees = pass->options->callees;
	unsigned places = 1;

	if (callees <= LITIFUT_OVERFLOW_TRIED ||
	    (pass->samples && pass->table_words > LITIFUT_HEADER_WORDS_MOST))
		return 0;
	while (places < callees && places < LITIFUT_OVERFLOW_PLACES_MOST)
		places *= 2;
	return places - 1;
}

static void set_clock_users(const struct litifut_firmware_pass *pass,
			    struct litifut_firmware_plan *plan)
{
	const char *setter = pass->cpu->clock_setter(&pass->image);

	plan->clock_user = pass->cpu->clock_user(&pass->image);
	snprintf(plan->clock_setter, sizeof(plan->clock_setter), "%s", setter ? setter : "");
}

enum litifut_status litifut_firmware_plan(const char *path,
					  const struct litifut_firmware_options *options,
					  struct litifut_firmware_plan *plan,
					  struct litifut_error *error)
{
	struct litifut_firmware_pass pass;
	enum litifut_status status = open_pass(path, options, &pass, error);

	memset(plan, 0, sizeof(*plan));
	if (!status)
		status = has_edges(options) ? litifut_firmware_edges_find(&pass, error)
					    : do_sites(&pass, error);
	if (status) {
		close_pass(&pass);
		return status;
	}
	plan->machine = pass.image.file.machine;
	plan->elf_flags = pass.image.file.flags;
	plan->elf_data = pass.image.file.data;
	plan->stub_bytes = pass.rooms[0].bytes;
	for (unsigned i = 1; i < pass.room_count; i++)
		plan->far[plan->far_count++] = (struct litifut_firmware_far){
			.site = pass.rooms[i].site, .bytes = pass.rooms[i].bytes};
	plan->table_words = pass.table_words;
	plan->pointers = pass.pointers;
	if (pass.pointers && !options->spans) {
		plan->overflow_mask = overflow_mask(&pass);
		plan->overflow_words = (plan->overflow_mask + LITIFUT_OVERFLOW_TRIED) *
				       (record_words(&pass) + LITIFUT_OVERFLOW_EXTRA);
	}
	plan->byte_counters = pass.byte_counters;
	plan->carries = has_edges(options) ? 0 : carries(&pass);
	plan->pattern_words = litifut_firmware_patterns_words(pass.cpu, options);
	plan->ring_events = options->spans ? ring_events(&pass) : 0;
	if (options->spans && pass.cpu->number_bits && pass.patched)
		plan->recorders = (LITIFUT_SPAN_SITE + pass.patched - 1) >> pass.cpu->number_bits;
	plan->kept = options->kept;
	plan->blocks = has_edges(options);
	plan->bss = bss_of(&pass.image);
	plan->sends = pass.sends;
	plan->starts = pass.starts;
	plan->samples = pass.samples;
	plan->bins = !pass.samples       ? 0
		     : options->few_bins ? LITIFUT_FIRMWARE_FEW_BINS
					 : LITIFUT_FIRMWARE_BINS;
	plan->jumps = pass.jumps;
	plan->small_times = options->times && !options->spans && pass.cpu->times_are_small;
	plan->can_switch = pass.cpu->switches && (options->paths || !has_edges(options));
	plan->can_reset = pass.cpu->switches && !options->paths;
	plan->switches_fast = pass.cpu->switches_fast;
	status = litifut_firmware_find_task(&pass, &plan->task, &plan->task_name, error);
	if (!status && pass.sends && !options->send_asked) {
		bool ends;

		status = litifut_firmware_finds_end(&pass, &ends, error);
		plan->never_ends = !status && !ends;
	}
	plan->ring_alignment = pass.cpu->ring_alignment;
	if (options->times && !(options->spans && pass.cpu->calls_in_stub))
		plan->open_bytes = (size_t)open_bytes(&pass) * options->depth;
	if (options->times && pass.cpu->clock_user)
		set_clock_users(&pass, plan);
	plan->untimed = why_untimed(&pass);
	/* said before anything about room */
	if (!status && options->times && !plan->untimed && pass.cpu->clock_vector)
		status = pass.cpu->clock_vector(&pass.image, &(uint32_t){0}, error);
	const struct litifut_site_list *sites =
		has_edges(options) ? &pass.session.sites : &pass.sites;

	for (size_t i = 0; i < sites->count; i++)
		plan->sites += sites->items[i].site.reason == LITIFUT_SITE_PATCHED;
	close_pass(&pass);
	return status;
}

static void summarise(const struct litifut_firmware_pass *pass,
		      struct litifut_rewrite_summary *summary)
{
	const struct litifut_rewrite_options *options = &pass->options->common;

	summary->sites = pass->sites.count;
	for (size_t i = 0; i < summary->sites; i++)
		summary->left[pass->sites.items[i].site.reason & 31]++;
	summary->patched = summary->left[LITIFUT_SITE_PATCHED];
	summary->left[LITIFUT_SITE_PATCHED] = 0;
	for (unsigned i = 0; i < pass->room_count; i++) {
		summary->room_bytes += pass->rooms[i].symbol->size;
		summary->room_used += pass->rooms[i].bytes;
	}
	litifut_judge_names(&pass->image, options, &summary->asked);
}

enum litifut_status litifut_firmware_apply(const char *path,
					   const struct litifut_firmware_options *options,
					   struct litifut_rewrite_summary *summary,
					   struct litifut_error *error)
{
	struct litifut_firmware_pass pass;
	enum litifut_status status = open_pass(path, options, &pass, error);

	memset(summary, 0, sizeof(*summary));
	if (!status)
		status = litifut_firmware_find_runtime(&pass, error);
	if (!status)
		status = has_edges(options) ? litifut_firmware_edges_find(&pass, error)
					    : do_sites(&pass, error);
	if (!status)
		status = litifut_firmware_check_room(&pass, error);
	if (!status && has_edges(options))
		status = litifut_firmware_edges_write(&pass, error);
	if (!status && has_edges(options))
		status = litifut_firmware_patterns_write(&pass, error);
	if (!status)
		status = litifut_firmware_fill_runtime(&pass, error);
	if (!status) {
		summarise(&pass, summary);
		status = litifut_firmware_save(&pass, summary->patched, error);
	}
	close_pass(&pass);
	return status;
}

enum litifut_status litifut_firmware_check_memory(const char *path, struct litifut_error *error)
{
	struct litifut_image image;
	const struct litifut_firmware_cpu *cpu;
	enum litifut_status status = litifut_image_open(path, &image, error);

	if (status)
		return status;
	cpu = find_cpu(image.file.machine);
	if (cpu && cpu->check_memory)
		status = cpu->check_memory(&image, error);
	litifut_image_close(&image);
	return status;
}
