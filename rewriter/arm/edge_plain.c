#include "rewriter/arm/edge_plain.h"

#include "cpu/arm/arm.h"
#include "cpu/step.h"
#include "rewriter/arm/edge_forms.h"
#include "rewriter/arm/edge_record.h"
#include "rewriter/arm/plain.h"

/* The flags of an entry and of both ways, a return address and where a call leads. */
#define PLAIN_VALUES 5

struct plain {
	uint8_t *code;
	uint32_t address;
	unsigned at;
	uint32_t flags;
	uint32_t values[PLAIN_VALUES]; /* to be added to the pc */
	unsigned loads[PLAIN_VALUES];  /* offset of the ldr of each; an add follows */
	unsigned count;
	const struct litifut_arch_context *context;
	const uint32_t *bits; /* NULL: flags are set */
	const uint8_t *free;  /* by enum litifut_edge_way */
	uint32_t spawns;      /* see struct litifut_edge_code */
	struct litifut_frame_code *frame;
	bool far;
	bool leads; /* see struct litifut_edge_code */
};

static void put(struct plain *plain, uint32_t word)
{
	litifut_put32(false, plain->code + plain->at, word);
	plain->at += 4;
}

/* ldr rN, =value; add rN, pc, rN */
static void put_plain_value(struct plain *plain, uint32_t reg, uint32_t value)
{
	plain->values[plain->count] = value;
	plain->loads[plain->count++] = plain->at;
	put(plain, 0xe59f0000 | reg << 12);
	put(plain, 0xe08f0000 | reg << 12 | reg);
}

static void put_call_plain(struct plain *plain, uint32_t target)
{
	static const struct cpu_context context = {0};
	static const struct litifut_instruction call = {.length = 4, .word = 0xeb000000};

	plain->far |= !litifut_arm_encode_call(&context, &call, plain->address + plain->at, target,
					       plain->code + plain->at);
	plain->at += 4;
}

static void begin_calls_plain(struct plain *plain)
{
	put(plain, 0xe92d4007); /* push {r0-r2, lr} */
	litifut_frame_note_saved(plain->frame, plain->at, 16, 1u << LITIFUT_ARM_LR | 7);
}

static void end_calls_plain(struct plain *plain)
{
	put(plain, 0xe8bd4007); /* pop {r0-r2, lr} */
	litifut_frame_note(plain->frame, plain->at, 0);
}

static void call_bits_plain(struct plain *plain, uint32_t target)
{
	begin_calls_plain(plain);
	put_call_plain(plain, target);
	end_calls_plain(plain);
}

static void set_flag_plain(struct plain *plain, uint32_t flag, uint8_t free)
{
	const uint32_t reg = free ? free - 1u : 0;

	if (!free) {
		put(plain, 0xe52d0004); /* push {r0} */
		litifut_frame_note(plain->frame, plain->at, 4);
	}
	put_plain_value(plain, reg, flag);
	put(plain, 0xe5c00000 | reg << 16 | reg << 12); /* strb rN, [rN] */
	if (!free) {
		put(plain, 0xe49d0004); /* pop {r0} */
		litifut_frame_note(plain->frame, plain->at, 0);
	}
}

static void mark_plain(struct plain *plain, const struct litifut_block *block,
		       enum litifut_edge_way way)
{
	const unsigned bit = litifut_edge_bit(plain->context, block, way);

	if (plain->bits) {
		if (bit < 2 && plain->free[way] >= LITIFUT_ARM_FREE_PAIR)
			put_call_plain(plain, litifut_arm_edge_free_code(plain->bits, bit,
									 plain->free[way]));
		else if (bit < 2 && plain->free[way])
			call_bits_plain(plain, litifut_arm_edge_free_code(plain->bits, bit,
									  plain->free[way]));
		else if (bit == LITIFUT_ENTERED_NUMBER) {
			begin_calls_plain(plain);
			put_call_plain(plain, plain->bits[bit]);
			put(plain, litifut_arm_edge_number_word(block));
			end_calls_plain(plain);
		} else if (bit != LITIFUT_BIT_NONE)
			call_bits_plain(plain, plain->bits[bit]);
		return;
	}
	set_flag_plain(plain, plain->flags + litifut_edge_flag(block, way), plain->free[way]);
}

static void go_plain(struct plain *plain, uint32_t condition, uint32_t target)
{
	plain->far |= !litifut_arm_put_plain_branch(condition, plain->address + plain->at, target,
						    plain->code + plain->at);
	plain->at += 4;
}

