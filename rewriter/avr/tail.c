/* Is a jump through Z a tail call? avr-gcc makes ijmp of a tail call through a pointer, of a
 * computed goto and, on devices without jmp, of a switch; in assembly it may be a return, too.
 *
 * Where Z comes from says most of it. What was loaded from the memory or the flash is a function
 * or a label, and labels of a function have relocations: in a table, or in an instruction. The
 * tables of switches are named by word address, and only __tablejump2__ (or a row of rjmp, or
 * lpm behind the multiplication of that address) reads them, so that their labels say nothing
 * about another jump. A table that the program reads itself is named by byte address; its entries
 * say whether it has labels or functions. */
#include <elf.h>

#include "rewriter/avr/avr.h"

/* How far back it is looked for what sets Z. */
#define WINDOW 24

enum source { FROM_ELSEWHERE, FROM_MEMORY, FROM_FLASH, FROM_STACK, FROM_WORDS, CALCULATED };

/* Code before the jump, the nearest instruction first. */
struct window {
	uint16_t words[WINDOW];
	uint16_t second[WINDOW]; /* of instructions of four bytes */
	unsigned count;
};

/* What Z was loaded from. */
struct origin {
	enum source source;
	bool has_table;
	uint32_t entry; /* of the table, or of the first element of it; low 16 bits */
};

/* What is followed back: a register, and how far behind its value the pointer's low byte is. */
struct trail {
	unsigned high; /* the register with the upper byte, of the jump's target or of a pointer */
	uint32_t behind;
};

static uint16_t word_at(const struct litifut_section *section, uint32_t address)
{
	return litifut_get16(false, section->bytes + (address - section->address));
}

static void look_back(const struct litifut_arch_context *context,
		      const struct litifut_cramped_call *call, uint32_t start,
		      struct window *window)
{
	uint32_t addresses[WINDOW];
	uint32_t at = start;
	size_t seen = 0;

	while (at < call->address) {
		struct litifut_instruction instruction;
		const unsigned length = litifut_avr_decode(
			&context->cpu, call->section->bytes + (at - call->section->address),
			call->address - at, at, LITIFUT_CODE_PLAIN, &instruction);

		if (!length)
			break;
		addresses[seen++ % WINDOW] = at;
		at += length;
	}
	window->count = 0;
	for (; window->count < WINDOW && window->count < seen; window->count++) {
		const uint32_t address = addresses[(seen - 1 - window->count) % WINDOW];

		window->words[window->count] = word_at(call->section, address);
		window->second[window->count] =
			address + 4 <= call->address ? word_at(call->section, address + 2) : 0;
	}
}

static unsigned destination(uint16_t word)
{
	return word >> 4 & 31;
}

static unsigned source_of(uint16_t word)
{
	return (word & 15) | (word >> 5 & 16);
}

/* Does control not come from here to the next instruction, or only by a call, which may change the
 * register? */
static bool breaks(uint16_t word, unsigned reg)
{
	const bool call =
		(word & 0xfe0e) == 0x940e || (word & 0xf000) == 0xd000 || (word & 0xffef) == 0x9509;
	const bool away = (word & 0xfe0e) == 0x940c || (word & 0xf000) == 0xc000 ||
			  (word & 0xffef) == 0x9409 || (word & 0xffef) == 0x9508;

	return away || (call && (reg >= 30 || (reg >= 18 && reg < 28)));
}

/* mov and movw: follows the register; false: the instruction is another one. */
static bool copies(uint16_t word, struct trail *trail)
{
	if ((word & 0xfc00) == 0x2c00) {
		if (destination(word) == trail->high)
			trail->high = source_of(word);
		return true;
	}
	if ((word & 0xff00) == 0x0100) {
		if ((word >> 4 & 15) == trail->high / 2)
			trail->high = 2 * (word & 15) + (trail->high & 1);
		return true;
	}
	return false;
}

/* Of ld, ldd, lpm and elpm: the register with the lower byte of the pointer, how far behind it
 * the byte is, and what is added to the pointer. */
