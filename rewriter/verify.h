/* Checking what the rewriter did, by other means than it did it. */
#ifndef LITIFUT_REWRITER_VERIFY_H
#define LITIFUT_REWRITER_VERIFY_H

#include "rewriter/changes.h"
#include "rewriter/session.h"

/* Each changed call must be what capstone reads as a call or branch to its entry. That all
 * else stays is seen to by changes.h: nothing but the listed bytes can be written. */
enum litifut_status litifut_verify(const struct litifut_session *session,
				   const struct litifut_changes *changes,
				   struct litifut_error *error);

#endif
