/* Return points of ARM code, and what becomes of them.
 *
 * T32, where two to six bytes move (I1, I2):
 *
 *	call:	bl   f			bl   thunk
 *	ra:	I1			b.w  T
 *		I2			T:	bl   exit	lr = T + 5 stands for the return
 *						I1
 *						I2
 *						b.w  ra + 4
 *
 * A branch among them goes where it went; where a 16-bit instruction stands alone, a stepping
 * stone leads on (stone.c). A32 the same with one instruction, and a call by `blx`.
 *
 * Encodings: DDI 0406C A5 (A32), A6 (T32). */
#include "rewriter/arm/exit.h"

#include <litifut/module_format.h>
#include <string.h>

#include "rewriter/arm/detour.h"
#include "rewriter/arm/link_register.h"
#include "rewriter/arm/plain.h"
#include "rewriter/arm/stone.h"
#include "rewriter/arm/trampoline.h"

/* The most instructions that move, those of an IT block among them. */
#define MOVED_MAX 5
#define BRANCH_BYTES 4u

static const uint8_t *code_at(const struct litifut_section *section, uint32_t address)
{
	return section->bytes + (address - section->address);
}

static struct litifut_arm_displaced thumb_at(const struct litifut_section *section,
					     uint32_t address, uint32_t end)
{
	const uint8_t *code = code_at(section, address);
	uint16_t first = litifut_get16(false, code);

	if (!litifut_arm_thumb_is_wide(first))
		return (struct litifut_arm_displaced){address, first, 2};
	if (end - address < 4)
		return (struct litifut_arm_displaced){address, first, 0};
	return (struct litifut_arm_displaced){
		address, (uint32_t)first << 16 | litifut_get16(false, code + 2), 4};
}

/* What becomes of an instruction at a return point. */
enum role {
	ROLE_STUCK,  /* it can't move */
	ROLE_PLAIN,  /* it moves, and the next one follows */
	ROLE_BRANCH, /* it moves as the last one, which the next may follow or not */
	ROLE_END     /* it moves, and nothing follows */
};

static enum role thumb_role(const struct litifut_arm_displaced *displaced)
{
	static const struct cpu_context context;
	struct litifut_arm_analysis analysis = litifut_arm_analyse(displaced);
	const uint32_t word = displaced->instruction;
	struct litifut_instruction decoded;
	uint8_t bytes[4];

	if (analysis.treatment == LITIFUT_ARM_BRANCHES)
		return ROLE_BRANCH;
	if (analysis.treatment != LITIFUT_ARM_STAYS)
		return ROLE_PLAIN;
	if (displaced->length == 2 && (word & 0xff00) == 0xbd00) /* pop {..., pc} */
		return ROLE_END;
	if (displaced->length == 4 && ((word & 0xffff8000) == 0xe8bd8000 ||
				       (word & 0xfffff000) == 0xf85df000)) /* pop, ldr pc, [sp] */
		return ROLE_END;
	litifut_put16(false, bytes, (uint16_t)(displaced->length == 2 ? word : word >> 16));
	litifut_put16(false, bytes + 2, (uint16_t)word);
	litifut_arm_decode(&context, bytes, displaced->length, displaced->address,
			   LITIFUT_CODE_THUMB, &decoded);
	if (decoded.class == LITIFUT_CLASS_BRANCH_DIRECT && !decoded.conditional)
		return ROLE_END;
	if (decoded.class == LITIFUT_CLASS_BRANCH_INDIRECT && displaced->length == 2 &&
	    (word & 0xff87) == 0x4700 && decoded.target_register != 15)
		return ROLE_END;
	return ROLE_STUCK;
}

