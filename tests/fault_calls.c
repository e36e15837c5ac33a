/* Takes the place of tracer/port/linux/system_call.c in a recorder that is otherwise the
 * one that programs get: a system call of its own fails. The file `fault` in the current
 * folder has three numbers: which call of the process it is, counted from 1, with which
 * error, and whether all later ones fail as well (1). Calls that can't fail are not counted.
 * With 2 as the third number, only those are counted that put other pages in the place of memory,
 * and the one that fails has removed that memory before. With 3, another thread of the program
 * has mapped a page there at once; the file `overwritten` is made when the recorder removes it.
 * The file `failed` is made when a call has failed. */

#define LITIFUT_UNGATED
#include "tracer/port/linux/system.h"
#undef LITIFUT_UNGATED

#pragma GCC visibility push(hidden)
uint32_t litifut_system_calls_forbidden;
long litifut_gated_call3(long number, long a, long b, long c);
long litifut_gated_call(long number, long a, long b, long c, long d, long e, long f);
#pragma GCC visibility pop

static uint32_t litifut_fault[3]; /* as in the file */
static uint32_t litifut_fault_known;
static uint32_t litifut_fault_count;
static uint32_t litifut_fault_taken; /* pages of the program, where there were others before */
static uint32_t litifut_fault_taken_end;

static void litifut_fault_read(void)
{
	char text[32];
	long file = litifut_system_call3(__NR_open, (long)"fault", O_RDONLY, 0);
	long length = litifut_system_call3(__NR_read, file, (long)text, sizeof(text));
	uint32_t field = 0;

	litifut_system_call3(__NR_close, file, 0, 0);
	litifut_fault_known = 1;
	for (long i = 0; i < length; i++) {
		if (text[i] >= '0' && text[i] <= '9')
			litifut_fault[field] =
				litifut_fault[field] * 10 + (uint32_t)(text[i] - '0');
		else if (field < 2)
			field++;
		else
			break;
	}
}

/* Where other pages would go: the address, or 0 when this call has no such place. */
static long litifut_fault_place(long number, long a, long d, long e)
{
	if (number == __NR_mremap)
		return e;
	return number == __NR_mmap2 && d & MAP_FIXED ? a : 0;
}

static void litifut_fault_note(const char *name)
{
	long file = litifut_system_call3(__NR_open, (long)name, O_WRONLY | O_CREAT, 0600);

	litifut_system_call3(__NR_close, file, 0, 0);
}

/* A call that removes what is mapped from `place` on. */
static void litifut_fault_removes(long place, long size)
{
	if ((uint32_t)place < litifut_fault_taken_end &&
	    (uint32_t)(place + size) > litifut_fault_taken)
		litifut_fault_note("overwritten");
}

static bool litifut_fails(long number, long place, long size)
{
	if (number == __NR_munmap || place)
		litifut_fault_removes(place, size);
	if (number == __NR_getpid || number == __NR_gettid || number == __NR_getppid ||
	    number == __NR_rt_sigprocmask)
		return false;
	if (!litifut_fault_known)
		litifut_fault_read();
	if (litifut_fault[2] >= 2 && (!place || number == __NR_munmap))
		return false;
	litifut_fault_count++;
	if (litifut_fault_count < litifut_fault[0] ||
	    (litifut_fault_count > litifut_fault[0] && litifut_fault[2] != 1))
		return false;
	if (litifut_fault[2] >= 2)
		litifut_system_call3(__NR_munmap, place, size, 0);
	if (litifut_fault[2] == 3) {
		litifut_system_call(__NR_mmap2, place, size, PROT_READ,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		litifut_fault_taken = (uint32_t)place;
		litifut_fault_taken_end = (uint32_t)(place + size);
	}
	litifut_fault_note("failed");
	return true;
}

long litifut_gated_call3(long number, long a, long b, long c)
{
	return litifut_fails(number, number == __NR_munmap ? a : 0, b)
		       ? -(long)litifut_fault[1]
		       : litifut_system_call3(number, a, b, c);
}

long litifut_gated_call(long number, long a, long b, long c, long d, long e, long f)
{
	return litifut_fails(number, litifut_fault_place(number, a, d, e), b)
		       ? -(long)litifut_fault[1]
		       : litifut_system_call(number, a, b, c, d, e, f);
}
