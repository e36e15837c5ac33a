/* Linux for the recorder: system calls by name, made directly, so that neither
 * libc nor errno is touched, and the few string functions that it needs. Every
 * call returns what the kernel does: a result, or a negated error number. */
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

#define LITIFUT_CALL0(name) litifut_system_call(__NR_##name, 0, 0, 0, 0, 0, 0)
#define LITIFUT_CALL1(name, a) litifut_system_call(__NR_##name, (long)(a), 0, 0, 0, 0, 0)
#define LITIFUT_CALL2(name, a, b) litifut_system_call(__NR_##name, (long)(a), (long)(b), 0, 0, 0, 0)
#define LITIFUT_CALL3(name, a, b, c)                                                               \
	litifut_system_call(__NR_##name, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define LITIFUT_CALL4(name, a, b, c, d)                                                            \
	litifut_system_call(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static inline bool litifut_failed(long result)
{
	return (unsigned long)result >= (unsigned long)-4095;
}

static inline uint32_t litifut_process_id(void)
{
	return (uint32_t)LITIFUT_CALL0(getpid);
}

static inline uint32_t litifut_thread_id(void)
{
	return (uint32_t)LITIFUT_CALL0(gettid);
}

static inline long litifut_open(const char *path, uint32_t flags, uint32_t mode)
{
	return LITIFUT_CALL3(open, path, flags | O_LARGEFILE | O_CLOEXEC | O_NOFOLLOW, mode);
}

static inline void litifut_close(long descriptor)
{
	LITIFUT_CALL1(close, descriptor);
}

static inline long litifut_write_at(long descriptor, const void *data, uint32_t size,
				    uint64_t offset)
{
	return litifut_system_call(__NR_pwrite64, descriptor, (long)data, (long)size, 0,
				   LITIFUT_PORT_OFFSET(offset));
}

/* Memory at `address` (0: anywhere; else exactly there), or a negated error.
 * `descriptor` -1: anonymous and private, else shared with the file. `offset`
 * is a multiple of 4096. */
static inline long litifut_map(uint32_t address, uint32_t size, uint32_t protection,
			       long descriptor, uint64_t offset)
{
	uint32_t flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;

	if (address)
		flags |= MAP_FIXED;
	return litifut_system_call(__NR_mmap2, (long)address, (long)size, (long)protection,
				   (long)flags, descriptor, (long)(uint32_t)(offset >> 12));
}

static inline void litifut_unmap(uint32_t address, uint32_t size)
{
	if (size)
		LITIFUT_CALL2(munmap, address, size);
}

/* A set of signals, of any port's size. */
struct litifut_signals {
	uint32_t set[4];
};

/* No signal handler runs in this thread until litifut_signals_restore(). */
static inline void litifut_signals_block(struct litifut_signals *old)
{
	static const struct litifut_signals all = {
		{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}};

	litifut_system_call(__NR_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)old,
			    LITIFUT_SIGSET_BYTES, 0, 0);
}

static inline void litifut_signals_restore(const struct litifut_signals *old)
{
	litifut_system_call(__NR_rt_sigprocmask, SIG_SETMASK, (long)old, 0, LITIFUT_SIGSET_BYTES, 0,
			    0);
}

static inline uint32_t litifut_length(const char *text)
{
	uint32_t length = 0;

	while (text[length])
		length++;
	return length;
}

static inline void litifut_copy(void *to, const void *from, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
}

static inline bool litifut_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Appends `text` to the NUL-terminated `buffer`; false and unchanged when it
 * does not fit. */
static inline bool litifut_append(char *buffer, uint32_t size, const char *text)
{
	uint32_t at = litifut_length(buffer);
	uint32_t length = litifut_length(text);

	if (at + length + 1 > size)
		return false;
	litifut_copy(buffer + at, text, length + 1);
	return true;
}

static inline bool litifut_append_number(char *buffer, uint32_t size, uint32_t number)
{
	char digits[11];
	char *at = digits + sizeof(digits) - 1;

	*at = 0;
	do {
		uint32_t tenth = number / 10;

		*--at = (char)('0' + (number - tenth * 10));
		number = tenth;
	} while (number);
	return litifut_append(buffer, size, at);
}

#endif
