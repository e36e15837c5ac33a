/* The pass over the image of a firmware; see firmware.h. Longer than 500 lines, because it is one
 * list of steps over one image. */
#include "rewriter/firmware.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <litifut/firmware_pool.h>
#include <litifut/frames_format.h>
#include <litifut/module_format.h>
#include <litifut/trace_format.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/sections.h"
#include "rewriter/before_ram.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/module.h"
#include "rewriter/sites_file.h"
#include "rewriter/reachable.h"
#include "rewriter/program_code.h"

#define SEND_GATE "litifut_send_gate"
#define SEND_TARGET "litifut_send_target"
#define COUNT_SMALL "litifut_count_small"
#define SAMPLE "litifut_sample"
#define COUNT_POINTER "litifut_count_pointer"
#define COUNT_CARRY "litifut_count_carry"
#define TIME_CALL "litifut_time_call"
#define TIME_POINTER "litifut_time_pointer"
#define TICK "litifut_tick"
#define CLOCK_HANDLER "litifut_timer_overflow"
#define CALIBRATION "litifut_calibration_number"

#define JUMP "longjmp"
#define JUMP_GATE "litifut_jump_gate"
#define JUMP_TARGET "litifut_jump_target"

#define START_GATE "litifut_start_gate"
#define START_TARGET "litifut_start_target"
#define SWITCHED "_switched"

#define SYSTICK 15 /* its entry of the vector table */

/* Where a heap begins in one memory, no other memory follows so closely. */
#define HEAP_BYTES_MAX (16u << 20)

static const struct litifut_firmware_cpu *const cpus[] = {&litifut_firmware_arm,
							  &litifut_firmware_avr};

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

/* A pass over one image. */
struct pass {
	const struct litifut_firmware_options *options;
	struct litifut_image image;
	struct litifut_arch arch;
	struct litifut_arch_detour detour; /* of it */
	struct litifut_arch_context context;
	struct litifut_site_list sites;
	const struct litifut_firmware_cpu *cpu;
	bool baseline;
	uint32_t send_at;   /* address of options->send_at; 0: there is none */
	uint32_t sample_at; /* of options->sample_at; 0: there is none */
	bool samples;
	bool jumps;           /* a site calls longjmp() */
	bool ticks;           /* SysTick is counted for the clock */
	bool ram_is_known;    /* where .bss is cleared */
	bool *changed;        /* by number of the section */
	uint32_t stub_bytes;  /* so far */
	uint32_t table_words; /* the same */
	uint32_t calibration; /* number of the first word of a record that no site has */
	bool sends;
	bool pointers;
	struct litifut_module module; /* as it is saved */
	/* Only when the image is to be changed. */
	const struct litifut_symbol *stubs;
	const struct litifut_symbol *table;
	uint32_t count_small;
	uint32_t count_pointer;
	uint32_t count_carry;
	uint32_t time_call;
	uint32_t jump_gate;
	uint32_t start_gate;
	uint32_t start_at; /* address of options->start_at; 0: there is none */
	uint32_t send_gate;
};

static enum litifut_status missing(const struct pass *pass, const char *symbol,
				   struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_MISSING, pass->image.path, NULL,
				 LITIFUT_NO_ADDRESS, "not linked with the tracer: no symbol %s",
				 symbol);
}

static enum litifut_status open_pass(const char *path,
				     const struct litifut_firmware_options *options,
				     struct pass *pass, struct litifut_error *error)
{
	const struct litifut_arch *arch;
	const struct litifut_section *attributes;
	const struct litifut_symbol *send_at;
	const struct litifut_symbol *sample_at;
	const uint8_t *bytes = NULL;
	uint32_t size = 0;
	const struct litifut_symbol *start_at;
	enum litifut_status status;

