/* Stubs for firmware on AVR: one for each call site. A call, jmp or vector leads to it, so that
 * what stands on the stack is what the call has pushed. A stub keeps all registers and SREG: the
 * helpers of libgcc have conventions of their own.
 *
 * For speed, 36 bytes and 20 cycles:
 *
 *	push	r24
 *	in	r24, SREG
 *	cli
 *	push	r24
 *	lds	r24, counter
 *	subi	r24, 0xff		; adds 1; no carry: it was 255
 *	sts	counter, r24
 *	brcc	2f
 *   1:	pop	r24
 *	out	SREG, r24
 *	pop	r24
 *	jmp	callee
 *   2:	call	litifut_count_carry	; finds the address of the counter in the lds
 *	rjmp	1b
 *
 * With counters of a byte it calls litifut_byte_carry. In a program that switches recording off and
 * on (8 bytes and 4 cycles more) this stands before the lds of the counter:
 *
 *	lds	r24, litifut_step
 *	sbrs	r24, 0
 *	rjmp	1b
 *
 * For size, 8 bytes; the counter has half of them, so that its address follows from that of the
 * stub (tracer/avr/firmware/count_small.S):
 *
 *	call	litifut_count_small
 *	jmp	callee
 *
 * A call through Z, `icall`, has 2 bytes. The instruction before it moves to the stub, which is
 * reached by a call that ends where the icall did; if the former has 4 bytes, a nop comes first.
 * The stub (24 bytes for size, at most 20 for speed) goes on where Z points, with the address of
 * the entry in X:
 *
 *	... what has moved
 *	push	r26
 *	push	r27
 *	ldi	r26, lo8(entry)
 *	ldi	r27, hi8(entry)
 *	jmp	litifut_count_pointer
 *
 * Where calls are timed (tracer/avr/firmware/time.S), all stubs have half as many bytes as their
 * records, that of a call through Z 12, at the end of which its code stands:
 *
 *	call	litifut_time_call	... what has moved
 *	jmp	callee			call	litifut_time_pointer
 *					ijmp
 *
 * Where calls and returns are events (24 bytes, tracer/avr/spans/call.S), a jmp leads to the
 * stub, which makes the call. After an interrupt has returned, the CPU executes one instruction
 * of the code that it returns to before it takes another interrupt, here the cli:
 *
 *	push	r24			... what has moved	push	r24
 *	ldi	r24, lo8(number)	push	r24		ldi	r24, lo8(number)
 *	call	litifut_span_call	ldi	r24, lo8(..)	call	litifut_span_call
 *	pop	r24			call	litifut_span_pointer	pop	r24
 *	call	callee			pop	r24		call	handler
 *	call	litifut_span_return	icall			cli
 *	jmp	return_address		call	litifut_span_return	nop
 *					jmp	return_address	call	litifut_span_return
 *								reti
 *
 * In a program that switches recording off and on, litifut_span_call and litifut_span_pointer
 * return to the second word behind them where the call is not recorded (12 bytes more). There the
 * same call stands without the recording of its return, and the first word leads past that.
 *
 * A tail call has the first event only: then comes a jmp to the callee. Where calls are events
 * without returns, all have that form (16 bytes), and a call leads to the stub; an icall becomes
 * an ijmp.
 *
 * With LITIFUT_MODE=paths a vector leads to code like the third of these forms, with a call of
 * litifut_paths_interrupt before the handler and of litifut_paths_returned behind it.
 *
 * Devices with up to 8 KB have rcall and rjmp in the place of call and jmp. */
#include "rewriter/firmware_cpu.h"

#include <elf.h>
#include <litifut/avr_pool.h>
#include <litifut/avr_spans.h>
#include <litifut/frames_format.h>
#include <string.h>

#include "rewriter/avr/avr.h"

#define SMALL_BYTES 8u /* for each word of the table */
#define POINTER_WORDS 3u
#define TIMED_POINTER_BYTES 12u

struct emitter {
	struct litifut_firmware_stub *stub;
	uint32_t address;
	unsigned at;
	struct litifut_avr_facts facts;
	bool failed;
};

static void word(struct emitter *emitter, unsigned value)
{
	litifut_put16(false, emitter->stub->code + emitter->at, (uint16_t)value);
	emitter->at += 2;
}

/* A jmp or call in the form that the device has. */
static unsigned branch_to(const struct litifut_avr_facts *facts, bool link, uint32_t address,
			  uint32_t target, uint8_t *code, bool *failed)
{
	const struct cpu_context context = {.facts = (void *)facts};

	if (facts->small) {
		*failed |= !litifut_avr_near(&context, link, address, target, code);
		return 2;
	}
	litifut_avr_far(link, target, code);
	return 4;
}

