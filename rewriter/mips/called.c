/* Which addresses of functions code only reads to call them, for LITIFUT_MODE=paths:
 *
 *	lw    t9, %call16(f)(gp)	or lw t9, %got(page)(gp); addiu t9, t9, %lo(f)
 *	jalr  t9			or, where the linker has made that of it: bal f
 *
 * and the same by a register that calls preserve, from which t9 is set for each of several calls.
 * If the graph follows all these calls, nothing else can enter the function by this address: it
 * need not record that control comes to it. Without that, nearly all functions of
 * position-independent code would record each call.
 *
 * All ways on are followed as long as a register holds the address. It may be read for such a call
 * alone, and no other call may be given it. Behind the call t9, v0 and v1 still count as holding
 *it, as a callee may leave them alone and the compiler may have seen that (gcc's -fipa-ra). s0 to
 *s8 are taken to be the same behind a call, which global register variables are not. */
#include "rewriter/mips/called.h"

#include <elf.h>
#include <stdlib.h>

#include "rewriter/mips/mips.h"

enum {
	REGIMM = 1,
	J = 2,
	JAL = 3,
	FIRST_IMMEDIATE = 8,
	LUI = 0x0f,
	COP1 = 0x11,
	LW = 0x23,
	GP = 28,
	SP = 29
};

/* addiu gp, gp, N: of the start of a function, where it gets its global pointer */
#define ADDS_TO_GP 0x279cu

/* Instructions that are followed from one on, and places where ways begin, at the most. */
#define STEPS 20000
#define WAYS 600

/* Instructions that are looked at before one that adds gp to a register. */
#define BACK 32

static uint32_t word_at(const struct litifut_arch_context *context,
			const struct litifut_section *section, uint32_t address)
{
	return litifut_get32(context->cpu.big_endian,
			     section->bytes + (address - section->address));
}

#define SYSCALL 0x0cu
#define MSA 0x1eu

/* May the instruction read the register? By its fields, so rather too often. A system call has no
 * fields for its arguments, and MSA has them elsewhere. */
static bool may_read(uint32_t word, unsigned number)
{
	if ((word & 0xfc00003f) == SYSCALL || word >> 26 == MSA)
		return true;
	return (word >> 21 & 31) == number || (word >> 16 & 31) == number;
}

/* The same of a branch, a jump or a call. */
static bool is_by(uint32_t word, unsigned number)
{
	switch (word >> 26) {
	case REGIMM:
		return (word >> 21 & 31) == number;
	case J:
	case JAL:
	case COP1:
		return false;
	default:
		return may_read(word, number);
	}
}

/* Does it write the register, for certain, and not read it? Said of the instructions that are most
 * frequent (MD00565). */
static bool only_writes(uint32_t word, unsigned number)
{
	/* shifts, mfhi, mflo, additions, logic, slt and sltu; not the conditional moves */
	const uint64_t specials = UINT64_C(0xdd) | UINT64_C(5) << 0x10 | UINT64_C(0xcff) << 0x20;
	/* additions, slti and sltiu, logic, lui; lb, lh, lw, lbu, lhu; not lwl and lwr */
	const uint64_t majors = UINT64_C(0xff) << 8 | UINT64_C(0x3b) << 0x20;

	if ((word >> 21 & 31) == number)
		return false;
	if (word >> 26 == 0)
		return specials >> (word & 63) & 1 && (word >> 11 & 31) == number &&
		       (word >> 16 & 31) != number;
	return majors >> (word >> 26) & 1 && (word >> 16 & 31) == number;
}

/* move t9, rN: addu or or of it and zero */
static bool moves_to_t9(uint32_t word, unsigned number)
{
	const uint32_t sum = LITIFUT_MIPS_T9 << 11 | 0x21, either = LITIFUT_MIPS_T9 << 11 | 0x25;

	return word == (number << 21 | sum) || word == (number << 16 | sum) ||
	       word == (number << 21 | either) || word == (number << 16 | either);
}

