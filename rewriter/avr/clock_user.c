/* Does the program set up timer 1, the clock of timed calls, itself? Whoever lets it count, in
 * whatever mode, writes the register with its prescaler; the others alone (a duty cycle, a pin of
 * analogWrite()) leave the clock as it is. */
#include <string.h>

#include "rewriter/avr/avr.h"

/* TCCR1B and TCNT1 of the devices for which litifut_avr_timer1() has them. */
enum { CONTROL = 0x81, COUNTER = 0x84 };

/* So many instructions may lie between the address in a pointer and the store through it. */
#define NEAR 6u

static bool is_set_up(uint32_t address)
{
	return address == CONTROL || address == COUNTER || address == COUNTER + 1;
}

/* Of init() of Arduino's core, which `main' has inlined if that is compiled with -flto: the tracer
 * has the timer back at its next overflow, as docs/firmware.md has it. */
static bool is_excepted(const struct litifut_image *image, const char *function)
{
	return (!strcmp(function, "init") || !strcmp(function, "main")) &&
	       litifut_image_symbol(image, "timer0_overflow_count");
}

struct code {
	const struct litifut_section *section;
	const struct cpu_context *context;
	uint32_t end;
};

/* Returns its bytes; 0: there is none. */
static unsigned read_word(const struct code *code, uint32_t at,
			  struct litifut_instruction *instruction)
{
	return at < code->end
		       ? litifut_avr_decode(code->context,
					    code->section->bytes + (at - code->section->address),
					    code->end - at, at, LITIFUT_CODE_PLAIN, instruction)
		       : 0;
}

/* The 8 bits of `ldi' into a register from 16 on; false: it is another instruction. */
static bool loads(uint32_t word, unsigned into, unsigned *value)
{
	*value = (word >> 4 & 0xf0) | (word & 0xf);
	return (word & 0xf000) == 0xe000 && (word >> 4 & 0xf) + 16 == into;
}

/* The store through X, Y or Z (26, 28, 30), and how far behind the pointer; false: it is none. */
static bool stores_through(uint32_t word, unsigned pointer, unsigned *offset)
{
	*offset = 0;
	if ((word & 0xfe0f) == 0x920c) /* st X */
		return pointer == 26;
	if ((word & 0xd200) != 0x8200) /* std Y+q, Z+q */
		return false;
	*offset = (word >> 8 & 0x20) | (word >> 7 & 0x18) | (word & 7);
	return pointer == (word & 8 ? 28u : 30u);
}

/* Does it calculate another pointer from this one, or load one? So does the address of a variable
 * far in a large frame. */
static bool changes(uint32_t word, unsigned pointer)
{
	const unsigned any = word >> 4 & 31, upper = (word >> 4 & 15) + 16;

	if ((word & 0xff00) == 0x0100) /* movw */
		return 2 * (word >> 4 & 15) == pointer;
	if ((word & 0xfe00) == 0x9600) /* adiw, sbiw */
		return 24 + 2 * (word >> 4 & 3) == pointer;
	if ((word & 0xf000) == 0xe000 || (word & 0xc000) == 0x4000) /* ldi, sbci, subi, ori, andi */
		return upper / 2 * 2 == pointer;
	return any / 2 * 2 == pointer && ((word & 0xe800) == 0x0800 || /* sbc, add, sub, adc */
					  (word & 0xfc00) == 0x2c00 ||
					  (word & 0xfe00) == 0x9000 || /* mov; lds, ld, lpm, pop */
					  (word & 0xd200) == 0x8000);  /* ldd */
}

/* GCC puts the address into a pointer where a register is read and written. */
static bool is_stored_behind(const struct code *code, uint32_t at, uint32_t word)
{
	const unsigned low = (word >> 4 & 0xf) + 16;
	struct litifut_instruction next;
	unsigned base, high, offset;
	unsigned bytes = read_word(code, at, &next);

	if (low < 26 || low % 2 || !loads(word, low, &base) || !bytes || next.length != 2 ||
	    !loads(next.word, low + 1, &high) || high)
		return false;
	for (unsigned i = 0; i < NEAR; i++) {
		at += bytes;
		bytes = read_word(code, at, &next);
		if (!bytes)
			return false;
		if (next.length == 2 && stores_through(next.word, low, &offset))
			return is_set_up(base + offset);
		if (changes(next.length == 4 ? next.word >> 16 : next.word, low))
			return false;
	}
	return false;
}

static bool sets_up(const struct code *code, uint32_t at)
{
	struct litifut_instruction instruction;
	unsigned bytes;

	for (; (bytes = read_word(code, at, &instruction)) != 0; at += bytes) {
		if (bytes == 4 && (instruction.word >> 16 & 0xfe0f) == 0x9200 && /* sts */
		    is_set_up(instruction.word & 0xffff))
			return true;
		if (bytes == 2 && (instruction.word & 0xf000) == 0xe000 &&
		    is_stored_behind(code, at + bytes, instruction.word))
			return true;
	}
	return false;
}

const char *litifut_avr_clock_setter(const struct litifut_image *image)
{
	struct litifut_avr_facts facts = {0};
	const struct cpu_context context = {.facts = &facts};
	uint32_t first, overflow;

	if (!litifut_avr_timer1(litifut_avr_device(image), &first, &overflow) ||
	    !litifut_avr_family(image->file.flags, &facts, NULL))
		return NULL;
	for (size_t i = 0; i < image->function_count; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];
		struct code code = {.context = &context};

		code.section = litifut_image_section_at(image, function->address, 2);
		if (!code.section || function->own)
			continue;
		code.end = litifut_image_function_end(image, function);
		if (code.end > code.section->address + code.section->size)
			code.end = code.section->address + code.section->size;
		if (sets_up(&code, function->address) && !is_excepted(image, function->name))
			return function->name;
	}
	return NULL;
}
