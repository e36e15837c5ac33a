/* An unwinder that starts in a signal handler finds the program's frames only if .eh_frame has an
 * entry for the interrupted instruction. One entry serves the whole room for code that the rewriter
 * makes, so that the table which all unwinders search is no longer than before by more than this
 * one. Its instructions go through the room from its start to its end: in most of its code the
 * frame is empty, and the caller where the link register says, and that needs no instruction at
 * all.
 *
 * The address of the caller is passed in a register that no function keeps, and the link register
 * is 0 for the caller, which has its own value on the stack. So what has been called by code of the
 * room, and leads back there, ends a backtrace: with the link register it would go round for ever.
 *
 * Code that was moved has the frame of the function that it was moved from; there, and where room
 * is left, a backtrace ends. So it does behind what does not fit.
 *
 * Addresses are encoded as assemblers have them, absolute, of which linkers make relative ones in
 * the whole table: in a static program libgcc sorts a table of mixed encodings with twice as many
 * calls.
 *
 * The linker makes an index of the table, so the entry must be there when it links, with its place
 * and its size. What is reserved are instructions that do nothing, as linkers drop DW_CFA_nop at
 * the end of an entry. Linux Standard Base, "Exception Frames". */
#include "rewriter/eh_frame.h"

#include <stdlib.h>
#include <string.h>

enum {
	DW_CFA_nop = 0,
	DW_CFA_advance_loc1 = 0x02,
	DW_CFA_advance_loc2 = 0x03,
	DW_CFA_advance_loc4 = 0x04,
	DW_CFA_offset_extended = 0x05,
	DW_CFA_undefined = 0x07,
	DW_CFA_register = 0x09,
	DW_CFA_remember_state = 0x0a,
	DW_CFA_restore_state = 0x0b,
	DW_CFA_def_cfa = 0x0c,
	DW_CFA_def_cfa_offset = 0x0e,
	DW_CFA_val_expression = 0x16,
	DW_CFA_GNU_args_size = 0x2e,
	DW_CFA_advance_loc = 0x40,
	DW_CFA_offset = 0x80,
	DW_CFA_restore = 0xc0,
	DW_OP_lit0 = 0x30,
	DW_EH_PE_sdata4 = 0x0b
};

#define CIE_BYTES 28
/* Length, CIE, place, size, and the length of the augmentation, which is 0. */
#define HEAD_BYTES 17
#define RANGE (LITIFUT_EH_FRAME_PLACE + 4)

_Static_assert(LITIFUT_EH_FRAME_PLACE == CIE_BYTES + 8, "the third word of the entry");

/* A room has few pieces of code that need instructions: those with room of their own on the stack.
 */
static uint32_t instruction_bytes(uint32_t room_bytes)
{
	return 63 + ((room_bytes / 8 + 3) & ~3u);
}

uint32_t litifut_eh_frame_bytes(uint32_t room_bytes)
{
	return CIE_BYTES + HEAD_BYTES + instruction_bytes(room_bytes);
}

void litifut_eh_frame_reserve(const struct litifut_frame_registers *registers, bool big_endian,
			      uint32_t room_bytes, uint8_t *bytes)
{
	const uint8_t cie[] = {1,
			       'z',
			       'R',
			       0,
			       1,    /* unit of advance_loc */
			       0x7c, /* unit of offsets: -4 */
			       registers->spare,
			       1, /* bytes of augmentation */
			       DW_EH_PE_sdata4,
			       DW_CFA_def_cfa,
			       registers->stack_pointer,
			       0,
			       DW_CFA_register,
			       registers->spare,
			       registers->return_address,
			       DW_CFA_val_expression,
			       registers->return_address,
			       1,
			       DW_OP_lit0,
			       DW_CFA_nop};
	uint32_t left = instruction_bytes(room_bytes);
	uint8_t *at = bytes + CIE_BYTES + HEAD_BYTES;

	_Static_assert(8 + sizeof(cie) == CIE_BYTES, "no padding");
	memset(bytes, 0, CIE_BYTES + HEAD_BYTES);
	litifut_put32(big_endian, bytes, CIE_BYTES - 4);
	memcpy(bytes + 8, cie, sizeof(cie));
	litifut_put32(big_endian, bytes + CIE_BYTES, HEAD_BYTES - 4 + left);
	litifut_put32(big_endian, bytes + CIE_BYTES + 4, CIE_BYTES + 4);
	litifut_put32(big_endian, bytes + RANGE, room_bytes);
	/* an odd number of bytes: once a number takes two */
	*at++ = DW_CFA_GNU_args_size;
	*at++ = 0x80;
	*at++ = 0;
	for (left -= 3; left; left -= 2) {
		*at++ = DW_CFA_GNU_args_size;
		*at++ = 0;
	}
}

