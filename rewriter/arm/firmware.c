/* Stubs for firmware on Cortex-M: one for each call site. All code is T32.
 *
 * A call whose callee is known keeps its `bl`, which now leads to its stub, so that lr is
 * what the call made it. For speed, on v7-M and v8-M Mainline (32 bytes) and on v6-M and
 * v8-M Baseline (36 bytes):
 *
 *	push	{r0, r1, r2}		push	{r0, r1, r2}
 *	ldr	r0, =counter		ldr	r0, =counter
 *   1:	ldrex	r1, [r0]		mrs	r2, PRIMASK
 *	add.w	r1, r1, #1		cpsid	i
 *	strex	r2, r1, [r0]		ldr	r1, [r0]
 *	cbnz	r2, 2f			adds	r1, #1
 *	pop	{r0, r1, r2}		str	r1, [r0]
 *	b.w	callee			msr	PRIMASK, r2
 *   2:	b	1b			ldr	r2, [sp, #8]
 *					ldr	r0, =callee | 1
 *					str	r0, [sp, #8]
 *					pop	{r0, r1, pc}
 *
 * Where no branch reaches the callee, `ldr pc, =callee | 1` stands in the place of the `b.w`.
 *
 * For size (12 bytes), see tracer/arm/firmware/count_small.S:
 *
 *	push	{r0, lr}
 *	bl	litifut_count_small
 *	.hword	number
 *	.word	callee | 1
 *
 * A call through a register, `blx rN`, has 2 bytes, a branch 4. So the instruction before it
 * moves to the stub. Where all of T32 is there, that is reached by `b.w`, and sets lr by
 * itself; elsewhere a `bl`, which ends where the `blx` did, leaves the same in lr, and the
 * instruction that moved must not use lr. stone.c has the last resort, for calls whose
 * neighbours can't move; their stubs set lr first, on v6-M by way of r0. A tail call is a `b.w` to
 * its stub in the same way, on v6-M a stone. The counting of calls through a register is in
 * tracer/arm/firmware/count_pointer.S.
 *
 * Encodings: DDI 0403E A7.7, DDI 0419E A6.7. More than 500 lines, because the stubs of both
 * architectures and what they displace share one emitter. */
#include "rewriter/firmware_cpu.h"

#include <elf.h>
#include <litifut/firmware_pool.h>
#include <string.h>

#include "rewriter/arm/arm.h"
#include "rewriter/arm/detour.h"
#include "rewriter/arm/pointed_callee.h"
#include "rewriter/arm/return_kept.h"
#include "rewriter/arm/stone.h"
#include "rewriter/arm/table_call.h"
#include "rewriter/arm/tasks.h"
#include "rewriter/arm/trampoline.h"
#include "rewriter/arm/vectors.h"

#define LR 14
#define PC 15
/* The runtime for CPUs with the small instruction set. */
#define BASELINE "v6m"
/* A bl reaches 16 MB; the rest is for the code that grows in between. */
#define BRANCH_REACH (15u << 20)
#define LITERALS_MAX 4

struct emitter {
	struct litifut_firmware_stub *stub;
	uint32_t address;
	unsigned at;
	bool baseline;
	bool failed;
	struct {
		uint32_t value;
		unsigned load; /* offset of the instruction that loads it */
		bool wide;
	} literals[LITERALS_MAX];
	unsigned literal_count;
};

static void half(struct emitter *emitter, unsigned value)
{
	litifut_put16(false, emitter->stub->code + emitter->at, (uint16_t)value);
	emitter->at += 2;
}

static void nop(struct emitter *emitter)
{
	half(emitter, emitter->baseline ? 0x46c0 : 0xbf00); /* mov r8, r8; nop */
}

static void branch(struct emitter *emitter, uint32_t target, bool link)
{
	uint8_t *code = emitter->stub->code + emitter->at;

	if (!litifut_arm_branch_write(emitter->address + emitter->at, target & ~1u, code))
		emitter->failed = true;
	if (link)
		litifut_put16(false, code + 2, litifut_get16(false, code + 2) | 0x4000);
	emitter->at += 4;
}

