/* Room in the middle of functions, for branches that lead on to an island.
 *
 * Four instructions that are executed one after the other go elsewhere, and this takes
 * their place:
 *
 *   b     island's numbered entry, or trampoline	the way to where they are now
 *   lui   at, number, or nop
 *   b     target					the room that is made
 *   nop, or lui at, number
 *
 * Behind them, where they are now, stands a way back that needs no register but at:
 *
 *    0  addiu sp, sp, -8
 *    4  sw    ra, 4(sp)
 *    8  bal   16                ra = address + 16
 *   12  lui   at, %hi(distance)
 *   16  addiu at, at, %lo(distance)
 *   20  addu  at, at, ra
 *   24  lw    ra, 4(sp)
 *   28  jr    at
 *   32  addiu sp, sp, 8
 *
 * So nothing may come to the second to fourth of them but from the first: no branch,
 * no label that data or code name (an instruction that adds the low half of an address
 * names all addresses with that low half), no landing pad. Jumps through a register
 * count as known if they load what they jump to, or add the global pointer to what a
 * table holds: all words of tables were looked at (rewriter/code_targets.h). And at,
 * which the assembler and clang use for what they compute by steps, must be free
 * before and after.
 *
 * The file has more than 500 lines, as what may move and how it is written depend on each other. */
#include "rewriter/mips/mips.h"

#include <string.h>

enum {
	AT = 1,
	S0 = 16,
	S7 = 23,
	GP = 28,
	SP = 29,
	FP = 30,
	RUN = LITIFUT_MIPS_RELAY_BYTES / 4,
	BACK = 9,
	BACK_PLACE = 16, /* what ra holds there */
	BACK_LINKED = 8, /* from where ra stands on the stack only */
	BACK_RESTORED = 28
};

_Static_assert(4 * (RUN + BACK) <= LITIFUT_MIPS_RELAY_TRAMPOLINE_BYTES, "room for a run");

/* So many instructions before a jump are looked at for what it jumps to. */
#define BEFORE_JUMP 256u
/* So many instructions, on all ways together, for what becomes of at. */
#define BEHIND 96u
#define WAYS 12u
/* So many bytes on either side of a run for what must not be torn apart. */
#define NEAR 64u

struct function {
	const struct litifut_arch_context *context;
	const struct litifut_section *section;
	uint32_t start;
	uint32_t end;
	const struct litifut_targets *targets;
	struct litifut_targets own; /* by a global pointer of its own; bits NULL: it has none */
	unsigned pointer_register;  /* beside gp; 0: none */
	bool has_pointer;
	bool computes_in_link;
	uint8_t low_halves[0x10000 / 4 / 8]; /* that its instructions add */
};

static uint32_t word_at(const struct function *function, uint32_t address)
{
	return litifut_get32(function->context->cpu.big_endian,
			     function->section->bytes + (address - function->section->address));
}

static unsigned rs(uint32_t word)
{
	return word >> 21 & 31;
}

static unsigned rt(uint32_t word)
{
	return word >> 16 & 31;
}

/* jr, also as jalr $zero */
static bool is_jump(uint32_t word)
{
	return (word & 0xfc00003f) == 0x08 || (word & 0xfc00f83f) == 0x09;
}

static struct litifut_instruction decoded(const struct function *function, uint32_t address)
{
	return litifut_mips_branch_at(function->context, function->section, address);
}

static bool has_slot(const struct function *function, uint32_t address)
{
	return decoded(function, address).class != LITIFUT_CLASS_OTHER;
}

/* May control come to `address` from this function alone, by a table or a pointer? */
static bool is_label(const struct function *function, uint32_t address)
{
	uint32_t low = (address & 0xffff) / 4;

	return (function->own.bits && litifut_targets_has(&function->own, address)) ||
	       function->low_halves[low / 8] >> low % 8 & 1;
}

static bool is_target(const struct function *function, uint32_t address)
{
	return litifut_targets_has(function->targets, address) || is_label(function, address);
}

/* Is it replaced already, as part of a return point? That is marked at each halfword, a label at
 * its start only. */
static bool is_taken(const struct function *function, uint32_t address)
{
	return litifut_targets_has(function->targets, address + 2);
}

static void note_low_half(struct function *function, uint32_t word)
{
	unsigned low = (word & 0xffff) / 4;

	/* addiu, ori; what is added to the stack pointer is not an address of code, nor is what
	 * becomes the global pointer */
	if (!(word & 3) &&
	    ((word >> 26 == 0x09 && rs(word) != SP && rt(word) != GP) || word >> 26 == 0x0d))
		function->low_halves[low / 8] |= (uint8_t)(1u << low % 8);
}