/* The entry as it is written. */
struct writer {
	uint8_t *bytes; /* of the instructions */
	uint32_t size;
	uint32_t used;
	uint32_t at; /* the address that they have come to */
	bool big_endian;
	const struct litifut_frame_registers *registers;
	bool known; /* the caller is, from here on */
};

static void advance(struct writer *writer, uint32_t address)
{
	const uint32_t bytes = address - writer->at;
	uint8_t *to = writer->bytes + writer->used;

	writer->at = address;
	if (!bytes)
		return;
	if (bytes < 0x40) {
		to[0] = (uint8_t)(DW_CFA_advance_loc | bytes);
		writer->used += 1;
	} else if (bytes < 0x100) {
		to[0] = DW_CFA_advance_loc1;
		to[1] = (uint8_t)bytes;
		writer->used += 2;
	} else if (bytes < 0x10000) {
		to[0] = DW_CFA_advance_loc2;
		litifut_put16(writer->big_endian, to + 1, (uint16_t)bytes);
		writer->used += 3;
	} else {
		to[0] = DW_CFA_advance_loc4;
		litifut_put32(writer->big_endian, to + 1, bytes);
		writer->used += 5;
	}
}

/* From `address` on the caller is where the register says, or unknown. */
static void set_known(struct writer *writer, uint32_t address, bool known)
{
	if (writer->known == known)
		return;
	advance(writer, address);
	if (known) {
		writer->bytes[writer->used++] = DW_CFA_register;
		writer->bytes[writer->used++] = writer->registers->spare;
		writer->bytes[writer->used++] = writer->registers->return_address;
	} else {
		writer->bytes[writer->used++] = DW_CFA_undefined;
		writer->bytes[writer->used++] = writer->registers->spare;
	}
	writer->known = known;
}

/* The most bytes of one piece: four times five to advance, and ten for states; its own rules
 * come to that, each at most a byte longer. The same is left for the end. */
#define PIECE_BYTES (4 * 5 + 10u)

/* The rules of the piece, which are of the link register. */
static void put_rules(struct writer *writer, const struct litifut_frame_piece *piece)
{
	const uint8_t link = writer->registers->return_address;
	uint8_t *to = writer->bytes + writer->used;

	for (unsigned i = 0; i < piece->used; i++) {
		const uint8_t rule = piece->rules[i];

		if (rule == (DW_CFA_offset | link)) {
			*to++ = DW_CFA_offset_extended;
			*to++ = writer->registers->spare;
			*to++ = piece->rules[++i];
		} else if (rule == DW_CFA_register && piece->rules[i + 1] == link) {
			*to++ = rule;
			*to++ = writer->registers->spare;
			*to++ = piece->rules[i + 2];
			i += 2;
		} else if (rule == (DW_CFA_restore | link)) {
			*to++ = DW_CFA_register;
			*to++ = writer->registers->spare;
			*to++ = link;
		} else {
			*to++ = rule;
			if (rule == DW_CFA_def_cfa_offset || rule == DW_CFA_advance_loc1)
				*to++ = piece->rules[++i];
		}
	}
	writer->used = (uint32_t)(to - writer->bytes);
}

