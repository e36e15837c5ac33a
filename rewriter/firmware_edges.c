/* LITIFUT_MODE=paths and coverage of a firmware: the edges of its code (edges.h), and the calls at
 * which the results are sent; of paths interrupt handlers as well, and instructions by which its
 * kernel changes the task. Slightly over 500 lines: all of it writes to one list of changes, in
 * order. */
#include <elf.h>
#include <litifut/packed_format.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "cpu/step.h"
#include "platform/platform.h"
#include "rewriter/edges_find.h"
#include "rewriter/firmware.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/firmware_pass.h"
#include "rewriter/twice.h"

#define CALL_BYTES 20     /* of the code that calls the tracer for something else, at most */
#define HANDLERS_MOST 512 /* of interrupts */

static enum litifut_status out_of_memory(const struct litifut_firmware_pass *pass,
					 struct litifut_error *error)
{
	return litifut_error_memory(error, pass->image.path);
}

static enum litifut_status unsupported(const struct litifut_firmware_pass *pass, const char *why,
				       struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
				 LITIFUT_NO_ADDRESS, "LITIFUT_MODE=%s: %s",
				 pass->options->units     ? "units"
				 : pass->options->numbers ? "balllarus"
				 : pass->options->paths   ? "paths"
							  : "coverage",
				 why);
}

static bool has_tasks(const struct litifut_firmware_pass *pass)
{
	return pass->options->paths && !pass->options->numbers && pass->cpu->task_access &&
	       !pass->baseline;
}

/* Do entries of the vector table lead to code that says what is interrupted? */
static bool has_gates(const struct litifut_firmware_pass *pass)
{
	return pass->options->paths && !pass->options->units && !pass->options->numbers &&
	       pass->cpu->write_gate && (pass->baseline || !pass->cpu->handlers);
}

/* The same function may have several symbols. */
static void leave_functions(struct litifut_firmware_pass *pass)
{
	const struct litifut_image *image = &pass->image;

	for (size_t i = 0; i < image->symbol_count && pass->options->paths; i++)
		if (platform_lists(litifut_returns_elsewhere, image->symbols[i].name))
			pass->unrecorded[i] = LITIFUT_SITE_UNKNOWN_JUMP;
	for (size_t i = 0; i < image->symbol_count; i++)
		for (size_t j = 0; j < image->symbol_count && pass->unrecorded[i]; j++)
			if (image->symbols[j].address == image->symbols[i].address)
				pass->session.left[j + 1] = pass->unrecorded[i];
}

static bool leads_to_sender(const struct litifut_firmware_pass *pass,
			    const struct litifut_found_site *site, uint32_t send_at)
{
	const unsigned kind = site->site.kind;
	uint8_t code[4] = {0};

	return (site->site.callee & ~1u) == send_at &&
	       (kind == LITIFUT_SITE_DIRECT || kind == LITIFUT_SITE_TAIL_DIRECT) &&
	       pass->cpu->redirect(&pass->context, code, site->site.length, site->site.address,
				   site->site.address);
}

/* The calls of the function at which the results are sent; without a port as well, so that each
 * pass over the image finds the same edges. */
static enum litifut_status fix_sends(struct litifut_firmware_pass *pass,
				     struct litifut_error *error)
{
	pass->fixed = calloc(pass->sites.count + 1, sizeof(*pass->fixed));
	if (!pass->fixed)
		return out_of_memory(pass, error);
	for (size_t i = 0; i < pass->sites.count && pass->ends_at; i++)
		if (leads_to_sender(pass, &pass->sites.items[i], pass->ends_at))
			pass->fixed[pass->session.fixed_count++] =
				pass->sites.items[i].site.address;
	pass->session.fixed = pass->fixed;
	pass->sends = pass->session.fixed_count != 0;
	return LITIFUT_OK;
}

/* LITIFUT_MODE=units: interrupt handlers are units. */
static void find_events(struct litifut_firmware_pass *pass)
{
	struct litifut_session *session = &pass->session;

	for (size_t i = 0; i < pass->sites.count && pass->options->units && !pass->options->tokens;
	     i++)
		if (pass->sites.items[i].site.kind == LITIFUT_SITE_VECTOR)
			session->events[session->event_count++] =
				pass->sites.items[i].site.callee & ~1u;
}

