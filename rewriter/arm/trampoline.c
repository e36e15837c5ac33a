/* Trampolines for T32 code, first for a 16-bit `blx rN`.
 *
 * The commonest indirect call of T32 code is two bytes long, a branch to the
 * tracer four. So the branch takes the place of the instruction before as well,
 * and a trampoline does that instruction's work:
 *
 *	site:	mov  r0, r4		site:	b.w  trampoline
 *		blx  r3			back:	...
 *	back:	...
 *				trampoline:	mov  r0, r4
 *						ldr.w lr, =back | 1
 *						b.w  gate
 *
 * With lr set by hand to the original return address, nothing that looks at it
 * later (the callee returning, an unwinder, gdb) can see a difference. lr is
 * free for the trampoline to use before, because the call overwrites it.
 * The flags and all other registers stay as the displaced instruction left them;
 * ADD with a high register sets no flags.
 *
 * Instructions that read the pc get its original value from a literal. A
 * conditional branch before the call (`cbz r3, over; blx r3`) is taken in the
 * trampoline. What else changes the pc can't stand before a call that is
 * reached through it. Nothing in an IT block is moved.
 *
 * A tail call (`b.w f`, `bx r3` at the end of a function) sets no lr, and lr
 * holds the return address of the caller's caller, which the callee needs:
 *
 *	site:	b.w  f			site:	b.w  trampoline
 *
 *				trampoline:	push {lr}
 *						blx  entry	lr = key
 *				key:
 *
 * The entry finds what it needs to know under the key, puts lr and sp back and
 * jumps to f. If the call is conditional, its condition comes before the push;
 * if it is short, the instruction before it moves along as above. In the thunk
 * engine the entry is a thunk, which comes back to the key, and the jump stands
 * there.
 *
 * In `blx lr` (libffi's call of a foreign function) the callee stands where the
 * return address will, and there is no register to spare. It goes to the entry on
 * the stack, where the entry has a word for it:
 *
 *				trampoline:	push {lr}
 *						push {lr}
 *						ldr.w lr, =back | 1
 *						str.w lr, [sp, #4]
 *						b.w  gate
 *
 * Encodings: DDI 0406C A6.2 (16-bit), A6.3 (32-bit). Slightly over 500 lines, because all
 * forms use the same literals. */
#include "rewriter/arm/trampoline.h"

#include "rewriter/arm/arm.h"
#include "rewriter/image.h"

struct emitter {
	uint8_t *code;
	uint32_t address;
	unsigned at;
	uint32_t literals[LITIFUT_ARM_COPIES_MAX];
	unsigned literal_loads[LITIFUT_ARM_COPIES_MAX]; /* offset of the ldr.w that loads each */
	unsigned literal_adds[LITIFUT_ARM_COPIES_MAX];  /* of the `add rN, pc` that completes it */
	unsigned literal_count;
};

uint16_t litifut_arm_condition(uint32_t word, unsigned length)
{
	/* Keep the condition, or the register and the sense; drop the offset. */
	if (length == 2 && (word & 0xf000) == 0xd000 && (word >> 8 & 0xf) < 0xe)
		return word & 0xff00;
	if (length == 2 && (word & 0xf500) == 0xb100)
		return word & 0xfd07;
	if (length == 4 && (word & 0xf800d000) == 0xf0008000 && (word >> 22 & 0xf) < 0xe)
		return (uint16_t)(0xd000 | (word >> 22 & 0xf) << 8);
	return 0;
}

static struct litifut_arm_analysis analyse_narrow(uint16_t half, uint32_t address)
{
	struct litifut_instruction decoded;
	struct cpu_context context = {0};
	uint32_t pc = address + 4;
	uint8_t bytes[2];
	unsigned low = (half & 7) | (half >> 4 & 8);

