/* libgcc's division enters its unrolled loop by a number of rounds, in T32 code
 *
 *		cmp	rA, rB
 *		bls	...
 *		clz	rX, rA
 *		clz	rY, rB
 *		sub	rN, rY, rX
 *		rsb	rN, rN, #31
 *		adr	rL, label
 *		add	rT, rL, rN, lsl #4
 *		mov	pc, rT
 *
 * and in A32 code, where what is added is the pc,
 *
 *		rsbs	rN, rN, #31
 *		addne	rN, rN, rN, lsl #1
 *		addne	pc, pc, rN, lsl #2
 *
 * Clang's large switches of T32 code jump like this into a row of branches:
 *
 *		cmp	rN, #39
 *		bhi	...
 *		adr	rL, row
 *		add	rT, rL, rN, lsl #2
 *		mov	pc, rT
 *	row:	b.w	case0
 *
 * The code between the comparison and the jump may be in several blocks, if control comes by the
 * comparison alone. Nothing else is known of the numbers: without such a proof the jump may lead
 * anywhere.
 *
 * Encodings: DDI 0406C A5 (A32), A6 (T32) and A8.8.
 *
 * More than 500 lines in one file, because the look back needs to know what each instruction of
 * both sets does to the register that it follows. */
#include "rewriter/arm/scaled_jump.h"

#include <string.h>

#include "common/bytes.h"
#include "cpu/arm/effect.h"
#include "cpu/arm/uses.h"
#include "rewriter/arm/trampoline.h"

#define PC 15
#define NONE 16 /* no register */
#define ALWAYS 14

enum condition { CLEAR_CARRY = 3, HIGHER = 8, LOWER_OR_SAME = 9 };

struct line {
	uint32_t address;
	uint32_t word;
	uint8_t length;
	uint8_t condition;
};

#define LINES_MOST 32 /* the last ones of a block */

/* Where a look back has come to: behind `count` instructions of a block. */
struct place {
	const struct litifut_image *image;
	const struct litifut_graph *graph;
	size_t block;
	struct line lines[LINES_MOST];
	unsigned count;
	bool whole;         /* `lines` begin at the start of the block */
	unsigned condition; /* of its branch; ALWAYS: there is none, or it is not known */
};

enum operation {
	OTHER,
	ADDRESS,    /* to = value */
	SHIFT,      /* to = right << value */
	ADD,        /* to = left + (right << value) */
	SUBTRACT,   /* to = left - right */
	COMPLEMENT, /* to = value - left */
	ZEROS,      /* to = the zeros before the highest 1 of left */
	COMPARE,    /* left with right; NONE: with value */
};

struct parts {
	enum operation operation;
	unsigned to, left, right;
	uint32_t value;
};

static struct parts parts(enum operation operation, unsigned to, unsigned left, unsigned right,
			  uint32_t value)
{
	return (struct parts){operation, to, left, right, value};
}

static struct parts narrow_parts(uint32_t half, uint32_t address)
{
	const unsigned low = half & 7, middle = half >> 3 & 7, high = half >> 8 & 7;
	const unsigned any = low | (half >> 4 & 8);

	if (half < 0x0800)
		return parts(SHIFT, low, NONE, middle, half >> 6 & 31);
	if ((half & 0xfc00) == 0x1800)
		return parts(half & 0x0200 ? SUBTRACT : ADD, low, middle, half >> 6 & 7, 0);
	if ((half & 0xf800) == 0x2800)
		return parts(COMPARE, NONE, high, NONE, half & 0xff);
	if ((half & 0xffc0) == 0x4280)
		return parts(COMPARE, NONE, low, middle, 0);
	if ((half & 0xff00) == 0x4500)
		return parts(COMPARE, NONE, any, half >> 3 & 15, 0);
	if ((half & 0xff00) == 0x4400)
		return parts(ADD, any, any, half >> 3 & 15, 0);
	if ((half & 0xf800) == 0xa000)
		return parts(ADDRESS, high, NONE, NONE, ((address + 4) & ~3u) + 4 * (half & 0xff));
	return parts(OTHER, NONE, NONE, NONE, 0);
}

static struct parts wide_parts(uint32_t word, uint32_t address)
{
	const unsigned left = word >> 16 & 15, to = word >> 8 & 15, right = word & 15;
	const unsigned shift = (word >> 10 & 0x1c) | (word >> 6 & 3);
	const uint32_t number = (word >> 15 & 0x800) | (word >> 4 & 0x700) | (word & 0xff);