/* Calls `act` for each instruction that reads or sets the stack pointer of tasks. */
static enum litifut_status each_task(struct litifut_firmware_pass *pass,
				     enum litifut_status (*act)(struct litifut_firmware_pass *pass,
								uint32_t address,
								const uint8_t *code, void *context,
								struct litifut_error *error),
				     void *context, struct litifut_error *error)
{
	const struct litifut_image *image = &pass->image;
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 1; i < image->section_count && !status; i++) {
		const struct litifut_section *section = &image->sections[i];
		struct litifut_code_range *ranges = NULL;
		size_t count = 0;

		if (!(section->flags & SHF_EXECINSTR) || !section->bytes)
			continue;
		status = pass->arch.code_ranges(image, section, &ranges, &count, error);
		for (size_t j = 0; j < count && !status; j++) {
			struct cpu_step step;
			unsigned conditional = 0, length;

			if (ranges[j].state != pass->cpu->state)
				continue;
			for (uint32_t at = ranges[j].start; at < ranges[j].end && !status;
			     at += length) {
				const uint8_t *code = section->bytes + (at - section->address);

				length = pass->arch.cpu->step(&pass->context.cpu, code,
							      ranges[j].end - at, at,
							      ranges[j].state, &conditional, &step);
				if (!length)
					break;
				/* the last one that an `it` makes conditional is left to be so */
				if (length == 4 && !conditional && pass->cpu->task_access(code))
					status = act(pass, at, code, context, error);
			}
		}
		free(ranges);
	}
	return status;
}

static bool is_own(const struct litifut_image *image, uint32_t address)
{
	for (size_t i = 0; i < image->own_count; i++) {
		const struct litifut_symbol *own = &image->symbols[image->own[i]];

		/* what is in the file only has addresses that mean nothing */
		if (own->section < image->section_count &&
		    image->sections[own->section].flags & SHF_ALLOC &&
		    address - own->address < own->size)
			return true;
	}
	return false;
}

static enum litifut_status note_task(struct litifut_firmware_pass *pass, uint32_t address,
				     const uint8_t *code, void *context,
				     struct litifut_error *error)
{
	(void)code;
	(void)context;
	if (is_own(&pass->image, address))
		return LITIFUT_OK;
	if (pass->task_count == pass->task_capacity) {
		const size_t capacity = 2 * pass->task_capacity + 16;
		void *items = litifut_memory_resized(pass->tasks, capacity, sizeof(*pass->tasks));

		if (!items)
			return out_of_memory(pass, error);
		pass->tasks = items;
		pass->task_capacity = capacity;
	}
	pass->tasks[pass->task_count++] = address;
	return LITIFUT_OK;
}

/* With the number of its laps, which is in front of it. */
static uint32_t ring_words(const struct litifut_firmware_pass *pass)
{
	if (pass->options->tokens) /* the program has its buffer */
		return 1;
	/* where memory is scarce the activations have theirs from the ring */
	const uint32_t entries = pass->options->numbers && pass->cpu->ring_quarters < 4
					 ? (1 + LITIFUT_NUMBERS_SMALL_DEPTH) *
						   (uint32_t)sizeof(struct litifut_numbers_entry)
					 : 0;

	return pass->options->ring_bytes
		       ? (uint32_t)pass->options->ring_bytes / 16 * pass->cpu->ring_quarters -
				 entries / 4
		       : 2 * LITIFUT_PACKED_WORDS + 1;
}

enum litifut_status litifut_firmware_edges_find(struct litifut_firmware_pass *pass,
						struct litifut_error *error)
{
	struct litifut_session *session = &pass->session;
	enum litifut_status status;

