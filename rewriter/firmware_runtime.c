/* The code of the tracer in the image of a firmware: is all there that the sites need, and where do
 * its gates lead?
 *
 * Over 500 lines, because all parts look for the same symbols of the same code. */
#include <elf.h>
#include <litifut/kept_format.h>
#include <litifut/module_format.h>
#include <stdio.h>
#include <string.h>

#include "rewriter/firmware.h"
#include "rewriter/firmware_cpu.h"
#include "rewriter/firmware_pass.h"

#define SEND_GATE "litifut_send_gate"
#define BEGIN_GATE "litifut_begin_gate"
#define SEND_TARGET "litifut_send_target"
#define TICK_GATE "litifut_tick_gate"
#define TRANSMIT "litifut_transmit"
#define COUNT_SMALL "litifut_count_small"
#define SAMPLE "litifut_sample"
#define COUNT_RECORD "litifut_count_record" /* where the stub implies a record with times */
#define COUNT_POINTER "litifut_count_pointer"
#define COUNT_CARRY "litifut_count_carry"
#define BYTE_CARRY "litifut_byte_carry"
#define TIME_CALL "litifut_time_call"
#define TIME_POINTER "litifut_time_pointer"
#define SPAN_CALL "litifut_span_call"
#define SPAN_NOTE "litifut_span_note"
#define SPAN_POINTER "litifut_span_pointer"
#define SPAN_NOTE_POINTER "litifut_span_note_pointer"
#define SPAN_RETURN "litifut_span_return"
#define TICK "litifut_tick"
#define PIN_GATE "litifut_pin_gate"
#define CLOCK_HANDLER "litifut_timer_overflow"
#define TASK_AT "litifut_task_at"
#define CALIBRATION "litifut_calibration_number"

#define JUMP_GATE "litifut_jump_gate"
#define SPAN_JUMP_GATE "litifut_span_jump_gate"
#define JUMP_TARGET "litifut_jump_target"

#define STEP "litifut_step"
#define START_GATE "litifut_start_gate"
#define START_TARGET "litifut_start_target"
#define SWITCHED "_switched"
#define TASKS "_tasks"
#define DWT "_dwt"

/* Where a heap begins in one memory, no other memory follows so closely. */
#define HEAP_BYTES_MAX (16u << 20)

enum litifut_status litifut_firmware_missing(const struct litifut_firmware_pass *pass,
					     const char *symbol, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_MISSING, pass->image.path, NULL,
				 LITIFUT_NO_ADDRESS, "not linked with the tracer: no symbol %s",
				 symbol);
}

bool litifut_firmware_change(struct litifut_firmware_pass *pass, uint32_t address,
			     const uint8_t *bytes, uint32_t size)
{
	const struct litifut_section *section =
		litifut_image_section_at(&pass->image, address, size);

	if (!section || !section->bytes)
		return false;
	memcpy(section->bytes + (address - section->address), bytes, size);
	pass->changed[section - pass->image.sections] = true;
	return true;
}

bool litifut_firmware_set_word(struct litifut_firmware_pass *pass, const char *name, uint32_t value)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, name);
	uint8_t word[4];

	litifut_put32(pass->image.file.big_endian, word, value);
	return symbol && litifut_firmware_change(pass, symbol->address, word, sizeof(word));
}

static bool set_half(struct litifut_firmware_pass *pass, const char *name, uint32_t value)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, name);
	uint8_t half[2];

	litifut_put16(pass->image.file.big_endian, half, (uint16_t)value);
	return symbol && litifut_firmware_change(pass, symbol->address, half, sizeof(half));
}

/* The address of code with this name, 0: there is none. */
static uint32_t code_at(const struct litifut_firmware_pass *pass, const char *name)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, name);

	return symbol ? symbol->address | symbol->thumb : 0;
}

/* Lets this entry of the vector table, or code of the tracer, go on to the function at `target`. */
static bool write_way(struct litifut_firmware_pass *pass, uint32_t address, uint32_t target)
{
	uint8_t code[4];
	const unsigned bytes = pass->cpu->write_way(&pass->context, address, target, code);

	return bytes && litifut_firmware_change(pass, address, code, bytes);
}