	litifut_put16(false, bytes, half);
	litifut_arm_decode(&context, bytes, 2, address, LITIFUT_CODE_THUMB, &decoded);
	if (decoded.class == LITIFUT_CLASS_BRANCH_DIRECT && decoded.conditional)
		return (struct litifut_arm_analysis){LITIFUT_ARM_BRANCHES, 0, decoded.target & ~1u,
						     litifut_arm_condition(half, 2)};
	if (decoded.class != LITIFUT_CLASS_OTHER)
		return (struct litifut_arm_analysis){LITIFUT_ARM_STAYS, 0, 0, 0};
	if ((half & 0xf800) == 0x4800) /* LDR (literal), T1 */
		return (struct litifut_arm_analysis){LITIFUT_ARM_LOADS_LITERAL, half >> 8 & 7,
						     (pc & ~3u) + (half & 0xff) * 4, 0};
	if ((half & 0xf800) == 0xa000) /* ADR, T1 */
		return (struct litifut_arm_analysis){LITIFUT_ARM_FORMS_ADDRESS, half >> 8 & 7,
						     (pc & ~3u) + (half & 0xff) * 4, 0};
	if ((half & 0xfc00) == 0x4400) { /* high-register ADD, CMP, MOV */
		bool reads_pc = (half & 0x78) == 0x78;
		bool compares = (half & 0x0300) == 0x0100;

		if (!reads_pc && (low != 15 || compares))
			return (struct litifut_arm_analysis){LITIFUT_ARM_MOVES, 0, 0, 0};
		if (!reads_pc || low >= 13 || compares)
			return (struct litifut_arm_analysis){LITIFUT_ARM_STAYS, 0, 0, 0};
		return (struct litifut_arm_analysis){
			(half & 0x0300) == 0x0200 ? LITIFUT_ARM_FORMS_ADDRESS : LITIFUT_ARM_ADDS_PC,
			low, pc, 0};
	}
	if ((half & 0xff00) == 0xbd00 || (half & 0xff00) == 0xbe00 || /* pop {pc}, bkpt */
	    (half & 0xff00) == 0xde00 || (half & 0xff00) == 0xdf00 || /* udf, svc */
	    ((half & 0xff00) == 0xbf00 && half & 0xf))                /* it */
		return (struct litifut_arm_analysis){LITIFUT_ARM_STAYS, 0, 0, 0};
	return (struct litifut_arm_analysis){LITIFUT_ARM_MOVES, 0, 0, 0};
}

static struct litifut_arm_analysis analyse_wide(uint32_t word, uint32_t address)
{
	static const struct litifut_arm_analysis stays = {LITIFUT_ARM_STAYS, 0, 0, 0};
	struct litifut_instruction decoded;
	struct cpu_context context = {0};
	uint32_t first = word >> 16;
	uint32_t second = word & 0xffff;
	uint32_t aligned_pc = (address + 4) & ~3u;
	unsigned group = first >> 9 & 0x7f; /* top seven bits */
	bool rn_is_pc = (first & 0xf) == 0xf;
	uint8_t bytes[4];

	litifut_put16(false, bytes, (uint16_t)first);
	litifut_put16(false, bytes + 2, (uint16_t)second);
	litifut_arm_decode(&context, bytes, 4, address, LITIFUT_CODE_THUMB, &decoded);
	if (decoded.class == LITIFUT_CLASS_BRANCH_DIRECT && decoded.conditional)
		return (struct litifut_arm_analysis){LITIFUT_ARM_BRANCHES, 0, decoded.target & ~1u,
						     litifut_arm_condition(word, 4)};
	if (decoded.class != LITIFUT_CLASS_OTHER)
		return stays;
	if ((first & 0xff7f) == 0xf85f && second >> 12 < 13) { /* LDR (literal), T2 */
		uint32_t offset = second & 0xfff;

		return (struct litifut_arm_analysis){
			LITIFUT_ARM_LOADS_LITERAL, second >> 12,
			first & 0x80 ? aligned_pc + offset : aligned_pc - offset, 0};
	}
	if ((first & 0xfbff) == 0xf2af || (first & 0xfbff) == 0xf20f) { /* ADR, T2 and T3 */
		uint32_t offset = (first & 0x400) << 1 | (second & 0x7000) >> 4 | (second & 0xff);
		unsigned reg = second >> 8 & 0xf;

		if (reg >= 13)
			return stays;
		return (struct litifut_arm_analysis){
			LITIFUT_ARM_FORMS_ADDRESS, reg,
			first & 0xa0 ? aligned_pc - offset : aligned_pc + offset, 0};
	}
	switch (group) {
	case 0x74: /* 1110100: load/store multiple, dual, exclusive, table branch */
		if (rn_is_pc || (first & 0xfff0) == 0xe8d0) /* tbb, tbh, ldrex and kin */
			return stays;
		if ((first & 0xfe50) == 0xe810) /* ldm, pop: into pc? (rfe stands here as well) */
			return second & 0x8000
				       ? stays
				       : (struct litifut_arm_analysis){LITIFUT_ARM_MOVES, 0, 0, 0};
		break;
	case 0x76: /* 111011x: coprocessor, VFP and NEON loads and stores */
	case 0x77:
		if ((first & 0xef00) < 0xee00 && rn_is_pc)
			return stays;
		break;
	case 0x7c: /* 1111100: single loads and stores, NEON element loads */
		if (rn_is_pc)
			return stays;
		if ((first & 0xff70) == 0xf850 && second >> 12 == 15) /* ldr pc */
			return stays;
		break;
	case 0x79: /* 11110x1: subs pc, lr; msr, hints, barriers otherwise */
	case 0x7b:
		if ((first & 0xfff0) == 0xf3d0 && (second & 0xd000) == 0x8000)
			return stays;
		if ((first & 0xfff0) == 0xf3c0 && (second & 0xd000) == 0x8000) /* bxj */
			return stays;
		break;
	default:
		break;
	}
	return (struct litifut_arm_analysis){LITIFUT_ARM_MOVES, 0, 0, 0};
}