static void put_piece(struct writer *writer, const struct litifut_frame_piece *piece)
{
	set_known(writer, piece->start, !piece->moved);
	if (piece->moved || !piece->used)
		return;
	advance(writer, piece->start);
	writer->bytes[writer->used++] = DW_CFA_remember_state;
	put_rules(writer, piece);
	/* the rules have advanced to the last instruction that has one */
	writer->at = piece->start + piece->last;
	advance(writer, piece->start + piece->bytes);
	writer->bytes[writer->used++] = DW_CFA_restore_state;
}

static int by_start(const void *left, const void *right)
{
	const struct litifut_frame_piece *a = left;
	const struct litifut_frame_piece *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void put_pieces(struct writer *writer, struct litifut_frames *frames,
		       const struct litifut_symbol *room)
{
	uint32_t end = room->address;

	if (frames->piece_count)
		qsort(frames->pieces, frames->piece_count, sizeof(*frames->pieces), by_start);
	writer->bytes[writer->used++] = DW_CFA_undefined;
	writer->bytes[writer->used++] = writer->registers->spare;
	for (size_t i = 0; i < frames->piece_count; i++) {
		const struct litifut_frame_piece *piece = &frames->pieces[i];

		if (piece->start - room->address >= room->size || piece->start < end)
			continue;
		if (writer->size - writer->used < 2 * (PIECE_BYTES + piece->used))
			break;
		/* Between two pieces there is nothing but what aligns the second one. */
		if (piece->start - end >= 16)
			set_known(writer, end, false);
		put_piece(writer, piece);
		end = piece->start + piece->bytes;
	}
	set_known(writer, end, false);
	memset(writer->bytes + writer->used, DW_CFA_nop, writer->size - writer->used);
}

/* Does the word at `at` lead to `address`, itself or by its distance? */
static bool leads_to(const struct litifut_section *section, bool big_endian, uint32_t at,
		     uint32_t address)
{
	uint32_t word = litifut_get32(big_endian, section->bytes + at);

	return word == address || word == address - section->address - at;
}

/* Where the entry of `room` is in the section; 0: nowhere. Entries are not distinguished by
 * their CIE: a word with this distance, the size of the room and what was reserved is in no other.
 */
static uint32_t find(const struct litifut_section *section, bool big_endian,
		     const struct litifut_symbol *room)
{
	static const uint8_t reserved[] = {0, DW_CFA_GNU_args_size, 0x80, 0};

	for (uint32_t at = 0; section->size - at >= HEAD_BYTES + 3;) {
		const uint8_t *entry = section->bytes + at;
		uint32_t length = litifut_get32(big_endian, entry);

		if (length > section->size - at - 4)
			return 0;
		if (length >= HEAD_BYTES && litifut_get32(big_endian, entry + 4) &&
		    leads_to(section, big_endian, at + 8, room->address) &&
		    litifut_get32(big_endian, entry + 12) == room->size &&
		    !memcmp(entry + HEAD_BYTES - 1, reserved, sizeof(reserved)))
			return at;
		at += 4 + length;
	}
	return 0;
}

const struct litifut_section *litifut_eh_frame_write(struct litifut_frames *frames,
						     const struct litifut_image *image,
						     const struct litifut_symbol *room)
{
	const struct litifut_section *section = litifut_image_section(image, ".eh_frame");
	const bool big_endian = image->file.big_endian;
	uint32_t at = room && section && section->bytes && section->size >= HEAD_BYTES + 3
			      ? find(section, big_endian, room)
			      : 0;

	if (!at)
		return NULL;
	struct writer writer = {
		.bytes = section->bytes + at + HEAD_BYTES,
		.size = litifut_get32(big_endian, section->bytes + at) + 4 - HEAD_BYTES,
		.at = room->address,
		.big_endian = big_endian,
		.registers = frames->registers,
	};

	if (writer.size < 2 * PIECE_BYTES)
		return NULL;
	put_pieces(&writer, frames, room);
	return section;
}