static void branch(struct emitter *emitter, bool link, uint32_t target)
{
	emitter->at += branch_to(&emitter->facts, link, emitter->address + emitter->at, target,
				 emitter->stub->code + emitter->at, &emitter->failed);
}

/* Leaves room for a branch within the stub, which is written when it is known where it leads. */
static unsigned later(struct emitter *emitter)
{
	const unsigned at = emitter->at;

	word(emitter, 0);
	return at;
}

static void jump_from(struct emitter *emitter, unsigned at, unsigned to)
{
	litifut_put16(false, emitter->stub->code + at,
		      (uint16_t)(0xc000 | (((to - at - 2) / 2) & 0xfff))); /* rjmp */
}

static void count_fast(struct emitter *emitter, const struct litifut_firmware_call *call)
{
	unsigned on;
	unsigned test;
	unsigned off = 0;

	word(emitter, 0x938f); /* push r24 */
	word(emitter, 0xb78f); /* in r24, SREG */
	word(emitter, 0x94f8); /* cli */
	word(emitter, 0x938f);
	if (call->switched) {
		word(emitter, 0x9180); /* lds r24, litifut_step */
		word(emitter, call->step & 0xffff);
		word(emitter, 0xff80); /* sbrs r24, 0 */
		off = later(emitter);
	}
	word(emitter, 0x9180); /* lds r24, counter */
	word(emitter, call->counter & 0xffff);
	word(emitter, 0x5f8f); /* subi r24, 0xff */
	word(emitter, 0x9380); /* sts counter, r24 */
	word(emitter, call->counter & 0xffff);
	test = later(emitter);
	on = emitter->at;
	if (off)
		jump_from(emitter, off, on);
	word(emitter, 0x918f); /* pop r24 */
	word(emitter, 0xbf8f); /* out SREG, r24 */
	word(emitter, 0x918f);
	branch(emitter, false, call->callee);
	litifut_put16(false, emitter->stub->code + test,
		      (uint16_t)(0xf400 | (emitter->at - on) / 2 << 3)); /* brcc */
	branch(emitter, true, call->count_carry);
	jump_from(emitter, later(emitter), on);
}

static void pad(struct emitter *emitter, unsigned bytes)
{
	while (emitter->at < bytes)
		word(emitter, 0);
}

static void count_small(struct emitter *emitter, const struct litifut_firmware_call *call)
{
	branch(emitter, true, call->count_small);
	branch(emitter, false, call->callee);
	pad(emitter, SMALL_BYTES);
}

static void load_immediate(struct emitter *emitter, unsigned reg, unsigned value)
{
	word(emitter, 0xe000 | (value & 0xf0) << 4 | (reg & 0xf) << 4 | (value & 0xf));
}

/* icall and eicall differ from ijmp and eijmp in one bit. */
static unsigned jump_of(const struct litifut_cramped_call *site)
{
	return litifut_get16(false,
			     site->section->bytes + (site->address - site->section->address)) &
	       ~0x100u;
}

/* So many bytes of the stub are before its code. */
static unsigned unused_bytes(const struct litifut_firmware_call *call)
{
	return call->pointer && call->times && !call->spans
		       ? TIMED_POINTER_BYTES - (call->baseline ? 4u : 6u) - call->call.before[0]
		       : 0;
}

static void count_pointer(struct emitter *emitter, const struct litifut_firmware_call *call)
{
	const struct litifut_cramped_call *site = &call->call;
	const uint8_t *moved =
		site->section->bytes + (site->address - site->before[0] - site->section->address);

	pad(emitter, unused_bytes(call));
	for (unsigned i = 0; i < site->before[0]; i += 2)
		word(emitter, litifut_get16(false, moved + i));
	if (call->times) {
		branch(emitter, true, call->count_pointer);
		word(emitter, jump_of(site));
		return;
	}
	word(emitter, 0x93af); /* push r26 */
	word(emitter, 0x93bf); /* push r27 */
	load_immediate(emitter, 26, call->counter & 0xff);
	load_immediate(emitter, 27, call->counter >> 8 & 0xff);
	branch(emitter, false, call->count_pointer);
	pad(emitter, call->small ? SMALL_BYTES * POINTER_WORDS : 0);
}

/* Is the return of this call recorded as an event? */
static bool returns(const struct litifut_firmware_call *call)
{
	return !call->call.tail && !call->stream;
}

