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
 * Where the value that f returns is recorded, I1 stands behind that delay slot, in which it would
 * be done before the record: it may write v0, or the string that v0 points to. So it does in a
 * table if it writes sp, as the end of a function with variable arrays does: a return is that of
 * the call with the same sp.
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
 * if it is the third. Where an instruction sets ra, what is to be computed from it stands before.
 *
 * A branch that leads to I1 or I2 must not come by the record: twice as much moves, and behind the
 * branch to T stands one to where that is done without a record:
 *
 * ra:	I1				b    T
 *	I2				nop
 *	I3				b    T2			branches to I1 lead here
 *	I4				nop
 *				T2:	bal  .+8		unless all is near
 *					nop
 *					I1 ... I4
 *					b    ra + 16
 *
 * Where I3 or I4 can't move, as another call stands there, that branch is behind the one of another
 * return point, of which four instructions move for it.
 *
 * More than 500 lines, because what is judged and what is written must agree on each form. */
#include "rewriter/exits.h"
#include "rewriter/mips/mips.h"
#include "rewriter/reach.h"

#include <litifut/module_format.h>
#include <string.h>

enum { AT = 1, SP = 29, RA = LITIFUT_MIPS_RA };

#define NOP 0u
#define JR_AT 0x00200008u
#define ADDU_AT_AT_RA 0x003f0821u

/* So many instructions on all ways together, and so many ways that wait. */
#define STEPS 8000
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
	const unsigned operation = word >> 26;
	const bool third = operation == 0 || operation == 0x1c ||
			   (operation == 0x1f && !litifut_mips_has_number(word));

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

static bool is_known(const struct scan *scan, uint32_t address)
{
	for (unsigned i = 0; i < scan->count; i++)
		if (scan->ways[i] == address)
			return true;
	return false;
}

