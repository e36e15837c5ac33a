/* Stepping stones: a way out for 16-bit calls whose neighbours can't be moved,
 * because they stand in an IT block, are branches, or because the call itself is
 * the target of one. A 16-bit branch fits in the place of the call, but gets no
 * farther than 2 KB. So some other code near by, that can be moved, is:
 *
 *	site:	blx  r3			site:	b.n  stone + 4
 *		...				...
 *	stone:	mov  r0, r4		stone:	b.w  moved
 *		mov  r1, r5
 *		ldr  r2, [sp]			b.w  trampoline
 *		adds r2, #1
 *		...				...
 *
 *	moved:	mov  r0, r4; mov r1, r5; ldr r2, [sp]; adds r2, #1; b.w back
 *
 * Without b.w both branches of the stone are bl, so it stands where lr holds nothing, and the
 * trampoline of the call, if that is one of a firmware, sets lr to what the call would have left
 * there. A tail call must keep lr, so `push {lr}` stands before the second bl, and the trampoline
 * finds lr on the stack.
 *
 * The branch at the site keeps the condition of the call: that of its IT block,
 * or its own, with the shorter reach that conditional branches have. */
#include "rewriter/arm/stone.h"

#include <string.h>

#include "rewriter/arm/link_register.h"
#include "rewriter/arm/thumb1.h"
#include "rewriter/arm/trampoline.h"

/* Bytes of a stone: two branches, and `push {lr}` before the second one, if that is a bl and lr
 * must be kept. */
static unsigned stone_size(bool keeps_link)
{
	return keeps_link ? 10 : 8;
}

/* How far from the call a 16-bit branch in its place may lead, and back. */
struct span {
	uint32_t low;
	uint32_t high;
};

static struct span reach(const struct litifut_cramped_call *call)
{
	uint32_t pc = call->address + 4;
	uint16_t branch = litifut_arm_condition(call->instruction.word, 2);

	if (!branch)
		return (struct span){pc > 2048 ? pc - 2048 : 0, pc + 2046};
	if ((branch & 0xf000) == 0xd000)
		return (struct span){pc > 256 ? pc - 256 : 0, pc + 254};
	return (struct span){pc, pc + 126}; /* cbz, cbnz */
}

static uint16_t short_branch(const struct litifut_cramped_call *call, uint32_t target)
{
	uint32_t offset = target - (call->address + 4);
	uint16_t branch = litifut_arm_condition(call->instruction.word, 2);

	if (!branch)
		return (uint16_t)(0xe000 | (offset >> 1 & 0x7ff));
	if ((branch & 0xf000) == 0xd000)
		return (uint16_t)(branch | (offset >> 1 & 0xff));
	return (uint16_t)(branch | (offset >> 6 & 1) << 9 | (offset >> 1 & 0x1f) << 3);
}

static struct litifut_arm_displaced instruction_at(const uint8_t *code, uint32_t address)
{
	uint16_t first = litifut_get16(false, code);

	if (!litifut_arm_thumb_is_wide(first))
		return (struct litifut_arm_displaced){address, first, 2};
	return (struct litifut_arm_displaced){
		address, (uint32_t)first << 16 | litifut_get16(false, code + 2), 4};
}

/* May the code from `start` on lead elsewhere? Without b.w by a bl only, where lr holds nothing. */
static bool can_lead(const struct litifut_cramped_call *call, bool links, uint32_t start)
{
	return !links ||
	       litifut_arm_link_is_free(call->section, call->function_start, call->function_end,
					true, call->function_start, start);
}

/* Looks through one range of T32 code. */
static bool search(const struct litifut_code_range *range, const struct span *span, bool links,
		   const struct litifut_targets *targets, const struct litifut_targets *taken,
		   struct litifut_cramped_call *call)
{
	const uint8_t *bytes = call->section->bytes - call->section->address;
	const unsigned size = stone_size(links && call->tail);
	uint32_t start = range->start; /* of the instructions collected so far */
	unsigned conditional = 0;      /* instructions of a block of `it` or vpt to come */

