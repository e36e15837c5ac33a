/* Return points of MIPS code, and what becomes of them.
 *
 *	jal  f				jal  thunk
 *	slot				slot
 * ra:	I1				b    T			or j
 *	I2				nop
 *				T:	bal  exit		ra = T + 8 stands for the return
 *					I1
 *					b    ra + 8
 *					I2
 *
 * $at and ra are free there, so a way that is too far for a branch is computed from ra:
 *
 *					lui   at, %hi(distance)
 *					addiu at, at, %lo(distance)
 *					addu  at, at, ra
 *					jr    at
 *
 * and a site from which no branch reaches T uses an island, with T's number in $at
 * (tail.c). A branch among the two is done over with its delay slot, which stays in its place
 * if it is the third. */
#include "rewriter/exits.h"
#include "rewriter/mips/mips.h"
#include "rewriter/reach.h"

#include <litifut/module_format.h>
#include <string.h>

enum { AT = 1, RA = LITIFUT_MIPS_RA };

#define NOP 0u
#define JR_AT 0x00200008u
#define ADDU_AT_AT_RA 0x003f0821u

/* So many instructions on all ways together, and so many ways that wait. */
#define STEPS 2000
#define WAYS 256

static uint32_t word_at(const struct litifut_arch_context *context,
			const struct litifut_section *section, uint32_t address)
{
	return litifut_get32(context->cpu.big_endian,
			     section->bytes + (address - section->address));
}

/* By its fields, so rather too often. */
static bool may_name(uint32_t word, unsigned number)
{
	unsigned operation = word >> 26;
	bool third = operation == 0 || operation == 0x1c || operation == 0x1f;

	return (word >> 21 & 31) == number || (word >> 16 & 31) == number ||
	       (third && (word >> 11 & 31) == number);
}

struct scan {
	const struct litifut_exit_place *place;
	uint32_t ways[WAYS];
	unsigned count;
	unsigned steps;
	bool failed;
};

static uint32_t word(const struct scan *scan, uint32_t address)
{
	return word_at(scan->place->context, scan->place->call->section, address);
}

static bool is_inside(const struct scan *scan, uint32_t address)
{
	return address >= scan->place->call->function_start &&
	       address + 4 <= scan->place->call->function_end;
}

static void add(struct scan *scan, uint32_t address)
{
	for (unsigned i = 0; i < scan->count; i++)
		if (scan->ways[i] == address)
			return;
	if (scan->count == WAYS || !is_inside(scan, address))
		scan->failed = true; /* out of the function: a tail call with ra as it is */
	else
		scan->ways[scan->count++] = address;
}

/* `written`: it sets ra whatever it has read. */
static bool reads_ra(uint32_t each, bool *written)
{
	*written = litifut_mips_writes(each, RA);
	if (!may_name(each, RA))
		return false;
	/* lw ra, n(rS) and the like */
	return !*written || (each >> 21 & 31) == RA || (each >> 26 == 0 && (each >> 16 & 31) == RA);
}

/* One way, up to where ra is written or it branches. */
static void scan_way(struct scan *scan, uint32_t at)
{
	bool written;

	for (; !scan->failed; at += 4) {
		if (!is_inside(scan, at) || ++scan->steps > STEPS) {
			scan->failed = true;
			return;
		}
		const struct litifut_instruction instruction = litifut_mips_branch_at(
			scan->place->context, scan->place->call->section, at);

		if (instruction.class == LITIFUT_CLASS_OTHER) {
			scan->failed |= reads_ra(word(scan, at), &written);
			if (written)
				return;
			continue;
		}
		if (!is_inside(scan, at + 4) || litifut_mips_is_likely(word(scan, at)) ||
		    reads_ra(word(scan, at + 4), &written)) {
			scan->failed = true;
			return;
		}
		if (written) /* by the delay slot */
			return;
		if (instruction.class == LITIFUT_CLASS_BRANCH_DIRECT) {
			add(scan, instruction.target);
			if (instruction.conditional)
				add(scan, at + 8);
		} else if (instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT) {
			/* a return or a tail call; else a table, within the function */
			scan->failed |= instruction.target_register == RA ||
					instruction.target_register == LITIFUT_MIPS_T9;
		}
		return; /* calls write it */
	}
}