/* v0 and v1, which a function returns. No function is given its arguments in them. */
static bool is_result(unsigned number)
{
	return number == 2 || number == 3;
}

/* May a function that is called be given the register? Not t9, which is looked at by itself, and
 * not s0 to s8, which are preserved. */
static bool may_be_given(unsigned number)
{
	return number != LITIFUT_MIPS_T9 && !is_result(number) && (number < 16 || number > 23) &&
	       number != 30;
}

/* Before the instruction at the address the register holds the function's. */
struct way {
	uint32_t address;
	unsigned number;
};

struct search {
	const struct litifut_arch_context *context;
	const struct litifut_graph *graph;
	const struct litifut_section *section;
	uint32_t function; /* in which that is, as blocks have it */
	uint32_t callee;   /* 0: the first call says */
	unsigned steps;
	struct way ways[WAYS]; /* those that have been followed stay */
	unsigned count;
	bool failed; /* it may be read for something else */
};

static void add(struct search *search, uint32_t address, unsigned number)
{
	const struct litifut_graph_block *block = litifut_graph_with(search->graph, address);

	for (unsigned i = 0; i < search->count; i++)
		if (search->ways[i].address == address && search->ways[i].number == number)
			return;
	if (search->count == WAYS || !block || block->function != search->function)
		search->failed = true;
	else
		search->ways[search->count++] = (struct way){address, number};
}

/* Wherever a table or an exception leads to in the function. False: there is no such place. */
static bool add_labels(struct search *search, const struct litifut_graph_block *block,
		       unsigned number)
{
	const struct litifut_graph *graph = search->graph;
	size_t first = (size_t)(block - graph->items);
	bool found = false;

	while (first && graph->items[first - 1].function == search->function)
		first--;
	for (; first < graph->count && graph->items[first].function == search->function; first++)
		if (graph->items[first].block.flags & LITIFUT_BLOCK_LABEL) {
			add(search, graph->items[first].block.start, number);
			found = true;
		}
	return found;
}

/* `callee` is called while t9 holds the address; it is the one that the address is for if t9 is
 * read, or if it is called first. */
static void call(struct search *search, const struct litifut_graph_block *callee, bool by_t9)
{
	if (!callee || (by_t9 && search->callee && callee->block.start != search->callee))
		search->failed = true;
	else if (!search->callee)
		search->callee = callee->block.start;
}

/* The end of a block, where the register holds the address; `over`: the delay slot writes the
 * register. */
static void leave(struct search *search, const struct litifut_graph_block *block,
		  const struct way *way, bool over)
{
	const unsigned number = way->number;
	const struct litifut_block *at = &block->block;
	const bool read = is_by(word_at(search->context, search->section, at->branch), number);
	const struct litifut_graph_block *to;

	switch (at->ends) {
	case LITIFUT_ENDS_CALL:
		if (number == LITIFUT_MIPS_T9) {
			call(search, litifut_callee_of(search->graph, block), read);
		} else {
			search->failed |= read || (!over && may_be_given(number));
			if (!over) /* which unwinding restores */
				add_labels(search, block, number);
		}
		to = litifut_graph_at(search->graph, at->end);
		if (!over && to && !(to->block.flags & LITIFUT_BLOCK_FUNCTION))
			add(search, at->end, number); /* else it does not return */
		return;
	case LITIFUT_ENDS_BRANCH:
		to = litifut_graph_at(search->graph, at->target);
		search->failed |= read || !to;
		if (search->failed)
			return;
		if (to->function == search->function) {
			if (!over)
				add(search, at->target, number);
		} else if (number == LITIFUT_MIPS_T9 && to->block.flags & LITIFUT_BLOCK_FUNCTION) {
			call(search, to, false); /* a tail call */
		} else {
			search->failed = true;
		}
		if (at->flags & LITIFUT_BLOCK_CONDITIONAL && (!over || block->likely))
			add(search, at->end, number);
		return;
	case LITIFUT_ENDS_RETURN: /* a callee may have left v0 as it was */
		search->failed |= read || (!over && (may_be_given(number) || is_result(number)));
		return;
	case LITIFUT_ENDS_JUMP: /* or it leaves the function, where it may be one of several */
		search->failed |= read || (!over && may_be_given(number));
		if (!over)
			search->failed |= !add_labels(search, block, number);
		return;
	default:
		search->failed = true;
		return;
	}
}