	for (uint32_t address = range->start; address + 2 <= range->end && address <= span->high;) {
		if (address + 4 > range->end &&
		    litifut_arm_thumb_is_wide(litifut_get16(false, bytes + address)))
			break;
		struct litifut_arm_displaced each = instruction_at(bytes + address, address);
		uint32_t next = address + each.length;
		unsigned block = litifut_arm_block_length(each.instruction, each.length);
		bool moves = !conditional && !block && litifut_arm_copyable(&each) &&
			     (!links || litifut_arm_thumb1_displaceable(&each)) &&
			     !litifut_targets_has(taken, address) &&
			     !litifut_targets_has(taken, next - 2) &&
			     !(address <= call->address && call->address < next);

		/* Too early to be in reach, or the start of something new. */
		if (start + 4 < span->low || litifut_targets_has(targets, address))
			start = address;
		conditional = block ? block : conditional - (conditional > 0);
		address = next;
		if (!moves)
			start = next;
		if (address - start >= size && start + 4 >= span->low && start + 4 <= span->high &&
		    can_lead(call, links, start)) {
			call->stone = start;
			call->stone_bytes = address - start;
			return true;
		}
		if (address - start >= size) { /* move on by one */
			start += instruction_at(bytes + start, start).length;
		}
	}
	return false;
}

bool litifut_arm_find_stone(const struct litifut_arch_context *context,
			    const struct litifut_code_range *ranges, size_t count,
			    const struct litifut_targets *targets,
			    const struct litifut_targets *taken, struct litifut_cramped_call *call)
{
	const bool links = litifut_arm_short_branches(&context->cpu);
	struct span span = reach(call);
	size_t low = 0;
	size_t high = count;

	if ((links && !call->may_link) || !call->instruction.thumb || call->instruction.length != 2)
		return false;
	/* where lr holds nothing is known of this function */
	if (links && span.low < call->function_start)
		span.low = call->function_start;
	if (links && span.high > call->function_end)
		span.high = call->function_end;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ranges[middle].end <= span.low)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && ranges[low].start <= span.high; low++)
		if (ranges[low].state == LITIFUT_CODE_THUMB &&
		    search(&ranges[low], &span, links, targets, taken, call))
			return true;
	return false;
}

unsigned litifut_arm_stone_write(const struct litifut_cramped_call *call, uint32_t address,
				 uint32_t stone_address, uint8_t *code,
				 struct litifut_detour *detour)
{
	struct litifut_arm_displaced moved[LITIFUT_ARM_STONE_INSTRUCTIONS];
	const bool keeps_link = call->may_link && call->tail;
	const unsigned size = stone_size(keeps_link);
	uint8_t *way = detour->stone_code + size - 4; /* to the trampoline of the call */
	uint32_t end = call->stone + call->stone_bytes;
	unsigned count = 0;

	for (uint32_t at = call->stone; at < end && count < LITIFUT_ARM_STONE_INSTRUCTIONS;
	     at += moved[count++].length)
		moved[count] =
			instruction_at(call->section->bytes + (at - call->section->address), at);
	detour->address = call->address;
	detour->length = 2;
	litifut_put16(false, detour->code, short_branch(call, call->stone + 4));
	detour->stone = call->stone;
	detour->stone_bytes = call->stone_bytes;
	detour->stone_trampoline = stone_address;
	if (keeps_link)
		litifut_put16(false, detour->stone_code + 4, 0xb500); /* push {lr} */
	if (call->stone_bytes > size)
		litifut_put16(false, detour->stone_code + size, 0xbf00);
	if (!litifut_arm_branch_write(call->stone, stone_address, detour->stone_code) ||
	    !litifut_arm_branch_write(call->stone + size - 4, address, way))
		return 0;
	if (call->may_link) {
		litifut_arm_set_link(detour->stone_code);
		litifut_arm_set_link(way);
	}
	return litifut_arm_copies_write(moved, count, end, call->may_link, stone_address, code);
}