/* ldr rN, =value */
static void load(struct emitter *emitter, unsigned reg, uint32_t value)
{
	bool wide = reg >= 8;

	if (wide && emitter->baseline)
		emitter->failed = true;
	emitter->literals[emitter->literal_count].value = value;
	emitter->literals[emitter->literal_count].load = emitter->at;
	emitter->literals[emitter->literal_count++].wide = wide;
	if (wide) {
		half(emitter, 0xf8df);
		half(emitter, reg << 12);
	} else {
		half(emitter, 0x4800 | reg << 8);
	}
}

static void write_literals(struct emitter *emitter)
{
	if (emitter->at & 2)
		nop(emitter);
	for (unsigned i = 0; i < emitter->literal_count; i++) {
		unsigned at = emitter->literals[i].load;
		unsigned distance = emitter->at - ((at + 4) & ~3u);
		uint8_t *code = emitter->stub->code + at + (emitter->literals[i].wide ? 2 : 0);

		litifut_put16(false, code,
			      (uint16_t)(litifut_get16(false, code) |
					 (emitter->literals[i].wide ? distance : distance / 4)));
		litifut_put32(false, emitter->stub->code + emitter->at, emitter->literals[i].value);
		emitter->at += 4;
	}
}

/* The instruction before the call, if it has to move. */
static struct litifut_arm_displaced displaced_by(const struct litifut_firmware_call *call)
{
	const struct litifut_cramped_call *site = &call->call;
	struct litifut_arm_displaced displaced = {.address = site->address};
	const uint8_t *code;

	if (!call->detour || site->instruction.length == 4 || site->stone_bytes)
		return displaced;
	displaced.length = site->before[0];
	displaced.address -= displaced.length;
	code = site->section->bytes + (displaced.address - site->section->address);
	displaced.instruction = litifut_get16(false, code);
	if (displaced.length == 4)
		displaced.instruction =
			displaced.instruction << 16 | litifut_get16(false, code + 2);
	return displaced;
}

/* `instruction`, for which rS has the value, and is put back. */
static void emit_with(struct emitter *emitter, unsigned scratch, uint32_t value,
		      uint32_t instruction)
{
	half(emitter, 0xb400 | 1u << scratch); /* push {rS} */
	load(emitter, scratch, value);
	if (instruction >> 16)
		half(emitter, instruction >> 16);
	half(emitter, instruction & 0xffff);
	half(emitter, 0xbc00 | 1u << scratch); /* pop {rS} */
}

/* Does what the displaced instruction did; a branch is left without its offset. */
static void emit_displaced(struct emitter *emitter, const struct litifut_section *section,
			   const struct litifut_arm_displaced *displaced,
			   const struct litifut_arm_analysis *analysis)
{
	const uint32_t at = analysis->value - section->address;
	const unsigned reg = analysis->reg;

	switch (analysis->treatment) {
	case LITIFUT_ARM_STAYS:
		emitter->failed = true;
		break;
	case LITIFUT_ARM_MOVES:
		if (displaced->length == 4)
			half(emitter, displaced->instruction >> 16);
		half(emitter, displaced->instruction & 0xffff);
		break;
	case LITIFUT_ARM_LOADS_LITERAL:
		emitter->failed |= at >= section->size || section->size - at < 4;
		if (!emitter->failed)
			load(emitter, reg, litifut_get32(false, section->bytes + at));
		break;
	case LITIFUT_ARM_FORMS_ADDRESS:
		load(emitter, analysis->reg, analysis->value);
		break;
	case LITIFUT_ARM_LOADS_PAIR:
		load(emitter, reg, analysis->value);
		half(emitter, 0xe9d0 | reg); /* ldrd [rN] */
		half(emitter, displaced->instruction & 0xff00);
		break;
	case LITIFUT_ARM_LOADS_VECTOR: /* vldr [r0] */
		emit_with(emitter, 0, analysis->value,
			  0xed900000 | (displaced->instruction & 0x40ff00));
		break;
	case LITIFUT_ARM_ADDS_PC: /* add rN, rS */
		emit_with(emitter, reg == 0, analysis->value,
			  0x4400 | (reg == 0) << 3 | (reg & 7) | (reg & 8) << 4);
		break;
	case LITIFUT_ARM_BRANCHES:
		half(emitter, analysis->branch);
		break;
	}
}

