/* Encodings: DDI 0406C A6.2 and A6.3 (T32), A5 (A32), A7 (VFP loads and stores). */
#include "cpu/arm/effect.h"

#include "cpu/arm/arm.h"

#define SP 13
#define LR 14
#define PC 15

static unsigned count_bits(uint32_t word)
{
	unsigned count = 0;

	for (; word; word &= word - 1)
		count++;
	return count;
}

static uint32_t bit(unsigned reg)
{
	return 1u << reg;
}

static struct litifut_arm_effect writes(unsigned reg)
{
	return (struct litifut_arm_effect){.written = bit(reg),
					   .copied = LITIFUT_ARM_NO_REGISTER,
					   .base = LITIFUT_ARM_NO_REGISTER};
}

static struct litifut_arm_effect nothing(void)
{
	struct litifut_arm_effect effect = writes(0);

	effect.written = 0;
	return effect;
}

static struct litifut_arm_effect adds(unsigned reg, unsigned left, unsigned right)
{
	struct litifut_arm_effect effect = writes(reg);

	effect.adds = true;
	effect.operands[0] = left;
	effect.operands[1] = right;
	return effect;
}

static struct litifut_arm_effect adds_number(unsigned reg, unsigned to, uint32_t number)
{
	struct litifut_arm_effect effect = writes(reg);

	effect.adds_number = true;
	effect.operands[0] = to;
	effect.value = number;
	return effect;
}

static struct litifut_arm_effect copies(unsigned reg, unsigned from)
{
	struct litifut_arm_effect effect = writes(reg);

	effect.copied = from;
	return effect;
}

static struct litifut_arm_effect loads(unsigned reg, unsigned base)
{
	struct litifut_arm_effect effect = writes(reg);

	effect.base = base;
	effect.restores_lr = reg == LR && base == SP;
	return effect;
}

static struct litifut_arm_effect loads_literal(unsigned reg, uint32_t address)
{
	struct litifut_arm_effect effect = writes(reg);

	effect.loads_literal = true;
	effect.value = address;
	return effect;
}

static struct litifut_arm_effect forms_address(unsigned reg, uint32_t address)
{
	struct litifut_arm_effect effect = writes(reg);

	effect.forms_address = true;
	effect.value = address;
	return effect;
}

static struct litifut_arm_effect moves_stack(uint32_t written, enum litifut_arm_stack_effect kind,
					     int32_t change)
{
	struct litifut_arm_effect effect = nothing();

	effect.written = written;
	effect.restores_lr = kind == LITIFUT_ARM_STACK_POPPED && written & bit(LR);
	effect.stack = kind;
	effect.stack_change = change;
	return effect;
}

/* Whatever else changes the stack pointer. */
static struct litifut_arm_effect with_stack(struct litifut_arm_effect effect)
{
	if (effect.written & bit(SP) && !effect.stack)
		effect.stack = LITIFUT_ARM_STACK_LOST;
	return effect;
}

static struct litifut_arm_effect narrow(uint32_t half, uint32_t address)
{
	unsigned low = half & 7;
	unsigned middle = half >> 3 & 7;
	unsigned high = half >> 8 & 7;
	unsigned any = (half & 7) | (half >> 4 & 8);
	unsigned operation = half >> 9 & 7;