	if (!pass->cpu->edges || (pass->options->paths && !pass->cpu->bits) ||
	    (pass->options->numbers && !pass->cpu->numbers) ||
	    (pass->options->tokens && !pass->cpu->tokens))
		return unsupported(pass, "that can't be done for this CPU yet", error);
	if (!pass->ram_is_known)
		return unsupported(pass, LITIFUT_FIRMWARE_NO_RAM, error);
	if (pass->options->paths && litifut_firmware_second_core(pass))
		return unsupported(pass, litifut_firmware_second_core(pass), error);
	if (pass->options->start_at || pass->options->sample_at)
		return unsupported(
			pass, "neither LITIFUT_START_AT nor LITIFUT_SAMPLE is there for it", error);
	session->image = pass->image;
	session->arch = &pass->arch;
	session->context = pass->context;
	session->context.bits = pass->options->paths;
	session->context.units = pass->options->units;
	session->context.numbers = pass->options->numbers;
	session->context.tokens = pass->options->tokens;
	session->flags_in_table = !pass->options->paths;
	session->flags = pass->table ? pass->table->address - LITIFUT_FLAGS_HEAD : 0;
	session->tasks[0] = session->tasks[1] = has_tasks(pass);
	session->left = calloc(pass->image.symbol_count + 2, 1);
	session->handlers = calloc(HANDLERS_MOST, sizeof(*session->handlers));
	session->events = calloc(pass->sites.count + 1, sizeof(*session->events));
	if (!session->left || !session->handlers || !session->events)
		return out_of_memory(pass, error);
	leave_functions(pass);
	find_events(pass);
	status = fix_sends(pass, error);
	if (!status && pass->options->paths && pass->cpu->task_access)
		status = each_task(pass, note_task, NULL, error);
	/* of units it is of use only which task has been interrupted */
	if (pass->cpu->handlers && pass->options->paths && !pass->baseline &&
	    !pass->options->numbers && (!pass->options->units || pass->task_count))
		session->handler_count =
			pass->cpu->handlers(&session->image, session->handlers, HANDLERS_MOST);
	if (!status && ((pass->task_count && !has_tasks(pass)) ||
			(pass->options->paths && pass->cpu->changes_tasks &&
			 pass->cpu->changes_tasks(&pass->image, &pass->context))))
		return unsupported(
			pass, "the program changes tasks, which can't be followed on this CPU yet",
			error);
	session->unlent = pass->tasks;
	session->unlent_count = pass->task_count;
	if (!status)
		status = litifut_edges_find(session, &pass->options->common, error);
	if (status)
		return status;
	pass->rooms[0].bytes =
		(uint32_t)litifut_edges_bytes(session) + CALL_BYTES * (uint32_t)pass->task_count;
	for (size_t i = 0; i < pass->sites.count && has_gates(pass); i++)
		if (pass->sites.items[i].site.kind == LITIFUT_SITE_VECTOR)
			pass->rooms[0].bytes += CALL_BYTES;
	pass->table_words =
		pass->options->paths ? ring_words(pass) : (session->edges->flags_bytes + 3) / 4;
	if (session->edges->flags_bytes > LITIFUT_FLAGS_PIECE - LITIFUT_FLAGS_HEAD)
		return unsupported(pass, "more flags than fit into 64 KB", error);
	return LITIFUT_OK;
}

struct writing {
	struct litifut_changes changes;
	struct litifut_room room;
	size_t edges;    /* changes that are those of edges, sorted */
	uint32_t *gates; /* by site: where write_gates() has made an entry lead; 0: nowhere */
	uint32_t behind; /* the tracer's code that is called when a handler has returned, or 0 */
};

/* Has an edge moved the code at `address`? */
static bool is_changed(const struct writing *writing, uint32_t address)
{
	size_t low = 0, high = writing->edges;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (writing->changes.items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address - writing->changes.items[low - 1].address <
			      writing->changes.items[low - 1].length;
}

/* Puts the code that does the instruction at `code` (NULL: it is a gate, and the next is its
 * handler), calls and goes on at the end of the room; *to gets where it stands. */
static enum litifut_status write_call(struct litifut_firmware_pass *pass, struct writing *writing,
				      const uint8_t *code, uint32_t target, uint32_t next,
				      uint32_t *to, struct litifut_error *error)
{
	struct litifut_room *room = &writing->room;
	struct litifut_firmware_stub stub;
	unsigned bytes;

	*to = room->address + room->used;
	if (room->size - room->used < CALL_BYTES)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, pass->image.path, ".text",
					 LITIFUT_NO_ADDRESS,
					 "the room for the code of branches is too small");
	bytes = code ? pass->cpu->write_call(code, *to, target, next, &stub)
		     : pass->cpu->write_gate(&pass->context, *to, target, next, writing->behind,
					     &stub);
	if (!bytes)
		return unsupported(pass, "code of the kernel is out of reach of the tracer", error);
	memcpy(room->bytes + room->used, stub.code, stub.bytes);
	room->used += stub.bytes;
	return LITIFUT_OK;
}

/* Does the function at the address record that it is entered? */
static bool is_recorded(const struct litifut_firmware_pass *pass, uint32_t address)
{
	const struct litifut_graph_block *block =
		litifut_graph_at(&pass->session.edges->graph, address & ~1u);

	return block && block->block.entered == LITIFUT_ENTERED_RECORD &&
	       block->block.entered_reason == LITIFUT_SITE_PATCHED;
}

