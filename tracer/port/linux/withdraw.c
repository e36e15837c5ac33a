/* A thread may have a thread pointer that is not libc's: clone() gives it one (CLONE_SETTLS), or a
 * system call. Thunks would take what that leads to for libc's vector of thread-local blocks,
 * fault, or store events into the program's memory. They can't ask: that would cost each call an
 * instruction or two. So when the recorder sees that such a thread is about to be, the instructions
 * by which thunks find the cursor are replaced by some that find none (cursor_code.h): each event
 * of the process takes the long way from then on, which asks the kernel about every address that it
 * reads.
 *
 * Other threads may execute these instructions meanwhile, and what a CPU makes of an instruction
 * that changes under it is not defined. So pages of code are copied, changed in the copy, and
 * exchanged by one system call: a thread sees all of a page as it was, or as it is. Where one has
 * been interrupted between two of the instructions, it goes on with those that follow, and these
 * find no cursor either.
 *
 * What a system refuses (SELinux: execmem) stays as it was, and so does a module whose code is
 * writable, as its data may lie in the same pages. */

#include "tracer/port/linux/withdraw.h"

#include <litifut/module_format.h>
#include <stdbool.h>

#include "cursor_code.h"
#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/fast.h"
#include "tracer/recorder/module_list.h"
#include "tracer/recorder/state.h"

#define LITIFUT_UNIT ((uint32_t)sizeof(litifut_code_unit))
#define LITIFUT_CODE_BYTES (LITIFUT_CURSOR_CODE_UNITS * LITIFUT_UNIT)

/* Of linux/mman.h. */
#define LITIFUT_REMAP_TO (1u /* MREMAP_MAYMOVE */ | 2u /* MREMAP_FIXED */)

/* Pages that are less than this apart are exchanged together. */
#define LITIFUT_PAGES_APART 0x7000

/* What stands in the place of the code there; NULL: it is other code. */
static const litifut_code_unit *litifut_cursor_code_at(uint32_t address, litifut_code_unit *room)
{
	return litifut_cursor_none((const volatile litifut_code_unit *)address, room);
}

/* In the pages [from, end). */
static void litifut_pages_exchange(uint32_t from, uint32_t end)
{
	const uint32_t bytes = end - from;
	const long copy = litifut_map(0, bytes, PROT_READ | PROT_WRITE, -1, 0);

	if (litifut_failed(copy))
		return;
	for (uint32_t at = 0; at < bytes; at += 4)
		*(volatile uint32_t *)((uint32_t)copy + at) = *(volatile uint32_t *)(from + at);
	for (uint32_t at = 0; at + LITIFUT_CODE_BYTES <= bytes; at += LITIFUT_UNIT) {
		volatile litifut_code_unit *place =
			(volatile litifut_code_unit *)((uint32_t)copy + at);
		litifut_code_unit room[LITIFUT_CURSOR_CODE_UNITS];
		const litifut_code_unit *none = litifut_cursor_code_at((uint32_t)place, room);

		for (uint32_t i = 0; none && i < LITIFUT_CURSOR_CODE_UNITS; i++)
			place[i] = none[i];
	}
	LITIFUT_PORT_FLUSH_CODE((uint32_t)copy, bytes);
	if (litifut_failed(LITIFUT_CALL3(mprotect, copy, bytes, PROT_READ | PROT_EXEC)) ||
	    litifut_failed(LITIFUT_CALL5(mremap, copy, bytes, bytes, LITIFUT_REMAP_TO, from)))
		litifut_unmap((uint32_t)copy, bytes);
	else
		LITIFUT_PORT_FLUSH_CODE(from, bytes);
}

static void litifut_module_withdraw(struct litifut_module *module)
{
	const uint32_t bias = (uint32_t)module - module->link_address;
	const uint32_t page_mask = litifut_recorder.page_bytes - 1;
	const uint32_t text_end = module->text_end + bias;
	uint32_t from = 0; /* of the pages that are to be exchanged; 0: none yet */
	uint32_t end = 0;

	if (LITIFUT_PORT_THUNKS_ASK && LITIFUT_MODULE_HAS(module, fast_ok))
		module->fast_ok = 0;
	if (module->engine != LITIFUT_ENGINE_THUNK ||
	    module->link_address - module->text_start < module->text_end - module->text_start)
		return;
	for (uint32_t at = module->text_start + bias; at + LITIFUT_CODE_BYTES <= text_end;
	     at += LITIFUT_UNIT) {
		const uint32_t last = at + LITIFUT_CODE_BYTES - 1;
		litifut_code_unit room[LITIFUT_CURSOR_CODE_UNITS];

		/* there may be no code between two segments, and no memory that could be copied */
		const bool gap = !(at & page_mask) && !litifut_readable(at);

		if (from && (gap || (int32_t)(at - end) >= LITIFUT_PAGES_APART)) {
			litifut_pages_exchange(from, end);
			from = 0;
		}
		if (gap) {
			at += page_mask + 1 - LITIFUT_UNIT;
			continue;
		}
		if (!litifut_may_find_cursor(*(const volatile litifut_code_unit *)at) ||
		    ((at ^ last) & ~page_mask && !litifut_readable(last & ~7u)) ||
		    !litifut_cursor_code_at(at, room))
			continue;
		if (!from)
			from = at & ~page_mask;
		end = (last | page_mask) + 1;
	}
	if (from)
		litifut_pages_exchange(from, end);
}

void litifut_thunks_withdraw_new(struct litifut_module *module)
{
	if (litifut_recorder.thunks_differ >= LITIFUT_THUNKS_GO)
		litifut_module_withdraw(module);
}

/* Two threads may do it at once: each begins its child only when all is done. */
void litifut_thunks_withdraw(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_module *module;

	if (r->thunks_differ == LITIFUT_THUNKS_GONE || litifut_system_calls_forbidden)
		return;
	/* also threads of libc are not to be armed any more */
	r->thunks_differ = LITIFUT_THUNKS_GO;
	litifut_update_fast();
	for (uint32_t at = 0; (module = litifut_modules_next(&at));)
		litifut_module_withdraw(module);
	r->thunks_differ = LITIFUT_THUNKS_GONE;
	litifut_threads_disarm();
}