	if (half < 0x1800) /* shifts by numbers, movs */
		return half >> 6 ? writes(low) : copies(low, middle);
	if (half < 0x1c00)
		return adds(low, middle, half >> 6 & 7);
	if (half < 0x2000)
		return adds_number(low, middle, half & 0x200 ? -(half >> 6 & 7) : half >> 6 & 7);
	if (half < 0x3000)
		return (half & 0xf800) == 0x2800 ? nothing() : writes(high);
	if (half < 0x4000)
		return adds_number(high, high, half & 0x800 ? -(half & 0xff) : half & 0xff);
	if (half < 0x4400) /* all but tst, cmp, cmn */
		return (half & 0x03c0) == 0x0200 || (half & 0x0380) == 0x0280 ? nothing()
									      : writes(low);
	if ((half & 0xff00) == 0x4400)
		return adds(any, any, half >> 3 & 15);
	if ((half & 0xff00) == 0x4600)
		return (half >> 3 & 15) == PC ? forms_address(any, address + 4)
					      : copies(any, half >> 3 & 15);
	if ((half & 0xff00) == 0x4700 || (half & 0xff00) == 0x4500)
		return nothing();
	if (half < 0x5000)
		return loads_literal(high, ((address + 4) & ~3u) + (half & 0xff) * 4);
	if (half < 0x6000)
		return operation >= 3 ? loads(low, middle) : nothing();
	if (half < 0x9000)
		return half & 0x0800 ? loads(low, middle) : nothing();
	if (half < 0xa000)
		return half & 0x0800 ? loads(high, SP) : nothing();
	if (half < 0xa800)
		return forms_address(high, ((address + 4) & ~3u) + (half & 0xff) * 4);
	if (half < 0xb000)
		return writes(high);
	if ((half & 0xff00) == 0xb000)
		return moves_stack(bit(SP), LITIFUT_ARM_STACK_MOVES,
				   (int32_t)(half & 0x7f) * (half & 0x80 ? -4 : 4));
	if ((half & 0xfe00) == 0xb400)
		return moves_stack(bit(SP), LITIFUT_ARM_STACK_MOVES,
				   -4 * (int32_t)count_bits(half & 0x1ff));
	if ((half & 0xfe00) == 0xbc00)
		return moves_stack(bit(SP) | (half & 0xff), LITIFUT_ARM_STACK_POPPED,
				   4 * (int32_t)count_bits(half & 0x1ff));
	if ((half & 0xff00) == 0xb200 || (half & 0xff00) == 0xba00)
		return writes(low);
	if ((half & 0xf800) == 0xc800) { /* ldm */
		struct litifut_arm_effect effect = nothing();

		effect.written = (half & 0xff) | bit(high);
		return effect;
	}
	return nothing();
}

/* Loads and stores of more registers than one; both encodings have the same fields. */
static struct litifut_arm_effect multiple(bool load, bool down, bool writes_back, unsigned base,
					  uint32_t list)
{
	struct litifut_arm_effect effect = nothing();

	if (base == SP && writes_back && load != down)
		return moves_stack(bit(SP) | (load ? list : 0),
				   load ? LITIFUT_ARM_STACK_POPPED : LITIFUT_ARM_STACK_MOVES,
				   (int32_t)count_bits(list) * (load ? 4 : -4));
	effect.written = (load ? list : 0) | (writes_back ? bit(base) : 0);
	effect.restores_lr = load && base == SP && list & bit(LR);
	if (load && list & bit(SP))
		effect.stack = LITIFUT_ARM_STACK_FRAME;
	return with_stack(effect);
}

/* A load or store of one or two registers, by the same fields. */
static struct litifut_arm_effect single(bool load, uint32_t registers, unsigned base, bool before,
					bool writes_back, int32_t offset)
{
	struct litifut_arm_effect effect = loads(0, base);

	effect.written = load ? registers : 0;
	effect.restores_lr = load && base == SP && registers & bit(LR);
	if (before && !writes_back)
		return with_stack(effect);
	if (base == SP && load != before)
		return moves_stack(bit(SP) | effect.written,
				   load ? LITIFUT_ARM_STACK_POPPED : LITIFUT_ARM_STACK_MOVES,
				   offset);
	effect.written |= bit(base);
	return with_stack(effect);
}

/* vpush, vpop, and other loads and stores of a coprocessor that change the register with the
 * address: the same but for the first byte in both encodings. */
