/* Entries for trampolines in the table by which unwinders find frames, see struct
 * litifut_unwind_table. */
#ifndef LITIFUT_REWRITER_UNWIND_H
#define LITIFUT_REWRITER_UNWIND_H

#include "rewriter/session.h"

/* The trampolines that have been written so far. */
struct litifut_unwind {
	struct litifut_frame_code *items;
	size_t count;
	size_t capacity;
};

/* Notes one piece; without effect when there is no memory: a backtrace ends there then. */
void litifut_unwind_note(struct litifut_unwind *unwind, const struct litifut_frame_code *code);

/* Writes the entries to the image. Returns the section that was changed, or NULL. */
const struct litifut_section *litifut_unwind_write(const struct litifut_unwind *unwind,
						   const struct litifut_session *session);

void litifut_unwind_release(struct litifut_unwind *unwind);

#endif
