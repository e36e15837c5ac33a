#include "rewriter/arm/edge_thumb.h"

#include "cpu/step.h"
#include "rewriter/arm/edge_forms.h"
#include "rewriter/arm/edge_record.h"
#include "rewriter/arm/emitter.h"
#include "rewriter/arm/plain.h"
#include "rewriter/arm/stone.h"
#include "rewriter/arm/tasks.h"

/* State while code is written: the emitter, and the frame that debuggers read. */
struct thumb {
	struct litifut_arm_emitter emitter;
	struct litifut_frame_code *frame;
	uint32_t flags;
	const struct litifut_arch_context *context;
	const uint32_t *bits; /* NULL: flags are set */
	const uint8_t *free;  /* by enum litifut_edge_way */
	/* LITIFUT_MODE=balllarus: by enum litifut_edge_way; NULL: bits are recorded */
	const struct litifut_number_calls *numbers;
	unsigned behind;       /* see struct litifut_edge_code */
	bool links;            /* there is bl, but no b.w */
	const uint32_t *tasks; /* the same, see struct litifut_edge_code */
	uint32_t interrupt;    /* the same */
	uint32_t spawns;       /* the same */
	uint32_t jumps;        /* the same */
	bool far;              /* something is out of reach */
	bool leads;            /* see struct litifut_edge_code */
};

/* A bl of CPUs without Thumb-2 reaches 4 MB. */
static bool link_reaches(uint32_t from, uint32_t to)
{
	return to - from + (1u << 22) - 16 < (1u << 23) - 32;
}

/* What stands around a call of the tracer's: these registers and lr are pushed. */
static uint32_t pushed_for_calls(const struct litifut_arch_context *context)
{
	return context->system ? 7 : 1;
}

static void begin_calls(struct thumb *thumb)
{
	const uint32_t pushed = pushed_for_calls(thumb->context);

	litifut_arm_put(&thumb->emitter, (uint16_t)(0xb500 | pushed)); /* push {..., lr} */
	litifut_frame_note_saved(thumb->frame, thumb->emitter.at, pushed == 1 ? 8 : 16,
				 1u << LITIFUT_ARM_LR | pushed);
}

static void put_call(struct thumb *thumb, uint32_t target)
{
	static const struct cpu_context context = {0};
	static const struct litifut_instruction call = {.length = 4, .thumb = true};
	struct litifut_arm_emitter *emitter = &thumb->emitter;

	thumb->far |= !litifut_arm_encode_call(&context, &call, emitter->address + emitter->at,
					       target, emitter->code + emitter->at) ||
		      (thumb->links && !link_reaches(emitter->address + emitter->at, target));
	emitter->at += 4;
}

static void end_calls(struct thumb *thumb)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;

	if (thumb->links) {                       /* of a firmware */
		litifut_arm_put(emitter, 0x9800); /* ldr r0, [sp] */
		litifut_arm_put(emitter, 0xb002); /* add sp, #8 */
	} else {
		litifut_arm_put(emitter, 0xe8bd); /* pop.w {..., lr} */
		litifut_arm_put(emitter, (uint16_t)(0x4000 | pushed_for_calls(thumb->context)));
	}
	litifut_frame_note(thumb->frame, emitter->at, 0);
}

static void call_bits(struct thumb *thumb, uint32_t target)
{
	begin_calls(thumb);
	put_call(thumb, target);
	end_calls(thumb);
}

static void call_number(struct thumb *thumb, const struct litifut_block *block)
{
	begin_calls(thumb);
	put_call(thumb, thumb->bits[LITIFUT_ENTERED_NUMBER]);
	litifut_arm_put(&thumb->emitter, (uint16_t)litifut_arm_edge_number_word(block));
	litifut_arm_put(&thumb->emitter, (uint16_t)(litifut_arm_edge_number_word(block) >> 16));
	end_calls(thumb);
}

/* The words stand behind the calls, at multiples of 4. */
static void call_numbers(struct thumb *thumb, const struct litifut_number_calls *calls)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;

	if (!calls->count)
		return;
	begin_calls(thumb);
	for (unsigned i = 0; i < calls->count; i++) {
		const struct litifut_number_call *call = &calls->items[i];

		if ((emitter->address + emitter->at) & 2)
			litifut_arm_put(emitter, 0xbf00); /* nop */
		put_call(thumb, thumb->bits[call->code]);
		for (unsigned j = 0; j < call->word_count; j++) {
			litifut_arm_put(emitter, (uint16_t)call->words[j]);
			litifut_arm_put(emitter, (uint16_t)(call->words[j] >> 16));
		}
	}
	end_calls(thumb);
}

