/* Whose memory an address is in. */

#include "tracer/recorder/thread.h"

#include <stddef.h>

struct litifut_thread *litifut_scratch_of(uint32_t cursor)
{
	struct litifut_thread *thread = litifut_recorder.thread_list;

	/* without one, a thread has 0 there, and no cursor is so near to address 0 */
	while (thread && cursor - 1 - thread->scratch >= LITIFUT_THUNK_STOP_BYTES)
		thread = thread->next;
	return thread;
}