static bool moves_address(uint32_t word, struct litifut_arm_effect *effect)
{
	if ((word & 0x0fbf0e00) == 0x0d2d0a00)
		*effect =
			moves_stack(bit(SP), LITIFUT_ARM_STACK_MOVES, -4 * (int32_t)(word & 0xff));
	else if ((word & 0x0fbf0e00) == 0x0cbd0a00)
		*effect =
			moves_stack(bit(SP), LITIFUT_ARM_STACK_POPPED, 4 * (int32_t)(word & 0xff));
	else if ((word & 0x0e200000) == 0x0c200000)
		effect->written = bit(word >> 16 & 15);
	else
		return false;
	return true;
}

static int32_t with_sign(uint32_t word, uint32_t up, uint32_t offset)
{
	return word & up ? (int32_t)offset : -(int32_t)offset;
}

static struct litifut_arm_effect wide_memory(uint32_t word, uint32_t address)
{
	unsigned base = word >> 16 & 15;
	unsigned reg = word >> 12 & 15;
	bool load = word & 1u << 20;

	if ((word & 0xfe400000) == 0xe8000000)
		return multiple(load, word & 1u << 24, word & 1u << 21, base, word & 0xffff);
	if ((word & 0xfe400000) == 0xe8400000) { /* two registers, exclusives, tables */
		if (!(word & 0x01200000))        /* exclusives */
			return load ? loads(reg, base) : writes(word & 15);
		return single(load, bit(reg) | bit(word >> 8 & 15), base, word & 1u << 24,
			      word & 1u << 21, with_sign(word, 1u << 23, (word & 0xff) * 4));
	}
	if (load && reg == PC) /* preload, or a branch */
		return nothing();
	if (base == PC)
		return loads_literal(reg,
				     ((address + 4) & ~3u) +
					     (uint32_t)with_sign(word, 1u << 23, word & 0xfff));
	if (word & 1u << 23 || !(word & 0x800)) /* 12 bits, or a register */
		return load ? with_stack(loads(reg, base)) : nothing();
	return single(load, bit(reg), base, word & 0x400, word & 0x100,
		      with_sign(word, 0x200, word & 0xff));
}

/* ThumbExpandImm, A6.3.2 */
static uint32_t expanded(uint32_t number)
{
	static const uint32_t patterns[] = {1, 0x00010001, 0x01000100, 0x01010101};
	unsigned by = number >> 7;

	if (number < 0x400)
		return (number & 0xff) * patterns[number >> 8];
	return (0x80 | (number & 0x7f)) >> by | (0x80 | (number & 0x7f)) << (32 - by);
}

static struct litifut_arm_effect wide_number(uint32_t word, uint32_t address)
{
	unsigned base = word >> 16 & 15;
	unsigned reg = word >> 8 & 15;
	uint32_t number = (word & 0xff) | (word >> 4 & 0x700) | (word >> 15 & 0x800);
	bool plain = word & 1u << 25;
	unsigned operation = word >> 21 & 15;
	struct litifut_arm_effect effect = writes(reg);

	if (plain && (operation == 2 || operation == 6)) { /* movw, movt */
		effect.is_constant = true;
		effect.is_upper_half = operation == 6;
		effect.value = number | base << 12;
		return effect;
	}
	if (plain && base == PC && (operation == 0 || operation == 5)) /* adr */
		return forms_address(reg, ((address + 4) & ~3u) + (operation ? -number : number));
	if (reg == PC) /* a comparison */
		return nothing();
	number = plain ? number : expanded(number);
	if (reg == SP && base == SP &&
	    (operation == (plain ? 0 : 8) || operation == (plain ? 5 : 13)))
		return moves_stack(bit(SP), LITIFUT_ARM_STACK_MOVES,
				   operation == (plain ? 0 : 8) ? (int32_t)number
								: -(int32_t)number);
	if (operation == (plain ? 0 : 8) || operation == (plain ? 5 : 13))
		return with_stack(
			adds_number(reg, base, operation == (plain ? 0 : 8) ? number : -number));
	/* orr with 1: the bit of T32 code is set in an address */
	if (!plain && operation == 2 && base != PC && number == 1)
		return with_stack(copies(reg, base));
	return with_stack(effect);
}