static void set_flag(struct thumb *thumb, uint32_t flag, uint8_t free)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;
	const uint16_t reg = free ? free - 1 : 0;

	if (!free) {
		litifut_arm_put(emitter, 0xb401); /* push {r0} */
		litifut_frame_note(thumb->frame, emitter->at, 4);
	}
	litifut_arm_put_value(emitter, reg, flag);
	if (reg < 8) {
		litifut_arm_put(emitter, 0x7000 | reg << 3 | reg); /* strb rN, [rN] */
	} else {
		litifut_arm_put(emitter, 0xf880 | reg);
		litifut_arm_put(emitter, (uint16_t)(reg << 12));
	}
	if (!free) {
		litifut_arm_put(emitter, 0xbc01); /* pop {r0} */
		litifut_frame_note(thumb->frame, emitter->at, 0);
	}
}

static void mark(struct thumb *thumb, const struct litifut_block *block, enum litifut_edge_way way)
{
	const unsigned bit = litifut_edge_bit(thumb->context, block, way);

	if (thumb->numbers) {
		call_numbers(thumb, &thumb->numbers[way]);
		return;
	}
	if (thumb->bits) {
		if (way == LITIFUT_WAY_ENTERED && thumb->interrupt)
			call_bits(thumb, thumb->interrupt);
		if (bit < 2 && thumb->free[way] >= LITIFUT_ARM_FREE_PAIR)
			put_call(thumb,
				 litifut_arm_edge_free_code(thumb->bits, bit, thumb->free[way]));
		else if (bit < 2 && thumb->free[way])
			call_bits(thumb,
				  litifut_arm_edge_free_code(thumb->bits, bit, thumb->free[way]));
		else if (bit == LITIFUT_ENTERED_NUMBER)
			call_number(thumb, block);
		else if (bit != LITIFUT_BIT_NONE)
			call_bits(thumb, thumb->bits[bit]);
		return;
	}
	set_flag(thumb, thumb->flags + litifut_edge_flag(block, way), thumb->free[way]);
}

static void go(struct thumb *thumb, uint32_t target)
{
	uint8_t unused[4];

	thumb->far |= !litifut_arm_branch_write(thumb->emitter.address + thumb->emitter.at,
						target & ~1u, unused);
	litifut_arm_put_branch(&thumb->emitter, target & ~1u);
	if (thumb->links) {
		litifut_arm_set_link(thumb->emitter.code + thumb->emitter.at - 4);
		thumb->far |= !link_reaches(thumb->emitter.address + thumb->emitter.at, target);
	}
}

/* bx pc; nop; and the A32 code that follows: b target */
static void go_to_plain(struct thumb *thumb, uint32_t target)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;

	if ((emitter->address + emitter->at) & 2)
		litifut_arm_put(emitter, 0xbf00);
	litifut_arm_put(emitter, 0x4778);
	litifut_arm_put(emitter, 0xbf00);
	thumb->far |=
		!litifut_arm_put_plain_branch(LITIFUT_ARM_ALWAYS, emitter->address + emitter->at,
					      target, emitter->code + emitter->at);
	emitter->at += 4;
}

static void move(struct thumb *thumb, const struct litifut_arm_displaced *displaced)
{
	const struct litifut_arm_analysis analysis = litifut_arm_analyse(displaced);

	litifut_arm_put_displaced(&thumb->emitter, displaced, &analysis, false);
	if (displaced->length == 4 && thumb->tasks) {
		const unsigned access = litifut_arm_task_access(displaced->instruction);

		if (access && thumb->tasks[access - 1])
			call_bits(thumb, thumb->tasks[access - 1]);
	}
}

/* A call with the return address behind its place, in Thumb-1 code. */
static void put_linked_call(struct thumb *thumb, const struct litifut_graph_block *block,
			    uint32_t instruction)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;
	const uint32_t back = block->block.branch + block->length;

	litifut_arm_put(emitter, 0xb403); /* push {r0, r1} */
	litifut_arm_put_value(emitter, 0, back | 1);
	litifut_arm_put(emitter, 0x4686); /* mov lr, r0 */
	if (!block->block.target) {
		litifut_arm_put(emitter, 0xbc03);                           /* pop {r0, r1} */
		litifut_arm_put(emitter, (uint16_t)(instruction & ~0x80u)); /* bx rN */
		return;
	}
	litifut_arm_put_value(emitter, 0, block->block.target | 1);
	litifut_arm_put(emitter, 0x9001); /* str r0, [sp, #4] */
	litifut_arm_put(emitter, 0xbd01); /* pop {r0, pc} */
}