	if ((word & 0xffef8030) == 0xea4f0000)
		return parts(SHIFT, to, NONE, right, shift);
	if ((word & 0xffe08030) == 0xeb000000)
		return parts(ADD, to, left, right, shift);
	if ((word & 0xfff0fff0) == 0xebb00f00)
		return parts(COMPARE, NONE, left, right, 0);
	if ((word & 0xffe0f0f0) == 0xeba00000)
		return parts(SUBTRACT, to, left, right, 0);
	if ((word & 0xffe0f000) == 0xf1c00000)
		return parts(COMPLEMENT, to, left, NONE, word & 0xff);
	if ((word & 0xfff0ff00) == 0xf1b00f00)
		return parts(COMPARE, NONE, left, NONE, word & 0xff);
	if ((word & 0xfff0f0f0) == 0xfab0f080)
		return parts(ZEROS, to, right, NONE, 0);
	if ((word & 0xfbff8000) == 0xf20f0000)
		return parts(ADDRESS, to, NONE, NONE, ((address + 4) & ~3u) + number);
	if ((word & 0xfbff8000) == 0xf2af0000)
		return parts(ADDRESS, to, NONE, NONE, ((address + 4) & ~3u) - number);
	return parts(OTHER, NONE, NONE, NONE, 0);
}

/* Whatever its condition. */
static struct parts plain_parts(uint32_t word)
{
	const unsigned left = word >> 16 & 15, to = word >> 12 & 15, right = word & 15;

	if ((word & 0x0fff0ff0) == 0x016f0f10)
		return parts(ZEROS, to, right, NONE, 0);
	if ((word & 0x0ff0fff0) == 0x01500000)
		return parts(COMPARE, NONE, left, right, 0);
	if ((word & 0x0ff0ff00) == 0x03500000)
		return parts(COMPARE, NONE, left, NONE, word & 0xff);
	if ((word & 0x0fe00ff0) == 0x00400000)
		return parts(SUBTRACT, to, left, right, 0);
	if ((word & 0x0fe00f00) == 0x02600000)
		return parts(COMPLEMENT, to, left, NONE, word & 0xff);
	if ((word & 0x0fe00070) == 0x00800000)
		return parts(ADD, to, left, right, word >> 7 & 31);
	return parts(OTHER, NONE, NONE, NONE, 0);
}

static bool is_thumb(const struct place *place)
{
	return place->graph->items[place->block].block.flags & LITIFUT_BLOCK_THUMB;
}

static struct parts parts_of(const struct place *place, unsigned line)
{
	const struct line *at = &place->lines[line];

	return !is_thumb(place)  ? plain_parts(at->word)
	       : at->length == 2 ? narrow_parts(at->word, at->address)
				 : wide_parts(at->word, at->address);
}

static struct litifut_arm_uses uses_of(const struct place *place, unsigned line)
{
	const struct line *at = &place->lines[line];

	if (is_thumb(place))
		return litifut_arm_thumb_uses(at->word, at->length, true);
	return litifut_arm_plain_uses(at->condition > ALWAYS
					      ? at->word
					      : (at->word & 0x0fffffff) | (uint32_t)ALWAYS << 28);
}

/* It is not known what the instruction does. */
static bool is_strange(struct litifut_arm_uses uses)
{
	return uses.reads == LITIFUT_ARM_USES_ALL;
}

static bool writes(const struct place *place, unsigned line, unsigned reg)
{
	const struct line *at = &place->lines[line];
	const struct litifut_arm_uses uses = uses_of(place, line);
	const struct litifut_arm_effect effect =
		is_thumb(place) ? litifut_arm_thumb_effect(at->word, at->length, at->address)
				: litifut_arm_plain_effect(at->word, at->address);

	return reg < NONE && ((effect.written | uses.writes) >> reg & 1 || is_strange(uses));
}

/* May the instruction change a flag? */
static bool writes_flags(const struct place *place, unsigned line)
{
	const struct litifut_arm_uses uses = uses_of(place, line);
	const struct line *at = &place->lines[line];

	/* behind an `it` one of two bytes changes none, but for tst, cmp and cmn */
	if (is_thumb(place) && at->length == 2 && at->condition != ALWAYS &&
	    (at->word & 0xf800) != 0x2800 && (at->word & 0xff00) != 0x4200 &&
	    (at->word & 0xff00) != 0x4500)
		return false;
	return is_strange(uses) || uses.writes & LITIFUT_ARM_USES_FLAGS;
}