	memset(pass, 0, sizeof(*pass));
	pass->options = options;
	status = litifut_image_open(path, &pass->image, error);
	if (status)
		return status;
	arch = litifut_arch_find(pass->image.machine);
	pass->cpu = find_cpu(pass->image.machine);
	attributes = pass->cpu && pass->cpu->attributes
			     ? litifut_image_section(&pass->image, pass->cpu->attributes)
			     : NULL;
	if (attributes) {
		bytes = attributes->bytes;
		size = attributes->size;
	}
	if (!arch || !pass->cpu || !pass->cpu->runtime(pass->image.flags, bytes, size))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "not a firmware for a CPU that can be traced");
	pass->changed = calloc(pass->image.section_count + 1, sizeof(*pass->changed));
	if (!pass->changed)
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "out of memory");
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
		pass->baseline = pass->cpu->prepare(bytes, size, &pass->context);
	if (!status)
		status = litifut_sites_find(&pass->image, &pass->arch, &pass->context,
					    &options->common, &pass->sites, error);
	pass->ram_is_known = !pass->cpu->calls_before_ram;
	if (!status && pass->cpu->calls_before_ram)
		status = litifut_before_ram_mark(&pass->image, &pass->sites, &pass->ram_is_known,
						 error);
	if (!status)
		status = litifut_reachable_mark(&pass->image, &pass->arch, &pass->context,
						"litifut_putc", &pass->sites, error);
	if (!status && options->times && options->clock)
		status = litifut_reachable_mark(&pass->image, &pass->arch, &pass->context,
						options->clock, &pass->sites, error);
	if (!status && !(options->common.include_functions && *options->common.include_functions))
		status = pass->cpu->add_vectors(&pass->image, &pass->sites, error);
	send_at = options->send_at ? litifut_image_symbol(&pass->image, options->send_at) : NULL;
	if (send_at)
		pass->send_at = send_at->address;
	sample_at =
		options->sample_at ? litifut_image_symbol(&pass->image, options->sample_at) : NULL;
	if (sample_at)
		pass->sample_at = sample_at->address;
	start_at = options->start_at ? litifut_image_symbol(&pass->image, options->start_at) : NULL;
	if (start_at)
		pass->start_at = start_at->address;
	if (!status && options->start_at && !(start_at && pass->cpu->switches))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, path, NULL,
					 LITIFUT_NO_ADDRESS,
					 start_at ? "LITIFUT_START_AT: not for this CPU: %s"
						  : "LITIFUT_START_AT: no such function: %s",
					 options->start_at);
	return status;
}

static void close_pass(struct pass *pass)
{
	litifut_sites_release(&pass->sites);
	free(pass->changed);
	free(pass->context.cpu.facts);
	litifut_image_close(&pass->image);
}

static bool is_pointer(const struct litifut_site *site)
{
	return site->kind == LITIFUT_SITE_INDIRECT || site->kind == LITIFUT_SITE_TAIL_INDIRECT;
}

/* Changes code in the image's memory. False: no section has these bytes. */
static bool change(struct pass *pass, uint32_t address, const uint8_t *bytes, uint32_t size)
{
	const struct litifut_section *section =
		litifut_image_section_at(&pass->image, address, size);

	if (!section || !section->bytes)
		return false;
	memcpy(section->bytes + (address - section->address), bytes, size);
	pass->changed[section - pass->image.sections] = true;
	return true;
}

/* Puts the patches of a stub into the image. The branches in them must lead where they
 * should. */
static enum litifut_status put_patches(struct pass *pass, const struct litifut_firmware_stub *stub,
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
		if (!change(pass, patch->address, patch->bytes, patch->length))
			return litifut_error_set(error, LITIFUT_ERROR_INTERNAL, pass->image.path,
						 NULL, patch->address,
						 "no section holds this code");
	}
	return LITIFUT_OK;
}

static bool set_word(struct pass *pass, const char *name, uint32_t value)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, name);
	uint8_t word[4];

	litifut_put32(pass->image.big_endian, word, value);
	return symbol && change(pass, symbol->address, word, sizeof(word));
}

/* Lets our code at this symbol go on to the function at `target`. */
static bool set_way(struct pass *pass, const char *name, uint32_t target)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, name);
	uint8_t code[4];

	return symbol &&
	       pass->cpu->write_way(&pass->context, symbol->address, target & ~1u, code) &&
	       change(pass, symbol->address, code, sizeof(code));
}

/* Lets an entry of the vector table, which leads to `*to`, lead to `gate`, and that to what
 * the entry led to. */