static bool reads(uint16_t word, enum source *source, unsigned *low, int *offset, int *step)
{
	const unsigned way = word & 15;

	*source = FROM_MEMORY;
	*offset = *step = 0;
	if (word == 0x95c8 || word == 0x95d8) { /* lpm, elpm, into r0 */
		*source = FROM_FLASH;
		*low = LITIFUT_AVR_Z;
		return true;
	}
	if ((word & 0xd200) == 0x8000) { /* ldd, ld */
		*low = word & 8 ? 28 : LITIFUT_AVR_Z;
		*offset = (word & 7) | (word >> 7 & 0x18) | (word >> 8 & 0x20);
		return true;
	}
	if ((word & 0xfe00) != 0x9000 || way == 0 || way == 3 || way == 8 || way == 11 || way == 15)
		return false;
	*low = way < 8 ? LITIFUT_AVR_Z : way < 12 ? 28 : 26;
	if (way >= 4 && way < 8)
		*source = FROM_FLASH;
	*step = way == 12 || way == 4 || way == 6 ? 0 : (way & 3) == 1 ? 1 : -1;
	if (way == 5 || way == 7)
		*step = 1;
	*offset = *step < 0 ? -1 : 0;
	return true;
}

/* The byte that the register gets from here, if it does. */
static unsigned loaded(uint16_t word)
{
	return word == 0x95c8 || word == 0x95d8 ? 0 : destination(word);
}

/* What adiw or sbiw adds to the register pair with this upper half; 0: it is neither. */
static int added(uint16_t word, unsigned high)
{
	const int constant = (word & 15) | (word >> 2 & 0x30);

	if ((word & 0xfe00) != 0x9600 || 24u + 2u * (word >> 4 & 3u) + 1 != high)
		return 0;
	return word & 0x100 ? -constant : constant;
}

/* The pointer to the table: its address in the instructions that calculate it, as
 * `subi r30, lo8(-(table))` and `sbci r31, hi8(-(table))`, or load it, as `ldi r30, lo8(table)`. */
static void find_table(const struct window *window, unsigned first, struct trail trail,
		       struct origin *origin)
{
	unsigned upper = 0;
	bool has_upper = false;

	for (unsigned i = first; i < window->count; i++) {
		const uint16_t word = window->words[i];
		const unsigned operation = (unsigned)word >> 12;
		const bool is_half = operation == 4 || operation == 5 || operation == 14;
		const unsigned reg = is_half ? 16u + (word >> 4 & 15u) : destination(word);
		const unsigned constant = (word >> 4 & 0xf0) | (word & 15);
		enum source source;
		unsigned low;
		int offset, step;

		if (breaks(word, trail.high))
			return;
		if (copies(word, &trail))
			continue;
		trail.behind += (uint32_t)added(word, trail.high);
		if (reads(word, &source, &low, &offset, &step)) {
			if (loaded(word) == trail.high)
				return;
			if (low + 1 == trail.high)
				trail.behind += (uint32_t)step;
		} else if (is_half && operation != 5 && reg == trail.high) { /* sbci, ldi */
			upper = constant;
			has_upper = true;
		} else if (is_half && operation != 4 && reg + 1 == trail.high && has_upper) {
			const uint32_t address = upper << 8 | constant;

			origin->has_table = true;
			origin->entry =
				(operation == 5 ? trail.behind - address : trail.behind + address) &
				0xffff;
			return;
		} else if ((word & 0xfc00) == 0x1c00 && reg == trail.high &&
			   source_of(word) == reg) { /* rol: it was an address of words */
			if (origin->source == FROM_FLASH)
				origin->source = FROM_WORDS;
			return;
		}
	}
}

static struct origin find_origin(const struct window *window)
{
	struct origin origin = {0};
	struct trail trail = {.high = LITIFUT_AVR_Z + 1};

	for (unsigned i = 0; i < window->count; i++) {
		const uint16_t word = window->words[i];
		unsigned low;
		int offset, step;

		if (breaks(word, trail.high))
			return origin;
		if (copies(word, &trail))
			continue;
		if (loaded(word) == trail.high &&
		    reads(word, &origin.source, &low, &offset, &step)) {
			/* the lower byte is before this one */
			trail.high = low + 1;
			trail.behind = (uint32_t)(offset - 1);
			find_table(window, i + 1, trail, &origin);
			return origin;
		}
		origin.source = FROM_ELSEWHERE;
		if ((word & 0xfe0f) == 0x9000 && destination(word) == trail.high) { /* lds */
			origin.source = FROM_MEMORY;
			origin.has_table = true;
			origin.entry = window->second[i] - 1u;
			return origin;
		}
		if ((word & 0xfe0f) == 0x900f && destination(word) == trail.high) /* pop */
			origin.source = FROM_STACK;
		if ((word & 0xf000) == 0x4000 && 16u + (word >> 4 & 15u) == trail.high) /* sbci */
			origin.source = CALCULATED;
		if (origin.source)
			return origin;
	}
	return origin;
}

