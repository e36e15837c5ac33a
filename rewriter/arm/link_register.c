/* Compiled code has nothing in lr when a function returns to it. Hand-written code may, and so
 * has code made with -pg: __gnu_mcount_nc gives lr back as its caller got it.
 *
 * Encodings: DDI 0406C A5 (A32), A6 (T32). Where a field may be a register but is not in some
 * rare form, it is taken for one: then the answer is that lr is read. */
#include "rewriter/arm/link_register.h"

#include "cpu/arm/effect.h"
#include "rewriter/arm/trampoline.h"
#include "rewriter/image.h"

#define LR 14u
#define LR_BIT (1u << LR)

/* So many instructions on all ways together, and so many ways that wait. */
#define STEPS 2000
#define WAYS 256

static bool is(uint32_t number)
{
	return (number & 15) == LR;
}

static bool narrow_reads(uint16_t half)
{
	if ((half & 0xfc00) == 0x4400 && (half & 0x0300) != 0x0300) { /* add, cmp, mov */
		bool to_lr = (half & 0x87) == 0x86;

		return is(half >> 3) || (to_lr && (half & 0x0300) != 0x0200);
	}
	if ((half & 0xff00) == 0x4700) /* bx, blx */
		return is(half >> 3);
	return (half & 0xff00) == 0xb500; /* push {..., lr} */
}

static bool wide_reads(uint32_t word)
{
	const uint32_t first = word >> 16;
	const uint32_t second = word & 0xffff;
	const bool loads = first & 0x10;

	switch (first >> 9 & 0x7f) {
	case 0x74: /* 1110100: load and store multiple, dual, exclusive, table branch */
		if (!(first & 0x40))
			return is(first) || (!loads && second & 0x4000);
		return is(first) || (!loads && (is(second >> 12) || is(second >> 8))) ||
		       ((first & 0xfff0) == 0xe8d0 && (second & 0xffe0) == 0xf000 && is(second));
	case 0x75: /* 1110101: data processing, shifted register */
		return is(first) || is(second);
	case 0x76: /* coprocessors, floating point */
	case 0x77:
		return ((first & 0xef00) < 0xee00 && is(first)) ||
		       (!loads && (is(second >> 12) || is(first)));
	case 0x78: /* 11110: data processing with an immediate, branches */
	case 0x79:
	case 0x7a:
	case 0x7b:
		if ((word & 0xff80d001) == 0xf000c001) /* loops of v8.1-M; le has 15 there */
			return is(first) || litifut_arm_ends_loop(word);
		/* movw and movt have a part of their number there */
		return !(second & 0x8000) && (first & 0xfb70) != 0xf240 && is(first);
	case 0x7c: /* 1111100: single loads and stores */
		return is(first) || (!loads && is(second >> 12)) ||
		       (!(first & 0x80) && !(second & 0x0fc0) && is(second));
	case 0x7d: /* 1111101: data processing by registers, multiply */
		return is(first) || is(second) ||
		       ((first & 0x0180) == 0x0100 && is(second >> 12)) ||
		       ((first & 0x0180) == 0x0180 && (first & 0x40) &&
			(is(second >> 12) || is(second >> 8)));
	default:
		return true;
	}
}

static bool plain_reads(uint32_t word)
{
	const bool loads = word >> 20 & 1;

	switch (word >> 25 & 7) {
	case 0: /* data processing by registers, multiply, extra loads and stores */
		if ((word & 0x90) == 0x90) {
			if (!(word & 0x60)) /* multiply, exclusive */
				return is(word >> 16) || is(word >> 8) || is(word) ||
				       is(word >> 12);
			return is(word >> 16) || (!(word >> 22 & 1) && is(word)) ||
			       (!loads && is(word >> 12));
		}
		return is(word >> 16) || is(word) || (word >> 4 & 1 && is(word >> 8));
	case 1:
		return (word & 0x0fb00000) != 0x03000000 && is(word >> 16);
	case 2:
		return is(word >> 16) || (!loads && is(word >> 12));
	case 3:
		if (word >> 4 & 1) /* media */
			return is(word >> 16) || is(word >> 8) || is(word) || is(word >> 12);
		return is(word >> 16) || is(word) || (!loads && is(word >> 12));
	case 4:
		return is(word >> 16) || (!loads && word & LR_BIT);
	case 6:
	case 7:
		if (word >> 28 == 0xf)
			return true;
		return ((word >> 25 & 7) == 6 && is(word >> 16)) ||
		       (!loads && (is(word >> 12) || is(word >> 16)));
	default:
		return false; /* branches */
	}
}