static enum litifut_status put_gate(struct pass *pass, uint32_t entry, uint32_t *to,
				    const char *gate, const char *target,
				    struct litifut_error *error)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, gate);
	uint8_t way[4];

	if (!symbol || !set_way(pass, target, *to) ||
	    !pass->cpu->write_way(&pass->context, entry, symbol->address, way) ||
	    !change(pass, entry, way, sizeof(way)))
		return missing(pass, gate, error);
	*to = symbol->address;
	return LITIFUT_OK;
}

static enum litifut_status sample_vector(struct pass *pass, uint32_t entry, uint32_t *to,
					 struct litifut_error *error)
{
	const struct litifut_symbol *bins =
		litifut_image_symbol(&pass->image, LITIFUT_FIRMWARE_PROFILE);
	uint32_t low = pass->image.text_start & ~3u;
	unsigned shift = 2;

	if (!bins || !bins->size)
		return missing(pass, SAMPLE, error);
	while ((pass->image.text_end - low - 1) >> shift >= bins->size / 2)
		shift++;
	return set_word(pass, "litifut_sample_low", low) &&
			       set_word(pass, "litifut_sample_shift", shift) &&
			       set_word(pass, "litifut_sample_bins", bins->size / 2)
		       ? put_gate(pass, entry, to, SAMPLE, "litifut_sample_target", error)
		       : missing(pass, SAMPLE, error);
}

/* What else is to happen when the interrupt of this site comes. */
static enum litifut_status put_gates(struct pass *pass, const struct litifut_site *site,
				     uint32_t stub, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	if (pass->sample_at && (site->callee & ~1u) == pass->sample_at) {
		pass->samples = true;
		if (pass->stubs)
			status = sample_vector(pass, site->address, &stub, error);
	}
	if (!status && pass->stubs && site->instruction == SYSTICK &&
	    litifut_image_symbol(&pass->image, TICK)) {
		pass->ticks = true;
		status = put_gate(pass, site->address, &stub, TICK, "litifut_tick_target", error);
	}
	return status;
}

static const char *callee_name(const struct pass *pass, const struct litifut_site *site)
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

/* May its return address be another one than its own? setjmp() returns to it once more,
 * longjmp() not at all. ChibiOS looks at the one that an interrupt has. */
static bool is_timed(const struct pass *pass, const struct litifut_site *site)
{
	static const char *const twice[] = {"setjmp",      "_setjmp", "sigsetjmp",
					    "__sigsetjmp", JUMP,      NULL};

	/* A jump to these stands in start-up code, which has no return address to replace. */
	static const char *const ends[] = {"exit", "_exit", NULL};

	if (!pass->options->times ||
	    (litifut_site_is_tail(site) && is_one_of(callee_name(pass, site), ends)))
		return false;
	if (site->kind == LITIFUT_SITE_VECTOR)
		return !litifut_image_symbol(&pass->image, "_port_irq_epilogue") &&
		       !litifut_image_symbol(&pass->image, "__port_irq_epilogue");
	return !is_one_of(callee_name(pass, site), twice);
}

static unsigned record_words(const struct pass *pass)
{
	return pass->options->times ? LITIFUT_RECORD_TIMES : LITIFUT_RECORD_COUNT;
}

/* Measures the stub of a site, or writes it if there is room that was reserved for it. */
static enum litifut_status do_site(struct pass *pass, struct litifut_found_site *site,
				   struct litifut_error *error)
{
	struct litifut_firmware_call call = {
		.call = litifut_site_cramped(&pass->image, site),
		.detour = site->detour,
		.pointer = is_pointer(&site->site),
		.vector = site->site.kind == LITIFUT_SITE_VECTOR,
		.small = pass->options->small,
		.times = pass->options->times,
		.baseline = pass->baseline,
		.callee = site->site.callee,
		.number = pass->table_words,
	};
	struct litifut_firmware_stub stub;
	bool jumps = pass->options->times && !call.pointer &&
		     !strcmp(callee_name(pass, &site->site), JUMP);
	bool timed = !call.pointer && is_timed(pass, &site->site);
	bool sends = !call.pointer && pass->send_at && (call.callee & ~1u) == pass->send_at;
	bool starts =
		!call.pointer && !sends && pass->start_at && (call.callee & ~1u) == pass->start_at;
	/* As if everything were near. */
	uint32_t address = site->site.address & ~3u;
	bool written;