static void follow(struct search *search, const struct way *way)
{
	const unsigned number = way->number;
	uint32_t at = way->address;
	const struct litifut_graph_block *block = litifut_graph_with(search->graph, at);
	const bool ends = block->block.ends != LITIFUT_ENDS_ON;
	const uint32_t last = ends ? block->block.branch : block->block.end;
	bool over = false;

	for (; at < last + (ends ? 8 : 0) && !search->failed; at += 4) {
		const uint32_t word = word_at(search->context, search->section, at);

		if (ends && at == last)
			continue; /* its delay slot comes first */
		if (++search->steps > STEPS) {
			search->failed = true;
		} else if (moves_to_t9(word, number) && number != LITIFUT_MIPS_T9 && at < last) {
			add(search, at + 4, LITIFUT_MIPS_T9);
		} else if (only_writes(word, number)) {
			over = true;
			if (at < last)
				return;
		} else if (may_read(word, number)) {
			search->failed = true;
		}
	}
	if (search->failed)
		return;
	if (ends)
		leave(search, block, way, over);
	else
		add(search, block->block.end, number);
}

/* The function that is called by the address which the instruction at `at` puts into register
 * `number`; 0: none is, or it may be read for something else. */
static uint32_t called_by(const struct litifut_arch_context *context,
			  const struct litifut_graph *graph, const struct litifut_section *section,
			  uint32_t at, unsigned number)
{
	const struct litifut_graph_block *block = litifut_graph_with(graph, at);
	struct search search = {
		.context = context,
		.graph = graph,
		.section = section,
		.function = block ? block->function : 0,
	};

	if (!block)
		return 0;
	if (block->block.ends == LITIFUT_ENDS_ON || at < block->block.branch)
		add(&search, at + 4, number);
	else if (block->block.ends == LITIFUT_ENDS_BRANCH) /* its delay slot */
		leave(&search, block, &(struct way){0, number}, false);
	else
		return 0;
	for (unsigned i = 0; i < search.count && !search.failed; i++)
		follow(&search, &search.ways[i]);
	return search.failed ? 0 : search.callee;
}

uint32_t litifut_mips_called_by_sum(const struct litifut_arch_context *context,
				    const struct litifut_graph *graph,
				    const struct litifut_section *section, uint32_t at)
{
	return called_by(context, graph, section, at, word_at(context, section, at) >> 16 & 31);
}

static void set(uint8_t *bits, uint32_t number)
{
	bits[number / 8] |= (uint8_t)(1u << number % 8);
}

/* Is the address that is loaded the start of a function that the graph has? */
static uint32_t function_in(const struct litifut_image *image,
			    const struct litifut_arch_context *context,
			    const struct litifut_graph *graph, uint32_t slot)
{
	const struct litifut_section *table = litifut_image_section_at(image, slot, 4);
	const uint32_t value = table && table->bytes ? word_at(context, table, slot) : 0;
	const struct litifut_graph_block *block = value ? litifut_graph_at(graph, value) : NULL;

	return block && block->block.flags & LITIFUT_BLOCK_FUNCTION ? value : 0;
}

/* lw of the register, which may be read for the address as well */
static bool loads_over(uint32_t word, unsigned number)
{
	return word >> 26 == LW && (word >> 16 & 31) == number;
}

/* Does the instruction at `at` add gp to the upper part of an offset, as code does that reads a
 * large table (-mxgot)? Code of a switch adds gp to what it has loaded. */