/* Writes the end of `block`, as if it were not conditional. */
static void put_end(struct thumb *thumb, const struct litifut_edge_place *place,
		    const struct litifut_graph_block *block)
{
	const struct litifut_arm_displaced end = litifut_arm_edge_thumb(place, block->block.branch);
	const uint32_t target = block == place->block ? place->target : block->block.target;

	thumb->leads |= block == place->block;
	if (block->spawns && thumb->bits)
		call_bits(thumb, thumb->spawns);
	if (block->jump_register && thumb->bits) {
		begin_calls(thumb);
		litifut_arm_put(&thumb->emitter, /* mov r0, rN */
				(uint16_t)(0x4600 | (block->jump_register - 1) << 3));
		put_call(thumb, thumb->jumps);
		end_calls(thumb);
	}
	switch (block->block.ends) {
	case LITIFUT_ENDS_BRANCH:
		go(thumb, target);
		break;
	case LITIFUT_ENDS_CALL:
		if (thumb->links) {
			put_linked_call(thumb, block, end.instruction);
			break;
		}
		litifut_arm_put_value(&thumb->emitter, LITIFUT_ARM_LR,
				      (block->block.branch + block->length) | 1);
		if (target & 1)
			go(thumb, target);
		else if (target)
			go_to_plain(thumb, target);
		else /* bx rN */
			litifut_arm_put(&thumb->emitter, (uint16_t)(end.instruction & ~0x80u));
		break;
	default:
		if (end.length == 4)
			litifut_arm_put(&thumb->emitter, (uint16_t)(end.instruction >> 16));
		litifut_arm_put(&thumb->emitter, (uint16_t)end.instruction);
		break;
	}
}

/* The branch itself, without an offset. Returns its place for land(). The end of a loop (v8.1-M)
 * leads backwards alone:
 *
 *		b.n  1f
 *	0:	b.w  taken
 *	1:	le   lr, 0b
 */
static unsigned put_test(struct thumb *thumb, const struct litifut_arm_displaced *branch,
			 uint16_t condition)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;
	unsigned test = emitter->at;

	if (branch->length == 4 && litifut_arm_ends_loop(branch->instruction)) {
		litifut_arm_put(emitter, 0xe001); /* b.n */
		test = emitter->at;
		litifut_arm_put(emitter, 0xbf00); /* b.w */
		litifut_arm_put(emitter, 0xbf00);
		litifut_arm_put(emitter, (uint16_t)(branch->instruction >> 16));
		litifut_arm_put(emitter, 0xc005); /* by 8 bytes */
	} else if (branch->length == 4 && litifut_arm_begins_loop(branch->instruction)) {
		litifut_arm_put(emitter, (uint16_t)(branch->instruction >> 16));
		litifut_arm_put(emitter, 0xc001);
	} else {
		litifut_arm_put(emitter, condition);
	}
	return test;
}

/* Lets what put_test() has written at `test` go to where the code stands now. */
static void land(struct thumb *thumb, const struct litifut_arm_displaced *branch,
		 uint16_t condition, unsigned test)
{
	struct litifut_arm_emitter *emitter = &thumb->emitter;
	const uint32_t from = emitter->address + test;
	const uint32_t to = emitter->address + emitter->at;
	const uint32_t offset = to - (from + 4);
	uint8_t *code = emitter->code + test;

	if (branch->length == 4 && litifut_arm_ends_loop(branch->instruction))
		litifut_arm_branch_write(from, to, code);
	else if (branch->length == 4 && litifut_arm_begins_loop(branch->instruction))
		litifut_put16(false, code + 2,
			      (uint16_t)(0xc001 | (offset & 2) << 10 | (offset >> 1 & 0x7fe)));
	else
		litifut_arm_land(emitter, test, condition);
}

static void put_thumb_branch(struct thumb *thumb, const struct litifut_edge_place *place,
			     const struct litifut_edge *edge)
{
	const struct litifut_graph_block *block = place->block;
	const struct litifut_arm_displaced branch =
		litifut_arm_edge_thumb(place, block->block.branch);
	uint16_t condition = litifut_arm_condition(branch.instruction, branch.length);
	bool ended = false;
	unsigned test;

	if (edge->enters)
		mark(thumb, &block->block, LITIFUT_WAY_ENTERED);
	thumb->behind = edge->enters ? thumb->emitter.at : 0;
	if (block->in_block) {
		struct litifut_arm_conditional conditional;

		litifut_arm_edge_find_conditional(place, &conditional);
		condition = conditional.branch;
		if (conditional.shorter)
			litifut_arm_put(&thumb->emitter, conditional.shorter);
		for (uint32_t at = edge->address + 2; at < block->block.branch;) {
			const struct litifut_arm_displaced each = litifut_arm_edge_thumb(place, at);

			move(thumb, &each);
			at += each.length;
		}
	} else if (edge->before) {
		const struct litifut_arm_displaced last =
			litifut_arm_edge_thumb(place, edge->address);

		move(thumb, &last);
	}
	test = put_test(thumb, &branch, condition);
	mark(thumb, &block->block, LITIFUT_WAY_PASSED);
	if (edge->after) {
		const struct litifut_arm_displaced first =
			litifut_arm_edge_thumb(place, block->block.end);

		ended = place->next->block.ends != LITIFUT_ENDS_ON &&
			place->next->block.branch == first.address;
		if (ended)
			put_end(thumb, place, place->next);
		else
			move(thumb, &first);
	}
	if (!ended)
		go(thumb, edge->address + edge->bytes);
	land(thumb, &branch, condition, test);
	mark(thumb, &block->block, LITIFUT_WAY_TAKEN);
	put_end(thumb, place, block);
}

