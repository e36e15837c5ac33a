/* Call frame information. DWARF Debugging Information Format, version 4, section
 * 6.4.1: a CIE holds what many entries share, an FDE describes one range.
 *
 * The first CIE is for code that neither calls nor returns: the frame is empty, and
 * the caller where the link register says. The second is for moved instructions:
 * the program counter is a constant, and the function there is the caller, with
 * every register as it is.
 *
 * Both say that it is a signal handler's frame ("S"). A debugger that steps goes on
 * until such a frame is left, and so comes to the callee of a call or to what follows a
 * moved instruction. In any other code without line numbers it would wait for a return:
 * to a moved instruction there is none. And it takes nothing off the address of a moved
 * instruction to find what calls. */
#include "rewriter/frames.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
	DW_CFA_nop = 0,
	DW_CFA_advance_loc1 = 0x02, /* a byte follows */
	DW_CFA_advance_loc = 0x40,  /* low six bits: bytes */
	DW_CFA_offset = 0x80,       /* low six bits: register */
	DW_CFA_restore = 0xc0,      /* the same */
	DW_CFA_register = 0x09,     /* two bytes follow */
	DW_CFA_def_cfa = 0x0c,
	DW_CFA_def_cfa_offset = 0x0e,
	DW_CFA_val_expression = 0x16,
	DW_OP_addr = 0x03
};

#define CIE_BYTES 20
#define CIE_ID 0xffffffffu

static void put(const struct litifut_frames *frames, uint32_t at, uint32_t value)
{
	litifut_put32(frames->big_endian, frames->bytes + at, value);
}

static void add_cie(struct litifut_frames *frames, uint8_t return_address)
{
	uint8_t *bytes = frames->bytes + frames->used;
	unsigned used = 8;

	memset(bytes, DW_CFA_nop, CIE_BYTES);
	put(frames, frames->used, CIE_BYTES - 4);
	put(frames, frames->used + 4, CIE_ID);
	bytes[used++] = 1; /* version */
	bytes[used++] = 'S';
	bytes[used++] = 0;
	bytes[used++] = 1;    /* unit of advance_loc */
	bytes[used++] = 0x7c; /* unit of offsets: -4 */
	bytes[used++] = return_address;
	bytes[used++] = DW_CFA_def_cfa;
	bytes[used++] = frames->registers->stack_pointer;
	bytes[used++] = 0;
	frames->last = frames->used;
	frames->used += CIE_BYTES;
}

void litifut_frames_find(struct litifut_frames *frames, const struct litifut_image *image,
			 const struct litifut_frame_registers *registers)
{
	const struct litifut_symbol *symbol = litifut_image_symbol(image, LITIFUT_FRAMES);
	const struct litifut_section *section = symbol && symbol->section < image->section_count
							? &image->sections[symbol->section]
							: NULL;

	*frames = (struct litifut_frames){.big_endian = image->file.big_endian,
					  .registers = registers};
	if (!registers || !section || !section->bytes ||
	    section->flags & (SHF_ALLOC | SHF_COMPRESSED) || symbol->address > section->size ||
	    symbol->size > section->size - symbol->address ||
	    symbol->size < LITIFUT_FRAMES_HEADER_BYTES)
		return;
	frames->bytes = section->bytes + symbol->address;
	frames->size = symbol->size & ~3u;
	frames->start = symbol->address;
	add_cie(frames, registers->return_address);
	add_cie(frames, registers->program_counter);
}

/* Where `state` has register number `number`, in words below the caller's sp; 0: where
 * it was. */
static unsigned place(const struct litifut_frames *frames, const struct litifut_frame_step *state,
		      unsigned number)
{
	const uint32_t lower = state->saved & ((UINT32_C(1) << number) - 1) &
			       ~(UINT32_C(1) << frames->registers->return_address);

	if (!(state->saved >> number & 1))
		return 0;
	if (number == frames->registers->return_address)
		return 1;
	return state->stack / 4 - (unsigned)__builtin_popcount(lower);
}

/* Writes what changes from `from` to `to`; returns the number of bytes. */
static unsigned put_step(const struct litifut_frames *frames, const struct litifut_frame_step *from,
			 const struct litifut_frame_step *to, uint8_t *rules)
{
	unsigned used = 0;

	if (to->at - from->at > 0x3f) {
		rules[used++] = DW_CFA_advance_loc1;
		rules[used++] = (uint8_t)(to->at - from->at);
	} else if (to->at != from->at) {
		rules[used++] = (uint8_t)(DW_CFA_advance_loc | (to->at - from->at));
	}
	if (to->stack != from->stack) {
		rules[used++] = DW_CFA_def_cfa_offset;
		rules[used++] = (uint8_t)to->stack;
	}
	for (uint32_t left = from->saved | to->saved; left; left &= left - 1) {
		unsigned number = (unsigned)__builtin_ctz(left);
		unsigned here = place(frames, to, number);

		if (here == place(frames, from, number))
			continue;
		rules[used++] = (uint8_t)((here ? DW_CFA_offset : DW_CFA_restore) | number);
		if (here)
			rules[used++] = (uint8_t)here;
	}
	return used;
}

