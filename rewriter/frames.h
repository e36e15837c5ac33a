/* Call frame information (.debug_frame) for the code that the rewriter writes, so
 * that a debugger which stops there finds the program's frames. The linker reserves
 * room for it, in the file only. */
#ifndef LITIFUT_REWRITER_FRAMES_H
#define LITIFUT_REWRITER_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "rewriter/image.h"

/* The symbol at the start of the room. */
#define LITIFUT_FRAMES "litifut_frames"

/* Bytes of the room before the first piece of code that is made by the rewriter: two
 * CIEs, and room for functions of the tracer's. */
#define LITIFUT_FRAMES_HEADER_BYTES 320

/* Numbers of registers as DWARF has them for a CPU. */
struct litifut_frame_registers {
	uint8_t stack_pointer;
	uint8_t return_address;
	uint8_t program_counter;
	uint8_t spare; /* that no function keeps, if .eh_frame has an entry for new code */
};

/* From the offset `at` in a piece of code on: `stack` bytes lie above sp that the
 * caller does not know of. The registers `saved` (one bit each, up to number 31)
 * stand in them: from sp upwards in their order, but for the one with the return
 * address, which stands at the top. */
struct litifut_frame_step {
	unsigned at;
	unsigned stack;
	uint32_t saved;
};

#define LITIFUT_FRAME_STEPS 12

/* A piece of code: [start, start + bytes). */
struct litifut_frame_code {
	uint32_t start;
	uint32_t bytes;
	/* Not 0: it stands for the instruction there, which is shown as its caller.
	 * Else its caller is where the link register leads. */
	uint32_t instruction;
	/* How the stack changes, `at` ascending; at the start nothing is on the stack. */
	struct litifut_frame_step steps[LITIFUT_FRAME_STEPS];
	unsigned step_count;
};

/* A function of the tracer's that goes on to a callee as the code does that the rewriter
 * makes. Its own call frame information is for unwinding only. */
struct litifut_named_frame {
	const char *name;  /* NULL: the end of a list */
	uint8_t rules[20]; /* DW_CFA_...; the rest is 0, which is DW_CFA_nop */
};

/* A piece of code as unwinders must see it: like `rules` in a frame without any, or moved from
 * elsewhere, with the frame that it has there. */
struct litifut_frame_piece {
	uint32_t start;
	uint32_t bytes;
	bool moved;
	uint8_t used;  /* bytes of rules */
	uint16_t last; /* the offset to which they advance */
	uint8_t rules[24];
};

/* The room as it is filled; bytes NULL: there is none. */
struct litifut_frames {
	uint8_t *bytes;
	uint32_t size;
	uint32_t start; /* offset of the room in its section */
	uint32_t used;
	uint32_t last; /* where the last entry begins */
	bool big_endian;
	const struct litifut_frame_registers *registers;
	struct litifut_frame_piece *pieces; /* if they are kept */
	size_t piece_count;
	size_t piece_room;
	bool keeps;
};

/* Begins to fill the room in `image`. There is none where the linker was told to
 * drop or to compress what debuggers read. */
void litifut_frames_find(struct litifut_frames *frames, const struct litifut_image *image,
			 const struct litifut_frame_registers *registers);

/* Adds those functions of a list that the image has; `list` may be NULL. */
void litifut_frames_add_named(struct litifut_frames *frames, const struct litifut_image *image,
			      const struct litifut_named_frame *list);

/* From `at` on, `stack` bytes are on the stack; with `saved`, the registers there as well, see
 * struct litifut_frame_step. Notes beyond LITIFUT_FRAME_STEPS are left out. */
void litifut_frame_note_saved(struct litifut_frame_code *frame, unsigned at, unsigned stack,
			      uint32_t saved);
void litifut_frame_note(struct litifut_frame_code *frame, unsigned at, unsigned stack);

/* Adds one piece; without effect when the room is full. */
void litifut_frames_add(struct litifut_frames *frames, const struct litifut_frame_code *code);

/* The same for code at [start, start + bytes) with rules of its own: DW_CFA_... */
void litifut_frames_add_rules(struct litifut_frames *frames, uint32_t start, uint32_t bytes,
			      const uint8_t *rules, unsigned used);

/* Gives what is left of the room to the last entry. */
void litifut_frames_end(struct litifut_frames *frames);

void litifut_frames_release(struct litifut_frames *frames);

#endif