struct litifut_arm_analysis litifut_arm_analyse(const struct litifut_arm_displaced *displaced)
{
	return displaced->length == 2
		       ? analyse_narrow((uint16_t)displaced->instruction, displaced->address)
		       : analyse_wide(displaced->instruction, displaced->address);
}

bool litifut_arm_displaceable(const struct litifut_arm_displaced *displaced)
{
	return litifut_arm_analyse(displaced).treatment != LITIFUT_ARM_STAYS;
}

static void half(struct emitter *emitter, uint16_t value)
{
	litifut_put16(false, emitter->code + emitter->at, value);
	emitter->at += 2;
}

/* rN = value: ldr.w rN, [pc, #...]; add rN, pc */
static void load_value(struct emitter *emitter, unsigned reg, uint32_t value)
{
	emitter->literals[emitter->literal_count] = value;
	emitter->literal_loads[emitter->literal_count] = emitter->at;
	half(emitter, 0xf8df);
	half(emitter, (uint16_t)(reg << 12));
	emitter->literal_adds[emitter->literal_count++] = emitter->at;
	half(emitter, (uint16_t)(0x4478 | (reg & 7) | (reg & 8) << 4));
}

static void branch(struct emitter *emitter, uint32_t target)
{
	litifut_arm_branch_write(emitter->address + emitter->at, target,
				 emitter->code + emitter->at);
	emitter->at += 4;
}

static void finish_literals(struct emitter *emitter)
{
	if (emitter->at & 2)
		half(emitter, 0xbf00);
	for (unsigned i = 0; i < emitter->literal_count; i++) {
		uint32_t load_pc = (emitter->literal_loads[i] + 4) & ~3u;
		uint32_t add_pc = emitter->address + emitter->literal_adds[i] + 4;
		uint8_t *load = emitter->code + emitter->literal_loads[i];

		litifut_put16(false, load + 2,
			      (uint16_t)(litifut_get16(false, load + 2) | (emitter->at - load_pc)));
		litifut_put32(false, emitter->code + emitter->at, emitter->literals[i] - add_pc);
		emitter->at += 4;
	}
}

/* Does what the displaced instruction did; a branch is left without its offset. */
static void emit_displaced(struct emitter *emitter, const struct litifut_arm_displaced *displaced,
			   const struct litifut_arm_analysis *analysis, bool lr_is_free)
{
	switch (analysis->treatment) {
	case LITIFUT_ARM_STAYS:
		break;
	case LITIFUT_ARM_MOVES:
		if (displaced->length == 4)
			half(emitter, (uint16_t)(displaced->instruction >> 16));
		half(emitter, (uint16_t)displaced->instruction);
		break;
	case LITIFUT_ARM_LOADS_LITERAL:
		load_value(emitter, analysis->reg, analysis->value);
		half(emitter, (uint16_t)(0xf8d0 | analysis->reg)); /* ldr.w rN, [rN] */
		half(emitter, (uint16_t)(analysis->reg << 12));
		break;
	case LITIFUT_ARM_FORMS_ADDRESS:
		load_value(emitter, analysis->reg, analysis->value);
		break;
	case LITIFUT_ARM_ADDS_PC:
		if (!lr_is_free)
			half(emitter, 0xb500); /* push {lr} */
		load_value(emitter, 14, analysis->value);
		half(emitter, (uint16_t)(0x4470 | (analysis->reg & 7) | (analysis->reg & 8) << 4));
		if (!lr_is_free) {
			half(emitter, 0xf85d); /* ldr.w lr, [sp], #4 */
			half(emitter, 0xeb04);
		}
		break;
	case LITIFUT_ARM_BRANCHES:
		half(emitter, analysis->branch);
		break;
	}
}

/* Lets the 16-bit branch at `test` go to where the code stands now. */
static void land(struct emitter *emitter, unsigned test, uint16_t branch_without_offset)
{
	unsigned distance = (emitter->at - test - 4) / 2;
	bool compare = (branch_without_offset & 0xf000) == 0xb000;

	litifut_put16(false, emitter->code + test,
		      (uint16_t)(branch_without_offset | (compare ? distance << 3 : distance)));
}