static unsigned entry_at(const struct litifut_avr_image *code, enum source source, uint32_t at)
{
	unsigned marks = 0;

	if (source == FROM_MEMORY)
		marks = code->data[at & 0xffff];
	else if (at < code->end)
		marks = (unsigned)code->marks[at / 2] >> (at & 1 ? LITIFUT_AVR_ODD : 0);
	return marks & (LITIFUT_AVR_TO_FUNCTION | LITIFUT_AVR_TO_LABEL);
}

/* What the entries of a table are: these two marks. */
static unsigned entries(const struct litifut_image *image, const struct litifut_avr_image *code,
			const struct origin *origin)
{
	const uint32_t at = origin->entry + (origin->source == FROM_MEMORY ? LITIFUT_AVR_DATA : 0);
	unsigned found = 0;

	if (!origin->has_table)
		return 0;
	found = entry_at(code, origin->source, origin->entry);
	for (size_t i = 0; i < image->symbol_count; i++) {
		const struct litifut_symbol *object = &image->symbols[i];

		if (object->type != STT_OBJECT || at - object->address >= object->size ||
		    object->section >= image->section_count ||
		    !(image->sections[object->section].flags & SHF_ALLOC))
			continue;
		for (uint32_t each = 0; each < object->size; each++)
			found |= entry_at(code, origin->source,
					  (object->address + each) & ~LITIFUT_AVR_DATA);
	}
	return found;
}

/* Functions that return by ijmp. */
static bool returns_by_jump(const char *name)
{
	return !strcmp(name, "setjmp") || !strcmp(name, "longjmp");
}

/* Is it likely that the code calculates Z from the address of a table? */
static bool may_use_table(const struct litifut_cramped_call *call)
{
	uint32_t address = call->address;

	for (unsigned i = 0; i < LITIFUT_REMEMBERED && call->before[i]; i++) {
		uint16_t word;

		address -= call->before[i];
		word = word_at(call->section, address);
		if ((word & 0xf0f0) == 0x40f0 ||                            /* sbci r31 */
		    (word & 0xfe0f) == 0x9004 || (word & 0xfe0e) == 0x9006) /* lpm, elpm */
			return true;
	}
	return false;
}

enum litifut_avr_jump litifut_avr_judge_jump(const struct litifut_image *image,
					     const struct litifut_arch_context *context,
					     const struct litifut_cramped_call *call)
{
	const struct litifut_avr_image *code = context->cpu.facts;
	const struct litifut_symbol *function = litifut_image_function_at(image, call->address);
	struct window window;
	struct origin origin;
	unsigned marks = 0, in_table;

	if (!function || function->reserved || returns_by_jump(function->name) ||
	    function->address < call->section->address)
		return LITIFUT_AVR_STAYS;
	for (uint32_t at = function->address; at < call->function_end && at < code->end; at += 2)
		marks |= litifut_avr_marks(context, at);
	look_back(context, call, function->address, &window);
	origin = find_origin(&window);
	if (origin.source == FROM_STACK || origin.source == FROM_WORDS ||
	    origin.source == CALCULATED)
		return LITIFUT_AVR_STAYS;
	in_table = entries(image, code, &origin);
	if (in_table & LITIFUT_AVR_TO_LABEL)
		return LITIFUT_AVR_STAYS;
	if (marks & LITIFUT_AVR_LABEL)
		return LITIFUT_AVR_UNSURE;
	if (origin.source == FROM_MEMORY || in_table)
		return LITIFUT_AVR_CALLS;
	if (marks & LITIFUT_AVR_TABLE)
		return LITIFUT_AVR_UNSURE;
	if (origin.source == FROM_FLASH)
		return code->has_labels ? LITIFUT_AVR_UNSURE : LITIFUT_AVR_CALLS;
	return may_use_table(call) ? LITIFUT_AVR_UNSURE : LITIFUT_AVR_CALLS;
}