static bool is_thumb_range(const struct litifut_exit_place *place, uint32_t address, bool thumb)
{
	size_t low = 0;
	size_t high = place->range_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (place->ranges[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < place->range_count && place->ranges[low].start <= address &&
	       place->ranges[low].state == (thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN);
}

/* Is the instruction there the function's own, neither moved by others nor led to? */
static bool is_free(const struct litifut_exit_place *place, uint32_t address, unsigned length,
		    bool first)
{
	for (uint32_t at = address; at < address + length; at += 2)
		if (at >= place->call->function_end ||
		    !is_thumb_range(place, at, place->call->instruction.thumb) ||
		    litifut_targets_has(place->taken, at) ||
		    ((at != address || !first) && litifut_targets_has(place->targets, at)))
			return false;
	return true;
}

/* The instructions of the IT block at `address` behind its `it`; 0: one of them can't move. */
static unsigned block_at(const struct litifut_exit_place *place, uint32_t address, unsigned count,
			 struct litifut_arm_displaced *moved)
{
	for (unsigned i = 0; i < count; i++) {
		if (address >= place->call->function_end)
			return 0;
		moved[i] = thumb_at(place->call->section, address, place->call->function_end);
		if (!moved[i].length || !is_free(place, address, moved[i].length, false) ||
		    litifut_arm_analyse(&moved[i]).treatment != LITIFUT_ARM_MOVES)
			return 0;
		address += moved[i].length;
	}
	return count;
}

/* What has to move so that a branch fits, beginning at `address`. */
struct moved {
	struct litifut_arm_displaced items[MOVED_MAX];
	unsigned count;
	unsigned bytes;
	bool ends;  /* nothing follows it */
	bool alone; /* the first one could move by itself, and is of 2 bytes */
};

static bool gather(const struct litifut_exit_place *place, uint32_t address, struct moved *moved)
{
	enum role role = ROLE_PLAIN;

	*moved = (struct moved){0};
	while (moved->bytes < BRANCH_BYTES) {
		uint32_t at = address + moved->bytes;
		struct litifut_arm_displaced *each = &moved->items[moved->count];
		unsigned block;

		if (role == ROLE_BRANCH) {
			/* what is overwritten behind a branch would have to be done as well */
			return false;
		}
		if (moved->ends) { /* nothing comes here: a part of it is overwritten */
			if (!is_free(place, at, 2, false))
				return false;
			moved->bytes += 2;
			continue;
		}
		if (at >= place->call->function_end)
			return false;
		*each = thumb_at(place->call->section, at, place->call->function_end);
		if (!each->length || !is_free(place, at, each->length, !moved->count))
			return false;
		block = each->length == 2 ? litifut_arm_it_length((uint16_t)each->instruction) : 0;
		if (block) {
			if (moved->count + 1 + block > MOVED_MAX ||
			    !block_at(place, at + 2, block, each + 1))
				return false;
			moved->bytes += 2;
			for (unsigned i = 1; i <= block; i++)
				moved->bytes += each[i].length;
			moved->count += 1 + block;
			continue;
		}
		role = thumb_role(each);
		if (role == ROLE_STUCK)
			return false;
		moved->ends = role == ROLE_END;
		moved->alone = !moved->count && each->length == 2;
		moved->bytes += each->length;
		moved->count++;
	}
	return true;
}

/* The first one alone. */
static bool first_alone(const struct litifut_section *section, uint32_t address, uint32_t end,
			struct moved *moved)
{
	enum role role;

	*moved = (struct moved){.count = 1, .bytes = 2};
	moved->items[0] = thumb_at(section, address, end);
	if (moved->items[0].length != 2 ||
	    litifut_arm_it_length((uint16_t)moved->items[0].instruction))
		return false;
	role = thumb_role(&moved->items[0]);
	moved->ends = role == ROLE_END;
	return role != ROLE_STUCK;
}

unsigned litifut_arm_judge_exit(const struct litifut_exit_place *place, struct litifut_exit *exit)
{
	const struct litifut_cramped_call *call = place->call;
	const uint32_t end = call->function_end;
	const bool thumb = call->instruction.thumb;
	struct moved moved;

	if (litifut_arm_short_branches(&place->context->cpu))
		return LITIFUT_EXIT_STUCK;
	if (thumb ? litifut_arm_near_it_block(call) : call->instruction.word >> 28 < 0xe)
		return LITIFUT_EXIT_CONDITIONAL;
	if (call->instruction.conditional)
		return LITIFUT_EXIT_CONDITIONAL;
	if (!is_thumb_range(place, exit->address, thumb))
		return LITIFUT_EXIT_NO_RETURN;
	if (!litifut_arm_link_is_free(call->section, call->function_start, end, thumb,
				      exit->address))
		return LITIFUT_EXIT_LINK_IN_USE;
	if (!thumb) {
		if (end - exit->address < 4 || !is_free(place, exit->address, 4, true) ||
		    litifut_arm_plain_treatment(
			    litifut_get32(false, code_at(call->section, exit->address)),
			    exit->address) == LITIFUT_ARM_PLAIN_STUCK)
			return LITIFUT_EXIT_STUCK;
		exit->bytes = 4;
		return LITIFUT_EXIT_PATCHED;
	}
	if (gather(place, exit->address, &moved)) {
		exit->bytes = (uint8_t)moved.bytes;
		return LITIFUT_EXIT_PATCHED;
	}
	exit->wants_stone = is_free(place, exit->address, 2, true) &&
			    first_alone(call->section, exit->address, end, &moved);
	return LITIFUT_EXIT_STUCK;
}

static bool write_thumb(const struct litifut_cramped_call *call, const struct litifut_exit *exit,
			uint32_t address, uint32_t thunk, struct litifut_exit_code *code)
{
	/* The same as when it was judged, but that all of this is its own now. */
	const struct litifut_code_range range = {call->section->address, UINT32_MAX,
						 LITIFUT_CODE_THUMB};
	const struct litifut_targets none = {0};
	const struct litifut_exit_place place = {
		.call = call, .targets = &none, .taken = &none, .ranges = &range, .range_count = 1};
	struct litifut_detour *detour = &code->detour;
	struct moved moved;

	if (exit->stone_bytes
		    ? !first_alone(call->section, exit->address, call->function_end, &moved)
		    : !gather(&place, exit->address, &moved))
		return false;
	code->bytes = litifut_arm_return_write(moved.items, moved.count,
					       moved.ends ? 0 : exit->address + moved.bytes,
					       address, thunk, code->code);
	if (!code->bytes)
		return false;
	code->word = (address + 4) | 1;
	detour->frames[0] = (struct litifut_frame_code){
		.start = address, .bytes = code->bytes, .instruction = exit->address};
	if (exit->stone_bytes) {
		struct litifut_cramped_call at = *call;
		unsigned more;

		at.address = exit->address;
		at.instruction = (struct litifut_instruction){.length = 2, .thumb = true};
		at.stone = exit->stone;
		at.stone_bytes = exit->stone_bytes;
		more = litifut_arm_stone_write(&at, address, address + code->bytes,
					       code->code + code->bytes, detour);
		detour->frames[1] = (struct litifut_frame_code){
			.start = address + code->bytes, .bytes = more, .instruction = exit->stone};
		code->bytes += more;
		return more != 0;
	}
	detour->address = exit->address;
	detour->length = BRANCH_BYTES;
	if (!litifut_arm_branch_write(exit->address, address, detour->code))
		return false;
	/* the rest of an instruction that was cut */
	if (moved.bytes == 6 && moved.count == 2) {
		litifut_put16(false, detour->code + 4, 0xbf00);
		detour->length = 6;
	}
	return true;
}

static bool write_plain(const struct litifut_cramped_call *call, const struct litifut_exit *exit,
			uint32_t address, uint32_t thunk, struct litifut_exit_code *code)
{
	static const struct cpu_context context;
	static const struct litifut_instruction always = {.length = 4, .word = 0xeb000000};
	const uint32_t word = litifut_get32(false, code_at(call->section, exit->address));
	struct litifut_detour *detour = &code->detour;

	code->bytes = 4;
	if (!litifut_arm_encode_call(&context, &always, address, thunk, code->code) ||
	    !litifut_arm_move_plain(word, exit->address, address, code->code, &code->bytes))
		return false;
	code->word = address + 4;
	detour->frames[0] = (struct litifut_frame_code){
		.start = address, .bytes = code->bytes, .instruction = exit->address};
	detour->address = exit->address;
	detour->length = 4;
	return litifut_arm_put_plain_branch(0xe0000000, exit->address, address, detour->code);
}

bool litifut_arm_write_exit(const struct litifut_arch_context *context,
			    const struct litifut_cramped_call *call,
			    const struct litifut_exit *exit, uint32_t address,
			    const struct litifut_exit_ways *ways, struct litifut_exit_code *code)
{
	(void)context;
	return call->instruction.thumb ? write_thumb(call, exit, address, ways->thunk, code)
				       : write_plain(call, exit, address, ways->thunk, code);
}