/* The instruction at `address`, if there is one up to `end`. */
static bool read_line(const struct litifut_section *section, bool thumb, uint32_t address,
		      uint32_t end, struct line *line)
{
	const uint8_t *code = section->bytes + (address - section->address);

	*line = (struct line){.address = address, .length = thumb ? 2 : 4, .condition = ALWAYS};
	if (address + line->length > end)
		return false;
	if (!thumb) {
		line->word = litifut_get32(false, code);
		line->condition = (uint8_t)(line->word >> 28);
		return true;
	}
	line->word = litifut_get16(false, code);
	if (!litifut_arm_thumb_is_wide((uint16_t)line->word))
		return true;
	line->length = 4;
	if (address + 4 > end)
		return false;
	line->word = line->word << 16 | litifut_get16(false, code + 2);
	return true;
}

static unsigned condition_of(const struct litifut_graph_block *block, const struct line *branch)
{
	const uint16_t condition = litifut_arm_condition(branch->word, branch->length);

	if (!(block->block.flags & LITIFUT_BLOCK_THUMB))
		return branch->condition;
	return (condition & 0xf000) == 0xd000 ? condition >> 8 & 15 : ALWAYS;
}

/* Reads a block, up to its branch. */
static void enter(struct place *place, size_t number)
{
	const struct litifut_graph_block *block = &place->graph->items[number];
	const struct litifut_section *section = &place->image->sections[block->section];
	const bool thumb = block->block.flags & LITIFUT_BLOCK_THUMB;
	const uint32_t end =
		block->block.ends == LITIFUT_ENDS_ON ? block->block.end : block->block.branch;
	unsigned state = 0; /* of an `it` */
	struct line line;

	place->block = number;
	place->count = 0;
	place->whole = true;
	for (uint32_t at = block->block.start; read_line(section, thumb, at, end, &line);
	     at += line.length) {
		if (place->count == LINES_MOST) {
			memmove(place->lines, place->lines + 1,
				(LINES_MOST - 1) * sizeof(*place->lines));
			place->count--;
			place->whole = false;
		}
		if (state)
			line.condition = (uint8_t)(state >> 4);
		place->lines[place->count++] = line;
		state = state & 7 ? (state & 0xe0) | (state << 1 & 0x1f) : 0;
		if (thumb && line.length == 2 && litifut_arm_it_length((uint16_t)line.word))
			state = line.word & 0xff;
	}
	place->condition = state ? state >> 4 : ALWAYS;
	if (!state && block->block.ends != LITIFUT_ENDS_ON &&
	    read_line(section, thumb, block->block.branch, block->block.end, &line))
		place->condition = condition_of(block, &line);
}

/* To the block before, if control comes from there alone. */
static bool enter_before(struct place *place)
{
	const struct litifut_graph_block *block = &place->graph->items[place->block];
	const struct litifut_graph_block *before = block - 1;

	if (!place->whole || !place->block || before->block.end != block->block.start ||
	    before->function != block->function ||
	    (before->block.flags ^ block->block.flags) & LITIFUT_BLOCK_THUMB ||
	    block->block.flags & (LITIFUT_BLOCK_FUNCTION | LITIFUT_BLOCK_LABEL) ||
	    litifut_targets_has(&place->graph->targets, block->block.start) ||
	    before->block.ends == LITIFUT_ENDS_CALL ||
	    (before->block.ends != LITIFUT_ENDS_ON &&
	     !(before->block.flags & LITIFUT_BLOCK_CONDITIONAL)))
		return false;
	enter(place, place->block - 1);
	return true;
}

/* What the way past a conditional branch says of two registers: that the first one is higher. Or
 * with NONE, of one: that it is at most `most`. */
struct fact {
	unsigned reg, other;
	uint32_t most;
};

/* Does the comparison say so, where the condition holds? */
static bool says(const struct parts *compared, unsigned condition, struct fact *fact)
{
	if (compared->operation != COMPARE)
		return false;
	if (fact->other != NONE)
		return (condition == HIGHER && compared->left == fact->reg &&
			compared->right == fact->other) ||
		       (condition == CLEAR_CARRY && compared->left == fact->other &&
			compared->right == fact->reg);
	if (compared->left != fact->reg || compared->right != NONE ||
	    (condition != LOWER_OR_SAME && (condition != CLEAR_CARRY || !compared->value)))
		return false;
	fact->most = compared->value - (condition == CLEAR_CARRY);
	return true;
}