/* Does control come from before the branch or call at `address` to what is behind it, with what
 * the register holds? */
static bool passes(const struct function *function, uint32_t address, unsigned reg)
{
	const struct litifut_instruction instruction = decoded(function, address);
	const bool is_call = instruction.class == LITIFUT_CLASS_CALL_DIRECT ||
			     instruction.class == LITIFUT_CLASS_CALL_INDIRECT;

	return is_call ? (reg >= S0 && reg <= S7) || reg == FP : instruction.conditional;
}

/* Is what the jump at `address` leads to among the targets, or outside? */
static bool knows_jump(const struct function *function, uint32_t address)
{
	unsigned reg = rs(word_at(function, address));

	for (unsigned i = 0; i < BEFORE_JUMP && address > function->start; i++) {
		address -= 4;
		uint32_t word = word_at(function, address);

		if (has_slot(function, address) && !passes(function, address, reg))
			return false;
		if (!litifut_mips_writes(word, reg))
			continue;
		if (litifut_mips_is_move(word)) {
			reg = rs(word) | rt(word);
			if (!reg)
				return false;
			continue;
		}
		if ((word & 0xfc0007ff) == 0x21) /* addu: a table's word, and the pointer */
			return function->has_pointer &&
			       (rs(word) == GP || rt(word) == GP ||
				(function->pointer_register &&
				 (rs(word) == function->pointer_register ||
				  rt(word) == function->pointer_register)));
		return word >> 26 == 0x23 || word >> 26 == 0x09; /* lw, addiu */
	}
	return false;
}

/* So many pieces of code are looked at before a return, each for all branches that lead to it. */
#define PIECES_BACK 16

static bool returns(const struct function *function, uint32_t address, unsigned *pieces);

/* Does ra hold a return address at all branches of the function into [start, end]? Something must
 * lead there. */
static bool branches_return(const struct function *function, uint32_t start, uint32_t end,
			    unsigned *pieces)
{
	bool found = false;

	if (!*pieces)
		return false;
	--*pieces;
	for (uint32_t at = function->start; at < function->end; at += 4) {
		const struct litifut_instruction instruction = decoded(function, at);

		if (is_label(function, at) && at >= start && at <= end)
			return false;
		if (instruction.class != LITIFUT_CLASS_BRANCH_DIRECT ||
		    instruction.target < start || instruction.target > end)
			continue;
		if (at + 4 >= function->end ||
		    litifut_mips_writes(word_at(function, at + 4), LITIFUT_MIPS_RA) ||
		    !returns(function, at, pieces))
			return false;
		found = true;
	}
	return found;
}

/* Does ra hold a return address at the jump through it? Where the function computes in ra, the
 * stack must have given it back before, or nothing has written it yet. */
static bool returns(const struct function *function, uint32_t address, unsigned *pieces)
{
	const uint32_t end = address;

	while (function->computes_in_link && address > function->start) {
		address -= 4;
		const uint32_t word = word_at(function, address);

		if (litifut_mips_writes(word, LITIFUT_MIPS_RA))
			return word >> 26 == 0x23 && (rs(word) == SP || rs(word) == FP);
		const struct litifut_instruction instruction = decoded(function, address);

		if (instruction.class == LITIFUT_CLASS_OTHER || instruction.conditional)
			continue;
		return (instruction.class == LITIFUT_CLASS_BRANCH_DIRECT ||
			instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT) &&
		       branches_return(function, address + 8, end, pieces);
	}
	return true;
}

/* Is ra one register of many there? Compilers use it so when they need all of them. */
static bool computes_in_link(uint32_t word)
{
	return litifut_mips_writes(word, LITIFUT_MIPS_RA) && !litifut_mips_is_move(word) &&
	       word >> 26 != 0x23;
}

/* Whatever the instruction at `address` may hide: does it jump to an unknown place? */
static bool is_plain(const struct function *function, uint32_t address)
{
	uint32_t word = word_at(function, address);
	struct litifut_instruction instruction = decoded(function, address);
	unsigned pieces = PIECES_BACK;

	if (is_jump(word))
		return rs(word) == LITIFUT_MIPS_RA ? returns(function, address, &pieces)
						   : knows_jump(function, address);
	/* a call into the function asks where it is, to calculate with that */
	return instruction.class != LITIFUT_CLASS_CALL_DIRECT ||
	       instruction.target <= function->start || instruction.target >= function->end;
}

/* The ways on from an instruction that are still to be looked at. */
struct ways {
	uint32_t items[WAYS];
	unsigned count;
	bool failed;
};

static void add_way(const struct function *function, struct ways *ways, uint32_t address)
{
	if (address < function->start || address >= function->end)
		return; /* another function: nothing lives in at there */
	if (ways->count == WAYS)
		ways->failed = true;
	else
		ways->items[ways->count++] = address;
}