	call.timed = timed;
	call.small |= timed; /* there is one kind of stub that times */
	call.count_small = call.count_pointer = call.count_carry = address;
	if (pass->stubs) {
		address = pass->stubs->address + pass->stub_bytes;
		call.counter = pass->table->address + 4 * pass->table_words;
		call.count_small = timed ? pass->time_call : pass->count_small;
		call.count_pointer = pass->count_pointer;
		call.count_carry = pass->count_carry;
		if (sends)
			call.callee = pass->send_gate;
		if (jumps && pass->jump_gate)
			call.callee = pass->jump_gate;
		if (starts && pass->start_gate)
			call.callee = pass->start_gate;
	} else {
		call.callee = address;
	}
	written = pass->cpu->write_stub(&call, address, &stub);
	if (pass->stubs && pass->stub_bytes + stub.bytes > pass->stubs->size)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, pass->image.path, ".text",
					 LITIFUT_NO_ADDRESS,
					 "the room for the stubs of call sites is too small");
	if (!written) {
		site->site.reason = LITIFUT_SITE_OUT_OF_REACH;
		return LITIFUT_OK;
	}
	if (pass->stubs) {
		enum litifut_status status = put_patches(pass, &stub, error);

		if (status)
			return status;
		if (!change(pass, address, stub.code, stub.bytes))
			return missing(pass, LITIFUT_FIRMWARE_STUBS, error);
	}
	pass->stub_bytes += stub.bytes;
	pass->table_words += record_words(pass) + (call.pointer ? LITIFUT_POINTER_EXTRA : 0);
	pass->pointers |= call.pointer;
	pass->sends |= sends;
	pass->jumps |= jumps;
	if (pass->table_words > UINT16_MAX)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
					 LITIFUT_NO_ADDRESS, "more than 65535 counters");
	return call.vector ? put_gates(pass, &site->site, address, error) : LITIFUT_OK;
}

static enum litifut_status do_sites(struct pass *pass, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 0; i < pass->sites.count && !status; i++)
		if (pass->sites.items[i].site.reason == LITIFUT_SITE_PATCHED)
			status = do_site(pass, &pass->sites.items[i], error);
	/* One more record, for the calls that measure what a call costs. */
	if (pass->options->times) {
		pass->calibration = pass->table_words;
		pass->table_words += LITIFUT_RECORD_TIMES;
	}
	return status;
}

static const char *why_untimed(const struct pass *pass)
{
	static const char *const throwers[] = {"_Unwind_RaiseException", "_Unwind_ForcedUnwind",
					       "_Unwind_Resume_or_Rethrow", NULL};

	if (!pass->cpu->times)
		return "that can't be done for this CPU yet";
	for (size_t i = 0; i < pass->sites.count; i++)
		if (is_one_of(callee_name(pass, &pass->sites.items[i].site), throwers))
			return "the program can throw exceptions, which need the return addresses";
	return pass->ram_is_known
		       ? NULL
		       : "the reset handler calls neither __libc_init_array nor main, so "
			 "that it is not known where .bss is cleared";
}

enum litifut_status litifut_firmware_plan(const char *path,
					  const struct litifut_firmware_options *options,
					  struct litifut_firmware_plan *plan,
					  struct litifut_error *error)
{
	struct pass pass;
	enum litifut_status status = open_pass(path, options, &pass, error);

	memset(plan, 0, sizeof(*plan));
	if (!status)
		status = do_sites(&pass, error);
	plan->machine = pass.image.machine;
	plan->elf_flags = pass.image.flags;
	plan->elf_data = pass.image.data;
	plan->stub_bytes = pass.stub_bytes;
	plan->table_words = pass.table_words;
	plan->pointers = pass.pointers;
	plan->sends = pass.sends;
	plan->samples = pass.samples;
	plan->jumps = pass.jumps;
	plan->can_switch = pass.cpu && pass.cpu->switches;
	if (options->times)
		plan->open_bytes = (size_t)OPEN_BYTES * options->depth;
	if (!status)
		plan->untimed = why_untimed(&pass);
	for (size_t i = 0; i < pass.sites.count; i++)
		plan->sites += pass.sites.items[i].site.reason == LITIFUT_SITE_PATCHED;
	close_pass(&pass);
	return status;
}

/* The address of code with this name, 0: there is none. */
static uint32_t code_at(const struct pass *pass, const char *name)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, name);

	return symbol ? symbol->address | symbol->thumb : 0;
}