/* Lets the 16-bit branch at `test` go to where the code stands now. */
static void land(struct emitter *emitter, unsigned test, unsigned branch_without_offset)
{
	unsigned distance = (emitter->at - test - 4) / 2;
	bool compare = (branch_without_offset & 0xf000) == 0xb000;

	litifut_put16(false, emitter->stub->code + test,
		      (uint16_t)(branch_without_offset | (compare ? distance << 3 : distance)));
}

/* Where the small instruction set has brought the code here by another bl than that of the call. */
static void set_link(struct emitter *emitter, uint32_t value)
{
	half(emitter, 0xb401); /* push {r0} */
	load(emitter, 0, value);
	half(emitter, 0x4686); /* mov lr, r0 */
	half(emitter, 0xbc01); /* pop {r0} */
}

/* Has the small instruction set brought the code here by a bl of its stone, before which that has
 * pushed lr? */
static bool has_pushed_link(const struct litifut_firmware_call *call)
{
	return call->baseline && call->call.tail && call->call.stone_bytes;
}

/* push {r0, r1, r2}, where lr has been pushed: it is taken from there, where r2 belongs. */
static void push_for_link(struct emitter *emitter)
{
	half(emitter, 0xb403); /* push {r0, r1} */
	half(emitter, 0x9802); /* ldr r0, [sp, #8] */
	half(emitter, 0x4686); /* mov lr, r0 */
	half(emitter, 0x9202); /* str r2, [sp, #8] */
}

static void count_fast(struct emitter *emitter, const struct litifut_firmware_call *call)
{
	if (has_pushed_link(call))
		push_for_link(emitter);
	else
		half(emitter, 0xb407); /* push {r0, r1, r2} */
	load(emitter, 0, call->counter);
	if (emitter->baseline) {
		static const uint16_t code[] = {
			0xf3ef, 0x8210, /* mrs r2, PRIMASK */
			0xb672,         /* cpsid i */
			0x6801,         /* ldr r1, [r0] */
			0x3101,         /* adds r1, #1 */
			0x6001,         /* str r1, [r0] */
			0xf382, 0x8810, /* msr PRIMASK, r2 */
			0x9a02,         /* ldr r2, [sp, #8] */
		};

		for (size_t i = 0; i < sizeof(code) / sizeof(*code); i++)
			half(emitter, code[i]);
		load(emitter, 0, call->callee | 1);
		half(emitter, 0x9002); /* str r0, [sp, #8] */
		half(emitter, 0xbd03); /* pop {r0, r1, pc} */
	} else {
		static const uint16_t code[] = {
			0xe850, 0x1f00, /* ldrex r1, [r0] */
			0xf101, 0x0101, /* add.w r1, r1, #1 */
			0xe840, 0x1200, /* strex r2, r1, [r0] */
			0xb912,         /* cbnz r2, 8 bytes on */
			0xbc07,         /* pop {r0, r1, r2} */
		};

		for (size_t i = 0; i < sizeof(code) / sizeof(*code); i++)
			half(emitter, code[i]);
		if (call->far)
			load(emitter, PC, call->callee | 1);
		else
			branch(emitter, call->callee, false);
		half(emitter, 0xe7f4); /* b, to the ldrex */
	}
}

static void push_both(struct emitter *emitter, const struct litifut_firmware_call *call)
{
	half(emitter, has_pushed_link(call) ? 0xb401 : 0xb501); /* push {r0}, or {r0, lr} */
}