#define BLOCKS_MOST 8

/* Looks from the place back for a branch that says so, on the only way there. */
static bool is_proved(struct place place, struct fact *fact)
{
	unsigned branch = ALWAYS; /* where it was passed: the condition that did not hold */

	for (unsigned blocks = 0; blocks < BLOCKS_MOST; blocks++) {
		while (place.count) {
			const unsigned line = --place.count;
			const unsigned condition = place.lines[line].condition;

			if (branch != ALWAYS && writes_flags(&place, line)) {
				const struct parts compared = parts_of(&place, line);

				if (condition == ALWAYS && says(&compared, branch ^ 1, fact))
					return true;
				branch = ALWAYS;
			}
			/* what is not executed unless the branch is taken */
			if (branch != ALWAYS && condition == branch)
				continue;
			if (writes(&place, line, fact->reg) || writes(&place, line, fact->other))
				return false;
		}
		if (!enter_before(&place))
			return false;
		branch = place.condition;
	}
	return false;
}

/* The last instruction in the block before the place that writes the register; false: there is
 * none, or it is conditional. */
static bool find_writer(const struct place *place, unsigned reg, unsigned *line)
{
	for (unsigned i = place->count; i-- > 0;)
		if (writes(place, i, reg)) {
			*line = i;
			return place->lines[i].condition == ALWAYS;
		}
	return false;
}

static struct place before_line(const struct place *place, unsigned line)
{
	struct place before = *place;

	before.count = line;
	return before;
}

/* What has the difference of the zeros of two numbers, of which the one is higher: 0 to 32. */
static bool is_difference(const struct place *place, const struct parts *difference,
			  struct litifut_arm_scaled *jump)
{
	unsigned left, right;

	if (!find_writer(place, difference->left, &left) ||
	    !find_writer(place, difference->right, &right))
		return false;
	const struct parts lower = parts_of(place, left);
	const struct parts higher = parts_of(place, right);
	const unsigned first = left < right ? left : right;
	struct fact fact = {.reg = higher.left, .other = lower.left};

	jump->own = place->lines[first].address;
	if (left == right || lower.operation != ZEROS || higher.operation != ZEROS)
		return false;
	/* of the same numbers */
	for (unsigned i = first; i < (left < right ? right : left); i++)
		if (writes(place, i, fact.reg) || writes(place, i, fact.other))
			return false;
	return is_proved(before_line(place, first), &fact);
}

/* Between which numbers is the register at the place? */
static bool find_bounds(const struct place *place, unsigned reg, struct litifut_arm_scaled *jump)
{
	struct fact fact = {.reg = reg, .other = NONE};
	unsigned line;
	struct place before;
	struct parts parts;

	if (is_proved(*place, &fact)) {
		jump->first = 0;
		jump->last = (int32_t)fact.most;
		return true;
	}
	if (!find_writer(place, reg, &line))
		return false;
	parts = parts_of(place, line);
	if (parts.operation != COMPLEMENT)
		return false;
	before = before_line(place, line);
	if (!find_writer(&before, parts.left, &line))
		return false;
	jump->last = (int32_t)parts.value;
	jump->first = (int32_t)parts.value - 32;
	parts = parts_of(&before, line);
	before = before_line(place, line);
	return parts.operation == SUBTRACT && is_difference(&before, &parts, jump);
}

static bool find_address(const struct place *place, unsigned reg, struct parts *address)
{
	unsigned line;

	if (!find_writer(place, reg, &line))
		return false;
	*address = parts_of(place, line);
	return address->operation == ADDRESS;
}

/* T32 `mov pc, rT` or `bx rT`. */
static enum litifut_arm_scaled_form find_thumb(const struct place *place,
					       const struct litifut_symbol *function, uint32_t half,
					       struct litifut_arm_scaled *jump)
{
	const bool exchanges = (half & 0xff87) == 0x4700;
	unsigned line, shift, other;
	struct place before;
	struct parts sum, label, shifted;