static struct litifut_arm_effect wide(uint32_t word, uint32_t address)
{
	unsigned reg = word >> 8 & 15;
	unsigned operation = word >> 21 & 15;
	struct litifut_arm_effect effect = nothing();

	switch (word >> 25 & 0x7f) {
	case 0x74:
		return wide_memory(word, address);
	case 0x7c:
		if ((word & 0xff100000) == 0xf9000000) /* NEON */
			return nothing();
		return wide_memory(word, address);
	case 0x75: /* registers, one of them shifted */
		if (reg == PC)
			return nothing();
		if (operation == 8 || operation == 13 || operation == 14)
			return with_stack(adds(reg, word >> 16 & 15, word & 15));
		if ((word & 0xfff0000d) == 0xea50000d) { /* shifts of pairs, v8.1-M */
			effect.written = bit(reg) | bit(word >> 16 & 14);
			return effect;
		}
		if (operation == 2 && (word & 0x000ff0f0) == 0x000f0000)
			return with_stack(copies(reg, word & 15));
		return with_stack(writes(reg));
	case 0x76:
	case 0x77: /* VFP; vmov and mrc to a register */
		if (moves_address(word, &effect))
			return effect;
		if ((word & 0xff100010) == 0xee100010 && (word >> 12 & 15) != PC)
			return writes(word >> 12 & 15);
		/* sums of vectors, v8.1-M: all that may be a register */
		if ((word & 0xef000e10) == 0xee000e00)
			effect.written = (bit(word >> 12 & 15) | bit(word >> 16 & 14) |
					  bit((word >> 19 & 14) | 1)) &
					 0x1fff;
		if ((word & 0xfff00000) == 0xec500000)
			effect.written = bit(word >> 12 & 15) | bit(word >> 16 & 15);
		return effect;
	case 0x78:
	case 0x7a:
	case 0x79:
	case 0x7b:
		if (litifut_arm_ends_loop(word) || litifut_arm_begins_loop(word) ||
		    ((word & 0xff80ffff) == 0xf000e001 && (word >> 16 & 15) != PC)) /* dls */
			return writes(LR);
		return word & 0x8000 ? nothing() : wide_number(word, address);
	case 0x7d: /* registers, multiplications */
		effect.written =
			bit(reg) | ((word & 0xff800000) == 0xfb800000 ? bit(word >> 12 & 15) : 0);
		return effect;
	default:
		return nothing();
	}
}

struct litifut_arm_effect litifut_arm_thumb_effect(uint32_t word, unsigned length, uint32_t address)
{
	return with_stack(length == 2 ? narrow(word, address) : wide(word, address));
}

static uint32_t rotated(uint32_t word)
{
	unsigned by = word >> 7 & 30;
	uint32_t value = word & 0xff;

	return by ? value >> by | value << (32 - by) : value;
}

/* A5.2.1 to A5.2.4: and, eor, sub, rsb, add, adc, sbc, rsc, the four comparisons (with
 * other instructions in their place), orr, mov, bic, mvn. */
static struct litifut_arm_effect plain_data(uint32_t word, uint32_t address)
{
	unsigned reg = word >> 12 & 15;
	unsigned base = word >> 16 & 15;
	unsigned operation = word >> 21 & 15;
	bool immediate = word & 1u << 25;
	bool difference = operation == 2 || operation == 3;
	bool sum = operation == 4;