static void count_small(struct emitter *emitter, const struct litifut_firmware_call *call)
{
	if (emitter->at & 2)
		nop(emitter);
	if (!call->times || call->spans)
		push_both(emitter, call);
	else if (has_pushed_link(call))
		nop(emitter); /* what is behind stays where it is read */
	else
		half(emitter, 0xb500); /* push {lr} */
	branch(emitter, call->count_small, true);
	half(emitter, call->number);
	litifut_put32(false, emitter->stub->code + emitter->at, call->callee | 1);
	emitter->at += 4;
}

static void count_pointer(struct emitter *emitter, const struct litifut_firmware_call *call)
{
	const struct litifut_instruction *instruction = &call->call.instruction;

	push_both(emitter, call);
	half(emitter, 0x4600u | instruction->target_register << 3);
	if (instruction->length == 2 && instruction->word >> 8 == 0x46) {
		/* mov pc, rN stays in T32 code whatever bit 0 is */
		half(emitter, 0x0840); /* lsrs r0, r0, #1 */
		half(emitter, 0x0040); /* lsls r0, r0, #1 */
		half(emitter, 0x3001); /* adds r0, #1 */
	}
	branch(emitter, call->count_pointer, true);
	half(emitter, call->number);
}

/* A branch to the stub, over the displaced instruction, or in the place of the call alone. */
static bool patch(const struct litifut_firmware_call *call,
		  const struct litifut_arm_displaced *displaced, uint32_t stub_address,
		  struct litifut_firmware_patch *patch)
{
	bool link = !call->call.tail && (!call->pointer || call->baseline);

	/* Where a bl replaces two instructions, both have 2 bytes: it ends where the call did. */
	patch->address = displaced->address;
	patch->length = 4;
	patch->target = stub_address;
	if (!litifut_arm_branch_write(patch->address, stub_address, patch->bytes))
		return false;
	if (link)
		litifut_put16(false, patch->bytes + 2,
			      litifut_get16(false, patch->bytes + 2) | 0x4000);
	return true;
}

/* The same through a stepping stone: other code, which moves to the end of the stub. */
static bool patch_stone(struct emitter *emitter, const struct litifut_firmware_call *call,
			struct litifut_firmware_patch *patches)
{
	struct litifut_cramped_call site = call->call;
	struct litifut_detour detour = {0};
	uint32_t moved = emitter->address + emitter->at;
	unsigned bytes;

	site.may_link = call->baseline;
	bytes = litifut_arm_stone_write(&site, emitter->address, moved,
					emitter->stub->code + emitter->at, &detour);

	emitter->at += bytes;
	patches[0] = (struct litifut_firmware_patch){
		.address = detour.address, .length = 2, .target = detour.stone + 4};
	memcpy(patches[0].bytes, detour.code, 2);
	patches[1] = (struct litifut_firmware_patch){
		.address = detour.stone, .length = detour.stone_bytes, .target = moved};
	memcpy(patches[1].bytes, detour.stone_code, detour.stone_bytes);
	return bytes != 0;
}

static void patch_vector(const struct litifut_firmware_call *call, uint32_t stub_address,
			 struct litifut_firmware_patch *patch)
{
	*patch = (struct litifut_firmware_patch){.address = call->call.address,
						 .length = 4,
						 .target = stub_address,
						 .is_address = true};
	litifut_put32(false, patch->bytes, stub_address | 1);
}

static bool write_stub(const struct litifut_firmware_call *call, uint32_t address,
		       struct litifut_firmware_stub *stub)
{
	struct emitter emitter = {.stub = stub, .address = address, .baseline = call->baseline};
	const struct litifut_arm_displaced displaced = displaced_by(call);
	const struct litifut_instruction *instruction = &call->call.instruction;
	struct litifut_arm_analysis analysis = {.treatment = LITIFUT_ARM_MOVES};
	uint32_t back = call->call.address + instruction->length;
	uint16_t condition = 0;

