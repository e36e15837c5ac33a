/* LITIFUT_MODE=paths: which blocks may end in a call of a function that makes a child without
 * libc's fork handlers, or one that may give up system calls? Before such a call the recorder must
 * be prepared (tracer/port/linux/spawn.c): the child has the cursor of its parent, and would write
 * into the parent's trace; and a system call of the recorder would end a confined process.
 *
 * And which may end in a call of one that ends the program: that the thread has come there must be
 * recorded before. */
#ifndef LITIFUT_REWRITER_SPAWNING_H
#define LITIFUT_REWRITER_SPAWNING_H

#include "rewriter/graph.h"
#include "rewriter/session.h"

/* `callee` of the blocks is known. Sets `spawns` and `is_last` of the blocks, and left[i] for block
 * number i of a function that makes a child: what that records before there is a child must not be
 * taken for what follows when the call is done. */
enum litifut_status litifut_spawning_find(const struct litifut_session *session,
					  struct litifut_graph *graph, uint8_t *left,
					  struct litifut_error *error);

#endif