/* Where it goes on behind the jump or branch at `address`. False: at is used, or that
 * is not known. */
static bool follow(const struct function *function, uint32_t address, struct ways *ways)
{
	struct litifut_instruction instruction = decoded(function, address);
	uint32_t word = word_at(function, address);

	if (address + 8 > function->end || litifut_mips_may_read_at(word_at(function, address + 4)))
		return false;
	if (instruction.class == LITIFUT_CLASS_BRANCH_INDIRECT)
		return rs(word) == LITIFUT_MIPS_RA || rs(word) == LITIFUT_MIPS_T9;
	if (instruction.class != LITIFUT_CLASS_BRANCH_DIRECT)
		return true; /* a call: at does not live across it */
	if (litifut_mips_sets_at(word_at(function, address + 4)) && !litifut_mips_is_likely(word))
		return true;
	add_way(function, ways, instruction.target);
	if (instruction.conditional)
		add_way(function, ways, address + 8);
	return !ways->failed;
}

/* Is what at holds before the instruction at `address` of no use? */
static bool at_is_free(const struct function *function, uint32_t address)
{
	struct ways ways = {.items = {address}, .count = 1};

	for (unsigned left = BEHIND; ways.count;) {
		uint32_t at = ways.items[--ways.count];

		for (;; at += 4) {
			if (at >= function->end || !left--)
				return false;
			uint32_t word = word_at(function, at);

			if (litifut_mips_may_read_at(word))
				return false;
			if (litifut_mips_sets_at(word))
				break;
			if (has_slot(function, at)) {
				if (!follow(function, at, &ways))
					return false;
				break;
			}
		}
	}
	return true;
}

/* Does anything near by tell that the instructions belong together? */
static bool is_alone(const struct function *function, uint32_t address)
{
	uint32_t from = address - function->start > NEAR ? address - NEAR : function->start;
	uint32_t to = address + 4 * RUN + NEAR;

	for (uint32_t at = from; at < to && at < function->end; at += 4)
		if (litifut_mips_saves_ra_in_at(word_at(function, at)) ||
		    litifut_mips_is_exclusive(word_at(function, at)))
			return false;
	return true;
}

static bool is_run(const struct function *function, uint32_t address)
{
	for (unsigned i = 0; i < RUN; i++)
		if (!litifut_mips_can_move(word_at(function, address + 4 * i)) ||
		    is_taken(function, address + 4 * i) ||
		    (i && is_target(function, address + 4 * i)))
			return false;
	if (address > function->start && has_slot(function, address - 4))
		return false;
	return is_alone(function, address) && at_is_free(function, address) &&
	       at_is_free(function, address + 4 * RUN);
}

/* Reads all of the function; release it with litifut_targets_release(&function->own). False:
 * there are ways into it that are not known. */
static bool open_function(const struct litifut_image *image,
			  const struct litifut_arch_context *context,
			  const struct litifut_section *section, uint32_t start, uint32_t end,
			  const struct litifut_targets *targets, struct function *function)
{
	struct litifut_function_facts facts = {0};
	struct litifut_error ignored;
	bool plain = !(start & 3);

	*function = (struct function){
		.context = context,
		.section = section,
		.start = start,
		.end = end & ~3u,
		.targets = targets,
	};
	litifut_mips_function_pointer(image, context, section, start, end, &facts);
	function->has_pointer = facts.pointer != 0;
	function->pointer_register = facts.pointer_register;
	if (facts.pointer && facts.pointer != litifut_mips_facts(context)->global_pointer) {
		plain = plain && !litifut_targets_create(start, end, &function->own, &ignored);
		if (plain)
			litifut_targets_add_offsets(&function->own, image, &context->pointers,
						    facts.pointer);
	}
	for (uint32_t at = start; plain && at < function->end; at += 4) {
		const bool is_code = decoded(function, at).class == LITIFUT_CLASS_OTHER;

		function->computes_in_link |= is_code && computes_in_link(word_at(function, at));
		note_low_half(function, word_at(function, at));
	}
	for (uint32_t at = start; plain && at < function->end; at += 4)
		plain = is_plain(function, at);
	return plain;
}

size_t litifut_mips_find_runs(const struct litifut_image *image,
			      const struct litifut_arch_context *context,
			      const struct litifut_section *section, uint32_t start, uint32_t end,
			      const struct litifut_targets *targets, uint32_t *runs)
{
	struct function function;
	bool plain = open_function(image, context, section, start, end, targets, &function);
	size_t count = 0;

	for (uint32_t at = start; plain && at + 4 * RUN < function.end; at += 4)
		if (is_run(&function, at)) {
			runs[count++] = at;
			at += 4 * RUN - 4;
		}
	litifut_targets_release(&function.own);
	return count;
}