/* Does it load the pc from the stack, as the end of a function does? */
static bool returns(uint32_t word, bool thumb, unsigned length)
{
	if (length == 2)
		return (word & 0xff00) == 0xbd00; /* pop {..., pc} */
	if (thumb)
		return (word & 0xffff8000) == 0xe8bd8000 || (word & 0xfffff000) == 0xf85df000;
	return (word & 0x0fff8000) == 0x08bd8000 || (word & 0x0ffff000) == 0x049df000;
}

/* udf, which a compiler puts where control does not go on */
static bool traps(uint32_t word, bool thumb, unsigned length)
{
	if (length == 2)
		return (word & 0xff00) == 0xde00;
	return thumb ? (word & 0xfff0f000) == 0xf7f0a000 : (word & 0xfff000f0) == 0xe7f000f0;
}

static bool is_table_branch(uint32_t word, unsigned length)
{
	return length == 4 && (word & 0xfff0ffe0) == 0xe8d0f000;
}

struct ways {
	uint32_t items[WAYS];
	unsigned count;
	bool failed;
};

static bool is_known(const struct ways *ways, uint32_t address)
{
	for (unsigned i = 0; i < ways->count; i++)
		if (ways->items[i] == address)
			return true;
	return false;
}

static void add(struct ways *ways, uint32_t address)
{
	if (is_known(ways, address))
		return;
	if (ways->count == WAYS)
		ways->failed = true;
	else
		ways->items[ways->count++] = address;
}

struct scan {
	const struct litifut_section *section;
	uint32_t start;
	uint32_t end;
	bool thumb;
	bool gives_back; /* the callee may leave in lr what the function itself returns to */
	bool jumps;      /* a way leads to where a register says */
	struct ways ways;
	unsigned steps;
};

/* An instruction that ends the straight way. False: lr may be read behind it. */
static bool follow(const struct litifut_instruction *instruction, uint32_t next, struct scan *scan)
{
	uint32_t target = instruction->target & ~1u;

	switch (instruction->class) {
	case LITIFUT_CLASS_BRANCH_DIRECT:
		if (target < scan->start || target >= scan->end)
			return false; /* a tail call with lr as it is */
		add(&scan->ways, target);
		if (instruction->conditional)
			add(&scan->ways, next);
		return true;
	case LITIFUT_CLASS_BRANCH_INDIRECT:
		/* a computed goto: for a tail call, lr would have been written before */
		if (instruction->target_register == LR || scan->gives_back)
			return false;
		scan->jumps = true;
		if (instruction->conditional)
			add(&scan->ways, next);
		return true;
	case LITIFUT_CLASS_BRANCH_COMPUTED: /* a table, within the function */
		if (instruction->conditional)
			add(&scan->ways, next);
		return true;
	default:
		return false;
	}
}

enum verdict { GOES_ON, IS_WRITTEN, MAY_BE_READ };

/* What one instruction, at `at`, does with lr; `always`: whatever the flags are. */
static enum verdict judge(struct scan *scan, uint32_t at, bool always, uint32_t word,
			  struct litifut_instruction *instruction)
{
	const unsigned length = instruction->length;
	struct litifut_arm_effect effect;

	switch (instruction->class) {
	case LITIFUT_CLASS_CALL_INDIRECT:
		if (instruction->target_register == LR)
			return MAY_BE_READ;
		return always ? IS_WRITTEN : GOES_ON;
	case LITIFUT_CLASS_CALL_DIRECT:
	case LITIFUT_CLASS_FOREIGN_CALL:
		return always ? IS_WRITTEN : GOES_ON;
	default:
		break;
	}
	/* A table leads on in code that a compiler has made, where lr holds nothing. */
	if (returns(word, scan->thumb, length) || is_table_branch(word, length) ||
	    traps(word, scan->thumb, length))
		return always ? IS_WRITTEN : GOES_ON;
	if (!scan->thumb  ? plain_reads(word)
	    : length == 2 ? narrow_reads((uint16_t)word)
			  : wide_reads(word))
		return MAY_BE_READ;
	if (instruction->class != LITIFUT_CLASS_OTHER) {
		instruction->conditional |= !always;
		if (!follow(instruction, at + length, scan))
			return MAY_BE_READ;
		return IS_WRITTEN; /* nothing more on this way */
	}
	effect = scan->thumb ? litifut_arm_thumb_effect(word, length, at)
			     : litifut_arm_plain_effect(word, at);
	return always && effect.written & LR_BIT ? IS_WRITTEN : GOES_ON;
}

/* The length of the instruction at `at`, 0: there is none. A word of T32 code has the first
 * halfword above the second. */
static unsigned decode(const struct scan *scan, uint32_t at,
		       struct litifut_instruction *instruction, uint32_t *word)
{
	static const struct cpu_context context;
	const uint8_t *code = scan->section->bytes + (at - scan->section->address);
	unsigned length;