/* The displaced instruction, if there is one, and what it is. */
static struct litifut_arm_analysis
begin(struct emitter *emitter, const struct litifut_arm_displaced *displaced, bool lr_is_free)
{
	struct litifut_arm_analysis analysis = {LITIFUT_ARM_MOVES, 0, 0, 0};

	if (displaced->length) {
		analysis = litifut_arm_analyse(displaced);
		emit_displaced(emitter, displaced, &analysis, lr_is_free);
	}
	return analysis;
}

/* Where it goes if it was a branch, and the literals. Returns the size of all. */
static unsigned finish(struct emitter *emitter, const struct litifut_arm_analysis *analysis)
{
	if (analysis->treatment == LITIFUT_ARM_BRANCHES) {
		land(emitter, 0, analysis->branch);
		branch(emitter, analysis->value);
	}
	finish_literals(emitter);
	return emitter->at;
}

unsigned litifut_arm_trampoline_write(const struct litifut_arm_displaced *displaced,
				      uint32_t address, uint32_t gate, uint8_t *code)
{
	struct emitter emitter = {.code = code, .address = address};
	struct litifut_arm_analysis analysis;
	uint32_t back = displaced->address + displaced->length + 2;

	analysis = begin(&emitter, displaced, true);
	load_value(&emitter, 14, back | 1);
	branch(&emitter, gate);
	return finish(&emitter, &analysis);
}

unsigned litifut_arm_lr_write(const struct litifut_arm_displaced *displaced, uint32_t address,
			      uint32_t gate, uint8_t *code, unsigned *pushed)
{
	struct emitter emitter = {.code = code, .address = address};
	struct litifut_arm_analysis analysis;
	uint32_t back = displaced->address + displaced->length + 2;

	analysis = begin(&emitter, displaced, false);
	*pushed = emitter.at;
	half(&emitter, 0xb500); /* push {lr} */
	half(&emitter, 0xb500);
	load_value(&emitter, 14, back | 1);
	half(&emitter, 0xf8cd); /* str.w lr, [sp, #4] */
	half(&emitter, 0xe004);
	branch(&emitter, gate);
	return finish(&emitter, &analysis);
}