static bool adds_far_offset(const struct litifut_arch_context *context,
			    const struct litifut_section *section, uint32_t start, uint32_t at)
{
	uint32_t word = word_at(context, section, at);
	const unsigned first = word >> 21 & 31, second = word >> 16 & 31;
	const unsigned number = first == GP ? second : first;

	if (word >> 26 || (word & 0x7ff) != 0x21 || (first != GP && second != GP) || !number ||
	    number == GP || (word >> 11 & 31) == GP)
		return false;
	for (unsigned back = 0; back < BACK && at > start; back++) {
		word = word_at(context, section, at -= 4);
		if (only_writes(word, number) || loads_over(word, number))
			return word >> 26 == LUI;
	}
	return true;
}

/* What is read of the table of addresses, in a range of code. `other`: for other things than such
 * calls. False: code may read anything. */
static bool look_at_loads(const struct litifut_image *image,
			  const struct litifut_arch_context *context,
			  const struct litifut_called *called,
			  const struct litifut_section *section,
			  const struct litifut_code_range *range, uint8_t *other)
{
	const struct litifut_mips_facts *facts = litifut_mips_facts(context);

	for (uint32_t at = (range->start + 3) & ~3u; at + 4 <= range->end; at += 4) {
		const uint32_t word = word_at(context, section, at);
		const uint32_t base = word >> 21 & 31;
		const uint32_t slot = facts->global_pointer + (uint32_t)(int16_t)(word & 0xffff);
		const uint32_t number = (slot - called->start) / 4;
		uint32_t function;

		if (adds_far_offset(context, section, range->start, at))
			return false;
		if (slot - called->start >= called->end - called->start || base == SP ||
		    word >> 16 == ADDS_TO_GP ||
		    (word >> 26 != LW && (base != GP || word >> 26 < FIRST_IMMEDIATE)) ||
		    other[number / 8] >> number % 8 & 1)
			continue;
		function = word >> 26 == LW && !(slot & 3)
				   ? function_in(image, context, called->graph, slot)
				   : 0;
		if (function &&
		    called_by(context, called->graph, section, at, word >> 16 & 31) == function)
			set(called->words, number);
		else
			set(other, number);
	}
	return true;
}

/* False: there is code that can't be looked at. */
static bool look_at_all(const struct litifut_image *image, const struct litifut_arch *arch,
			const struct litifut_arch_context *context,
			const struct litifut_called *called, uint8_t *other)
{
	bool good = true;

	for (size_t i = 1; i < image->section_count && good; i++) {
		const struct litifut_section *section = &image->sections[i];
		struct litifut_code_range *ranges = NULL;
		size_t count = 0;

		if (!(section->flags & SHF_EXECINSTR) || !section->bytes)
			continue;
		good = !arch->code_ranges(image, section, &ranges, &count, NULL);
		for (size_t j = 0; j < count && good; j++) {
			good = ranges[j].state == LITIFUT_CODE_PLAIN ||
			       ranges[j].state == LITIFUT_CODE_DATA;
			if (ranges[j].state == LITIFUT_CODE_PLAIN)
				good = look_at_loads(image, context, called, section, &ranges[j],
						     other);
		}
		free(ranges);
	}
	return good;
}

void litifut_mips_find_called(const struct litifut_image *image, const struct litifut_arch *arch,
			      const struct litifut_arch_context *context,
			      const struct litifut_graph *graph, struct litifut_called *called)
{
	const struct litifut_mips_got *got = &litifut_mips_facts(context)->got;
	const uint32_t bytes = got->local / 8 + 1;
	uint8_t *other;

	if (!got->alone || got->local <= 2)
		return;
	*called = (struct litifut_called){.graph = graph,
					  .start = got->address,
					  .end = got->address + 4 * got->local,
					  .words = calloc(bytes, 1)};
	other = calloc(bytes, 1);
	if (other && called->words && look_at_all(image, arch, context, called, other))
		for (uint32_t i = 0; i < bytes; i++)
			called->words[i] &= (uint8_t)~other[i];
	else
		litifut_called_release(called);
	free(other);
}