/* Entries of the vector table lead to code that says what is interrupted. */
static enum litifut_status write_gates(struct litifut_firmware_pass *pass, struct writing *writing,
				       struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	writing->gates = calloc(pass->sites.count + 1, sizeof(*writing->gates));
	if (!writing->gates)
		return out_of_memory(pass, error);
	for (size_t i = 0; i < pass->sites.count && !status; i++) {
		const struct litifut_site *site = &pass->sites.items[i].site;
		uint8_t way[4] = {0};
		unsigned bytes;
		uint32_t to;

		if (site->kind != LITIFUT_SITE_VECTOR || !is_recorded(pass, site->callee))
			continue;
		status = write_call(pass, writing, NULL, pass->session.interrupt,
				    site->callee & ~1u, &to, error);
		if (status)
			break;
		bytes = pass->cpu->write_way(&pass->context, site->address, to, way);
		if (!bytes)
			return unsupported(pass, "the vector table is out of reach of the tracer",
					   error);
		litifut_changes_add(&writing->changes, site->address, way, bytes, 0,
				    LITIFUT_CODE_DATA);
		writing->gates[i] = to | (site->callee & 1);
	}
	return status;
}

static enum litifut_status write_task(struct litifut_firmware_pass *pass, uint32_t address,
				      const uint8_t *code, void *context,
				      struct litifut_error *error)
{
	struct writing *writing = context;
	const uint32_t target = pass->session.tasks[pass->cpu->task_access(code) - 1];
	uint32_t to;
	uint8_t way[4];
	enum litifut_status status;

	if (is_own(&pass->image, address) || is_changed(writing, address))
		return LITIFUT_OK;
	status = write_call(pass, writing, code, target, address + 4, &to, error);
	if (!status && !pass->cpu->write_branch(address, to, way))
		return unsupported(pass, "code of the kernel is out of reach of the tracer", error);
	if (!status)
		litifut_changes_add(&writing->changes, address, way, 4, to, pass->cpu->state);
	return status;
}

/* What else is to happen when such an interrupt comes, before that code. */
static enum litifut_status put_gates(struct litifut_firmware_pass *pass,
				     const struct writing *writing, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 0; i < pass->sites.count && !status; i++) {
		const struct litifut_site *site = &pass->sites.items[i].site;
		const struct litifut_section *section =
			litifut_image_section_at(&pass->image, site->address, 4);
		uint32_t to = site->callee;

		if (site->kind != LITIFUT_SITE_VECTOR || !section || !section->bytes)
			continue;
		if (writing->gates && writing->gates[i])
			to = writing->gates[i];
		status = litifut_firmware_put_gates(pass, site, to, error);
	}
	return status;
}

static enum litifut_status write_sends(struct litifut_firmware_pass *pass, struct writing *writing,
				       struct litifut_error *error)
{
	for (size_t i = 0; i < pass->sites.count && pass->send_gate; i++) {
		const struct litifut_site *site = &pass->sites.items[i].site;
		const struct litifut_section *section =
			litifut_image_section_at(&pass->image, site->address, site->length);
		uint8_t code[4];

		if (!leads_to_sender(pass, &pass->sites.items[i], pass->send_at))
			continue;
		memcpy(code, section->bytes + (site->address - section->address), site->length);
		if (!pass->cpu->redirect(&pass->context, code, site->length, site->address,
					 pass->send_gate))
			return unsupported(pass, "a call that sends is out of reach of the tracer",
					   error);
		litifut_changes_add(&writing->changes, site->address, code, site->length,
				    pass->send_gate & ~1u, pass->cpu->state);
	}
	return LITIFUT_OK;
}

/* What the tracer's code reads. */
static enum litifut_status set_facts(struct litifut_firmware_pass *pass,
				     struct litifut_error *error)
{
	const struct litifut_image *image = &pass->image;
	const uint32_t high = pass->cpu->first_stack ? pass->cpu->first_stack(image) : 0;
	const struct litifut_graph *graph = &pass->session.edges->graph;
	uint32_t low = UINT32_MAX;
	uint32_t code, end;

	/* What may be a return address is looked at: there must be memory at all of them, and
	 * other code, in RAM, may be below. */
	litifut_firmware_code_range(pass, &code, &end);
	for (size_t i = 0; i < graph->count; i++)
		if (graph->items[i].block.start >= code) {
			code = graph->items[i].block.start;
			break;
		}
	for (size_t i = 1; i < image->section_count; i++)
		if ((image->sections[i].flags & (SHF_ALLOC | SHF_WRITE)) ==
			    (SHF_ALLOC | SHF_WRITE) &&
		    image->sections[i].size && image->sections[i].address < low)
			low = image->sections[i].address;
	/* AVR has only the last one */
	if (litifut_image_symbol(image, "litifut_paths_stack_low") &&
	    (!litifut_firmware_set_word(pass, "litifut_paths_stack_low", low) ||
	     !litifut_firmware_set_word(pass, "litifut_paths_stack_high", high) ||
	     !litifut_firmware_set_word(pass, "litifut_paths_code_low", code)))
		return litifut_firmware_missing(pass, "litifut_paths_stack_low", error);
	return litifut_firmware_set_word(pass, "litifut_paths_code_high", end)
		       ? LITIFUT_OK
		       : litifut_firmware_missing(pass, "litifut_paths_code_high", error);
}