	memset(stub, 0, sizeof(*stub));
	if (displaced.length) {
		analysis = litifut_arm_analyse(&displaced);
		emit_displaced(&emitter, call->call.section, &displaced, &analysis);
	}
	if (call->call.tail && instruction->conditional && !call->call.stone_bytes) {
		unsigned test = emitter.at;

		condition = litifut_arm_condition(instruction->word, instruction->length);
		half(&emitter, condition);
		branch(&emitter, back, false);
		land(&emitter, test, condition);
		emitter.failed |= !condition;
	}
	if (call->pointer && !call->call.tail && !call->baseline)
		load(&emitter, LR, back | 1);
	else if (call->call.stone_bytes && call->baseline && !call->call.tail)
		set_link(&emitter, back | 1);
	if (call->pointer)
		count_pointer(&emitter, call);
	else if (call->small)
		count_small(&emitter, call);
	else
		count_fast(&emitter, call);
	if (analysis.treatment == LITIFUT_ARM_BRANCHES) {
		land(&emitter, 0, analysis.branch);
		branch(&emitter, analysis.value, false);
	}
	write_literals(&emitter);
	if (call->vector)
		patch_vector(call, address, stub->patches);
	else if (call->call.stone_bytes)
		emitter.failed |= !patch_stone(&emitter, call, stub->patches);
	else
		emitter.failed |= !patch(call, &displaced, address, stub->patches);
	stub->bytes = emitter.at;
	return !emitter.failed;
}

static bool can_detour(const struct litifut_arch_context *context,
		       const struct litifut_cramped_call *call,
		       const struct litifut_targets *targets)
{
	const struct litifut_instruction *instruction = &call->instruction;

	/* The callee in lr would be overwritten, and what is loaded from memory by the
	 * instruction itself is in no register. */
	return instruction->thumb && instruction->target_register < LR &&
	       instruction->class != LITIFUT_CLASS_CALL_COMPUTED &&
	       instruction->class != LITIFUT_CLASS_BRANCH_COMPUTED && !instruction->linked &&
	       litifut_arm_can_detour(context, call, targets);
}

static bool find_stone(const struct litifut_arch_context *context,
		       const struct litifut_code_range *ranges, size_t count,
		       const struct litifut_targets *targets, const struct litifut_targets *taken,
		       struct litifut_cramped_call *call)
{
	call->may_link = true;
	return call->instruction.target_register < LR &&
	       litifut_arm_find_stone(context, ranges, count, targets, taken, call);
}

static const char *runtime(unsigned elf_flags, const uint8_t *bytes, uint32_t size)
{
	(void)elf_flags;
	if (!bytes)
		return NULL;
	switch (litifut_arm_attributes_microcontroller(bytes, size)) {
	case LITIFUT_ARM_NO_MICROCONTROLLER:
		return NULL;
	case LITIFUT_ARM_BASELINE:
		return BASELINE;
	default:
		return "v7m";
	}
}

/* v8-M Baseline has a b.w, but otherwise not what moving T32 code needs. */
static bool prepare(const char *name, struct litifut_arch_context *context)
{
	struct litifut_arm_facts *facts = context->cpu.facts;

	facts->short_thumb_branches = strcmp(name, BASELINE) == 0;
	return facts->short_thumb_branches;
}

static unsigned write_way(const struct litifut_arch_context *context, uint32_t address,
			  uint32_t target, uint8_t *code)
{
	(void)context;
	(void)address;
	litifut_put32(false, code, target | 1);
	return 4;
}

static uint32_t wide_at(const uint8_t *code)
{
	return (uint32_t)litifut_get16(false, code) << 16 | litifut_get16(false, code + 2);
}

static unsigned task_access(const uint8_t *code)
{
	return litifut_arm_task_access(wide_at(code));
}

/* The instruction; push {r0, lr}; bl target; pop.w {r0, lr}; b.w next */
static unsigned write_call(const uint8_t *code, uint32_t address, uint32_t target, uint32_t next,
			   struct litifut_firmware_stub *stub)
{
	struct emitter emitter = {.stub = stub, .address = address};

	memset(stub, 0, sizeof(*stub));
	for (unsigned i = 0; i < 4; i += 2)
		half(&emitter, litifut_get16(false, code + i));
	half(&emitter, 0xb501);
	branch(&emitter, target, true);
	half(&emitter, 0xe8bd);
	half(&emitter, 0x4001);
	branch(&emitter, next, false);
	nop(&emitter);
	stub->bytes = emitter.at;
	return emitter.failed ? 0 : stub->bytes;
}