/* add pc, pc, rN, lsl #2 of another place, or ldr pc, [pc, rN, lsl #2] */
static void put_plain_switch(struct plain *plain, uint32_t word, uint32_t address)
{
	const uint32_t reg = word & 15;
	const uint32_t scratch = reg == 0;

	put(plain, 0xe24dd004); /* sub sp, sp, #4 */
	litifut_frame_note(plain->frame, plain->at, 4);
	put(plain, 0xe52d0004 | scratch << 12); /* push {rS} */
	litifut_frame_note(plain->frame, plain->at, 8);
	put_plain_value(plain, scratch, address + 8);
	/* ldr rS, [rS, rN, lsl #2]; or add rS, rS, rN, lsl #2 */
	put(plain, (litifut_arm_reads_table(word) ? 0xe7900100 : 0xe0800100) | scratch << 16 |
			   scratch << 12 | reg);
	put(plain, 0xe58d0004 | scratch << 12); /* str rS, [sp, #4] */
	put(plain, 0xe8bd8000 | 1u << scratch); /* pop {rS, pc} */
	litifut_frame_note(plain->frame, plain->at, 0);
}

/* To T32 code, by the stack, as each register may hold something. */
static void go_thumb(struct plain *plain, uint32_t target)
{
	put(plain, 0xe24dd004); /* sub sp, sp, #4 */
	litifut_frame_note(plain->frame, plain->at, 4);
	put(plain, 0xe52d0004); /* push {r0} */
	litifut_frame_note(plain->frame, plain->at, 8);
	put_plain_value(plain, 0, target);
	put(plain, 0xe58d0004); /* str r0, [sp, #4] */
	put(plain, 0xe8bd8001); /* pop {r0, pc} */
	litifut_frame_note(plain->frame, plain->at, 0);
}

static void put_plain_end(struct plain *plain, const struct litifut_edge_place *place)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t word = litifut_get32(false, litifut_arm_edge_code(place, block->branch));
	const uint32_t target = place->target;

	plain->leads = true;
	if (place->block->spawns && plain->bits)
		call_bits_plain(plain, plain->spawns);
	switch (block->ends) {
	case LITIFUT_ENDS_BRANCH:
		go_plain(plain, LITIFUT_ARM_ALWAYS, target);
		break;
	case LITIFUT_ENDS_CALL:
		put_plain_value(plain, LITIFUT_ARM_LR, block->branch + 4);
		if (target & 1)
			go_thumb(plain, target);
		else if (target)
			go_plain(plain, LITIFUT_ARM_ALWAYS, target);
		else
			put(plain, 0xe12fff10 | (word & 15)); /* bx rN */
		break;
	default:
		if (litifut_arm_edge_is_plain_switch(place))
			put_plain_switch(plain, word, block->branch);
		else
			put(plain, (word & 0x0fffffff) | LITIFUT_ARM_ALWAYS);
		break;
	}
}

static void put_plain_values(struct plain *plain)
{
	for (unsigned i = 0; i < plain->count; i++) {
		uint8_t *load = plain->code + plain->loads[i];

		litifut_put32(false, load,
			      litifut_get32(false, load) | (plain->at - (plain->loads[i] + 8)));
		put(plain, plain->values[i] - (plain->address + plain->loads[i] + 4 + 8));
	}
}

bool litifut_arm_write_edge_plain(const struct litifut_edge_place *place,
				  const struct litifut_edge *edge, uint32_t address,
				  struct litifut_edge_code *code)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t word = litifut_get32(false, litifut_arm_edge_code(place, edge->address));
	struct litifut_detour *detour = &code->detour;
	struct plain plain = {.code = code->code,
			      .address = address,
			      .flags = code->flags,
			      .context = place->context,
			      .bits = place->context->bits ? code->bits : NULL,
			      .free = edge->free,
			      .spawns = code->spawns,
			      .frame = &detour->frames[0]};

	detour->frames[0] =
		(struct litifut_frame_code){.start = address, .instruction = edge->address};
	code->behind = 0;
	if (!edge->entry) {
		unsigned test;

		if (edge->enters)
			mark_plain(&plain, block, LITIFUT_WAY_ENTERED);
		code->behind = plain.at;
		test = plain.at;
		put(&plain, 0);
		mark_plain(&plain, block, LITIFUT_WAY_PASSED);
		go_plain(&plain, LITIFUT_ARM_ALWAYS, block->end);
		litifut_arm_put_plain_branch(word & 0xf0000000, address + test, address + plain.at,
					     plain.code + test);
		mark_plain(&plain, block, LITIFUT_WAY_TAKEN);
		put_plain_end(&plain, place);
	} else {
		if (!edge->end) {
			mark_plain(&plain, block, LITIFUT_WAY_ENTERED);
			code->behind = plain.at;
		}
		if (place->context->units && (edge->end || edge->whole))
			mark_plain(&plain, block, LITIFUT_WAY_TAKEN);
		if (block->branch == edge->address &&
		    (block->ends == LITIFUT_ENDS_CALL || edge->end || edge->whole))
			put_plain_end(&plain, place);
		else
			plain.far |= !litifut_arm_move_plain(word, edge->address, address,
							     plain.code, &plain.at, false);
	}
	put_plain_values(&plain);
	code->leads = plain.leads;
	code->bytes = plain.at;
	detour->frames[0].bytes = code->bytes;
	detour->address = edge->address;
	detour->length = 4;
	return !plain.far && litifut_arm_put_plain_branch(LITIFUT_ARM_ALWAYS, edge->address,
							  address, detour->code);
}