unsigned litifut_arm_lr_write_plain(uint32_t back, uint32_t address, uint32_t entry, uint8_t *code)
{
	uint32_t offset = entry - (address + 20 + 8);
	const uint32_t words[] = {
		0xe52de004, /* push {lr} */
		0xe52de004,
		0xe59fe008, /* ldr lr, [pc, #8] */
		0xe08fe00e, /* add lr, pc, lr */
		0xe58de004, /* str lr, [sp, #4] */
		0xea000000 | (offset >> 2 & 0xffffff),
		back - (address + 12 + 8),
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		litifut_put32(false, code + 4 * i, words[i]);
	return offset + (1u << 25) < 1u << 26 ? sizeof(words) : 0;
}

bool litifut_arm_copyable(const struct litifut_arm_displaced *displaced)
{
	struct litifut_arm_analysis analysis = litifut_arm_analyse(displaced);

	return analysis.treatment == LITIFUT_ARM_MOVES ||
	       analysis.treatment == LITIFUT_ARM_LOADS_LITERAL ||
	       analysis.treatment == LITIFUT_ARM_FORMS_ADDRESS;
}

unsigned litifut_arm_copies_write(const struct litifut_arm_displaced *displaced, unsigned count,
				  uint32_t back, uint32_t address, uint8_t *code)
{
	struct emitter emitter = {.code = code, .address = address};

	for (unsigned i = 0; i < count; i++) {
		struct litifut_arm_analysis analysis = litifut_arm_analyse(&displaced[i]);

		emit_displaced(&emitter, &displaced[i], &analysis, false);
	}
	branch(&emitter, back);
	finish_literals(&emitter);
	return emitter.at;
}

/* The target of an unconditional branch; 0: it is none. */
static uint32_t jump_target(const struct litifut_arm_displaced *displaced)
{
	static const struct cpu_context context = {0};
	struct litifut_instruction decoded;
	uint8_t bytes[4];

	litifut_put16(false, bytes,
		      (uint16_t)(displaced->length == 2 ? displaced->instruction
							: displaced->instruction >> 16));
	litifut_put16(false, bytes + 2, (uint16_t)displaced->instruction);
	litifut_arm_decode(&context, bytes, displaced->length, displaced->address,
			   LITIFUT_CODE_THUMB, &decoded);
	return decoded.class == LITIFUT_CLASS_BRANCH_DIRECT && !decoded.conditional
		       ? decoded.target & ~1u
		       : 0;
}

unsigned litifut_arm_return_write(const struct litifut_arm_displaced *displaced, unsigned count,
				  uint32_t back, uint32_t address, uint32_t thunk, uint8_t *code)
{
	static const struct cpu_context context = {0};
	static const struct litifut_instruction call = {.length = 4, .thumb = true};
	struct emitter emitter = {.code = code, .address = address, .at = 4};
	struct litifut_arm_analysis analysis = {LITIFUT_ARM_MOVES, 0, 0, 0};
	unsigned test = 0;

	if (!litifut_arm_encode_call(&context, &call, address, thunk, code))
		return 0;
	for (unsigned i = 0; i < count; i++) {
		uint32_t target = jump_target(&displaced[i]);

		analysis = litifut_arm_analyse(&displaced[i]);
		test = emitter.at;
		if (target) {
			if (!litifut_arm_branch_write(address + emitter.at, target,
						      code + emitter.at))
				return 0;
			emitter.at += 4;
			continue;
		}
		if (analysis.treatment == LITIFUT_ARM_STAYS)
			analysis.treatment = LITIFUT_ARM_MOVES; /* it loads the pc */
		emit_displaced(&emitter, &displaced[i], &analysis, true);
	}
	if (back) {
		if (!litifut_arm_branch_write(address + emitter.at, back, code + emitter.at))
			return 0;
		emitter.at += 4;
	}
	if (count && analysis.treatment == LITIFUT_ARM_BRANCHES) {
		land(&emitter, test, analysis.branch);
		if (!litifut_arm_branch_write(address + emitter.at, analysis.value,
					      code + emitter.at))
			return 0;
		emitter.at += 4;
	}
	finish_literals(&emitter);
	return emitter.at;
}

unsigned litifut_arm_tail_write(const struct litifut_arm_displaced *displaced,
				struct litifut_arm_tail *tail, uint32_t address, uint8_t *code)
{
	static const struct cpu_context context = {0};
	static const struct litifut_instruction call = {.length = 4, .thumb = true};
	struct emitter emitter = {.code = code, .address = address};
	struct litifut_arm_analysis analysis;
	unsigned test;

	analysis = begin(&emitter, displaced, false);
	if (tail->branch) {
		test = emitter.at;
		half(&emitter, tail->branch);
		branch(&emitter, tail->back);
		land(&emitter, test, tail->branch);
	}
	half(&emitter, 0xb500); /* push {lr} */
	tail->pushed = emitter.at;
	if (!litifut_arm_encode_call(&context, &call, address + emitter.at, tail->entry,
				     code + emitter.at))
		return 0;
	emitter.at += 4;
	tail->link = (address + emitter.at) | 1;
	if (tail->goes_on && tail->callee) {
		if (!litifut_arm_branch_write(address + emitter.at, tail->callee & ~1u,
					      code + emitter.at))
			return 0;
		emitter.at += 4;
	} else if (tail->goes_on) {
		half(&emitter, (uint16_t)(0x4700 | tail->callee_register << 3)); /* bx rN */
	}
	return finish(&emitter, &analysis);
}

bool litifut_arm_branch_write(uint32_t address, uint32_t target, uint8_t *code)
{
	uint32_t offset = target - (address + 4);
	uint32_t s = offset >> 24 & 1;
	uint32_t j1 = !(offset >> 23 & 1) ^ s;
	uint32_t j2 = !(offset >> 22 & 1) ^ s;

	if (offset + (1u << 24) >= 1u << 25)
		return false;
	litifut_put16(false, code, (uint16_t)(0xf000 | s << 10 | (offset >> 12 & 0x3ff)));
	litifut_put16(false, code + 2,
		      (uint16_t)(0x9000 | j1 << 13 | j2 << 11 | (offset >> 1 & 0x7ff)));
	return true;
}

/*  0  bx  pc        to A32, at 4
 *  2  nop
 *  4  b   entry     the gate stands beside the tracer: in reach */
static void write_gate(uint32_t address, uint32_t entry, uint8_t *code)
{
	litifut_put16(false, code, 0x4778);
	litifut_put16(false, code + 2, 0xbf00);
	litifut_put32(false, code + 4, 0xea000000 | ((entry - (address + 4 + 8)) >> 2 & 0xffffff));
}

void litifut_arm_gate_write(uint32_t address, uint32_t entry, uint32_t entry_lr, uint8_t *code)
{
	write_gate(address, entry, code);
	write_gate(address + LITIFUT_ARM_GATE_LR, entry_lr, code + LITIFUT_ARM_GATE_LR);
}