/* Writes the call itself, behind its event or where it is not recorded. */
static void make_call(struct emitter *emitter, const struct litifut_firmware_call *call,
		      bool recorded)
{
	const struct litifut_cramped_call *site = &call->call;

	if (call->pointer)
		word(emitter, call->stream
				      ? jump_of(site)
				      : litifut_get16(false, site->section->bytes +
								     (site->address -
								      site->section->address)));
	else
		branch(emitter, returns(call) && (recorded || !call->vector), call->callee);
	if (!returns(call))
		return;
	if (!call->vector) {
		if (recorded)
			branch(emitter, true, call->count_return);
		branch(emitter, false, site->address + site->instruction.length);
	} else if (recorded) {
		word(emitter, 0x94f8); /* cli */
		word(emitter, 0);
		branch(emitter, true, call->count_return);
		word(emitter, 0x9518); /* reti */
	}
}

static void record(struct emitter *emitter, const struct litifut_firmware_call *call,
		   uint32_t recorder)
{
	word(emitter, 0x938f); /* push r24 */
	load_immediate(emitter, 24, call->number & 0xff);
	branch(emitter, true, recorder);
	if (call->switched && !call->stream) {
		const unsigned recorded = later(emitter); /* a nop where both go on alike */

		if (returns(call)) {
			word(emitter, 0x918f); /* pop r24 */
			make_call(emitter, call, false);
			jump_from(emitter, recorded, emitter->at);
		}
	}
	word(emitter, 0x918f); /* pop r24 */
	make_call(emitter, call, true);
}

static void record_pointer(struct emitter *emitter, const struct litifut_firmware_call *call)
{
	const struct litifut_cramped_call *site = &call->call;
	const uint8_t *bytes = site->section->bytes + (site->address - site->section->address);

	for (unsigned i = site->before[0]; i; i -= 2)
		word(emitter, litifut_get16(false, bytes - i));
	record(emitter, call, call->count_pointer);
}

/* What leads to the stub, in the place of the call and, if it moves, of the instruction before
 * it. */
static bool patch(const struct litifut_firmware_call *call, const struct litifut_avr_facts *facts,
		  uint32_t stub_address, struct litifut_firmware_patch *patch)
{
	const struct litifut_cramped_call *site = &call->call;
	bool link = !site->tail && !call->vector && (!call->spans || call->stream);
	unsigned room = site->instruction.length;
	bool failed = false;

	patch->address = site->address;
	patch->target = stub_address;
	if (call->pointer) {
		unsigned nop = site->before[0] + 2u - (facts->small ? 2 : 4);

		/* of the instruction before it at first: the branch must end where the call did */
		patch->address -= site->before[0];
		room = 2u + site->before[0];
		for (unsigned i = 0; i < nop; i += 2)
			litifut_put16(false, patch->bytes + i, 0);
		patch->length = nop;
		patch->branch_at = nop;
	}
	if (!call->pointer && room == 2) {
		const struct cpu_context context = {.facts = (void *)facts};

		failed = !litifut_avr_near(&context, link, patch->address, stub_address,
					   patch->bytes);
		patch->length = 2;
	} else {
		patch->length += branch_to(facts, link, patch->address + patch->length,
					   stub_address, patch->bytes + patch->length, &failed);
	}
	return !failed && patch->length == room;
}

static bool write_stub(const struct litifut_firmware_call *call, uint32_t address,
		       struct litifut_firmware_stub *stub)
{
	struct emitter emitter = {
		.stub = stub, .address = address, .facts = {.small = call->baseline}};

	memset(stub, 0, sizeof(*stub));
	if (call->spans && call->pointer)
		record_pointer(&emitter, call);
	else if (call->spans)
		record(&emitter, call, call->count_small);
	else if (call->pointer)
		count_pointer(&emitter, call);
	else if (call->small || call->times)
		count_small(&emitter, call);
	else
		count_fast(&emitter, call);
	pad(&emitter, (emitter.at + 3) & ~3u);
	stub->bytes = emitter.at;
	return patch(call, &emitter.facts, address + unused_bytes(call), stub->patches) &&
	       !emitter.failed;
}

static const char *runtime(unsigned elf_flags, const uint8_t *bytes, uint32_t size)
{
	const char *name = NULL;

	(void)bytes;
	(void)size;
	return litifut_avr_family(elf_flags, NULL, &name) ? name : NULL;
}

/* The facts are there. */
static bool prepare(const char *name, struct litifut_arch_context *context)
{
	(void)name;
	return litifut_avr_is_small(&context->cpu);
}

