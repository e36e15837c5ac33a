/* Linux for the recorder: system calls by name, made directly, so that neither
 * libc nor errno is touched. Every call returns what the kernel does: a result, or
 * a negated error number. */
#ifndef LITIFUT_TRACER_SYSTEM_H
#define LITIFUT_TRACER_SYSTEM_H

#include <asm/errno.h>
#include <linux/signal.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port.h"

#define LITIFUT_CALL0(name) LITIFUT_CALL1(name, 0)
#define LITIFUT_CALL1(name, a) LITIFUT_CALL2(name, a, 0)
#define LITIFUT_CALL2(name, a, b) LITIFUT_CALL3(name, a, b, 0)
#define LITIFUT_CALL3(name, a, b, c)                                                               \
	litifut_system_call3(__NR_##name, (long)(a), (long)(b), (long)(c))
#define LITIFUT_CALL4(name, a, b, c, d)                                                            \
	litifut_system_call(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define LITIFUT_CALL5(name, a, b, c, d, e)                                                         \
	litifut_system_call(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

/* The system call itself, for those who have looked at the gate (below). */
static inline long litifut_open_gate_call4(long number, long a, long b, long c, long d)
{
	return litifut_system_call(number, a, b, c, d, 0, 0);
}

#ifndef LITIFUT_UNGATED
#pragma GCC visibility push(hidden)

/* Not 0: the process may not make the tracer's system calls any more, and makes none. Each
 * fails at once with -ENOSYS, in every part of the recorder. */
extern uint32_t litifut_system_calls_forbidden;

long litifut_gated_call3(long number, long a, long b, long c);
long litifut_gated_call(long number, long a, long b, long c, long d, long e, long f);

#pragma GCC visibility pop

#define litifut_system_call3 litifut_gated_call3
#define litifut_system_call litifut_gated_call
#endif

/* For what is seldom run in a file that is compiled for speed. */
#define LITIFUT_COLD __attribute__((cold, noinline))

static inline bool litifut_failed(long result)
{
	return (unsigned long)result >= (unsigned long)-4095;
}

#ifndef LITIFUT_UNGATED
#pragma GCC visibility push(hidden)

/* identity.c: the process; where that can't be asked any more, the one that this state is
 * for. */
uint32_t litifut_process_id(void);
/* identity.c: the calling thread's kernel id; where that can't be asked any more, what
 * libc has stored, or 0. */
uint32_t litifut_thread_id(void);

#pragma GCC visibility pop
#endif

static inline long litifut_open(const char *path, uint32_t flags, uint32_t mode)
{
	return LITIFUT_CALL3(open, path, flags | O_LARGEFILE | O_CLOEXEC | O_NOFOLLOW, mode);
}

static inline void litifut_close(long descriptor)
{
	LITIFUT_CALL1(close, descriptor);
}

/* Of what may be a descriptor or an error. */
static inline void litifut_close_good(long descriptor)
{
	if (!litifut_failed(descriptor))
		litifut_close(descriptor);
}

static inline long litifut_write_at(long descriptor, const void *data, uint32_t size,
				    uint64_t offset)
{
	return litifut_system_call(__NR_pwrite64, descriptor, (long)data, (long)size, 0,
				   LITIFUT_PORT_OFFSET(offset));
}

/* Files of /proc can't be read at an offset by kernels before 2.6.31. */
static inline long litifut_read_at(long descriptor, void *data, uint32_t size, uint64_t offset)
{
	long got = litifut_system_call(__NR_pread64, descriptor, (long)data, (long)size, 0,
				       LITIFUT_PORT_OFFSET(offset));

	return got == -ESPIPE ? LITIFUT_CALL3(read, descriptor, data, size) : got;
}

static inline long litifut_map_flags(uint32_t address, uint32_t size, uint32_t protection,
				     uint32_t flags, long descriptor, uint64_t offset)
{
	flags |= descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	return litifut_system_call(__NR_mmap2, (long)address, (long)size, (long)protection,
				   (long)flags, descriptor, (long)(uint32_t)(offset >> 12));
}

/* Memory at `address` (0: anywhere; else exactly there), or a negated error.
 * `descriptor` -1: anonymous and private, else shared with the file. `offset`
 * is a multiple of 4096. */
static inline long litifut_map(uint32_t address, uint32_t size, uint32_t protection,
			       long descriptor, uint64_t offset)
{
	return litifut_map_flags(address, size, protection, address ? MAP_FIXED : 0, descriptor,
				 offset);
}

/* The same at `address` if nothing is there, else anywhere. */
static inline long litifut_map_near(uint32_t address, uint32_t size, uint32_t protection,
				    long descriptor, uint64_t offset)
{
	return litifut_map_flags(address, size, protection, 0, descriptor, offset);
}

static inline void litifut_unmap(uint32_t address, uint32_t size)
{
	if (size)
		LITIFUT_CALL2(munmap, address, size);
}

struct litifut_signals {
	uint32_t set[LITIFUT_SIGSET_BYTES / 4];
};

static const struct litifut_signals litifut_all_signals = {
	{[0 ... LITIFUT_SIGSET_BYTES / 4 - 1] = UINT32_MAX}};

/* No signal handler runs in this thread until litifut_signals_restore(). */
static inline void litifut_signals_block(struct litifut_signals *old)
{
	LITIFUT_CALL4(rt_sigprocmask, SIG_BLOCK, &litifut_all_signals, old, LITIFUT_SIGSET_BYTES);
}

static inline void litifut_signals_restore(const struct litifut_signals *old)
{
	LITIFUT_CALL4(rt_sigprocmask, SIG_SETMASK, old, 0, LITIFUT_SIGSET_BYTES);
}

#endif