static void add(struct scan *scan, uint32_t address)
{
	if (is_known(scan, address))
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
	const uint32_t start = at;
	bool written;

	for (; !scan->failed; at += 4) {
		if (at != start && is_known(scan, at))
			return; /* the rest is a way of its own */
		if (!is_inside(scan, at) || ++scan->steps > STEPS) {
			scan->failed = true;
			return;
		}
		const struct litifut_instruction instruction = litifut_mips_branch_at(
			scan->place->context, scan->place->call->section, at);

		if (litifut_mips_traps(word(scan, at)))
			return;
		if (instruction.class == LITIFUT_CLASS_OTHER) {
			scan->failed |= reads_ra(word(scan, at), &written);
			if (written)
				return;
			continue;
		}
		if (!is_inside(scan, at + 4) || reads_ra(word(scan, at + 4), &written)) {
			scan->failed = true;
			return;
		}
		/* by the delay slot, which a likely branch may leave out */
		if (written && !litifut_mips_is_likely(word(scan, at)))
			return;
		if (instruction.class == LITIFUT_CLASS_BRANCH_DIRECT) {
			if (!written)
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

/* The most instructions that move, with a delay slot behind them. */
#define MOVED_MAX 5

/* What stands at a return point, in the order in which it is executed. A branch is followed by its
 * delay slot. */
struct code {
	struct item {
		uint32_t address;
		uint32_t word;
		struct litifut_instruction instruction;
	} items[MOVED_MAX];
	unsigned count;
	unsigned bytes; /* of the code, with what is never reached */
	uint32_t inner; /* branches lead there; 0: none do */
	bool ends;      /* nothing follows */
};

static bool is_branch(const struct item *item)
{
	return item->instruction.class != LITIFUT_CLASS_OTHER;
}

static bool is_plain(uint32_t each)
{
	return litifut_mips_can_move(each) && !may_name(each, AT);
}

static bool tests_at(uint32_t each)
{
	const unsigned operation = each >> 26;
	const bool tests_two = operation == 0x04 || operation == 0x05;
	const bool tests_one = operation == 0x01 || operation == 0x06 || operation == 0x07;

	return ((tests_one || tests_two) && (each >> 21 & 31) == AT) ||
	       (tests_two && (each >> 16 & 31) == AT);
}

/* Can the branch be done over? */
static bool is_known_branch(const struct item *item)
{
	if (litifut_mips_is_likely(item->word) || litifut_mips_has_barrier(item->word) ||
	    tests_at(item->word))
		return false;
	if (item->instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT)
		return (item->word & 0xfc00003f) == 0x08;
	return item->instruction.class == LITIFUT_CLASS_BRANCH_DIRECT;
}

static bool add_item(const struct litifut_arch_context *context,
		     const struct litifut_section *section, uint32_t end, uint32_t address,
		     struct code *code)
{
	struct item *item = &code->items[code->count];

	if (code->count == MOVED_MAX || address + 4 > end)
		return false;
	*item = (struct item){.address = address, .word = word_at(context, section, address)};
	code->count++;
	return true;
}

/* The code of at least `needed` bytes at `address`; control comes to `inner` as well, if that is
 * not 0. False: it can't move. */
static bool read_code(const struct litifut_arch_context *context,
		      const struct litifut_section *section, uint32_t address, uint32_t end,
		      unsigned needed, uint32_t inner, struct code *code)
{
	memset(code, 0, sizeof(*code));
	if (end - address < needed)
		return false;
	while (code->bytes < needed) {
		const uint32_t at = address + code->bytes;
		struct item *item = &code->items[code->count];

		if (code->ends && at != inner) {
			code->bytes += 4;
			continue;
		}
		code->ends = false;
		if (at == inner)
			code->inner = at;
		if (!add_item(context, section, end, at, code))
			return false;
		item->instruction = litifut_mips_branch_at(context, section, at);
		code->bytes += 4;
		if (!is_branch(item)) {
			if (!is_plain(item->word))
				return false;
			continue;
		}
		if (!is_known_branch(item) || at + 4 == inner ||
		    !add_item(context, section, end, at + 4, code) || !is_plain(item[1].word))
			return false;
		/* outside of the rest it stays, and nothing comes to it */
		code->bytes += 4;
		code->ends = !item->instruction.conditional;
	}
	return !inner || code->inner;
}

/* May control come to `address` but from before it, by something that can't be led elsewhere? */
static bool is_entered(const struct litifut_exit_place *place, uint32_t address, uint32_t *inner)
{
	if (!litifut_targets_has(place->targets, address))
		return false;
	if (!place->labels || litifut_targets_has(place->labels, address) ||
	    (*inner && *inner != address))
		return true;
	*inner = address;
	return false;
}

unsigned litifut_mips_judge_exit(const struct litifut_exit_place *place, struct litifut_exit *exit)
{
	const struct litifut_cramped_call *call = place->call;
	const unsigned needed = place->labels && !place->borrows ? 16 : 8;
	uint32_t inner = 0;
	struct code code;

	if (call->instruction.conditional) /* bgezal and bltzal */
		return LITIFUT_EXIT_CONDITIONAL;
	if (exit->address + 4 > call->function_end)
		return LITIFUT_EXIT_NO_RETURN;
	if (!link_is_free(place, exit->address))
		return LITIFUT_EXIT_LINK_IN_USE;
	for (uint32_t at = exit->address; at < exit->address + needed; at += 4)
		if (litifut_targets_has(place->taken, at) || is_entered(place, at, &inner))
			return LITIFUT_EXIT_STUCK;
	if ((place->labels && !inner) || (inner && !link_is_free(place, inner)) ||
	    !read_code(place->context, call->section, exit->address, call->function_end, needed,
		       inner, &code))
		return LITIFUT_EXIT_STUCK;
	exit->bytes = (uint8_t)code.bytes;
	exit->own_room = !call->argument_room || call->argument_room >= call->address;
	exit->has_branches = inner != 0;
	exit->inner = (uint8_t)(inner ? inner - exit->address : 0);
	exit->led = inner && !place->borrows ? exit->address + 8 : 0;
	return LITIFUT_EXIT_PATCHED;
}

/* Code that only goes on, with the frame and ra as they are: its frame is that of the return. */
bool litifut_mips_can_lend(const struct litifut_exit_place *place, struct litifut_exit *exit,
			   uint32_t *room)
{
	struct code code;

	if (exit->bytes != 8)
		return false;
	for (uint32_t at = exit->address + 8; at < exit->address + 16; at += 4)
		if (litifut_targets_has(place->taken, at) ||
		    litifut_targets_has(place->targets, at))
			return false;
	if (!read_code(place->context, place->call->section, exit->address,
		       place->call->function_end, 16, 0, &code) ||
	    code.bytes != 16)
		return false;
	for (unsigned i = 0; i < code.count; i++)
		if (is_branch(&code.items[i]) || litifut_mips_writes(code.items[i].word, SP) ||
		    litifut_mips_writes(code.items[i].word, RA))
			return false;
	exit->bytes = 16;
	*room = exit->address + 8;
	return true;
}

bool litifut_mips_lead_branch(const struct litifut_arch_context *context,
			      enum litifut_code_state state, uint32_t address, unsigned length,
			      uint32_t target, uint8_t *code)
{
	const uint32_t word = litifut_get32(context->cpu.big_endian, code);
	uint32_t led = 0;

	(void)state;
	(void)length;
	if (word >> 26 == 0x02)
		led = litifut_mips_jump(&context->cpu, false, address, target);
	else if (litifut_mips_branch_reaches(address, target))
		led = litifut_mips_branch(word & 0xffff0000, address, target);
	litifut_put32(context->cpu.big_endian, code, led);
	return led != 0;
}

/* So many words are written at the most. */
#define WORDS_MAX (2 * LITIFUT_MIPS_EXIT_BYTES / 4 + 12)

struct emitter {
	const struct litifut_arch_context *context;
	const struct litifut_exits *exits;
	uint32_t address;
	uint32_t link;   /* what ra holds there; 0: not known */
	uint32_t base;   /* what $at holds, if that is not 0 */
	uint32_t resume; /* where the code goes on */
	uint32_t inner;  /* where that of code->inner stands */
	uint32_t words[WORDS_MAX];
	unsigned count;
	bool uses_link;
	bool failed;
};

static void put(struct emitter *emitter, uint32_t each)
{
	if (emitter->count < WORDS_MAX)
		emitter->words[emitter->count++] = each;
	else
		emitter->failed = true;
}

static uint32_t here(const struct emitter *emitter)
{
	return emitter->address + 4 * emitter->count;
}

static bool is_near(const struct emitter *emitter, uint32_t target)
{
	/* at any place of the code */
	return litifut_mips_jump(&emitter->context->cpu, false, emitter->address, target) &&
	       litifut_mips_jump(&emitter->context->cpu, false, emitter->address + 4 * WORDS_MAX,
				 target);
}

/* $at = address */
static void put_base(struct emitter *emitter, uint32_t address)
{
	const uint32_t distance = address - emitter->link;

	emitter->failed |= !emitter->link;
	emitter->uses_link = true;
	put(emitter, 0x3c010000 | litifut_mips_high(distance));
	put(emitter, 0x24210000 | (distance & 0xffff));
	put(emitter, ADDU_AT_AT_RA);
}

/* A jump there, with this delay slot. */
static void jump(struct emitter *emitter, uint32_t target, uint32_t slot)
{
	if (is_near(emitter, target)) {
		put(emitter,
		    litifut_mips_jump(&emitter->context->cpu, false, here(emitter), target));
	} else if (emitter->base) {
		const uint32_t distance = target - emitter->base;

		emitter->failed |= distance + 0x8000 >= 0x10000;
		if (distance)
			put(emitter, 0x24210000 | (distance & 0xffff));
		put(emitter, JR_AT);
	} else {
		put_base(emitter, target);
		put(emitter, JR_AT);
	}
	put(emitter, slot);
}

/* Before `word`, which may set ra. */
static void keep_link(struct emitter *emitter, uint32_t each)
{
	if (!litifut_mips_writes(each, RA) || emitter->base)
		return;
	if (!is_near(emitter, emitter->resume)) {
		put_base(emitter, emitter->resume);
		emitter->base = emitter->resume;
	}
	emitter->link = 0;
}

/* The items from number `first` on, and on behind them. */
static void put_items(struct emitter *emitter, const struct code *code, unsigned first)
{
	struct {
		unsigned at;
		uint32_t target;
		uint32_t link; /* what is known there */
		uint32_t base;
	} tests[MOVED_MAX];
	unsigned test_count = 0;

	for (unsigned i = first; i < code->count; i++) {
		const struct item *item = &code->items[i];
		const uint32_t target = litifut_exits_led(emitter->exits, item->instruction.target);
		const bool branches = is_branch(item);

		if (item->address == code->inner && !emitter->inner)
			emitter->inner = here(emitter);
		keep_link(emitter, branches ? code->items[i + 1].word : item->word);
		if (!branches) {
			if (i + 1 == code->count) {
				jump(emitter, emitter->resume, item->word);
				break;
			}
			put(emitter, item->word);
			continue;
		}
		i++;
		if (item->instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT) {
			put(emitter, item->word);
			put(emitter, item[1].word);
		} else if (!item->instruction.conditional) {
			jump(emitter, target, item[1].word);
		} else {
			tests[test_count].at = emitter->count;
			tests[test_count].target = target;
			tests[test_count].link = emitter->link;
			tests[test_count++].base = emitter->base;
			put(emitter, item->word & 0xffff0000);
			put(emitter, item[1].word);
			if (i + 1 == code->count)
				jump(emitter, emitter->resume, NOP);
		}
	}
	for (unsigned i = 0; i < test_count && !emitter->failed; i++) {
		const uint32_t at = emitter->address + 4 * tests[i].at;
		const bool reaches = litifut_mips_branch_reaches(at, tests[i].target);

		emitter->words[tests[i].at] = litifut_mips_branch(
			emitter->words[tests[i].at], at, reaches ? tests[i].target : here(emitter));
		if (reaches)
			continue;
		emitter->link = tests[i].link;
		emitter->base = tests[i].base;
		jump(emitter, tests[i].target, NOP);
	}
}

static void align(struct emitter *emitter)
{
	while (emitter->count % (LITIFUT_MIPS_TRAMPOLINE_BYTES / 4) && !emitter->failed)
		put(emitter, NOP);
}

bool litifut_mips_lead(const struct litifut_arch_context *context,
		       const struct litifut_exit_ways *ways, uint32_t from, uint32_t address,
		       uint32_t *words, uint32_t *entry)
{
	const struct litifut_landings *landings = ways->landings;
	const size_t count = landings->count;
	uint32_t number;
	unsigned way;

	words[0] = litifut_mips_jump(&context->cpu, false, from, address);
	words[1] = NOP;
	*entry = address;
	if (!litifut_mips_number(context, address - (ways->gate + LITIFUT_MIPS_GATE_BYTES), &number,
				 &way))
		return words[0] != 0;
	for (size_t i = 0; i < 2 * count && !words[0]; i++) {
		const struct litifut_landing *landing = &landings->items[i % count];

		*entry = landing->entries[way];
		if (i % count == landings->own || landing->spare != (i >= count) || !*entry)
			continue;
		words[0] = litifut_mips_jump(&context->cpu, false, from, *entry);
		words[1] = number;
	}
	return words[0] != 0;
}

/* What branches are led to. */
static bool put_passage(struct emitter *emitter, const struct code *code,
			const struct litifut_exit *exit, const struct litifut_exit_ways *ways,
			struct litifut_exit_code *result)
{
	struct litifut_exit_piece *piece = &result->pieces[0];
	unsigned first = 0;
	uint32_t words[2];

	while (code->items[first].address != code->inner)
		first++;
	/* ra holds something else there, or an island leads there */
	if (emitter->uses_link ||
	    !litifut_mips_jump(&emitter->context->cpu, false, exit->led, emitter->inner)) {
		align(emitter);
		emitter->inner = here(emitter);
		emitter->link = here(emitter) + 8;
		emitter->base = 0;
		put(emitter, 0x04110001); /* bal .+8 */
		put(emitter, NOP);
		put_items(emitter, code, first);
	}
	piece->address = exit->led;
	piece->length = 8;
	if (!litifut_mips_lead(emitter->context, ways, exit->led, emitter->inner, words,
			       &piece->entry))
		return false;
	for (unsigned i = 0; i < 2; i++)
		litifut_put32(emitter->context->cpu.big_endian, piece->code + 4 * i, words[i]);
	result->piece_count = 1;
	result->inner = emitter->inner;
	return true;
}

bool litifut_mips_write_exit(const struct litifut_arch_context *context,
			     const struct litifut_cramped_call *call,
			     const struct litifut_exit *exit, uint32_t address,
			     const struct litifut_exit_ways *ways, struct litifut_exit_code *result)
{
	struct emitter emitter = {
		.context = context, .exits = ways->exits, .address = address, .link = address + 8};
	struct litifut_detour *detour = &result->detour;
	struct code code;
	uint32_t words[2];
	bool in_slot;

	if (!read_code(context, call->section, exit->address, call->function_end,
		       exit->bytes < 16 ? 8 : 16,
		       exit->has_branches ? exit->address + exit->inner : 0, &code) ||
	    !litifut_mips_lead(context, ways, exit->address, address, words, &detour->entry))
		return false;
	put(&emitter, litifut_mips_jump(&context->cpu, true, address, ways->thunk));
	if (!emitter.words[0])
		return false;
	emitter.resume = exit->address + code.bytes;
	in_slot = code.count > 1 && !ways->result && !is_branch(&code.items[0]) &&
		  !may_name(code.items[0].word, RA) &&
		  !(context->table && litifut_mips_writes(code.items[0].word, SP));
	if (in_slot && code.inner == exit->address)
		emitter.inner = here(&emitter);
	put(&emitter, in_slot ? code.items[0].word : NOP);
	put_items(&emitter, &code, in_slot);
	if (exit->has_branches && !put_passage(&emitter, &code, exit, ways, result))
		return false;
	align(&emitter);
	if (emitter.failed)
		return false;
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