/* Lets the tracer's code at this symbol go on to the function at `target`. */
static bool set_way(struct litifut_firmware_pass *pass, const char *name, uint32_t target)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, name);

	return symbol && write_way(pass, symbol->address, target & ~1u);
}

/* Lets an entry of the vector table, which leads to `*to`, lead to `gate`, and that to what
 * the entry led to. */
static enum litifut_status put_gate(struct litifut_firmware_pass *pass, uint32_t entry,
				    uint32_t *to, const char *gate, const char *target,
				    struct litifut_error *error)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, gate);

	if (!symbol || !set_way(pass, target, *to) || !write_way(pass, entry, symbol->address))
		return litifut_firmware_missing(pass, gate, error);
	*to = symbol->address;
	return LITIFUT_OK;
}

static enum litifut_status sample_vector(struct litifut_firmware_pass *pass, uint32_t entry,
					 uint32_t *to, struct litifut_error *error)
{
	const struct litifut_symbol *bins =
		litifut_image_symbol(&pass->image, LITIFUT_FIRMWARE_PROFILE);
	uint32_t low, end;
	unsigned shift = 2;

	if (!bins || !bins->size)
		return litifut_firmware_missing(pass, SAMPLE, error);
	litifut_firmware_code_range(pass, &low, &end);
	low &= ~3u;
	while ((end - low - 1) >> shift >= bins->size / 2)
		shift++;
	return litifut_firmware_set_word(pass, "litifut_sample_low", low) &&
			       litifut_firmware_set_word(pass, "litifut_sample_shift", shift) &&
			       litifut_firmware_set_word(pass, "litifut_sample_bins",
							 bins->size / 2)
		       ? put_gate(pass, entry, to, SAMPLE, "litifut_sample_target", error)
		       : litifut_firmware_missing(pass, SAMPLE, error);
}

enum litifut_status litifut_firmware_put_gates(struct litifut_firmware_pass *pass,
					       const struct litifut_site *site, uint32_t stub,
					       struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	if (pass->sample_at && (site->callee & ~1u) == pass->sample_at) {
		pass->samples = true;
		if (pass->rooms[0].symbol)
			status = sample_vector(pass, site->address, &stub, error);
	}
	if (!status && pass->rooms[0].symbol && site->instruction == LITIFUT_FIRMWARE_SYSTICK &&
	    litifut_image_symbol(&pass->image, PIN_GATE)) {
		pass->pin = true;
		status = put_gate(pass, site->address, &stub, PIN_GATE, "litifut_pin_gate_target",
				  error);
	}
	if (!status && pass->rooms[0].symbol && litifut_image_symbol(&pass->image, TICK_GATE) &&
	    (pass->timer_at ? (site->callee & ~1u) == pass->timer_at
			    : site->instruction == LITIFUT_FIRMWARE_SYSTICK)) {
		pass->timer = true;
		status = put_gate(pass, site->address, &stub, TICK_GATE, "litifut_tick_gate_target",
				  error);
	}
	/* The last one is the first to be executed: a clock has to be right for the others. */
	if (!status && pass->rooms[0].symbol && site->instruction == LITIFUT_FIRMWARE_SYSTICK &&
	    litifut_image_symbol(&pass->image, TICK)) {
		pass->ticks = true;
		status = put_gate(pass, site->address, &stub, TICK, "litifut_tick_target", error);
	}
	return status;
}

/* Has the script put this piece of the tracer beside pieces of the program? If not, the section is
 * an orphan: the linker has put it where the script does not expect it. */
