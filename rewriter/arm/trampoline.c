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

#include "cpu/arm/effect.h"
#include "rewriter/arm/arm.h"
#include "rewriter/arm/emitter.h"
#include "rewriter/exit_point.h"
#include "rewriter/image.h"

bool litifut_arm_displaceable(const struct litifut_arm_displaced *displaced)
{
	return litifut_arm_analyse(displaced).treatment != LITIFUT_ARM_STAYS;
}

/* The displaced instruction, if there is one, and what it is. */
static struct litifut_arm_analysis begin(struct litifut_arm_emitter *emitter,
					 const struct litifut_arm_displaced *displaced,
					 bool lr_is_free)
{
	struct litifut_arm_analysis analysis = {LITIFUT_ARM_MOVES, 0, 0, 0};

	if (displaced->length) {
		analysis = litifut_arm_analyse(displaced);
		litifut_arm_put_displaced(emitter, displaced, &analysis, lr_is_free);
	}
	return analysis;
}

/* Where it goes if it was a branch, and the literals. Returns the size of all. */
static unsigned finish(struct litifut_arm_emitter *emitter,
		       const struct litifut_arm_analysis *analysis)
{
	if (analysis->treatment == LITIFUT_ARM_BRANCHES) {
		litifut_arm_land(emitter, 0, analysis->branch);
		litifut_arm_put_branch(emitter, analysis->value);
	}
	litifut_arm_put_literals(emitter);
	return emitter->at;
}

unsigned litifut_arm_trampoline_write(const struct litifut_arm_displaced *displaced,
				      uint32_t address, uint32_t gate, uint8_t *code)
{
	struct litifut_arm_emitter emitter = {.code = code, .address = address};
	struct litifut_arm_analysis analysis;
	uint32_t back = displaced->address + displaced->length + 2;

	analysis = begin(&emitter, displaced, true);
	litifut_arm_put_value(&emitter, 14, back | 1);
	litifut_arm_put_branch(&emitter, gate);
	return finish(&emitter, &analysis);
}

unsigned litifut_arm_lr_write(const struct litifut_arm_displaced *displaced, uint32_t address,
			      uint32_t gate, uint8_t *code, unsigned *pushed)
{
	struct litifut_arm_emitter emitter = {.code = code, .address = address};
	struct litifut_arm_analysis analysis;
	uint32_t back = displaced->address + displaced->length + 2;

	analysis = begin(&emitter, displaced, false);
	*pushed = emitter.at;
	litifut_arm_put(&emitter, 0xb500); /* push {lr} */
	litifut_arm_put(&emitter, 0xb500);
	litifut_arm_put_value(&emitter, 14, back | 1);
	litifut_arm_put(&emitter, 0xf8cd); /* str.w lr, [sp, #4] */
	litifut_arm_put(&emitter, 0xe004);
	litifut_arm_put_branch(&emitter, gate);
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
	       analysis.treatment == LITIFUT_ARM_LOADS_PAIR ||
	       analysis.treatment == LITIFUT_ARM_FORMS_ADDRESS;
}

unsigned litifut_arm_copies_write(const struct litifut_arm_displaced *displaced, unsigned count,
				  uint32_t back, bool links, uint32_t address, uint8_t *code)
{
	struct litifut_arm_emitter emitter = {.code = code, .address = address, .narrow = links};

	for (unsigned i = 0; i < count; i++) {
		struct litifut_arm_analysis analysis = litifut_arm_analyse(&displaced[i]);

		litifut_arm_put_displaced(&emitter, &displaced[i], &analysis, false);
	}
	litifut_arm_put_branch(&emitter, back);
	if (links)
		litifut_arm_set_link(emitter.code + emitter.at - 4);
	litifut_arm_put_literals(&emitter);
	return emitter.at;
}

/* The target of an unconditional branch; 0: it is not such a branch. */
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
				  uint32_t back, uint32_t address, uint32_t thunk, uint8_t *code,
				  const struct litifut_exits *exits, uint32_t *inner)
{
	static const struct cpu_context context = {0};
	static const struct litifut_instruction call = {.length = 4, .thumb = true};
	struct litifut_arm_emitter emitter = {.code = code, .address = address, .at = 4};
	struct litifut_arm_analysis tests[LITIFUT_ARM_RETURN_INSTRUCTIONS];
	unsigned test_at[LITIFUT_ARM_RETURN_INSTRUCTIONS];
	unsigned test_count = 0;
	bool lr_is_free = true;
	uint32_t stands_at = 0;

	if (!litifut_arm_encode_call(&context, &call, address, thunk, code))
		return 0;
	for (unsigned i = 0; i < count; i++) {
		const struct litifut_arm_displaced *each = &displaced[i];
		const uint32_t target = jump_target(each);
		struct litifut_arm_analysis analysis = litifut_arm_analyse(each);

		if (*inner && each->address == *inner)
			stands_at = address + emitter.at;
		if (target) {
			if (!litifut_arm_branch_write(address + emitter.at,
						      litifut_exits_led(exits, target),
						      code + emitter.at))
				return 0;
			emitter.at += 4;
			continue;
		}
		if (analysis.treatment == LITIFUT_ARM_STAYS)
			analysis.treatment = LITIFUT_ARM_MOVES; /* it loads the pc */
		if (analysis.treatment == LITIFUT_ARM_BRANCHES) {
			tests[test_count] = analysis;
			test_at[test_count++] = emitter.at;
		}
		litifut_arm_put_displaced(&emitter, each, &analysis, lr_is_free);
		if (litifut_arm_thumb_effect(each->instruction, each->length, each->address)
			    .written &
		    1u << 14)
			lr_is_free = false;
	}
	if (back) {
		if (!litifut_arm_branch_write(address + emitter.at, back, code + emitter.at))
			return 0;
		emitter.at += 4;
	}
	for (unsigned i = 0; i < test_count; i++) {
		if (emitter.at - test_at[i] > 126) /* as far as cbz gets */
			return 0;
		litifut_arm_land(&emitter, test_at[i], tests[i].branch);
		if (!litifut_arm_branch_write(address + emitter.at,
					      litifut_exits_led(exits, tests[i].value),
					      code + emitter.at))
			return 0;
		emitter.at += 4;
	}
	litifut_arm_put_literals(&emitter);
	*inner = stands_at;
	return emitter.at;
}

unsigned litifut_arm_tail_write(const struct litifut_arm_displaced *displaced,
				struct litifut_arm_tail *tail, uint32_t address, uint8_t *code)
{
	static const struct cpu_context context = {0};
	static const struct litifut_instruction call = {.length = 4, .thumb = true};
	struct litifut_arm_emitter emitter = {.code = code, .address = address};
	struct litifut_arm_analysis analysis;
	unsigned test;

	analysis = begin(&emitter, displaced, false);
	if (tail->branch) {
		test = emitter.at;
		litifut_arm_put(&emitter, tail->branch);
		litifut_arm_put_branch(&emitter, tail->back);
		litifut_arm_land(&emitter, test, tail->branch);
	}
	litifut_arm_put(&emitter, 0xb500); /* push {lr} */
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
		litifut_arm_put(&emitter,
				(uint16_t)(0x4700 | tail->callee_register << 3)); /* bx rN */
	}
	return finish(&emitter, &analysis);
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
