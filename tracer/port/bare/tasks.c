/* How long each task of a kernel has run, and how many calls were made meanwhile. The kernel is not
 * changed: it has a word that says which task runs, and each traced call and return looks whether
 * that is another one (tracer/arm/firmware/time.S). The time between two changes is that of the
 * task that ran in between, interrupts included. */
#include "tracer/sink/frames/tasks.h"

#include <litifut/firmware_pool.h>
#include <stddef.h>

#include "tracer/arm/interrupts.h"

/* Where the word is. The rewriter has put it there. */
extern HIDDEN const volatile uint32_t *const volatile litifut_task_at;
/* Not an address but a number, see <litifut/frames_format.h>. */
extern HIDDEN char litifut_task_name[];
extern HIDDEN struct {
	uint32_t pool[POOL_BYTES / 4];
	volatile uint32_t task, calls; /* the code that times calls has these two */
	struct litifut_task *volatile entry;
	volatile uint32_t since;
} litifut_pool;

_Static_assert(sizeof(litifut_pool) == POOL_TASKS_BYTES, "pool layout");

HIDDEN uint32_t litifut_clock_read(void);
HIDDEN void litifut_clock_start(void);

struct litifut_task litifut_tasks[LITIFUT_TASKS_MOST];
volatile uint32_t litifut_task_count;

/* Among the entries from number *at on, which becomes how many there are. */
static struct litifut_task *litifut_task_find(uint32_t task, uint32_t *at)
{
	for (; *at < litifut_task_count; ++*at)
		if (litifut_tasks[*at].task == task)
			return &litifut_tasks[*at];
	return NULL;
}

static void litifut_task_copy_name(struct litifut_task *entry)
{
	const uint32_t place = (uint32_t)(uintptr_t)litifut_task_name;
	const char *name;

	if (place == LITIFUT_TASK_NAMELESS || !entry->task)
		return;
	name = (const char *)(uintptr_t)entry->task + (place & ~LITIFUT_TASK_NAME_POINTER);
	if (place & LITIFUT_TASK_NAME_POINTER)
		name = *(const char *const *)(const void *)name;
	for (unsigned i = 0; name && i < LITIFUT_TASK_NAME_BYTES - 1 && name[i]; i++)
		entry->name[i] = name[i];
}

/* Entries are only added, and none changes its task, so that they are searched with interrupts
 * on. */
static struct litifut_task *litifut_task_entry(uint32_t task)
{
	uint32_t at = 0;
	struct litifut_task *entry = litifut_task_find(task, &at);
	litifut_interrupts masked;
	bool added = false;

	if (entry)
		return entry;
	masked = litifut_interrupts_off();
	entry = litifut_task_find(task, &at); /* an interrupt may have added it */
	if (!entry && at < LITIFUT_TASKS_MOST - 1) {
		entry = &litifut_tasks[at];
		entry->task = task;
		litifut_task_count = at + 1;
		added = true;
	} else if (!entry) {
		entry = &litifut_tasks[LITIFUT_TASKS_MOST - 1];
		entry->task = LITIFUT_TASK_OTHERS;
		litifut_task_count = LITIFUT_TASKS_MOST;
	}
	litifut_interrupts_restore(masked);
	if (added)
		litifut_task_copy_name(entry);
	return entry;
}

/* Counts the time up to now for the task that has run, and from now on for `next`, if that is not
 * NULL. Interrupts are off twice for a short time, and on while the clock is read: if the time has
 * been counted meanwhile, it is read again. What comes between the two parts does not see the time
 * that was taken and not added yet: it is missing in what is sent then, and a reset does not clear
 * it. */
static void litifut_task_charge(uint32_t task, struct litifut_task *next)
{
	struct litifut_task *entry;
	litifut_interrupts masked;
	uint32_t since, time, calls = 0, ticks;

	for (;;) {
		since = litifut_pool.since;
		time = litifut_clock_read();
		masked = litifut_interrupts_off();
		if (litifut_pool.since == since)
			break;
		litifut_interrupts_restore(masked);
	}
	entry = litifut_pool.entry;
	if (next && litifut_pool.task == task)
		entry = NULL; /* what came in between has done it */
	if (entry) {
		calls = litifut_pool.calls;
		litifut_pool.calls = 0;
		litifut_pool.since = time;
		if (next)
			litifut_pool.entry = next;
	}
	if (next)
		litifut_pool.task = task;
	litifut_interrupts_restore(masked);
	if (!entry)
		return;
	time -= since;
	masked = litifut_interrupts_off();
	ticks = entry->ticks_low + time;
	entry->ticks_high += ticks < time;
	entry->ticks_low = ticks;
	entry->calls += calls;
	litifut_interrupts_restore(masked);
}

/* Whatever comes in between, the word says `task` again when this goes on: an interrupt has the
 * task that it has interrupted, and the kernel sets the word before it goes on with a task. */
void litifut_task_changed(void)
{
	const uint32_t task = *litifut_task_at;

	litifut_task_charge(task, litifut_task_entry(task));
}

void litifut_tasks_start(void)
{
	litifut_clock_start();
	litifut_pool.entry = litifut_task_entry(litifut_pool.task);
	litifut_pool.since = litifut_clock_read();
}

void litifut_tasks_charge(void)
{
	litifut_task_charge(0, NULL);
}

void litifut_tasks_reset(void)
{
	const litifut_interrupts masked = litifut_interrupts_off();

	litifut_tasks_charge();
	for (uint32_t i = 0; i < litifut_task_count; i++)
		litifut_tasks[i].calls = litifut_tasks[i].ticks_low = litifut_tasks[i].ticks_high =
			0;
	litifut_interrupts_restore(masked);
}
