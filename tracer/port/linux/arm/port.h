/* What the recorder needs of Linux on 32-bit ARM (EABI), ARMv5TE and later.
 *
 * Two kinds of CPU are served by one object. From ARMv6K on the thread pointer
 * is a register (TPIDRURO) and LDREX/STREX exist; the kernel says so with
 * HWCAP_TLS. Before that the kernel helper page has both
 * (Documentation/arm/kernel_user_helpers.rst); kernels without that page run
 * only on CPUs that have HWCAP_TLS. */
#ifndef LITIFUT_TRACER_PORT_H
#define LITIFUT_TRACER_PORT_H

#include <asm/unistd.h>
#include <stdbool.h>
#include <stdint.h>

#include "tracer/arm/machine.h"

#include <litifut/thunk_abi.h>

#include "cpu.h"

#define LITIFUT_PORT_HWCAP_TLS (1u << 15)
#define LITIFUT_PORT_HWCAP_EVENT_STREAM (1u << 21)

/* Where libc's thread structure ends, relative to the thread pointer: glibc and
 * musl both put it just below. */
#define LITIFUT_PORT_THREAD_STRUCTURE_END 0

#define LITIFUT_PORT_VECTOR LITIFUT_THUNK_VECTOR_ARM

/* There are thunks that ask, see litifut_port_thunks(). */
#define LITIFUT_PORT_THUNKS_ASK 1

/* System calls that differ between the ports in more than their number. */
#define LITIFUT_PORT_GETEUID __NR_geteuid32
#define LITIFUT_PORT_GETRLIMIT __NR_ugetrlimit
/* Its RLIM_INFINITY. */
#define LITIFUT_PORT_NO_LIMIT 0xffffffff
/* 64-bit arguments go in even register pairs, low word first. */
#define LITIFUT_PORT_OFFSET(offset) (long)(uint32_t)(offset), (long)((uint64_t)(offset) >> 32)

/* The kernel takes the names out of the vDSO where they would make system calls. */
#define LITIFUT_PORT_VDSO_IS_QUIET 1

/* seccomp(), which headers before Linux 3.17 do not have. */
#define LITIFUT_PORT_SECCOMP 383
/* clone3(), of Linux 5.3. */
#define LITIFUT_PORT_CLONE3 435
/* Changes the thread pointer of the calling thread. */
#define LITIFUT_PORT_SET_POINTER __ARM_NR_set_tls
/* What was stored there is to be executed. */
#define LITIFUT_PORT_FLUSH_CODE(start, bytes)                                                      \
	litifut_system_call3(__ARM_NR_cacheflush, (long)(start), (long)((start) + (bytes)), 0)

#define LITIFUT_SIGSET_BYTES 8

#ifdef __NR_fallocate
#define LITIFUT_PORT_FALLOCATE(descriptor, offset, size)                                           \
	litifut_system_call(__NR_fallocate, descriptor, 0, LITIFUT_PORT_OFFSET(offset),            \
			    LITIFUT_PORT_OFFSET((uint64_t)(size)))
#endif

/* struct sigaction as the kernel has it. */
struct litifut_port_signal_action {
	uint32_t handler;
	uint32_t flags;
	uint32_t restorer;
	uint32_t mask[2];
};

struct litifut_port_features {
	bool modern;  /* TPIDRURO, LDREX and STREX can be used */
	bool counter; /* the virtual counter of the generic timer can be read */
};

static inline long litifut_system_call3(long number, long a, long b, long c)
{
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;
	register long r7 __asm__("r7") = number;

	__asm__ volatile("svc 0" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r7) : "memory");
	return r0;
}

static inline long litifut_system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;
	register long r3 __asm__("r3") = d;
	register long r4 __asm__("r4") = e;
	register long r5 __asm__("r5") = f;
	register long r7 __asm__("r7") = number;

	__asm__ volatile("svc 0"
			 : "+r"(r0)
			 : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5), "r"(r7)
			 : "memory");
	return r0;
}

static inline struct litifut_port_features litifut_port_detect(uint32_t hwcap)
{
	return (struct litifut_port_features){
		.modern = (hwcap & LITIFUT_PORT_HWCAP_TLS) != 0,
		.counter = (hwcap & LITIFUT_PORT_HWCAP_EVENT_STREAM) != 0};
}

/* From what uname() calls the machine. */
static inline struct litifut_port_features litifut_port_guess(const char *machine)
{
	return (struct litifut_port_features){.modern = litifut_arm_is_modern(machine),
					      .counter = false};
}

/* What thunks may use that run on CPUs of all kinds: `fast_ok` of their module. The version of
 * the helpers stands at 0xffff0ffc; the second has all that thunks need. */
static inline uint32_t litifut_port_thunks(struct litifut_port_features features)
{
	if (__ARM_ARCH >= 7 || features.modern)
		return LITIFUT_THUNKS_BY_REGISTER;
	return *(const volatile uint32_t *)0xffff0ffc >= 2 ? LITIFUT_THUNKS_BY_HELPERS : 0;
}

static inline uint32_t litifut_port_thread_pointer(struct litifut_port_features features)
{
	if (features.modern)
		return litifut_port_thread_pointer_fast();
	return ((uint32_t(*)(void))0xffff0fe0)();
}

static inline bool litifut_port_compare_exchange(struct litifut_port_features features,
						 uint32_t *word, uint32_t expected,
						 uint32_t desired)
{
	if (features.modern)
		return litifut_port_compare_exchange_fast(word, expected, desired);
	return !((int (*)(uint32_t, uint32_t, uint32_t *))0xffff0fc0)(expected, desired, word);
}

/* Orders all memory accesses before it against all after it. */
static inline void litifut_port_barrier(struct litifut_port_features features)
{
	if (features.modern)
		litifut_port_barrier_fast();
	else
		((void (*)(void))0xffff0fa0)();
}

/* The identity of a file in a struct stat64: device and inode. */
static inline void litifut_port_file_identity(const uint32_t *stat, uint32_t identity[3])
{
	identity[0] = stat[0];
	identity[1] = stat[1];
	identity[2] = stat[3];
}

/* The size of the file of a struct stat64, which has it at a multiple of 8 bytes. */
static inline uint64_t litifut_port_file_size(const uint32_t *stat)
{
	return *(const uint64_t __attribute__((may_alias)) *)(stat + 12);
}

#endif