/* Has the script put our piece beside pieces of the program? If not, the section is an orphan:
 * the linker has put it where the script does not expect it. */
static enum litifut_status check_place(const struct pass *pass, const struct litifut_symbol *ours,
				       struct litifut_error *error)
{
	const struct litifut_image *image = &pass->image;

	for (size_t i = 0; i < image->symbol_count; i++) {
		const struct litifut_symbol *symbol = &image->symbols[i];

		if (symbol->section == ours->section && !symbol->own && !symbol->mapping &&
		    symbol->type != STT_SECTION && *symbol->name)
			return LITIFUT_OK;
	}
	return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path,
				 image->sections[ours->section].name, ours->address,
				 "the linker script has no place for a section of this name");
}

/* Memory that the heap grows into begins at a symbol of one of these names. */
static enum litifut_status check_heap(const struct pass *pass, struct litifut_error *error)
{
	static const char *const names[] = {"end",        "_end",         "__end__",
					    "__HeapBase", "__heap_start", "_heap_start"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, names[i]);

		if (symbol && pass->table->address - symbol->address < HEAP_BYTES_MAX)
			return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path,
						 ".bss", pass->table->address,
						 "the counters would lie in the heap, which begins "
						 "at `%s'",
						 names[i]);
	}
	return LITIFUT_OK;
}

/* What has to be in the image. */
static enum litifut_status find_runtime(struct pass *pass, struct litifut_error *error)
{
	const bool switched = pass->options->switched;

	pass->stubs = litifut_image_symbol(&pass->image, LITIFUT_FIRMWARE_STUBS);
	pass->table = litifut_image_symbol(&pass->image, LITIFUT_FIRMWARE_TABLE);
	pass->count_small = code_at(pass, switched ? COUNT_SMALL SWITCHED : COUNT_SMALL);
	pass->count_pointer = code_at(pass, pass->options->times ? TIME_POINTER
					    : switched           ? COUNT_POINTER SWITCHED
								 : COUNT_POINTER);
	pass->count_carry = code_at(pass, COUNT_CARRY);
	pass->time_call = code_at(pass, switched ? TIME_CALL SWITCHED : TIME_CALL);
	pass->start_gate = code_at(pass, START_GATE);
	pass->jump_gate = code_at(pass, JUMP_GATE);
	pass->send_gate = code_at(pass, SEND_GATE);
	if (!pass->stubs)
		return missing(pass, LITIFUT_FIRMWARE_STUBS, error);
	if (!pass->table)
		return missing(pass, LITIFUT_FIRMWARE_TABLE, error);
	if (!pass->send_gate)
		pass->send_at = 0;
	enum litifut_status status = check_place(pass, pass->stubs, error);

	if (!status)
		status = check_place(pass, pass->table, error);
	return status ? status : check_heap(pass, error);
}

static enum litifut_status check_room(const struct pass *pass, struct litifut_error *error)
{
	if (4 * pass->table_words > pass->table->size)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, pass->image.path, ".bss",
					 LITIFUT_NO_ADDRESS, "the room for counters is too small");
	if (pass->pointers && !pass->count_pointer)
		return missing(pass, COUNT_POINTER, error);
	if (pass->options->small && pass->table_words && !pass->count_small)
		return missing(pass, COUNT_SMALL, error);
	if (pass->options->times && !pass->time_call)
		return missing(pass, TIME_CALL, error);
	return LITIFUT_OK;
}

static bool set_half(struct pass *pass, const char *name, uint32_t value)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, name);
	uint8_t half[2];

	litifut_put16(pass->image.big_endian, half, (uint16_t)value);
	return symbol && change(pass, symbol->address, half, sizeof(half));
}

/* Lets the interrupt of the timer lead to our handler. */
static enum litifut_status set_clock(struct pass *pass, struct litifut_error *error)
{
	uint32_t handler = code_at(pass, CLOCK_HANDLER);
	uint32_t entry;
	uint8_t way[4];

	if (!handler)
		return missing(pass, CLOCK_HANDLER, error);
	if (!pass->cpu->clock_vector(&pass->image, &entry))
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_MODE=table: the timer of this device is not "
					 "known, or the program has a handler for its overflow");
	return pass->cpu->write_way(&pass->context, entry, handler, way) &&
			       change(pass, entry, way, sizeof(way))
		       ? LITIFUT_OK
		       : missing(pass, CLOCK_HANDLER, error);
}