/* Puts the changes into the image, which has the original code up to here. */
static enum litifut_status finish(struct litifut_firmware_pass *pass, struct writing *writing,
				  struct litifut_error *error)
{
	const struct litifut_changes *changes = &writing->changes;

	pass->blocks = litifut_edges_table(&pass->session, changes, &pass->blocks_bytes);
	if (!pass->blocks)
		return out_of_memory(pass, error);
	for (size_t i = 0; i < changes->count; i++)
		if (!changes->items[i].in_place &&
		    !litifut_firmware_change(pass, changes->items[i].address,
					     changes->items[i].code, changes->items[i].length))
			return litifut_error_set(error, LITIFUT_ERROR_INTERNAL, pass->image.path,
						 NULL, changes->items[i].address,
						 "no section holds this code");
	enum litifut_status status = put_gates(pass, writing, error);

	if (status)
		return status;
	litifut_sites_release(&pass->sites);
	pass->sites = pass->session.sites;
	memset(&pass->session.sites, 0, sizeof(pass->session.sites));
	pass->rooms[0].bytes = writing->room.used;
	return pass->options->paths && !pass->options->numbers ? set_facts(pass, error)
							       : LITIFUT_OK;
}

enum litifut_status litifut_firmware_edges_write(struct litifut_firmware_pass *pass,
						 struct litifut_error *error)
{
	static const char *const names[] = {"litifut_paths_saved", "litifut_paths_resumed",
					    "litifut_paths_interrupt"};
	uint32_t *const called[] = {&pass->session.tasks[0], &pass->session.tasks[1],
				    &pass->session.interrupt};
	const struct litifut_section *section = litifut_image_section_at(
		&pass->image, pass->rooms[0].symbol->address, pass->rooms[0].symbol->size);
	struct writing writing = {.room = {.address = pass->rooms[0].symbol->address,
					   .size = pass->rooms[0].symbol->size}};
	struct litifut_rooms rooms = {.items = &writing.room,
				      .count = 1,
				      .landings = &pass->session.landings,
				      .arch = &pass->arch,
				      .context = &pass->session.context};
	struct litifut_frames frames = {0};
	const struct litifut_symbol *behind;
	enum litifut_status status;

	if (!section || !section->bytes)
		return litifut_firmware_missing(pass, LITIFUT_FIRMWARE_STUBS, error);
	writing.room.bytes = section->bytes + (pass->rooms[0].symbol->address - section->address);
	pass->changed[section - pass->image.sections] = true;
	for (unsigned i = has_tasks(pass) ? 0 : 2;
	     i < 3 && pass->options->paths && !pass->options->numbers; i++) {
		const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, names[i]);

		if (!symbol)
			return litifut_firmware_missing(pass, names[i], error);
		*called[i] = symbol->address | symbol->thumb;
	}
	behind = litifut_image_symbol(&pass->image, "litifut_paths_returned");
	writing.behind = behind ? behind->address : 0;
	status = litifut_edges_write(&pass->session, &pass->options->common, &rooms, &frames,
				     &writing.changes, error);
	if (!status)
		status = litifut_changes_sort(&writing.changes, &pass->image, error);
	writing.edges = writing.changes.count;
	if (!status && has_tasks(pass))
		status = each_task(pass, write_task, &writing, error);
	if (!status && has_gates(pass))
		status = write_gates(pass, &writing, error);
	if (!status)
		status = write_sends(pass, &writing, error);
	if (!status)
		status = litifut_changes_sort(&writing.changes, &pass->image, error);
	if (!status)
		status = finish(pass, &writing, error);
	litifut_changes_release(&writing.changes);
	free(writing.gates);
	return status;
}

void litifut_firmware_edges_release(struct litifut_firmware_pass *pass)
{
	litifut_edges_release(pass->session.edges);
	litifut_sites_release(&pass->session.sites);
	free(pass->session.left);
	free(pass->session.handlers);
	free(pass->session.events);
	free(pass->unrecorded);
	free(pass->fixed);
	free(pass->tasks);
	free(pass->blocks);
}
