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
 * A branch that leads to I1 or I2 must not come by the record. A32: it is led into T. T32, where it
 * may be a short one: if twice as much can move, one more branch stands behind the one to T; else
 * a stone leads it there:
 *
 *		cbz  r0, ra			cbz  r0, ra + 4
 *	call:	bl   f			bl   thunk
 *	ra:	I1			b.w  T
 *		I2			b.w  T + 4
 *		I3		T:	bl   exit
 *		I4			I1 ... I4
 *					b.w  ra + 8
 *
 * Encodings: DDI 0406C A5 (A32), A6 (T32). More than 500 lines, because what is judged and what is
 * written must agree on each form. */
#include "rewriter/arm/exit.h"

#include <litifut/module_format.h>
#include <string.h>

#include "rewriter/arm/detour.h"
#include "rewriter/arm/link_register.h"
#include "rewriter/arm/plain.h"
#include "rewriter/arm/stone.h"
#include "rewriter/arm/trampoline.h"

/* The most instructions that move, those of an IT block among them. */
#define MOVED_MAX LITIFUT_ARM_RETURN_INSTRUCTIONS
#define BRANCH_BYTES 4u
#define NOP 0xbf00

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

/* What has to move so that `needed` bytes become free, beginning at a return point. */
struct moved {
	struct litifut_arm_displaced items[MOVED_MAX];
	unsigned count;
	unsigned bytes;
	unsigned needed;
	uint32_t inner; /* branches lead to this one of them; 0: none do */
	bool ends;      /* nothing follows it */
};

/* May control come to `address` but from before it? `head`: an instruction that branches may be
 * led to begins there. */
static bool is_entered(const struct litifut_exit_place *place, uint32_t address, bool head,
		       struct moved *moved)
{
	if (!litifut_targets_has(place->targets, address))
		return false;
	if (!head || !place->labels || litifut_targets_has(place->labels, address) ||
	    (moved->inner && moved->inner != address))
		return true;
	moved->inner = address;
	return false;
}

/* Is the code there the function's own, neither moved by others nor led to? */
static bool is_free(const struct litifut_exit_place *place, uint32_t address, unsigned length,
		    bool head, struct moved *moved)
{
	for (uint32_t at = address; at < address + length; at += 2)
		if (at >= place->call->function_end ||
		    !is_thumb_range(place, at, place->call->instruction.thumb) ||
		    litifut_targets_has(place->taken, at) ||
		    is_entered(place, at, head && at == address, moved))
			return false;
	return true;
}

/* Adds the instructions of the IT block at `address` behind its `it`. False: one of them
 * can't move. */
static bool add_block(const struct litifut_exit_place *place, uint32_t address, unsigned count,
		      struct moved *moved)
{
	for (unsigned i = 0; i < count; i++) {
		struct litifut_arm_displaced *each = &moved->items[moved->count];

		if (address >= place->call->function_end || moved->count == MOVED_MAX)
			return false;
		*each = thumb_at(place->call->section, address, place->call->function_end);
		if (!each->length || !is_free(place, address, each->length, false, moved) ||
		    litifut_arm_analyse(each).treatment != LITIFUT_ARM_MOVES)
			return false;
		moved->count++;
		moved->bytes += each->length;
		address += each->length;
	}
	return true;
}

/* Adds the instruction at `address`, with its IT block if it begins one. False: it can't move. */
static bool add_instruction(const struct litifut_exit_place *place, uint32_t address,
			    struct moved *moved)
{
	struct litifut_arm_displaced *each = &moved->items[moved->count];
	enum role role;
	unsigned block;

	if (address >= place->call->function_end || moved->count == MOVED_MAX)
		return false;
	*each = thumb_at(place->call->section, address, place->call->function_end);
	if (!each->length || !is_free(place, address, each->length, true, moved))
		return false;
	block = each->length == 2 ? litifut_arm_it_length((uint16_t)each->instruction) : 0;
	role = block ? ROLE_PLAIN : thumb_role(each);
	if (role == ROLE_STUCK)
		return false;
	moved->ends = role == ROLE_END;
	moved->count++;
	moved->bytes += each->length;
	return !block || add_block(place, address + each->length, block, moved);
}

static bool is_filler(const struct litifut_exit_place *place, uint32_t address)
{
	return litifut_arm_filler_bytes(code_at(place->call->section, address),
					place->call->function_end - address, true) != 0;
}