bool litifut_mips_knows_jumps(const struct litifut_image *image,
			      const struct litifut_arch_context *context,
			      const struct litifut_section *section, uint32_t start, uint32_t end)
{
	static const struct litifut_targets none;
	struct function function;
	const bool plain = open_function(image, context, section, start, end, &none, &function);

	litifut_targets_release(&function.own);
	return plain;
}

bool litifut_mips_knows_function(const struct litifut_image *image,
				 const struct litifut_arch_context *context,
				 const struct litifut_section *section, uint32_t start,
				 uint32_t end, struct litifut_targets *targets,
				 struct litifut_targets *labels)
{
	struct function function;
	bool plain = open_function(image, context, section, start, end, targets, &function);

	for (uint32_t at = start; plain && at < function.end; at += 4) {
		struct litifut_instruction instruction = decoded(&function, at);

		/* of coprocessors, which the walk over the code does not know */
		if (instruction.class == LITIFUT_CLASS_BRANCH_DIRECT)
			litifut_targets_add(targets, instruction.target);
		if (is_label(&function, at)) {
			litifut_targets_add(targets, at);
			litifut_targets_add(labels, at);
		}
	}
	litifut_targets_release(&function.own);
	return plain;
}

/* Two words that lead to the trampoline at `trampoline`. False: it can't be reached,
 * nor has it a number. */
static bool lead_to(const struct litifut_arch_context *context, uint32_t address,
		    uint32_t trampoline, const struct litifut_gate *gate,
		    const uint32_t *island_entries, uint32_t *words)
{
	unsigned way;

	words[0] = litifut_mips_jump(&context->cpu, false, address, trampoline);
	words[1] = 0;
	if (words[0])
		return true;
	if (!litifut_mips_number(context, trampoline - (gate->address + LITIFUT_MIPS_GATE_BYTES),
				 &words[1], &way) ||
	    !island_entries[way])
		return false;
	words[0] = litifut_mips_jump(&context->cpu, false, address, island_entries[way]);
	return words[0] != 0;
}

static void write_back(const struct litifut_arch_context *context, uint32_t address,
		       uint32_t target, uint8_t *code)
{
	uint32_t distance = target - (address + BACK_PLACE);
	const uint32_t words[BACK] = {
		0x27bdfff8,
		0xafbf0004,
		0x04110001,
		0x3c010000 | litifut_mips_high(distance),
		0x24210000 | (distance & 0xffff),
		0x003f0821,
		0x8fbf0004,
		0x00200008,
		0x27bd0008,
	};

	for (unsigned i = 0; i < BACK; i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
}

bool litifut_mips_write_relay(const struct litifut_arch_context *context,
			      const struct litifut_relay *relay, const struct litifut_gate *gate,
			      const uint32_t *island_entries, uint8_t *code, uint8_t *moved,
			      struct litifut_frame_code *frames)
{
	const uint32_t bytes = LITIFUT_MIPS_RELAY_BYTES;
	uint32_t words[RUN];

	if (!lead_to(context, relay->address, relay->trampoline, gate, island_entries, words))
		return false;
	if (relay->numbered) {
		if (!lead_to(context, relay->address + LITIFUT_MIPS_RELAY_ENTRY, relay->target,
			     gate, island_entries, words + 2))
			return false;
	} else {
		words[2] =
			litifut_mips_jump(&context->cpu, false,
					  relay->address + LITIFUT_MIPS_RELAY_ENTRY, relay->target);
		words[3] = 0;
		if (!words[2])
			return false;
	}
	memset(moved, 0, LITIFUT_MIPS_RELAY_TRAMPOLINE_BYTES);
	memcpy(moved, code, bytes);
	write_back(context, relay->trampoline + bytes, relay->address + bytes, moved + bytes);
	for (unsigned i = 0; i < RUN; i++)
		litifut_put32(context->cpu.big_endian, code + 4 * i, words[i]);
	frames[0] = (struct litifut_frame_code){
		.start = relay->trampoline, .bytes = bytes, .instruction = relay->address};
	frames[1] = (struct litifut_frame_code){
		.start = relay->trampoline + bytes,
		.bytes = 4 * BACK,
		.instruction = relay->address + bytes,
		.steps = {{.at = 4, .stack = 8},
			  {.at = BACK_LINKED, .stack = 8, .saved = 1u << LITIFUT_MIPS_RA},
			  {.at = BACK_RESTORED, .stack = 8}},
		.step_count = 3,
	};
	return true;
}