/* push {r0, lr}; bl target; then lr, r0 and pc from the stack, in Thumb-1 code */
static unsigned write_gate(const struct litifut_arch_context *context, uint32_t address,
			   uint32_t target, uint32_t handler, uint32_t behind,
			   struct litifut_firmware_stub *stub)
{
	struct emitter emitter = {.stub = stub, .address = address, .baseline = true};

	(void)context;
	(void)behind;
	memset(stub, 0, sizeof(*stub));
	half(&emitter, 0xb501);
	branch(&emitter, target, true);
	half(&emitter, 0x9801); /* ldr r0, [sp, #4] */
	half(&emitter, 0x4686); /* mov lr, r0 */
	load(&emitter, 0, handler | 1);
	half(&emitter, 0x9001); /* str r0, [sp, #4] */
	half(&emitter, 0xbd01); /* pop {r0, pc} */
	write_literals(&emitter);
	stub->bytes = emitter.at;
	return emitter.failed ? 0 : stub->bytes;
}

/* ldr pc, =target; or in Thumb-1 code: push {r0, r1}; ldr r0, =target; str r0, [sp, #4]; pop {r0,
 * pc} */
static void write_far_branch(bool baseline, uint32_t target, struct litifut_firmware_stub *stub)
{
	struct emitter emitter = {.stub = stub, .baseline = baseline};

	memset(stub, 0, sizeof(*stub));
	if (baseline) {
		half(&emitter, 0xb403);
		load(&emitter, 0, target | 1);
		half(&emitter, 0x9001);
		half(&emitter, 0xbd01);
	} else {
		load(&emitter, PC, target | 1);
	}
	write_literals(&emitter);
	stub->bytes = emitter.at;
}

static bool redirect(const struct litifut_arch_context *context, uint8_t *code, unsigned length,
		     uint32_t address, uint32_t target)
{
	const uint16_t link = length == 4 ? litifut_get16(false, code + 2) & 0x4000 : 0;

	(void)context;
	if (length != 4 || !litifut_arm_branch_write(address, target & ~1u, code))
		return false;
	litifut_put16(false, code + 2, litifut_get16(false, code + 2) | link);
	return true;
}

/* Switches of v6-M. */
static const char *const helpers[] = {LITIFUT_ARM_TABLE_HELPER, NULL};

const struct litifut_firmware_cpu litifut_firmware_arm = {
	.machine = EM_ARM,
	.state = LITIFUT_CODE_THUMB,
	.runtime = runtime,
	.attributes = ".ARM.attributes",
	.prepare = prepare,
	.can_detour = can_detour,
	.find_stone = find_stone,
	.stone_reach = LITIFUT_ARM_STONE_REACH,
	.write_stub = write_stub,
	.write_way = write_way,
	.add_vectors = litifut_arm_vectors_add,
	.first_stack = litifut_arm_vectors_stack,
	.reset = litifut_arm_vectors_reset,
	.free_vector = litifut_arm_vectors_free,
	.calls_before_ram = true,
	.pointed_callee = litifut_arm_pointed_callee,
	.pointed_jump = litifut_arm_pointed_jump,
	.times = true,
	.event_bytes = EVENT_BYTES,
	.helpers = helpers,
	.switches = true,
	.tasks = true,
	.edges = true,
	.bits = true,
	.numbers = true,
	.ring_quarters = 4,
	.word_bits = 30,
	.word_step = 1,
	.handlers = litifut_arm_vectors_handlers,
	.task_access = task_access,
	.write_call = write_call,
	.write_gate = write_gate,
	.write_branch = litifut_arm_branch_write,
	.redirect = redirect,
	.keeps_return = litifut_arm_keeps_return,
	.leaves_state = litifut_arm_leaves_state,
	.branch_reach = BRANCH_REACH,
	.write_far_branch = write_far_branch,
};
