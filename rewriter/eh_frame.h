/* The entry of .eh_frame by which unwinders find the frames of the code that the rewriter makes, on
 * a CPU whose unwinders use no other table. */
#ifndef LITIFUT_REWRITER_EH_FRAME_H
#define LITIFUT_REWRITER_EH_FRAME_H

#include "rewriter/frames.h"
#include "rewriter/image.h"

/* Offset of the word in the reserved bytes that is the address of the room. */
#define LITIFUT_EH_FRAME_PLACE 36

/* Bytes of the reserved entry for a room of `room_bytes`. */
uint32_t litifut_eh_frame_bytes(uint32_t room_bytes);

/* Writes a CIE and an entry for such a room that keeps its size through a link. */
void litifut_eh_frame_reserve(const struct litifut_frame_registers *registers, bool big_endian,
			      uint32_t room_bytes, uint8_t *bytes);

/* Fills the entry of `room` with what `frames` has collected. Returns the section that was changed;
 * NULL: the image has no such entry. */
const struct litifut_section *litifut_eh_frame_write(struct litifut_frames *frames,
						     const struct litifut_image *image,
						     const struct litifut_symbol *room);

#endif
