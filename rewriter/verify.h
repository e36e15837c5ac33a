/* Checking what the rewriter did, by other means than it did it. */
#ifndef LITIFUT_REWRITER_VERIFY_H
#define LITIFUT_REWRITER_VERIFY_H

#include "rewriter/session.h"

/* One place in the image that apply() changed on purpose. */
struct litifut_change {
	uint32_t address;
	uint32_t length;
	uint32_t entry; /* where the new call or branch goes; 0: bytes of an island or trampoline */
	enum litifut_code_state state;
};

/* Compares the executable sections with those of the file as it still stands on
 * disk: outside `changes` (sorted by address) every byte must be the same, and
 * each changed call must be what capstone reads as a call or branch to its entry. */
enum litifut_status litifut_verify(const struct litifut_session *session,
				   const struct litifut_change *changes, size_t count,
				   struct litifut_error *error);

#endif