/* Is what ra holds at `address` of no use? */
static bool link_is_free(const struct litifut_exit_place *place, uint32_t address)
{
	struct scan scan = {.place = place, .ways = {address}, .count = 1};

	for (unsigned i = 0; i < scan.count && !scan.failed; i++)
		scan_way(&scan, scan.ways[i]);
	return !scan.failed;
}

/* What stands at a return point. */
struct code {
	uint32_t words[3];
	unsigned branch; /* which of the first two is a branch with its delay slot; 2: none */
	struct litifut_instruction instruction; /* that branch */
};

/* False: it can't move. */
static bool read_code(const struct litifut_arch_context *context,
		      const struct litifut_section *section, uint32_t address, uint32_t end,
		      struct code *code)
{
	memset(code, 0, sizeof(*code));
	code->branch = 2;
	if (end - address < 8)
		return false;
	for (unsigned i = 0; i < 3 && address + 4 * i + 4 <= end; i++)
		code->words[i] = word_at(context, section, address + 4 * i);
	for (unsigned i = 0; i < 2 && code->branch == 2; i++) {
		code->instruction = litifut_mips_branch_at(context, section, address + 4 * i);
		if (code->instruction.class != LITIFUT_CLASS_OTHER)
			code->branch = i;
		else if (!litifut_mips_can_move(code->words[i]) || may_name(code->words[i], AT))
			return false;
	}
	if (code->branch == 2)
		return !may_name(code->words[1], RA);
	if (address + 4 * code->branch + 8 > end ||
	    !litifut_mips_can_move(code->words[code->branch + 1]) ||
	    may_name(code->words[code->branch + 1], AT) ||
	    may_name(code->words[code->branch + 1], RA) ||
	    litifut_mips_is_likely(code->words[code->branch]) ||
	    litifut_mips_has_barrier(code->words[code->branch]))
		return false;
	switch (code->instruction.class) {
	case LITIFUT_CLASS_BRANCH_DIRECT:
		return true;
	case LITIFUT_CLASS_BRANCH_INDIRECT:
		return code->instruction.target_register != AT &&
		       (code->words[code->branch] & 0xfc00003f) == 0x08;
	default:
		return false;
	}
}

unsigned litifut_mips_judge_exit(const struct litifut_exit_place *place, struct litifut_exit *exit)
{
	const struct litifut_cramped_call *call = place->call;
	struct code code;

	if (call->instruction.conditional) /* bgezal and bltzal */
		return LITIFUT_EXIT_CONDITIONAL;
	if (exit->address + 4 > call->function_end)
		return LITIFUT_EXIT_NO_RETURN;
	if (!link_is_free(place, exit->address))
		return LITIFUT_EXIT_LINK_IN_USE;
	if (litifut_targets_has(place->targets, exit->address + 4) ||
	    litifut_targets_has(place->taken, exit->address) ||
	    litifut_targets_has(place->taken, exit->address + 4) ||
	    !read_code(place->context, call->section, exit->address, call->function_end, &code))
		return LITIFUT_EXIT_STUCK;
	exit->bytes = 8;
	exit->own_room = !call->argument_room || call->argument_room >= call->address;
	return LITIFUT_EXIT_PATCHED;
}

struct emitter {
	const struct litifut_arch_context *context;
	uint32_t address;
	uint32_t link; /* what ra holds there */
	uint32_t words[LITIFUT_MIPS_EXIT_BYTES / 4];
	unsigned count;
};

static void put(struct emitter *emitter, uint32_t each)
{
	emitter->words[emitter->count++] = each;
}

/* A jump there, with this delay slot. */
static void jump(struct emitter *emitter, uint32_t target, uint32_t slot)
{
	uint32_t distance = target - emitter->link;
	uint32_t near = litifut_mips_jump(&emitter->context->cpu, false,
					  emitter->address + 4 * emitter->count, target);

	if (near) {
		put(emitter, near);
	} else {
		put(emitter, 0x3c010000 | litifut_mips_high(distance));
		put(emitter, 0x24210000 | (distance & 0xffff));
		put(emitter, ADDU_AT_AT_RA);
		put(emitter, JR_AT);
	}
	put(emitter, slot);
}