static enum litifut_status set_start(struct pass *pass, struct litifut_error *error)
{
	if (!pass->start_at)
		return LITIFUT_OK;
	return set_word(pass, "litifut_step", 0) && set_way(pass, START_TARGET, pass->start_at)
		       ? LITIFUT_OK
		       : missing(pass, START_TARGET, error);
}

/* What the code that times needs to know. */
static enum litifut_status set_times(struct pass *pass, struct litifut_error *error)
{
	const char *clock = pass->options->clock;
	uint32_t function = clock ? code_at(pass, clock) : 0;

	if (!pass->options->times)
		return LITIFUT_OK;
	if (clock && !function)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
			LITIFUT_NO_ADDRESS,
			"LITIFUT_CLOCK: neither dwt, systick nor a function of the "
			"program: %s",
			clock);
	if (litifut_image_symbol(&pass->image, TICK) && !pass->ticks)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_CLOCK=systick: the program has no interrupt "
					 "handler for SysTick");
	if (pass->jump_gate && !set_way(pass, JUMP_TARGET, code_at(pass, JUMP)))
		return missing(pass, JUMP_TARGET, error);
	if (clock && !set_way(pass, "litifut_clock_target", function))
		return missing(pass, "litifut_clock_target", error);
	if (!set_half(pass, CALIBRATION, pass->calibration))
		return missing(pass, CALIBRATION, error);
	return pass->cpu->clock_vector ? set_clock(pass, error) : LITIFUT_OK;
}

static enum litifut_status set_send_target(struct pass *pass, struct litifut_error *error)
{
	if (!pass->send_gate || !pass->send_at)
		return LITIFUT_OK;
	return set_way(pass, SEND_TARGET, pass->send_at) ? LITIFUT_OK
							 : missing(pass, SEND_TARGET, error);
}

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const struct litifut_image *image)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (!(section->flags & SHF_ALLOC) || !section->bytes)
			continue;
		for (uint32_t at = 0; at < section->size; at++)
			hash = (hash ^ section->bytes[at]) * 0x100000001b3ull;
	}
	return hash;
}

static enum litifut_status set_identity(struct pass *pass, struct litifut_error *error)
{
	const struct litifut_symbol *symbol =
		litifut_image_symbol(&pass->image, LITIFUT_FIRMWARE_IDENTITY);
	bool big = pass->image.big_endian;
	uint8_t bytes[sizeof(struct litifut_identity)] = {0};
	uint64_t hash = hash_of(&pass->image);

	litifut_put32(big, bytes, LITIFUT_IDENTITY_MAGIC);
	for (unsigned i = 0; i < 8; i++)
		bytes[offsetof(struct litifut_identity, hash) + i] = (uint8_t)(hash >> 8 * i);
	litifut_put16(big, bytes + offsetof(struct litifut_identity, version),
		      LITIFUT_FRAMES_VERSION);
	litifut_put16(big, bytes + offsetof(struct litifut_identity, flags),
		      (pass->options->small ? LITIFUT_FRAMES_SMALL : 0) |
			      (pass->options->times ? LITIFUT_FRAMES_TIMES : 0));
	return symbol && change(pass, symbol->address, bytes, sizeof(bytes))
		       ? LITIFUT_OK
		       : missing(pass, LITIFUT_FIRMWARE_IDENTITY, error);
}

static const struct litifut_section *own_section(struct pass *pass, const char *name)
{
	const struct litifut_section *section = litifut_image_section(&pass->image, name);

	if (section && section->bytes)
		pass->changed[section - pass->image.sections] = true;
	return section && section->bytes ? section : NULL;
}

static enum litifut_status fill_module(struct pass *pass, size_t patched,
				       struct litifut_error *error)
{
	static const struct litifut_spawners no_spawners;
	const struct litifut_section *module = own_section(pass, LITIFUT_SECTION_MODULE);
	const struct litifut_section *sites = own_section(pass, LITIFUT_SECTION_SITES);
	const struct litifut_module_facts facts = {
		.engine =
			pass->options->small ? LITIFUT_ENGINE_SITE_SMALL : LITIFUT_ENGINE_SITE_FAST,
		.mode = pass->options->times ? LITIFUT_MODE_TABLE : LITIFUT_MODE_COUNTS,
		.sites = (uint32_t)pass->sites.count,
		.patched = (uint32_t)patched,
		.spawners = &no_spawners,
	};
	enum litifut_status status;