static void put_thumb_entry(struct thumb *thumb, const struct litifut_edge_place *place,
			    const struct litifut_edge *edge)
{
	struct litifut_arm_moved moved;

	litifut_arm_edge_gather(place, edge->address, edge->bytes, &moved);
	if (!edge->end)
		mark(thumb, &place->block->block, LITIFUT_WAY_ENTERED);
	thumb->behind = edge->end ? 0 : thumb->emitter.at;
	for (unsigned i = 0; i < moved.count - moved.with_end; i++)
		if (moved.items[i].length == 2 &&
		    litifut_arm_it_length((uint16_t)moved.items[i].instruction))
			litifut_arm_put(&thumb->emitter, (uint16_t)moved.items[i].instruction);
		else
			move(thumb, &moved.items[i]);
	if (place->context->units && (edge->end || edge->whole))
		mark(thumb, &place->block->block, LITIFUT_WAY_TAKEN);
	if (moved.with_end)
		put_end(thumb, place, place->block);
	else
		go(thumb, edge->address + moved.bytes);
}

bool litifut_arm_write_edge_thumb(const struct litifut_edge_place *place,
				  const struct litifut_edge *edge, uint32_t address,
				  struct litifut_edge_code *code)
{
	struct litifut_detour *detour = &code->detour;
	struct thumb thumb = {.emitter = {.code = code->code,
					  .address = address,
					  .narrow = litifut_arm_edge_has_only_links(place)},
			      .links = litifut_arm_edge_has_only_links(place),
			      .frame = &detour->frames[0],
			      .flags = code->flags,
			      .context = place->context,
			      .bits = place->context->bits ? code->bits : NULL,
			      .free = edge->free,
			      .numbers = place->context->numbers ? code->numbers : NULL,
			      .tasks = place->context->bits ? code->tasks : NULL,
			      .interrupt = code->interrupt,
			      .spawns = code->spawns,
			      .jumps = code->jumps};

	detour->frames[0] =
		(struct litifut_frame_code){.start = address, .instruction = edge->address};
	if (edge->entry)
		put_thumb_entry(&thumb, place, edge);
	else
		put_thumb_branch(&thumb, place, edge);
	litifut_arm_put_literals(&thumb.emitter);
	code->bytes = thumb.emitter.at;
	code->behind = thumb.behind;
	code->leads = thumb.leads;
	detour->frames[0].bytes = code->bytes;
	if (thumb.far)
		return false;
	if (edge->stone_bytes) {
		struct litifut_cramped_call at = {
			.address = edge->address,
			.instruction = {.length = 2, .thumb = true},
			.section = place->section,
			.stone = edge->stone,
			.stone_bytes = edge->stone_bytes,
			.may_link = thumb.links,
		};
		const unsigned more = litifut_arm_stone_write(&at, address, address + code->bytes,
							      code->code + code->bytes, detour);

		detour->frames[1] = (struct litifut_frame_code){
			.start = address + code->bytes, .bytes = more, .instruction = edge->stone};
		code->bytes += more;
		return more != 0 && (!thumb.links || link_reaches(edge->stone, address));
	}
	detour->address = edge->address;
	detour->length = litifut_arm_edge_thumb(place, edge->address).length;
	if (detour->length == 2)
		detour->length += litifut_arm_edge_thumb(place, edge->address + 2).length;
	if (detour->length > edge->bytes)
		detour->length = edge->bytes;
	if (detour->length == 6) /* the rest of an instruction that was cut */
		litifut_put16(false, detour->code + 4, 0xbf00);
	if (!litifut_arm_branch_write(edge->address, address, detour->code))
		return false;
	if (thumb.links)
		litifut_arm_set_link(detour->code);
	return !thumb.links || link_reaches(edge->address, address);
}