/* What the branch of `code` at `from` did, and on behind it. */
static void branch(struct emitter *emitter, const struct code *code, uint32_t from)
{
	const uint32_t word = code->words[code->branch];
	const uint32_t slot = code->words[code->branch + 1];
	const uint32_t here = emitter->address + 4 * emitter->count;
	unsigned test = emitter->count;

	if (code->instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT) {
		put(emitter, word);
		put(emitter, slot);
		return;
	}
	if (!code->instruction.conditional) {
		jump(emitter, code->instruction.target, slot);
		return;
	}
	put(emitter, litifut_mips_branch(word & 0xffff0000, here, code->instruction.target));
	put(emitter, slot);
	jump(emitter, from + 8, NOP);
	if (litifut_mips_branch_reaches(here, code->instruction.target))
		return;
	emitter->words[test] =
		litifut_mips_branch(word & 0xffff0000, here, emitter->address + 4 * emitter->count);
	jump(emitter, code->instruction.target, NOP);
}

bool litifut_mips_lead(const struct litifut_arch_context *context,
		       const struct litifut_exit_ways *ways, uint32_t from, uint32_t address,
		       uint32_t *words, uint32_t *entry)
{
	const uint32_t offset = address - (ways->gate + LITIFUT_MIPS_GATE_BYTES);
	const uint32_t number = offset / LITIFUT_MIPS_TRAMPOLINE_BYTES;
	const struct litifut_landings *landings = ways->landings;

	words[0] = litifut_mips_jump(&context->cpu, false, from, address);
	words[1] = NOP;
	*entry = address;
	if (offset % LITIFUT_MIPS_TRAMPOLINE_BYTES || number >= LITIFUT_MIPS_CAME_BY_CALL)
		return words[0] != 0;
	for (size_t i = 0; i < landings->count && !words[0]; i++) {
		*entry = landings->items[i].entries[LITIFUT_MIPS_ENTRY_NUMBERED];
		if (i == landings->own || !*entry)
			continue;
		words[0] = litifut_mips_jump(&context->cpu, false, from, *entry);
		words[1] = 0x24010000 | number;
	}
	return words[0] != 0;
}

bool litifut_mips_write_exit(const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call,
			     const struct litifut_exit *exit, uint32_t address,
			     const struct litifut_exit_ways *ways, struct litifut_exit_code *result)
{
	struct emitter emitter = {.context = context, .address = address, .link = address + 8};
	struct litifut_detour *detour = &result->detour;
	struct code code;
	uint32_t words[2];
	bool in_slot;

	if (!read_code(context, call->section, exit->address, call->function_end, &code) ||
	    !litifut_mips_lead(context, ways, exit->address, address, words, &detour->entry))
		return false;
	put(&emitter, litifut_mips_jump(&context->cpu, true, address, ways->thunk));
	if (!emitter.words[0])
		return false;
	in_slot = code.branch && !may_name(code.words[0], RA);
	put(&emitter, in_slot ? code.words[0] : NOP);
	if (code.branch && !in_slot) {
		/* it may bring back ra, which is what a way that is computed starts from */
		put(&emitter, code.words[0]);
		if (code.branch == 2 || code.instruction.class != LITIFUT_CLASS_BRANCH_INDIRECT)
			emitter.link = 0;
	}
	if (code.branch == 2)
		jump(&emitter, exit->address + 8, code.words[1]);
	else
		branch(&emitter, &code, exit->address + 4 * code.branch);
	if (!emitter.link)
		for (unsigned i = 0; i < emitter.count; i++)
			if (emitter.words[i] == ADDU_AT_AT_RA)
				return false;
	while (emitter.count % (LITIFUT_MIPS_TRAMPOLINE_BYTES / 4))
		put(&emitter, NOP);
	result->bytes = 4 * emitter.count;
	result->word = address + 8;
	for (unsigned i = 0; i < emitter.count; i++)
		litifut_put32(context->cpu.big_endian, result->code + 4 * i, emitter.words[i]);
	detour->address = exit->address;
	detour->length = 8;
	for (unsigned i = 0; i < 2; i++)
		litifut_put32(context->cpu.big_endian, detour->code + 4 * i, words[i]);
	detour->frames[0] = (struct litifut_frame_code){
		.start = address, .bytes = result->bytes, .instruction = exit->address};
	return true;
}