	if (at < scan->start || at >= scan->end)
		return 0;
	length = litifut_arm_decode(&context, code, scan->end - at, at,
				    scan->thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN,
				    instruction);
	if (!length)
		return 0;
	instruction->length = (uint8_t)length;
	*word = scan->thumb ? litifut_get16(false, code) : litifut_get32(false, code);
	if (scan->thumb && length == 4)
		*word = *word << 16 | litifut_get16(false, code + 2);
	return length;
}

/* One way, up to where lr is written or it branches. False: lr may be read on it. */
static bool scan_way(struct scan *scan, uint32_t at)
{
	const uint32_t start = at;
	unsigned block = 0; /* instructions of an IT block to come */

	for (;; scan->steps++) {
		struct litifut_instruction instruction;
		enum verdict verdict;
		uint32_t word;
		unsigned length;

		/* the rest is a way of its own */
		if (at != start && is_known(&scan->ways, at))
			return true;
		length = scan->steps < STEPS ? decode(scan, at, &instruction, &word) : 0;
		if (!length)
			return false;
		if (scan->thumb && length == 2 && litifut_arm_it_length((uint16_t)word)) {
			block = litifut_arm_it_length((uint16_t)word);
		} else {
			verdict = judge(scan, at, scan->thumb ? !block : word >> 28 == 0xe, word,
					&instruction);
			if (verdict != GOES_ON)
				return verdict == IS_WRITTEN;
			block -= block > 0;
		}
		at += length;
	}
}

/* Does code of the small instruction set, which starts at `at`, come to `address` before it has
 * saved lr or made a call? Then lr holds what a jump leads on with. */
static bool way_keeps(struct scan *scan, uint32_t at, uint32_t address)
{
	const uint32_t start = at;

	for (;; scan->steps++) {
		struct litifut_instruction instruction;
		uint32_t word;
		unsigned length;

		if (at == address)
			return true;
		if (at != start && is_known(&scan->ways, at))
			return false;
		length = scan->steps < STEPS ? decode(scan, at, &instruction, &word) : 0;
		if (!length)
			return true;
		if ((word & 0xff00) == 0xb500 || /* push {..., lr} */
		    returns(word, true, length) || traps(word, true, length) ||
		    instruction.class == LITIFUT_CLASS_CALL_DIRECT ||
		    instruction.class == LITIFUT_CLASS_CALL_INDIRECT)
			return false;
		if (instruction.class == LITIFUT_CLASS_BRANCH_DIRECT) {
			add(&scan->ways, instruction.target & ~1u);
			if (!instruction.conditional)
				return false;
		} else if (instruction.class != LITIFUT_CLASS_OTHER) {
			return instruction.target_register != LR;
		}
		at += length;
	}
}

static bool keeps_link(const struct litifut_section *section, uint32_t start, uint32_t end,
		       uint32_t address)
{
	struct scan scan = {.section = section,
			    .start = start,
			    .end = end,
			    .thumb = true,
			    .ways = {.items = {start}, .count = 1}};

	for (unsigned i = 0; i < scan.ways.count; i++)
		if (way_keeps(&scan, scan.ways.items[i], address) || scan.ways.failed)
			return true;
	return false;
}

/* Does `push {lr}` stand before the call, as it does before one of __gnu_mcount_nc? */
static bool is_pushed(const struct litifut_section *section, uint32_t start, bool thumb,
		      uint32_t call)
{
	const uint8_t *code = section->bytes + (call - section->address);

	if (call < start + (thumb ? 2 : 4))
		return false;
	if (thumb)
		return litifut_get16(false, code - 2) == 0xb500;
	return litifut_get32(false, code - 4) == 0xe52de004 ||
	       litifut_get32(false, code - 4) == 0xe92d4000;
}

bool litifut_arm_link_is_free(const struct litifut_section *section, uint32_t start, uint32_t end,
			      bool thumb, uint32_t call, uint32_t address)
{
	const bool behind_call = call != start;
	const uint32_t section_end = section->address + section->size;

	if (start < section->address)
		start = section->address;
	if (end > section_end)
		end = section_end;
	struct scan scan = {.section = section,
			    .start = start,
			    .end = end,
			    .thumb = thumb,
			    .gives_back = is_pushed(section, start, thumb, call),
			    .ways = {.items = {address}, .count = 1}};

	/* those that have been looked at stay in the list */
	for (unsigned i = 0; i < scan.ways.count; i++)
		if (!scan_way(&scan, scan.ways.items[i]) || scan.ways.failed)
			return false;
	/* nothing says that lr is not read where it leads to, unless it was saved, or a call made
	 */
	return !scan.jumps || behind_call || !keeps_link(section, start, end, address);
}