static bool gather(const struct litifut_exit_place *place, uint32_t address, unsigned needed,
		   struct moved *moved)
{
	*moved = (struct moved){.needed = needed};
	while (moved->bytes < needed) {
		const uint32_t at = address + moved->bytes;
		const bool is_unreached =
			moved->ends && (!place->labels || !litifut_targets_has(place->targets, at));

		/* nothing comes here: a part of it is overwritten. To what is more than a filler
		 * something comes unseen, as a goto out of a nested function does. */
		if (is_unreached ? !is_free(place, at, 2, false, moved) || !is_filler(place, at)
				 : !add_instruction(place, at, moved))
			return false;
		moved->bytes += is_unreached ? 2 : 0;
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

/* Does the function end, or data begin, behind what fills up the place to there? */
static bool nothing_follows(const struct litifut_exit_place *place, uint32_t address)
{
	const bool thumb = place->call->instruction.thumb;
	const uint32_t end = place->call->function_end;

	while (address < end && is_thumb_range(place, address, thumb)) {
		const unsigned bytes = litifut_arm_filler_bytes(
			code_at(place->call->section, address), end - address, thumb);

		if (!bytes || litifut_targets_has(place->targets, address))
			return false;
		address += bytes;
	}
	return true;
}

static unsigned judge_plain(const struct litifut_exit_place *place, struct litifut_exit *exit)
{
	struct moved moved = {0};

	if (place->call->function_end - exit->address < 4 ||
	    !is_free(place, exit->address, 4, true, &moved) ||
	    litifut_arm_plain_treatment(
		    litifut_get32(false, code_at(place->call->section, exit->address)),
		    exit->address) == LITIFUT_ARM_PLAIN_STUCK)
		return LITIFUT_EXIT_STUCK;
	exit->bytes = 4;
	exit->has_branches = moved.inner != 0;
	return LITIFUT_EXIT_PATCHED;
}

/* T32, where branches lead to. */
static unsigned judge_shared(const struct litifut_exit_place *place, struct litifut_exit *exit)
{
	struct moved moved;
	const bool is_wide = gather(place, exit->address, 2 * BRANCH_BYTES, &moved);

	if (!is_wide && !gather(place, exit->address, BRANCH_BYTES, &moved))
		return LITIFUT_EXIT_STUCK;
	exit->bytes = (uint8_t)moved.bytes;
	exit->has_branches = moved.inner != 0;
	exit->inner = (uint8_t)(moved.inner ? moved.inner - exit->address : 0);
	exit->led = is_wide ? exit->address + BRANCH_BYTES : 0;
	exit->wants_stone = !is_wide;
	return exit->has_branches ? LITIFUT_EXIT_PATCHED : LITIFUT_EXIT_STUCK;
}

/* Does the call stand in an IT block? */
static bool is_in_block(const struct litifut_cramped_call *call)
{
	uint32_t address = call->address;

	for (unsigned i = 0; i < LITIFUT_REMEMBERED && call->before[i]; i++) {
		address -= call->before[i];
		if (call->before[i] == 2 && litifut_arm_it_length(litifut_get16(
						    false, code_at(call->section, address))) > i)
			return true;
	}
	return false;
}

unsigned litifut_arm_judge_exit(const struct litifut_exit_place *place, struct litifut_exit *exit)
{
	const struct litifut_cramped_call *call = place->call;
	const uint32_t end = call->function_end;
	const bool thumb = call->instruction.thumb;
	struct moved moved;

	if (litifut_arm_short_branches(&place->context->cpu))
		return LITIFUT_EXIT_STUCK;
	if (call->instruction.conditional ||
	    (thumb ? is_in_block(call) : call->instruction.word >> 28 < 0xe))
		return LITIFUT_EXIT_CONDITIONAL;
	if (nothing_follows(place, exit->address))
		return LITIFUT_EXIT_NO_RETURN;
	if (!litifut_arm_link_is_free(call->section, call->function_start, end, thumb,
				      call->address, exit->address))
		return LITIFUT_EXIT_LINK_IN_USE;
	if (!thumb)
		return judge_plain(place, exit);
	if (place->labels)
		return judge_shared(place, exit);
	if (gather(place, exit->address, BRANCH_BYTES, &moved)) {
		exit->bytes = (uint8_t)moved.bytes;
		return LITIFUT_EXIT_PATCHED;
	}
	moved = (struct moved){0};
	exit->wants_stone = is_free(place, exit->address, 2, false, &moved) &&
			    first_alone(call->section, exit->address, end, &moved);
	return LITIFUT_EXIT_STUCK;
}

/* The branches that take the place of what has moved. */
static bool replace_thumb(const struct litifut_exit *exit, const struct moved *moved,
			  uint32_t address, struct litifut_exit_code *code)
{
	struct litifut_detour *detour = &code->detour;
	struct litifut_exit_piece *second = &code->pieces[0];
	const bool is_cut = moved->bytes == moved->needed + 2;
	const bool has_second = moved->needed > BRANCH_BYTES;

	detour->address = exit->address;
	detour->length = BRANCH_BYTES;
	if (!litifut_arm_branch_write(exit->address, address, detour->code))
		return false;
	if (has_second) {
		*second = (struct litifut_exit_piece){
			.address = exit->led, .entry = code->inner, .length = BRANCH_BYTES};
		code->piece_count = 1;
		if (!litifut_arm_branch_write(exit->led, code->inner, second->code))
			return false;
	}
	if (!is_cut)
		return true;
	/* the rest of an instruction that was cut */
	litifut_put16(false, (has_second ? second->code : detour->code) + BRANCH_BYTES, NOP);
	*(has_second ? &second->length : &detour->length) += 2;
	return true;
}

/* Behind the trampoline. For a return point that needs it, or for the branches to one, which
 * lead to `target`. */
static bool write_stone(const struct litifut_cramped_call *call, const struct litifut_exit *exit,
			uint32_t address, uint32_t target, struct litifut_exit_code *code,
			struct litifut_detour *detour)
{
	const uint32_t stands_at = address + code->bytes;
	struct litifut_cramped_call at = *call;
	unsigned more;

	at.address = exit->address;
	at.instruction = (struct litifut_instruction){.length = 2, .thumb = true};
	at.stone = exit->stone;
	at.stone_bytes = exit->stone_bytes;
	more = litifut_arm_stone_write(&at, target, stands_at, code->code + code->bytes, detour);
	code->detour.frames[1] = (struct litifut_frame_code){
		.start = stands_at, .bytes = more, .instruction = exit->stone};
	code->bytes += more;
	return more != 0;
}

/* A stone that leads branches to where the trampoline does what they lead to. */
static bool write_shared_stone(const struct litifut_cramped_call *call,
			       const struct litifut_exit *exit, uint32_t address,
			       struct litifut_exit_code *code)
{
	struct litifut_detour stone = {0};

	if (!write_stone(call, exit, address, code->inner, code, &stone))
		return false;
	code->pieces[0] = (struct litifut_exit_piece){
		.address = stone.stone, .entry = stone.stone_trampoline, .length = BRANCH_BYTES};
	memcpy(code->pieces[0].code, stone.stone_code, BRANCH_BYTES);
	code->pieces[1] = (struct litifut_exit_piece){.address = stone.stone + BRANCH_BYTES,
						      .entry = code->inner,
						      .length = stone.stone_bytes - BRANCH_BYTES};
	memcpy(code->pieces[1].code, stone.stone_code + BRANCH_BYTES, code->pieces[1].length);
	code->piece_count = 2;
	return true;
}

static bool write_thumb(const struct litifut_cramped_call *call, const struct litifut_exit *exit,
			uint32_t address, const struct litifut_exit_ways *ways,
			struct litifut_exit_code *code)
{
	/* The same as when it was judged, but that all of this is its own now. */
	const struct litifut_code_range range = {call->section->address, UINT32_MAX,
						 LITIFUT_CODE_THUMB};
	const struct litifut_targets none = {0};
	uint8_t bits = 0;
	uint8_t touched = 0;
	struct litifut_targets inner = {.bits = &bits, .touched = &touched};
	const struct litifut_exit_place place = {.call = call,
						 .targets = &inner,
						 .taken = &none,
						 .ranges = &range,
						 .range_count = 1,
						 .labels = exit->has_branches ? &none : NULL};
	const bool is_stepped = exit->stone_bytes && !exit->has_branches;
	const unsigned needed =
		exit->led == exit->address + BRANCH_BYTES ? 2 * BRANCH_BYTES : BRANCH_BYTES;
	struct litifut_detour *detour = &code->detour;
	struct moved moved;

	if (exit->has_branches) {
		inner.start = exit->address + exit->inner;
		inner.end = inner.start + 2;
		litifut_targets_add(&inner, inner.start);
	}
	if (is_stepped ? !first_alone(call->section, exit->address, call->function_end, &moved)
		       : !gather(&place, exit->address, needed, &moved))
		return false;
	code->inner = moved.inner;
	code->bytes = litifut_arm_return_write(
		moved.items, moved.count, moved.ends ? 0 : exit->address + moved.bytes, address,
		ways->thunk, code->code, ways->exits, &code->inner);
	if (!code->bytes || (exit->has_branches && !code->inner))
		return false;
	code->word = (address + 4) | 1;
	detour->frames[0] = (struct litifut_frame_code){
		.start = address, .bytes = code->bytes, .instruction = exit->address};
	if (is_stepped)
		return write_stone(call, exit, address, address, code, detour);
	return (!exit->stone_bytes || write_shared_stone(call, exit, address, code)) &&
	       replace_thumb(exit, &moved, address, code);
}

static bool write_plain(const struct litifut_cramped_call *call, const struct litifut_exit *exit,
			uint32_t address, const struct litifut_exit_ways *ways,
			struct litifut_exit_code *code)
{
	static const struct cpu_context context;
	static const struct litifut_instruction always = {.length = 4, .word = 0xeb000000};
	struct litifut_detour *detour = &code->detour;
	uint32_t word = litifut_get32(false, code_at(call->section, exit->address));

	if (litifut_arm_plain_treatment(word, exit->address) == LITIFUT_ARM_PLAIN_BRANCHES) {
		const uint32_t pc = exit->address + 8;
		const uint32_t target =
			pc + ((word & 0xffffff) << 2) - (word & 0x800000 ? 0x4000000 : 0);

		word = (word & 0xff000000) |
		       ((litifut_exits_led(ways->exits, target) - pc) >> 2 & 0xffffff);
	}
	code->bytes = 4;
	if (!litifut_arm_encode_call(&context, &always, address, ways->thunk, code->code) ||
	    !litifut_arm_move_plain(word, exit->address, address, code->code, &code->bytes, true))
		return false;
	code->word = address + 4;
	code->inner = exit->has_branches ? address + 4 : 0;
	detour->frames[0] = (struct litifut_frame_code){
		.start = address, .bytes = code->bytes, .instruction = exit->address};
	detour->address = exit->address;
	detour->length = 4;
	return litifut_arm_put_plain_branch(0xe0000000, exit->address, address, detour->code);
}

/* Is `offset` a signed number of so many bits? */
static bool fits(uint32_t offset, unsigned bits)
{
	return offset + (1u << (bits - 1)) < 1u << bits;
}

bool litifut_arm_lead_branch(const struct litifut_arch_context *context,
			     enum litifut_code_state state, uint32_t address, unsigned length,
			     uint32_t target, uint8_t *code)
{
	const uint16_t half = litifut_get16(false, code);
	const uint32_t offset = target - (address + 4);
	const uint32_t low = offset >> 1;
	uint32_t second;

	(void)context;
	if (state == LITIFUT_CODE_PLAIN) {
		const uint32_t word = litifut_get32(false, code);

		return (word & 0x0f000000) == 0x0a000000 && word >> 28 != 0xf &&
		       litifut_arm_put_plain_branch(word & 0xf0000000, address, target, code);
	}
	if (length == 2 && (half & 0xf800) == 0xe000) { /* b */
		litifut_put16(false, code, (uint16_t)(0xe000 | (low & 0x7ff)));
		return fits(offset, 12);
	}
	if (length == 2 && (half & 0xf000) == 0xd000) { /* b<cond> */
		litifut_put16(false, code, (uint16_t)((half & 0xff00) | (low & 0xff)));
		return (half >> 8 & 15) < 14 && fits(offset, 9);
	}
	if (length == 2 && (half & 0xf500) == 0xb100) { /* cbz, cbnz */
		litifut_put16(false, code,
			      (uint16_t)((half & 0xfd07) | (low & 0x20) << 4 | (low & 0x1f) << 3));
		return offset < 128;
	}
	if (length != 4 || (half & 0xf800) != 0xf000)
		return false;
	second = litifut_get16(false, code + 2);
	if ((second & 0xd000) == 0x9000) /* b.w */
		return litifut_arm_branch_write(address, target, code);
	if ((second & 0xd000) != 0x8000 || (half >> 6 & 15) >= 14)
		return false;
	/* b<cond>.w */
	litifut_put16(
		false, code,
		(uint16_t)((half & 0xfbc0) | (offset >> 20 & 1) << 10 | (offset >> 12 & 0x3f)));
	litifut_put16(false, code + 2,
		      (uint16_t)(0x8000 | (offset >> 18 & 1) << 13 | (offset >> 19 & 1) << 11 |
				 (low & 0x7ff)));
	return fits(offset, 21);
}

bool litifut_arm_write_exit(const struct litifut_arch_context *context,
			    const struct litifut_cramped_call *call,
			    const struct litifut_exit *exit, uint32_t address,
			    const struct litifut_exit_ways *ways, struct litifut_exit_code *code)
{
	(void)context;
	return call->instruction.thumb ? write_thumb(call, exit, address, ways, code)
				       : write_plain(call, exit, address, ways, code);
}
