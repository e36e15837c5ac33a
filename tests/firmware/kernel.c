/* A kernel with three tasks and an idle one, which take turns, under two levels of interrupts that
 * call what the tasks call. Its word for the task that runs has the name that FreeRTOS gives it, or
 * that of CURRENT. In place of main.c of examples/firmware, with startup.c of this folder. */
#include <stdint.h>
#include <stdlib.h>

#include "board.h"
#include "pendsv.h"

#ifndef CURRENT
#define CURRENT pxCurrentTCB
#endif

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define STACK_WORDS 256
#define TASKS 4
#ifndef ROUNDS
#define ROUNDS 60
#endif

struct tcb {
	uint32_t *stack;
	unsigned number;
#ifdef NAME_POINTER
	const char *the_name;
#else
	char pcTaskName[16];
#endif
	uint32_t words[STACK_WORDS];
};

#ifdef NAME_POINTER
#define NAME(text) .the_name = text
#else
#define NAME(text) .pcTaskName = text
#endif

static struct tcb tasks[TASKS] = {
	{.number = 0, NAME("Control")},
	{.number = 1, NAME("Worker")},
	{.number = 2, NAME("Logger of things")},
	{.number = 3, NAME("IDLE")},
};
#ifdef STRUCTURE /* as Zephyr has it */
struct {
	struct {
		uint32_t nested;
		struct tcb *volatile current;
	} cpus[1];
} _kernel;
#undef CURRENT
#define CURRENT _kernel.cpus[0].current
#elif defined DEEP_STRUCTURE /* as RTX has it */
struct {
	const char *os_id;
	struct {
		struct {
			struct tcb *volatile curr;
			struct tcb *next;
		} run;
	} thread;
} osRtxInfo;
#undef CURRENT
#define CURRENT osRtxInfo.thread.run.curr
#else
struct tcb *volatile CURRENT;
#endif
static volatile unsigned switches, inner, ticks, done;

/* Interrupts are off, so that each call is made either before or behind the change. */
__attribute__((noinline)) void choose_next(void)
{
	CURRENT = CURRENT ? &tasks[(CURRENT->number + 1) % TASKS] : &tasks[0];
}

uint32_t *switch_task(uint32_t *stack)
{
	__asm__ volatile("cpsid i" ::: "memory");
	CURRENT->stack = stack;
	choose_next();
	switches++;
	__asm__ volatile("cpsie i" ::: "memory");
	return CURRENT->stack;
}

static uint32_t __attribute__((noinline)) leaf(uint32_t value)
{
	for (volatile unsigned i = 0; i < 20; i++)
		value = value * 3 + 1;
	return value;
}

static uint32_t __attribute__((noinline)) work(uint32_t value, unsigned depth)
{
	uint32_t sum = leaf(value);

	if (depth)
		sum += work(value + 1, depth - 1);
	return sum + leaf(sum);
}

static uint32_t (*volatile const works[])(uint32_t, unsigned) = {work};

void Inner_Handler(void)
{
	inner++;
	leaf(inner);
}

void SysTick_Handler(void)
{
	leaf(1);
	REGISTER(0xe000e200) = 1; /* ISPR: interrupt 0 */
	/* each task runs for another time */
	if (++ticks > switches % TASKS) {
		ticks = 0;
		REGISTER(0xe000ed04) = 1u << 28; /* PendSV */
	}
}

static void __attribute__((noinline)) finish(uint32_t sum)
{
	board_stop_ticks();
	for (unsigned digit = 0; digit < 8; digit++)
		board_putc("0123456789abcdef"[sum >> 4 * digit & 15]);
	board_putc(switches > 10 && inner > 10 ? 'm' : 'f');
	board_putc('\n');
	exit(0);
}

static void control(void)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		sum += works[0](i, i % 6);
	while (done < 2)
		;
	finish(sum);
}

static void worker(void)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		works[0](i, 2);
	done++;
	for (;;)
		;
}

static void logger(void)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		leaf(i);
	done++;
	for (;;)
		;
}

static void idle(void)
{
	for (;;)
		;
}

static void make_task(struct tcb *task, void (*function)(void))
{
	uint32_t *top = task->words + STACK_WORDS - 16;

	top[14] = (uint32_t)(uintptr_t)function & ~1u;
	top[15] = 1u << 24;
	task->stack = top;
}

int main(void)
{
	make_task(&tasks[1], worker);
	make_task(&tasks[2], logger);
	make_task(&tasks[3], idle);
	REGISTER(0xe000ed20) = 0xc0ff0000; /* SHPR3: PendSV is lowest */
	REGISTER(0xe000e400) = 0;          /* IPR0: interrupt 0 is high */
	REGISTER(0xe000e100) = 1;          /* ISER */
	board_start_ticks(TICK);
	leaf(0);
	__asm__ volatile("cpsid i" ::: "memory");
	choose_next();
	__asm__ volatile("msr psp, %0\n"
			 "movs r0, #2\n"
			 "msr control, r0\n"
			 "isb\n"
			 "cpsie i\n" ::"r"(tasks[0].words + STACK_WORDS)
			 : "r0", "memory");
	control();
	return 0;
}