	jump->reg = half >> 3 & 15;
	if ((!exchanges && (half & 0xff87) != 0x4687) || !find_writer(place, jump->reg, &line))
		return LITIFUT_ARM_SCALED_NOT;
	sum = parts_of(place, line);
	before = before_line(place, line);
	if (sum.operation != ADD)
		return LITIFUT_ARM_SCALED_NOT;
	shift = sum.value;
	other = sum.right;
	if (!find_address(&before, sum.left, &label)) {
		/* The label is of another block, as data seems to lead between the two. What is
		 * loaded from a table of distances is multiplied by 2 at most. */
		if (shift > 1 && !find_writer(&before, sum.left, &line))
			return LITIFUT_ARM_SCALED_UNKNOWN;
		if (shift || !find_address(&before, sum.right, &label))
			return LITIFUT_ARM_SCALED_NOT;
		other = sum.left;
	}
	if (label.value - function->address >= function->size)
		return LITIFUT_ARM_SCALED_NOT;
	if (!shift) {
		if (!find_writer(&before, other, &line))
			return LITIFUT_ARM_SCALED_NOT;
		shifted = parts_of(&before, line);
		if (shifted.operation != SHIFT || !shifted.value)
			return LITIFUT_ARM_SCALED_NOT;
		shift = shifted.value;
		other = shifted.right;
		before = before_line(&before, line);
	}
	jump->base = label.value & ~1u;
	jump->step = 1u << shift;
	return shift < 16 && (label.value & 1) == exchanges && find_bounds(&before, other, jump)
		       ? LITIFUT_ARM_SCALED_KNOWN
		       : LITIFUT_ARM_SCALED_UNKNOWN;
}

/* A32 `add<condition> pc, pc, rN, lsl #2`. */
static bool is_plain_jump(uint32_t word)
{
	return (word & 0x0ffffff0) == 0x008ff100;
}

static enum litifut_arm_scaled_form find_plain(const struct place *place, const struct line *end,
					       struct litifut_arm_scaled *jump)
{
	const unsigned reg = end->word & 15;
	struct place before = *place;
	struct parts multiple;

	if (!is_plain_jump(end->word))
		return LITIFUT_ARM_SCALED_NOT;
	jump->base = end->address + 8;
	jump->step = 4;
	while (before.count && !writes(&before, before.count - 1, reg) &&
	       !writes_flags(&before, before.count - 1))
		before.count--;
	/* the number times three, or the like, on the same condition */
	multiple = before.count ? parts_of(&before, before.count - 1) : parts(OTHER, 0, 0, 0, 0);
	if (multiple.operation == ADD && multiple.to == reg && multiple.left == multiple.right &&
	    !writes_flags(&before, before.count - 1) && multiple.value && multiple.value < 16) {
		const unsigned condition = before.lines[before.count - 1].condition;

		if (condition != ALWAYS && condition != end->condition)
			return LITIFUT_ARM_SCALED_UNKNOWN;
		before.count--;
		jump->step *= 1 + (1u << multiple.value);
		return find_bounds(&before, multiple.left, jump) ? LITIFUT_ARM_SCALED_KNOWN
								 : LITIFUT_ARM_SCALED_UNKNOWN;
	}
	return find_bounds(place, reg, jump) ? LITIFUT_ARM_SCALED_KNOWN
					     : LITIFUT_ARM_SCALED_UNKNOWN;
}

/* Does a block begin at each place in question? */
static bool lead_to_blocks(const struct litifut_graph *graph, size_t number,
			   const struct litifut_arm_scaled *jump)
{
	const struct litifut_graph_block *from = &graph->items[number];

	for (int64_t i = jump->first; i <= jump->last; i++) {
		const uint32_t address = jump->base + (uint32_t)i * jump->step;
		const struct litifut_graph_block *to;

		if (litifut_arm_scaled_is_own(jump, from, address))
			continue;
		to = litifut_graph_at(graph, address);
		if (!to || to->function != from->function ||
		    (to->block.flags ^ from->block.flags) & LITIFUT_BLOCK_THUMB)
			return false;
	}
	return true;
}