static enum litifut_status check_place(const struct litifut_firmware_pass *pass,
				       const struct litifut_symbol *ours,
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

/* Has the program data in the section of the table, behind this address? */
static bool has_data_behind(const struct litifut_firmware_pass *pass, uint32_t address)
{
	const struct litifut_image *image = &pass->image;

	for (size_t i = 0; i < image->symbol_count; i++) {
		const struct litifut_symbol *symbol = &image->symbols[i];

		if (symbol->section == pass->table->section && symbol->address >= address &&
		    symbol->size && !symbol->own)
			return true;
	}
	return false;
}

/* Memory that the heap grows into begins at a symbol of one of these names. A script that puts it
 * before .bss has set its end, too. */
static enum litifut_status check_heap(const struct litifut_firmware_pass *pass,
				      struct litifut_error *error)
{
	static const char *const names[] = {"end",        "_end",         "__end__",
					    "__HeapBase", "__heap_start", "_heap_start"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct litifut_symbol *symbol = litifut_image_symbol(&pass->image, names[i]);

		if (symbol && pass->table->address - symbol->address < HEAP_BYTES_MAX &&
		    !has_data_behind(pass, symbol->address))
			return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path,
						 ".bss", pass->table->address,
						 "the counters would lie in the heap, which begins "
						 "at `%s'",
						 names[i]);
	}
	return LITIFUT_OK;
}

/* Memory that outlasts a reset must be the tracer's alone: neither a section nor the stack may be
 * there. */
static enum litifut_status check_kept(const struct litifut_firmware_pass *pass,
				      struct litifut_error *error)
{
	const struct litifut_image *image = &pass->image;
	const uint32_t at = pass->options->kept_at;
	const uint32_t bytes = KEPT_BYTES + (uint32_t)pass->options->ring_bytes;
	const uint32_t stack = pass->cpu->first_stack ? pass->cpu->first_stack(image) : 0;

	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (section->flags & SHF_ALLOC && section->size &&
		    at < section->address + section->size && section->address < at + bytes)
			return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path,
						 section->name, at,
						 "LITIFUT_RAM: the section is in this memory");
	}
	if (stack > at && stack <= at + bytes)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL, at,
					 "LITIFUT_RAM: the stack, which begins at 0x%x, is in this "
					 "memory: the linker script has to compute it from the "
					 "length of the memory",
					 stack);
	return LITIFUT_OK;
}

/* The code that records events is there once for each way to read a clock. */
static void find_spans(struct litifut_firmware_pass *pass)
{
	const bool switched = pass->options->switched;

	pass->time_call = code_at(pass, switched ? SPAN_CALL SWITCHED : SPAN_CALL);
	if (!pass->time_call)
		pass->time_call = code_at(pass, switched ? SPAN_CALL DWT SWITCHED : SPAN_CALL DWT);
	pass->span_note = code_at(pass, SPAN_NOTE);
	pass->span_return = code_at(pass, SPAN_RETURN);
	pass->count_pointer = code_at(pass, SPAN_POINTER);
}

enum litifut_status litifut_firmware_find_recorders(struct litifut_firmware_pass *pass,
						    uint32_t number, struct litifut_error *error)
{
	const bool stream = pass->options->stream;
	char name[64];
	uint32_t high;

	if (!pass->options->spans || !pass->cpu->number_bits || !pass->rooms[0].symbol)
		return LITIFUT_OK;
	high = number >> pass->cpu->number_bits;
	if (high == pass->span_high)
		return LITIFUT_OK;
	pass->span_high = high;
	snprintf(name, sizeof(name), "%s_%u", stream ? SPAN_NOTE_POINTER : SPAN_POINTER,
		 (unsigned)high);
	pass->count_pointer = code_at(pass, name);
	snprintf(name, sizeof(name), "%s%s_%u", stream ? SPAN_NOTE : SPAN_CALL,
		 pass->options->switched ? SWITCHED : "", (unsigned)high);
	pass->time_call = pass->span_note = code_at(pass, name);
	return pass->span_note ? LITIFUT_OK : litifut_firmware_missing(pass, name, error);
}

enum litifut_status litifut_firmware_find_runtime(struct litifut_firmware_pass *pass,
						  struct litifut_error *error)
{
	const bool switched = pass->options->switched;

