/* Arguments and return values of chosen calls.
 *
 * The arguments of the program may be wrong: that of a string may not be an address, or be one that
 * another thread unmaps at this moment. So the kernel copies it (process_vm_readv, Linux 3.2),
 * which fails where the program would fault. An older kernel is asked about each page before it is
 * read. */

#include "tracer/recorder/arguments.h"

#include <stddef.h>

#include <litifut/trace_format.h>

#include "argument_registers.h"
#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/long_calls.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table_words.h"

#define LITIFUT_PAGE 4096u

struct litifut_vector {
	uint32_t address;
	uint32_t bytes;
};

const struct litifut_argument_header *litifut_argument_header(const struct litifut_module *module)
{
	return (const struct litifut_argument_header *)(module->db_address + (uint32_t)module -
							module->link_address +
							sizeof(struct litifut_db_header) +
							module->db_count *
								sizeof(struct litifut_db_entry));
}

const struct litifut_argument_site *litifut_arguments_of(const struct litifut_call *call)
{
	const struct litifut_argument_header *header = litifut_argument_header(call->module);
	uint32_t address =
		call->return_address - (uint32_t)call->module + call->module->link_address;
	const struct litifut_argument_site *sites =
		(const struct litifut_argument_site *)(header + 1);
	uint32_t low = 0;
	uint32_t high;

	if (!(call->module->flags & LITIFUT_MODULE_ARGUMENTS) || !call->arguments ||
	    header->magic != LITIFUT_ARGUMENT_MAGIC)
		return NULL;
	high = header->count;
	while (low < high) {
		uint32_t middle = (low + high) >> 1;

		if (sites[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < header->count && sites[low].address == address ? &sites[low] : NULL;
}

static bool litifut_may_ask(void)
{
	return !litifut_system_calls_forbidden && !litifut_recorder.settings.no_calls;
}

/* How often the functions of each trigger have been called, or have taken too long. The modules of
 * a process share them, as they share the setting. */
static uint32_t litifut_trigger_calls[LITIFUT_TRIGGERS];

uint32_t litifut_triggers_of(const struct litifut_call *call)
{
	const struct litifut_argument_site *site = litifut_arguments_of(call);
	bool returned = litifut_is_return(call);
	bool looked = false;
	uint64_t took = 0;
	uint32_t due = 0;

	for (uint32_t i = 0; site && i < LITIFUT_ARGUMENT_FIELDS && site->fields[i]; i++) {
		uint32_t number = LITIFUT_ARGUMENT_TYPE(site->fields[i]) - 1;
		const struct litifut_trigger *trigger =
			&litifut_argument_header(call->module)->triggers[number];

		if (LITIFUT_ARGUMENT_NUMBER(site->fields[i]) != LITIFUT_ARGUMENT_TRIGGER ||
		    number >= LITIFUT_TRIGGERS)
			continue;
		if (trigger->longer[0] || trigger->longer[1]) {
			/* else there may be neither the time nor memory */
			if (!litifut_may_ask())
				continue;
			if (!returned) {
				due |= LITIFUT_TRIGGER_TIMED;
				continue;
			}
			if (!looked)
				took = litifut_long_call_end(call->stack_pointer);
			looked = true;
			if (took <= ((uint64_t)trigger->longer[1] << 32 | trigger->longer[0]))
				continue;
		}
		if (litifut_add(&litifut_trigger_calls[number], 1) + 1 == trigger->call ||
		    !trigger->call)
			due |= 1u << trigger->kind;
	}
	return due;
}

/* Copies `bytes`, which lie in one page, unless they can't be read. */
static bool litifut_read_memory(uint32_t address, uint8_t *to, uint32_t bytes)
{
	struct litifut_vector from = {address, bytes};
	struct litifut_vector into = {(uint32_t)to, bytes};
	uint32_t block; /* of the page; not the first one at 0, which would not be a set of signals
			 */
	long got;

	if (!litifut_may_ask())
		return false;
	got = litifut_system_call(__NR_process_vm_readv, (long)litifut_process_id(), (long)&into, 1,
				  (long)&from, 1, 0);
	if (!litifut_failed(got))
		return (uint32_t)got == bytes;
	/* -EFAULT is the answer; other errors say that the kernel does not have it, or that a
	 * security module does not let it */
	block = address & ~(LITIFUT_SIGSET_BYTES - 1);
	if (got == -EFAULT || !litifut_readable(block ? block : LITIFUT_SIGSET_BYTES))
		return false;
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = ((const volatile uint8_t *)address)[i];
	return true;
}

/* At most `most` bytes, without the one that is 0; UINT32_MAX: it can't be read, or its end can't
 * and it is not cut before. */
static uint32_t litifut_read_string(uint32_t address, uint8_t *to, uint32_t most)
{
	uint32_t length = 0;

	while (length < most) {
		uint32_t left = LITIFUT_PAGE - ((address + length) & (LITIFUT_PAGE - 1));
		uint32_t piece = most - length < left ? most - length : left;

		if (!litifut_read_memory(address + length, to + length, piece))
			return UINT32_MAX;
		for (uint32_t end = length + piece; length < end; length++)
			if (!to[length])
				return length;
	}
	return length;
}

/* The value of argument `number`, or what a function has returned. False: it can't be read. */
static bool litifut_argument_value(const struct litifut_call *call, uint32_t number,
				   uint32_t *value)
{
	uint32_t place;

	if (number == LITIFUT_ARGUMENT_RETURN) {
		*value = call->arguments[LITIFUT_PORT_RETURN_VALUE];
		return true;
	}
	if (number < LITIFUT_PORT_REGISTER_ARGUMENTS) {
		*value = call->arguments[number];
		return true;
	}
	place = call->stack_pointer + LITIFUT_PORT_STACK_ARGUMENT(number);
	/* The caller may be the first function of a stack, and the page its last one. On an empty
	 * stack sp is the first byte behind it, so it is the byte below that is known to be there.
	 */
	if ((place ^ (call->stack_pointer - 1)) & ~(LITIFUT_PAGE - 1))
		return litifut_read_memory(place, (uint8_t *)value, 4);
	*value = *(const volatile uint32_t *)place;
	return true;
}

/* Puts the bytes at `bytes` into words; returns how many. */
static uint32_t litifut_pack(const uint8_t *bytes, uint32_t length, uint32_t *words)
{
	uint32_t count = (length + 3) >> 2;

	for (uint32_t i = 0; i < count; i++)
		words[i] = 0;
	for (uint32_t i = 0; i < length; i++)
		words[i >> 2] |= (uint32_t)bytes[i] << 8 * (i & 3);
	return count;
}

/* The words of the string at `address`, of which at most `most` bytes are kept; 0: it can't be
 * read. A separate function, as the program's stack has no room for the text. */
static LITIFUT_COLD uint32_t litifut_string_words(uint32_t address, uint32_t most, uint32_t *words)
{
	uint8_t text[LITIFUT_ARGUMENT_BYTES_MAX + 1];
	/* one more, which says whether it is cut */
	uint32_t length = litifut_read_string(address, text, most + 1);
	bool cut = length > most;

	if (length == UINT32_MAX)
		return 0;
	length = cut ? most : length;
	words[0] = LITIFUT_STRING_HEAD(length, cut);
	return 1 + litifut_pack(text, length, words + 1);
}

uint32_t litifut_argument_words(const struct litifut_call *call,
				const struct litifut_argument_site *site, uint32_t *words)
{
	bool may_ask = litifut_may_ask();
	uint8_t fields[LITIFUT_ARGUMENT_FIELDS];
	uint32_t most = litifut_argument_header(call->module)->string_bytes;
	uint32_t count = 0;
	uint32_t head;
	uint32_t at;

	/* without triggers */
	for (uint32_t i = 0; i < LITIFUT_ARGUMENT_FIELDS && site->fields[i]; i++)
		if (LITIFUT_ARGUMENT_NUMBER(site->fields[i]) != LITIFUT_ARGUMENT_TRIGGER)
			fields[count++] = site->fields[i];
	if (!count)
		return 0;
	head = LITIFUT_ARGUMENT_HEAD(count);
	at = 2 + ((count + 3) >> 2);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t type = LITIFUT_ARGUMENT_TYPE(fields[i]);
		uint32_t number = LITIFUT_ARGUMENT_NUMBER(fields[i]);
		/* a word for each field that is still to come */
		uint32_t room = 4 * (LITIFUT_ARGUMENT_WORDS - at - (count - i));
		uint32_t bytes = most < room ? most : room;
		uint32_t value = 0;
		uint32_t more;

		if (!litifut_argument_value(call, number, &value))
			type = LITIFUT_ARGUMENT_UNREADABLE;
		if (type == LITIFUT_ARGUMENT_STRING) {
			more = may_ask ? litifut_string_words(value, bytes, words + at) : 0;
			if (more) {
				at += more;
				fields[i] = LITIFUT_ARGUMENT_FIELD(type, number);
				continue;
			}
			type = LITIFUT_ARGUMENT_UNREADABLE;
		}
		fields[i] = LITIFUT_ARGUMENT_FIELD(type, number);
		head |= value ? 0 : LITIFUT_ARGUMENT_ZERO(i);
		words[at++] = value ? value : 1;
	}
	words[1] = head;
	litifut_pack(fields, count, words + 2);
	words[0] = LITIFUT_CONTROL_WORD(LITIFUT_WORD_ARGUMENTS, at - 1);
	return at;
}