	if (operation >= 8 && operation < 12) {
		struct litifut_arm_effect effect = writes(reg);

		effect.is_constant = immediate && !(word & 1u << 20) && !(operation & 1);
		effect.is_upper_half = operation == 10;
		effect.value = (word & 0xfff) | base << 12;
		if (effect.is_constant) /* movw, movt */
			return effect;
		if (!immediate && (word & 0x0fff0ff0) == 0x016f0f10) /* clz */
			return writes(reg);
		if (!immediate && (word & 0x0fbf0fff) == 0x010f0000) /* mrs */
			return writes(reg);
		return nothing();
	}
	if (reg == PC)
		return nothing();
	if (immediate && base == PC && (sum || operation == 2))
		return forms_address(reg, address + 8 + (sum ? rotated(word) : -rotated(word)));
	if (immediate && reg == SP && base == SP && (sum || operation == 2))
		return moves_stack(bit(SP), LITIFUT_ARM_STACK_MOVES,
				   sum ? (int32_t)rotated(word) : -(int32_t)rotated(word));
	if (immediate && (sum || operation == 2))
		return adds_number(reg, base, sum ? rotated(word) : -rotated(word));
	if (!immediate && (sum || difference))
		return adds(reg, base, word & 15);
	if ((word & 0x0fef0ff0) == 0x01a00000)
		return (word & 15) == PC ? forms_address(reg, address + 8) : copies(reg, word & 15);
	return writes(reg);
}

static struct litifut_arm_effect plain_memory(uint32_t word, uint32_t address)
{
	unsigned base = word >> 16 & 15;
	unsigned reg = word >> 12 & 15;
	bool load = word & 1u << 20;
	bool before = word & 1u << 24;
	bool by_number = !(word & 1u << 25);
	int32_t offset = with_sign(word, 1u << 23, word & 0xfff);

	if (load && reg == PC)
		return nothing();
	if (by_number && base == PC && before && load)
		return loads_literal(reg, address + 8 + (uint32_t)offset);
	return single(load, bit(reg), base, before, word & 1u << 21, by_number ? offset : 0);
}

/* Multiplications, exclusives, halfwords, signed bytes and pairs: A5.2.5 to A5.2.10. */
static struct litifut_arm_effect plain_other(uint32_t word)
{
	unsigned base = word >> 16 & 15;
	unsigned reg = word >> 12 & 15;
	struct litifut_arm_effect effect = nothing();

	if ((word & 0xf0) == 0x90) {
		if (word & 1u << 24) /* exclusives: the loaded value, or what became of it */
			effect.written = bit(reg);
		else
			effect.written = bit(base) | (word & 1u << 23 ? bit(reg) : 0);
		return with_stack(effect);
	}
	bool pair = !(word & 1u << 20) && (word & 0xd0) == 0xd0;
	bool load = word & 1u << 20 || (word & 0xf0) == 0xd0;
	uint32_t number = word & 1u << 22 ? (word & 15) | (word >> 4 & 0xf0) : 0;

	return single(load, bit(reg) | (pair ? bit((reg + 1) & 15) : 0), base, word & 1u << 24,
		      word & 1u << 21, with_sign(word, 1u << 23, number));
}

struct litifut_arm_effect litifut_arm_plain_effect(uint32_t word, uint32_t address)
{
	struct litifut_arm_effect effect = nothing();

	if (word >> 28 == 15)
		return effect;
	switch (word >> 25 & 7) {
	case 0:
		if ((word & 0x90) == 0x90)
			return plain_other(word);
		if ((word & 0x0fffffd0) == 0x012fff10) /* bx, blx */
			return effect;
		return with_stack(plain_data(word, address));
	case 1:
		return with_stack(plain_data(word, address));
	case 3:
		if (word & 0x10) { /* media */
			effect.written = bit((word & 0x0f800000) == 0x07000000 ? word >> 16 & 15
									       : word >> 12 & 15);
			return effect;
		}
		return plain_memory(word, address);
	case 2:
		return plain_memory(word, address);
	case 4:
		return multiple(word & 1u << 20, word & 1u << 24, word & 1u << 21, word >> 16 & 15,
				word & 0xffff);
	case 6:
		if (moves_address(word, &effect))
			return with_stack(effect);
		if ((word & 0x0ff00000) == 0x0c500000)
			effect.written = bit(word >> 12 & 15) | bit(word >> 16 & 15);
		return effect;
	case 7:
		if ((word & 0x0f100010) == 0x0e100010 && (word >> 12 & 15) != PC)
			effect.written = bit(word >> 12 & 15);
		return effect;
	default:
		return effect;
	}
}