	litifut_firmware_find_rooms(pass);
	pass->table = litifut_image_symbol(&pass->image, LITIFUT_FIRMWARE_TABLE);
	pass->count_small = code_at(pass, switched ? COUNT_SMALL SWITCHED : COUNT_SMALL);
	if (!pass->count_small)
		pass->count_small = code_at(pass, COUNT_RECORD);
	pass->count_pointer = code_at(pass, pass->options->times && switched ? TIME_POINTER SWITCHED
					    : pass->options->times           ? TIME_POINTER
					    : switched ? COUNT_POINTER SWITCHED
						       : COUNT_POINTER);
	if (pass->options->spans)
		find_spans(pass);
	pass->count_carry = code_at(pass, pass->options->bytes ? BYTE_CARRY : COUNT_CARRY);
	if (!pass->options->spans)
		pass->time_call =
			code_at(pass, pass->options->tasks && switched ? TIME_CALL TASKS SWITCHED
				      : pass->options->tasks           ? TIME_CALL TASKS
				      : switched                       ? TIME_CALL SWITCHED
								       : TIME_CALL);
	pass->start_gate = code_at(pass, START_GATE);
	if (switched)
		pass->step = code_at(pass, STEP);
	pass->jump_gate = code_at(pass, pass->options->spans ? SPAN_JUMP_GATE : JUMP_GATE);
	pass->send_gate =
		code_at(pass, pass->options->transmits && pass->options->send_asked ? BEGIN_GATE
										    : SEND_GATE);
	if (!pass->rooms[0].symbol)
		return litifut_firmware_missing(pass, LITIFUT_FIRMWARE_STUBS, error);
	if (!pass->table && !pass->options->kept)
		return litifut_firmware_missing(pass, LITIFUT_FIRMWARE_TABLE, error);
	if (!pass->send_gate)
		pass->send_at = 0;
	enum litifut_status status = check_place(pass, pass->rooms[0].symbol, error);

	if (!status && pass->options->kept)
		return check_kept(pass, error);
	if (!status)
		status = check_place(pass, pass->table, error);
	return status ? status : check_heap(pass, error);
}

enum litifut_status litifut_firmware_check_room(const struct litifut_firmware_pass *pass,
						struct litifut_error *error)
{
	if (!pass->options->kept && 4 * pass->table_words > pass->table->size)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, pass->image.path, ".bss",
					 LITIFUT_NO_ADDRESS, "the room for counters is too small");
	if (pass->pointers && !pass->count_pointer)
		return litifut_firmware_missing(pass, COUNT_POINTER, error);
	if (pass->options->small && !pass->options->spans && !pass->session.edges &&
	    pass->table_words && !pass->count_small)
		return litifut_firmware_missing(pass, COUNT_SMALL, error);
	if (pass->options->switched && !pass->options->paths && !pass->step)
		return litifut_firmware_missing(pass, STEP, error);
	if (pass->options->times && !pass->time_call)
		return litifut_firmware_missing(pass, pass->options->spans ? SPAN_CALL : TIME_CALL,
						error);
	if (pass->options->spans && !pass->span_note)
		return litifut_firmware_missing(pass, SPAN_NOTE, error);
	return LITIFUT_OK;
}

/* Lets an entry of the vector table lead to a handler of the tracer. */
static enum litifut_status set_free_vector(struct litifut_firmware_pass *pass, const char *handler,
					   uint32_t entry, struct litifut_error *error)
{
	uint32_t address = code_at(pass, handler);

	return address && write_way(pass, entry, address)
		       ? LITIFUT_OK
		       : litifut_firmware_missing(pass, handler, error);
}

/* Lets the interrupt of the timer lead to the tracer's handler. */
static enum litifut_status set_clock(struct litifut_firmware_pass *pass,
				     struct litifut_error *error)
{
	uint32_t entry;

	if (pass->cpu->clock_vector(&pass->image, &entry, error))
		return error->status;
	return set_free_vector(pass, CLOCK_HANDLER, entry, error);
}

/* Recording is switched off at the start. */
static bool clear_step(struct litifut_firmware_pass *pass)
{
	static const uint8_t zeros[4];
	const struct litifut_symbol *step = litifut_image_symbol(&pass->image, STEP);

	return step && step->size <= sizeof(zeros) &&
	       litifut_firmware_change(pass, step->address, zeros, step->size);
}

static enum litifut_status set_start(struct litifut_firmware_pass *pass,
				     struct litifut_error *error)
{
	if (!pass->start_at)
		return LITIFUT_OK;
	return clear_step(pass) && set_way(pass, START_TARGET, pass->start_at)
		       ? LITIFUT_OK
		       : litifut_firmware_missing(pass, START_TARGET, error);
}