enum litifut_arm_scaled_form litifut_arm_scaled_jump(const struct litifut_image *image,
						     const struct litifut_graph *graph,
						     size_t number, struct litifut_arm_scaled *jump)
{
	const struct litifut_graph_block *block = &graph->items[number];
	const struct litifut_section *section = &image->sections[block->section];
	const bool thumb = block->block.flags & LITIFUT_BLOCK_THUMB;
	struct place place = {.image = image, .graph = graph};
	enum litifut_arm_scaled_form form;
	struct line end;

	*jump = (struct litifut_arm_scaled){0};
	if (block->block.ends != LITIFUT_ENDS_JUMP || block->in_block ||
	    !read_line(section, thumb, block->block.branch, block->block.end, &end))
		return LITIFUT_ARM_SCALED_NOT;
	enter(&place, number);
	form = thumb ? find_thumb(&place, &image->symbols[block->function - 1], end.word, jump)
		     : find_plain(&place, &end, jump);
	return form == LITIFUT_ARM_SCALED_KNOWN && !lead_to_blocks(graph, number, jump)
		       ? LITIFUT_ARM_SCALED_UNKNOWN
		       : form;
}

/* Of T32 code: which register does the instruction copy? NONE: it does something else. */
static unsigned copied_by(const struct line *line)
{
	if (line->length != 2)
		return NONE;
	if (!(line->word & 0xffc0) || (line->word & 0xffc0) == 0x1c00) /* movs; adds #0 */
		return line->word >> 3 & 7;
	return (line->word & 0xff00) == 0x4600 ? line->word >> 3 & 15 : NONE; /* mov */
}

bool litifut_arm_is_at_most(const struct litifut_image *image, const struct litifut_graph *graph,
			    size_t number, unsigned reg, uint32_t *most)
{
	struct place place = {.image = image, .graph = graph};
	struct fact fact = {.reg = reg, .other = NONE};
	unsigned line;
	bool found;

	enter(&place, number);
	found = is_proved(place, &fact);
	if (!found && is_thumb(&place) && find_writer(&place, reg, &line)) {
		fact.reg = copied_by(&place.lines[line]);
		found = fact.reg != NONE && is_proved(before_line(&place, line), &fact);
	}
	*most = fact.most;
	return found;
}

/* Of unrolled code: so many rounds, at most. Behind a branch a block begins in any case. */
#define ROUNDS_MOST 64
#define BRANCH_BYTES 4

static void add_rounds(const struct litifut_image *image, const struct litifut_code_range *range,
		       uint32_t jump, uint32_t base, uint32_t step, struct litifut_targets *targets)
{
	const struct litifut_symbol *function = litifut_image_function_at(image, jump);

	for (unsigned i = 0; i < (step == BRANCH_BYTES ? 1 : ROUNDS_MOST) && function; i++) {
		const uint32_t address = base + i * step;

		if (address - function->address < function->size && address < range->end)
			litifut_targets_add(targets, address);
	}
}

/* Of what makes the address, up to the jump; a power of 2. */
#define BEFORE_MOST 8

void litifut_arm_add_scaled(const struct litifut_image *image,
			    const struct litifut_section *section,
			    const struct litifut_code_range *range, struct litifut_targets *targets)
{
	const bool thumb = range->state == LITIFUT_CODE_THUMB;
	struct line before[BEFORE_MOST] = {0};
	struct line line;
	unsigned count = 0;

	if (range->state == LITIFUT_CODE_DATA)
		return;
	for (uint32_t at = range->start; read_line(section, thumb, at, range->end, &line);
	     at += line.length) {
		const bool jumps =
			thumb ? line.length == 2 &&
					((line.word & 0xff87) == 0x4687 ||
					 ((line.word & 0xff87) == 0x4700 && line.word != 0x4770))
			      : is_plain_jump(line.word);
		uint32_t label = thumb ? 0 : at + 8;
		uint32_t step = 0;

		for (unsigned i = 0; i < BEFORE_MOST && i < count && jumps; i++) {
			const struct line *each = &before[(count - 1 - i) % BEFORE_MOST];
			const struct parts parts = !thumb ? plain_parts(each->word)
						   : each->length == 2
							   ? narrow_parts(each->word, each->address)
							   : wide_parts(each->word, each->address);

			if (parts.operation == ADDRESS && !label)
				label = parts.value;
			else if (!step && parts.value && parts.value < 16 &&
				 (parts.operation == ADD || (thumb && parts.operation == SHIFT)))
				step = thumb ? 1u << parts.value : 4 + (4u << parts.value);
		}
		if (step && label)
			add_rounds(image, range, at, label, step, targets);
		before[count++ % BEFORE_MOST] = line;
	}
}