/* A device without jmp has entries of 2 bytes in its vector table. */
static unsigned write_way(const struct litifut_arch_context *context, uint32_t address,
			  uint32_t target, uint8_t *code)
{
	bool failed = false;
	const unsigned bytes = branch_to(context->cpu.facts, false, address, target, code, &failed);

	return failed ? 0 : bytes;
}

static unsigned write_gate(const struct litifut_arch_context *context, uint32_t address,
			   uint32_t target, uint32_t handler, uint32_t behind,
			   struct litifut_firmware_stub *stub)
{
	struct emitter emitter = {.stub = stub,
				  .address = address,
				  .facts = {.small = litifut_avr_is_small(&context->cpu)}};

	memset(stub, 0, sizeof(*stub));
	branch(&emitter, true, target);
	branch(&emitter, true, handler);
	word(&emitter, 0x94f8); /* cli */
	branch(&emitter, true, behind);
	word(&emitter, 0x9518); /* reti */
	pad(&emitter, (emitter.at + 3) & ~3u);
	stub->bytes = emitter.at;
	return emitter.failed ? 0 : stub->bytes;
}

static bool redirect(const struct litifut_arch_context *context, uint8_t *code, unsigned length,
		     uint32_t address, uint32_t target)
{
	const uint16_t word = litifut_get16(false, code);
	struct litifut_instruction call;

	if (length == 2)
		return litifut_avr_near(&context->cpu, word & 0x1000, address, target, code);
	litifut_avr_decode(&context->cpu, code, length, address, LITIFUT_CODE_PLAIN, &call);
	litifut_avr_far(call.class == LITIFUT_CLASS_CALL_DIRECT, target, code);
	return true;
}

static unsigned open_bytes(const struct litifut_arch_context *context)
{
	const struct litifut_avr_facts *facts = context->cpu.facts;

	return LITIFUT_AVR_OPEN_BYTES(facts->wide_return ? 3 : 2);
}

/* avr-libc's names of interrupts are macros, which no symbol has. */
static const char *explain_name(const char *name)
{
	const size_t length = strlen(name);

	return length > 5 && !strcmp(name + length - 5, "_vect")
		       ? "that is a macro for __vector_N: N is the number of the interrupt, which "
			 "<avr/io.h> has by this name with _num behind it"
		       : NULL;
}

/* Does it take from the stack what its caller has pushed, as __popcounthi2_tail of libgcc does?
 * Then its return address is below that. */
static bool keeps_return(const struct litifut_image *image, uint32_t function)
{
	const struct litifut_section *section = litifut_image_section_at(image, function, 2);

	return section && section->bytes &&
	       (litifut_get16(false, section->bytes + (function - section->address)) & 0xfe0f) ==
		       0x900f; /* pop */
}

static const char *const helpers[] = {"__prologue_saves__", "__tablejump", NULL};

const struct litifut_firmware_cpu litifut_firmware_avr = {
	.machine = EM_AVR,
	.state = LITIFUT_CODE_PLAIN,
	.runtime = runtime,
	.prepare = prepare,
	.name_functions = litifut_avr_name_functions,
	.can_detour = litifut_avr_can_detour,
	.add_vectors = litifut_avr_vectors_add,
	.write_stub = write_stub,
	.write_way = write_way,
	.write_gate = write_gate,
	.keeps_return = keeps_return,
	.changes_tasks = litifut_avr_changes_tasks,
	.redirect = redirect,
	.edges = true,
	.bits = true,
	.numbers = true,
	.tokens = true,
	.ring_quarters = 3,
	.word_bits = 24,
	.word_step = 8,
	.check_memory = litifut_avr_check_memory,
	.switches = true,
	.switches_fast = true,
	.times = true,
	.times_words = LITIFUT_RECORD_TIMES_CARRIED,
	.times_are_small = true,
	.open_bytes = open_bytes,
	.event_bytes = LITIFUT_AVR_EVENT_BYTES,
	.ring_alignment = LITIFUT_AVR_RING_ALIGNMENT,
	.calls_in_stub = true,
	.number_bits = LITIFUT_AVR_NUMBER_BITS,
	.check_port = litifut_avr_check_port,
	.clock_vector = litifut_avr_clock_vector,
	.clock_user = litifut_avr_clock_user,
	.clock_setter = litifut_avr_clock_setter,
	.explain_name = explain_name,
	.helpers = helpers,
	.free_vector = litifut_avr_free_vector,
};