/* Fills in what the code that times calls reads. */
static enum litifut_status set_times(struct litifut_firmware_pass *pass,
				     struct litifut_error *error)
{
	const char *clock = pass->options->clock;
	uint32_t function = clock ? code_at(pass, clock) : 0;

	if (!pass->options->times)
		return LITIFUT_OK;
	if (clock && !function)
		return litifut_firmware_no_clock(pass, clock, error);
	if (litifut_image_symbol(&pass->image, PIN_GATE) && !pass->pin)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_MARK_SET: the program has no interrupt handler "
					 "for SysTick");
	if (litifut_image_symbol(&pass->image, TICK) && !pass->ticks)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "LITIFUT_CLOCK=systick: the program has no interrupt "
					 "handler for SysTick: add one, or name a function of the "
					 "program that reads another timer");
	if (pass->jump_gate && !set_way(pass, JUMP_TARGET, code_at(pass, LITIFUT_FIRMWARE_JUMP)))
		return litifut_firmware_missing(pass, JUMP_TARGET, error);
	if (clock && !set_way(pass, "litifut_clock_target", function))
		return litifut_firmware_missing(pass, "litifut_clock_target", error);
	if (!pass->options->spans && !pass->cpu->times_are_small &&
	    !set_half(pass, CALIBRATION, pass->calibration))
		return litifut_firmware_missing(pass, CALIBRATION, error);
	if (pass->cpu->clock_vector && set_clock(pass, error))
		return error->status;
	return pass->options->tasks ? litifut_firmware_set_task(pass, TASK_AT, error) : LITIFUT_OK;
}

enum litifut_status litifut_firmware_find_transmitter(struct litifut_firmware_pass *pass,
						      struct litifut_error *error)
{
	const uint32_t number = pass->options->transmitter;

	if (!pass->options->transmits ||
	    (pass->cpu->free_vector &&
	     pass->cpu->free_vector(&pass->image, number, &pass->transmits)))
		return LITIFUT_OK;
	return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
				 LITIFUT_NO_ADDRESS,
				 "LITIFUT_PORT: the vector table has no entry for interrupt %u, or "
				 "the program has a handler for it",
				 (unsigned)number);
}

/* The interrupts that send. */
static enum litifut_status set_sending(struct litifut_firmware_pass *pass,
				       struct litifut_error *error)
{
	if (litifut_image_symbol(&pass->image, TICK_GATE) && !pass->timer)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
			LITIFUT_NO_ADDRESS,
			"LITIFUT_SEND=tick: no entry of the vector table leads to %s "
			"alone: name that of a timer which the program uses, tick:N:HANDLER",
			pass->options->timer_at ? pass->options->timer_at : "a handler of SysTick");
	return pass->options->transmits ? set_free_vector(pass, TRANSMIT, pass->transmits, error)
					: LITIFUT_OK;
}

static enum litifut_status set_send_target(struct litifut_firmware_pass *pass,
					   struct litifut_error *error)
{
	if (!pass->send_gate || !pass->send_at)
		return LITIFUT_OK;
	return set_way(pass, SEND_TARGET, pass->send_at)
		       ? LITIFUT_OK
		       : litifut_firmware_missing(pass, SEND_TARGET, error);
}

static enum litifut_status check_samples(const struct litifut_firmware_pass *pass,
					 struct litifut_error *error)
{
	if (!pass->options->sample_at || pass->samples)
		return LITIFUT_OK;
	return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path, NULL,
				 LITIFUT_NO_ADDRESS,
				 "LITIFUT_SAMPLE: no entry of the vector table leads to %s alone: "
				 "name the handler of a timer that the program uses",
				 pass->options->sample_at);
}

enum litifut_status litifut_firmware_fill_runtime(struct litifut_firmware_pass *pass,
						  struct litifut_error *error)
{
	enum litifut_status status = set_send_target(pass, error);

	if (!status)
		status = set_sending(pass, error);
	if (!status)
		status = check_samples(pass, error);
	if (!status)
		status = set_times(pass, error);
	return status ? status : set_start(pass, error);
}
