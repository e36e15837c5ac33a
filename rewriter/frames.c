/* Call frame information. DWARF Debugging Information Format, version 4, section
 * 6.4.1: a CIE holds what many entries share, an FDE describes one range.
 *
 * The first CIE is for code that neither calls nor returns: the frame is empty, and
 * the caller where the link register says. The second is for moved instructions:
 * the program counter is a constant, and the function there is the caller, with
 * every register as it is. */
#include "rewriter/frames.h"

#include <elf.h>
#include <stddef.h>

enum {
	DW_CFA_nop = 0,
	DW_CFA_advance_loc = 0x40, /* low six bits: bytes */
	DW_CFA_def_cfa = 0x0c,
	DW_CFA_def_cfa_offset = 0x0e,
	DW_CFA_val_expression = 0x16,
	DW_OP_addr = 0x03
};

#define CIE_BYTES 16
#define CIE_ID 0xffffffffu

static void put(const struct litifut_frames *frames, uint32_t at, uint32_t value)
{
	litifut_put32(frames->big_endian, frames->bytes + at, value);
}

static void add_cie(struct litifut_frames *frames, uint8_t return_address)
{
	uint8_t *bytes = frames->bytes + frames->used;

	put(frames, frames->used, CIE_BYTES - 4);
	put(frames, frames->used + 4, CIE_ID);
	bytes[8] = 1;     /* version */
	bytes[9] = 0;     /* no augmentation */
	bytes[10] = 1;    /* unit of advance_loc */
	bytes[11] = 0x7c; /* unit of offsets: -4 */
	bytes[12] = return_address;
	bytes[13] = DW_CFA_def_cfa;
	bytes[14] = frames->registers->stack_pointer;
	bytes[15] = 0;
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

	*frames = (struct litifut_frames){.big_endian = image->big_endian, .registers = registers};
	if (!section || !section->bytes || section->flags & (SHF_ALLOC | SHF_COMPRESSED) ||
	    symbol->address > section->size || symbol->size > section->size - symbol->address ||
	    symbol->size < LITIFUT_FRAMES_HEADER_BYTES)
		return;
	frames->bytes = section->bytes + symbol->address;
	frames->size = symbol->size & ~3u;
	frames->start = symbol->address;
	add_cie(frames, registers->return_address);
	add_cie(frames, registers->program_counter);
}

void litifut_frames_add(struct litifut_frames *frames, const struct litifut_frame_code *code)
{
	uint8_t *rules;
	unsigned bytes = code->instruction ? 24 : code->pushed ? 20 : 16;

	if (!frames->bytes || frames->size - frames->used < bytes)
		return;
	put(frames, frames->used, bytes - 4);
	put(frames, frames->used + 4, frames->start + (code->instruction ? CIE_BYTES : 0));
	put(frames, frames->used + 8, code->start);
	put(frames, frames->used + 12, code->bytes);
	rules = frames->bytes + frames->used + 16;
	if (code->instruction) {
		rules[0] = DW_CFA_val_expression;
		rules[1] = frames->registers->program_counter;
		rules[2] = 5;
		rules[3] = DW_OP_addr;
		/* debuggers take one off the address to which a caller returns */
		put(frames, frames->used + 20, code->instruction + 2);
	} else if (code->pushed) {
		rules[0] = (uint8_t)(DW_CFA_advance_loc | code->pushed);
		rules[1] = DW_CFA_def_cfa_offset;
		rules[2] = 4;
		rules[3] = DW_CFA_nop;
	}
	frames->last = frames->used;
	frames->used += bytes;
}

void litifut_frames_end(struct litifut_frames *frames)
{
	uint32_t end = frames->size;

	if (!frames->bytes)
		return;
	for (uint32_t at = frames->used; at < end; at++)
		frames->bytes[at] = DW_CFA_nop;
	put(frames, frames->last, end - frames->last - 4);
}