/* An FDE of the CIE at `cie` in the room, with `used` bytes of rules. Without room: none. */
static void put_entry(struct litifut_frames *frames, uint32_t start, uint32_t size, uint32_t cie,
		      const uint8_t *rules, unsigned used)
{
	unsigned bytes = 16 + ((used + 3) & ~3u);

	if (frames->size - frames->used < bytes)
		return;
	put(frames, frames->used, bytes - 4);
	put(frames, frames->used + 4, frames->start + cie);
	put(frames, frames->used + 8, start);
	put(frames, frames->used + 12, size);
	memset(frames->bytes + frames->used + 16, DW_CFA_nop, bytes - 16);
	memcpy(frames->bytes + frames->used + 16, rules, used);
	frames->last = frames->used;
	frames->used += bytes;
}

/* How far rules of the forms in use advance: offsets in the low six bits, or in one byte. False:
 * others are among them. */
static bool find_last(const uint8_t *rules, unsigned used, uint16_t *last)
{
	for (unsigned i = 0; i < used;) {
		switch (rules[i] >= DW_CFA_advance_loc ? rules[i] & 0xc0 : rules[i]) {
		case DW_CFA_advance_loc:
			*last = (uint16_t)(*last + (rules[i++] & 0x3f));
			break;
		case DW_CFA_advance_loc1:
			*last = (uint16_t)(*last + rules[i + 1]);
			i += 2;
			break;
		case DW_CFA_offset:
		case DW_CFA_def_cfa_offset:
			i += 2;
			break;
		case DW_CFA_register:
			i += 3;
			break;
		case DW_CFA_restore:
		case DW_CFA_nop:
			i++;
			break;
		default:
			return false;
		}
	}
	return true;
}

/* What is not kept ends a backtrace. */
static void keep(struct litifut_frames *frames, uint32_t start, uint32_t size, bool moved,
		 const uint8_t *rules, unsigned used)
{
	struct litifut_frame_piece piece = {.start = start, .bytes = size, .moved = moved};

	if (!frames->keeps || !size)
		return;
	if (frames->piece_count == frames->piece_room) {
		size_t capacity = frames->piece_room ? 2 * frames->piece_room : 256;
		void *pieces = realloc(frames->pieces, capacity * sizeof(*frames->pieces));

		if (!pieces)
			return;
		frames->pieces = pieces;
		frames->piece_room = capacity;
	}
	while (used && rules[used - 1] == DW_CFA_nop)
		used--;
	if (!moved && (used > sizeof(piece.rules) || !find_last(rules, used, &piece.last)))
		piece.moved = true;
	if (!piece.moved) {
		piece.used = (uint8_t)used;
		memcpy(piece.rules, rules, used);
	}
	frames->pieces[frames->piece_count++] = piece;
}

void litifut_frames_release(struct litifut_frames *frames)
{
	free(frames->pieces);
	frames->pieces = NULL;
	frames->piece_count = frames->piece_room = 0;
}

void litifut_frame_note_saved(struct litifut_frame_code *frame, unsigned at, unsigned stack,
			      uint32_t saved)
{
	if (frame->step_count < LITIFUT_FRAME_STEPS)
		frame->steps[frame->step_count++] = (struct litifut_frame_step){at, stack, saved};
}

void litifut_frame_note(struct litifut_frame_code *frame, unsigned at, unsigned stack)
{
	litifut_frame_note_saved(frame, at, stack, 0);
}

void litifut_frames_add(struct litifut_frames *frames, const struct litifut_frame_code *code)
{
	static const struct litifut_frame_step start;
	uint8_t rules[LITIFUT_FRAME_STEPS * (2 + 2 + 2 * 32)] = {DW_CFA_nop};
	unsigned used = 0;

	if (!frames->bytes && !frames->keeps)
		return;
	if (code->instruction) {
		rules[used++] = DW_CFA_val_expression;
		rules[used++] = frames->registers->program_counter;
		rules[used++] = 5;
		rules[used++] = DW_OP_addr;
		litifut_put32(frames->big_endian, rules + used, code->instruction);
		used += 4;
	}
	for (unsigned i = 0; i < code->step_count; i++)
		used += put_step(frames, i ? &code->steps[i - 1] : &start, &code->steps[i],
				 rules + used);
	keep(frames, code->start, code->bytes, code->instruction != 0, rules, used);
	if (frames->bytes)
		put_entry(frames, code->start, code->bytes, code->instruction ? CIE_BYTES : 0,
			  rules, used);
}

void litifut_frames_add_named(struct litifut_frames *frames, const struct litifut_image *image,
			      const struct litifut_named_frame *list)
{
	for (; frames->bytes && list && list->name; list++) {
		const struct litifut_symbol *symbol = litifut_image_symbol(image, list->name);
		unsigned used = sizeof(list->rules);

		while (used && list->rules[used - 1] == DW_CFA_nop)
			used--;
		if (symbol)
			put_entry(frames, symbol->address, symbol->size, 0, list->rules, used);
	}
}

void litifut_frames_add_rules(struct litifut_frames *frames, uint32_t start, uint32_t bytes,
			      const uint8_t *rules, unsigned used)
{
	keep(frames, start, bytes, false, rules, used);
	if (frames->bytes)
		put_entry(frames, start, bytes, 0, rules, used);
}

void litifut_frames_end(struct litifut_frames *frames)
{
	uint32_t end = frames->size;

	if (!frames->bytes)
		return;
	memset(frames->bytes + frames->used, DW_CFA_nop, end - frames->used);
	put(frames, frames->last, end - frames->last - 4);
}