	if (!module || module->size < sizeof(struct litifut_module))
		return missing(pass, "litifut_module", error);
	if (!sites || sites->size < sizeof(struct litifut_sites_header))
		return missing(pass, "litifut_sites", error);
	elf_write_sites_header(pass->image.big_endian, sites->bytes, 0);
	pass->module = (struct litifut_module){
		.magic = LITIFUT_MODULE_MAGIC,
		.version = LITIFUT_MODULE_VERSION_WORD,
		.family = LITIFUT_FAMILY_NONE,
	};
	status = litifut_module_fill(&pass->image, &pass->options->common, &facts, &pass->module,
				     error);
	elf_write_module(pass->image.big_endian, module->bytes, &pass->module);
	return status;
}

static enum litifut_status save(const struct pass *pass, struct litifut_error *error)
{
	const struct litifut_site_table table = {
		.list = &pass->sites,
		.build_id = pass->module.build_id,
		.build_id_bytes = pass->module.build_id_bytes,
	};
	const char *sites_file = pass->options->common.sites_file;
	int descriptor = open(pass->image.path, O_WRONLY | O_CLOEXEC);
	enum litifut_status status = LITIFUT_OK;

	if (descriptor < 0)
		return litifut_error_set(error, LITIFUT_ERROR_IO, pass->image.path, NULL,
					 LITIFUT_NO_ADDRESS, "cannot open for writing: %s",
					 strerror(errno));
	for (size_t i = 1; i < pass->image.section_count && !status; i++)
		if (pass->changed[i])
			status = litifut_image_save_section(&pass->image, &pass->image.sections[i],
							    descriptor, error);
	if (!status)
		status = sites_file
				 ? litifut_sites_write_file(&pass->image, sites_file, &table, error)
				 : litifut_sites_append(&pass->image, descriptor, &table, 0, error);
	if (close(descriptor) && !status)
		status = litifut_error_set(error, LITIFUT_ERROR_IO, pass->image.path, NULL,
					   LITIFUT_NO_ADDRESS, "cannot write: %s", strerror(errno));
	return status;
}

static void summarise(const struct pass *pass, struct litifut_rewrite_summary *summary)
{
	const struct litifut_rewrite_options *options = &pass->options->common;

	summary->sites = pass->sites.count;
	for (size_t i = 0; i < summary->sites; i++)
		summary->left[pass->sites.items[i].site.reason & 31]++;
	summary->patched = summary->left[LITIFUT_SITE_PATCHED];
	summary->left[LITIFUT_SITE_PATCHED] = 0;
	summary->room_bytes = pass->stubs->size;
	summary->room_used = pass->stub_bytes;
	summary->excludes_unused = litifut_sites_unnamed(&pass->image, options->asked_excludes);
	summary->includes_unused = litifut_sites_unnamed(&pass->image, options->include_functions);
}

enum litifut_status litifut_firmware_apply(const char *path,
					   const struct litifut_firmware_options *options,
					   struct litifut_rewrite_summary *summary,
					   struct litifut_error *error)
{
	struct pass pass;
	enum litifut_status status = open_pass(path, options, &pass, error);

	memset(summary, 0, sizeof(*summary));
	if (!status)
		status = find_runtime(&pass, error);
	if (!status)
		status = do_sites(&pass, error);
	if (!status)
		status = check_room(&pass, error);
	if (!status)
		status = set_send_target(&pass, error);
	if (!status)
		status = set_times(&pass, error);
	if (!status)
		status = set_start(&pass, error);
	if (!status) {
		summarise(&pass, summary);
		status = fill_module(&pass, summary->patched, error);
	}
	if (!status)
		status = set_identity(&pass, error);
	if (!status)
		status = save(&pass, error);
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
	cpu = find_cpu(image.machine);
	if (cpu && cpu->check_memory)
		status = cpu->check_memory(&image, error);
	litifut_image_close(&image);
	return status;
}
